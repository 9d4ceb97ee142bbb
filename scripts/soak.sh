#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Campaigns that take longer than a test may: each function below is one, and is named by the first argument.
#   scripts/soak.sh                  lists them
#   scripts/soak.sh samples 1000     runs one, with its arguments
# Wants a build in build/ (or GS_BUILD). A campaign works in a folder of its own and prints the seeds it used.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
export GS_SOURCE=$PWD GS_BUILD=${GS_BUILD:-$PWD/build}
export PATH=$GS_BUILD/bin:$PATH GPUSPARC_SOCKET=$GS_BUILD/none # no daemon but the campaigns' own

# samples [ROUNDS [SEED]]: samples of random sizes, plain and split, compared byte for byte
samples() {
    bash "$GS_SOURCE/tests/samples/random.sh" "${@:-500}"
}

# stress [ROUNDS [SEED [STEPS [THREADS]]]]: random sequences of OpenCL commands, plain and split, compared byte for byte
stress() {
    bash "$GS_SOURCE/tests/e2e/stress.sh" "${2:-$RANDOM}" "${1:-100}" "${3:-600}" "${4:-4}"
}

# hosts [COUNT [SEED [STEPS [KERNELS]]]]: random host programs around random kernels on separate memories, and with --verify
hosts() {
    bash "$GS_SOURCE/tests/e2e/random_host_programs.sh" "${2:-$RANDOM}" "${1:-50}" "${3:-400}" "${4:-6}"
}

# pooled [PROGRAMS [SEED [MIB]]]: random host programs with --memory pooled on devices of a random size, then the driver's calls fail,
# and where MIB is given programs of so many over devices of 1 GiB
pooled() {
    bash "$GS_SOURCE/tests/e2e/pooled_random.sh" "${2:-$RANDOM}" "${1:-1000}"
    bash "$GS_SOURCE/tests/e2e/pooled_faults.sh" 20
    [ -z "${3:-}" ] || bash "$GS_SOURCE/tests/e2e/pooled.sh" "$3"
}

# ranges [COUNT [SEED]]: random programs whose large buffers are ranges on the devices beside the first, and each call fails
ranges() {
    (mkdir -p "$GS_BUILD/tests/run/soak_ranges" && cd "$GS_BUILD/tests/run/soak_ranges" &&
        GS_LIMIT=100000 bash "$GS_SOURCE/tests/e2e/ranges.sh" "${2:-$RANDOM}" "${1:-50}" 20)
}

# eight: all samples over eight GPUs, which are PoCL's devices by other names, and what else tests/e2e/eight_gpus.sh does
eight() {
    (mkdir -p "$GS_BUILD/tests/run/soak_eight" && cd "$GS_BUILD/tests/run/soak_eight" && bash "$GS_SOURCE/tests/e2e/eight_gpus.sh" \
        $(sed -n 's/^\([a-z0-9]*\) |.*/\1/p' "$GS_BUILD/lib/gpusparc/samples/MANIFEST"))
}

# remote [HOSTS]: all samples over so many hosts (network namespaces with sshd; as root, after scripts/remote.sh), bytes compared
remote() {
    (mkdir -p "$GS_BUILD/tests/run/soak_remote" && cd "$GS_BUILD/tests/run/soak_remote" &&
        POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache} bash "$GS_SOURCE/tests/hosts/samples.sh" "${1:-2}" \
            $(sed -n 's/^\([a-z0-9]*\) |.*/\1/p' "$GS_BUILD/lib/gpusparc/samples/MANIFEST"))
}

# remote_random [COUNT [SEED [STEPS [KERNELS]]]]: random host programs around random kernels over two hosts and three
remote_random() {
    (mkdir -p "$GS_BUILD/tests/run/soak_remote_random" && cd "$GS_BUILD/tests/run/soak_remote_random" &&
        POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache} bash "$GS_SOURCE/tests/hosts/random.sh" \
            "${1:-20}" "${2:-$RANDOM}" "${3:-300}" "${4:-6}")
}

# remote_kills [ROUNDS [SEED]]: servers, ssh, links and launcher of runs over two hosts are killed at random times
remote_kills() {
    (mkdir -p "$GS_BUILD/tests/run/soak_remote_kills" && cd "$GS_BUILD/tests/run/soak_remote_kills" &&
        GPUSPARC_HOSTS_TIMEOUT=${GPUSPARC_HOSTS_TIMEOUT:-2} \
        POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache} bash "$GS_SOURCE/tests/hosts/kills.sh" "${1:-200}" "${2:-$RANDOM}")
}

# contend [ROUNDS [SEED [STEPS [THREADS]]]]: the same as stress of launches whose atomics' results are used
contend() {
    bash "$GS_SOURCE/tests/e2e/contend.sh" "${2:-$RANDOM}" "${1:-100}" "${3:-300}" "${4:-3}"
}

# faults [CASES [SEED]]: calls of the driver fail, at so many places per function and program
faults() {
    SEED=${2:-$RANDOM} bash "$GS_SOURCE/tests/e2e/faults.sh" "${1:-20}" plain pinned daemon chunks late once forever lost gone
}

# partial: drivers of every version that lack one function after the other, with more programs than the test has
partial() {
    bash "$GS_SOURCE/tests/e2e/partial.sh" --all
}

# implementations [NAME...]: samples, API programs and random ones over each implementation of OpenCL that is installed
implementations() {
    ROUNDS=${ROUNDS:-50} bash "$GS_SOURCE/tests/implementations/run.sh" "$@"
}

# late [SEEDS [SEED]]: random sequences of OpenCL commands of which some fail while they run, and that are done over then
late() {
    bash "$GS_SOURCE/tests/e2e/run_failures.sh" "${2:-$RANDOM}" "${1:-100}"
}

# lazy [SEED [PROGRAM...]]: the programs of tests/e2e and the samples over a driver that is as lazy as it may be
lazy() {
    local seed=${1:-$RANDOM}
    shift || true
    bash "$GS_SOURCE/tests/e2e/lazy.sh" "$seed" "${@:-all}"
}

# graph [SEED]: programs, samples and a crowd with a look at whether all commands that share bytes are in order
# (tests/e2e/graph/graph.h); then whether a rule that is taken out is missed (tests/e2e/graph/mutants.sh)
graph() {
    local seed=${1:-$RANDOM}
    bash "$GS_SOURCE/tests/e2e/graph.sh" "$seed" all
    bash "$GS_SOURCE/tests/e2e/crowd.sh" "$seed" 60 graph
    bash "$GS_SOURCE/tests/e2e/graph/mutants.sh"
}

# crowd [SECONDS [SEED [lazy] [deaths]]]: processes of several threads come and go under one daemon, and some are killed
crowd() {
    bash "$GS_SOURCE/tests/e2e/crowd.sh" "${2:-$RANDOM}" "${1:-600}" "${@:3}"
}

# schedule [SECONDS [SEED]]: random programs over a lazy driver, their commands' states and grants against a slow model
schedule() {
    bash "$GS_SOURCE/tests/e2e/random_daemon_runs.sh" "${2:-$RANDOM}" 1 "${1:-600}"
}

# growth [ROUNDS]: an application that runs for long takes no more and more memory
growth() {
    bash "$GS_SOURCE/tests/e2e/growth.sh" "${1:-20000}"
}

# kernels [COUNT [SEED]]: random kernels, translated and run in parts
kernels() {
    bash "$GS_SOURCE/tests/translator/random.sh" "${2:-$RANDOM}" "${1:-500}"
}

# kernels_split [COUNT [SEED]]: random kernels, plain and under gpusparc on two and three devices
kernels_split() {
    bash "$GS_SOURCE/tests/kernels/split.sh" random "${2:-$RANDOM}" "${1:-200}"
}

# sure [ROUNDS [BESIDE]]: the kernels of tests/kernels/surely_written.sh, each 4 times a round, by so many processes beside each other;
# what differs stays in the build's tests/run/soak_sure.*
sure() {
    local rounds=${1:-125} beside=${2:-8} i bad=0 all=()
    for ((i = 0; i < beside; i++)); do
        mkdir -p "$GS_BUILD/tests/run/soak_sure.$i"
        (cd "$GS_BUILD/tests/run/soak_sure.$i" && bash "$GS_SOURCE/tests/kernels/surely_written.sh" $((rounds / beside + 1))) &
        all+=($!)
    done
    for i in "${!all[@]}"; do
        if wait "${all[i]}"; then rm -r "$GS_BUILD/tests/run/soak_sure.$i"; else bad=$((bad + 1)); fi
    done
    echo "$((rounds / beside + 1)) rounds of each of $beside: $bad differ"
    [ $bad = 0 ]
}

# gema [SETS [SEED]]: the safe bound against simulation over all offsets, against every state of tiny sets, whole and in chunks, of
# pinned tasks too, and policies against enumeration
gema() {
    local sets=${1:-100000} seed=${2:-$RANDOM}
    "$GS_BUILD/tests/test_gema_soundness" "$seed" "$sets"
    "$GS_BUILD/tests/test_gema_explore" "$seed" "$sets"
    "$GS_BUILD/tests/test_gema_explore_chunks" "$seed" "$((sets / 10))"
    "$GS_BUILD/tests/test_gema_pinned" "$seed" "$((sets / 10))"
    "$GS_BUILD/tests/test_gema_assign" "$seed" "$((sets / 10))"
    "$GS_BUILD/tests/test_gema_priorities" "$seed" "$sets"
    "$GS_BUILD/tests/test_gema_dominates" "$seed" "$sets"
}

# What the next ones need, with clang and its sanitizers.
fuzz_build() {
    cmake -S "$GS_SOURCE" -B fuzz -G Ninja -DGS_FUZZ=ON -DCMAKE_C_COMPILER=clang -DGS_SANITIZE=address,undefined >/dev/null
    cmake --build fuzz --target "$@" >/dev/null
}

# fuzz_config [SECONDS]: any bytes as a config file and as JSON, from the corpus on; builds the fuzzer with clang
fuzz_config() {
    fuzz_build fuzz_config
    mkdir -p corpus
    printf '"%s"\n' '[system]' '[task a]' '\x0a[system]\x0a' 'hosts = ' 'period = 1s' 'segments.1 = ' >words
    fuzz/bin/fuzz_config -max_total_time="${1:-60}" -max_len=4096 -dict=words corpus "$GS_SOURCE/tests/gema/corpus"
}

# fuzz_translator [SECONDS]: the fuzzers of the translator, of summaries and of access programs; builds them with clang
fuzz_translator() {
    fuzz_build fuzz_summary fuzz_translate fuzz_access
    mkdir -p summaries programs accesses
    export XDG_CACHE_HOME=$PWD/cache
    for f in "$GS_SOURCE"/tests/kernels/*.cl "$GS_SOURCE"/tests/kernels/access/*.cl; do
        { printf '\001'; cat "$f"; } >"programs/$(basename "$f")"
        "$GS_BUILD/tests/show_translation" -t "$GS_BUILD/lib/gpusparc/gpusparc-translate" "$f" >/dev/null
    done
    for f in cache/gpusparc/*; do sed '1,/^gpusparc-summary/d' "$f" >"summaries/$(basename "$f")"; done
    python3 "$GS_SOURCE/tests/access/seeds.py" accesses cache/gpusparc/*
    fuzz/tests/fuzz_summary -max_total_time="${1:-300}" -max_len=20000 summaries
    fuzz/tests/fuzz_translate -max_total_time="${1:-300}" -max_len=4000 programs
    fuzz/tests/fuzz_access -max_total_time="${1:-300}" -max_len=20000 accesses
}

# fuzz_daemon [SECONDS]: any messages of hostile clients, and what they write into their pages, against the daemon's core
fuzz_daemon() {
    fuzz_build fuzz_scheduler_core
    mkdir -p corpus
    fuzz/bin/fuzz_scheduler_core -max_total_time="${1:-300}" -max_len=4096 -timeout=20 corpus
}

# daemon_hostile [ROUNDS [SEED]]: clients that send anything and scribble over their pages, against the daemon's core
daemon_hostile() {
    GS_SEED=${2:-$RANDOM} "$GS_BUILD/tests/test_scheduler_hostile" "${1:-200000}"
}

# daemon_faults [ROUNDS]: death and standstill of clients and daemons, again and again
daemon_faults() {
    for _ in $(seq "${1:-50}"); do
        "$GS_BUILD/tests/test_scheduler_faults"
        "$GS_BUILD/tests/test_scheduler_daemon"
        "$GS_BUILD/tests/test_scheduler_client"
    done
}

# daemon_troubles [FILES]: an application under a daemon with so many files in its cache, and what else e2e/surroundings.sh does
daemon_troubles() {
    bash "$GS_SOURCE/tests/e2e/surroundings.sh" "${1:-100000}"
}

# daemon_policy [ROUNDS [SEED]]: random sequences of requests against the policy's oracle
daemon_policy() {
    local seed=${2:-$RANDOM}
    for i in $(seq "${1:-500}"); do
        GS_SEED=$((seed + i * 1000)) "$GS_BUILD/tests/test_scheduler_policy"
    done
}

# daemon_service [SECONDS]: two applications without a task that want the GPU all the time, and a task: service within 2 %
daemon_service() {
    export GPUSPARC_SOCKET=$PWD/sock
    printf '[system]\ngpus = 1\n[task task]\nperiod = 50ms\nsegments.1 = gpu 2ms\n' >conf
    "$GS_BUILD/bin/gpusparcd" --config conf 2>log &
    daemon=$!
    trap 'kill $daemon' EXIT
    until [ -S sock ]; do sleep 0.1; done
    "$GS_BUILD/tests/scheduler/service" "${1:-3600}"
}

# daemon_siege [SECONDS [ATTACK...]]: a hostile user's attacks beside a task that joins and has a GPU in turn, each for so long
# first on another daemon of ordinary priority, which shows what the attack's load alone does, then on the task's own
daemon_siege() {
    cmake --build "$GS_BUILD" --target daemon_beside >/dev/null # not a part of all that is built
    export GPUSPARC_SOCKET=$PWD/sock
    chmod 755 .
    printf '[system]\ngpus = 2\npci_chunk = 1ms\ngpu_chunk = 2ms\n[task high]\nperiod = 100ms\npriority = 2\n[task partner]\nperiod = 200ms\npriority = 1\n' >conf
    sed 's/^gpus = 2/&\nrealtime = no/' conf >conf.other
    "$GS_BUILD/bin/gpusparcd" --config conf --mode 0666 --trace trace 2>log &
    daemon=$!
    "$GS_BUILD/bin/gpusparcd" --config conf.other --mode 0666 --trace trace.other --socket "$PWD/other" 2>log.other &
    other=$!
    trap 'kill $daemon $other' EXIT
    until [ -S sock ] && [ -S other ]; do sleep 0.1; done
    local seconds=${1:-20} attack siege
    shift || true
    for attack in ${@:-$(python3 "$GS_SOURCE/tests/scheduler/siege.py" --list)}; do
        python3 "$GS_SOURCE/tests/scheduler/siege.py" "$PWD/other" $((seconds + 4)) "$attack" &
        siege=$!
        "$GS_BUILD/bench/daemon_beside" nothing 1 "$seconds" $daemon "$PWD/other"
        wait $siege
        python3 "$GS_SOURCE/tests/scheduler/siege.py" "$GPUSPARC_SOCKET" $((seconds + 4)) "$attack" &
        siege=$!
        "$GS_BUILD/bench/daemon_beside" nothing 1 "$seconds" $daemon
        gpusparc run --devices cpu:2 --task high --task-required "$GS_BUILD/lib/gpusparc/samples/vectoradd" --size 100000 >out 2>err ||
            { echo "$attack: the task did not run scheduled: $(cat err)" >&2 && exit 1; }
        wait $siege
        gpusparc status >/dev/null
    done
}

# remote_lossy [MICROSECONDS [LOST]]: samples over two hosts behind links with a delay, on which LOST of 1000 packets are lost
remote_lossy() {
    (mkdir -p "$GS_BUILD/tests/run/soak_lossy" && cd "$GS_BUILD/tests/run/soak_lossy" &&
        POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache} bash "$GS_SOURCE/tests/hosts/lossy.sh" "$@")
}

# daemon_mutants [NAME...]: do the tests of the grant rules notice? Wrong edits of policy.c and patience.c, one at a time
daemon_mutants() {
    python3 "$GS_SOURCE/tests/scheduler/mutants.py" "$@"
}

# makespan [CASES [SEED]]: random instruction strings: the pruned search against the plain one, and the safe bound
makespan() {
    "$GS_BUILD/tests/test_gema_makespan_brute" "${2:-$RANDOM}" "${1:-20000}"
}

# models [ROUNDS [SEED]]: warp schedulers against their rules, exact sums against exact integers
models() {
    local seed=${2:-$RANDOM}
    for i in $(seq "${1:-50}"); do
        "$GS_BUILD/tests/test_gema_warpsched" $((seed + i))
        "$GS_BUILD/tests/test_probes_longacc" $((seed + i))
    done
}

# access [KERNELS [SEED [OPTION...]]]: random kernels on the host, against what the translator says (tests/access/oracle/campaign.py)
access() {
    python3 "$GS_SOURCE/tests/access/oracle/campaign.py" "${1:-10000}" "${2:-$RANDOM}" "${@:3}"
}

# foreign [LAUNCHES [SEED]]: the same of the kernels (*.cl) of tests/kernels and in installed packages, but hashcat's, which take hours
foreign() {
    find "$GS_SOURCE/tests/kernels" /usr/share /usr/lib -name '*.cl' ! -path '*/hashcat/*' -print0 | sort -z |
        xargs -0 python3 "$GS_SOURCE/tests/access/oracle/foreign.py" --launches "${1:-12}" --seed "${2:-1}"
}

# mutants [NAME...]: does that notice? Wrong edits of the translator, each in a copy, until a random kernel finds it
mutants() {
    python3 "$GS_SOURCE/tests/access/mutants.py" "$@"
}

# results [KERNELS [SEED]]: random kernels through which an atomic's result goes: found wherever it has an effect
results() {
    bash "$GS_SOURCE/tests/access/atomic_results.sh" "${2:-$RANDOM}" "${1:-5000}"
}

# sanitizers [ROUNDS [SEED]]: the stress program under AddressSanitizer and UBSan, built in build-asan/
sanitizers() {
    "$GS_SOURCE/scripts/build.sh" "$GS_SOURCE/build-asan" -DGS_SANITIZE=address,undefined
    GS_BUILD=$GS_SOURCE/build-asan PATH=$GS_SOURCE/build-asan/bin:$PATH \
        ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
        bash "$GS_SOURCE/tests/e2e/stress.sh" "${2:-$RANDOM}" "${1:-20}" 200 3
}

# applications: clFFT and hashcat (Debian's libclfft-dev, hashcat, openssl) with four kinds of hashes; PoCL compiles for minutes the first time
applications() {
    bash "$GS_SOURCE/tests/e2e/packaged_programs.sh" fft
    bash "$GS_SOURCE/tests/e2e/hashcat.sh" 0 100 1400 500
}

campaign=${1:-}
if [ -z "$campaign" ] || ! grep -q "^$campaign() {" scripts/soak.sh; then
    sed -n 's/^# \([a-z_]*\( \[.*\]\)\?: .*\)/\1/p' scripts/soak.sh
    [ -z "$campaign" ] || exit 2
    exit 0
fi
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$campaign" "$@"
