#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# models.sh MODEL RULE...: a model of rules in Spin (docs/models.md), searched through: as it is there is no fault; without any one of
# the rules there is.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
model=$1
shift
cc=$(command -v clang-19 || command -v clang || command -v cc) # clang takes a third of gcc's time for pan.c

# NAME OPTION...: searches the model through with these macros set, and prints how many faults there are.
faults() {
  local name=$1
  shift
  rm -rf "$name" && mkdir "$name"
  (cd "$name" && spin "$@" -a "$GS_SOURCE/tests/models/$model.pml" >spin.txt &&
    "$cc" -O0 -w -DSAFETY -DMEMLIM=2048 -o pan pan.c && ./pan -m100000 >out.txt 2>&1) || fail "$name: $(cat "$name"/*.txt)"
  # A search that was cut short proves nothing.
  ! grep -q -e "search depth too small" -e "memory limit" "$name/out.txt" || fail "$name: $(cat "$name/out.txt")"
  sed -n 's/.*errors: \([0-9]*\)$/\1/p' "$name/out.txt"
}

n=$(faults whole)
[ "$n" = 0 ] || fail "a fault in the rules as they are: $(cat whole/out.txt)"
for rule in "$@"; do
  n=$(faults "without_$rule" "-DNO_$rule")
  [ "${n:-0}" -gt 0 ] || fail "without $rule there is no fault: $(cat "without_$rule/out.txt")"
done
