#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A probe under the daemon: it has the device alone from its first run to its last, waits for others and for tasks and
# makes room for a task that comes, and leaves the device free however it ends.
set -euo pipefail
source "$GS_SOURCE/tests/cli/refuses.sh"
pids=()
trap 'for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null || true; done' EXIT

export GPUSPARC_SOCKET=$PWD/d.sock
cat >d.conf <<'C'
[system]
gpus = 1
cpus = 2
watchdog = 500ms
[task mine]
period = 100ms
segments.1 = gpu 10ms
C
rm -f d.sock ./*.json task.in
gpusparcd --socket "$GPUSPARC_SOCKET" --config d.conf >d.log 2>&1 &
daemon=$!
pids+=($daemon)
until_true() { # WHAT COMMAND...: within a minute
  local what=$1
  shift
  for _ in $(seq 600); do
    "$@" && return
    sleep 0.1
  done
  cat d.log err*.txt
  fail "$what"
}
until_true "the daemon did not come up" test -S "$GPUSPARC_SOCKET"
says() { # FILE PYTHON: of the JSON j
  python3 -c "import json, sys; j = json.load(open('$1')); sys.exit(0 if $2 else 1)"
}
is_alone() { gpusparc status --json >status.json && says status.json 'all(r["alone"] for r in j["resources"])'; }
is_free() { gpusparc status --json >status.json && says status.json 'not any(r["alone"] for r in j["resources"])'; }
endless="order --by atomic --count 32 --runs 100000000 --json"

gpusparc probe order --count 2 --runs 200 --json >out.json 2>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "a probe alone has nothing to say"; }
says out.json 'j["kept_quiet"] and j["pauses"] == 0' || fail "not kept quiet"
is_free || fail "a probe that has ended holds something"
gpusparc probe order --count 2 --runs 10 --force --json >out.json
says out.json 'not j["kept_quiet"]' || fail "--force keeps nobody away"

# Another probe waits as long as the first one measures, beyond the watchdog's time; --force doesn't.
# shellcheck disable=SC2086
gpusparc probe $endless >endless.json 2>err_endless.txt &
holder=$!
pids+=($holder)
until_true "no probe had the device alone" is_alone
gpusparc probe order --count 2 --runs 10 --json >out.json 2>err_waiting.txt &
waiter=$!
pids+=($waiter)
until_true "no word of the wait" grep -q "waiting: other applications" err_waiting.txt
sleep 1
kill -INT $waiter
rc=0
wait $waiter || rc=$?
[ $rc = 130 ] || { cat err_waiting.txt; fail "the interrupted wait gave $rc"; }
grep -q "stopped before anything was known" err_waiting.txt || fail "no word of the interruption"
says out.json 'j["points"][0]["vectors"] == 0 and not j["complete"]' || fail "it measured beside another"
timeout 20 gpusparc probe order --count 2 --runs 10 --force --json >out.json 2>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "--force has nothing to say"; }
is_alone || fail "the probe lost the device"

# A task comes: the probe makes room at once, waits for its end, and goes on.
mkfifo task.in
"$GS_BUILD/tests/probe_task" mine <task.in >task.out &
task=$!
pids+=($task)
exec 7>task.in
until_true "the task did not join" grep -q "joined mine" task.out
until_true "the task waits for the probe" grep -q granted task.out
until_true "no word of the pause" grep -q "paused: a task has come" err_endless.txt
is_free || fail "a probe beside a task"

# While it runs, a probe that is asked for says why it waits; --force measures.
gpusparc probe order --count 2 --runs 10 --json >waited.json 2>err_waited.txt 7>&- &
waiter=$!
pids+=($waiter)
until_true "no word of the task" grep -q "waits until no task runs: there is mine (process $task)" err_waited.txt
gpusparc probe order --count 2 --runs 10 --force --json >out.json
says out.json 'j["complete"]' || fail "--force waits"
[ ! -s waited.json ] || fail "a measurement beside a task"
exec 7>&-
until_true "the probe did not go on after the task" is_alone

# Ctrl-C ends the first; the other has the device then.
kill -INT $holder
rc=0
wait $holder || rc=$?
[ $rc = 130 ] || { cat err_endless.txt; fail "the interrupted probe gave $rc"; }
says endless.json 'j["kept_quiet"] and j["pauses"] >= 1 and not j["complete"]' || { cat endless.json; fail "pauses"; }
wait $waiter || { cat err_waited.txt; fail "the waiting probe gave $?"; }
says waited.json 'j["kept_quiet"] and j["complete"]' || fail "the waiting probe measured nothing"

# The worker is killed in the middle: a clear message, and the device is free for one that waits.
start_endless() {
  rm -f err_endless.txt
  # shellcheck disable=SC2086
  gpusparc probe $endless >endless.json 2>err_endless.txt &
  holder=$!
  pids+=($holder)
  until_true "no probe had the device alone" is_alone
  worker=$(python3 -c 'import json; print([c["pid"] for c in json.load(open("status.json"))["clients"]][0])')
  pids+=("$worker")
}
start_endless
gpusparc probe order --count 2 --runs 10 --json >waited.json 2>err_waited.txt 7>&- &
waiter=$!
pids+=($waiter)
until_true "no word of the wait" grep -q "waiting: other applications" err_waited.txt
kill -9 "$worker"
rc=0
wait $holder || rc=$?
[ $rc = 1 ] || fail "a probe whose worker was killed gave $rc"
grep -q "worker (process $worker) was ended by signal 9 (Killed) in the middle: the device is free again" err_endless.txt ||
  { cat err_endless.txt; fail "no clear message"; }
wait $waiter || { cat err_waited.txt; fail "the waiting probe gave $?"; }
says waited.json 'j["complete"]' || fail "the device was not free"

# The command itself is killed: the worker stops too.
start_endless
kill -9 $holder
wait $holder 2>/dev/null || true
until_true "a worker without its command holds the device" is_free

# A worker that hangs loses the device to one that waits, after ten times the watchdog's time, and says so later.
start_endless
kill -STOP "$worker"
gpusparc probe order --count 2 --runs 10 --json >out.json
says out.json 'j["kept_quiet"]' || fail "the next one has it alone"
kill -CONT "$worker"
until_true "no word of the loss" grep -q "was taken back" err_endless.txt
until_true "it did not ask again" is_alone
kill -INT $holder
rc=0
wait $holder || rc=$?
[ $rc = 130 ] || fail "the probe that hung gave $rc"
says endless.json 'not j["kept_quiet"]' || fail "it was not alone all the time"

# The daemon dies: the probe goes on, and says what that means.
start_endless
kill -9 $daemon
until_true "no word of the daemon's death" grep -q "gpusparcd has gone" err_endless.txt
kill -INT $holder
rc=0
wait $holder || rc=$?
[ $rc = 130 ] || fail "the probe without a daemon gave $rc"
says endless.json 'not j["kept_quiet"] and j["points"][0]["vectors"] > 0' || fail "nothing was measured"
echo passed
