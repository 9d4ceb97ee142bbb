#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# locking.sh: no thread waits for a lock while it holds one that comes behind it (common/lock/rank.h): programs of several
# threads, transfers, callbacks and merges, without a daemon, and as tasks and otherwise under one; no state of a
# command follows one that it may not (shim/schedule/deferred.c); and no call waits under a context's lock for a
# daemon that hangs.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
check_order
runs=0
program() { # OPTIONS -- PROGRAM ARGUMENTS
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  plain plain.txt "$programs/$1" "${@:2}"
  timeout "$(left)" gpusparc run --devices cpu:2 "${options[@]}" "$programs/$1" "${@:2}" >out.txt 2>err.txt ||
    { cat out.txt err.txt; fail "$* under ${options[*]}"; }
  cmp plain.txt out.txt || fail "$* under ${options[*]}: another result"
  runs=$((runs + 1))
}
all() { # TRANSFERS OPTIONS...
  local transfers=$1
  shift
  for transfer in $transfers; do
    export GPUSPARC_TRANSFER=$transfer
    for words in transfers callbacks threads user_events "stress 9403 120 3 i" sub_buffers images "columns 2 300 200"; do
      # shellcheck disable=SC2086
      program "$@" -- $words
    done
  done
  unset GPUSPARC_TRANSFER
}
all "pinned plain" --no-daemon --mode multi
all pinned --no-daemon --mode auto --forget
GPUSPARC_TRANSFER=pinned program --memory pooled -- pooled 16384 rows
# Between hosts, links are measured before the first launch.
rm -rf unmeasured
POCL_DEVICES="pthread pthread" GPUSPARC_REMOTE=a,b XDG_CACHE_HOME=$PWD/unmeasured \
  program --devices all --no-daemon --mode auto -- threads
ls unmeasured/gpusparc/links-* >measured.txt || fail "the links between hosts weren't measured"
own_daemon <<'END'
[task one]
period = 20s
mode = 2
END
begin_daemon
all plain --mode multi
all pinned --gpus 1
all pinned --task one

# Another application has had the link and the GPU since: this one has to ask for them, and the daemon doesn't answer.
row() { timeout 120 gpusparc run --devices cpu:2 --gpus 1 --task one "$programs/job_rows" 1 3 "$@"; }
"$programs/job_rows" 1 3 3 <<<$'\n' >plain.txt || fail "job_rows without gpusparc"
coproc hung { row 3 2>hung.txt; }
app=$hung_PID
apps=$app
exec {from}<&"${hung[0]}" {to}>&"${hung[1]}"
said() { read -r line <&"$from" && echo "$line"; }
said >waits.txt
row 1 >out.txt
kill -STOP "$daemon"
echo >&"$to"
said >>waits.txt
# Its user is told by another thread, which may come later than the row's end.
for _ in $(seq 3000); do grep -q "the daemon has gone" hung.txt && break; sleep 0.02; done
echo >&"$to"
cat waits.txt - <&"$from" >out.txt
wait "$app" || { cat hung.txt; fail "job_rows under a daemon that hangs"; }
kill -CONT "$daemon"
cmp plain.txt out.txt || fail "job_rows under a daemon that hangs: another result"
shows hung.txt "the daemon has gone: task %s goes on unscheduled until one comes"
end_daemon
echo "$runs runs"
in_order
# What it would say: a thread that waits for the first lock of two while it has the second.
rm -f wrong
GS_LOCK_REPORT=$PWD/wrong "$programs/wrong_order"
grep -q "GS_RANK_CONTEXT is waited for by who has GS_RANK_BOOK" wrong || fail "a wrong order isn't seen"
# ... and one that waits for something while it has that lock, without a reason.
[ "$(grep -c "is waited for under" wrong)" = 1 ] || fail "waits: $(cat wrong)"
grep -q "^the other is waited for under GS_RANK_CONTEXT" wrong || fail "a wait under a lock isn't seen"
# ... and one that waits for longer than that reason admits, or asks to.
[ "$(grep -c "admitted are" wrong)" = 2 ] || fail "waits that take long: $(cat wrong)"
grep -qx "an hour at most asks to wait for 3600000000000 ns under GS_RANK_CONTEXT; admitted are 2000000 for a moment" wrong || fail "a wait that may take long isn't seen: $(cat wrong)"
grep -qE "^what never ends took [0-9]+ ns under GS_RANK_CONTEXT; admitted are 1000 for what never ends$" wrong || fail "a wait that takes long isn't seen: $(cat wrong)"
