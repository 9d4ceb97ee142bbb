#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One application alone under a daemon of its own, against none, in turn; on a machine with two GPUs. Medians of processes' medians:
#   1. rows of short launches on one GPU; 2. a job of one launch and one small read; 3. launches split over both GPUs;
#   4. an urgent job of one chunk beside what keeps the GPU full: its wait, so that it is seen what the first three cost.
# usage: bench/alone.sh DAEMON_APP [SECONDS]     bench/daemon_app as it was built; with `gpusparc` on the PATH, the samples beside it.
#        No more processes are begun after so many seconds (105).
set -u -o pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
app=${1:?the path of daemon_app}
app=$(realpath -e "$app") || exit 1
budget=${2:-105}
SECONDS=0
samples=$(dirname "$(readlink -f "$(command -v gpusparc)")")/../lib/gpusparc/samples
dir=$(mktemp -d)
export GPUSPARC_SOCKET=$dir/sock
printf '[system]\ngpus = 2\nrealtime = no\n[task one]\nperiod = 10s\nmode = 1\n' >"$dir/conf"
gpusparc daemon --config "$dir/conf" --gpus 2 2>"$dir/log" &
daemon=$! low=
trap 'kill $low $daemon 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 100); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.05; done
left() { [ $SECONDS -lt "$budget" ]; }
middle() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }

# sample NAME RUN-OPTIONS... -- SAMPLE ARGUMENTS...: appends write, kernels, read and total of one process to $dir/NAME
sample() {
  local to=$dir/$1
  shift
  left || return
  timeout 25 gpusparc run "$@" 2>>"$dir/err" |
    sed -n 's/.*"write_ms": \([0-9.]*\), "kernel_ms": \([0-9.]*\), "read_ms": \([0-9.]*\), "total_ms": \([0-9.]*\).*/\1 \2 \3 \4/p' >>"$to"
}
column() { awk -v c="$2" '{ print $c }' "$dir/$1" 2>/dev/null | middle; }
report() { # NAME: without, and what there is under the daemon
  local kind
  for kind in without under task; do
    [ -s "$dir/$1.$kind" ] || continue
    awk -v n="$1" -v kind=$kind -v w="$(column "$1.$kind" 1)" -v k="$(column "$1.$kind" 2)" -v r="$(column "$1.$kind" 3)" -v t="$(column "$1.$kind" 4)" \
      -v k0="$(column "$1.without" 2)" -v t0="$(column "$1.without" 4)" 'BEGIN {
        printf "%-16s %-8s write %8.3f kernels %8.3f read %8.3f total %8.3f ms   kernels %+5.1f %%, total %+5.1f %%\n", n, kind, w, k, r, t, (k / k0 - 1) * 100, (t / t0 - 1) * 100 }'
  done
}

# The windows between the GPUs, and the translations, are in the cache from here on.
GPUSPARC_TRANSFER=peer timeout 40 gpusparc run --no-daemon --gpus 2 --mode multi "$samples/matmul" --size 1024 --no-check --iterations 3 >/dev/null 2>>"$dir/err"
short="floydwarshall bitonicsort radixsort prefixsum scanlargearrays"
for _ in 1 2; do
  for s in $short; do
    sample $s.without --no-daemon --gpus 1 -- "$samples/$s" --no-check --times --iterations 1000
    sample $s.under --gpus 1 -- "$samples/$s" --no-check --times --iterations 1000
    sample $s.task --gpus 1 --task one -- "$samples/$s" --no-check --times --iterations 1000
  done
done
for s in $short; do report $s; done

for job in "4224 13000" "33792 13000" "33792 40000"; do
  read -r groups depth <<<"$job"
  for _ in 1 2; do
    left || break
    timeout 20 gpusparc run --no-daemon --gpus 1 --mode multi "$app" 600 "$groups" "$depth" >>"$dir/$groups-$depth.without"
    timeout 20 gpusparc run --gpus 1 --mode multi "$app" 600 "$groups" "$depth" >>"$dir/$groups-$depth.under"
    timeout 20 gpusparc run --gpus 1 --mode multi --task one "$app" 600 "$groups" "$depth" >>"$dir/$groups-$depth.task"
  done
  for kind in under task; do
    awk -v n="$groups groups" -v kind=$kind -v v="$(column "$groups-$depth.$kind" 1)" -v b="$(column "$groups-$depth.without" 1)" \
      'BEGIN { printf "job of %-13s %9.1f us without, %9.1f %s: %+.1f us, %+.1f %%\n", n, b / 1e3, v / 1e3, kind, (v - b) / 1e3, (v / b - 1) * 100 }'
  done
done

split() { # ITERATIONS SAMPLE ARGUMENTS
  sample "$2-$4.without" --no-daemon --gpus 2 --mode multi -- "$samples/$2" "${@:3}" --no-check --times --iterations "$1"
  sample "$2-$4.under" --gpus 2 --mode multi -- "$samples/$2" "${@:3}" --no-check --times --iterations "$1"
}
for _ in 1 2; do
  split 30 filter --width 8192 --height 8192
  split 30 matmul --size 4096
done
split 16 knn --size 32768
split 16 matmul --size 8192
split 12 pagerank --size 8388608 --steps 4
for name in filter-8192 matmul-4096 knn-32768 matmul-8192 pagerank-8388608; do report $name; done

own=$(timeout 20 gpusparc run --task one --gpus 1 --mode multi "$app" 200 4 40000 | cut -d' ' -f1)
for beside in "33792 40000 1" "33792 13000 1" "4224 10 256"; do
  left || break
  read -r groups depth launches <<<"$beside"
  gpusparc run --gpus 1 --mode multi "$app" 1000000 "$groups" "$depth" - "$launches" >/dev/null 2>&1 &
  low=$!
  sleep 2
  timeout 20 gpusparc run --task one --gpus 1 --mode multi "$app" 400 4 40000 |
    awk -v o="$own" -v b="$launches x $groups" '{ printf "urgent beside %-12s wait %7.1f us, p99 %7.1f (alone %.1f)\n", b, ($1 - o) / 1e3, ($2 - o) / 1e3, o / 1e3 }'
  kill $low
  wait $low 2>/dev/null
  low=
done
echo "$SECONDS s, load $(cut -d' ' -f1 /proc/loadavg)"
