#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with several GPUs: every sample, small, plain against split, byte for byte; what the links carry; and the
# eight samples of Table II at large sizes: plain, split wherever it can be done, and in auto mode, in turn.
#   bench/gpu.sh [GPUS [ITERATIONS]]      with `gpusparc` on the PATH; the samples are found beside it
set -u
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
gpus=${1:-2} iterations=${2:-5}
lib=$(dirname "$(readlink -f "$(command -v gpusparc)")")/../lib/gpusparc
samples=$lib/samples
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

gpusparc devices
[ -x "$lib/bench/bench_links" ] && timeout 60 "$lib/bench/bench_links"
if [ -x "$lib/bench/bench_exchange" ]; then
  echo "plain $(timeout 60 "$lib/bench/bench_exchange")"
  # The windows of a machine that has never opened any are there after some seconds.
  echo "multi $(timeout 60 gpusparc run --gpus "$gpus" --mode multi "$lib/bench/bench_exchange" --warm 5)"
fi

right=0 wrong=0
while IFS='|' read -r name _ args _; do
  name=$(echo $name)
  case "$name" in \#* | '') continue ;; esac
  # shellcheck disable=SC2086
  timeout 60 "$samples/$name" $args --output "$tmp/plain" >"$tmp/out" 2>&1 || { echo "plain run failed: $name"; continue; }
  rm -f "$tmp/split"
  # shellcheck disable=SC2086
  if timeout 60 gpusparc run --gpus "$gpus" --mode multi --verify "$samples/$name" $args --output "$tmp/split" >"$tmp/out" 2>&1 &&
    cmp -s "$tmp/plain" "$tmp/split" && ! grep 'verify:' "$tmp/out" | grep -qvE 'all alike$|nothing compared'; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
    echo "differs: $name"
    head -3 "$tmp/out"
  fi
done <"$samples/MANIFEST"
echo "samples, verified: $right right, $wrong wrong"

# One line of JSON per run, as --times prints it: milliseconds of one iteration.
measure() {
  local name=$1
  shift
  echo "$name $*"
  echo "  plain $(timeout 120 "$samples/$name" "$@" --no-check --times --iterations "$iterations" 2>&1 | tail -1)"
  echo "  multi $(timeout 120 gpusparc run --gpus "$gpus" --mode multi "$samples/$name" "$@" --no-check --times \
    --iterations "$iterations" 2>&1 | tail -1)"
  echo "  auto  $(timeout 120 gpusparc run --gpus "$gpus" "$samples/$name" "$@" --no-check --times \
    --iterations "$iterations" 2>&1 | tail -1)"
}
measure vectoradd
measure matmul --size 8192
measure aes --size 8192
measure binomial --size 1000000
measure filter --width 16384 --height 12288
measure histogram --size 268435456
measure knn --size 131072
measure pagerank --size 16777216
[ "$wrong" -eq 0 ]
