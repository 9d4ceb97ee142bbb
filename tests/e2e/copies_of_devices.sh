#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# copies_of_devices.c: one device shown as three does a program's launches in three parts, to the bytes of the plain run;
# what is asked of devices, contexts, queues and programs has plain's answers.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export POCL_DEVICES=pthread
split() { # PROGRAM [ARGUMENT...]
  "$programs/$1" "${@:2}" >alone.txt
  OPENCL_LAYERS=$programs/copies_of_devices.so AS_DEVICES=3 gpusparc run --devices all --mode multi --stats=copies.json \
    "$programs/$1" "${@:2}" >copies.txt
  cmp alone.txt copies.txt || { diff alone.txt copies.txt | cut -c1-200; fail "$*"; }
  stats copies.json devices:3
}
for program in unordered_launch_and_write unknown_writes linking queries; do split $program; done
GPUSPARC_TRANSFER=pinned split large_writes mixed
