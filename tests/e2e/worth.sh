#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `--mode multi --stats` says of the splits: what they saved, and what their bytes took between separate memories;
# where that is more, that auto mode would have used one device. In one memory they cost nothing.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
app=("$GS_BUILD/lib/gpusparc/samples/vectoradd" --size 1000003 --iterations 3 --no-check)
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --stats "${app[@]}" 2>plain.txt >out.txt || fail "plain"
sed -n 's/.*mode multi: splits saved about \([0-9.]*\) ms of the kernels. time, and took \([0-9.]*\) ms between the devices/\1 \2 /p' plain.txt |
  awk '{ more = $2 > $1; said = / auto mode would have used one device$/; good = $2 > 0 && more == said } END { exit !good }' ||
  fail "separate memories: $(cat plain.txt)"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --stats=plain.json "${app[@]}" >out.txt || fail "plain, JSON"
grep -q '"multi": {"saved_ns": [0-9]*, "between_ns": [1-9]' plain.json || fail "JSON: $(cat plain.json)"
gpusparc run --devices cpu:2 --mode multi --stats "${app[@]}" 2>shared.txt >out.txt || fail "shared"
grep -q "mode multi: splits saved about .* and took 0.000 ms between the devices$" shared.txt || fail "one memory: $(cat shared.txt)"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --stats "${app[@]}" 2>auto.txt >out.txt || fail "auto"
! grep "mode multi:" auto.txt || fail "auto mode says it as well"
