#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_failures.sh SEED SEEDS: the stress program with so many seeds from SEED on, in sequences that it does over where a command
# has failed: plain, and under gpusparc, without and with a daemon, with commands that fail while they run. The same bytes
# in the end, and an end.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon kernel_chunk=4 transfer_chunk=8192 </dev/null
begin_daemon
steps=60 threads=2 rounds=4 without=g runs=0 failed=0

one() { # WAY GPUS OPTIONS...
  local way=$1 gpus=$2 rc=0
  shift 2
  GPUSPARC_TRANSFER=$way OPENCL_LAYERS=$programs/faults.so FAULT=any:$s:-9999:often timeout -s ALRM 60 \
    gpusparc run --mode multi --gpus "$gpus" "$@" "$programs/stress" "$s" $steps $threads $without $rounds >out.txt 2>err.txt || rc=$?
  runs=$((runs + 1)) failed=$((failed + $(sed -n 's/.*: \([0-9]*\) tries failed/\1/p' err.txt | paste -sd+ | sed 's/^$/0/')))
  [ $rc = 0 ] && cmp -s alone.txt out.txt && return
  diff alone.txt out.txt | head -4 || true
  tail -3 err.txt
  fail "seed $s, $way, $gpus devices $*: exits with $rc (stress $s $steps $threads $without $rounds)"
}

for ((s = $1; s < $1 + $2; s++)); do
  "$programs/stress" "$s" $steps $threads $without $rounds >alone.txt 2>err.txt || { cat alone.txt; fail "seed $s fails without gpusparc"; }
  for way in plain pinned; do
    one $way $((2 + s % 2)) --no-daemon
    one $way 2
  done
done
[ $failed -gt $runs ] || fail "nothing has failed"
end_daemon
echo "seeds $1 to $(($1 + $2 - 1)): the same in $runs runs, in spite of $failed tries that failed"
