# SPDX-License-Identifier: MIT
# appends.sh [--accept]: which kernels of appends.cl are found to do nothing but append to lists, and how.
set -euo pipefail
expected=$GS_SOURCE/tests/translator/appends.expected
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
"$GS_BUILD/tests/show_translation" -t "$GS_BUILD/lib/gpusparc/gpusparc-translate" "$GS_SOURCE/tests/translator/appends.cl" >all.txt
! grep refused: all.txt | grep -v "    refused:" || { echo "the program is refused"; exit 1; }
sed -n 's/^  kernel \([a-z_]*\).*/\1/p; /^    appends to/p' all.txt >found.txt
# A kernel that must not be found has no such line behind it, one that must has.
awk '/^ /{n++; next} {if (k ~ /^not_/ ? n : k && !n) {print k " is found wrongly"; bad = 1} k = $1; n = 0}
     END {if (k ~ /^not_/ ? n : !n) bad = 1; exit bad}' found.txt
if [ "${1:-}" = --accept ]; then
    cp found.txt "$expected"
fi
diff -u "$expected" found.txt
