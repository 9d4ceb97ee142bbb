#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reads.sh: a large read of what two devices hold takes from both at once, a piece here and a piece there (in_flight.c
# counts), of what both hold about a half from each; and the bytes are right.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"

# 16 MiB in 16 pieces, of which 8 are on their way: 4 from each device where each has a half.
pieces() { # HOW LEAST-TOGETHER PIECES-OF-FIRST PIECES-OF-SECOND
  "$programs/reads" "$1" >alone.txt
  rm -f counts.txt
  IN_FLIGHT=$PWD/counts.txt OPENCL_LAYERS=$programs/in_flight.so GPUSPARC_TRANSFER=pinned \
    gpusparc run --mode multi --devices cpu:2 "$programs/reads" "$1" >out.txt
  cmp alone.txt out.txt || { diff alone.txt out.txt; fail "$1"; }
  read -r _ _ _ together _ all0 all1 <counts.txt
  [ "$together" -ge "$2" ] || fail "$1: only $together at a time from each"
  [ "$all0 $all1" = "$3 $4" ] || fail "$1: $all0 pieces from the first, $all1 from the second"
}
pieces halves 4 8 8
pieces beside 4 8 8
pieces quarter 2 12 4
pieces same 4 10 10 # 2 of each are of the exchange before
