#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the process has one of stays the application's: random sequences, umask, locale, signals, floating-point modes,
# errno. Below lies a compiler that takes random numbers: what the application builds moves its sequence, as without
# gpusparc; what is compiled for parts, for their kernels and for merges doesn't.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
layer=(env OPENCL_LAYERS="$programs/lazy.so" LAZY_REPORT="$PWD/report" LAZY=random)
rm -f report
"$programs/process_state" >without.txt || fail "without the layer"
"${layer[@]}" "$programs/process_state" >plain.txt || fail "plain"
! cmp -s without.txt plain.txt || fail "the layer's compiler takes no random numbers"
run() { # NAME OPTIONS
  local name=$1
  shift
  rm -rf cache
  XDG_CACHE_HOME=$PWD/cache "${layer[@]}" gpusparc run --stats="$name.json" "$@" "$programs/process_state" errno >"$name.txt" || fail "$name"
  cmp plain.txt "$name.txt" || { diff plain.txt "$name.txt" | head -20; fail "$name: the process's state moves"; }
}
run single --mode single
run auto --devices cpu:2 --mode auto
run multi --devices cpu:2 --mode multi
for path in plain pinned; do
  GPUSPARC_TRANSFER=$path run $path --devices cpu:2 --mode multi
  stats $path.json split:bump split:gather split:scatter
done
[ ! -e report ] || { cat report; fail "the layer finds fault"; }
echo passed
