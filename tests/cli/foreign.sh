#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/foreign.sh: a row for each program of a manifest; what differs from run to run is left out where the manifest
# says so, else it isn't compared; one that fails has no times.
set -euo pipefail
fail() {
  echo "FAILED: $*"
  exit 1
}
foreign() { GPUSPARC=$GS_BUILD/bin/gpusparc "$GS_SOURCE/scripts/foreign.sh" "$@"; }
{
  printf '# a comment\n'
  printf 'dotproduct\t[0-9.]+ ms\t%s --size 1024\n' "$GS_BUILD/lib/gpusparc/samples/dotproduct"
  printf 'clock without digits\t[0-9]\tdate +%%N\n'
} >good.txt
foreign good.txt --devices cpu:2 --time 4s >table.txt || fail "status $?: $(cat table.txt)"
grep -qE '^\| dotproduct \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+( \([0-9.]+ to [0-9.]+\))? \| [0-9]+ \|' table.txt || fail "$(cat table.txt)"
grep -q '^| clock without digits | [0-9]' table.txt || fail "what may differ was compared: $(cat table.txt)"
for what in '' 'first runs, '; do
  grep -q "^Geometric mean of ${what}2: " table.txt || fail "no mean of ${what:-all}: $(cat table.txt)"
done
printf 'clock\t-\tdate +%%N\nnowhere\t-\t/no/such/program\n' >bad.txt
rc=0
foreign bad.txt --devices cpu:2 --time 0.1s >table.txt || rc=$?
[ $rc = 1 ] || fail "exit status $rc"
grep -q '^| clock | - .*Not compared' table.txt && grep -q '^| nowhere | - .*exit status 127' table.txt || fail "$(cat table.txt)"
rc=0
OCL_ICD_VENDORS=$PWD/none foreign good.txt --devices cpu:2 >table.txt || rc=$?
[ $rc = 1 ] && [ "$(grep -c '^| .* | - .*there is no OpenCL platform' table.txt)" = 2 ] || fail "no platform: status $rc, $(cat table.txt)"
for text in '' 'two fields\tonly'; do
  rc=0
  printf "$text\n" >wrong.txt
  foreign wrong.txt >/dev/null 2>err.txt || rc=$?
  [ $rc = 2 ] && grep -q '^foreign: ' err.txt || fail "'$text': status $rc, $(cat err.txt)"
done
# bench/predicted.py says which samples fail or aren't there, in its exit status, too.
export PATH=$GS_BUILD/bin:$PATH
for case in "OCL_ICD_VENDORS=$PWD/none:vectoradd:vectoradd failed" 'A=B:no_such_sample:there is no sample no_such_sample'; do
  IFS=: read -r setting sample says <<<"$case"
  rc=0
  env "$setting" "$GS_SOURCE/bench/predicted.py" --small "$sample" >table.txt 2>said.txt || rc=$?
  [ $rc = 1 ] && grep -q "^predicted: $says" said.txt || fail "$sample: exit status $rc: $(cat said.txt)"
done
echo passed
