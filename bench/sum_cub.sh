#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The exact sum of `gpusparc probe sum` beside NVIDIA's reductions (CUB), of the same floats on the same GPU, in turns:
# ns per element of each, the ratio exact/gpu_to_gpu (wanted: 1.3 at most), and whether the sums agree.
# usage: sum_cub.sh BUILD [FILE]    BUILD: build folder; FILE: floats of 4 bytes each (else ELEMENTS between -1 and 1)
#   DEVICE (0) as CUDA counts them, ELEMENTS (2^26), RUNS (100) sums in each turn, TURNS (3)
#   NVCC (nvcc), CCCL=DIR: headers of CCCL 3.1 or newer, where the toolkit's are older (CUDA 13.0 has 3.0): a checkout
#   of github.com/NVIDIA/cccl, or the folder that `cub` lies in
# Wants nvcc. The sums agree if they differ by 1e-6 of the sum of |x| at most; gpu_to_gpu is to have the same bits in
# all runs. Ends with 1 if the ratio is larger than 1.3 or anything else isn't as wanted.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
die() { echo "sum_cub.sh: $*" >&2; exit 1; }
build=${1:?the build folder} input=${2:-} nvcc=${NVCC:-nvcc} cccl=${CCCL:-} runs=${RUNS:-100} turns=${TURNS:-3}
here=$(cd "$(dirname "$0")" && pwd)
export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=${DEVICE:-${CUDA_VISIBLE_DEVICES:-0}}
command -v "$nvcc" >/dev/null || die "there is no '$nvcc' on the PATH: CUDA's compiler is wanted (NVCC=FILE)"
[ -z "$cccl" ] || [ -d "$cccl" ] || die "CCCL=$cccl is no folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

include=()
for part in "$cccl"/{.,cub,thrust,libcudacxx/include}; do
  [ -z "$cccl" ] || [ ! -d "$part" ] || include+=(-I "$part")
done
"$nvcc" -O2 -std=c++17 -arch=native "${include[@]}" "$here/sum_cub.cu" -o "$work/sum_cub" ||
  die "sum_cub.cu could not be compiled"
[ -n "$input" ] || { input=$work/floats && "$work/sum_cub" --make "$input" "${ELEMENTS:-67108864}"; }

for ((turn = 1; turn <= turns; turn++)); do
  "$build/bin/gpusparc" probe sum --input "$input" --runs "$runs" --methods tree,exact --json >"$work/ours.json"
  awk -F'"' '/"device"/ { print "our device\t" $4 }
    /"method"/ { name = $4 }
    /"last":/ { split($0, v, /[:,]/); sum = v[2] + 0 }
    /"ns_per_element"/ { split($0, v, /[:,]/); print name "\t" v[2] + 0 "\t" sprintf("%.9g", sum) "\t1" }' "$work/ours.json"
  "$work/sum_cub" "$input" "$runs"
done >"$work/all"
awk -F'\t' '
  $1 == "our device" { ours = $2; next }
  $1 == "device" { theirs = $2; next }
  $1 == "sum of |x|" { size = $2; next }
  { ns[$1, ++n[$1]] = $2; sum[$1] = $3; bits[$1] = $4 > bits[$1] ? $4 : bits[$1] }
  function wrong(what) { print "WRONG: " what; bad = 1 }
  # The median of a few turns, sorted by insertion.
  function median(name, i, j, t) {
    for (i = 2; i <= n[name]; i++)
      for (j = i; j > 1 && ns[name, j] < ns[name, j - 1]; j--) { t = ns[name, j]; ns[name, j] = ns[name, j - 1]; ns[name, j - 1] = t }
    return ns[name, int((n[name] + 1) / 2)]
  }
  END {
    print theirs
    printf "%-12s %12s %12s %12s %16s\n", "sum", "ns/element", "least", "most", "result"
    k = split("exact gpu_to_gpu run_to_run tree", names, " ")
    for (i = 1; i <= k; i++) {
      name = names[i]
      if (!n[name]) { wrong("no result of " name); continue }
      m[name] = median(name)
      printf "%-12s %12.5f %12.5f %12.5f %16.9g\n", name, m[name], ns[name, 1], ns[name, n[name]], sum[name]
      d = sum[name] - sum["exact"]
      if (name != "tree" && (d < 0 ? -d : d) > 1e-6 * size) wrong(name " differs from the exact sum by " d)
    }
    if (ours != theirs) wrong("gpusparc ran on " ours)
    if (bits["gpu_to_gpu"] != 1) wrong("gpu_to_gpu gave " bits["gpu_to_gpu"] " different sums")
    if (m["gpu_to_gpu"] > 0) {
      ratio = m["exact"] / m["gpu_to_gpu"]
      printf "exact / gpu_to_gpu: %.2f (wanted: 1.3 at most)\n", ratio
      if (ratio > 1.3) bad = 1
    }
    exit bad
  }' "$work/all"
