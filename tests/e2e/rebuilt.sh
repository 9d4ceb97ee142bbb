#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that is built anew before each launch. Of the same text, what was made of it is made once. Of ever new texts,
# mode multi leaves off making them ready for several devices where none of them lives as long as that takes; other
# kernels are split all the same.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
run() { # NAME ARGS
  local name=$1
  shift
  "$programs/rebuilt" "$@" >plain.txt
  GPUSPARC_DEBUG=1 gpusparc run --devices cpu:2 --mode multi --stats="$name.json" "$programs/rebuilt" "$@" >"$name.txt" 2>"$name.err" ||
    fail "$name: $(cat "$name.err")"
  cmp plain.txt "$name.txt" || fail "$name: another result"
}
made() { grep -c "a program was translated" "$1.err" || true; }
run same same 6
[ "$(made same)" = 1 ] || fail "the same text was made ready $(made same) times"
stats same.json split:advance
run other other 9
[ "$(made other)" -ge 4 ] && [ "$(made other)" -le 6 ] || fail "ever new texts were made ready $(made other) times"
grep -q "its program is built anew again and again" other.json || fail "no reason: $(cat other.json)"
