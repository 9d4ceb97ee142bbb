#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What --memory pooled takes where one device's memory would do: some samples plain, under `gpusparc run`, and with
# --memory pooled, in turns; an iteration's writes, kernels and reads together, the median of each way's medians, in
# milliseconds. The ratio is the time without the option over that with it (below 1: slower with it). As Markdown on stdout.
# usage: bench/memory.sh [BUILD_DIR] [TURNS [SAMPLE [OPTION...]]]
#   SIZE: what the samples' own sizes grow by (1: those of a GPU; 0.02 suits two halves of a CPU)
#   GPUS: so many (1)
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
build=$(realpath "${1:-build}") turns=${2:-5} gpus=${GPUS:-1} size=${SIZE:-1}
samples=$build/lib/gpusparc/samples
shift $(($# < 2 ? $# : 2))
of() { python3 -c 'import sys; print(max(64, int(float(sys.argv[1]) * float(sys.argv[2]) ** (1 / int(sys.argv[3]))) // 32 * 32))' "$1" "$size" "$2"; }
total() { "$@" --no-check --times | sed -n 's/.*"total_ms": \([0-9.]*\).*/\1/p'; }
row() { # SAMPLE OPTION...
  local app=("$samples/$1" "${@:2}") i
  for ((i = 0; i < turns; i++)); do
    echo "plain $(total "${app[@]}")"
    echo "auto $(total gpusparc run --gpus "$gpus" "${app[@]}")"
    echo "pooled $(total gpusparc run --gpus "$gpus" --memory pooled "${app[@]}")"
  done | python3 -c '
import statistics, sys
ms = {}
for line in sys.stdin:
    way, t = line.split()
    ms.setdefault(way, []).append(float(t))
m = {way: statistics.median(t) for way, t in ms.items()}
spread = ", ".join(f"{min(t):.2f} to {max(t):.2f}" for t in ms.values())
print("| %s | %.2f | %.2f | %.2f | %.3f | %s |" % (sys.argv[1], m["plain"], m["auto"], m["pooled"], m["auto"] / m["pooled"], spread))' "$*"
}
echo "| sample | plain | auto | pooled | ratio | from least to most |"
echo "| --- | ---: | ---: | ---: | ---: | --- |"
if [ $# -gt 0 ]; then
  row "$@"
  exit
fi
row vectoradd --size "$(of 114447872 1)" --iterations 7
row matmul --size "$(of 4096 2)" --iterations 5
row sobel --width "$(of 8192 2)" --height "$(of 8192 2)" --iterations 7
row fdtd3d --size "$(of 376 3)" --steps 20 --iterations 5
