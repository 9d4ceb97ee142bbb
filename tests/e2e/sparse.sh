#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sparse.sh: programs/sparse.c gives the same bytes in every way, and where the devices' kernels can meet, only blocks that
# changed travel, to each device that will want them; else the buffers whole.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" sparse split:mark split:spread split:nothing split:same
moved() { sed -n "s/.*\"$2\": {\"bytes\": \([0-9]*\).*/\1/p" "$1"; }
large=$((36 * 1024 * 1024 + 5)) small=100003
all=$((large + 3 * small)) words=$(((large + 3 * small) / 256 + 16))
# Four launches each. Whole: what the second device has, each time.
[ "$(moved pinned.json merge)" = $((4 * all)) ] || fail "pinned: $(moved pinned.json merge) bytes merged"
# By blocks: each part's 1500 writes of the large buffer change so many blocks at most. The first launch's are brought home;
# the others' to both devices, so that the third and fourth launch find equal bytes everywhere.
POCL_CACHE_DIR=$POCL_CACHE_DIR GPUSPARC_TRANSFER=plain gpusparc run --gpus 2 --mode multi --stats="$PWD/blocks.json" \
  "$programs/sparse" >blocks.txt
cmp alone.txt blocks.txt || fail "two devices, by blocks"
merged=$(moved blocks.json merge) copied=$(moved blocks.json copy)
[ "$merged" -gt 0 ] || fail "nothing merged by blocks"
[ "$merged" -le $((7 * (1500 * 1024 + 3 * small + words * 2))) ] || fail "by blocks: $merged bytes merged"
[ "$copied" -le $((2 * all + 4 * (3000 + 3 * small) * 4)) ] || fail "by blocks: $copied bytes copied beside the merges"

# Where several parts write a byte, any value will do, but all devices must have the same one.
for run in "plain 3" "plain 2" "pinned 3"; do
  GPUSPARC_TRANSFER=${run% *} gpusparc run --gpus "${run#* }" --mode multi --stats="$PWD/races.json" "$programs/races" >races.txt
  stats races.json split:race split:look
  [ "$(grep -c '^race: 0 words' races.txt)" = 4 ] || { cat races.txt; fail "races, $run"; }
done
