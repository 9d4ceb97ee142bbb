#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# failed_waits.sh: a command that would change all of a buffer, and whose wait list has failed, leaves the bytes that a
# split launch has written on the devices; an unmap leaves the buffer mapped, with pooled memory too. A command on an image
# behind a user event that fails does nothing either, nor does the process end by it.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export OPENCL_LAYERS=$programs/failed_lists.so
timeout 100 "$programs/failed_waits" >plain.txt || fail "without gpusparc"
for transfer in plain auto pinned; do
  GPUSPARC_TRANSFER=$transfer timeout 100 gpusparc run --no-daemon --devices cpu:2 --mode multi \
    "$programs/failed_waits" >out.txt || { cat out.txt; fail "$transfer"; }
  diff plain.txt out.txt || fail "$transfer: other bytes"
done
timeout 100 "$programs/failed_unmaps" >plain.txt || fail "unmaps without gpusparc"
for memory in "" "--memory pooled"; do
  timeout 100 gpusparc run --no-daemon --devices cpu:2 --mode multi $memory "$programs/failed_unmaps" >out.txt ||
    { cat out.txt; fail "unmaps, $memory"; }
  diff plain.txt out.txt || fail "unmaps, $memory"
done
unset OPENCL_LAYERS
timeout 100 "$programs/failed_images" >plain.txt || fail "images without gpusparc"
for mode in auto multi; do
  timeout 100 gpusparc run --no-daemon --devices cpu:2 --mode $mode "$programs/failed_images" >out.txt || { cat out.txt; fail "images, $mode"; }
  diff plain.txt out.txt || fail "images, $mode"
done
