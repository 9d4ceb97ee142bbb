#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reductions.sh: programs/reductions.c gives the same bytes in every way, and is split where the copies of several
# memories can be combined, and only there.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
split='split:sums split:bounds split:bits split:mixed split:two split:beside split:gaps split:apart split:anywhere split:after'
bash "$GS_SOURCE/tests/e2e/compare.sh" reductions $split
# What compare.sh leaves behind of the runs with memories of their own; the devices of the first share theirs.
stats two.json split:meets split:unlike
for run in plain pinned parts; do
  stats $run.json single:unlike:'its atomics and its plain accesses touch the same bytes' single:meets:'touch the same bytes'
done
# 37 bins of each of the four sums, 61 of the bounds and so on: not the whole buffers.
reduced=$(sed -n 's/.*"reduce": {"bytes": \([0-9]*\).*/\1/p' pinned.json)
[ "$reduced" -gt 0 ] || fail "nothing was reduced"
# On two devices that PoCL has no order between, and with commands that begin and end at odd times.
for layer in "" slow,poison; do
  POCL_DEVICES="pthread pthread" GPUSPARC_TRANSFER=plain OPENCL_LAYERS=${layer:+$programs/lazy.so} LAZY=$layer LAZY_REPORT=$PWD/report \
    gpusparc run --devices all --mode multi "$programs/reductions" >apart.txt
  cmp alone.txt apart.txt || { diff alone.txt apart.txt | cut -c1-200; fail "on two devices of their own ($layer)"; }
done
