#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All of the probes on one device, within a minute on a GPU: JSON files and pictures, in a folder. Wants `gpusparc`
# on the PATH and a shell, no compiler and no Python; lib/gpusparc/bench/bench_draw draws several results in one picture.
# usage: probes.sh FOLDER [DEVICE]     DEVICE as for `gpusparc probe --device`
#   RUNS (1000) launches for each size of the order probe, ELEMENTS (2^24) floats in the long sums, LIMIT (3) seconds
#   after which one order probe stops with what it has
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
out=${1:?the folder for the results} device=${2:-0} runs=${RUNS:-1000} elements=${ELEMENTS:-16777216} limit=${LIMIT:-3}
mkdir -p "$out"
failed=0
# One probe, whose failure is said and doesn't keep the others from their turn.
probe() { # [-limit SECONDS] ARGUMENTS...
  local stop=()
  [ "$1" != -limit ] || { stop=(timeout --preserve-status -s INT "$2") && shift 2; }
  "${stop[@]}" gpusparc probe "$@" --device "$device" --json || { failed=1 && echo "failed: $*" >&2; }
}
begin=$SECONDS

# Figures 1 to 3: as they come, with a barrier first; and the context made anew at 32, where a launch takes long.
for of in group warp; do
  for by in clock atomic; do
    probe -limit "$limit" order --of $of --by $by --runs "$runs" --plot "$out/order-$of-$by.svg" >"$out/order-$of-$by.json"
    probe -limit "$limit" order --of $of --by $by --runs "$runs" --sync >"$out/order-$of-$by-sync.json"
    probe -limit "$limit" order --of $of --by $by --runs 1000 --count 32 --init >"$out/order-$of-$by-init.json"
  done
done
echo "order: $((SECONDS - begin)) s"

# Figure 4: 1,024 floats of condition 1e11, one group of 1 to 32 warps, 1,000 times.
for warps in 1 2 4 8 16 32; do
  probe sum --condition 1e11 --runs 1000 --groups 1 --local $((32 * warps)) --methods atomic,warp,tree \
    >"$out/sum-warps-$warps.json"
done
probe sum --condition 1e11 --runs 1000 --plot "$out/sum.svg" >"$out/sum-1024.json"
probe sum --elements "$elements" --runs 50 >"$out/sum-large.json"
probe sum --elements "$elements" --runs 10 --permute --methods warp,tree,exact >"$out/sum-large-permuted.json"
awk -F'[:,]' '/"method"/ { m = $2 } /"ns_per_element"/ { ns[m] = $2 }
  END { printf "exact sum over fixed tree: %.2f\n", ns[" \"exact\""] / ns[" \"tree\""] }' "$out/sum-large.json"
echo "sum: $((SECONDS - begin)) s"

# The cycles, and the model with them.
probe latency --warps 1..32 --runs 30 --profile "$out/profile.json" --plot "$out/latency.svg" >"$out/latency.json"
gpusparc timing "ld alu x10 alu!11 st" --profile "$out/profile.json" | tee "$out/timing.txt" || failed=1
echo "latency: $((SECONDS - begin)) s"

# The daemon keeps others away from the device.
export GPUSPARC_SOCKET=$out/d.sock
gpusparcd --socket "$GPUSPARC_SOCKET" 2>"$out/daemon.log" &
daemon=$!
trap 'kill $daemon' EXIT
for _ in $(seq 50); do [ -S "$GPUSPARC_SOCKET" ] && break; sleep 0.1; done
probe order --count 32 --runs 1000 >"$out/under-daemon.json"
grep -q '"kept_quiet": true' "$out/under-daemon.json" && echo "under the daemon: kept quiet" || failed=1
echo "all: $((SECONDS - begin)) s"
[ $failed = 0 ]
