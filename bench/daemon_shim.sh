#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real applications under the daemon, a line each:
#   1. a compute-bound job alone: without the daemon, and under it in chunks of the default size; goal: at most 3 % longer;
#   2. an urgent job of one chunk beside an application that keeps the device full: its wait, against one chunk that runs,
#      one behind it, and 0.5 ms; and, by the daemon's trace, what of it was the other's chunks. The urgent one is a task, with SCHED_FIFO where that is permitted; the other is none.
#   3. 900 short launches that follow one another: how many units they share; goal: at most 800.
# usage: bench/daemon_shim.sh [BUILD_DIR]    DEVICES=SPEC (default cpu:2)    GROUPS_LONG, DEPTH: of the long job (2048, 40000)
#        ROUNDS=N: jobs per run (default 15)   TURNS=N: runs of either kind in turn (default 3)
#        REALTIME=no: without SCHED_FIFO       On a machine with other work: chrt -f 5 bench/daemon_shim.sh
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
devices=${DEVICES:-cpu:2} groups=${GROUPS_LONG:-2048} depth=${DEPTH:-40000} rounds=${ROUNDS:-15} turns=${TURNS:-3}
cmake --build "$build" --target daemon_app e2e_bursts gpusparc gpusparc_shim gpusparc-translate gpusparcd >/dev/null
dir=$(mktemp -d)
export GPUSPARC_SOCKET=$dir/sock
gpusparc=$build/bin/gpusparc app=$build/bench/daemon_app
cat >"$dir/conf" <<CONF
[system]
gpus = 1
realtime = ${REALTIME:-yes}
[task high]
period = 10s
mode = 1
CONF
"$build/bin/gpusparcd" --config "$dir/conf" --trace "$dir/trace" 2>"$dir/log" &
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
  under "$app" "$rounds" "$groups" "$depth" >>"$dir/with"
done
without=$(cut -d' ' -f1 "$dir/without" | middle) with=$(cut -d' ' -f1 "$dir/with" | middle)
awk -v a="$without" -v b="$with" 'BEGIN { printf "{\"figure\":\"alone\",\"without_ns\":%d,\"with_ns\":%d,\"longer_percent\":%.2f}\n", a, b, (b / a - 1) * 100 }'

units() { "$gpusparc" status --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["resources"][1]; print(r["granted"] + r["taken"])'; }
for ((i = 0; i < turns; i++)); do
  before=$(units)
  "$gpusparc" run --devices "$devices" --gpus 1 --mode single --task high --task-required "$build/tests/e2e/bursts" >/dev/null
  echo $(($(units) - before)) >>"$dir/units"
done
echo "{\"figure\":\"shared\",\"launches\":900,\"units\":$(middle <"$dir/units")}"

own=$(under --task high "$app" 50 4 "$depth" | cut -d' ' -f1)
"$gpusparc" run --devices "$devices" --gpus 1 --mode multi "$app" 100000 "$groups" "$depth" >/dev/null &
low=$! # of the application itself, not of a shell around it
sleep 2
read -r median p99 < <(under --task high "$app" 100 4 "$depth")
kill "$low"
kill "$daemon" && wait "$daemon" 2>/dev/null || true
# Of the trace: units of the GPU as "U end begin urgent? beside-it?", waits for it as "W grant request urgent?".
sed -n 's/.*"name":"thread_name","pid":2,"tid":\([0-9]*\),"args":{"name":"no task, process '"$low"'".*/L \1/p
  s/.*"name":"thread_name","pid":2,"tid":\([0-9]*\),"args":{"name":"high,.*/N \1/p
  s/.*"ph":"X","name":"[^"]*","pid":1,"tid":[0-9]*,"ts":\([0-9.]*\),"dur":\([0-9.]*\),"args":{"client":\([0-9]*\),"resource":[1-9].*/U \1 \2 \3/p
  s/.*"name":"wait","pid":3,"tid":[0-9]*,"ts":\([0-9.]*\),"dur":\([0-9.]*\),"args":{"client":\([0-9]*\),"resource":[1-9].*/W \1 \2 \3/p' "$dir/trace" |
  awk '$1 == "N" { high[$2] = 1; next } $1 == "L" { low = $2; next }
    { printf "%s %.3f %.3f %d %d\n", $1, $2 + $3, $2, $4 in high, $4 == low }' | sort -k2,2n >"$dir/spans"
split() { awk -v what="$1" '$1 == "U" && $4 == 0 { begin = $3 > last ? $3 : last; last = $2; if (what == "chunk") print int(($2 - begin) * 1000) }
  $1 == "W" && $4 == 1 && what == "after_chunk" { from = last > $3 ? last : $3; print int(($2 - from) * 1000) }' "$dir/spans" | sort -n |
  awk -v n="${1}s" '{ v[NR] = $1 } END { printf "\"%s_median_ns\":%d,\"%s_p99_ns\":%d", n, v[int((NR + 1) / 2)], n, v[int(NR * 0.99 + 0.99)] }'; }
chunks=$(split chunk) after=$(split after_chunk)
# What a chunk takes while nobody waits: chunks run two at a time and end in pairs, so that only their mean says it.
chunk=$(awk '$5 == 1 && !first { first = $3 } n && $1 == "W" && $4 == 1 { exit }
  $5 == 1 && $1 == "U" { if ($3 > first + 500000) { sum += $2 - ($3 > last ? $3 : last); n++ } last = $2 }
  END { print n ? int(sum / n * 1000) : 0 }' "$dir/spans")
echo "# urgent: the other application's chunks before it and beside it, and what of the waits came after their ends, by the trace"
awk -v own="$own" -v m="$median" -v p="$p99" -v c="$chunk" -v more="$chunks,$after" 'BEGIN { b = 2 * c + 500000; printf "{\"figure\":\"urgent\",\"alone_ns\":%d,\"median_ns\":%d,\"p99_ns\":%d,\"wait_median_ns\":%d,\"wait_p99_ns\":%d,\"chunk_ns\":%d,\"bound_ns\":%d,\"p99_of_bound\":%.2f,%s}\n", own, m, p, m - own, p - own, c, b, (p - own) / b, more }'
