#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the process has one of stays the application's: random sequences, umask, locale, signals, floating-point modes,
# errno. Below lies a compiler that takes random numbers: what the application builds moves its sequence, as without
# gpusparc; what is compiled for parts, for their kernels and for merges doesn't.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
layer=(env OPENCL_LAYERS="$programs/lazy.so" LAZY_REPORT="$PWD/report" LAZY=random)
rm -f report
"$programs/process_state" >without.txt || fail "without the layer"
"${layer[@]}" "$programs/process_state" >plain.txt || fail "plain"
! cmp -s without.txt plain.txt || fail "the layer's compiler takes no random numbers"
run() { # NAME OPTIONS
  local name=$1
  shift
  rm -rf cache
  XDG_CACHE_HOME=$PWD/cache "${layer[@]}" gpusparc run --stats="$name.json" "$@" "$programs/process_state" errno >"$name.txt" || fail "$name"
  cmp plain.txt "$name.txt" || { diff plain.txt "$name.txt" | head -20; fail "$name: the process's state moves"; }
}
run single --mode single
run auto --devices cpu:2 --mode auto
run multi --devices cpu:2 --mode multi
for path in plain pinned; do
  GPUSPARC_TRANSFER=$path run $path --devices cpu:2 --mode multi
  stats $path.json split:bump split:gather split:scatter
done
# Where a comma parts numbers: what the options say is read all the same, and what is told has points.
mkdir -p locale/comma
printf '\x14\x11\x03\x20\x06\0\0\0\x20\0\0\0\x22\0\0\0\x24\0\0\0\x28\0\0\0\x2c\0\0\0\x30\0\0\0,\0.\0\x03\x03\0\0,\0\0\0.\0\0\0UTF-8\0' \
  >locale/comma/LC_NUMERIC # as localedef makes it of de_DE
comma=(env -u LC_ALL LC_NUMERIC=comma LOCPATH="$PWD/locale")
"${comma[@]}" "$programs/decimal_comma" >plain.txt && grep -q '^0,250 ' plain.txt || fail "the locale has no comma: $(head -1 plain.txt)"
"${comma[@]}" gpusparc run --no-daemon --devices cpu:2 --mode multi --pace=1.5ms --stats=stats.txt --log=log.txt "$programs/decimal_comma" \
  >split.txt 2>err.txt || fail "decimal_comma"
cmp plain.txt split.txt
[ ! -s err.txt ] || fail "1.5ms: $(cat err.txt)"
grep -q '^gpusparc: scale  *7  *7 ' stats.txt || fail "not split: $(cat stats.txt)"
! grep -E '[0-9],[0-9]' stats.txt log.txt || fail "numbers with a comma"
grep -qE '^gpusparc: [0-9]+\.[0-9]+ 0\.[0-9]{6} clGet.*, [0-9]+(\.[0-9])? us$' log.txt || fail "the log's times: $(head -3 log.txt)"

[ ! -e report ] || { cat report; fail "the layer finds fault"; }
echo passed
