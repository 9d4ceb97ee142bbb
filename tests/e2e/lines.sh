#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a call that is only handed on goes through, and what a buffer's making and end do: so many lines of code at most,
# and few pages: 3, or 4 where the linker puts a page's end into one of the functions. That is what it costs beside a real
# driver, which leaves little in the caches; a few instructions more cost nothing, and where the linker lays functions out
# anew each may have a line more or less: the limits are some four above what was measured. What enqueues fills a struct
# of the command (six lines), and is one function for all kinds of commands: 45 to 80 ns a launch beside a driver that
# does nothing, of the 500 that DESIGN allows.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
mkdir -p plain
ln -sf "$programs/fake.so" plain/libOpenCL.so.1
lib=$GS_BUILD/lib/gpusparc
for mode in auto single; do
  rc=0
  GPUSPARC_MODE=$mode GPUSPARC_REAL=$programs/fake.so LD_LIBRARY_PATH=$PWD/plain \
    "$lib/bench/bench_lines" --against "$lib/libgpusparc.so" >lines.txt || rc=$?
  [ $rc -eq 77 ] && exit 77
  [ $rc -eq 0 ] || fail "bench_lines: status $rc"
  cat lines.txt
  awk -F'\t' '
    BEGIN { most["clSetKernelArg (buffer)"] = most["clSetKernelArg (number)"] = 18
            most["clSetKernelArg (another buffer)"] = most["clSetKernelArg (the first again)"] = 18
            most["clEnqueueNDRangeKernel"] = most["clEnqueueNDRangeKernel (event)"] = 24
            most["clEnqueueWriteBuffer (4 bytes)"] = most["clEnqueueReadBuffer (4 bytes, blocking)"] = 24
            most["clEnqueueCopyBuffer"] = most["clEnqueueFillBuffer"] = 24
            most["rand"] = 2; most["clFinish"] = 7; most["clFlush"] = most["clWaitForEvents"] = most["clReleaseEvent"] = 3
            most["new buffer: clCreateBuffer"] = 80; most["new buffer: clSetKernelArg"] = 28
            most["new buffer: clEnqueueNDRangeKernel"] = 24; most["new buffer: clReleaseMemObject"] = 54
            most["new output: clCreateBuffer, clSetKernelArg"] = 100; most["new output: clEnqueueNDRangeKernel"] = 64
            most["new output: clEnqueueReadBuffer (blocking)"] = 24; most["new output: clReleaseMemObject"] = 54
            most["new kernel: clEnqueueNDRangeKernel"] = 34
            # These make and free memory, as clCreateBuffer does: how many lines of malloc and free that takes depends on the heap. In one
            # environment it is always the same; in two they took 124 and 47 lines, and 128 and 54.
            most["new kernel: clCreateKernel, clSetKernelArg"] = 140; most["new kernel: clReleaseKernel"] = 64 }
    !($1 in most) || $3 > most[$1] || $4 > ($1 ~ /^new buffer: cl[CR]|^new [ok]/ ? 20 : $1 ~ /^new/ ? 6 : 4) { print "too many:", $0; bad = 1 }
    { n++ }
    END { exit bad || n != 26 }' lines.txt || fail "mode $mode"
done
echo passed
