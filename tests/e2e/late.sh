#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# late.sh SEED SEEDS: the stress program with so many seeds from SEED on, in sequences that it does over where a command
# has failed: plain, and under gpusparc with commands that fail while they run. The same bytes in the end, and an end.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export GPUSPARC_SOCKET=$PWD/none
steps=60 threads=2 rounds=4 without=g runs=0

one() { # GPUS WHERE
  local rc=0
  OPENCL_LAYERS=$programs/faults.so FAULT=any:$s:-9999:often timeout -s ALRM 60 gpusparc run --mode multi --gpus "$1" \
    "$programs/stress" "$s" $steps $threads $without $rounds >out.txt 2>err.txt || rc=$?
  runs=$((runs + 1))
  [ $rc = 0 ] && cmp -s alone.txt out.txt && return
  diff alone.txt out.txt | head -4 || true
  tail -3 err.txt
  fail "seed $s, $1 devices: exits with $rc (stress $s $steps $threads $without $rounds)"
}

for ((s = $1; s < $1 + $2; s++)); do
  "$programs/stress" "$s" $steps $threads $without $rounds >alone.txt 2>err.txt || { cat alone.txt; fail "seed $s fails without gpusparc"; }
  # Not by the ring of a thread of ours, whose user events fail: PoCL (3.1) doesn't survive many of these.
  for gpus in 2 3; do GPUSPARC_TRANSFER=plain one $gpus; done
done
echo "seeds $1 to $(($1 + $2 - 1)): the same in $runs runs, the last with $(sed -n 's/.*: \([0-9]* tries failed\)/\1/p' err.txt | paste -sd,)"
