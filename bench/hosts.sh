#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hosts (network namespaces with a core each, sshd in them) against one of them, and against this machine alone, as
# tables. As root, after scripts/remote.sh; wants a build in build/ (or GS_BUILD).
#   bench/hosts.sh [RUNS [RATE [DELAY]]]     RATE, such as 1gbit, limits the links; DELAY in us is added each way
# PROGRAMS="NAME OPTION VALUE...;..." takes the place of the programs of the first table, LOCAL of those of the second.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
source tests/hosts/bench.sh
runs=${1:-5}
bench_hosts_up 2 "${2:-}" "${3:-}"
echo "commit $(git rev-parse --short HEAD), load $(cut -d' ' -f1 /proc/loadavg), link ${2:-bare}${3:+, $3 us each way}, ms of an iteration: the least of $runs processes' medians of five (their median)"
echo
gpusparc devices --hosts gs1,gs2
run() { # HOSTS MODE SAMPLE ARGUMENTS: what the sample says that it took
  local out
  out=$(timeout 300 gpusparc run --hosts "$1" --hosts-required --mode "$2" "${stats[@]}" "$GS_BUILD/lib/gpusparc/samples/$3" --no-check --iterations 5 --times "${@:4}" 2>"$work/err") ||
    { cat "$work/err" >&2; return 1; }
  sed -n 's/.*"total_ms": \([0-9.]*\).*/\1/p' <<<"$out"
}
in_turns() { # SAMPLE ARGUMENTS -- HOSTS:MODE...: each once uncounted (a server compiles a kernel when it is first launched), then in turns
  local sample=() i way
  while [ "$1" != -- ]; do sample+=("$1"); shift; done
  shift
  rm -f "$work"/times.*
  for i in $(seq 0 "$runs"); do
    for way; do
      stats=()
      t=$(run "${way%:*}" "${way##*:}" "${sample[@]}")
      [ "$i" = 0 ] || echo "$t" >>"$work/times.$way"
    done
  done
}
least() { sort -n "$work/times.$1" | head -1; }
median() { sort -n "$work/times.$1" | sed -n "$(((runs + 1) / 2))p"; }
on_wire() { cat /sys/class/net/gs$$_*/statistics/[rt]x_bytes | awk '{n += $1} END {printf "%.0f", n}'; }
# Of a run in `multi` mode: MB that the ranges need on the client's links (what goes from host to host through it does so
# twice), MB on them.
wire() {
  local before after
  stats=(--stats="$work/stats.json") before=$(on_wire)
  run gs1,gs2 multi "$@" >/dev/null
  after=$(on_wire)
  python3 - "$work/stats.json" $((after - before)) <<'END'
import json, sys
b = {k: v["bytes"] for k, v in json.load(open(sys.argv[1]))["bytes"].items()}
needed = b["direct"] + b["staged"] + 2 * (b["pinned"] + b["host"])
print(f"{needed / 1e6:.1f} {int(sys.argv[2]) / 1e6:.1f} {int(sys.argv[2]) / max(1, needed):.2f}")
END
}
split_lines() { tr ';' '\n' <<<"$1"; }
echo
echo "| program | one host | two, multi | times | two, auto | times | MB needed | on the wire | ratio |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
split_lines "${PROGRAMS-binomial --size 4096;matmul --size 1024;knn --size 2048;vectoradd --size 1000000}" |
  while read -r -a p; do
    [ ${#p[@]} -gt 0 ] || continue
    in_turns "${p[@]}" -- gs1:single gs1,gs2:multi gs1,gs2:auto </dev/null
    read -r needed sent ratio < <(wire "${p[@]}" </dev/null)
    awk -v n="${p[*]}" -v a="$(least gs1:single)" -v am="$(median gs1:single)" -v b="$(least gs1,gs2:multi)" -v bm="$(median gs1,gs2:multi)" \
      -v c="$(least gs1,gs2:auto)" -v cm="$(median gs1,gs2:auto)" -v w="$needed | $sent | $ratio" \
      'BEGIN {printf "| %s | %.0f (%.0f) | %.0f (%.0f) | %.2f | %.0f (%.0f) | %.2f | %s |\n", n, a, am, b, bm, a / b, c, cm, a / c, w}'
  done
echo
echo "| program | localhost alone | localhost and a host, auto | time of that of one |"
echo "| --- | ---: | ---: | ---: |"
split_lines "${LOCAL-vectoradd --size 4000000;pagerank --size 100000;fdtd3d --size 64 --steps 10;binomial --size 4096}" |
  while read -r -a p; do
    [ ${#p[@]} -gt 0 ] || continue
    in_turns "${p[@]}" -- localhost:single localhost,gs1:auto </dev/null
    awk -v n="${p[*]}" -v a="$(least localhost:single)" -v am="$(median localhost:single)" -v c="$(least localhost,gs1:auto)" -v cm="$(median localhost,gs1:auto)" \
      'BEGIN {printf "| %s | %.0f (%.0f) | %.0f (%.0f) | %.2f |\n", n, a, am, c, cm, c / a}'
  done
[ -n "${3:-}" ] || { # with DELAY hosts don't reach each other
  echo
  echo "| 64 MiB exchanged, ms | directly | through the client |"
  echo "| --- | ---: | ---: |"
  for _ in $(seq "$runs"); do
    for path in peer pinned; do
      GPUSPARC_TRANSFER=$path gpusparc run --hosts gs1,gs2 --hosts-required --mode multi "$GS_BUILD/tests/hosts/exchange" 64 7 >>"$work/times.$path"
    done
  done
  echo "| least, median of $runs processes' medians | $(least peer), $(median peer) | $(least pinned), $(median pinned) |"
}
echo "load $(cut -d' ' -f1 /proc/loadavg)"
