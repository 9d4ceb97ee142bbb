#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# columns.sh: programs/columns.c gives the same bytes in every way, and what the parts of its kernels pass on, bands of
# columns and of rows, goes as rectangles: a few transfers, and not one for each row.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" columns some:columns some:rows
stat_of() { sed -n "s/.*\"$2\": {[^}]*\"$3\": \([0-9]*\).*/\1/p" "$1"; } # FILE PATH WHAT

# 8 rounds: from bands of columns to bands of rows and back, each part's from each other part.
width=1003 height=701 rounds=8
"$programs/columns" $rounds $width $height >alone.txt
for run in "plain 2 copy" "pinned 2 pinned" "pinned 3 pinned"; do
  read -r way n path <<<"$run"
  GPUSPARC_TRANSFER=$way gpusparc run --devices cpu:$n --mode multi --stats="$PWD/count.json" \
    "$programs/columns" $rounds $width $height >out.txt
  cmp alone.txt out.txt || fail "$run: other bytes"
  stats count.json split:columns split:rows
  moves=$(stat_of count.json $path transfers) bytes=$(stat_of count.json $path bytes)
  [ "$moves" -gt 0 ] && [ "$moves" -le $((rounds * n * 8)) ] || fail "$run: $moves transfers"
  [ "$bytes" -le $(((4 * rounds + 2) * width * height * 4)) ] || fail "$run: $bytes bytes"
  moves=$(($(stat_of count.json direct transfers) + $(stat_of count.json staged transfers)))
  [ "$moves" -le 60 ] || fail "$run: $moves reads"
done

# Narrow rows travel so, too.
"$programs/columns" 4 33 $height >alone.txt
for n in 2 3; do
  GPUSPARC_TRANSFER=pinned gpusparc run --devices cpu:$n --mode multi --stats="$PWD/narrow.json" \
    "$programs/columns" 4 33 $height >out.txt
  cmp alone.txt out.txt || fail "narrow, $n devices: other bytes"
  moves=$(stat_of narrow.json pinned transfers)
  [ "$moves" -gt 0 ] && [ "$moves" -le $((4 * n * 8)) ] || fail "narrow, $n devices: $moves transfers"
done

# A picture of more rows than most have: the parts' bands are still told apart, and nothing is compared.
"$programs/columns" 1 40 20000 >alone.txt
GPUSPARC_TRANSFER=pinned gpusparc run --devices cpu:2 --mode multi --stats="$PWD/tall.json" "$programs/columns" 1 40 20000 >out.txt
cmp alone.txt out.txt || fail "tall: other bytes"
stats tall.json split:columns split:rows
[ "$(stat_of tall.json staged transfers)" -le 60 ] || fail "tall: $(stat_of tall.json staged transfers) reads"
[ "$(stat_of tall.json merge bytes)" = 0 ] || fail "tall: $(stat_of tall.json merge bytes) bytes compared"
