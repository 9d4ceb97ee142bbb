#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the shim costs and gains, as Markdown on stdout:
#   1. what it adds to one call where nothing is split: the same calls through the system's library and through the shim, in turn;
#      first over a driver that does nothing (tests/e2e/fake/), so that it is the shim's own time alone, and there
#      a launch and the gates of transfers of an application that is alone under a daemon;
#   2. the same with two processes in turn, one plain and one started by `gpusparc run`;
#   3. host time inside clEnqueueNDRangeKernel for a small launch that is split over the CPU device's two halves;
#   4. a compute-bound sample on both halves against one.
# usage: bench/shim.sh [BUILD_DIR]    ROUNDS=N: how often 2 and 4 are repeated (default 5)
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
rounds=${ROUNDS:-5}
cmake --build "$build" --target bench_calls e2e_fake e2e_steady e2e_stream gpusparc gpusparc_shim gpusparc-translate sample_matmul sample_binomial >/dev/null
calls=$build/lib/gpusparc/bench/bench_calls
gpusparc=$build/bin/gpusparc
samples=$build/lib/gpusparc/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "# The shim"
echo
echo "- Machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, load $(cut -d' ' -f1-2 /proc/loadavg) at the start"
echo "- Scheduling policy: $(chrt -p $$ | sed -n 's/.*policy: //p') (SCHED_RR: by chrt -r 1, so that other work on the machine didn't disturb)"
echo "- Device: $("$gpusparc" devices --devices cpu:2 | sed -n '2s/  */ /gp')"
echo "- Date: $(date -u +%F), commit $(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo ' with changes'), by bench/shim.sh"

echo
echo "## The shim's own time, nanoseconds (a driver for two GPUs that does nothing; medians)"
echo
echo "| call | no gpusparc | single | auto, a short kernel |"
echo "| --- | ---: | ---: | ---: |"
mkdir "$work/lib"
ln -s "$(realpath "$build/tests/e2e/fake.so")" "$work/lib/libOpenCL.so.1"
# The shim's calls over that driver, with the environment given.
over_fake() {
  for mode in single auto; do
    env "$@" GPUSPARC_REAL="$(realpath "$build/tests/e2e/fake.so")" LD_LIBRARY_PATH="$work/lib" XDG_CACHE_HOME="$work/cache" GPUSPARC_MODE=$mode \
      "$calls" --samples 20000 --bytes 65536 --against "$build/lib/gpusparc/libgpusparc.so" | cut -f1,2,6 >"$work/$mode"
  done
  paste "$work/single" "$work/auto" | awk -F'\t' '!/^(write,|blocking)/ { printf "| %s | %d | %+d | %+d |\n", $1, $2, $3, $6 }'
}
over_fake
echo
echo "## The same beside a driver that goes through 64 KiB of code and of memory at each command"
echo
echo "| call | no gpusparc | single | auto, a short kernel |"
echo "| --- | ---: | ---: | ---: |"
over_fake FAKE_EVICT=64
echo
echo "## An application alone under a daemon, over that driver (medians)"
echo
echo "| | no daemon | alone under one |"
echo "| --- | ---: | ---: |"
export GPUSPARC_SOCKET=$work/sock GPUSPARC_REAL=$(realpath "$build/tests/e2e/fake.so")
printf '[system]\ngpus = 2\nrealtime = no\ntransfer_chunk = 64KiB\n' >"$work/conf"
"$gpusparc" daemon --config "$work/conf" 2>"$work/daemon.txt" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait; rm -rf "$work"' EXIT
for _ in $(seq 100); do "$gpusparc" status --json >/dev/null 2>&1 && break; sleep 0.1; done
stream() { "$gpusparc" run "$@" --gpus 2 --mode auto "$build/tests/e2e/stream" 60; }
echo "| a launch like the one before, ns | $(stream --no-daemon) | $(stream) |"
# Of 16 pieces each of a write and of a read through the pinned ring.
gates() {
  GPUSPARC_TRANSFER=pinned FAKE_LOG=$work/pieces.log "$gpusparc" run "$@" --gpus 1 --mode single "$build/tests/e2e/steady" 50
  awk '/^mark 0/ { if (n++ > 1) print gates + 0; gates = 0 } /clCreateUserEvent/ { gates++ }' "$work/pieces.log" | sort -n | sed -n 25p
}
echo "| gates that 32 pieces of transfers stand behind | $(gates --no-daemon) | $(gates) |"
kill $daemon
wait $daemon || true
unset GPUSPARC_SOCKET GPUSPARC_REAL
trap 'rm -rf "$work"' EXIT

echo
echo "## One call, nothing split, nanoseconds (both libraries in one process, call by call)"
echo
echo "| call | plain, median | plain, p99 | shim, median | shim, p99 | added, median |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
GPUSPARC_MODE=single GPUSPARC_DEVICES=0 "$calls" --samples 20000 --against "$build/lib/gpusparc/libgpusparc.so" |
  awk -F'\t' '{ printf "| %s | %d | %d | %d | %d | %+d |\n", $1, $2, $3, $4, $5, $4 - $2 }'

echo
echo "## One call, nothing split, nanoseconds ($rounds plain processes and $rounds under gpusparc run, in turn; medians of their medians)"
echo
echo "| call | plain | gpusparc run --mode single | added |"
echo "| --- | ---: | ---: | ---: |"
for ((i = 0; i < rounds; i++)); do
  "$calls" --samples 5000 | sed 's/^/plain\t/' >>"$work/calls"
  "$gpusparc" run --mode single --devices 0 "$calls" --samples 5000 | sed 's/^/shim\t/' >>"$work/calls"
done
# The median of a column of numbers.
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
cut -f2 "$work/calls" | awk '!seen[$0]++' | while read -r name; do
  plain=$(awk -F'\t' -v n="$name" '$1 == "plain" && $2 == n { print $3 }' "$work/calls" | median)
  shim=$(awk -F'\t' -v n="$name" '$1 == "shim" && $2 == n { print $3 }' "$work/calls" | median)
  echo "| $name | $plain | $shim | $((shim - plain)) |"
done

echo
echo "## A small launch on cpu:2: host time inside the call, nanoseconds"
echo
echo "| work-items | one part: median | p99 | split: median | p99 |"
echo "| ---: | ---: | ---: | ---: | ---: |"
for items in 128 4096 65536; do
  for mode in single multi; do
    "$gpusparc" run --mode $mode --devices cpu:2 "$calls" --samples 5000 --items $items |
      awk -F'\t' '$1 == "clEnqueueNDRangeKernel" { print $2, "|", $3 }' >"$work/$mode"
  done
  echo "| $items | $(cat "$work/single") | $(cat "$work/multi") |"
done

echo
echo "## Compute-bound samples on cpu:2: kernel milliseconds ($rounds runs of each, in turn; the best of each)"
echo
echo "| sample | one part | both parts, under gpusparc | speed-up |"
echo "| --- | ---: | ---: | ---: |"
# The kernel's time in a sample's --times line.
kernel_ms() { sed -n 's/.*"kernel_ms": \([0-9.]*\).*/\1/p'; }
for sample in "matmul --size 1024" "binomial --size 8192"; do
  read -ra command <<<"$sample --times --no-check"
  : >"$work/one"
  : >"$work/two"
  for ((i = 0; i < rounds; i++)); do
    "$gpusparc" run --mode single --devices cpu:2 "$samples/${command[0]}" "${command[@]:1}" | kernel_ms >>"$work/one"
    "$gpusparc" run --mode multi --devices cpu:2 "$samples/${command[0]}" "${command[@]:1}" | kernel_ms >>"$work/two"
  done
  one=$(sort -n "$work/one" | head -1)
  two=$(sort -n "$work/two" | head -1)
  echo "| $sample | $one | $two | $(awk -v a="$one" -v b="$two" 'BEGIN { printf "%.2f", a / b }') |"
done
echo
echo "Load at the end: $(cut -d' ' -f1-2 /proc/loadavg)."
