#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# contend.sh SEED ROUNDS [STEPS [THREADS]]: the program contend (launches whose atomics' results are used, in random
# sequences) with so many seeds from SEED on, plain and split in several ways, compared byte for byte.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 rounds=$2 steps=${3:-150} threads=${4:-2}

under() { # NAME OPTIONS...
  local name=$1 rc=0
  shift
  timeout 200 gpusparc run --stats="$name.json" "$@" "$programs/contend" "$s" "$steps" "$threads" \
    >"$name.txt" 2>"$name.err" || rc=$?
  [ "$rc" = 0 ] || { cat "$name.err"; fail "seed $s: $name exits with $rc (steps $steps, threads $threads)"; }
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | head -5; fail "seed $s: $name differs (steps $steps, threads $threads)"; }
}
for ((s = seed; s < seed + rounds; s++)); do
  "$programs/contend" "$s" "$steps" "$threads" >alone.txt || { cat alone.txt; fail "seed $s fails without gpusparc"; }
  under shared --mode multi --gpus 2
  GPUSPARC_TRANSFER=plain under plain --mode multi --gpus 3
  GPUSPARC_TRANSFER=pinned under pinned --mode multi --gpus 2
  GPUSPARC_TRANSFER=plain under verified --mode multi --gpus 2 --verify
  stats verified.json right
  stats shared.json single:find # the ordinary launches between are split
  for run in shared plain pinned verified; do grep -q '"split": [1-9]' $run.json || fail "seed $s: $run: nothing was split"; done
  GPUSPARC_TRANSFER=plain under auto --gpus 2
  under pooled --memory pooled --gpus 2
  POCL_DEVICES="pthread pthread" GPUSPARC_TRANSFER=plain under twins --mode multi --devices all
done
echo "seeds $seed to $((seed + rounds - 1)): the same"
