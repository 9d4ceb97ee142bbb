#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exit status and messages of a sample that is used wrongly.
. "$GS_SOURCE/tests/samples/lib.sh"

status() {
    local want=$1
    shift
    "$@" >out 2>err
    [ $? -eq "$want" ] || fail "not exit status $want: $*"
}

status 0 "$samples/vectoradd" --help
grep -q -- '--size .*default 114447872' out || fail "--help doesn't list --size"
status 2 "$samples/vectoradd" --sise 5
status 2 "$samples/vectoradd" --size
status 2 "$samples/vectoradd" --size 5k
status 2 "$samples/vectoradd" --size 0
status 2 "$samples/vectoradd" 5
status 1 "$samples/vectoradd" --device 99 --size 5
[ "$(wc -l <err)" -eq 1 ] || fail "more than one sentence about a device that isn't there"
status 1 "$samples/vectoradd" --output "$PWD/absent/file" --size 5
grep -q absent/file err || fail "the file that can't be written isn't named"
status 0 "$samples/vectoradd" --size 5 --no-check
grep -q UNCHECKED out || fail "--no-check still says that it checked"
OCL_ICD_VENDORS=$PWD/absent status 1 "$samples/vectoradd" --size 5
grep -q 'no OpenCL platform' err || fail "no word about the missing platform"
[ "$failures" -eq 0 ]
