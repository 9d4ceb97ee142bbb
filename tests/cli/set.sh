#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc set: a daemon's task gets another period, the analysis is asked, the file is only written where that is wanted.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
export GPUSPARC_SOCKET=$PWD/sock
rm -rf sock etc
mkdir etc
cat >etc/gpusparc.conf <<'END'
; kept
[system]
gpus = 2
cpus = 4
[task a]
period = 200ms   ; as the camera has it
segments.1 = cpu 2ms, pci 3ms, gpu 40ms, pci 5ms, cpu 5ms
[task ab]
period = 500ms
segments.1 = cpu 2ms, pci 3ms, gpu 60ms, pci 5ms, cpu 5ms
END
chmod 640 etc/gpusparc.conf
cp etc/gpusparc.conf before.conf
(cd etc && exec gpusparcd --config gpusparc.conf) 2>log &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" || true' EXIT
for _ in $(seq 500); do gpusparc status --json >state.json 2>/dev/null && break; sleep 0.02; done
periods() { gpusparc status --json | python3 -c 'import json, sys; print(*(t["period_ns"] // 1000000 for t in json.load(sys.stdin)["tasks"]))'; }
[ "$(periods)" = "200 500" ] || complain "at first: $(periods)"
gpusparc set a period=150ms >said || complain "set a period=150ms: $(cat said)"
grep -q '^task a: rank 2, period 150ms, deadline 150ms; ' said || complain "set says: $(cat said)"
[ "$(periods)" = "150 500" ] || complain "after set: $(periods)"
cmp etc/gpusparc.conf before.conf || complain "the file was written without --write"
gpusparc set a period=150ms --json | python3 -c 'import json, sys; s = json.load(sys.stdin); assert s["changed"] and s["message"].startswith("task a: rank 2, period 150ms"), s' ||
  complain "set --json"
gpusparc reload --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["changed"]' || complain "reload --json"
gpusparc set a period=150ms >/dev/null
says "nothing is changed, since deadlines could be missed" set a period=30ms
[ "$(periods)" = "150 500" ] || complain "a refused change: $(periods)"
says "task a has no priority: the tasks go by their deadlines" set a priority=3
says "its deadline of 2s is longer than its period" set a deadline=2s
says "there is no task nobody" set nobody period=1s
says "a duration above zero" set a period=now
says "there are priority=N" set a colour=red
says "given twice" set a period=1s period=2s
says "takes a task and what to change" set a
gpusparc set a period=160ms deadline=140ms --write >said || complain "--write: $(cat said)"
diff before.conf etc/gpusparc.conf >differs || true
[ "$(grep '^[<>]' differs)" = "< period = 200ms   ; as the camera has it
> deadline = 140ms
> period = 160ms   ; as the camera has it" ] || complain "--write has made of it: $(cat etc/gpusparc.conf)"
[ "$(stat -c %a etc/gpusparc.conf)" = 640 ] || complain "the file's mode: $(stat -c %a etc/gpusparc.conf)"
[ "$(ls etc)" = gpusparc.conf ] || complain "left over: $(ls etc)"
gpusparc check etc/gpusparc.conf >/dev/null || complain "the file is wrong now"
gpusparc set a period=150ms --force >/dev/null
gpusparc reload >/dev/null
[ "$(periods)" = "160 500" ] || complain "after reload: $(periods)"
kill "$daemon"
wait "$daemon" || true
says "no daemon listens" set a period=1s
exit $fail
