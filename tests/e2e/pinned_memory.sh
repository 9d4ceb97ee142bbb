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
echo passed
