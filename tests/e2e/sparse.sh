#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sparse.sh: programs/sparse.c gives the same bytes in every way, and only blocks that changed travel, packed, to each
# device that will want them; where much changes, all goes.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" sparse split:mark split:spread split:nothing split:same
moved() { sed -n "s/.*\"$2\": {\"bytes\": \([0-9]*\).*/\1/p" "$1"; }
large=$((36 * 1024 * 1024 + 5)) small=100003
# Four launches each. Each part's 1500 writes of the large buffer change so many blocks at most. The first launch's are
# brought home; the others' to both devices, so that the third and fourth launch find equal bytes everywhere. Of the small
# buffers one changes all over, one nowhere, one in one block.
merged=$(moved pinned.json merge) sent=$(moved pinned.json pinned)
[ "$merged" -gt $((4 * small)) ] || fail "pinned: nothing merged by blocks"
[ "$merged" -le $((7 * 1501 * 1040 + 7 * small)) ] || fail "pinned: $merged bytes merged"
[ "$sent" -le $((merged + 2 * large + 4 * (3000 + 4 * 3 * small) * 4)) ] || fail "pinned: $sent bytes sent"
POCL_CACHE_DIR=$POCL_CACHE_DIR GPUSPARC_TRANSFER=plain gpusparc run --gpus 2 --mode multi --stats="$PWD/blocks.json" \
  "$programs/sparse" >blocks.txt
cmp alone.txt blocks.txt || fail "two devices, by blocks"
merged=$(moved blocks.json merge) copied=$(moved blocks.json copy)
[ "$merged" -gt $((4 * small)) ] || fail "copies: nothing merged by blocks"
[ "$merged" -le $((7 * 1501 * 1040 + 3 * 4 * small)) ] || fail "copies: $merged bytes merged"
[ "$copied" -le $((merged + 2 * large + 4 * (3000 + 4 * 3 * small) * 4)) ] || fail "copies: $copied bytes copied"

# Where several parts write a byte, any value will do, but all devices must have the same one.
for run in "plain 3" "plain 2" "pinned 3"; do
  GPUSPARC_TRANSFER=${run% *} gpusparc run --gpus "${run#* }" --mode multi --stats="$PWD/races.json" "$programs/races" >races.txt
  stats races.json split:race split:look
  [ "$(grep -c '^race: 0 words' races.txt)" = 4 ] || { cat races.txt; fail "races, $run"; }
done

# Where much of a large buffer changes it goes whole, and in the end on all devices as well.
"$programs/sparse" 2097169 20000 >dense.txt
for n in 2 3; do
  GPUSPARC_TRANSFER=pinned gpusparc run --devices cpu:$n --mode multi --stats="$PWD/dense.json" "$programs/sparse" 2097169 20000 >out.txt
  cmp dense.txt out.txt || fail "$n devices, where much changes"
  [ "$(moved dense.json merge)" -ge $(((n - 1) * 4 * (2097169 + small))) ] || fail "$n devices: $(moved dense.json merge) bytes merged"
done
