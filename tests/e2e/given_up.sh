#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is given up, and how widely (docs/limits.md): programs/given_up.c launches what each cause is about, what lies beside
# it, and the same again once it is over. Command buffers are in programs/extensions.c, parts that read what others write in racing_reads.c.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
asked=(single:event_held:"it waits for a user event that the application has not set yet" split:event_beside split:event_after split:map_beside split:map_after
  single:exec_held:"it uses shared virtual memory" split:exec_beside split:exec_default single:pointer_held:address split:pointer_beside)
"$programs/given_up" >alone.txt || fail "given_up fails without gpusparc"
under() { # NAME TRANSFER ASKED...
  GPUSPARC_TRANSFER=$2 gpusparc run --devices cpu:2 --mode multi --stats="$1.json" "$programs/given_up" >"$1.txt" || fail "$1"
  cmp alone.txt "$1.txt" || { diff alone.txt "$1.txt"; fail "$1: another output"; }
  stats "$1.json" "${@:3}"
}
under plain plain "${asked[@]}" single:map_held:"a memory object is mapped for writing"
under pinned pinned "${asked[@]}" single:map_held:mapped
under shared auto "${asked[@]}" split:map_held # one memory: there is nothing to move

# Functions that nobody knows give nothing up when they are asked for, and the process when one is called.
export OPENCL_LAYERS=$programs/unknown_functions.so
"$programs/unknown_extensions" >alone.txt || fail "unknown_extensions fails without gpusparc"
grep -q stepped alone.txt || fail "the layer isn't there"
for transfer in plain pinned auto; do
  GPUSPARC_TRANSFER=$transfer gpusparc run --devices cpu:2 --mode multi --stats=unknown.json "$programs/unknown_extensions" >unknown.txt ||
    fail "unknown extensions, $transfer"
  cmp alone.txt unknown.txt || { diff alone.txt unknown.txt; fail "unknown extensions, $transfer: another output"; }
  stats unknown.json split:asked single:unknown_held:"doesn't know" split:unknown_beside single:called_held:function
done
