#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare.sh PROGRAM [ASKED...]: runs it plain and under gpusparc in several ways; its output must be the same, byte for
# byte, and its statistics must hold what is asked of them (see stats.c).
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
program=$1
shift
rm -f alone.txt
# After the first of the others: PoCL takes a second to begin to compile, and there it does all that is needed here, too.
alone() {
  [ ! -e alone.txt ] || return 0
  "$programs/$program" >alone.txt 2>alone.err || { cat alone.txt alone.err; fail "$program fails without gpusparc"; }
  [ -s alone.txt ] || fail "$program printed nothing"
}

under() { # NAME DEVICES OPTIONS...
  local name=$1 devices=$2 rc=0
  shift 2
  rm -f "$name.json"
  gpusparc run --stats="$name.json" "$@" "$programs/$program" >"$name.txt" 2>"$name.err" || rc=$?
  alone
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | cut -c1-200 | head -20; cat "$name.err"; fail "$program under $*"; }
  [ "$rc" = 0 ] || { cat "$name.err"; fail "$program under $* exits $rc"; }
  ! grep '^gpusparc' "$name.err" | grep -vE 'verify: .*(, all alike|not compared|nothing compared)' || fail "$program under $*: gpusparc has something to say"
  [ "$devices" = 1 ] || stats "$name.json" "devices:$devices" right "${asked[@]}"
}
asked=("$@")
GPUSPARC_TRANSFER=plain under plain 3 --devices cpu:3 --mode multi
under two 2 --devices cpu:2 --mode multi
GPUSPARC_TRANSFER=pinned under pinned 2 --devices cpu:2 --mode multi
under parts 2 --devices cpu:2 --mode multi --verify
under single 1 --mode single
GPUSPARC_TRANSFER=pinned under carried 1 --mode single
POCL_DEVICES="pthread pthread" under twins 2 --devices all --mode multi
asked=()
under auto 2 --devices cpu:2
