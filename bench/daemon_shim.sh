#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real applications under the daemon, a line each:
#   1. a compute-bound job alone: without the daemon, and under it in chunks of the default size; goal: at most 3 % longer;
#   2. an urgent job of one chunk beside an application that keeps the device full: its wait, against one chunk that runs,
#      one behind it, and 0.5 ms.
# usage: bench/daemon_shim.sh [BUILD_DIR]    DEVICES=SPEC (default cpu:2)    GROUPS_LONG, DEPTH: of the long job (2048, 40000)
#        ROUNDS=N: jobs per run (default 15)   TURNS=N: runs of either kind in turn (default 3)
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
devices=${DEVICES:-cpu:2} groups=${GROUPS_LONG:-2048} depth=${DEPTH:-40000} rounds=${ROUNDS:-15} turns=${TURNS:-3}
cmake --build "$build" --target daemon_app gpusparc gpusparc_shim gpusparc-translate gpusparcd >/dev/null
dir=$(mktemp -d)
export GPUSPARC_SOCKET=$dir/sock
gpusparc=$build/bin/gpusparc app=$build/bench/daemon_app
cat >"$dir/conf" <<CONF
[system]
gpus = 1
realtime = no
[task low]
period = 10s
priority = 1
mode = 1
[task high]
period = 10s
priority = 9
mode = 1
CONF
"$build/bin/gpusparcd" --config "$dir/conf" 2>"$dir/log" &
daemon=$!
low=
trap 'kill $low $daemon 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
until "$gpusparc" status --json >/dev/null 2>&1; do sleep 0.1; done
under() { "$gpusparc" run --devices "$devices" --gpus 1 --mode multi "$@"; }
middle() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo "# load average $(cut -d' ' -f1 /proc/loadavg) on $(nproc) cores, $devices, commit $(git rev-parse --short HEAD)"
echo "# alone: $groups work-groups of 64, one device; medians of $turns runs' medians of $rounds jobs, in turn"
for ((i = 0; i < turns; i++)); do
  under --no-daemon "$app" "$rounds" "$groups" "$depth" >>"$dir/without"
  under --task low "$app" "$rounds" "$groups" "$depth" >>"$dir/with"
done
without=$(cut -d' ' -f1 "$dir/without" | middle) with=$(cut -d' ' -f1 "$dir/with" | middle)
awk -v a="$without" -v b="$with" 'BEGIN { printf "{\"figure\":\"alone\",\"without_ns\":%d,\"with_ns\":%d,\"longer_percent\":%.2f}\n", a, b, (b / a - 1) * 100 }'

own=$(under --task high "$app" 50 4 "$depth" | cut -d' ' -f1)
"$gpusparc" run --devices "$devices" --gpus 1 --mode multi --task low "$app" 100000 "$groups" "$depth" >/dev/null &
low=$! # of the application itself, not of a shell around it
sleep 2
read -r median p99 < <(under --task high "$app" 100 4 "$depth")
kill "$low"
chunk=$((with * 16 / groups))
echo "# urgent: a chunk of the other application takes $chunk ns (16 of its work-groups)"
awk -v own="$own" -v m="$median" -v p="$p99" -v c="$chunk" 'BEGIN { printf "{\"figure\":\"urgent\",\"alone_ns\":%d,\"median_ns\":%d,\"p99_ns\":%d,\"wait_median_ns\":%d,\"wait_p99_ns\":%d,\"bound_ns\":%d}\n", own, m, p, m - own, p - own, 2 * c + 500000 }'
