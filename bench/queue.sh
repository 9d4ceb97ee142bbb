#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a launch costs in a queue that is never waited for, as the queue grows (bench/queue.c): microseconds of the
# application's in enqueueing, and of all, for 1,000, 10,000 and 100,000 launches on two and four devices with memories
# of their own (PoCL's, or --devices SPEC). As Markdown on stdout.
# usage: bench/queue.sh [BUILD_DIR] [ROWS]
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") rows=${2:-64}
PATH=$build/bin:$PATH
app=$build/lib/gpusparc/bench/bench_queue
export POCL_WORK_GROUP_SPECIALIZATION=0
echo "Load $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors, commit $(git rev-parse --short HEAD), $rows rows."
echo
echo "| devices | transfer | launches | enqueueing, us a launch | all, us a launch | plain, us a launch |"
echo "| ---: | --- | ---: | ---: | ---: | ---: |"
times() { sed -n 's/.*enqueued in \([0-9.]*\) ms, all in \([0-9.]*\) ms.*/\1 \2/p'; }
for n in 2 4; do
    for transfer in plain pinned; do
        for launches in 1000 10000 100000; do
            read -r _ plain < <("$app" $launches "$rows" | times)
            read -r enqueued all < <(GPUSPARC_TRANSFER=$transfer POCL_DEVICES="$(printf 'pthread %.0s' $(seq $n))" \
                gpusparc run --devices all --gpus $n --mode multi "$app" $launches "$rows" | times)
            awk -v n=$n -v t=$transfer -v l=$launches -v e="$enqueued" -v a="$all" -v p="$plain" \
                'BEGIN { printf "| %d | %s | %d | %.1f | %.1f | %.1f |\n", n, t, l, 1000 * e / l, 1000 * a / l, 1000 * p / l }'
        done
    done
done
