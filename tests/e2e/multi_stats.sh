#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `--mode multi --stats` says of the splits: how many there were, and what their bytes took between separate
# memories; in one memory that is nothing. What they saved nobody has measured, so it isn't said.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
app=("$GS_BUILD/lib/gpusparc/samples/vectoradd" --size 1000003 --iterations 3 --no-check)
said='^gpusparc: launches that mode multi has split: 3; moving bytes between the devices for them took'
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --stats "${app[@]}" 2>plain.txt >out.txt || fail "plain"
grep -qE "$said (0\.[0-9]*[1-9][0-9]*|[1-9][0-9.]*) ms\. --mode single shows what one device takes$" plain.txt ||
  fail "separate memories: $(cat plain.txt)"
shows plain.txt "launches that mode multi has split: %llu; moving bytes between the devices for them took %.3f ms. --mode single shows what one device takes"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --stats=plain.json "${app[@]}" >out.txt || fail "plain, JSON"
grep -q '"multi": {"split": 3, "between_ns": [1-9]' plain.json || fail "JSON: $(cat plain.json)"
gpusparc run --devices cpu:2 --mode multi --stats "${app[@]}" 2>shared.txt >out.txt || fail "shared"
grep -q "$said 0.000 ms" shared.txt || fail "one memory: $(cat shared.txt)"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --stats "${app[@]}" 2>auto.txt >out.txt || fail "auto"
! grep "mode multi has" auto.txt || fail "auto mode says it as well"
! grep -i "saved" plain.txt plain.json shared.txt auto.txt || fail "it says what was saved"
