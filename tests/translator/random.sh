# SPDX-License-Identifier: MIT
# Random programs, translated and run in parts, give the bytes of the whole launch: random.sh [SEED [COUNT]]
set -euo pipefail
source "$GS_SOURCE/tests/kernels/taken.sh"
seed=${1:-1} count=${2:-12}
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME" programs
echo "seed $seed, $count programs"
python3 "$GS_SOURCE/tests/kernels/generate.py" "$seed" "$count" programs
taken programs/*.cl
"$GS_BUILD/tests/split_kernels" "$GS_BUILD/lib/gpusparc/gpusparc-translate" "${files[@]}"
