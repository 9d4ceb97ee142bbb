#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The experiment of GPU-SPARC, Table IV and Figure 9: k-nearest (high), matrix multiplication (medium) and PageRank (low)
# as periodic tasks under one daemon, with one GPU each (single), each as is best for it alone (local), and as GEMA
# decides (gema). Their periods are in the paper's proportion to their times on one GPU of this machine.
#   bench/rt.sh [OPTION...] [OUTPUT]      with `gpusparc` on the PATH; the samples are found beside it
#   --devices SPEC   as for gpusparc run (default: its own)       --gpus N      GPUs of that group (default 2)
#   --seconds N      for each mode (default 60)                   --modes LIST  "single local gema"
#   --stretch F      periods times F (default 1: the paper's)     --runs N      of each profile (default 2)
#   --knn ARGS, --matmul ARGS, --pagerank ARGS   the samples' sizes, such as --knn "--size 65536"
# OUTPUT (default rt-results) gets jobs.csv (every job), summary.csv, response.svg where gnuplot is there, and of each mode
# its config, the daemon's decision and its trace. Exits 1 if a job under gema missed its deadline, or something failed.
set -u -o pipefail
devices="" gpus=2 seconds=60 modes="single local gema" stretch=1 runs=2 output=rt-results
knn="--size 65536" matmul="--size 4096" pagerank="--size 8388608 --steps 1"
while [ $# -gt 0 ]; do
  case $1 in
  --devices | --gpus | --seconds | --modes | --stretch | --runs | --knn | --matmul | --pagerank)
    [ $# -ge 2 ] || { echo "rt.sh: $1 needs a value" >&2; exit 2; }
    declare "${1#--}=$2"
    shift 2
    ;;
  -*) echo "rt.sh: there is no option $1" >&2; exit 2 ;;
  *) output=$1; shift ;;
  esac
done
lib=$(dirname "$(readlink -f "$(command -v gpusparc)")")/../lib/gpusparc
mkdir -p "$output" && cd "$output" || exit 1
tasks="knn matmul pagerank"
# Of Table IV: priority, period / execution time.
declare -A priority=([knn]=3 [matmul]=2 [pagerank]=1) ratio=([knn]=1.7391 [matmul]=1.8868 [pagerank]=1.4754)
args() { local -n words=$1; echo "$words --no-check"; }
say() { echo "rt.sh: $*" >&2; }
running=()
finish() {
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null; done
  wait
  rm -f sock sock.lock
}
trap finish EXIT
trap 'exit 1' INT TERM

run_options=(--gpus "$gpus")
[ -z "$devices" ] || run_options+=(--devices "$devices")

# ---- what each takes alone ----
for t in $tasks; do
  say "profile of $t $(args "$t")"
  # shellcheck disable=SC2046
  gpusparc profile --task "$t" --runs "$runs" --margin 10 ${devices:+--devices "$devices"} -- \
    "$lib/samples/$t" $(args "$t") --iterations 5 >"$t.profile" 2>"$t.profile.err" || { cat "$t.profile.err" >&2; exit 1; }
  grep -q "^segments.$gpus" "$t.profile" || say "$t isn't split over $gpus GPUs"
done
# A job's median time in microseconds: median_us TASK GPUS
median_us() {
  sed -n "s/^# .* with $2 GPUs\\{0,1\\}: .*median \\([0-9.]*[a-z]*\\).*/\\1/p" "$1.profile" | awk '
    { u = $1; sub(/[0-9.]+/, "", u); sub(/[a-z]+$/, "", $1)
      printf "%d\n", $1 * (u == "s" ? 1e6 : u == "ms" ? 1e3 : u == "us" ? 1 : 1e-3) }'
}
# The period in microseconds, in the paper's proportion to the time on one GPU.
period_us() { awk -v t="$(median_us "$1" 1)" -v r="${ratio[$1]}" -v s="$stretch" 'BEGIN { printf "%d\n", t * r * s }'; }
best_of() {
  local one all
  one=$(median_us "$1" 1) all=$(median_us "$1" "$gpus")
  if [ -n "$all" ] && [ "$all" -lt "$one" ]; then echo "$gpus"; else echo 1; fi
}

write_config() { # MODE
  echo "[system]"
  echo "gpus = $gpus"
  echo "cpus = $(nproc)"
  for t in $tasks; do
    echo "[task $t]"
    echo "priority = ${priority[$t]}"
    echo "period = $(period_us "$t")us"
    case $1 in single) echo "mode = 1" ;; local) echo "mode = $(best_of "$t")" ;; *) echo "mode = auto" ;; esac
    grep -E '^(segments|gpu_chunk|pci_chunk)' "$t.profile"
  done
}

# ---- the three modes ----
echo "mode,task,gpus,job,release_ms,response_ms,deadline_ms,missed" >jobs.csv
export GPUSPARC_SOCKET=$PWD/sock
for mode in $modes; do
  write_config "$mode" >"$mode.conf"
  gpusparc check "$mode.conf" >/dev/null || exit 1
  gpusparc daemon --config "$mode.conf" --socket "$PWD/sock" --trace "$mode.trace" 2>"$mode.log" &
  daemon=$!
  running=("$daemon")
  for _ in $(seq 100); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.1; done
  kill -0 "$daemon" 2>/dev/null || { cat "$mode.log" >&2; exit 1; }
  apps=()
  for t in $tasks; do
    # shellcheck disable=SC2046
    gpusparc run "${run_options[@]}" --mode multi --task "$t" --pace -- "$lib/samples/$t" $(args "$t") --iterations 1000000 \
      >"$mode.$t.out" 2>&1 &
    apps+=($!)
  done
  running+=("${apps[@]}")
  say "$mode: $seconds s"
  sleep "$seconds"
  gpusparc status >"$mode.status"
  gpusparc status --json >"$mode.status.json"
  for i in "${!apps[@]}"; do
    kill -0 "${apps[$i]}" 2>/dev/null || { say "$mode: an application ended before its time: $(tail -1 "$mode.$(echo $tasks | cut -d' ' -f$((i + 1))).out")"; exit 1; }
  done
  kill "${apps[@]}" 2>/dev/null
  wait "${apps[@]}" 2>/dev/null
  kill "$daemon"
  wait "$daemon" 2>/dev/null
  running=()
  tail -1 "$mode.status"
  # Jobs from the daemon's trace, which has a line for each event; times count from the first release. The first two jobs of each task
  # load its kernels and memory.
  for t in $tasks; do
    used=$(sed -n "s/.* GPUs:.*[ ]$t \\([0-9]*\\).*/\\1/p" "$mode.status")
    awk -v mode="$mode" -v task="$t" -v gpus="${used:-?}" -v deadline="$(period_us "$t")" '
      function field(name,   s) { s = $0; if (!sub(".*\"" name "\":", "", s)) return ""; sub(/[,}].*/, "", s); return s }
      /"cat":"job"/ {
        if (first == "" && /"ph":"b"/) first = field("ts")
        if ($0 !~ "\"name\":\"" task "\"") next
        id = field("id")
        if (/"ph":"b"/) begin[id] = field("ts")
        else if (id in begin && ++n > 2) {
          r = field("ts") - begin[id]
          printf "%s,%s,%s,%d,%.3f,%.3f,%.3f,%d\n", mode, task, gpus, n - 2, (begin[id] - first) / 1e3, r / 1e3, deadline / 1e3, (r > deadline + 0)
        }
      }' "$mode.trace" >>jobs.csv
  done
done

# ---- what came of it ----
awk -F, '
  NR == 1 { next }
  { k = $1 "," $2; if (!(k in n)) order[++keys] = k
    n[k]++; missed[k] += $8; sum[k] += $6; if ($6 > most[k]) most[k] = $6; gpus[k] = $3; deadline[k] = $7 }
  END {
    print "mode,task,gpus,jobs,missed,mean_ms,longest_ms,deadline_ms"
    for (i = 1; i <= keys; i++) { k = order[i]; printf "%s,%s,%d,%d,%.3f,%.3f,%.3f\n", k, gpus[k], n[k], missed[k], sum[k] / n[k], most[k], deadline[k] }
  }' jobs.csv >summary.csv
if command -v column >/dev/null; then column -s, -t summary.csv; else cat summary.csv; fi

if command -v gnuplot >/dev/null; then
  count=$(echo "$modes" | wc -w)
  {
    echo "set terminal svg size 900,$((260 * count)) font 'sans,11'; set output 'response.svg'; set datafile separator ','"
    echo "set multiplot layout $count,1; set xlabel 'release (s)'; set ylabel 'response time / deadline'; set key outside"
    echo "set yrange [0:*]"
    for mode in $modes; do
      echo "set title '$mode'"
      printf 'plot 1 with lines lt 0 title "deadline"'
      for t in $tasks; do
        printf ", '< grep ^%s,%s, jobs.csv' using (\$5/1000):(\$6/\$7) with linespoints pt 7 ps 0.3 title '%s'" "$mode" "$t" "$t"
      done
      echo
    done
  } >response.gp
  gnuplot response.gp || say "gnuplot failed; response.gp and jobs.csv are there"
else
  say "gnuplot is not there: no picture; jobs.csv has what it would show"
fi
missed=$(awk -F, '$1 == "gema" { n += $5 } END { print n + 0 }' summary.csv)
[ "$missed" -eq 0 ] || { say "$missed jobs missed their deadlines under gema"; exit 1; }
