#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The six sweeps of GCAPS' figure 8 (docs/compare.md), 500 sets a point, seed 1, three times: each scheduler at its own
# cost; at a cheaper update of 0.6 ms; and at no cost at all. Writes NAME.txt, NAME.csv, NAME.svg into a folder, and
# prints every point at which a published scheduler's row is above ours.
# Arguments: build folder, folder for the results (bench/results/gcaps), sets a point (500).
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=${1:-build} out=${2:-bench/results/gcaps} sets=${3:-500}
mkdir -p "$out"

# above NAME OURS THEIRS...: the points at which one of THEIRS is above OURS
above() {
  awk -F, -v ours="$2" -v theirs="${*:3}" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; n = split(theirs, names, " "); next }
    { points++
      for (k = 1; k <= n; k++) {
        more = $column[names[k]] - $column[ours]
        if (more > 0) { printf "  %s at %s: %s %.1f %%, %s %.1f %%\n", $1, $2, names[k], 100 * $column[names[k]] / $3, ours,
                        100 * $column[ours] / $3; bad++ } } }
    END { printf "  %d of %d pairs of a point and a row: above %s\n", bad, points * n, ours }' "$out/$1.csv"
}

# sweep NAME OPTION...
sweep() {
  "$build/bin/gpusparc" simulate --generator gcaps --seed 1 --sets "$sets" "${@:2}" --csv "$out/$1.csv" --plot "$out/$1.svg" >"$out/$1.txt"
}

published=(gcaps gcaps-busy robin mpcp fmlp+)
sweep own
echo "Each at its own cost (epsilon 1 ms, hand-overs 50 us): above chunks, of ${published[*]}"
above own chunks "${published[@]}"
echo "Equal cost, 1 ms each, which the last three don't pay: above chunks-eps"
above own chunks-eps "${published[@]}"
sweep eps600 --epsilon 600us
echo "Equal cost, 0.6 ms each, likewise: above chunks-eps"
above eps600 chunks-eps "${published[@]}"
sweep free --epsilon 0ms --handover 0ms
echo "Equal cost, none: above chunks, of ${published[*]}"
above free chunks "${published[@]}"
echo "and above whole, of the locks"
above free whole mpcp fmlp+
