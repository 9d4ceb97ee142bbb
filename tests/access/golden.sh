# SPDX-License-Identifier: MIT
# Each kernel of tests/kernels/access gives the summary that lies beside it: golden.sh [--accept]
# With --accept what is found is taken to be right; look at the difference before it is committed.
set -euo pipefail
kernels=$GS_SOURCE/tests/kernels/access
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
failures=0 total=0
for f in "$kernels"/*.cl; do
    expected=${f%.cl}.expected
    "$GS_BUILD/tests/golden" "$GS_BUILD/lib/gpusparc/gpusparc-translate" "$f" >found
    total=$((total + 1))
    if [ "${1:-}" = --accept ]; then
        cp found "$expected"
    elif ! diff -u "$expected" found; then
        failures=$((failures + 1))
    fi
done
echo "$total kernels, $failures differ"
[ "$total" -ge 60 ] && [ "$failures" -eq 0 ]
