#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lazy.sh [SEED [PROGRAM...]]: programs over a driver that is as lazy as it may be (lazy/lazy.h says how), plain and under
# gpusparc: the same bytes, an end, and no fault reported. In the place of programs: `calls`, a handful by themselves;
# `daemon`, some under a daemon; `ends`, devices with memories of their own, and processes that end; `all`: those of this
# folder and the samples.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=${1:-1}
shift || true
layer=(env OPENCL_LAYERS="$programs/lazy.so" LAZY_REPORT="$PWD/report" LAZY_SEED="$seed" LAZY_STUCK_MS=60000)
bad=0 runs=0

# The layer finds what it is made for, and is quiet where nothing is wrong.
finds() { # MODES FAULT WORDS
  local pid n=0
  rm -f report
  LAZY=$1 "${layer[@]}" LAZY_STUCK_MS=500 "$programs/faulty" "$2" >out.txt 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null && [ ! -s report ] && [ $((n += 1)) -lt 600 ]; do sleep 0.05; done
  [ -s report ] || [ $n -ge 600 ] || wait $pid || true
  kill -KILL $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  if [ -n "$3" ]; then
    grep -q "$3" report || { cat out.txt; fail "the layer ($1) doesn't say '$3' of $2"; }
  else
    [ ! -e report ] || fail "the layer ($1) says of $2: $(cat report)"
    grep -q done out.txt || fail "$2 doesn't end over the layer ($1)"
  fi
}
layer_finds() {
  finds "" unflushed ""
  finds unflushed unflushed "has not been flushed"
  finds unflushed late ""
  finds unflushed,lanes late "is behind, in its device's lane"
  finds late callback "clFinish is called within a callback"
  POCL_DEVICES="pthread pthread" finds gpu,poison shared "on another device"
  finds poison released "argument 0 is a memory object that has been released"
  finds poison windows "a sub-buffer is let go before a newer one"
  finds unflushed,lanes,slow,late,poison,lock "nothing at all" ""
}

one() { # MODES NAME COMMAND...
  local modes=$1 name=$2 rc=0
  shift 2
  rm -f report
  LAZY=$modes timeout -s KILL "$(left)" "${layer[@]}" "$@" >out.txt 2>err.txt </dev/null || rc=$?
  runs=$((runs + 1))
  [ $rc = 0 ] && { [ ! -e plain.txt ] || cmp -s plain.txt out.txt; } && [ ! -e report ] && ! grep -q '^gpusparc' err.txt && return 0
  echo "$name over a driver that is $modes: exits with $rc$(cmp -s plain.txt out.txt || echo ', other output')"
  head -3 report err.txt 2>/dev/null | cut -c1-400 || true
  bad=$((bad + 1))
}

# MODES PROGRAM...: what the program prints over the layer by itself is what it must print under gpusparc.
over() {
  local modes=$1 way
  shift
  rm -f plain.txt
  one "$modes" "$(basename "$1")" "$@"
  mv out.txt plain.txt
  for way in "${ways[@]}"; do
    [ "${way%% *}" = by ] || continue
    set -- "$way" "${@}"
    local words=($1)
    shift
    GPUSPARC_TRANSFER=${words[1]#auto} one "$modes" "$(basename "$1") ($way)" gpusparc run --stats="$PWD/stats.json" \
      --trace "$PWD/trace.json" "${words[@]:2}" "$@"
  done
}

# Windows between GPUs, with a probe that takes a while: a copy of what is installed.
install=$PWD/install
windows() { # MODES PROGRAM...
  local modes=$1
  shift
  rm -f plain.txt
  export POCL_DEVICES="pthread pthread"
  one "gpu,$modes" "$(basename "$1")" "$@"
  mv out.txt plain.txt
  for how in "--mode multi" "--mode auto"; do
    # A fresh cache: the windows are opened while the application runs, and may be when it ends.
    rm -rf fresh
    XDG_CACHE_HOME=$PWD/fresh LD_LIBRARY_PATH=$programs/cuda GPUSPARC_TRANSFER=$(case $how in *multi) echo peer ;; esac) \
      one "gpu,$modes" "$(basename "$1") (windows, $how)" "$install/bin/gpusparc" run --stats="$PWD/stats.json" \
      --devices gpu $how "$@"
  done
  unset POCL_DEVICES
}

# Devices with memories of their own and no windows: no object is used by two of them.
apart() { # DEVICES PROGRAM...
  rm -f plain.txt
  export POCL_DEVICES
  POCL_DEVICES=$(printf 'pthread %.0s' $(seq "$1"))
  shift
  one gpu,poison "$(basename "$1")" "$@"
  mv out.txt plain.txt
  for way in plain pinned auto; do
    GPUSPARC_TRANSFER=$way one gpu,poison "$(basename "$1") (apart, $way)" gpusparc run --stats="$PWD/stats.json" --devices gpu \
      --mode multi "$@"
  done
  unset POCL_DEVICES
}
rm -rf install
mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
probe() { # SCRIPT
  printf '#!/bin/sh\n%s\n' "$1" >install/lib/gpusparc/gpusparc-link-probe
}
probe 'sleep 0.5; echo ok'

# A probe that doesn't end: an application that comes to its end doesn't wait for it for ever.
stuck_probe() {
  probe "touch $PWD/asked; sleep 25; touch $PWD/answered; echo ok"
  rm -rf fresh asked answered
  LAZY=gpu POCL_DEVICES="pthread pthread" XDG_CACHE_HOME=$PWD/fresh LD_LIBRARY_PATH=$programs/cuda \
    timeout -s KILL "$(left)" "${layer[@]}" "$install/bin/gpusparc" run --devices gpu --mode multi "$samples/vectoradd" \
    --size 1000000 >out.txt 2>&1 || fail "vectoradd with a probe that doesn't end: $(cat out.txt)"
  [ -e asked ] || fail "the probe was not asked"
  [ ! -e answered ] || fail "the application's end waited for a probe"
  probe 'sleep 0.5; echo ok'
}

# Under a daemon each command goes in units, behind gates.
by_daemon() { # MODES PROGRAM...
  gpusparc daemon --socket "$PWD/lazy.sock" --gpus 3 >daemon.txt 2>&1 &
  local daemon=$!
  while [ ! -S lazy.sock ]; do sleep 0.02; done
  GPUSPARC_SOCKET=$PWD/lazy.sock over "$@"
  kill $daemon
  wait $daemon || true
}

# The process ends while a compiler is at work, by a thread of ours or in a call of the application's. It doesn't wait for
# the half minute after which it would give up: a busy machine is known by what the plain run takes. Where compiling
# takes that half minute all the same, the compiler may be taken apart.
leaves() { # HOW STATUS OPTIONS...
  local how=$1 want=$2 rc=0 begin=$SECONDS most took
  shift 2
  if [ "$how" = builds ]; then # PoCL itself may crash then, without gpusparc
    "$programs/exit_during_compile" >plain.txt || [ $? = "$want" ] || fail "exit_during_compile gives $? without gpusparc"
    sed -i "1s/.*/$how/" plain.txt
  else
    "$programs/exit_during_compile" "$how" >plain.txt || [ $? = "$want" ] || fail "exit_during_compile $how gives $? without gpusparc"
  fi
  most=$((20 + 10 * (SECONDS - begin))) begin=$SECONDS
  rm -f report
  LAZY=compiler=${compiler_ms:-400} GPUSPARC_TRANSFER=pinned timeout -s KILL 200 "${layer[@]}" gpusparc run --devices cpu:2 "$@" \
    "$programs/exit_during_compile" "$how" >out.txt 2>err.txt || rc=$?
  took=$((SECONDS - begin))
  runs=$((runs + 1))
  [ $rc = "$want" ] && cmp -s plain.txt out.txt && [ ! -s err.txt ] && [ $took -lt $most ] &&
    { [ $took -ge 30 ] || ! grep -qE "${forbidden:-compiling|within cl(Build|Compile|Link)}" report 2>/dev/null; } && return 0
  echo "exit_during_compile $how under $*: exits with $rc after $took s$(cmp -s plain.txt out.txt || echo ', other output')"
  head -3 report err.txt 2>/dev/null | cut -c1-400 || true
  bad=$((bad + 1))
}

samples=$GS_BUILD/lib/gpusparc/samples
ways=("by pinned --mode multi --devices cpu:2" "by plain --mode multi --devices cpu:3" "by auto --devices cpu:2")
case ${1:-calls} in
calls)
  layer_finds
  over unflushed,lanes "$programs/queues"
  over slow,late,poison "$programs/transfers"
  ways=("by pinned --mode multi --devices cpu:2")
  for modes in inside inside,lock lock,late; do over $modes "$programs/callbacks"; done
  over lock,late "$programs/user_events"
  ways+=("by auto --memory pooled --devices cpu:2")
  over poison "$programs/sub_buffers"
  ways=("by pinned --mode multi --devices cpu:2")
  over unflushed,lanes,slow "$samples/dxtcompression" --size 64
  over inside,unflushed "$samples/pagerank" --size 5000 --group 64
  over lock,late,slow "$samples/histogramatomics" --size 100004 --per-group 5000
  over unflushed,lanes,late "$samples/scanlargearrays" --size 10007 --group 16
  ;;
daemon)
  ways=("by plain --mode multi --devices cpu:2")
  by_daemon unflushed,lanes "$programs/staging"
  # shellcheck disable=SC2046
  by_daemon poison "$programs/released_samplers" $(samplers)
  by_daemon inside,unflushed "$programs/events_after_split"
  for orders in renewed nested chained; do by_daemon poison "$programs/overlaps" $orders; done
  by_daemon slow "$programs/overlaps" heard
  ways=("by plain --mode multi --memory pooled --devices cpu:2")
  by_daemon poison "$programs/let_go" parts
  ways=("by pinned --mode multi --devices cpu:2")
  by_daemon slow "$programs/user_events"
  ways=("by pinned --mode auto --forget --devices cpu:2" "by plain --mode multi --devices cpu:2")
  by_daemon inside,lock "$programs/callbacks"
  by_daemon late "$programs/callbacks"
  ;;
ends)
  for program in transfers "stress 9401 60 2 i" sub_buffers; do
    # shellcheck disable=SC2086
    apart 2 "$programs/"$program
  done
  apart 4 "$samples/blackscholes" --size 10007 --groups 5
  apart 4 "$programs/columns" 4 300 200 333 # rows of which the last one's line isn't whole
  windows unflushed,lanes,poison "$programs/transfers"
  windows unflushed,lanes,poison "$programs/columns" 2 300 200
  leaves returns 7 --mode auto --forget
  leaves fails 7 --mode auto --forget
  leaves after 7 --mode auto --forget
  leaves exits 8 --mode multi
  leaves handler 9 --mode multi
  leaves builds 7 --mode multi
  # What waits no longer than some seconds for a driver waits for a launch that has compiled for longer.
  compiler_ms=3500 forbidden=. leaves exits 8 --mode multi
  stuck_probe
  ;;
*)
  [ "$1" != all ] || set -- aliases retries callbacks chunks geometry host_access host_pointers images released_samplers linking queries \
    queues reductions refused_launch release_orders program_sources refused_kernels staging sub_buffers threads transfers device_types user_events \
    profiling bands columns events_after_split created_with_contents races loaded_bounds unwritten bursts contend stress jobs $(cut -d'|' -f1 "$GS_SOURCE/samples/MANIFEST" | grep -v '^#')
  declare -A arguments=([contend]="5 120 3" [stress]="9 150 3" [jobs]="12 4000 100" [loaded_bounds]=repeat [columns]="3 300 200" [released_samplers]="$(samplers)")
  for program in "$@"; do
    command=("$programs/$program" ${arguments[$program]:-})
    [ -x "$programs/$program" ] || read -ra command <<<"$samples/$program $(grep "^$program " "$GS_SOURCE/samples/MANIFEST" | cut -d'|' -f3)"
    for modes in unflushed,lanes,late slow,late,poison inside lock,late,slow; do over "$modes" "${command[@]}"; done
    for modes in unflushed,lanes inside,unflushed; do by_daemon "$modes" "${command[@]}"; done
    windows unflushed,lanes,poison "${command[@]}"
  done
  ;;
esac
[ $bad = 0 ] || fail "$bad of $runs runs (seed $seed)"
echo "$runs runs over a lazy driver (seed $seed)"
