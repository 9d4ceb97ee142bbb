#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A daemon that comes later is found by an application that hears of its commands' ends in one way only, whichever that is,
# and by one that never waits but launches in auto mode.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon </dev/null
: >"$dir/conf" # nothing in it: a daemon as it is by default
# One behind the other: each compiles at first, which takes PoCL much memory.
begins() { # OPTIONS OF RUN AND WAY
  rm -f out.txt
  gpusparc run --devices "$1" --mode "$2" "$programs/waits_by" "$3" >out.txt &
  apps+=" $!"
  n=$((n + 1))
  (await "$3 in $2 mode" grep -qs "it runs" out.txt) || fail "hasn't begun: $(ps -o stat= -p $!) $(cat out.txt)"
}
n=0
for way in profile write read_rect read_image map svm_map svm_copy; do begins cpu:1 single $way; done
begins cpu:2 multi write
begins cpu:2 auto none
begin_daemon
joined() { [ "$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["clients"])')" = "$n" ]; }
await "not all $n applications find a daemon that comes later" joined
echo passed
