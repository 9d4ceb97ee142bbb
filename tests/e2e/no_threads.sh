#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# no_threads.sh: gpusparc gets N threads and no more (no_threads.c), under a daemon: the application ends with the same
# bytes whatever N is, no call of it waits for a unit under a context's lock, and the daemon has no unit of it left.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
check_order
own_daemon kernel_chunk=1 <<'END'
[task one]
period = 20s
mode = 2
END
begin_daemon
none_left() {
  gpusparc status --json | python3 -c '
import json, sys
status = json.load(sys.stdin)
held = [r for r in status["resources"] if r["units"] or r["clients_waiting"]]
sys.exit(bool(status["clients"] or held or status["daemon"]["taken_back"]))'
}
decisions() { gpusparc status --json | sed -n 's/.*"decisions": \([0-9]*\).*/\1/p'; }
"$programs/threads" >plain.txt || fail "threads without gpusparc"
refused=0 joined=0
for ((n = 0; n < 8; n++)); do
  for options in "--task one" "--gpus 1"; do
    [ "$options" = "--task one" ] || [ $((n % 2)) = 0 ] || continue
    before=$(decisions)
    # shellcheck disable=SC2086
    NO_THREADS=$n timeout 100 gpusparc run --devices cpu:2 $options bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' \
      "$programs/no_threads.so" "$programs/threads" >out.txt 2>err.txt ||
      fail "$n threads, $options: exit status $?: $(cat err.txt)"
    cmp plain.txt out.txt || fail "$n threads, $options: another result"
    if [ -s err.txt ]; then
      shows err.txt "no thread could be started to wait for the daemon"
      [ "$(decisions)" = "$before" ] || fail "$n threads, $options: the daemon has decided anew for a process that runs without it"
      refused=$((refused + 1))
    else
      joined=$((joined + 1))
    fi
    NO_THREADS=$n timeout 100 gpusparc run --devices cpu:2 $options bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' \
      "$programs/no_threads.so" "$programs/let_go" called >out.txt 2>err.txt || fail "$n threads, $options: let_go: $(cat err.txt)"
    [ "$(grep -c gone out.txt)" = 8 ] || fail "$n threads, $options: $(grep -c gone out.txt) of 8 objects go"
    await "$n threads, $options: the daemon has a unit or a client left" none_left
  done
done
[ $refused -gt 0 ] && [ $joined -gt 0 ] || fail "$refused runs without a thread, and $joined with all"
NO_THREADS=0 gpusparc run --devices cpu:2 --task-required --task one bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' \
  "$programs/no_threads.so" "$programs/threads" >out.txt 2>err.txt && fail "a task that can't wait for its units isn't ended"
end_daemon
echo "$refused runs that don't join, $joined that do"
in_order
