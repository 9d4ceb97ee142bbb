#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Splits that gain by what their parts take and lose by what lies around them, over a driver whose GPUs only let time
# pass, and whose markers take nearly as long as a kernel: they are left, by whichever call the application waits.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=600
launches=40 # of 39 ms: a busy machine's few don't matter
splits() { # NS, of a marker, and VARIABLES: in the third process
  rm -rf cache
  for _ in 1 2 3; do
    env FAKE_MARKER_NS="$1" "${@:2}" gpusparc run --stats=stats.json "$programs/paced" $launches 65536 || fail "$*"
  done
  sed -n 's/.*"name": "advance".*"split": \([0-9]*\),.*/\1/p' stats.json
}
for wait in PACED_WAIT=event PACED_WAIT=map PACED_WAIT=read PACED_WAIT=late; do
  n=$(splits 36000000 $wait)
  [ "$n" -le $((launches / 2)) ] || fail "$wait: $n of $launches are split, though that loses: $(cat stats.json)"
done
# A read after each 20th launch of 10 ms that takes more from the second device than 20 splits gain.
launches=200
n=$(splits 1 PACED_WAIT=20 FAKE_ITEM_NS=150 FAKE_READ_NS=300000000)
[ "$n" -le $((launches / 2)) ] || fail "reads now and then: $n of $launches are split, though that loses: $(cat stats.json)"
launches=40
n=$(splits 1 PACED_WAIT=event)
[ "$n" -ge $((launches * 3 / 4)) ] || fail "only $n of $launches are split, though that gains: $(cat stats.json)"
# What is brought once is half each kernel's of two in turn, and all its own where one comes after the other. Of kernels
# that are just too long to be too short to gain: they are planned, and not split.
for how in turn after; do
  rm -rf cache
  for launches in 1000 30; do
    PACED_OTHER=$how FAKE_ITEM_NS=2.861 GPUSPARC_DEBUG=1 gpusparc run "$programs/paced" $launches 65536 2>debug.txt || fail "$how"
    until_compiled 1
  done
  grep -q "to the parts 131072" debug.txt || fail "$how: nothing is planned: $(head debug.txt)"
  n=$(grep -c "for other kernels: 0.50" debug.txt || true)
  [ $((n > 0)) = $([ $how = turn ] && echo 1 || echo 0) ] || fail "$how: $n times half of it is another's: $(cat debug.txt)"
done
echo passed
