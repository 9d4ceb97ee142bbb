#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is compiled for parts leaves no word of the compiler's on the application's standard error. A program asks for a
# macro that the device's compiler has from its user (POCL_EXTRA_BUILD_FLAGS) and nobody else knows: its translation
# can't be compiled.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache POCL_EXTRA_BUILD_FLAGS=-D__OF_THIS_COMPILER_ALONE
rm -rf "$XDG_CACHE_HOME"
cat >asks.cl <<'END'
//! kernel asks
//! global 16
//! local 4
//! buffer int 64 zero
#ifdef __OF_THIS_COMPILER_ALONE
#define VALUE 7
#else
#define VALUE 8
#endif
__kernel void asks(__global int *out)
{
    out[get_global_id(0)] = VALUE;
}
END
run() { # NAME KERNELS
  gpusparc run --devices cpu:2 --mode multi --stats="$1.json" -- "$GS_BUILD/tests/run_kernels" "$1.bin" "$2" 2>"$1.err" ||
    fail "$1: $(cat "$1.err")"
}
"$GS_BUILD/tests/run_kernels" plain.bin asks.cl
[ "$(od -v -An -tx4 -w4 plain.bin | grep -c 00000007)" -ge 16 ] || fail "the compiler has no such macro"
for name in first second; do
  run $name asks.cl
  cmp plain.bin $name.bin
  [ ! -s $name.err ] || fail "$name: words on stderr: $(cat $name.err)"
  stats $name.json single:asks
  grep -q "doesn't compile on every device" $name.json || fail "$name: another reason"
done
# The device's own macros are asked for as quietly, and then it is split.
rm -rf "$XDG_CACHE_HOME"
run told "$GS_SOURCE/tests/e2e/device_macros.cl"
"$GS_BUILD/tests/run_kernels" plain.bin "$GS_SOURCE/tests/e2e/device_macros.cl"
cmp plain.bin told.bin
[ ! -s told.err ] || fail "words on stderr: $(cat told.err)"
stats told.json split:macros
