#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Applications under a daemon that cuts into small units: the bytes of a plain run, whatever the mode; jobs and their
# response times in the daemon's status; pacing; the daemon's and an application's death.
# DEVICES: as for gpusparc run (default cpu:2), two of them
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
rm -f ./*.txt # what an earlier run expected, of programs that may have changed
devices=${DEVICES:-cpu:2}
own_daemon kernel_chunk=4 transfer_chunk=16KiB <<'END'
[task both]
period = 200ms
priority = 9
mode = multi
[task one]
period = 1s
priority = 1
mode = 1
[task moving]
period = 1s
priority = 2
mode = 1
moves = always
[task bytes]
period = 1s
priority = 3
mode = multi
transfer_chunk = 8
END
ask() { # EXPRESSION over the status s: prints it
  gpusparc status --json | python3 -c "
import json, sys
s = json.load(sys.stdin)
task = {t['task']: t for t in s['tasks']}
print($1)"
}
same() { # NAME TASK PROGRAM [ARGUMENT...]: as plain
  local name=$1 task=$2 rc=0
  shift 2
  if [ ! -f "$name.txt" ] && ! "$programs/$@" >"$name.txt" 2>"$name.err"; then
    rm "$name.txt"
    [[ $devices != cpu:* ]] || fail "$* fails without gpusparc"
    echo "left out: $* fails without gpusparc: $(tail -1 "$name.err")" # what this GPU's driver lacks
    return
  fi
  timeout 120 gpusparc run --devices "$devices" --gpus 2 --mode multi --task "$task" "$programs/$@" >"$name.$task.txt" 2>"$name.err" || rc=$?
  cmp "$name.txt" "$name.$task.txt" || { head -5 "$name.err"; fail "$* as task $task differs"; }
  [ "$rc" = 0 ] || { head -5 "$name.err"; fail "$* as task $task exits with $rc"; }
  ! grep '^gpusparc' "$name.err" || fail "$* as task $task: gpusparc has something to say"
}
begin_daemon

# The bytes, in both modes, with devices that share memory and with such that don't.
for way in auto:both plain:both pinned:one; do
  export GPUSPARC_TRANSFER=${way%:*}
  for p in queues transfers images geometry refused_kernels aliases events_after_split svm wrong_waits; do same "$p" "${way#*:}" "$p"; done
  same stress "${way#*:}" stress 7 100 3
done
# Where each job begins on another GPU than the last what the host writes goes straight there, and so there is nothing to
# bring of it from the other: but the first time, and what a kernel may leave as it was.
for way in plain pinned; do
  export GPUSPARC_TRANSFER=$way
  for p in queues transfers sub_buffers host_pointers events_after_split threads; do same "$p" moving "$p"; done
  same stress11 moving stress 11 100 3
  gpusparc run --devices "$devices" --gpus 2 --mode multi --task moving --stats=moved.json "$GS_BUILD/lib/gpusparc/samples/matmul" --size 256 --iterations 9 >moved.txt ||
    { cat moved.txt; fail "matmul as task moving"; }
  python3 - moved.json <<'END' || fail "what the host writes goes by way of the first GPU"
import json, sys
d = json.load(open(sys.argv[1]))
between = sum(d["bytes"][way]["bytes"] for way in ("copy", "host", "pinned", "peer"))
assert sum(k["launches"] for k in d["kernels"]) == 9
assert 2 << 18 <= between <= 6 << 18, between  # both inputs once, the output for each of four jobs
END
done
# Chunks smaller than a texel are one.
GPUSPARC_TRANSFER=pinned same two_images bytes images two
unset GPUSPARC_TRANSFER
[ "$(ask "s['daemon']['clients']")" = 0 ] || fail "clients are left"
# A GPU has so many compute units that these launches are one unit each.
[[ $devices != cpu:* ]] ||
  [ "$(ask "max(r['granted'] + r['taken'] for r in s['resources'][1:]) > 1000")" = True ] || fail "launches aren't cut"
[ "$(ask "s['resources'][0]['taken'] > 50")" = True ] || fail "transfers aren't cut"
[ "$(ask "s['daemon']['taken_back']")" = 0 ] || fail "a unit was held for too long"

# A job for each write, launch and read; each with a response time.
before=$(ask "task['both']['jobs']")
same jobs both jobs 7
for _ in $(seq 100); do [ "$(ask "task['both']['jobs'] - $before")" = 7 ] && break; sleep 0.05; done # a busy daemon reads them later
[ "$(ask "task['both']['jobs'] - $before")" = 7 ] || fail "7 jobs count as $(ask "task['both']['jobs'] - $before")"
[ "$(ask "task['both']['response']['count'] >= 7 and task['both']['response']['median_ns'] > 0")" = True ] || fail "no response times"

# Without the daemon's knowledge.
gpusparc run --devices "$devices" --gpus 2 --mode multi --no-daemon --task both "$programs/jobs" 7 | cmp - jobs.txt
[ "$(ask "task['both']['jobs'] - $before")" = 7 ] || fail "--no-daemon joins"

# Paced: six jobs end after five periods at the earliest. By the task's period, and by one given, which takes no daemon.
begin_ns=$(date +%s%N)
timeout "$(left)" gpusparc run --devices "$devices" --gpus 2 --task both --pace "$programs/jobs" 6 >paced.txt
[ $(($(date +%s%N) - begin_ns)) -ge 1000000000 ] || fail "jobs come before their release"
"$programs/jobs" 6 | cmp - paced.txt
begin_ns=$(date +%s%N)
timeout "$(left)" gpusparc run --devices "$devices" --gpus 2 --no-daemon --pace=100ms "$programs/jobs" 6 | cmp - paced.txt
[ $(($(date +%s%N) - begin_ns)) -ge 500000000 ] || fail "jobs come before their release without a daemon"

# Two at a time, at two priorities.
timeout 120 gpusparc run --devices "$devices" --gpus 2 --mode multi --task one "$programs/jobs" 20 20000 2000 >low.txt 2>low.err &
apps=$!
timeout 120 gpusparc run --devices "$devices" --gpus 2 --mode multi --task both "$programs/jobs" 20 20000 500 >high.txt || fail "the urgent one fails"
wait "$apps" || { cat low.err; fail "the other one fails"; }
apps=
"$programs/jobs" 20 20000 2000 | cmp - low.txt
"$programs/jobs" 20 20000 500 | cmp - high.txt

# An application that is killed in the middle leaves nothing behind.
gpusparc run --devices "$devices" --gpus 2 --mode multi --task one "$programs/jobs" 100000 20000 2000 >/dev/null 2>&1 &
apps=$!
for _ in $(seq 200); do [ "$(ask "s['daemon']['clients']")" = 1 ] && break; sleep 0.02; done
sleep 0.2
kill -9 "$apps"
wait "$apps" 2>/dev/null || true
apps=
same jobs one jobs 7
[ "$(ask "s['daemon']['clients']")" = 0 ] || fail "the dead are kept"

# The daemon dies twice under a running application, which goes on and joins the next one.
"$programs/jobs" 150 20000 500 >long.txt
timeout 200 gpusparc run --devices "$devices" --gpus 2 --mode multi --task both "$programs/jobs" 150 20000 500 >survivor.txt 2>survivor.err &
apps=$!
for _ in 1 2; do
  for _ in $(seq 300); do [ "$(ask "s['daemon']['clients']")" = 1 ] && break; kill -0 "$apps" 2>/dev/null || break; sleep 0.02; done
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null || true
  begin_daemon
done
wait "$apps" || { cat survivor.err; fail "it doesn't survive the daemon"; }
apps=
cmp long.txt survivor.txt || fail "it computes something else when the daemon dies"
end_daemon
