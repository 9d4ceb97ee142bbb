#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exits.sh [RUNS]: a process ends (programs/exit_during_compile.c, `busy`) with a launch, a callback, a large read and a large write
# under way, over a driver that is slow in what is under way of ours as well (lazy/lazy.h): a compiler, the windows
# between GPUs, what auto learns, transfers by pinned memory, callbacks. By main, exit() and _exit(), and the first two
# beside another library that others preload as well (slow_destructor.c): its status, its output, nothing else, and no
# thread within the driver when that takes itself apart.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
count=${1:-1} runs=0 bad=0
rm -rf install && mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
printf '#!/bin/sh\nsleep 0.5; echo ok\n' >install/lib/gpusparc/gpusparc-link-probe

# LAZY WAY HOW PRELOADED OPTIONS...: one process, with caches of its own. rc, out.txt, err.txt and report have how it went.
leave() {
  local lazy=$1 way=$2 how=$3 preloaded=$4
  shift 4
  rm -rf cache report
  rc=0
  XDG_CACHE_HOME=$PWD/cache GPUSPARC_TRANSFER=${way#auto} LAZY=$lazy LAZY_SEED=$((runs + 1)) LAZY_REPORT=$PWD/report \
    LAZY_STUCK_MS=60000 OPENCL_LAYERS=$programs/lazy.so timeout -s KILL 100 install/bin/gpusparc run "$@" \
    env ${preloaded:+bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$preloaded"} "$programs/exit_during_compile" "$how" >out.txt 2>err.txt || rc=$?
}

# Our threads are waited for so many seconds. On a machine where a process takes long anyhow that may not be enough.
begin=${EPOCHREALTIME/[.,]/}
leave slow pinned busy "" --devices cpu:2 --mode auto --forget
took=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
busy=$([ $took -lt 1500 ] || echo 1)
[ -z "$busy" ] || echo "a process takes $took ms: not asked who is within the driver at its end"

check() { # NAME LAZY WAY OPTIONS...
  local name=$1 lazy=$2 way=$3 how preloaded n
  shift 3
  for how in busy busy_exit busy__exit; do
    for preloaded in "" "$programs/slow_destructor.so"; do
      [ $how$preloaded != "busy__exit$programs/slow_destructor.so" ] || continue # it runs no destructor
      for ((n = 0; n < count; n++)); do
        leave "$lazy" "$way" $how "$preloaded" "$@"
        runs=$((runs + 1))
        [ $rc = 7 ] && [ "$(cat out.txt)" = $how ] && [ ! -s err.txt ] && { [ -n "$busy" ] || [ ! -s report ]; } && continue
        echo "$name, exit_during_compile $how${preloaded:+ beside another library}: exits with $rc: $(head -c 300 out.txt err.txt report 2>/dev/null)"
        bad=$((bad + 1))
      done
    done
  done
}
check compiling compiler=400 auto --devices cpu:2 --mode auto --forget
check learning slow,compiler=100 pinned --devices cpu:2 --mode auto --forget
check transfers slow,lanes pinned --devices cpu:2 --mode multi
check pooled slow,lanes pinned --devices cpu:2 --memory pooled
check callbacks late=400,inside auto --devices cpu:3 --mode multi
export POCL_DEVICES="pthread pthread" LD_LIBRARY_PATH=$programs/cuda
check windows gpu,slow auto --devices gpu --mode auto --forget
check "windows in use" gpu,slow peer --devices gpu --mode multi
[ $bad = 0 ] || fail "$bad of $runs processes"

# A child of fork() registers a handler of exit(), when another thread of its parent was at that.
LD_PRELOAD=$programs/stuck_atexit.so timeout 60 gpusparc run "$programs/atexit_during_fork" >out.txt 2>&1 && [ "$(cat out.txt)" = "the child ends with 0" ] || fail "a child that registers a handler: $(cat out.txt)"
# A library that is loaded and unloaded again and again takes its handlers with it, and nothing ends by that.
timeout 60 gpusparc run --devices cpu:2 --mode multi --stats=reloading.json "$programs/reloading" "$programs/plugin.so" >out.txt 2>&1 || fail "a library that is unloaded: $(cat out.txt)"
stats reloading.json split:add
echo "$runs processes ended well"
