#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The shim comes between however the library is found, exports all that the system's does, and survives the ways in which
# a process ends.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
shim=$GS_BUILD/lib/gpusparc/libgpusparc.so

system=$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 .*=> //p' | head -1)
[ -n "$system" ] || system=$(ls /usr/lib/*/libOpenCL.so.1 | head -1)
defined() { readelf --dyn-syms -W "$1" | awk '$7 != "UND" && $8 ~ /^cl[A-Z]/ { print $8 }' | sort -u; }
defined "$system" >system.txt
defined "$shim" >ours.txt
[ "$(wc -l <system.txt)" -gt 100 ] || fail "$system defines $(wc -l <system.txt) functions"
comm -23 system.txt ours.txt >missing.txt
[ ! -s missing.txt ] || { cat missing.txt; fail "functions of $system that the shim lacks, or has under another version"; }
# Nothing but OpenCL's names may come in an application's way, the ways to its end (shim/process/exit.c), what a compiler
# writes, and the random numbers that it takes (shim/process/quiet.c).
readelf --dyn-syms -W "$shim" | awk '$7 != "UND" && $5 == "GLOBAL" && $8 !~ /^(cl[A-Z]|OPENCL_|GPUSPARC_|exit$|__cxa_(atexit|finalize)$|__libc_start_main$|write$|s?rand$|__?asan|__?ubsan|__?tsan)/ && NR > 3 { print $8 }' >foreign.txt
[ ! -s foreign.txt ] || { cat foreign.txt; fail "the shim exports other names"; }
# What the headers declare for the core.
for f in $(cat /usr/include/CL/cl.h | grep -o '\bcl[A-Z][A-Za-z0-9]*(' | tr -d '(' | sort -u); do
  grep -q "^$f@" ours.txt || fail "the shim lacks $f of cl.h"
done

split() { # NAME COMMAND...
  local name=$1
  shift
  timeout "$(left)" "$@" >alone.txt || { cat alone.txt; fail "$* without gpusparc"; }
  rm -f "$name.json"
  timeout "$(left)" gpusparc run --devices cpu:2 --mode multi --stats="$name.json" "$@" >"$name.txt" 2>"$name.err" || { cat "$name.txt" "$name.err"; fail "$*"; }
  cmp alone.txt "$name.txt" || fail "$*: another output"
  [ ! -s "$name.err" ] || { cat "$name.err"; fail "$*: words on stderr"; }
  stats "$name.json" "split:opened"
}
split name.1 "$programs/dlopened_opencl" libOpenCL.so.1 local
split global "$programs/dlopened_opencl" libOpenCL.so.1 global
split name "$programs/dlopened_opencl" libOpenCL.so local
split extension "$programs/dlopened_opencl" libOpenCL.so.1 extension
split path "$programs/dlopened_opencl" "$system" local
split linked "$programs/dlopened_opencl_linked" - symbol

# As a layer alone: no preload, no library path.
GPUSPARC_GPUS=2 GPUSPARC_MODE=multi GPUSPARC_STATS=$PWD/layer.json OPENCL_LAYERS=$shim "$programs/dlopened_opencl_linked" - symbol >layer.txt
cmp alone.txt layer.txt || fail "as a layer: another output"
stats layer.json split:opened
# By LD_PRELOAD alone, without the launcher.
GPUSPARC_GPUS=2 GPUSPARC_MODE=multi GPUSPARC_STATS=$PWD/preload.json LD_PRELOAD=$shim "$programs/dlopened_opencl_linked" - symbol >preload.txt
cmp alone.txt preload.txt || fail "preloaded: another output"
stats preload.json split:opened
# By a library whose constructor runs before the shim's.
GPUSPARC_GPUS=2 GPUSPARC_MODE=multi GPUSPARC_STATS=$PWD/first.json LD_PRELOAD=$shim:$programs/constructor_calls.so "$(type -P true)" >first.txt
grep -qx 'first call: 0 3' first.txt || { cat first.txt; fail "a call before the shim's constructors"; }
stats first.json split:k
# What the application's environment says of the driver's connections: ours, or what stood there.
connections() { env "$@" gpusparc run env | sed -n 's/^CUDA_DEVICE_MAX_//p' | sort | tr '\n' ' '; }
[ "$(connections -u CUDA_DEVICE_MAX_CONNECTIONS)" = "CONNECTIONS=4 COPY_CONNECTIONS=2 " ] || fail "the driver's connections"
[ "$(connections CUDA_DEVICE_MAX_CONNECTIONS=8)" = "CONNECTIONS=8 " ] || fail "connections that were chosen"
[ "$(connections CUDA_DEVICE_MAX_COPY_CONNECTIONS=3)" = "CONNECTIONS=4 COPY_CONNECTIONS=3 " ] || fail "copies' connections that were chosen"
# Twice over, and with another installation in the library path.
gpusparc run --gpus 2 gpusparc run --mode multi --stats=twice.json "$programs/dlopened_opencl" libOpenCL.so.1 local >twice.txt
cmp alone.txt twice.txt || fail "twice: another output"
stats twice.json split:opened
mkdir -p copy
cp "$shim" copy/libgpusparc.so
ln -sf libgpusparc.so copy/libOpenCL.so.1
LD_LIBRARY_PATH=$PWD/copy gpusparc run --devices cpu:2 --mode multi --stats=copy.json "$programs/dlopened_opencl" libOpenCL.so.1 local >copy.txt
cmp alone.txt copy.txt || fail "beside a copy of the shim: another output"
stats copy.json split:opened

ends() { # HOW STATUS KERNEL-ASKED
  local how=$1 want=$2 rc=0
  timeout "$(left)" "$programs/ways_to_end" "$how" >alone.txt 2>alone.err || rc=$?
  [ "$rc" = "$want" ] || fail "ways_to_end $how gives $rc without gpusparc"
  rc=0
  rm -f ending.json
  timeout "$(left)" gpusparc run --devices cpu:2 --mode multi --stats=ending.json "$programs/ways_to_end" "$how" >ending.txt 2>ending.err || rc=$?
  [ "$rc" = "$want" ] || { cat ending.err; fail "ways_to_end $how gives $rc"; }
  cmp alone.txt ending.txt || { diff alone.txt ending.txt; fail "ways_to_end $how: another output"; }
  cmp alone.err ending.err || { cat ending.err; fail "ways_to_end $how: other words on stderr"; }
  stats ending.json split:lasting
}
ends callback 7
ends destructor 0
ends fork 0
ends exec 0
ends running 0
ends sigchld 0
ends closed 0
# Without gpusparc this may crash (before glibc 2.41).
for _ in $(seq 12); do
  rc=0
  timeout "$(left)" gpusparc run --devices cpu:2 --mode multi "$programs/ways_to_end" threads >ending.txt 2>ending.err || rc=$?
  [ "$rc" = 6 ] || { cat ending.err; fail "several threads that call exit(6) at once give $rc"; }
done
echo passed

# A process that ends with a launch unfinished, whose kernel PoCL has yet to compile: that has been done, and the launch
# has run, before LLVM is taken apart under it. (On a busy machine patience ends before: three times of five are enough.)
for mode in single auto; do
  well=0
  for i in 1 2 3 4 5; do
    [ $well -lt 3 ] || break
    rm -rf fresh
    mkdir fresh
    POCL_CACHE_DIR=$PWD/fresh timeout "$(left)" gpusparc run --mode $mode "$programs/exit_without_wait" "$i" >out.txt 2>err.txt || continue
    [ "$(cat out.txt)" = done ] && [ -n "$(find fresh -name '*.so')" ] && well=$((well + 1))
  done
  [ $well -ge 3 ] || { cat err.txt; fail "a launch is unfinished when the process ends ($mode): $well of 5 end well"; }
done
