#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# trial.sh: kernels whose atomics' results are used are tried in parts on separate memories (programs/trial.c). What was
# found is the same, whether no part, one, or several have found something; the last are done over, and tried ever less.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
"$programs/trial" >alone.txt
tried() { sed -n "s/.*\"name\": \"$2\".*\"trial\": {\"kept\": \([0-9]*\), \"repeated\": \([0-9]*\)}.*/\1 \2/p" "$1"; }
under() { # NAME DEVICES OPTIONS...
  local name=$1 devices=$2
  shift 2
  gpusparc run --stats="$PWD/$name.json" "$@" "$programs/trial" >"$name.txt" 2>"$name.err" || { cat "$name.txt" "$name.err"; fail "under $*"; }
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | cut -c1-200; fail "under $*"; }
  stats "$name.json" "devices:$devices" right split:next some:find
}
check() { # NAME: how the trials ended
  local kept repeated
  read -r kept repeated <<<"$(tried "$1.json" find)"
  [ "$kept" -ge 3 ] || fail "$1: find: $kept trials kept"
  [ "$repeated" -ge 1 ] || fail "$1: find: nothing done over, though several parts found something"
  [ "$(tried "$1.json" first)" = "2 1" ] || fail "$1: first: $(tried "$1.json" first)"
  # What takes and gives back leaves everything as it was; nobody has seen the others.
  [ "$(tried "$1.json" borrow)" = "3 0" ] || fail "$1: borrow: $(tried "$1.json" borrow)"
  # Of thirty launches, the first is tried, the sixth, and the twenty-third.
  [ "$(tried "$1.json" ticket)" = "0 3" ] || fail "$1: ticket: $(tried "$1.json" ticket)"
  # Whatever their sizes are.
  [ "$(tried "$1.json" sized)" = "0 3" ] || fail "$1: sized: $(tried "$1.json" sized)"
}
for transfer in plain pinned; do
  for n in 2 3; do
    GPUSPARC_TRANSFER=$transfer under $transfer$n $n --devices cpu:$n --mode multi
    check $transfer$n
  done
done
GPUSPARC_TRANSFER=plain under verified 2 --devices cpu:2 --mode multi --verify
check verified
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --trace "$PWD/trace.json" "$programs/trial" >traced.txt
cmp alone.txt traced.txt || fail "with a trace"
# Random ones: trial.sh [SEED [COUNT]].
seed=${1:-4201}
for ((i = 0; i < ${2:-3}; i++)); do
  echo "seed $((seed + i))"
  "$programs/trials" $((seed + i)) 40 >trials.txt || fail "trials $((seed + i)) fails without gpusparc"
  ! grep "chains: [1-9]\|stopped: wrong" trials.txt || fail "trials $((seed + i)) is wrong without gpusparc"
  for run in "plain 2" "pinned 3"; do
    GPUSPARC_TRANSFER=${run% *} gpusparc run --devices "cpu:${run#* }" --mode multi "$programs/trials" $((seed + i)) 40 >random.txt
    cmp trials.txt random.txt || fail "trials $((seed + i)) 40, $run"
  done
done
# In shared memory there are no copies to try anything on.
gpusparc run --devices cpu:2 --mode multi --stats="$PWD/shared.json" "$programs/trial" >shared.txt
cmp alone.txt shared.txt || fail "in shared memory"
[ -z "$(tried shared.json find)" ] || fail "tried in shared memory"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --stats="$PWD/auto.json" "$programs/trial" >auto.txt
cmp alone.txt auto.txt || fail "in auto mode"
echo passed
