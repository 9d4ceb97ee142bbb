#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: random.sh [ROUNDS [SEED]]
# Samples of random sizes, plain and spread over random devices: the same bytes. The same seed, 1 if none is given, has
# the same runs.
. "$GS_SOURCE/tests/samples/lib.sh"
rounds=${1:-20} seed=${2:-1}
RANDOM=$seed
echo "seed $seed"

# pick LOW HIGH; power LOW HIGH: a power of two of such an exponent; some WORD...: one of them. All set $r.
pick() { r=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1))); }
power() { pick "$1" "$2" && r=$((1 << r)); }
some() { pick 1 $# && r=${!r}; }

# add OPTION FUNCTION ARGUMENT...: an option with a random value.
add() {
    "${@:2}"
    arguments+=("--$1" "$r")
}

random_arguments() {
    arguments=()
    case $1 in
    vectoradd | dotproduct | atomiccounters) add size pick 1 60000 && add group some 1 7 64 256 ;;
    matmul) add height pick 1 150 && add inner pick 1 150 && add width pick 1 150 && add tile some 1 5 8 16 32 ;;
    aes) add size pick 1 120 && add channels some 1 3 4 && add key-bits some 128 192 256 && add group some 1 16 64 ;;
    binomial) add size pick 1 60 && add steps pick 1 120 ;;
    filter) add width pick 1 200 && add height pick 1 200 && add radius pick 1 12 && add group some 4 16 32 ;;
    histogram) add size pick 1 300000 && add per-group pick 64 20000 ;;
    histogramatomics) add size pick 1 70000 && r=$((4 * r)) && arguments=(--size $r) && add group some 16 64 256 ;;
    knn) add size pick 30 500 && add neighbors pick 1 29 && add group some 1 8 64 ;;
    pagerank) add size pick 1 20000 && add links pick 1 9 && add steps pick 1 12 && add group some 16 64 256 ;;
    binarysearch) add size pick 1 100000 && add searches pick 1 6 && add group some 2 16 256 && add groups pick 1 9 ;;
    bitonicsort | fastwalsh | dwthaar1d) add size power 1 14 && add group some 1 16 256 ;;
    blackscholes) add size pick 1 40000 && add group some 1 32 128 && add groups pick 1 40 ;;
    boxfilter) add width pick 1 400 && add height pick 1 300 && add radius pick 1 12 ;;
    dct8x8) add size pick 1 8 && arguments=(--size $((32 * r))) ;;
    dxtcompression) add size pick 1 50 && arguments=(--size $((4 * r))) ;;
    fdtd3d) add size pick 1 60 && add steps pick 1 4 ;;
    floydwarshall) add size pick 2 90 && add links pick 1 12 ;;
    hiddenmarkov) add size pick 1 200 && add length pick 1 30 && add symbols pick 1 20 && add group some 1 32 128 ;;
    matrixtranspose | simpleconvolution | sobel) add width pick 1 300 && add height pick 1 300 ;;
    recursivegaussian) add width pick 1 600 && add height pick 1 600 && add sigma pick 1 20 ;;
    matvecmul) add width pick 1 300 && add height pick 1 3000 && add slabs pick 1 6 && add group some 1 32 256 ;;
    mersennetwister) add generators pick 1 500 && add each pick 1 40 && arguments[3]=$((2 * r)) && add group some 1 64 128 ;;
    prefixsum) add size pick 1 30000 && add group some 1 4 64 512 ;;
    quasirandom) add vectors pick 1 3000 && add dimensions pick 1 40 && add group some 1 64 256 ;;
    radixsort) add size pick 1 20000 ;;
    reduction) add size pick 1 100000 && add group some 1 64 256 && add groups pick 1 30 ;;
    scanlargearrays) add size pick 1 20000 && add group some 2 16 128 ;;
    sortingnetworks) add arrays pick 1 6 && add length power 9 12 ;;
    tridiagonal) add systems pick 1 300 && add unknowns pick 2 140 ;;
    *) fail "random.sh doesn't know $1" ;;
    esac
}

names=()
keep_name() { names+=("$1"); }
manifest keep_name

for ((round = 1; round <= rounds; round++)); do
    some "${names[@]}" && name=$r
    random_arguments "$name"
    some cpu:2 cpu:3 cpu:2 && spec=$r
    some multi multi auto && mode=$r
    run="$name ${arguments[*]} (--mode $mode --devices $spec, seed $seed, round $round)"
    timeout 100 "$samples/$name" "${arguments[@]}" --output plain >out 2>&1 || fail "plain: $run: $(cat out)"
    timeout 100 gpusparc run --mode "$mode" --gpus "${spec#cpu:}" --devices "$spec" \
        "$samples/$name" "${arguments[@]}" --iterations 2 --output split >out 2>&1 || fail "$run: $(cat out)"
    cmp -s plain split || fail "other bytes: $run"
done
[ "$failures" -eq 0 ]
