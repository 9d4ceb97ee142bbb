#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Table V of papers/gpu-sparc-2014 on this machine: every sample on one device and on several.
# Usage: bench/table_v.sh NAME [OPTION of gpusparc bench]... [SAMPLE]...
#   bench/table_v.sh cpu2 --devices cpu:2
#   bench/table_v.sh h200x2 --device gpu --gpus 2 --scale auto --no-single
#   bench/table_v.sh h200x4 --device gpu --gpus 2,4 --scale auto --like bench/results/h200x2
# Leaves bench/results/NAME with the table, CSV, pictures, environment and commit. The same call goes on with what was
# interrupted. Wants an installed `gpusparc` on the PATH.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
cd "$(dirname "$0")/.."
name=${1:?the name of the results, then options of gpusparc bench}
shift
dir=bench/results/$name
mkdir -p bench/results
resume=()
[ -e "$dir/runs.csv" ] && resume=(--resume)
status=0
gpusparc bench "${resume[@]}" --output "$dir" "$@" >"$dir.table" || status=$?
mv "$dir.table" "$dir/table.txt"
git rev-parse HEAD >"$dir/commit" 2>/dev/null || true
cat "$dir/table.txt"
exit $status
