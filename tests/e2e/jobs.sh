#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is one job of a task: writes, kernels and all the reads after them, not one for each read; and the last one counts
# although nothing follows it. Which jobs are a warm-up's, that it sees both numbers of GPUs, and when jobs are released.
# DEVICES: as for gpusparc run (default cpu:2), two of them
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
devices=${DEVICES:-cpu:2}
own_daemon <<'END'
[task t]
period = 50ms
user = *
[task one]
period = 50ms
user = *
mode = 1
[task slow]
period = 100ms
user = *
warmup = 3
END
begin_daemon --trace "$PWD/trace.json"
counts() { # TASK: prints its warm-up's jobs and the others
  gpusparc status --json | python3 -c '
import json, sys
t = {t["task"]: t for t in json.load(sys.stdin)["tasks"]}[sys.argv[1]]
print(t["warmup_jobs"], t["jobs"])' "$1"
}
expect() { # TASK WARMUP-JOBS JOBS WHEN
  for ((i = 0; i < 50; i++)); do [ "$(counts "$1")" = "$2 $3" ] && return; sleep 0.1; done
  fail "$(counts "$1") jobs of $1's warm-ups and others $4, not $2 $3"
}
run() { gpusparc run --devices "$devices" --gpus 2 "$@" >out.txt 2>err.txt || { cat err.txt; fail "$*"; }; }
# knn reads two buffers in each iteration, with a call that waits each; paced or not.
knn=(-- "$samples/knn" --size 256 --iterations 5 --no-check)
run --task t "${knn[@]}"
expect t 0 5 "without options"
run --task t --pace "${knn[@]}"
expect t 2 8 "paced"
run --task t --mode multi --pace --stats=stats.json "${knn[@]}"
expect t 4 11 "paced, on both"
[ "$(python3 -c '
import json
print([(k["launches"], k["split"]) for k in json.load(open("stats.json"))["kernels"] if k["launches"]])')" = "[(5, 4)]" ] ||
  { cat stats.json; fail "one job of the warm-up has one GPU, all others two"; }
run --task t --mode single "${knn[@]}"
expect t 4 16 "on one"
run --task one --mode multi --pace --stats=one.json "${knn[@]}"
expect one 2 3 "paced, with one of two"
run --task slow "${knn[@]}"
expect slow 3 2 "with the config's warm-up"
# Nothing is compiled yet, so that the first job takes longer than the period.
POCL_CACHE_DIR=$PWD/cold run --task t --pace "${knn[@]}"
rm -rf cold
expect t 6 19 "paced, cold"
# Over a driver whose calls take their time, and with the cores busy: whoever reads last sees that all has ended.
before=$(counts t)
for seed in 1 2 3; do
  LAZY_SEED=$seed OPENCL_LAYERS=$programs/lazy.so LAZY=slow LAZY_REPORT=/dev/null gpusparc run --devices "$devices" --gpus 2 \
    --task t --mode single "$programs/jobs" 40 20000 1000 >"jobs.$seed.txt" 2>&1 &
  apps="$apps $!"
done
for app in $apps; do wait "$app" || { cat jobs.*.txt; fail "jobs over a slow driver"; }; done
apps=
expect t 6 $((${before#* } + 120)) "after 120 in three processes at once"
# At the process' end another thread is just looking which commands have ended.
OPENCL_LAYERS=$programs/lazy.so LAZY=slow LAZY_REPORT=/dev/null run --task t "$programs/busy_end"
expect t 6 $((${before#* } + 121)) "with a thread that asks to the end"
# A handler of exit() that was registered before ours gets what it asks for.
"$programs/ways_to_end" handler >handler.txt || fail "ways_to_end handler without gpusparc"
for way in auto plain pinned; do
  GPUSPARC_TRANSFER=$way timeout "$(left)" gpusparc run --devices "$devices" --gpus 2 --mode multi --task one "$programs/ways_to_end" handler | cmp - handler.txt ||
    fail "a handler of exit() by $way"
done
end_daemon
python3 "$GS_SOURCE/tests/e2e/nesting.py" trace.json || fail "the daemon's trace"
python3 - <<'END' || fail "the releases"
import json, sys
jobs, period = {}, 50_000_000
for e in json.load(open("trace.json")):
    if e.get("cat") in ("job", "warm-up") and e["name"] == "t":
        jobs.setdefault(e["tid"], {}).setdefault(e["id"], [e["cat"]]).append(round(e["ts"] * 1000))
paced = [list(of.values()) for of in jobs.values() if any(j[0] == "warm-up" for j in of.values())]
assert len(paced) == 3, len(paced)
for of in paced:
    print([(cat, end - begin) for cat, begin, end in of])
    for (cat, begin, end), (_, next, _) in zip(of, of[1:]):
        if cat == "warm-up": # late or not: the next one waits for its own period, and inherits no delay
            assert next >= begin + period and next >= end, (cat, begin, end, next)
        else:
            assert next == begin + period, (cat, begin, end, next)
END
