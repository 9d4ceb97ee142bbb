#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Applications that enqueue all their launches and wait once (bench/async.c), over the CPU device's two halves against
# one of them: in the first process ever, the second and the third. As Markdown on stdout: how many times faster each
# was, from the first enqueue to the wait's end, and the launches that were split.
# usage: bench/async.sh [BUILD_DIR] [ROUNDS_A_MS]
#   ROUNDS_A_MS: rounds of bench_async that take a millisecond on one half (default: measured)
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
app=$build/lib/gpusparc/bench/bench_async
work=$(mktemp -d)
mkdir "$work/warm"
trap 'rm -rf "$work"' EXIT
run() { "$build/bin/gpusparc" run --devices cpu:2 "$@"; }
ms() { sed -n 's/.*all in \([0-9.]*\) ms.*/\1/p'; }
of() { awk -v a="$1" -v b="$2" "BEGIN { printf \"$3\", $4 }"; }

# One half.
plain() { XDG_CACHE_HOME=$work/plain run --gpus 1 "$app" "$@" | ms; }
plain 1 100 >/dev/null
a_ms=${2:-$(of "$(plain 10 20000)" 0 %d '10 * 20000 / a')}

echo "Load $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors, commit $(git rev-parse --short HEAD), $a_ms rounds a ms."
echo
echo "| launches | of about, ms | PoCL's cache | one half, ms | first process | second | third | split in each |"
echo "| ---: | ---: | --- | ---: | ---: | ---: | ---: | --- |"
# Three processes, one after the other, that begin with nothing. PoCL's cache is empty as well, or has what the rows before have left.
begin() {
  rm -rf "$work/cache"
  mkdir "$work/cache"
  if [[ $1 == empty ]]; then export POCL_CACHE_DIR=$work/cache/pocl; else export POCL_CACHE_DIR=$work/warm; fi
}
row() { # LAUNCHES MS empty|warm
  local launches=$1 cache=$3 rounds one line="" split="" t
  rounds=$(of "$2" "$a_ms" %d 'a * b')
  begin "$cache"
  one=$(plain "$launches" "$rounds")
  begin "$cache"
  for _ in 1 2 3; do
    t=$(XDG_CACHE_HOME=$work/cache run "$app" "$launches" "$rounds" | ms)
    line+=" $(of "$one" "$t" %.2f 'a / b') |"
  done
  begin "$cache" # --stats gives all queues profiles: counted apart
  for _ in 1 2 3; do
    XDG_CACHE_HOME=$work/cache run --stats="$work/stats.json" "$app" "$launches" "$rounds" >/dev/null
    split+="$(sed -n 's/.*"name": "churn".*"split": \([0-9]*\),.*/\1/p' "$work/stats.json") "
  done
  unset POCL_CACHE_DIR
  echo "| $launches | $2 | $cache | $one |$line $split|"
}
for cache in empty warm; do
  row 4 1600 $cache
  row 100 27 $cache
  row 1000 3.3 $cache
  row 100000 0.02 $cache
done
