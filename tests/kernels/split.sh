# SPDX-License-Identifier: MIT
# split.sh PATTERN | random SEED COUNT: the test kernels whose files fit the pattern, or random ones, give the same bytes plain
# and under gpusparc, on two sub-devices and on three devices, and are really split where they should be.
set -euo pipefail
source "$GS_SOURCE/tests/kernels/taken.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME" programs
if [ "$1" = random ]; then
  echo "seed $2, $3 programs"
  python3 "$GS_SOURCE/tests/kernels/generate.py" "$2" "$3" programs
  taken programs/*.cl
else
  # shellcheck disable=SC2206 # a pattern
  files=("$GS_SOURCE"/tests/kernels/$1.cl)
fi
run=$GS_BUILD/tests/run_kernels
"$run" plain.bin "${files[@]}" 2>plain.err || { cat plain.err; exit 1; }

# On memories of their own, where a part has only what it is known to read.
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --gpus 2 --mode multi --stats=two.json -- "$run" two.bin "${files[@]}" 2>two.err || { cat two.err; exit 1; }
cmp plain.bin two.bin
POCL_DEVICES="pthread pthread pthread" gpusparc run --devices all --gpus 3 --mode multi --stats=three.json -- \
  "$run" three.bin "${files[@]}" 2>three.err || { cat three.err; exit 1; }
cmp plain.bin three.bin
python3 "$GS_SOURCE/tests/kernels/check_stats.py" two.json 2 "${files[@]}"
python3 "$GS_SOURCE/tests/kernels/check_stats.py" three.json 3 "${files[@]}"
