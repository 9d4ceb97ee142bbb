#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A visit to a machine with GPUs: what is asked of them, in parts that each have a time limit, and one short table last.
#   calls     what calls take beside the driver's own, and a job alone under a daemon beside none
#   daemon    rows of short launches alone under a daemon, launches over two GPUs, and what an urgent job waits for others
#   table_v   samples of Table V, plain and by default on two GPUs, and by an earlier build
#   pooled    --memory pooled within one card, beyond one, and with the host behind all of them
#   exits     processes that end in the middle of everything (tests/e2e/programs/exit_during_compile.c): how many don't end well
#   right     programs of tests/e2e, plain and in four ways: which of them print something else
#   contexts  two threads, and eight contexts: time, and the processors' time, beside plain's
#   first     whole processes, a program's first to third, with gpusparc's number of connections to GPUs and the driver's
# Figures are of one run and are not judged. Results are: what isn't as plain stands in the table as WRONG, and the exit
# status is 1. All is found beside the `gpusparc` on the PATH: of a build, or of what docs/bench.md makes of one.
# usage: bench/gpu_visit.sh [NAME[:SECONDS]...]     all of them take up to 16 minutes
#   GPUSPARC_DEVICES=cpu:2  parts of a CPU, and tiny sizes (gpu)   EARLIER=FOLDER  an earlier build, or what was made of it
#   SAMPLES, PROGRAMS=NAMES of samples/, of tests/e2e: these only  OUT=FOLDER      gets the table, and what each part says
#   RUNS=N  of each way to end (50)                                TURNS=N         where ways take turns (3)
set -uo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
command -v gpusparc >/dev/null || { echo "$(basename "$0"): gpusparc is not on the PATH" >&2; exit 1; }
here=$(dirname "$(readlink -f "$0")")
build=${GS_BUILD:-$(dirname "$(dirname "$(readlink -f "$(command -v gpusparc)")")")}
samples=$build/lib/gpusparc/samples measuring=$build/lib/gpusparc/bench job=$build/bench/daemon_app
export programs=$build/tests/e2e GPUSPARC_DEVICES=${GPUSPARC_DEVICES:-gpu}
runs=${RUNS:-50} times=${TURNS:-3} earlier=${EARLIER:-} small=$([ "$GPUSPARC_DEVICES" = gpu ] || echo 1)
[ -x "$earlier/bin/gpusparc" ] || earlier=
declare -A limit=([calls]=50 [daemon]=110 [table_v]=110 [pooled]=240 [exits]=120 [right]=200 [contexts]=60 [first]=110)
declare -A by=([plain]="" [one]="gpusparc run --gpus 1" [two]="gpusparc run --gpus 2" [earlier]="env XDG_CACHE_HOME=${work:-}/earlier $earlier/bin/gpusparc run --gpus 2"
  [auto]="gpusparc run" [driver]="gpusparc run env -u CUDA_DEVICE_MAX_CONNECTIONS -u CUDA_DEVICE_MAX_COPY_CONNECTIONS"
  [none]="gpusparc run --gpus 1 --mode multi --no-daemon" [under]="gpusparc run --gpus 1 --mode multi"
  [task]="gpusparc run --gpus 1 --mode multi --task one" [pooled]="gpusparc run --gpus 1 --memory pooled"
  [none2]="gpusparc run --gpus 2 --mode multi --no-daemon" [under2]="gpusparc run --gpus 2 --mode multi")

size() { cut -d/ -f$((small ? 2 : 1)) <<<"$1"; } # LARGE/SMALL: what suits the devices
left() { ((SECONDS + $1 < seconds)) || { row "$2" "no time"; return 1; }; }
row() { echo "| $part | $1 | $2 | ${3:-} |" >>"$work/rows"; } # WHAT FIGURES [WHAT IS ASKED]
wrong() { row "**WRONG** ${1//$build\//}" "$(head -c 160 "${2:-/dev/null}" | tr '\n|' '  ')"; } # WHAT [FILE]
of() { awk -v a="$2" -v b="${3:-1}" "BEGIN { if (b > 0) printf \"%$1f\", ${4:-a / b}; else printf \"-\" }"; } # FORMAT A [B [OF BOTH]]
more() { of +.1 "$1" "$2" '(a / b - 1) * 100'; }        # per cent
middle() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }'; }
mean() { awk '$1 > 0 { s += log($1); n++ } END { if (n) printf "%.3f", exp(s / n); else printf "-" }'; } # geometric
within() { timeout --foreground -k 2 "$@" </dev/null; }  # in this process group, which the part's limit ends

# turns N "WAY..." COMMAND...: the command in these ways, in turn; the median of what it says of ${key:-total_ms} in each.
# What a sample computes is compared.
turns() {
  local n=$1 ways=$2 i w bytes
  shift 2
  rm -f "$work"/way.*
  for ((i = 0; i < n; i++)); do
    for w in $ways; do
      bytes=()
      [[ $i = 0 && $1 = "$samples"/* ]] && bytes=(--output "$work/way.$w.bytes")
      # shellcheck disable=SC2086
      within 100 ${by[$w]} "$@" "${bytes[@]}" >"$work/out" 2>"$work/err" || { wrong "$w: $*" "$work/err"; break 2; }
      cat "$work/out" >>"$work/way.$w"
    done
  done
  for w in $ways; do
    [ ! -e "$work/way.$w.bytes" ] || cmp -s "$work/way.$w.bytes" "$work/way.${ways%% *}.bytes" || wrong "$w: $*: other bytes"
  done
  said "${key:-total_ms}" "$ways"
}
said() { # KEY "WAY...": the medians of what the last turns have said of it
  local w
  for w in $2; do
    sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p; s/^\([0-9]*\) [0-9]*$/\1/p" "$work/way.$w" 2>/dev/null | middle
  done | paste -sd' '
}
# arguments SAMPLE: small ones, or those of Table V on two H200, of which a plain iteration takes some 50 ms.
arguments() {
  python3 - "$1" "$samples/MANIFEST" "$here/results/table_v-h200x2/summary-cdb1bbe.csv" "$small" <<'P'
import csv, math, sys
name, manifest, results, small = sys.argv[1:]
tiny, sizes = next(l.split("|")[2:4] for l in open(manifest) if l.split("|")[0].strip() == name)
if small:
    sys.exit(print(tiny.strip()))
scale = next(float(r["scale"]) for r in csv.DictReader(open(results)) if r["sample"] == name)
for option, default, root, multiple in (s.split(":") for s in sizes.split()):
    n = int(default) * scale ** (1 / int(root))
    print("--" + option, 2 ** round(math.log2(n)) if multiple == "p2" else max(1, round(n / int(multiple))) * int(multiple))
P
}
begin_daemon() { # [LINES of its config]
  export GPUSPARC_SOCKET=$work/sock
  printf '[system]\ngpus = %d\nrealtime = no\n%b\n[task one]\nperiod = 10s\nmode = 1\n' "$cards" "${1:-}" >"$work/conf"
  gpusparc daemon --config "$work/conf" 2>"$work/daemon" &
  daemon=$!
  trap 'kill $low $daemon 2>/dev/null' EXIT
  for _ in $(seq 100); do gpusparc status --json >/dev/null 2>&1 && return; sleep 0.1; done
  wrong "the daemon doesn't come" "$work/daemon"
}

part_calls() {
  local gpus name plain more none under task
  for gpus in 1 "$cards"; do
    GPUSPARC_MODE=$([ "$gpus" = 1 ] && echo single || echo auto) GPUSPARC_GPUS=$gpus within 60 "$measuring/bench_calls" \
      --samples "$(size 3000/20)" --against "$build/lib/gpusparc/libgpusparc.so" >"$work/calls" 2>"$work/err" || wrong bench_calls "$work/err"
    while IFS=$'\t' read -r name plain _ _ _ more; do
      case $name in
        clEnqueueNDRangeKernel | 'clEnqueueReadBuffer (4 bytes, blocking)' | clEnqueueMapBuffer* | clEnqueueUnmapMemObject)
          row "$name, of $gpus GPU" "$(of +.2 "$more" 1000) us to $(of .2 "$plain" 1000)" "0.5 us" ;;
      esac
    done <"$work/calls"
  done
  begin_daemon
  for groups in "$(size '4224 13000/8 2000')" "$(size '33792 13000/8 2000')"; do
    # shellcheck disable=SC2086
    read -r none under task < <(turns "$times" "none under task" "$job" "$(size 600/10)" $groups)
    row "a job of $(of .0 "$none" 1000) us alone under a daemon; as a task" "$(more "$under" "$none") %; $(more "$task" "$none") %" "3 %"
  done
}

part_daemon() {
  local s none under task own wait most launches
  begin_daemon
  for s in ${SAMPLES:-floydwarshall bitonicsort radixsort prefixsum scanlargearrays}; do
    # shellcheck disable=SC2046
    read -r none under task < <(turns 2 "none under task" "$samples/$s" ${small:+$(arguments "$s")} --no-check --times --iterations "$(size 1000/2)")
    row "$s, short launches alone under a daemon; as a task" "$(more "$under" "$none") %; $(more "$task" "$none") % ($none ms)"
  done
  for s in "filter --width 8192 --height 8192/filter --width 150 --height 90" "matmul --size 4096/matmul --size 96" "knn --size 32768/knn --size 300"; do
    # shellcheck disable=SC2046
    set -- $(size "$s")
    [[ " ${SAMPLES:-$1} " = *" $1 "* ]] || continue
    read -r none under < <(turns 2 "none2 under2" "$samples/$1" "${@:2}" --no-check --times --iterations "$(size 20/2)")
    row "$1, over two GPUs alone under a daemon" "$(more "$under" "$none") % ($none ms)"
  done
  # shellcheck disable=SC2086
  own=$(within 30 ${by[task]} "$job" "$(size 200/5)" 4 40000 | cut -d' ' -f1)
  for s in "$(size '33792 40000 1/64 40000 1')" "$(size '33792 13000 1/16 2000 1')" "$(size '4224 10 256/4 10 256')"; do
    left 12 "urgent jobs" || break
    read -r groups depth launches <<<"$s"
    # shellcheck disable=SC2086
    exec ${by[under]} "$job" 1000000 "$groups" "$depth" - "$launches" >/dev/null 2>&1 &
    low=$!
    sleep "$(size 2/0.5)"
    # shellcheck disable=SC2086
    read -r wait most < <(within 30 ${by[task]} "$job" "$(size 400/5)" 4 40000 2>"$work/err") || wrong "urgent: $s" "$work/err"
    row "an urgent job's wait beside $launches x $groups groups" "$(of .0 "$wait" 1000 "(a - $own) / b") us, p99 $(of .0 "$most" 1000 "(a - $own) / b") (alone $(of .0 "$own" 1000))" "two chunks, a hand-over"
    kill $low
    wait $low 2>/dev/null
    [ -z "$small" ] || break
  done
}

part_table_v() {
  local name plain two before
  for name in ${SAMPLES:-matmul knn binomial filter pagerank quasirandom aes histogram vectoradd floydwarshall fdtd3d}; do
    left 14 "$name, and what follows" || break
    # shellcheck disable=SC2046
    read -r plain two before < <(turns 2 "plain two${earlier:+ earlier}" "$samples/$name" $(arguments "$name") --no-check --times --iterations 10)
    row "$name" "$(of .2 "$plain" "$two") ($plain, $two ms)${earlier:+; the earlier build took $(of .3 "$before" "$two") of that}" "0.98 of it"
    echo "$(of .4 "$plain" "$two") $(of .4 "${before:-0}" "$two")" >>"$work/gains"
  done
  row "geometric mean" "$(mean <"$work/gains")${earlier:+; earlier build $(cut -d' ' -f2 "$work/gains" | mean)}" "0.98 of it"
}

part_pooled() {
  local kind plain auto pooled gb n ms steps room
  for kind in $(size "stencil vectors vectoradd matmul/stencil matmul"); do
    set -- "$measuring/bench_large" $kind "$(size 16384/8)" "$(size 20/2)"
    # shellcheck disable=SC2046
    [ -x "$samples/$kind" ] && set -- "$samples/$kind" $(arguments $kind) --no-check --times --iterations 5
    read -r plain auto pooled < <(turns "$times" "plain one pooled" "$@")
    row "$kind within a card, default; pooled" "$(more "$auto" "$plain") %; $(more "$pooled" "$plain") % of plain's time ($plain ms)" "1 %"
  done
  gpusparc devices --measure --json >"$work/devices" 2>"$work/err" || wrong "devices --measure" "$work/err"
  room=$(size 8192/16)
  for kind in $(size "stencil vectors/stencil"); do
    [ -z "$small" ] || card=$room
    plain=$(key=gb_per_s turns 1 plain "$measuring/bench_large" $kind $((card * 45 / 100)) $(size 20/2))
    for n in 2 4; do
      [ "$n" -le "$cards" ] || continue
      left 40 "$kind beyond $n cards" || break
      [ -z "$small" ] || export OPENCL_LAYERS=$programs/small_memory.so SMALL_MEMORY_DEVICES=$n SMALL_MEMORY_BYTES=$((room << 20))
      by[beyond]="gpusparc run --gpus $n --memory pooled"
      gb=$(key=gb_per_s turns 1 beyond "$measuring/bench_large" $kind $((card * 9 / 5)) $(size 20/2))
      row "$kind of 1.8 cards on $n" "$(of .2 "$gb" "$plain" "a / b / $n") of plain's speed for each card (${gb%.*} and ${plain%.*} GB/s)" 0.8
      # Cards that say they have little: to pin what real ones spill takes minutes.
      export OPENCL_LAYERS=$programs/small_memory.so SMALL_MEMORY_DEVICES=$n SMALL_MEMORY_BYTES=$((room << 20))
      for steps in 2 8; do
        by[beyond]="gpusparc run --gpus $n --memory pooled+host:$((n * room))MiB --stats=$work/$steps.json"
        ms=$(turns 1 beyond "$measuring/bench_large" $kind $((n * room * 3 / 2)) $steps waits)
      done
      unset OPENCL_LAYERS
      row "$kind of 1.5 times $n cards, each $room MiB, the host behind" "$(python3 - "$work" "$ms" "$n" <<'P'
import json, sys
work, ms, n = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
moved = [sum(json.load(open(f"{work}/{s}.json"))["memory"][k] for k in ("brought", "evicted")) for s in (2, 8)]
link = sum(l["gb_per_s"] for l in json.load(open(work + "/devices"))["links"]["links"]
           if l["from"] == "host" and l["path"] == "pinned" and l["to"] < n)
gb = (moved[1] - moved[0]) / 6e6 / ms
print(f"{gb / link:.2f} of the links ({ms:.1f} ms a step, {gb:.0f} GB/s; one way they carry {link:.0f})")
P
      )" 0.7
    done
  done
}

# leave WAY HOW[+]: a process that ends so, + beside another preloaded library; a line: how it went.
leave() {
  local dir rc=0 run=env before=
  dir=$(mktemp -d -p "$work")
  [ "$1" = plain ] || run="gpusparc run"
  [[ $2 != *+ ]] || before=$programs/slow_destructor.so
  # shellcheck disable=SC2016,SC2086
  XDG_CACHE_HOME=$dir timeout --foreground -s KILL 60 $run bash -c 'export LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD}; exec "$@"' "$before" \
    "$programs/exit_during_compile" "${2%+}" "$depth" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
  [ $rc = 7 ] && [ "$(cat "$dir/out")" = "${2%+}" ] && [ ! -s "$dir/err" ] && rc=well
  echo "$1 $2 $rc $(head -c 100 "$dir/err" | tr '\n' ' ')"
  rm -rf "$dir"
}
part_exits() {
  local how way ways
  ways=$(size "busy busy_exit busy__exit busy_thread busy+/busy busy+")
  depth=$(size 40000000/1000)
  export depth && export -f leave
  for _ in $(seq "$runs"); do for how in $ways; do printf '%s\n' "plain $how" "auto $how"; done; done |
    xargs -P "$at_once" -L 1 bash -c 'leave "$@"' - >"$work/exits"
  for how in $ways; do
    row "$how, don't end well" "$(for way in plain auto; do
      echo "$way $(grep -F "$way $how " "$work/exits" | grep -vc " well *$") of $(grep -cF "$way $how " "$work/exits")"
    done | paste -sd,)" 0
  done
}

# prints WAY PROGRAM...: what it prints in that way, and its status.
prints() {
  # shellcheck disable=SC2046
  timeout --foreground -k 2 40 $(sed -n "s/^$1 //p" "$work/ways") "$programs/$2" "${@:3}" 2>/dev/null </dev/null
  echo "status $?"
}
right() { # PROGRAM...: a line: same, left out, refused in some ways, or WRONG in some
  local way is=same file
  file=$work/right.$(tr ' ' . <<<"$*")
  prints plain "$@" >"$file"
  prints plain "$@" | cmp -s "$file" || { echo "$*: left out: plain differs from itself"; return; }
  grep -q '^status 0$' "$file" || { echo "$*: left out: plain $(tail -1 "$file")"; return; }
  for way in auto multi under pooled; do
    prints $way "$@" >"$file.$way"
    cmp -s "$file" "$file.$way" && continue
    # That a command isn't to be had in pooled memory is said by an error (docs/memory.md).
    # So are bad calls, where the driver takes some, and images of buffers; read_beyond_map reads behind its map.
    [[ $way = pooled && $1 =~ ^(read_beyond_map|refused_launch|stand_ins|sub_buffer_flags|transfers)$ ]] && continue
    # Profiles of parts may overlap, and a map's wrong wait list has another error (docs/limits.md).
    [[ $way =~ ^(multi|under)$ && $1 =~ ^(profiling|refused_launch)$ ]] && continue
    [ $way = pooled ] && tail -n 2 "$file.$way" | grep -qE ': error -(4|59|61)$' && { [ "$is" != same ] || is=refused; continue; }
    [[ $is = WRONG* ]] || is=WRONG
    is+=" $way: $(diff "$file" "$file.$way" | sed -n '/^[<>]/p' | head -2 | cut -c1-40)"
  done
  echo "$*: $is" | paste -sd' '
}
part_right() {
  begin_daemon "kernel_chunk = 4\ntransfer_chunk = 64KiB" # smaller ones take minutes where processes share GPUs
  cat >"$work/ways" <<'W'
auto gpusparc run --no-daemon
multi gpusparc run --no-daemon --mode multi
under gpusparc run --mode multi
pooled gpusparc run --no-daemon --memory pooled
W
  export -f prints right
  if [ -n "${PROGRAMS:-}" ]; then
    printf '%s\n' $PROGRAMS
  else
    find "$programs" -maxdepth 1 -type f -executable ! -name '*.so' ! -name read_behind_user_event ! -name read_before_waiting_launch ! -name lock_counter ! -name callbacks_in_time -printf '%f
' | sort
    printf '%s\n' "pooled 16384 "{stencil,matrices,gathers,reduction,windows,invalidates} "stress 7 300 4" "crowd 7 60 3"
  fi | xargs -P "$at_once" -L 1 bash -c 'right "$@"' - | tee "$work/rights"
  row "programs with plain's output in all four ways" "$(grep -c ': same$' "$work/rights") (left out $(grep -c ': left out' "$work/rights"), refused pooled memory $(grep -c ': refused$' "$work/rights"))" all
}

part_contexts() {
  local plain ours cpu more
  for what in "2 1" "1 8"; do
    # shellcheck disable=SC2086
    set -- "$measuring/bench_contexts" $what $(size '1000 20000/25 2')
    read -r plain ours < <(turns "$times" "plain one" "$@")
    read -r cpu more < <(said cpu_ms "plain one")
    row "${what% *} threads in ${what#* } contexts" "time $(more "$ours" "$plain") % ($plain ms), processors' $(more "$more" "$cpu") % ($cpu ms)"
  done
}

# lasts FILE COMMAND...: appends the milliseconds of a whole process.
lasts() {
  local to=$1 begin=${EPOCHREALTIME/[.,]/}
  shift
  within 60 "$@" >"$work/out" 2>"$work/err" || wrong "$*" "$work/err"
  echo $(((${EPOCHREALTIME/[.,]/} - begin + 500) / 1000)) >>"$to"
}
part_first() {
  local name way n
  for name in ${SAMPLES:-$(sed -n 's/^\([a-z0-9]*\) *|.*/\1/p' "$samples/MANIFEST")}; do
    left 25 "$name, and what follows" || break
    set -- "$samples/$name" --no-check
    # shellcheck disable=SC2046
    [ -z "$small" ] || set -- "$@" $(arguments "$name")
    for way in auto driver; do
      XDG_CACHE_HOME=$(mktemp -d -p "$work") && export XDG_CACHE_HOME CUDA_CACHE_PATH=$XDG_CACHE_HOME/nv
      rm -f "$work/plain" "$work/ours"
      within 60 "$@" --output "$work/bytes" >/dev/null # the driver compiles
      for n in 1 2 3; do
        lasts "$work/plain" "$@"
        # shellcheck disable=SC2086
        lasts "$work/ours" ${by[$way]} "$@"
      done
      # shellcheck disable=SC2086
      within 60 ${by[$way]} "$@" --output "$work/ours.bytes" >/dev/null 2>"$work/err"
      cmp -s "$work/bytes" "$work/ours.bytes" || wrong "$way: $name: other bytes" "$work/err"
      paste -d' ' "$work/plain" "$work/ours" | awk -v n="$name" '{ printf "%d %.3f %s\n", NR, $1 / $2, n }' >>"$work/first.$way"
    done
  done
  for way in auto driver; do
    row "plain's time over ours, first; second; third process, connections of $([ $way = auto ] && echo gpusparc || echo "the driver")" "$(for n in 1 2 3; do
      echo "$(sed -n "s/^$n //p" "$work/first.$way" | mean) (least $(sed -n "s/^$n //p" "$work/first.$way" | sort -n | head -1))"
    done | paste -sd';') of $(grep -c ^1 "$work/first.$way")" "0.97 at first"
  done
}

if [ "${1:-}" = part ]; then # from below, in a process group that its limit ends
  part=$2 seconds=$3 low= daemon=
  "part_$part" >>"$work/log" 2>&1
  [ -z "$daemon" ] || kill -0 "$daemon" || wrong "the daemon has ended" "$work/daemon"
  exit 0
fi
# What `exits` and `right` have found, also where their time has ended.
wrongs() {
  local line
  grep -s ': WRONG' "$work/rights" | sort | while read -r line; do wrong "${line%%:*}" <(echo "${line#*: WRONG }"); done
  grep -s ^auto "$work/exits" | grep -v ' well *$' | sort | uniq -c | sort -rn >"$work/ends"
  [ ! -s "$work/ends" ] || wrong exits "$work/ends"
  rm -f "$work/rights" "$work/exits"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work XDG_CACHE_HOME=$work/cache at_once=$((small ? 2 : ($(nproc) + 8) / 4))
mkdir "$XDG_CACHE_HOME"
read -r cards card name < <(gpusparc devices --json | python3 -c 'import json, sys
d = json.load(sys.stdin)["group"]["devices"]
print(len(d), d[0]["memory_bytes"] >> 20, d[0]["name"])') || exit 1
export cards card
echo "$cards x $name of $card MiB, $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg), $(gpusparc --version), commit $(git -C "$here" rev-parse --short HEAD 2>/dev/null)"
[ $# -gt 0 ] || set -- calls daemon table_v pooled exits right contexts first
for part; do
  seconds=${part#*:} part=${part%%:*} begin=$SECONDS rc=0
  [ "$seconds" != "$part" ] || seconds=${limit[$part]:?there is no such part: $part}
  echo "## $part" >>"$work/log"
  timeout -k 9 $((seconds + 5)) "$0" part "$part" "$seconds" || rc=$?
  [ $rc = 0 ] || wrong "ends with status $rc after $((SECONDS - begin)) s"
  wrongs
  echo "$part: $((SECONDS - begin)) s"
done
printf '| part | | | asked |\n| --- | --- | --- | ---: |\n' | cat - "$work/rows" >"$work/table"
[ -z "${OUT:-}" ] || cp "$work/log" "$work/table" "$OUT"
cat "$work/table"
! grep -q 'WRONG' "$work/rows"
