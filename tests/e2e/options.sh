#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run --only, --not, --dump and --log; and --stats where a signal ends the application.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
under() { gpusparc run --devices cpu:2 --mode multi "$@"; }

# Kernels by pattern: those that are left out run on one device, as the statistics say, and the result is the same.
"$programs/columns" >plain.txt
chosen() { # SPLIT SINGLE OPTIONS...
  local split=$1 single=$2
  shift 2
  under --stats=s.json "$@" "$programs/columns" >out.txt
  cmp plain.txt out.txt || fail "$*"
  for k in $split; do stats s.json "some:$k"; done
  for k in $single; do stats s.json single:$k:"--only or --not leaves it on one device"; done
}
chosen "columns rows turn" ""
chosen "columns" "rows turn" --only columns
chosen "columns rows" "turn" --only 'col*,rows'
chosen "rows" "columns turn" --not '*u*n*'
chosen "columns" "rows turn" --only 'columns,turn' --not 'tur?'
chosen "" "columns rows turn" --only nothing
[ "$(under --only "columns,nothing,more?" --not "col*,else" "$programs/columns" 2>&1 >/dev/null | grep "no kernel is called" | cut -d";" -f1)" = "gpusparc: warning: --only: no kernel is called nothing
gpusparc: warning: --only: no kernel is called more?
gpusparc: warning: --not: no kernel is called else" ] || fail "names that no kernel has"
refused() { # TEXT OPTION
  local rc=0
  said=$(under "$2" true 2>&1) || rc=$?
  [[ $rc = 125 && $said == *"$1"* ]] || fail "$2: exit status $rc, $said"
}
refused "is no value for --only" --only=,
refused "is no value for --not" --not=a,,b

# --dump: source, translation and log of each program, those that don't build too.
rm -rf dump
under --dump dump "$samples/matmul" --size 64 --tile 16 >/dev/null
[ "$(ls dump | wc -l)" = 3 ] || fail "--dump left: $(ls dump)"
name=$(basename dump/*.log .log)
cmp "$samples/matmul.cl" "dump/$name.cl" || fail "the dumped source"
grep -q __gs_global_offset dump/*.translated.cl || fail "the dumped translation"
grep -q -- '^options: -DTILE=16$' dump/*.log && grep -q '^kernel matmul: can be split' dump/*.log || fail "the dumped log: $(cat dump/*.log)"
rm -rf dump
under --dump dump "$programs/linking" >/dev/null
ls dump/*.1.translated.cl >/dev/null || fail "of a linked program --dump left: $(ls dump)"
rc=0
said=$(gpusparc run --dump /proc/none true 2>&1) || rc=$?
[[ $rc = 125 && $said == *"/proc/none can't be made"* ]] || fail "--dump /proc/none: $rc $said"

# --log: each call of the application's, and no others, in their order; its result and its time.
"$samples/matmul" --size 64 --output plain.bytes >/dev/null
under --log=log.txt "$samples/matmul" --size 64 --output out.bytes >/dev/null
cmp plain.bytes out.bytes || fail "--log changes the result"
! grep -vE '^gpusparc: [0-9]+\.[0-9]+ [0-9]+\.[0-9]{6} cl[A-Za-z]+\(.*\) = .*, [0-9.]+ us$' log.txt || fail "such lines in the log"
grep -qE 'clEnqueueNDRangeKernel\(.* matmul, work_dim=2, .*global_work_size=64x64, .* = CL_SUCCESS, ' log.txt || fail "no launch: $(cat log.txt)"
[ "$(grep -c 'clSetKernelArg(' log.txt)" = 6 ] || fail "calls of gpusparc's own are logged: $(grep -c 'clSetKernelArg(' log.txt)"
[ "$(tail -n 1 log.txt | grep -c clReleaseContext)" = 1 ] || fail "the end of the log"
under --log "$samples/matmul" --size 64 >/dev/null 2>err.txt
[[ $(head -n 1 err.txt) == "gpusparc: "*" clGetPlatformIDs("* ]] || fail "--log on stderr: $(cat err.txt)"
# An error by its name; and a program that finds the library by itself.
cat >alone.py <<'P'
import ctypes
cl = ctypes.CDLL("libOpenCL.so")
print(cl.clReleaseContext(None), cl.clGetDeviceIDs(None, 0, 0, None, None))
P
[ "$(under --log=log.txt python3 alone.py)" = "-34 -30" ] || fail "the application's errors"
grep -q 'clReleaseContext(context=NULL) = CL_INVALID_CONTEXT (-34), ' log.txt || fail "the error in the log: $(cat log.txt)"
# As a layer of the loader, before or behind the shim's.
lib=$GS_BUILD/lib/gpusparc
GPUSPARC_LOG=log.txt GPUSPARC_DEVICES=cpu:2 GPUSPARC_MODE=multi GPUSPARC_STATS=s.json OPENCL_LAYERS=$lib/libgpusparc.so:$lib/libgpusparc-log.so \
  "$samples/matmul" --size 64 >/dev/null
stats s.json split:matmul
[ "$(grep -c 'clSetKernelArg(' log.txt)" = 6 ] || fail "the log as a layer: $(cat log.txt)"
