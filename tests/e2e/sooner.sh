#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which launch auto mode splits first, of kernels that take 0.4 s, over a driver whose GPUs only let time pass: the third
# where nothing is known and nothing translated, the second where it has been translated before, the first where earlier
# processes have learnt that it pays. Of short kernels nothing is translated.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache

# NAME FIRST OPTIONS...: of five launches that one and all that follow are split, those before are not.
first() {
  local name=$1 first=$2
  shift 2
  FAKE_ITEM_NS=6000 GPUSPARC_REAL=$programs/fake.so gpusparc run --stats="$name.json" "$@" "$programs/paced" 5 65536 \
    >out.txt 2>&1 || fail "$name: $(cat out.txt)"
  grep -q "\"launches\": 5, \"split\": $((6 - first))," "$name.json" ||
    fail "$name: the first launch in parts isn't number $first: $(grep launches "$name.json")"
}
first cold 3
first translated 2 --forget
first learnt 1

# What a mode that splits everything has left in the cache serves as well.
rm -rf cache
GPUSPARC_REAL=$programs/fake.so gpusparc run --mode multi "$programs/paced" 1 128 || fail "multi"
first left 2

# Launches of 10 us: no translation, as many as there may be.
rm -rf cache
FAKE_ITEM_NS=10 GPUSPARC_REAL=$programs/fake.so gpusparc run "$programs/paced" 2000 1024 || fail "short"
! grep -rl "__kernel" cache 2>/dev/null || fail "a program was translated for launches of 10 us"
echo passed
