# SPDX-License-Identifier: MIT
# surely_written.sh [ROUNDS]: kernels that write less than a glance says give the plain run's bytes on devices with memories of their own, where a part
# fetches nothing of what it is believed to overwrite.
set -euo pipefail
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
files=("$GS_SOURCE"/tests/kernels/sure_*.cl)
run=$GS_BUILD/tests/run_kernels
"$run" plain.bin "${files[@]}" 2>plain.err || { cat plain.err; exit 1; }
for ((round = 0; round < ${1:-1}; round++)); do
    for transfer in plain pinned; do
        for gpus in 2 3; do
            GPUSPARC_TRANSFER=$transfer POCL_DEVICES="pthread pthread pthread" gpusparc run --devices all --gpus $gpus \
                --mode multi --stats=stats.json -- "$run" split.bin "${files[@]}" 2>split.err || { cat split.err; exit 1; }
            cmp plain.bin split.bin
            python3 "$GS_SOURCE/tests/kernels/check_stats.py" stats.json $gpus "${files[@]}"
        done
    done
done
