#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that is built anew before each launch, from the same text: what was made of it is made once.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
"$programs/rebuilt" 6 >plain.txt
GPUSPARC_DEBUG=1 gpusparc run --devices cpu:2 --mode multi --stats=same.json "$programs/rebuilt" 6 >same.txt 2>same.err ||
  fail "$(cat same.err)"
cmp plain.txt same.txt || fail "another result"
made=$(grep -c "a program was translated" same.err || true)
[ "$made" = 1 ] || fail "the same text was made ready $made times"
stats same.json split:advance
