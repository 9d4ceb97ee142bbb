#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every implementation of OpenCL that is installed, alone: the samples, the API programs of tests/e2e and random sequences
# of commands, plainly and under gpusparc, compared byte for byte. Of each it prints a line: how many run plainly, and
# how many of those are the same under gpusparc.
#   run.sh [--brief] [NAME...]     pocl, rusticl, oclgrind, beside; --brief: a few programs of each kind
# Exit status: 0; 1 where one is not the same; 77 where none but PoCL is installed, and no name is given.
# beside: all of them at once; the applications take the first platform with a device.
. "$GS_SOURCE/tests/samples/lib.sh"
programs=$GS_BUILD/tests/e2e
brief=
[ "${1:-}" != --brief ] || { brief=1; shift; }
limit=${LIMIT:-60}
export GPUSPARC_MODE=multi LC_ALL=C
unset GPUSPARC_TRANSFER GPUSPARC_GPUS GPUSPARC_DEVICES GPUSPARC_STATS

# The file of a library that the dynamic loader would find.
library() { ldconfig -p | sed -n "s/^.*\\b$1 .* => //p" | head -1; }
# Where an implementation's ICD is; nothing where it isn't installed.
icd_of() {
    case $1 in
    pocl) cat /etc/OpenCL/vendors/pocl.icd 2>/dev/null ;;
    rusticl) library libRusticlOpenCL.so.1 ;;
    oclgrind) ls /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/lib/*/liboclgrind-rt-icd.so 2>/dev/null | head -1 ;;
    esac
}
choose() {
    local each found
    export RUSTICL_ENABLE=llvmpipe
    if [ "$1" != beside ]; then
        found=$(icd_of "$1")
        [ -z "$found" ] || export OCL_ICD_VENDORS=$found
        [ -n "$found" ]
        return
    fi
    rm -rf vendors && mkdir vendors
    for each in oclgrind rusticl pocl; do
        found=$(icd_of $each)
        [ -z "$found" ] || echo "$found" >"vendors/$each.icd"
    done
    export OCL_ICD_VENDORS=$PWD/vendors/
    [ "$(ls vendors | wc -l)" -gt 1 ]
}

# One program, plainly and under gpusparc. Its result is what it prints, and the file `result` where it writes one.
one() { # LABEL COMMAND...
    local label=$1 rc
    shift
    total=$((total + 1))
    rm -f result plain.result
    if ! timeout "$limit" "$@" >plain.txt 2>plain.err </dev/null; then
        not_plain+=" $label"
        return
    fi
    plain=$((plain + 1))
    [ ! -e result ] || mv result plain.result
    rc=0
    timeout "$limit" gpusparc run "$@" >under.txt 2>under.err </dev/null || rc=$?
    if [ $rc != 0 ]; then
        fail "$implementation: $label exits with $rc under gpusparc: $(tail -1 under.err)"
        cp under.err "$implementation-$label.err"
    elif ! cmp -s plain.txt under.txt || { [ -e plain.result ] && ! cmp -s plain.result result; }; then
        fail "$implementation: $label gives another result under gpusparc"
    else
        same=$((same + 1))
    fi
}
sample() {
    case $brief/$1 in
    1/matmul | 1/vectoradd | 1/histogramatomics | 1/reduction | /*) one "$1" "$samples/$1" $3 --output result ;;
    esac
}

api="queues threads threads_on_halves user_events callbacks profiling sub_buffers host_pointers transfers staging images geometry refused_launch program_sources
    linking aliases release_orders queries device_types refused_kernels host_access svm"
[ -z "$brief" ] || api="queues user_events callbacks transfers"
rounds=${ROUNDS:-6}
[ -z "$brief" ] || rounds=1

names=("$@")
[ $# -gt 0 ] || names=(pocl rusticl oclgrind beside)
tried=
for implementation in "${names[@]}"; do
    choose "$implementation" || { echo "$implementation: isn't installed"; continue; }
    [ "$implementation" = pocl ] || tried=1
    total=0 plain=0 same=0 not_plain=
    manifest sample
    echo "$implementation: samples: $plain of $total plainly, $same the same${not_plain:+; not plainly:$not_plain}"
    total=0 plain=0 same=0 not_plain=
    for name in $api; do one "$name" "$programs/$name"; done
    echo "$implementation: API programs: $plain of $total plainly, $same the same${not_plain:+; not plainly:$not_plain}"
    total=0 plain=0 same=0 not_plain=
    RANDOM=${SEED:-1}
    for ((s = ${SEED:-1}; s < ${SEED:-1} + rounds; s++)); do
        one "stress-$s" "$programs/stress" "$s" 60 2
        one "vectoradd-$s" "$samples/vectoradd" --size $((1 + RANDOM)) --output result
        one "matmul-$s" "$samples/matmul" --height $((1 + RANDOM % 90)) --width $((1 + RANDOM % 90)) --tile 8 --output result
        one "histogramatomics-$s" "$samples/histogramatomics" --size $((4 + 4 * (RANDOM % 9000))) --group 64 --output result
    done
    echo "$implementation: random sequences: $plain of $total plainly, $same the same${not_plain:+; not plainly:$not_plain}"
    timeout "$limit" gpusparc devices >devices.txt 2>&1 || fail "$implementation: gpusparc devices: $(tail -1 devices.txt)"
done
[ "$failures" -eq 0 ] || exit 1
[ -n "$tried$*" ] || { echo "left out: none but PoCL is installed"; exit 77; }
