# SPDX-License-Identifier: MIT
# Floating-point sums by compare-and-swap run whole, and say why, unless their order may change; then they are split, on
# one memory and on two, and sums that no order rounds are the same.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
run=$GS_BUILD/tests/run_kernels kernels=$GS_SOURCE/tests/kernels/float_sums.cl
sums="sum_union sum_before sum_as greatest"
"$run" plain.bin "$kernels" 2>plain.err || { cat plain.err; exit 1; }
common="--devices cpu:2 --mode multi"
gpusparc run $common --stats=whole.json -- "$run" whole.bin "$kernels" 2>whole.err || { cat whole.err; exit 1; }
cmp plain.bin whole.bin
for k in $sums; do stats whole.json single:$k:"a split changes the order of its floating-point atomics: the last bits may differ; --allow reorder permits it"; done
for path in shared plain pinned; do
    GPUSPARC_TRANSFER=$path gpusparc run $common --allow reorder --stats=$path.json -- "$run" $path.bin "$kernels" \
        2>$path.err || { cat $path.err; exit 1; }
    cmp plain.bin $path.bin
    for k in $sums; do stats $path.json split:$k; done
done
GPUSPARC_ALLOW=reorder gpusparc run $common --verify --stats=verify.json -- "$run" verify.bin "$kernels" 2>verify.err
cmp plain.bin verify.bin
shows verify.err "verify: split launches not compared: %llu (with --allow reorder, or in memory that the host can't read)"
if grep -q differ verify.err; then cat verify.err; fail "verified what may differ"; fi
status=0
gpusparc run --allow anything true 2>wrong.err || status=$?
[ "$status" -eq 125 ] && grep -q "it takes reorder" wrong.err || fail "--allow anything: $status, $(cat wrong.err)"
