#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sparse.sh: programs/sparse.c gives the same bytes in every way, and where the devices' kernels can meet, only blocks that
# changed travel; else the buffers whole.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" sparse split:mark split:spread split:nothing
merged() { sed -n 's/.*"merge": {"bytes": \([0-9]*\).*/\1/p' "$1"; }
large=$((36 * 1024 * 1024 + 5)) small=100003
# Two launches each; of 3000 writes in all, each part's go into as many blocks at most; a word for each block besides.
by_blocks=$(merged parts.json) whole=$(merged pinned.json) words=$(((large + 2 * small) / 256 + 12))
[ "$whole" = $((2 * (large + 2 * small))) ] || fail "pinned: $whole bytes merged"
[ "$by_blocks" -gt 0 ] || fail "nothing merged by blocks"
[ "$by_blocks" -le $((2 * (1500 * 1024 + small + words + 16))) ] || fail "by blocks: $by_blocks bytes merged"
