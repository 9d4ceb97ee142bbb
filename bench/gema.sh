#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Figures of the analyses and policies: times, acceptance against the bound that `safe` grew from, Figures 7 and 8 with
# GEMA's loss. Argument: build folder.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target gpusparc gema_bench gema_compare decide_bench >/dev/null
echo "== Times (a set of 10 tasks with 21 segments: analysis below 20 us, GEMA below 1 ms; global on 20 tasks below 1 s)"
"$build/bin/gema_bench"
echo "== The daemon's decisions (goal: 15 ms for 40 tasks, 60 ms for 64)"
"$build/bin/decide_bench"
echo "== gpusparc analyze on sets that fail (goal: 0.5 s for 40 tasks, 2 s for 64)"
for tasks in 40 64; do
  for percent in 36 40 60 90; do
    "$build/bin/decide_bench" $tasks $percent 1 >"$build/late.conf"
    TIMEFORMAT="$tasks tasks, GPUs' utilization $percent %: %U s of CPU time"
    time { "$build/bin/gpusparc" analyze "$build/late.conf" >/dev/null && echo "no deadline is missed"; true; }
  done
done
unset TIMEFORMAT
echo "== Sets with a schedulable choice of {1, 4} GPUs"
"$build/bin/gema_compare"
for modes in two all; do
  echo "== Figure 7, 100,000 sets, --modes $modes"
  time "$build/bin/gpusparc" simulate --modes $modes
done
echo "== Figure 7 with the published formula"
time "$build/bin/gpusparc" simulate --analysis paper
echo "== Figure 8, 100,000 sets"
time "$build/bin/gpusparc" simulate --figure 8
