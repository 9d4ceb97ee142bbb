#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every sample, small, plain and under `gpusparc run` with nothing else said, in turns, as whole programs of so many
# iterations that the plain one takes about a second: the shortest time of each, and their ratio (below 1: slower under
# gpusparc); the ratio of the plain program to itself, run in the same turns, which says how far that can be believed;
# and the ratio of the processors' times, least of all runs, which other work on the machine changes less. Before them
# what gpusparc adds to the start of a process, by one iteration. As Markdown on stdout.
# usage: bench/default.sh [BUILD_DIR] [RUNS] [SAMPLE...]
#   GPUSPARC: another gpusparc than the build's
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") runs=${2:-5}
shift $(($# < 2 ? $# : 2))
samples=$build/lib/gpusparc/samples gpusparc=${GPUSPARC:-$build/bin/gpusparc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache POCL_CACHE_DIR=$work/pocl
mkdir "$work/cache" "$work/pocl"
[ $# -gt 0 ] || set -- $(find "$samples" -type f -executable -printf '%f\n' | sort)
small() { sed -n "s/^$1 *|[^|]*|\([^|]*\)|.*/\1/p" "$samples/MANIFEST"; } # SAMPLE: its arguments
TIMEFORMAT='%R %U %S'
ms() { # COMMAND...: how long it takes, and what it takes of the processors, in microseconds
  { time "$@" >/dev/null 2>"$work/err"; } 2>"$work/time" || { cat "$work/err" >&2; exit 1; }
  awk '{ printf "%d %d\n", $1 * 1000000, ($2 + $3) * 1000000 }' "$work/time"
}
echo "Load $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors, commit $(git rev-parse --short HEAD), the shortest of $runs runs."
echo
# The least of each, of the program plain, under gpusparc run, and plain again: in_turns COMMAND...
in_turns() {
  local i way
  for ((i = 0; i < runs; i++)); do
    for way in plain run again; do
      [ $way = run ] && echo "$way $(ms "$gpusparc" run "$@")" || echo "$way $(ms "$@")"
    done
  done | awk '!($1 in t) || $2 < t[$1] { t[$1] = $2 } !($1 in c) || $3 < c[$1] { c[$1] = $3 }
    END { print t["plain"], t["run"], t["again"], c["plain"], c["run"] }'
}
# So many iterations take a second, by what 10 more or 200 more take.
a_second() { # COMMAND...
  local few more n=10
  read -r few _ < <(ms "$@" --iterations 1)
  read -r more _ < <(ms "$@" --iterations 11)
  if ((more - few < 20000)); then
    read -r more _ < <(ms "$@" --iterations 201)
    n=200
  fi
  awk -v d=$((more - few)) -v n=$n 'BEGIN { i = d > 0 ? int(n * 1000000 / d) + 1 : 20000; print (i > 20000 ? 20000 : i) }'
}
read -r -a options <<<"$(small vectoradd)"
app=("$samples/vectoradd" "${options[@]}" --no-check --iterations 1)
ms "${app[@]}" >/dev/null # PoCL compiles
ms "$gpusparc" run "${app[@]}" >/dev/null
in_turns "${app[@]}" | awk '{ printf "The start of a process: %.1f ms plain, %.1f ms more under gpusparc run; ", $1 / 1000, ($2 - $1) / 1000
  printf "of the processors %.1f ms, %.1f ms more.\n\n", $4 / 1000, ($5 - $4) / 1000 }'
echo "| sample | iterations | plain, ms | gpusparc run, ms | ratio | plain to itself | processors |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for name in "$@"; do
  read -r -a options <<<"$(small "$name")"
  app=("$samples/$name" "${options[@]}" --no-check)
  ms "${app[@]}" --iterations 1 >/dev/null
  n=$(a_second "${app[@]}")
  ms "$gpusparc" run "${app[@]}" --iterations 20 >/dev/null
  in_turns "${app[@]}" --iterations "$n" |
    awk -v n="$name" -v i="$n" '{
      printf "| %s | %d | %.1f | %.1f | %.3f | %.3f | %.3f |\n", n, i, $1 / 1000, $2 / 1000, $1 / $2, $1 / $3, $4 / $5 }'
done
