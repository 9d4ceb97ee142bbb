#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: split.sh DEVICES SPEC [SHARE SHARES]
# Every sample, or every SHARESth, small, spread over DEVICES devices, twice over: the same bytes as one iteration without
# gpusparc, which is right and says its times, and its kernels really split.
. "$GS_SOURCE/tests/samples/lib.sh"
gpus=$1 spec=$2 share=${3:-1} shares=${4:-1}

# One work-group has nothing to split: the kernels that are launched with a single one, and only those.
may_be_whole='hiddenmarkov:viterbi_path'

split() {
    local name=$1 small=$3 line allow=() time='"[a-z]+_ms": [0-9]+\.[0-9]+, '
    row=$((row + 1))
    [ $((row % shares)) = $((share - 1)) ] || return 0
    rm -f stats.json
    # Its steps read a row and a column that they don't change, which nobody can tell beforehand.
    [ "$name" != floydwarshall ] || allow=(--allow race)
    line=$(gpusparc run "${allow[@]}" --mode multi --gpus "$gpus" --devices "$spec" --stats="$PWD/stats.json" -- \
        "$samples/$name" $small --iterations 2 --output split) || fail "$name on $gpus devices ($spec)"
    [[ $line =~ ^$name\ [^\ ]+\ PASS$ ]] || fail "$name on $gpus devices prints '$line'"
    # Afterwards, when PoCL has begun to compile it already.
    rm -f plain
    line=$($samples/$name $small --times --output plain) || fail "$name, plain"
    [[ $line =~ ^$name\ [^\ ]+\ PASS$'\n'\{($time){4}\"iterations\":\ 1\}$ ]] || fail "$name, plain, prints '$line'"
    [ -s plain ] && cmp plain split >&2 || fail "$name on $gpus devices gives other bytes, or there are none"
    total=$((total + 1))
    check_stats "$name"
}

# Each kernel's line of the statistics: "name": "x", "launches": n, "split": n
check_stats() {
    local kernel launches split reasons kernels=0
    while read -r kernel launches split reasons; do
        kernels=$((kernels + 1))
        [ "$split" -gt 0 ] || [[ $1:$kernel =~ ^($may_be_whole)$ ]] ||
            fail "$1: $kernel was never split in $launches launches:" "$reasons"
    done < <(sed -n 's/.*"name": "\([^"]*\)", "launches": \([0-9]*\), "split": \([0-9]*\).*"reasons": \(.*\)/\1 \2 \3 \4/p' stats.json)
    [ "$kernels" -gt 0 ] || fail "$1: the statistics know no kernel"
}

row=0 total=0
manifest split
[ "$total" -gt 0 ] || fail "no sample was run"
[ "$row" -eq "$(ls -d "$GS_SOURCE"/samples/*/ | wc -l)" ] || fail "MANIFEST has $row samples, samples/ not"
[ "$failures" -eq 0 ]
