#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the user of a task is told, in one line each, and what it runs as then: where no daemon answers, where a dead one
# has left its socket, where it goes away in the middle, where there is no such task, where it is refused. With
# --task-required it ends with status 125 instead.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon cpus=2 admission=refuse <<'END'
[task t]
period = 100ms
user = *
[task late]
period = 100ms
mode = 1
segments.1 = gpu 99ms, cpu 99ms
END
export GPUSPARC_DEVICES=cpu:2 GPUSPARC_GPUS=2
run() { gpusparc run "$@"; }
# says LINE OPTION...: the application runs, with these words and no others; with --task-required it ends with 125
says() {
  local line=$1 rc=0
  shift
  run "$@" "$programs/jobs" 3 1000 >out.txt 2>err.txt || fail "$*: $(cat err.txt)"
  [ "$(cat err.txt)" = "gpusparc: $line" ] || fail "$*: not '$line' but: $(cat err.txt)"
  run "$@" --task-required "$programs/jobs" 3 1000 >out.txt 2>required.txt || rc=$?
  [ $rc = 125 ] || fail "$* --task-required: exit status $rc: $(cat out.txt required.txt)"
  [ "$(wc -l <required.txt)" = 1 ] && [ ! -s out.txt ] || fail "$* --task-required: $(cat out.txt required.txt)"
}
# await PATTERN: a line of err.txt
await() {
  for ((i = 0; i < 1000; i++)); do grep -q "$1" err.txt && return; sleep 0.02; done
  fail "no '$1' in: $(cat err.txt)"
}
says "there is no daemon: task t runs unscheduled until one comes" --task t
begin_daemon
run --task t --task-required "$programs/jobs" 3 1000 >out.txt 2>err.txt || fail "a task as it should be: $(cat err.txt)"
[ ! -s err.txt ] || fail "a task as it should be: $(cat err.txt)"
says "there is no task nobody in the daemon's config: it runs below all tasks" --task nobody
shows err.txt "%s: it runs below all tasks"
run --task late "$programs/jobs" 3 1000 >out.txt 2>err.txt || fail "a task that is refused: $(cat err.txt)"
grep -q '^gpusparc: task late is refused: late may take .*: it runs below all tasks$' err.txt && [ "$(wc -l <err.txt)" = 1 ] || fail "a task that is refused: $(cat err.txt)"
rc=0
run --task late --task-required "$programs/jobs" 3 1000 >out.txt 2>err.txt || rc=$?
[ $rc = 125 ] && [ ! -s out.txt ] && [ "$(wc -l <err.txt)" = 1 ] || fail "refused, --task-required: $rc $(cat out.txt err.txt)"
rc=0
run --task-required "$programs/jobs" 3 1000 >out.txt 2>err.txt || rc=$?
[ $rc = 125 ] && grep -q "is no task of the daemon's config" err.txt || fail "no task by its path, --task-required: $rc $(cat err.txt)"
rc=0
run --task t --no-daemon --task-required true 2>err.txt || rc=$?
[ $rc = 125 ] || fail "--no-daemon --task-required: $rc"

# It goes away in the middle, and comes back.
for how in free required; do
  option=()
  [ $how = free ] || option=(--task-required)
  gpusparc run --task t "${option[@]}" "$programs/jobs" 100000 1000 >out.txt 2>err.txt &
  app=$!
  apps="$apps $app"
  for ((i = 0; i < 1000; i++)); do gpusparc status --json | grep -q '"running": 1' && break; sleep 0.02; done
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null || true
  await "the daemon has gone: task t goes on unscheduled until one comes"
  shows err.txt "the daemon has gone: task %s goes on unscheduled until one comes"
  if [ $how = required ]; then
    rc=0
    wait "$app" || rc=$?
    [ $rc = 125 ] || fail "the daemon has gone, --task-required: exit status $rc"
    break
  fi
  begin_daemon
  await "a daemon is there: task t is scheduled"
  shows err.txt "a daemon is there: task %s is scheduled"
  [ "$(wc -l <err.txt)" = 2 ] || fail "more words than needed: $(cat err.txt)"
  kill -9 "$app"
  wait "$app" 2>/dev/null || true
done
# The dead one has left its socket.
[ -S "$dir/sock" ] || fail "there is no socket"
says "the daemon on $dir/sock doesn't answer (Connection refused): task t runs unscheduled until one does" --task t
shows err.txt "the daemon on %.100s doesn't answer (%s): task %s runs unscheduled until one does"
echo passed
