#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What pinned memory there is for the bytes that a split moves between two GPUs, over a driver that keeps a log: memory of
# ours, which the driver needn't find and map (28 to 40 ms of an H200's host for 64 MiB). Few don't go by the driver's own
# copy either (0.9 ms there, whatever they are). And no queue of ours is flushed that got nothing since it last was, which
# takes NVIDIA's driver 2 to 7 us. No more is pinned than is used at a time, and what that takes isn't thought to be what a
# split takes.
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
  pinned=$(awk '$1 == "pins" { n += $2 } END { print n + 0 }' log.txt)
  # The application's own queue is the one with markers.
  awk '/^clEnqueueMarker/ { own = $NF } /^clEnqueue/ { new[$NF] = 1 }
       /^clFlush/ { if (!new[$NF] && $NF != own) { print "line " NR ": " $0; bad = 1 } new[$NF] = 0 } END { exit bad }' log.txt ||
    fail "$1 items: a queue without new commands is flushed"
}
run 16384
[ -z "$mapped" ] || fail "$mapped bytes were mapped for 32 KiB"
[ "$pinned" = $((2 << 20)) ] || fail "$pinned bytes are pinned for 32 KiB"
run 1048576
[ -z "$mapped" ] || fail "$mapped bytes were mapped for 2 MiB"
[ "$pinned" = $((4 << 20)) ] || fail "$pinned bytes are pinned for 2 MiB"
export FAKE_PIN_NS=5000000000 FAKE_ITEM_NS=20 # of a million: launches of 20 ms
GPUSPARC_DEBUG=1 gpusparc run --mode auto "$programs/paced" 40 1048576 2>debug.txt || fail "auto mode"
took=$(sed -n 's/.*a split took \([0-9]*\) us by its parts.*/\1/p' debug.txt | head -1)
[ "${took:-0}" -gt 0 ] && [ "$took" -lt 5000000 ] || fail "a split with 5 s of pinning is thought to take ${took:-nothing} us"
echo passed
