#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pooled_random.sh SEED PROGRAMS: --memory pooled with random host programs (stress.c), each with a room drawn at random: the bytes
# of the plain run, which has all memory. Every other driver holds transfers, so that nobody counts on an order that nothing makes
# (overlap_counter.c); every third program's transfers go through the ring.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/pooled_common.sh"
export OVERLAP_HOLD=1
seed=$1 programs_wanted=$2 bad=0
for ((s = seed; s < seed + programs_wanted; s++)); do
  RANDOM=$s
  export SMALL_MEMORY_BYTES=$((98304 + RANDOM * 8))
  plain plain.txt "$programs/stress" "$s" 150 2
  layer=$programs/small_memory.so
  [ $((s % 2)) = 0 ] || layer=$layer:$programs/overlap_counter.so
  way=$([ $((s % 3)) = 0 ] && echo pinned || echo auto)
  GPUSPARC_TRANSFER=$way memory=pooled+host:1GiB pooled pooled.txt "$programs/stress" "$s" 150 2 && cmp -s plain.txt pooled.txt && continue
  echo "seed $s, room $SMALL_MEMORY_BYTES:" && tail -3 pooled.err && { diff plain.txt pooled.txt || true; } | cut -c1-160 | head -5
  bad=$((bad + 1))
done
echo "seeds $seed to $((seed + programs_wanted - 1)): $bad with a difference"
[ $bad = 0 ]
