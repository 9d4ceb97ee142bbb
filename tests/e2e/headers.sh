#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shim/gen.py reads the dispatch table in both forms that the Khronos headers have had (clX_t * since 2023.12), and stops
# with one sentence where it finds none.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
include=$1
rm -rf before since neither out
for form in before since neither; do
  mkdir -p "$form" "out/$form"
  cp -r "$include/CL" "$form/CL"
done
generate() { python3 -B "$GS_SOURCE/shim/gen.py" "$1" "out/$1" "$GS_SOURCE"/shim/api/*.c; }
sed -Ei 's/^( *)(cl[A-Z]\w+)_t +\*\2;/\1cl_api_\2 \2;/' before/CL/cl_icd.h
sed -Ei 's/^( *)cl_api_(cl[A-Z]\w+) +\2;/\1\2_t *\2;/' since/CL/cl_icd.h
grep -q 'cl_api_clGetPlatformIDs clGetPlatformIDs;' before/CL/cl_icd.h || fail "the form before 2023.12"
grep -q 'clGetPlatformIDs_t \*clGetPlatformIDs;' since/CL/cl_icd.h || fail "the form since 2023.12"
generate before
generate since
diff -r out/before out/since || fail "the two forms give different files"
[ "$(grep -c GS_FUNCTION out/since/functions.inc)" -ge 120 ] || fail "functions.inc is too short"

sed -Ei 's/^( *)(cl_api_)?(cl[A-Z]\w+)(_t \*| )\3;/\1another_form(\3);/' neither/CL/cl_icd.h
if generate neither 2>err.txt; then fail "headers of an unknown form are taken"; fi
[ "$(wc -l <err.txt)" = 1 ] && grep -q "neither/CL: .* a form that gen.py doesn't read" err.txt || { cat err.txt; fail "the sentence"; }
[ ! -e out/neither/functions.inc ] || fail "files were written in spite of it"
echo passed
