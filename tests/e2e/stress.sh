#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stress.sh SEED ROUNDS [STEPS [THREADS]]: the stress program with so many seeds from SEED on, plain and split in several
# ways, compared byte for byte.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 rounds=$2 steps=${3:-250} threads=${4:-3}

under() { # NAME OPTIONS...
  local name=$1 rc=0
  shift
  timeout 200 gpusparc run --mode multi --stats="$name.json" "$@" "$programs/stress" "$s" "$steps" "$threads" \
    >"$name.txt" 2>"$name.err" || rc=$?
  [ "$rc" = 0 ] || { cat "$name.err"; fail "seed $s: $name exits with $rc (steps $steps, threads $threads)"; }
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | head -5; fail "seed $s: $name differs (steps $steps, threads $threads)"; }
  stats "$name.json" some:scale some:gather some:scatter some:some some:rows some:bytes some:turn some:count some:least
}
for ((s = seed; s < seed + rounds; s++)); do
  "$programs/stress" "$s" "$steps" "$threads" >alone.txt || { cat alone.txt; fail "seed $s fails without gpusparc"; }
  under shared --gpus 2
  GPUSPARC_TRANSFER=plain under plain --gpus 3
  GPUSPARC_TRANSFER=pinned under pinned --gpus 2
  POCL_DEVICES="pthread pthread" GPUSPARC_TRANSFER=plain under twins --devices all
done
echo "seeds $seed to $((seed + rounds - 1)): the same"
