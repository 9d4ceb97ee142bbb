#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options that let a compiler reorder: a kernel whose text isn't the same in parts runs on one device, in one piece, and
# --stats says why; with --allow reorder it is split. PoCL compiles for the sizes of a launch here, as it does by itself.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
"$programs/relaxed" >alone.txt || { cat alone.txt; fail "without gpusparc"; }
same() { # WHAT OPTIONS...
  local what=$1
  shift
  gpusparc run --devices cpu:2 --stats=stats.json "$@" "$programs/relaxed" >out.txt 2>err.txt || { cat err.txt; fail "$what"; }
  cmp alone.txt out.txt || { diff alone.txt out.txt | cut -c1-60; fail "$what: other bits"; }
}
same "in parts" --mode multi
stats stats.json split:strict split:rows single:fast:"its build options or pragmas let the compiler reorder floating-point operations, and a split compiles another text: the last bits may differ; --allow reorder permits it" single:unsafe:reorder single:by_unit:reorder single:by_pragma:reorder
same "in parts, verified" --mode multi --verify
stats stats.json right
# A program that has no other kernels isn't compiled for parts: of six that is two.
compiled() { # PROGRAMS OPTIONS...
  GPUSPARC_DEBUG=1 gpusparc run --devices cpu:2 --mode multi "${@:2}" "$programs/relaxed" >out.txt 2>debug.txt
  [ "$(grep -c "compiled for" debug.txt)" = "$1" ] || fail "not $1 are compiled: $(grep "compiled for" debug.txt)"
}
compiled 2
compiled 6 --allow reorder
for way in plain pinned; do GPUSPARC_TRANSFER=$way same "in parts, $way" --mode multi; done
gpusparc run --devices cpu:2 --mode multi --allow reorder --stats=stats.json "$programs/relaxed" >out.txt
stats stats.json split:fast split:unsafe split:strict split:rows split:by_unit split:by_pragma
cmp <(grep -E 'strict|rows' alone.txt) <(grep -E 'strict|rows' out.txt) || fail "--allow reorder changes others"
! cmp -s alone.txt out.txt || echo "(nothing of this is reordered here)"

# NVIDIA's compiler says what it makes of both texts: where that computes the same, in parts; else as above. (PoCL
# computes here, so that the first one's bits may be others.)
rm -rf cache
coded() { # CODE PROGRAMS
  XDG_CACHE_HOME=$PWD/cache OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=nvidia AS_GPU_CODE=$1 AS_GPU_KERNELS="fast unsafe strict by_unit by_pragma" POCL_DEVICES="pthread pthread" GPUSPARC_DEBUG=1 \
    gpusparc run --devices all --mode multi --stats=stats.json "$programs/relaxed" >out.txt 2>err.txt || { cat err.txt; fail "$1 code"; }
  [ "$(grep -c "compiled for" err.txt)" = "$2" ] || fail "$1 code: not $2 are compiled: $(grep "compiled for" err.txt)"
}
coded none 6
stats stats.json split:strict split:rows single:fast:reorder single:unsafe:reorder single:by_unit:reorder single:by_pragma:reorder
# That isn't kept: gpusparc-compile, say, compiles what is split without building the application's own.
coded same 6
stats stats.json split:fast split:unsafe split:strict split:rows split:by_unit split:by_pragma
coded other 6
stats stats.json split:strict split:rows single:fast:reorder single:unsafe:reorder single:by_unit:reorder single:by_pragma:reorder
cmp alone.txt out.txt || fail "other code: other bits"
# Later processes know that, and compile no program for nothing.
coded other 2
stats stats.json split:strict split:rows single:fast:reorder single:unsafe:reorder single:by_unit:reorder single:by_pragma:reorder

# Nor does a daemon have it cut into chunks, which are launches of the changed text as well.
own_daemon kernel_chunk=4 <<'END2'
[task one]
period = 1s
mode = 1
END2
begin_daemon
for mode in single multi; do same "under a daemon, $mode" --mode $mode; done
for _ in 1 2 3 4; do same "on any GPU of the daemon's" --task one; done
end_daemon
