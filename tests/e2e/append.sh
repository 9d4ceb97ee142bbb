#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# append.sh [SEED [COUNT]]: lists to which all parts append (programs/append.c) hold the same, in whatever order, and so
# do their counters, by each way between memories, in shared memory and over a lazy driver.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
lists='split:mark split:hits split:triangles split:pairs split:sides some:beside split:behind'
under() { # NAME DEVICES OPTIONS...
  local name=$1 devices=$2
  shift 2
  gpusparc run --devices "cpu:$devices" --stats="$PWD/$name.json" "$@" >"$name.txt" 2>"$name.err" ||
    { grep -a wrong "$name.txt" || true; cat "$name.err"; fail "$name: $*"; }
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | cut -c1-200; fail "$name: $*"; }
}
first=${1:-4202}
for ((seed = first; seed < first + ${2:-1}; seed++)); do
  echo "seed $seed"
  command=("$programs/append" "$seed" 6)
  "${command[@]}" >alone.txt || { grep wrong alone.txt; fail "seed $seed without gpusparc"; }
  for transfer in plain pinned; do
    for n in 2 3; do
      GPUSPARC_TRANSFER=$transfer under "$transfer$n" $n --mode multi "${command[@]}"
      stats "$transfer$n.json" "devices:$n" some:compact $lists
    done
  done
  under shared 2 --mode multi "${command[@]}"
  stats shared.json devices:2 some:compact $lists
  GPUSPARC_TRANSFER=pinned under auto 2 "${command[@]}"
  GPUSPARC_TRANSFER=plain under checked 2 --mode multi --verify "${command[@]}"
done
# Nobody is done over: what a part appends is never in vain.
! grep -q '"trial": {"kept": [1-9]' plain2.json || fail "tried"
