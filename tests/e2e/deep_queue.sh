#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An application that enqueues a thousand dependent launches and waits once (bench/queue.c): the result is the plain
# run's, and no command waits for more than a few others, however many are under way.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
launches=1000 rows=8192 most=12
app=$GS_BUILD/lib/gpusparc/bench/bench_queue
sum() { grep -o 'checksum .*' "$1"; }
"$app" "$launches" "$rows" >plain.txt
for n in 2 4; do
  for transfer in plain pinned; do
    rm -f chains.txt
    LONGEST_CHAIN=$PWD/chains.txt OPENCL_LAYERS=$programs/longest_chain.so GPUSPARC_TRANSFER=$transfer \
      POCL_DEVICES="$(printf 'pthread %.0s' $(seq $n))" gpusparc run --devices all --gpus $n --mode multi \
      --stats=stats.json "$app" "$launches" "$rows" >split.txt 2>err.txt || { cat err.txt; fail "$transfer, $n devices"; }
    [ "$(sum plain.txt)" = "$(sum split.txt)" ] || fail "$transfer, $n devices: another result"
    stats stats.json split:project split:advect split:diffuse
    longest=$(awk '$5 > n { n = $5 } END { print n + 0 }' chains.txt)
    echo "$transfer, $n devices: the longest wait list has $longest events"
    [ "$longest" -gt 0 ] && [ "$longest" -le $most ] || fail "a wait list of $longest events"
  done
done
