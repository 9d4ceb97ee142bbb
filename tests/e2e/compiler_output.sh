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
//! kernel asks global 16 local 4
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
# --stats says what the compiler says, and --dump keeps kernel, translation and all of the log: here the error comes
# behind 100 warnings, which are more than 4 KiB.
rm -rf dump
{
  for i in {1..100}; do echo "#warning this line is one of a hundred, number $i"; done
  cat asks.cl
} >warned.cl
gpusparc run --devices cpu:2 --mode multi --stats=warned.json --dump dump -- "$GS_BUILD/tests/run_kernels" warned.bin warned.cl 2>warned.err
cmp plain.bin warned.bin
grep -q '(error -11): .*error: ' warned.json || fail "no word of the compiler's: $(cat warned.json)"
name=$(basename dump/*.log .log)
cmp warned.cl "dump/$name.cl" || fail "the kernel isn't kept: $(ls dump)"
grep -q 'VALUE 7' dump/*.translated.cl || fail "the translation isn't kept: $(ls dump)"
[ "$(sed -n '/^the translation doesn.t compile/,$p' dump/*.log | grep -c 'one of a hundred')" -ge 100 ] ||
  fail "the log isn't whole: $(wc dump/*.log)"
grep -q 'error: ' dump/*.log || fail "the log has no error"
# The device's own macros are asked for as quietly, and then it is split.
rm -rf "$XDG_CACHE_HOME"
run told "$GS_SOURCE/tests/e2e/device_macros.cl"
"$GS_BUILD/tests/run_kernels" plain.bin "$GS_SOURCE/tests/e2e/device_macros.cl"
cmp plain.bin told.bin
[ ! -s told.err ] || fail "words on stderr: $(cat told.err)"
stats told.json split:macros
