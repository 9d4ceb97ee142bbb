#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A driver that has shared virtual memory in contexts of one device alone, as NVIDIA's (as_gpu.c): a program that imports
# clSVMAlloc, one that finds it as it runs, and one that uses none; pooled memory, which has none, lies on all devices all
# the same. The same driver refuses empty lists of properties.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export POCL_DEVICES="pthread pthread"
rm -rf cache
under() { # NAME COMMAND...
  rm -f stats.json
  XDG_CACHE_HOME=$PWD/cache OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=nvidia \
    gpusparc run --devices all --mode multi --stats=stats.json "${@:2}" >"$1.txt" 2>"$1.err"
}
one_device() { stats stats.json single:bump:"the program uses shared virtual memory, which this driver has in contexts of one device alone"; }
same() { cmp alone.txt "$1.txt" || { diff alone.txt "$1.txt"; fail "$1: another output"; }; }

"$programs/svm" >alone.txt
under imports "$programs/svm" || fail "svm: $(cat imports.*)"
same imports
one_device

"$programs/svm_rows" 3 map >alone.txt
! under first "$programs/svm_rows" 3 map || fail "there is such memory in a context of several devices"
shows first.err "the application gets no shared virtual memory, which this driver has in contexts of one device alone; started again, it runs on one device"
under second "$programs/svm_rows" 3 map || fail "svm_rows, again: $(cat second.*)"
same second
one_device

pooled() {
  XDG_CACHE_HOME=$PWD/cache OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=nvidia timeout 200 \
    gpusparc run --devices all --memory pooled "$@" >pooled.txt 2>pooled.err
}
for program in launches_behind_event refused_kernels; do
  "$programs/$program" | grep -v ^native >alone.txt # no native kernels either
  pooled "$programs/$program" || { cat pooled.txt pooled.err; fail "$program, pooled: exit status $?"; }
  same pooled
done
pooled "$programs/svm" || fail "svm, pooled: $(cat pooled.txt pooled.err)"
[ "$(cat pooled.txt)" = "the device has none" ] || fail "there is shared virtual memory in pooled memory: $(cat pooled.txt)"

touch file
! XDG_CACHE_HOME=$PWD/file OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=nvidia gpusparc run --devices all --mode multi "$programs/svm_rows" 3 map \
  >unkept.txt 2>unkept.err || fail "there is such memory, without a cache"
shows unkept.err "the application gets no shared virtual memory, which this driver has in contexts of one device alone; with --gpus 1 it does"

# It also takes a map (the last column but one) that the standard refuses, adds the flag of objects that have none, and has
# its own mind of what images inherit from buffers. PoCL refuses such maps.
for inherits in none all; do
  export AS_GPU_FLAGS=$inherits
  OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=nvidia "$programs/sub_buffer_flags" >written.txt
  under flags "$programs/sub_buffer_flags" || fail "sub_buffer_flags, $inherits: $(cat flags.*)"
  awk 'NF > 18 && !/:.*:.*:/ { $(NF - 1) = 0 } 1' written.txt >alone.txt
  awk 'NF > 18 && !/:.*:.*:/ { $(NF - 1) = 0 } 1' flags.txt >images.txt
  same images
done

"$programs/object_creation" >alone.txt
under none "$programs/object_creation" || fail "object_creation: $(cat none.*)"
same none
stats stats.json split:flip split:sum3 split:bump
