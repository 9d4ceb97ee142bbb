#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What pinned memory there is for the bytes that a split moves between two GPUs, over a driver that keeps a log: memory of
# ours, which the driver needn't find and map (28 to 40 ms of an H200's host for 64 MiB). Few don't go by the driver's own
# copy either (0.9 ms there, whatever they are). And no queue of ours is flushed that got nothing since it last was, which
# takes NVIDIA's driver 2 to 7 us.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so FAKE_LOG=log.txt

# ITEMS: runs two launches of so many, of which a half's inputs move once.
run() {
  gpusparc run --mode multi --stats=stats.json "$programs/paced" 2 "$1" || fail "$1 items"
  stats stats.json split:advance
  mapped=$(sed -n 's/clEnqueueMapBuffer \([0-9]*\) .*/\1/p' log.txt | sort -n | tail -1)
  moved=$(sed -n 's/.*"pinned": {"bytes": \([0-9]*\),.*/\1/p' stats.json)
  ! grep -q clEnqueueCopyBuffer log.txt || fail "$1 items: the driver copies"
  [ "$moved" = $((2 * $1)) ] || fail "$1 items: $moved bytes went through pinned memory"
  # The application's own queue is the one with markers.
  awk '/^clEnqueueMarker/ { own = $NF } /^clEnqueue/ { new[$NF] = 1 }
       /^clFlush/ { if (!new[$NF] && $NF != own) { print "line " NR ": " $0; bad = 1 } new[$NF] = 0 } END { exit bad }' log.txt ||
    fail "$1 items: a queue without new commands is flushed"
}
run 16384
[ -z "$mapped" ] || fail "$mapped bytes were mapped for 32 KiB"
run 1048576
[ -z "$mapped" ] || fail "$mapped bytes were mapped for 2 MiB"

# In auto mode a thread pins it while the translation is compiled, and launches go on. Where it is refused they are split
# without it; and the process may end meanwhile.
export FAKE_ITEM_NS=10 # of a million: launches of 10 ms
auto() { # NAME LAUNCHES VARIABLES...
  env "${@:3}" gpusparc run --forget --stats=stats.json "$programs/paced" "$2" 1048576 || fail "$1"
  split=$(sed -n 's/.*"name": "advance".*"split": \([0-9]*\),.*/\1/p' stats.json)
}
auto "beside launches" 200 FAKE_PIN_MS=5000 FAKE_PIN_LAUNCHES=3 FAKE_BUILD_MS=200
[ "$(grep pins log.txt)" = "pins beside 0" ] || fail "it isn't pinned beside launches: $(grep pins log.txt)"
moved=$(sed -n 's/.*"pinned": {"bytes": \([0-9]*\),.*/\1/p' stats.json)
[ "$split" -gt 0 ] && [ "$moved" -gt 0 ] || fail "nothing goes through it: $split splits, $moved bytes"
auto "an end meanwhile" 100 FAKE_PIN_MS=1500 FAKE_PIN_LAUNCHES=1000 FAKE_END_MS=0 FAKE_BUILD_MS=1000
grep -q "pins beside" log.txt || fail "it isn't pinned as the process ends"
auto "refused" 200 FAKE_PIN_MS=0
[ "$(grep -c pins log.txt)" = 1 ] || fail "not asked for once: $(grep pins log.txt)"
[ "$split" -gt 0 ] || fail "nothing is split without it"
echo passed
