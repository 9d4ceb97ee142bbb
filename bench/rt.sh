#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The experiment of GPU-SPARC, Table IV and Figure 9: k-nearest (high), matrix multiplication (medium) and PageRank (low)
# as periodic tasks under one daemon, with one GPU each (single), each as is best for it alone (local), and as GEMA
# decides (gema). Their periods are in the paper's proportion to their times on one GPU of this machine.
#   bench/rt.sh [OPTION...] [OUTPUT]      with `gpusparc` on the PATH; the samples are found beside it
#   --devices SPEC   as for gpusparc run (default: $DEVICES, else its own)   --gpus N   GPUs of that group (default 2)
#   --seconds N,...  for each mode, or of each (default 60)        --modes LIST  "single local gema"
#   --stretch F      periods times F (default 1: the paper's); auto: the first of 1, 1.1, ... 8, 8.5, ... 40 for which
#                    the analysis finds numbers of GPUs that suffice, and 20 % more       --runs N      of each profile (default 2)
#   --knn ARGS, --matmul ARGS, --pagerank ARGS   the samples' sizes, such as --knn "--size 65536"
#   --liars N    beside N processes without a task that keep units or pretend to, by turns; the bounds include them, as
#                of one user, whose they are (liars = 1)
#   --others T   the longest chunk of who has no task, by the config (default: the longest of the tasks')
#   --periods MS,MS,MS   of the three, instead of those by their times     --handover T   of the config; auto: by gpusparc probe
# Starting up (reading, compiling, allocating) is no task's work, but takes processors from those that run already: the
# jobs that count are those released once all three have been warm for the longest period; what came before is told beside them.
# OUTPUT (default rt-results) gets jobs.csv (every job), summary.csv, response.svg, and of each
# mode its config, the daemon's decision and its trace. Exits 1 if a job under gema missed its
# deadline, or something failed.
set -u -o pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
devices=${DEVICES:-} gpus=2 seconds=60 modes="single local gema" stretch=1 runs=2 periods="" handover="" liars=0 others="" output=rt-results
knn="--size 65536" matmul="--size 4096" pagerank="--size 8388608 --steps 1"
while [ $# -gt 0 ]; do
  case $1 in
  --devices | --gpus | --seconds | --modes | --stretch | --runs | --periods | --handover | --liars | --others | --knn | --matmul | --pagerank)
    [ $# -ge 2 ] || { echo "rt.sh: $1 needs a value" >&2; exit 2; }
    declare "${1#--}=$2"
    shift 2
    ;;
  -*) echo "rt.sh: there is no option $1" >&2; exit 2 ;;
  *) output=$1; shift ;;
  esac
done
modes=${modes//,/ }
for mode in $modes; do
  case $mode in single | local | gema) ;; *) echo "rt.sh: there is no mode $mode: single, local or gema" >&2; exit 2 ;; esac
done
command -v gpusparc >/dev/null || { echo "rt.sh: gpusparc is not on the PATH" >&2; exit 2; }
lib=$(dirname "$(readlink -f "$(command -v gpusparc)")")/../lib/gpusparc
mkdir -p "$output" && cd "$output" || exit 1
tasks="knn matmul pagerank"
# Of Table IV: priority, period / execution time.
declare -A priority=([knn]=3 [matmul]=2 [pagerank]=1) place=([knn]=1 [matmul]=2 [pagerank]=3)
declare -A ratio=([knn]=1.7391 [matmul]=1.8868 [pagerank]=1.4754)
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

if [ "$handover" = auto ]; then
  handover=$(gpusparc probe handover --runs 1000 | tee probe.txt | sed -n 's/^handover = //p')
  [ -n "$handover" ] || { say "gpusparc probe handover failed"; exit 1; }
  say "handover: $handover"
fi
run_options=(--gpus "$gpus")
[ -z "$devices" ] || run_options+=(--devices "$devices")

# ---- what each takes alone ----
for t in $tasks; do
  say "profile of $t $(args "$t")"
  # shellcheck disable=SC2046
  gpusparc profile --task "$t" --runs "$runs" --margin 10 ${devices:+--devices "$devices"} -- \
    "$lib/samples/$t" $(args "$t") --iterations 16 >"$t.profile" 2>"$t.profile.err" || { cat "$t.profile.err" >&2; exit 1; }
  grep -q "^segments.$gpus" "$t.profile" || say "$t isn't split over $gpus GPUs"
done
# A job's median time in microseconds: median_us TASK GPUS
median_us() {
  sed -n "s/^# .* with $2 GPUs\\{0,1\\}: .*median \\([0-9.]*[a-z]*\\).*/\\1/p" "$1.profile" | awk '
    { u = $1; sub(/[0-9.]+/, "", u); sub(/[a-z]+$/, "", $1)
      printf "%d\n", $1 * (u == "s" ? 1e6 : u == "ms" ? 1e3 : u == "us" ? 1 : 1e-3) }'
}
# The period in microseconds, in the paper's proportion to the time on one GPU.
period_us() {
  if [ -n "$periods" ]; then
    awk -v list="$periods" -v i="${place[$1]}" 'BEGIN { split(list, ms, ","); printf "%d\n", ms[i] * 1000 }'
  else
    awk -v t="$(median_us "$1" 1)" -v r="${ratio[$1]}" -v s="$stretch" 'BEGIN { printf "%d\n", t * r * s }'
  fi
}
best_of() {
  local one all
  one=$(median_us "$1" 1) all=$(median_us "$1" "$gpus")
  if [ -n "$all" ] && [ "$all" -lt "$one" ]; then echo "$gpus"; else echo 1; fi
}

longest_ms() { for t in $tasks; do period_us "$t"; done | awk '$1 > most { most = $1 } END { print most / 1000 }'; }

# The longest of the tasks' chunks, in microseconds: longest_chunk KEY
longest_chunk() {
  for t in $tasks; do sed -n "s/^$1 = //p" "$t.profile"; done | awk '
    { u = $1; sub(/[0-9.]+/, "", u); sub(/[a-z]+$/, "", $1)
      us = $1 * (u == "s" ? 1e6 : u == "ms" ? 1e3 : u == "us" ? 1 : 1e-3); if (us > most) most = us }
    END { printf "%d\n", most < 1000 ? 1000 : most + 1 }'
}

write_config() { # MODE
  echo "[system]"
  echo "gpus = $gpus"
  echo "cpus = $(nproc)"
  [ -z "$handover" ] || echo "handover = $handover"
  if [ "$liars" -gt 0 ]; then
    echo "liars = 1"
    for key in gpu_chunk pci_chunk; do echo "$key = ${others:-$(longest_chunk "$key")us}"; done
  fi
  for t in $tasks; do
    echo "[task $t]"
    echo "priority = ${priority[$t]}"
    echo "period = $(period_us "$t")us"
    case $1 in single) echo "mode = 1" ;; local) echo "mode = $(best_of "$t")" ;; *) echo "mode = auto" ;; esac
    grep -E '^(segments|gpu_chunk|pci_chunk)' "$t.profile"
  done
}

if [ "$stretch" = auto ]; then
  for tenths in $(seq 10 80) $(seq 85 5 400) none; do
    [ "$tenths" != none ] || { say "the analysis finds nothing that suffices up to 40 times the paper's periods"; exit 1; }
    stretch=$(awk -v t="$tenths" 'BEGIN { print t / 10 }')
    write_config gema >auto.conf
    gpusparc analyze auto.conf --policy gema >auto.analysis 2>&1 && break
  done
  stretch=$(awk -v s="$stretch" 'BEGIN { print s * 1.2 }')
  say "periods: $stretch times the paper's"
fi

# ---- the three modes ----
echo "mode,task,gpus,job,release_ms,response_ms,deadline_ms,bound_ms,missed,counts" >jobs.csv
# A task's time in a column of the status table, in ms: table_ms TASK COLUMN
table_ms() {
  awk -v t="$1" -v c="$2" '$1 == t && NF > 12 { v = $c + 0; u = $c; sub(/^[0-9.]+/, "", u)
    printf "%.3f\n", v * (u == "s" ? 1e3 : u == "ms" ? 1 : u == "us" ? 1e-3 : 1e-6) }'
}
export GPUSPARC_SOCKET=$PWD/sock
turn=0
for mode in $modes; do
  turn=$((turn + 1))
  lasts=$(echo "$seconds" | awk -F, -v i="$turn" '{ print i <= NF ? $i : $NF }')
  write_config "$mode" >"$mode.conf"
  gpusparc check "$mode.conf" >/dev/null || exit 1
  gpusparc daemon --config "$mode.conf" --socket "$PWD/sock" --trace "$mode.trace" 2>"$mode.log" &
  daemon=$!
  running=("$daemon")
  for _ in $(seq 100); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.1; done
  kill -0 "$daemon" 2>/dev/null || { cat "$mode.log" >&2; exit 1; }
  apps=() lying=()
  for t in $tasks; do
    # shellcheck disable=SC2046
    gpusparc run "${run_options[@]}" --mode multi --task "$t" --pace -- "$lib/samples/$t" $(args "$t") --iterations 1000000 \
      >"$mode.$t.out" 2>&1 &
    apps+=($!)
  done
  running+=("${apps[@]}")
  # All present, and no warm-up under way.
  for ((i = 0; i < 600; i++)); do
    gpusparc status --json 2>/dev/null | awk '
      /"running":/ { if ($2 + 0 == 0) exit 1 } /"warming":/ { n++; if ($2 + 0 > 0) exit 1 } END { exit n != 3 }' && break
    sleep 0.1
  done
  [ "$i" -lt 600 ] || { say "$mode: the tasks don't become warm"; exit 1; }
  for ((i = 0; i < liars; i++)); do
    "$lib/bench/daemon_liar" "$([ $((i % 2)) = 0 ] && echo keeps || echo pretends)" "$gpus" >"$mode.liar$i.out" 2>&1 &
    running+=($!)
    lying+=($!)
  done
  settle=$(longest_ms)
  say "$mode: warm; $lasts s from now on"
  sleep "$(awk -v s="$lasts" -v ms="$settle" 'BEGIN { print s + ms / 1000 }')"
  gpusparc status >"$mode.status"
  gpusparc status --json >"$mode.status.json"
  for i in "${!apps[@]}"; do
    kill -0 "${apps[$i]}" 2>/dev/null || { say "$mode: an application ended before its time: $(tail -1 "$mode.$(echo $tasks | cut -d' ' -f$((i + 1))).out")"; exit 1; }
  done
  for pid in "${lying[@]}"; do kill "$pid" || { say "$mode: a liar ended before its time: $(cat "$mode".liar*.out)"; exit 1; }; done
  kill "${apps[@]}" 2>/dev/null
  wait "${apps[@]}" "${lying[@]}" 2>/dev/null
  kill "$daemon"
  wait "$daemon" 2>/dev/null
  running=()
  tail -1 "$mode.status"
  ! grep -q '"name":"lost"' "$mode.trace" || say "$mode: the trace is not whole, and so jobs.csv may lack jobs: $(grep -o '"events":[0-9]*' "$mode.trace" | tail -1)"
  # Jobs from the daemon's trace, which has a line for each event; times count from when the last task was warm.
  warm=$(awk '/"cat":"warm-up"/ && /"ph":"e"/ { sub(/.*"ts":/, ""); if ($0 + 0 > most) most = $0 + 0 } END { printf "%.3f\n", most }' "$mode.trace")
  for t in $tasks; do
    used=$(sed -n "s/.* GPUs:.*[ ]$t \\([0-9][0-9]*\\).*/\\1/p" "$mode.status")
    bound=$(table_ms "$t" 6 <"$mode.status")
    awk -v mode="$mode" -v task="$t" -v gpus="${used:-?}" -v deadline="$(period_us "$t")" -v bound="${bound:-0}" -v from="$warm" -v settle="$settle" '
      function field(name,   s) { s = $0; if (!sub(".*\"" name "\":", "", s)) return ""; sub(/[,}].*/, "", s); return s }
      /"cat":"job"/ {
        if ($0 !~ "\"name\":\"" task "\"") next
        id = field("id")
        if (/"ph":"b"/) begin[id] = field("ts")
        else if (id in begin) {
          r = field("ts") - begin[id]
          at = (begin[id] - from) / 1e3
          printf "%s,%s,%s,%d,%.3f,%.3f,%.3f,%.3f,%d,%d\n", mode, task, gpus, ++n, at, r / 1e3, deadline / 1e3, bound, (r > deadline + 0), (at >= settle + 0)
        }
      }' "$mode.trace" >>jobs.csv
  done
done

# ---- what came of it ----
awk -F, '
  NR == 1 { next }
  { k = $1 "," $2; if (!(k in seen)) order[++keys] = k
    seen[k]++; gpus[k] = $3; deadline[k] = $7; bound[k] = $8 }
  !$10 { early[k]++; early_missed[k] += $9; next }
  { n[k]++; missed[k] += $9; above[k] += $8 && $6 > $8; sum[k] += $6; if ($6 > most[k]) most[k] = $6 }
  END {
    print "mode,task,gpus,jobs,missed,mean_ms,longest_ms,bound_ms,above_bound,deadline_ms,early_jobs,early_missed"
    for (i = 1; i <= keys; i++) { k = order[i]; printf "%s,%s,%d,%d,%.3f,%.3f,%.3f,%d,%.3f,%d,%d\n", k, gpus[k], n[k], missed[k], n[k] ? sum[k] / n[k] : 0, most[k], bound[k], above[k], deadline[k], early[k], early_missed[k] }
  }' jobs.csv >summary.csv
if command -v column >/dev/null; then column -s, -t summary.csv; else cat summary.csv; fi

"$lib/bench/bench_draw" response.svg jobs.csv || say "response.svg could not be drawn; jobs.csv is there"
early=$(awk -F, '$1 == "gema" { n += $12 } END { print n + 0 }' summary.csv)
[ "$early" -eq 0 ] || say "$early jobs missed their deadlines while others started up"
missed=$(awk -F, '$1 == "gema" { n += $5 } END { print n + 0 }' summary.csv)
[ "$missed" -eq 0 ] || { say "$missed jobs missed their deadlines under gema"; exit 1; }
