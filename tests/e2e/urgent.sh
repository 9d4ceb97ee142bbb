#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An urgent task beside an application that keeps the device full: its launch waits for its unit in the call, where that
# isn't long; and threads of a task that ask at once get their units, however few there are.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
app=$GS_BUILD/bench/daemon_app
own_daemon gpus=1 <<'END'
[task high]
period = 10s
mode = 1
END
under=(gpusparc run --devices cpu:2 --gpus 1 --mode multi)
beside() { # a job of several chunks after the other
  "${under[@]}" "$app" 1000000 512 300 >/dev/null &
  apps=$!
  for _ in $(seq 500); do gpusparc status --json | grep -q '"granted": [1-9]\|"taken": [1-9]' && return; sleep 0.02; done
  fail "nothing runs"
}
taken_back() { gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])'; }
begin_daemon --trace "$PWD/trace.json"
beside
timeout "$(left)" "${under[@]}" --task high "$app" 100 4 3000 times.txt >/dev/null || fail "the urgent task"
[ "$(taken_back)" = 0 ] || fail "a unit was taken back"
kill "$apps"
wait "$apps" 2>/dev/null || true
apps=
end_daemon
cat >check.py <<'END2'
import json, sys
events = json.load(open("trace.json"))
high = {e["tid"] for e in events if e["name"] == "thread_name" and e["pid"] == 2 and e["args"]["name"].startswith("high,")}
spans = [(e["ts"], e["ts"] + e["dur"], e) for e in events if e["ph"] == "X"]
mine = [(b, e, x["args"]["resource"]) for b, e, x in spans if x["pid"] == 1 and x["args"]["client"] in high]
waits = [(b, e) for b, e, x in spans if x["pid"] == 3 and x["args"]["client"] in high and x["args"]["resource"] == 1]
jobs = [[int(t) / 1e3 for t in line.split()] for line in open("times.txt")]
short = in_call = 0
for begin, launched, end in jobs:
    wait = [w for w in waits if begin <= w[0] <= end]
    gpu = [u for u in mine if u[2] == 1 and begin <= u[0] <= end]
    link = [u for u in mine if u[2] == 0 and begin <= u[0] <= end]
    if len(wait) != 1 or len(gpu) != 1 or len(link) != 1 or wait[0][1] - wait[0][0] > 800:
        continue
    short += 1
    in_call += wait[0][1] <= launched
print(f"{len(jobs)} jobs, {short} waited up to 0.8 ms: {in_call} in the call")
if short >= 10 and in_call < short / 2:
    sys.exit("too few")
END2
python3 check.py || fail "the urgent task's jobs"

# One unit at a time, and threads that want it at once, each with its own queue.
sed -i 's/gpus = 1/gpus = 1\ndepth = 1/' "$dir/conf"
begin_daemon
beside
for i in 1 2 3; do
  timeout "$(left)" "${under[@]}" --task high "$programs/threads" >out.txt 2>err.txt || { cat err.txt; fail "threads $i"; }
done
[ "$(taken_back)" = 0 ] || fail "a unit was taken back: $(cat "$dir/log")"
