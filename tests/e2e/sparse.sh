#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sparse.sh: programs/sparse.c, whose writes only a comparison tells apart, gives the same bytes in every way.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" sparse split:mark split:spread split:nothing split:same

# Where several parts write a byte, any value will do, but all devices must have the same one.
for run in "plain 3" "plain 2" "pinned 3"; do
  GPUSPARC_TRANSFER=${run% *} gpusparc run --gpus "${run#* }" --mode multi --stats="$PWD/races.json" "$programs/races" >races.txt
  stats races.json split:race split:look
  [ "$(grep -c '^race: 0 words' races.txt)" = 4 ] || { cat races.txt; fail "races, $run"; }
done
