#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where a part may read what another writes the launch isn't split, but for --allow race: devices with memories of their
# own would read what was there before the launch, and one device's order decides. Where all parts work on the same
# memory it is split as before.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
run() { # NAME OPTIONS
  local name=$1
  shift
  gpusparc run --stats="$name.json" --devices cpu:2 --mode multi "$@" "$programs/racing_reads" >"$name.txt" || fail "$name"
  [ -e alone.txt ] || "$programs/racing_reads" >alone.txt
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt"; fail "$name: another output"; }
}
rm -f alone.txt
for path in plain pinned; do
  GPUSPARC_TRANSFER=$path run $path
  stats $path.json single:share:"a part may read what another part writes, so the result depends on the order of work-groups; --allow race permits it" single:passes:'--allow race permits it' split:rows
  GPUSPARC_TRANSFER=$path run $path.race --allow race
  stats $path.race.json split:share split:passes split:rows
done
GPUSPARC_TRANSFER=plain run both --allow reorder,race
stats both.json split:share split:passes
run shared
stats shared.json split:share split:passes split:rows

# The bytes: a device of one compute unit runs the first group first, so all read what it writes. Parts on memories of
# their own may read what was there before.
export POCL_MAX_PTHREAD_COUNT=2 POCL_CPU_MAX_CU_COUNT=2
ninth() { GPUSPARC_TRANSFER=$1 gpusparc run --devices cpu:2 "${@:2}" "$programs/racing_reads" 9; }
ninth plain --mode single >one.txt
for path in plain pinned; do
  ninth $path --mode multi >two.txt
  cmp one.txt two.txt || fail "$path: a part reads what was there before another wrote"
done

gpusparc run --allow races true 2>err.txt && fail "--allow races"
grep -q 'reorder, race or both' err.txt || { cat err.txt; fail "what --allow takes"; }
