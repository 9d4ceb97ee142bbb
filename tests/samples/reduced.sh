#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The two samples that count by atomics in memory that all work-groups share, on devices with memories of their own: each
# part counts in a copy, and what is brought together is the counters and no more.
. "$GS_SOURCE/tests/samples/lib.sh"

# reduced NAME KERNEL BYTES ARGUMENTS…
reduced() {
    local name=$1 kernel=$2 bytes=$3 path gpus line launches want
    shift 3
    $samples/$name "$@" --no-check --output plain >/dev/null || fail "$name, plain"
    for path in plain pinned; do
        for gpus in 2 3; do
            line=$(GPUSPARC_TRANSFER=$path gpusparc run --mode multi --gpus "$gpus" --devices "cpu:$gpus" \
                --stats="$PWD/stats.json" -- "$samples/$name" "$@" --iterations 2 --output split)
            [[ $line =~ ^$name\ [^\ ]+\ PASS$ ]] || fail "$name, $path on $gpus devices, prints '$line'"
            cmp plain split >&2 || fail "$name, $path on $gpus devices, gives other bytes"
            launches=$(sed -n "s/.*\"name\": \"$kernel\", \"launches\": \([0-9]*\), \"split\": \1, .*/\1/p" stats.json)
            [ -n "$launches" ] || fail "$name, $path on $gpus devices: $kernel wasn't split:" "$(cat stats.json)"
            want=$((bytes * (gpus - 1) * ${launches:-0}))
            grep -q "\"reduce\": {\"bytes\": $want," stats.json || fail "$name, $path on $gpus devices: not $want bytes:" "$(cat stats.json)"
        done
    done
}
reduced atomiccounters count_matches 4 --size 10007
reduced histogramatomics histogram 1024 --size 100004 --per-group 5000
[ "$failures" -eq 0 ]
