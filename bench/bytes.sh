#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The bytes that eight samples move on two devices with memories of their own, beside those of a run on one, as Markdown on
# stdout. "Needed" is what the second part needs that it hasn't computed itself, counted by hand from the algorithm (what the
# application has written of it lies on the first device, so it is counted there and here): what is moved beyond that and the
# run's own bytes is the analysis's doing. Fails where that is more than 5 % and not known to be.
# usage: bench/bytes.sh [BUILD_DIR]    TIMES=1: then also histogram's time on two devices over its time on one, by each path
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$build/bin:$PATH
export GPUSPARC_DEVICES=cpu:2 GPUSPARC_GPUS=2
samples=$build/lib/gpusparc/samples

# bytes NAME MODE ARGUMENTS…: what the application moves, and what goes between the devices
bytes() {
    local name=$1 mode=$2
    shift 2
    GPUSPARC_TRANSFER=pinned GPUSPARC_MODE=$mode gpusparc run --stats="$work/stats.json" -- "$samples/$name" "$@" \
        --no-check --iterations 1 >"$work/out" || { cat "$work/out" >&2; return 1; }
    python3 -c 'import json, sys
b = {k: v["bytes"] for k, v in json.load(open(sys.argv[1]))["bytes"].items()}
print(b["app_write"] + b["app_read"], b["copy"] + b["host"] + b["pinned"] + b["peer"])' "$work/stats.json"
}

failed=0
# row NAME NEEDED MOST ARGUMENTS…: MOST is the largest share of the plain run's bytes that may be moved
row() {
    local name=$1 needed=$2 most=$3 plain own exchanged rest
    shift 3
    read -r plain rest < <(bytes "$name" single "$@")
    read -r own exchanged < <(bytes "$name" multi "$@")
    python3 - "$name" "$*" "$plain" "$own" "$exchanged" "$needed" "$most" <<'PY' || failed=1
import sys
name, arguments = sys.argv[1:3]
plain, own, exchanged, needed = map(int, sys.argv[3:7])
share = (own + exchanged - needed) / plain
print(f"| {name} {arguments} | {plain:,} | {own:,} | {exchanged:,} | {needed:,} | {share:.3f} |")
sys.exit(share > float(sys.argv[7]))
PY
}

echo "| sample | plain run | application's, on two | between the two | of it needed | (all - needed) / plain |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
# The second half of both inputs: 391 work-groups of 256, the first part has 196.
row vectoradd $(((100003 - 196 * 256) * 4 * 2)) 1.05 --size 100003
# 9 rows of tiles, the first part has 5: the second's rows of A, all of B.
row matmul $(((130 - 5 * 16) * 100 * 4 + 100 * 100 * 4)) 1.05 --size 100 --height 130 --tile 16
# Twice 469 blocks of 16 bytes, of which decryption's are where encryption left them, and 13 round keys each.
row aes $((200 * 16 + 2 * 13 * 16)) 1.05 --size 50 --key-bits 192
# Half of 30 options of 16 bytes.
row binomial $((15 * 16)) 1.05 --size 30 --steps 100
# 6 rows of tiles of 16: from row 48 less the radius, and the weights.
row filter $(((90 - 48 + 5) * 150 + 11 * 11 * 4)) 1.05 --width 150 --height 90 --radius 5 --group 16
# 21 work-groups of 5000, the first part has 11.
row histogram $((100003 - 11 * 5000)) 1.05 --size 100003 --per-group 5000
# Every point, for the distances to all of them.
row knn $((300 * 32 * 4)) 1.05 --size 300 --neighbors 20
# 79 work-groups of 64, the first part has 40. Once: ranks, numbers of links and where they begin, and the 9,539 links of its own
# pages; in each of 20 steps, each part's shares to the other.
row pagerank $(((5000 - 2560) * 4 * 3 + 4 + 9539 * 4 + 20 * 5000 * 4)) 1.26 --size 5000 --group 64

if [ "${TIMES:-0}" != 0 ]; then
    echo
    echo "| histogram, memory | one device, ms | two, ms | two / one |"
    echo "| --- | ---: | ---: | ---: |"
    for path in shared pinned; do
        GPUSPARC_TRANSFER=$path gpusparc bench --devices cpu:2 --mode multi --runs 3 --iterations 7 --scale 0.5 --no-check \
            --output "$work/$path" histogram >/dev/null 2>&1
        python3 - "$path" "$work/$path/summary.csv" <<'PY'
import csv, sys
ms = {r["mode"]: float(r["total_ms"]) for r in csv.DictReader(open(sys.argv[2]))}
print(f"| {sys.argv[1]} | {ms['single']:.1f} | {ms['multi2']:.1f} | {ms['multi2'] / ms['single']:.2f} |")
PY
    done
fi
exit $failed
