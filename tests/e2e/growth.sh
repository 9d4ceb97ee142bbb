#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# growth.sh ROUNDS: an application that runs for long doesn't grow: after its first rounds, none adds to the heap. Programs
# and contexts are looked at in long runs only: LLVM's own memory goes up and down by megabytes, and PoCL keeps some
# kilobytes of each, without gpusparc too.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
rounds=$1
"$programs/growth" "$rounds" >alone.txt 2>alone.err

stays() { # NAME OPTIONS...
  local name=$1
  shift
  gpusparc run --gpus 2 --devices cpu:2 "$@" "$programs/growth" "$rounds" >"$name.txt" 2>"$name.err" ||
    { cat "$name.err"; fail "$name"; }
  cmp alone.txt "$name.txt" || fail "$name: another output"
  awk -v name="$name" -v long=$((rounds >= 4000)) '
    { most = !/^programs|^contexts/ ? 150 : long ? 20000 : 1e9 }
    $NF > most { print name ": " $0 " bytes per round"; bad = 1 }
    END { exit bad || NR < 11 }' "$name.err" || { cat "$name.err"; fail "$name grows"; }
}
stays shared --mode multi
GPUSPARC_TRANSFER=plain stays plain --mode multi
GPUSPARC_TRANSFER=pinned stays pinned --mode multi
stays single --mode single
echo "$rounds rounds: nothing grows"
