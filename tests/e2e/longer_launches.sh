#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One kernel at one size whose loop gets a larger bound, over a driver whose GPUs only let time pass: the short launches
# are left alone, and the long ones that follow are split.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache FAKE_ITEM_NS=1 FAKE_ROUNDS=2 GPUSPARC_REAL=$programs/fake.so
rm -rf cache

# NAME LEAST MOST SEQUENCE...: so many launches are split. Without --stats, which looks at each launch: as it is usually.
splits() {
  local name=$1 least=$2 most=$3 n
  shift 3
  GPUSPARC_DEBUG=1 gpusparc run "$programs/longer_launches" 4096 "$@" >out.txt 2>"$name.debug" || fail "$name: $(tail "$name.debug")"
  n=$(grep -c 'advance, launch [0-9]*: split' "$name.debug" || true)
  [ "$n" -ge "$least" ] && [ "$n" -le "$most" ] || fail "$name: $n launches in parts, not $least to $most"
}
gpusparc run --mode multi "$programs/longer_launches" 4096 1x1 >out.txt # its translation is in the cache from here on
# 4 us, and 65 ms.
splits short-first 20 40 300x1 40x16000
# Of short launches no more than one in 64 is looked at, though a counter among their arguments goes up and up.
rm -rf cache
FAKE_ROUNDS= splits short-counter 0 0 $(for i in 1 2 3; do echo + 3000x0+; done)
looked=$(grep -c 'advance, launch' short-counter.debug)
[ "$looked" -le 140 ] || fail "$looked of 9000 short launches were looked at"
echo passed
