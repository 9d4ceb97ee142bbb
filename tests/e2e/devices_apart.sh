#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# programs/unordered_launch_and_write.c and unknown_writes.c give the same bytes in every way; also on two devices that PoCL
# has no order between, since parts of one share its threads, and with buffers that hold garbage at first.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
apart() { # PROGRAM KERNEL...: the same, on two devices of their own
  local program=$1
  shift
  bash "$GS_SOURCE/tests/e2e/compare.sh" "$program" "$@"
  POCL_DEVICES="pthread pthread" GPUSPARC_TRANSFER=plain gpusparc run --devices all --mode multi --stats=apart.json "$programs/$program" >apart.txt
  cmp alone.txt apart.txt || { diff alone.txt apart.txt | cut -c1-200; fail "$program on two devices of their own"; }
  stats apart.json devices:2 "$@"
}
apart unordered_launch_and_write split:around split:everything
apart unknown_writes split:put split:twice
for way in plain pinned; do
  OPENCL_LAYERS=$programs/lazy.so LAZY=poison LAZY_REPORT=$PWD/report GPUSPARC_TRANSFER=$way \
    gpusparc run --devices cpu:2 --mode multi "$programs/unknown_writes" >garbage.txt
  cmp alone.txt garbage.txt || { diff alone.txt garbage.txt | cut -c1-200; fail "unknown_writes among garbage, $way"; }
done
