#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every sample, small, plain and under `gpusparc run` with nothing else said, in turns, as whole programs: the shortest time of
# each, and their ratio (below 1: slower under gpusparc). As Markdown on stdout.
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
ms() { # COMMAND...
  local begin=$EPOCHREALTIME
  "$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
  local end=$EPOCHREALTIME
  echo $(((${end/./} - ${begin/./})))
}
echo "Load $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors, commit $(git rev-parse --short HEAD), the shortest of $runs runs."
echo
echo "| sample | plain, ms | gpusparc run, ms | ratio |"
echo "| --- | ---: | ---: | ---: |"
for name in "$@"; do
  read -r -a options <<<"$(small "$name")"
  app=("$samples/$name" "${options[@]}" --iterations 20 --no-check) plain= split=
  ms "${app[@]}" >/dev/null # PoCL compiles
  ms "$gpusparc" run "${app[@]}" >/dev/null
  for ((i = 0; i < runs; i++)); do
    t=$(ms "${app[@]}")
    plain=$((${plain:-t} < t ? ${plain:-t} : t))
    t=$(ms "$gpusparc" run "${app[@]}")
    split=$((${split:-t} < t ? ${split:-t} : t))
  done
  awk -v n="$name" -v p="$plain" -v s="$split" 'BEGIN { printf "| %s | %.1f | %.1f | %.3f |\n", n, p / 1000, s / 1000, p / s }'
done
