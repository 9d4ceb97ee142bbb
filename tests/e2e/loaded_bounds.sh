#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# loaded_bounds.sh: programs/held.c gives the same bytes in every way; what buffers hold is looked at, once for as long as it stays.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" held some:gather split:gather_int split:gather_long split:gather_short split:around some:both
count() { sed -n "s/.*\"$2\": {\"bytes\": \([0-9]*\), \"transfers\": \([0-9]*\).*/\\$3/p" "$1"; }
# The first launch on each of four buffers looks. Whether later ones do depends on how long that took: some ten on
# an idle machine.
for way in plain pinned; do
  echo "$way: looked $(count $way.json bounds 2) times"
  [ "$(count $way.json bounds 2)" -ge 4 ] || fail "$way: looked $(count $way.json bounds 2) times"
done
# Six launches, of which the first looks: 20,001 words in blocks of 64. Each device gets its own rows' values alone.
GPUSPARC_TRANSFER=pinned gpusparc run --gpus 2 --mode multi --stats="$PWD/repeat.json" "$programs/held" repeat >repeat.txt
diff <(grep repeated alone.txt) repeat.txt || fail "repeated launches"
[ "$(count repeat.json bounds 2)" = 1 ] || fail "looked $(count repeat.json bounds 2) times, nothing having changed"
[ "$(count repeat.json bounds 1)" = $((313 * 8)) ] || fail "looked at $(count repeat.json bounds 1) bytes"
