#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc profile: the chain of hand-written traces, to the nanosecond; and of samples, read by check and analyze.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples

# trace.py FILE DEVICES JOB...: a job is commands category:device:asked:begin:end in us, with commas between
cat >trace.py <<'E'
import json, sys
events = [{"ph": "i", "cat": "process", "name": "start", "ts": 0, "pid": 7, "args": {"devices": ["x"] * int(sys.argv[2])}}]
for job in sys.argv[3:]:
    for c in job.split(","):
        cat, device, asked, begin, end = c.split(":")
        if cat == "api":
            events.append({"ph": "X", "cat": cat, "name": "clEnqueueReadBuffer", "ts": float(begin), "dur": float(end) - float(begin), "pid": 7, "tid": 7})
            continue
        why = {"for": cat.split("/")[1]} if "/" in cat and not cat.endswith(("/staged", "/pinned")) else {}
        events.append({"ph": "X", "cat": cat.split("/")[0], "name": next((way for way in ("staged", "pinned") if "/" + way in cat), "n"), "ts": float(begin), "dur": float(end) - float(begin),
                       "pid": 7, "tid": 1, "args": {"device": int(device), "asked": float(asked), **why}})
json.dump(events, open(sys.argv[1], "w"))
E
# The same job three times, the first of them slow: upload, two kernels back to back, a third after the host has thought
# for 50 us, two reads. What verify does isn't the application's.
job() { # OFFSET EXTRA
  local o=$1 x=$2
  printf '%s' "upload:0:$o:$((o + 10)):$((o + 110)),kernel:0:$((o + 5)):$((o + 120)):$((o + 320 + x))," \
    "kernel:0:$((o + 6)):$((o + 320 + x)):$((o + 400 + x)),kernel:0:$((o + 450 + x)):$((o + 460 + x)):$((o + 560 + x))," \
    "kernel/verify:0:$((o + 451 + x)):$((o + 460 + x)):$((o + 900 + x))," \
    "download:0:$((o + 455 + x)):$((o + 565 + x)):$((o + 600 + x)),download:0:$((o + 700 + x)):$((o + 702 + x)):$((o + 720 + x))"
}
python3 trace.py one.json 2 "$(job 1000 5000)" "$(job 10000 0)" "$(job 20000 100)"
gpusparc profile --task a --margin 0 --from one.json >one.conf 2>err.txt || fail "one.json: $(cat err.txt)"
[ ! -s err.txt ] || fail "words about one.json: $(cat err.txt)"
grep -qx 'segments.1 = pci 110us, gpu 390us, cpu 50us, gpu 110us, pci 40us, cpu 100us, pci 20us' one.conf || { cat one.conf; fail "one.conf"; }
grep -qx 'gpus = 2' one.conf || fail "two GPUs in the group"
grep -q 'medians: *pci 110us, gpu 390us' one.conf || fail "median"
gpusparc check one.conf >out.txt || fail "check one.conf"
# The trace has no long chunks, so nothing is proven.
gpusparc analyze one.conf >out.txt && fail "analyze one.conf vouches for whole segments"
grep -q '^a .*unproven$' out.txt || fail "analyze one.conf: $(cat out.txt)"
# Three profiles in one file: appended, or one behind the other.
rm -f three.conf
for task in a b c; do gpusparc profile --task $task --margin 0 --append three.conf --from one.json >out.txt 2>err.txt || fail "--append: $(cat err.txt)"; done
[ ! -s out.txt ] && [ ! -s err.txt ] || fail "words of --append: $(cat out.txt err.txt)"
grep -qx 'three.conf: 3 tasks, no mistakes' <(gpusparc check three.conf 2>&1) || fail "three.conf: $(gpusparc check three.conf 2>&1)"
[ "$(grep -c '^\[system' three.conf)" = 1 ] || fail "one [system] is enough"
sed 's/task a/task z/' one.conf >z.conf
cat one.conf z.conf >joined.conf
gpusparc check joined.conf >out.txt 2>&1 || fail "two profiles in one file: $(cat out.txt)"
cp three.conf before.conf
rc=0
gpusparc profile --task b --append three.conf --from one.json >out.txt 2>err.txt || rc=$?
[ $rc = 1 ] && grep -q 'three.conf has a task b already, in line' err.txt || fail "--append twice: $rc $(cat err.txt)"
rc=0
gpusparc profile --task d --append err.txt --from one.json >out.txt 2>err2.txt || rc=$?
[ $rc = 1 ] && grep -q 'err.txt:1: ' err2.txt || fail "--append to no config: $rc $(cat err2.txt)"
rc=0
gpusparc profile --task d --append no/such.conf --from one.json >out.txt 2>err.txt || rc=$?
[ $rc = 1 ] && grep -q '^\[task d\]' out.txt && grep -q "no/such.conf can't be appended to: No such" err.txt || fail "--append where nothing can be: $rc $(cat err.txt)"
cmp three.conf before.conf || fail "three.conf has changed"
# A margin, a period, and the warm-up counted.
gpusparc profile --task a --margin 50 --warm-up 0 --period 30ms --from one.json >warm.conf 2>err.txt
# Its first job is slow: 5.72 ms in all, 0.82 by the medians. That is said.
grep -q 'with 1 GPU the longest times are 7\.0 times the medians.* or give more traces' err.txt || fail "noise: $(cat err.txt)"
grep -qx 'period = 30ms' warm.conf || fail "the period"
grep -q 'segments.1 = pci 165us, gpu 7.935ms' warm.conf || { cat warm.conf; fail "warm.conf"; }

# On two devices at once: each piece's time is that of the busier one; the uploads share the link. Overlapping segments
# count in full. One job of three has a kernel less: it lacks two segments, and has more of the first.
two() { # OFFSET
  local o=$1
  printf '%s' "upload:0:$o:$o:$((o + 50)),upload:1:$o:$((o + 20)):$((o + 90)),kernel:0:$((o + 1)):$((o + 60)):$((o + 300))," \
    "kernel:1:$((o + 1)):$((o + 90)):$((o + 250)),download:0:$((o + 2)):$((o + 300)):$((o + 340))"
}
python3 trace.py two.json 2 "$(two 1000)" "$(two 3000)" "$(two 5000)" "upload:0:7000:7000:7050,download:0:7001:7050:7100"
gpusparc profile --task a --margin 0 --from two.json --from one.json >two.conf 2>err.txt
[ ! -s err.txt ] || fail "words about two.json: $(cat err.txt)"
grep -q '^# 3 jobs .* 1 of them lack some of these segments$' two.conf || { cat two.conf; fail "the odd job is told"; }
grep -qx 'segments.2 = pci 100us, gpu 240us, pci 40us' two.conf || { cat two.conf; fail "two.conf"; }
grep -q 'segments.1 = ' two.conf || fail "both"
# Pieces of one transfer in one call: no CPU segment lies between. A job of another sequence: its segments count where they stand.
pieces() { # OFFSET
  local o=$1
  printf '%s' "kernel:0:$o:$o:$((o + 100)),api:0:0:$((o + 90)):$((o + 400)),download/staged:0:$((o + 150)):$((o + 150)):$((o + 200))," \
    "download/staged:0:$((o + 300)):$((o + 300)):$((o + 400)),download/staged:0:$((o + 450)):$((o + 450)):$((o + 500))"
}
python3 trace.py pieces.json 1 "$(pieces 1000)" "$(pieces 3000)" "$(pieces 5000)" "kernel:0:7000:7000:7100,download/pinned:0:7001:7100:7200,download:0:7300:7300:8100"
gpusparc profile --task a --margin 0 --from pieces.json >pieces.conf 2>err.txt
grep -qx 'segments.1 = gpu 100us, cpu 50us, pci 250us, cpu 100us, pci 800us' pieces.conf || { cat pieces.conf; fail "pieces.conf"; }
gpusparc profile --task a --json --from two.json --from one.json 2>err.txt >two.out.json
python3 - two.out.json <<'E' || fail "JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["gpus"] == 2 and [m["gpus"] for m in d["modes"]] == [1, 2]
assert [m["other_jobs"] for m in d["modes"]] == [0, 1]
assert d["modes"][1]["segments"][1] == {"resource": "gpu", "longest_ns": 240000, "median_ns": 240000, "shortest_ns": 0, "worst_ns": 288000}
assert abs(d["modes"][1]["longest_by_median"] - 380 / 370) < 1e-9 # 100 + 240 + 40 of 90 + 240 + 40
E

# Jobs of which no chain that a config can hold has all: the commonest, and words about the others.
long() { # OFFSET FIRST SECOND PAIRS
  local o=$1 k
  for ((k = 0; k < $4; k++)); do
    printf '%s:0:%d:%d:%d,' "$2" $((o + 100 * k)) $((o + 100 * k)) $((o + 100 * k + 10)) "$3" $((o + 100 * k + 30)) $((o + 100 * k + 30)) $((o + 100 * k + 40))
  done
  printf 'download:0:%d:%d:%d' $((o + 9000)) $((o + 9001)) $((o + 9010))
}
python3 trace.py long.json 1 "$(long 10000 kernel upload 60)" "$(long 30000 kernel upload 60)" "$(long 50000 kernel upload 60)" "$(long 70000 upload upload 60)"
gpusparc profile --task a --margin 0 --from long.json >long.conf 2>err.txt || { cat err.txt; fail "long.json"; }
grep -q '1 of 3 jobs have another sequence' err.txt || { cat err.txt; fail "the odd job is told"; }
grep -q '1 others had another sequence' long.conf || fail "the odd job in the config"
python3 trace.py longer.json 1 "$(long 10000 kernel upload 80)" "$(long 30000 kernel upload 80)"
rc=0; gpusparc profile --task a --from longer.json >long.conf 2>err.txt || rc=$?
{ [ $rc -eq 1 ] && grep -q '321 segments; a config holds 256' err.txt; } || { cat err.txt; fail "a chain that is too long"; }

# Samples, really.
for app in "matmul --size 128" "pagerank --size 4096 --steps 1" "knn --size 256"; do
  # shellcheck disable=SC2086
  gpusparc profile --task t --runs 2 --devices cpu:2 -- "$samples"/$app --iterations 4 --no-check >app.conf 2>err.txt ||
    { cat err.txt; fail "$app"; }
  { grep -q '^segments.1 = .*gpu ' app.conf && grep -q '^segments.2 = .*gpu ' app.conf; } || { cat app.conf; fail "$app: no chains"; }
  for key in gpu pci; do
    grep -qx "# $(grep "^${key}_chunk = " app.conf)" app.conf || { cat app.conf; fail "$app: [system] has no ${key}_chunk to offer"; }
  done
  { grep -q '^gpu_chunk = ' app.conf && grep -q '^pci_chunk = ' app.conf; } || { cat app.conf err.txt; fail "$app: no chunks"; }
  gpusparc check app.conf >out.txt || { cat app.conf; fail "$app: check"; }
  # Transfers of some microseconds have chunks that are shorter than a hand-over: they are counted.
  gpusparc analyze app.conf >out.txt || { cat app.conf out.txt; fail "$app: analyze"; }
  { grep -q '^# [1-9][0-9]* jobs of 2 runs with 2 GPUs' app.conf && ! grep -q 'runs done' err.txt; } || { cat err.txt app.conf; fail "$app: its jobs"; }
done

# What goes wrong is said.
rc=0; gpusparc profile --task t --runs 1 --devices cpu:2 -- sh -c 'echo no luck >&2; exit 3' >out.txt 2>err.txt || rc=$?
{ [ $rc -eq 1 ] && grep -q 'exit status 3: no luck' err.txt && [ ! -s out.txt ]; } || { cat err.txt; fail "a run that fails"; }
rc=0; gpusparc profile --task t --runs 3 --devices cpu:2 -- true >out.txt 2>err.txt || rc=$?
{ [ $rc -eq 1 ] && grep -q 'the first run had no job' err.txt && ! grep -q 'run 2' err.txt; } || { cat err.txt; fail "an application without OpenCL"; }
for bad in "--runs 1 -- true" "--task a,b -- true" "--task a --runs 0 -- true" "--task a --from x -- true" "--task a --what -- true"; do
  rc=0
  # shellcheck disable=SC2086
  gpusparc profile $bad >out.txt 2>err.txt || rc=$?
  { [ $rc -eq 2 ] && [ -s err.txt ]; } || fail "profile $bad"
done
echo '{}' >no.json
rc=0; gpusparc profile --task a --from no.json >out.txt 2>err.txt || rc=$?
{ [ $rc -eq 1 ] && grep -q 'is no trace' err.txt; } || fail "no trace"
# Ctrl-C: what was seen is printed, marked as cut short. Each run adds a line: in the third, two have been read.
printf '#!/bin/sh\necho >>runs\nexec "$@"\n' >counted
chmod +x counted
app=(./counted "$samples/matmul" --size 64 --iterations 3 --no-check)
interrupt() { # LINES OPTION...
  local lines=$1
  shift
  : >runs
  gpusparc profile --task t --runs 1000 --devices cpu:2 "$@" >cut.conf 2>err.txt &
  local pid=$!
  until [ "$(wc -l <runs)" -ge "$lines" ]; do kill -0 $pid || break; sleep 0.02; done
  kill -INT $pid
  rc=0; wait $pid || rc=$?
  [ $rc -eq 130 ] || { cat err.txt cut.conf; fail "Ctrl-C gave $rc"; }
}
interrupt 3 -- "${app[@]}"
{ grep -q '^segments.1' cut.conf && grep -q '^# Stopped after [2-9][0-9]* of 2000 runs.$' cut.conf && gpusparc check cut.conf >out.txt; } || { cat cut.conf; fail "Ctrl-C: the answer"; }
grep -q 'stopped after [0-9]* of 2000 runs: the answer is of these' err.txt || { cat err.txt; fail "Ctrl-C: no word"; }
interrupt 3 --json -- "${app[@]}"
python3 -c 'import json; j = json.load(open("cut.conf")); assert not j["complete"] and 2 <= j["done"] < j["asked"] == 2000 and j["modes"], j'
# Before anything is known: one sentence.
interrupt 1 -- ./counted sleep 100
{ [ ! -s cut.conf ] && [ "$(cat err.txt)" = "gpusparc: stopped before anything was known" ]; } || { cat err.txt cut.conf; fail "Ctrl-C at once"; }
# On a terminal it shows how far it is.
rc=0
"$GS_SOURCE/tests/common/ctrl_c.py" '[1-9] of 2000 runs done, the next on one GPU' gpusparc profile --task t --runs 1000 --devices cpu:2 -- "${app[@]}" >cut.conf 2>err.txt || rc=$?
{ [ $rc -eq 130 ] && grep -q '^segments.1' cut.conf; } || { cat err.txt cut.conf; fail "Ctrl-C on a terminal gave $rc"; }
