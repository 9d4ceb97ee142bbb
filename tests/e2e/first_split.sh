#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which launch auto mode splits first, of kernels that take 0.4 s, over a driver whose GPUs only let time pass: the third
# where no process before has compiled its program, as no launch waits for that, and the first, which waits, where one
# has and has learnt that it pays. Of short kernels nothing is translated.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache

# NAME FIRST OPTIONS...: of five launches that one and all that follow are split, those before are not. On a busy machine
# the translation may take longer than a launch, or than somebody waits for it: then the launches are longer the next
# time. But that is all that may keep a launch from it, once it is known how long it takes.
first() {
  local name=$1 first=$2 i
  shift 2
  rm -rf before
  [ ! -e cache ] || cp -r cache before
  for i in 1 2 4 8; do
    rm -rf cache
    [ ! -e before ] || cp -r before cache
    FAKE_ITEM_NS=$((6000 * i)) FAKE_BUILD_MS=$((build * i)) GPUSPARC_REAL=$programs/fake.so gpusparc run --stats="$name.json" "$@" "$programs/paced" 5 65536 \
      >out.txt 2>&1 || fail "$name: $(cat out.txt)"
    python3 - "$name.json" "$first" <<'END2' || fail "$name: not as it should be: $(cat "$name.json")"
import json, sys
k = json.load(open(sys.argv[1]))["kernels"][0]
why = {r["reason"]: r["count"] for r in k["reasons"]}
unknown, made = why.pop("how long it takes isn't known yet", 0), why.pop("its program is still being translated for a split", 0)
sys.exit(bool(why) or k["launches"] != 5 or unknown != (sys.argv[2] != "1") or k["split"] + unknown + made != 5)
END2
    ! grep -q "\"launches\": 5, \"split\": $((6 - first))," "$name.json" || return 0
  done
  fail "$name: the first launch in parts isn't number $first: $(grep launches "$name.json")"
}
build=0 first cold 3
build=60 first translated 3 --forget
build=10 first learnt 1

# What a mode that splits everything has left in the cache serves as well.
rm -rf cache
GPUSPARC_REAL=$programs/fake.so gpusparc run --mode multi "$programs/paced" 1 128 || fail "multi"
build=60 first left 3

# Two launches of 0.2 s: as many to come don't gain twice what the compiler may take.
rm -rf cache
FAKE_ITEM_NS=3000 GPUSPARC_DEBUG=1 GPUSPARC_REAL=$programs/fake.so gpusparc run "$programs/paced" 2 65536 2>debug.txt || fail "two"
! grep "compiled for" debug.txt || fail "a program was compiled for what two launches gain"
until_compiled 1

# Launches of 10 us: no translation, as many as there may be. They may look longer on a busy machine.
for i in 1 2 3 4 5; do
  rm -rf cache
  FAKE_ITEM_NS=10 GPUSPARC_REAL=$programs/fake.so gpusparc run "$programs/paced" 2000 1024 || fail "short"
  grep -rl "__kernel" cache 2>/dev/null || break
  [ $i -lt 5 ] || fail "a program was translated for launches of 10 us"
done
# Halves of 64 work-items for a compute unit may well take as long as the whole: no try of them goes on trust.
for items in 16384 65536; do
  FAKE_ITEM_NS=$((400000000 / items)) GPUSPARC_DEBUG=1 GPUSPARC_REAL=$programs/fake.so gpusparc run --forget "$programs/paced" 4 $items 2>debug.txt
  grep -q "to the parts" debug.txt || fail "$items items: nothing was planned"
  [ "$(grep -c "may not fill" debug.txt)" -gt 0 ] && [ $items = 65536 ] && fail "$items items don't fill the devices"
  [ "$(grep -c "may not fill" debug.txt)" = 0 ] && [ $items = 16384 ] && fail "$items items fill the devices"
done

# A program that the driver's compiler takes seconds for (140 KB, where NVIDIA's takes 2 for all of it) isn't compiled
# for 50 launches of 4 ms: the process would end before it, and wait for it.
rm -rf cache
PACED_BYTES=140000 FAKE_ITEM_NS=60 GPUSPARC_DEBUG=1 GPUSPARC_REAL=$programs/fake.so gpusparc run "$programs/paced" 50 65536 \
  2>debug.txt || fail "large: $(cat debug.txt)"
! grep "compiled for" debug.txt || fail "a large program was compiled for few launches"
until_compiled 1

# A device of 100 compute units runs 100 work-groups at once: another would shorten nothing.
rm -rf cache
FAKE_ITEM_NS=60000 GPUSPARC_DEBUG=1 GPUSPARC_REAL=$programs/fake.so gpusparc run --stats=few.json "$programs/paced" 3 6400 \
  >few.txt 2>&1 || fail "few: $(cat few.txt)"
stats few.json why:advance:"it has so few work-groups that one device runs all of them at once"
! grep "compiled for" few.txt || fail "a program was compiled for what one device runs at once"
echo passed
