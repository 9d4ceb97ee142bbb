#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bands.sh: programs/bands.c gives the same bytes in every way, and the parts of a split image kernel exchange the rows at their
# edges alone.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" bands split:rows split:tall split:turn split:every_other split:slices split:depths split:line
moved() { sed -n "s/.*\"$2\": {\"bytes\": \([0-9]*\).*/\1/p" "$1"; }
[ "$(moved pinned.json merge)" = 0 ] || fail "$(moved pinned.json merge) bytes compared"
row=$((200 * 16)) rounds=40
for n in 2 3; do
  GPUSPARC_TRANSFER=pinned gpusparc run --devices cpu:$n --mode multi --stats="$PWD/rows.json" "$programs/bands" $rounds >rows.txt
  # Once what the parts begin with; then at each of the cuts what reaches over it, from 2 + 1 rows to 5 + 5.
  sent=$(moved rows.json pinned)
  [ "$sent" -gt 0 ] && [ "$sent" -le $((150 * row + (n - 1) * rounds * 10 * row)) ] || fail "$n devices: $sent bytes sent"
done
