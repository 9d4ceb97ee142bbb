#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every sample, small, on the platform's own device: right, one line, and the same bytes in every iteration.
. "$GS_SOURCE/tests/samples/lib.sh"

plain() {
    local name=$1 small=$3 line
    line=$($samples/$name $small --output once) || fail "$name $small"
    [[ $line =~ ^$name\ [^\ ]+\ PASS$ ]] || fail "$name prints '$line'"
    [ -s once ] || fail "$name writes no result"
    $samples/$name $small --iterations 2 --times --output twice >times || fail "$name $small --iterations 2"
    cmp once twice || fail "$name gives other bytes in the second iteration"
    grep -qE '^\{("(write|kernel|read|total)_ms": [0-9]+\.[0-9]+, ){4}"iterations": 2\}$' times || fail "$name --times"
    total=$((total + 1))
}

total=0
manifest plain
[ "$total" -eq "$(ls -d "$GS_SOURCE"/samples/*/ | wc -l)" ] || fail "MANIFEST has $total samples, samples/ not"
[ "$failures" -eq 0 ]
