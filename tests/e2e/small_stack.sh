#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A thread of the application's that only launches may have a small stack: what is compiled for it isn't compiled on it.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
rm -rf pocl cache
export POCL_CACHE_DIR=$PWD/pocl XDG_CACHE_HOME=$PWD/cache # nothing has been compiled before
mkdir -p pocl cache
"$programs/small_stack" >plain.txt || fail "plain"
run() { # NAME OPTIONS
  local name=$1
  shift
  gpusparc run --no-daemon --stats="$name.json" "$@" "$programs/small_stack" >"$name.txt" || fail "$name: status $?"
  cmp plain.txt "$name.txt" || fail "$name: other bytes"
}
run multi --devices cpu:2 --mode multi
stats multi.json split:near split:scatter split:count
rm -rf pocl/* cache/*
GPUSPARC_TRANSFER=pinned run pinned --devices cpu:2 --mode multi
stats pinned.json split:near split:scatter split:count
rm -rf cache # the driver has compiled the program itself before
(ulimit -s 128 && run limited --devices cpu:2 --mode multi) || fail "little stack"
stats limited.json split:near split:scatter split:count
rm -rf pocl/* cache/*
run pooled --devices cpu:2 --memory pooled
# A thread that is to end (pthread_cancel) doesn't while it waits for a compilation: that uses its stack, and it has locks.
rm -rf pocl/* cache/*
timeout 60 "$programs/small_stack" cancelled >plain.txt || fail "cancelled, plain"
if grep -qx "launched all" plain.txt; then # else the driver's own launch is where it ends
  rm -rf pocl/* cache/*
  GPUSPARC_TRANSFER=pinned timeout 100 gpusparc run --no-daemon --devices cpu:2 --mode multi "$programs/small_stack" cancelled >cancelled.txt ||
    fail "cancelled: status $?"
  cmp plain.txt cancelled.txt
fi
echo passed
