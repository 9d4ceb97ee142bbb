# SPDX-License-Identifier: MIT
# A part run alone on poisoned buffers keeps to what it declares: alone.sh [SEED [COUNT]]. Random kernels of two kinds, and
# those of tests/kernels.
set -euo pipefail
seed=${1:-1} count=${2:-12}
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME" programs
echo "seed $seed, $count programs"
python3 "$GS_SOURCE/tests/access/generate.py" "$seed" "$count" programs
python3 "$GS_SOURCE/tests/access/generate_states.py" "$seed" $(((count + 4) / 5)) programs
"$GS_BUILD/tests/alone" "$GS_BUILD/lib/gpusparc/gpusparc-translate" programs/*.cl "$GS_SOURCE"/tests/kernels/*.cl \
    2> >(grep -v 'warnings\? generated' >&2)
