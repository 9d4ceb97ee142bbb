#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A paced task whose daemon dies and comes back: it is the same task, by its path, also where its program has been
# replaced meanwhile; its jobs keep their pace all the time, and none counts as late for the daemon's absence. A
# period that a reload changes counts for it, too, and so does a task that a reload takes away and another gives back.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon <<'END'
[task t]
match = */deep/jobs
period = 100ms
user = *
END
task() { # EXPRESSION: of the task's state t and the clients c
  gpusparc status --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(eval(sys.argv[1], {"t": (s["tasks"] + [None])[0], "c": s["clients"]}))' "$1"
}
await() { # EXPRESSION: that it becomes true
  for ((i = 0; i < 100; i++)); do [ "$(task "$1")" = True ] && return; sleep 0.05; done
  cat "$dir/log" err.txt
  fail "not $1: $(task t), $(task c)"
}
# More than 255 bytes of path, and some that a terminal would obey.
deep=$dir/$(printf 'd%.0s' {1..150})/$(printf 'e%.0s' {1..150})$'\e[2J\nx/deep'
mkdir -p "$deep"
cp "$programs/jobs" "$deep/jobs"
begin_daemon
gpusparc run --devices cpu:2 --gpus 2 --pace stdbuf -oL "$deep/jobs" 100000 1000 >out.txt 2>err.txt &
apps=$!
await 't["running"] == 1'
await 't["jobs"] > 5'
gpusparc status >status.txt
[ "$(tr -d '\n[:print:]' <status.txt | wc -c)" = 0 ] || fail "status prints control characters"
grep -q ' deep/jobs$' status.txt || fail "status doesn't show the program: $(cat status.txt)"
gpusparc status --json | grep -q 'eee.*x/deep/jobs"' || fail "status --json doesn't show the path"
grep -q '^JOBS, MISSED and times count since the daemon began, .* ago$' status.txt || fail "since when: $(cat status.txt)"
earlier=$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["tasks"][0]["jobs"])')
# As an upgrade does.
cp "$programs/jobs" "$deep/new"
mv "$deep/new" "$deep/jobs"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
before=$(wc -l <out.txt)
sleep 4
jobs=$(($(wc -l <out.txt) - before))
((jobs <= 45)) || fail "$jobs jobs in four seconds without a daemon, at a period of 100 ms"
((earlier + jobs > 24)) || fail "only $earlier jobs with the first daemon, $jobs without one"
begin_daemon
await 't["running"] == 1'
# Counted anew: neither the jobs of the first daemon's time nor those of none.
[ "$(task "t['jobs'] < $((earlier + jobs))")" = True ] || fail "a new daemon counts older jobs: $(task t)"
await 't["jobs"] > 10'
[ "$(task 't["response"]["max_ns"] < 3e9')" = True ] || fail "jobs are late by the daemon's absence: $(task t)"
sed -i 's/100ms/800ms/' "$dir/conf"
gpusparc reload >/dev/null
sleep 1 # with the release that was set before
before=$(wc -l <out.txt)
sleep 2
jobs=$(($(wc -l <out.txt) - before))
((jobs <= 4)) || fail "$jobs jobs in two seconds, at a period of 800 ms"
cp "$dir/conf" "$dir/whole"
sed -i '/^\[task t\]/,$d' "$dir/conf"
gpusparc reload >/dev/null
[ "$(task 'c[0]["task"]')" = "" ] || fail "it is no task of the config any more: $(task c)"
cp "$dir/whole" "$dir/conf"
gpusparc reload >/dev/null
[ "$(task 'c[0]["task"], c[0]["priority"]')" = "('t', 1)" ] || fail "the task has come back, but not for it: $(task c)"
