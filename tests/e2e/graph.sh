#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# graph.sh [SEED [all | random | daemon]]: programs between a library that writes down what comes after what
# (graph/graph.h), and a look at that (graph/graph.py): no two commands of the driver share bytes, one of them
# writing, and are in no order, unless the application itself leaves them so. And the same bytes as without gpusparc.
# random: a random program, and one whose transfers fetch from under a writer; daemon: a few under a daemon, where
# threads of gpusparc's enqueue the launches; all: those of this folder and the samples.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=${1:-1} runs=0 bad=0
library=$programs/graph.so layers=$library
samples=$GS_BUILD/lib/gpusparc/samples
limit=$((200 * ($(nice) + 1))) # seconds: beside others `sparse` took more than 200 at nice 19

# WAY OPTIONS PROGRAM...: one run, and what is wrong with it.
one() {
  local way=$1 rc=0
  local options=($2)
  shift 2
  rm -f graph.[0-9]*
  GRAPH=$PWD/graph OPENCL_LAYERS=$layers GPUSPARC_TRANSFER=$way timeout -s KILL $limit gpusparc run --mode multi "${options[@]}" \
    bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$library" "$@" >out.txt 2>err.txt || rc=$?
  runs=$((runs + 1))
  [ $rc = 0 ] && cmp -s plain.txt out.txt || {
    echo "$* ($way, ${options[*]}): exits with $rc$(cmp -s plain.txt out.txt || echo ', other output')"
    head -3 err.txt
    bad=$((bad + 1))
  }
  python3 "$GS_SOURCE/tests/e2e/graph/graph.py" graph.[0-9]* >found.txt || {
    echo "$* ($way, ${options[*]}):"
    head -20 found.txt
    bad=$((bad + 1))
  }
}
ways=("plain --devices cpu:2" "pinned --devices cpu:3")
over() { # PROGRAM...
  local way
  "$@" >plain.txt || fail "$* without gpusparc"
  for way in "${ways[@]}"; do one "${way%% *}" "${way#* }" "$@"; done
}

# The layer and the look at it find what they are made for: two writes of the same bytes in two queues, in some order or
# in none. Without the application's calls nothing excuses them.
writes() { # ORDER
  rm -f racing.*
  GRAPH=$PWD/racing OPENCL_LAYERS=$library LD_PRELOAD=$library "$programs/unordered" "$1" >/dev/null
  grep -hv '^[A-Z]' racing.[0-9]* >racing.below
  python3 "$GS_SOURCE/tests/e2e/graph/graph.py" racing.below >found.txt
}
# What the look at a log makes of it, line by line: of what gpusparc adds for one command a read and a write that nothing
# orders are a fault, also where the same bytes are written; and what fails does nothing.
found() { # FAULTS LINE...
  local expected=$1 n
  shift
  printf '%s\n' "$@" >made.1
  python3 "$GS_SOURCE/tests/e2e/graph/graph.py" made.1 >found.txt || true
  n=$(grep -c '^not in order' found.txt || true)
  [ "$n" = "$expected" ] || { cat found.txt; fail "$n faults, not $expected, in: $*"; }
}
the_look() {
  ! writes none || { cat found.txt; fail "two writes without order aren't found"; }
  grep -q "written by 2, WriteBuffer" found.txt || { cat found.txt; fail "not for that reason"; }
  for order in list wait callback; do
    writes $order || { cat found.txt; fail "two writes in order by a $order are called unordered"; }
  done

  python3 "$GS_SOURCE/tests/e2e/graph/mutant.py" >found.txt 2>&1 || { cat found.txt; fail "a rule can't be taken out any more"; }
  launch="C 1 0 Kernel=k |"
  found 1 "$launch" "c 2 1 ReadBuffer | r5:0:64" "c 3 1 WriteBuffer | s5:0:32 w5:32:32"
  found 1 "$launch" "c 2 1 ReadBuffer | r5:0:64" "c 3 1 WriteBuffer | s5:0:64"
  found 0 "$launch" "c 2 1 ReadBuffer | r5:0:64" "c 3 1 WriteBuffer 2 | w5:0:64"
  found 1 "$launch" "c 2 1 WriteBuffer | s5:0:64" "c 3 1 ReadBuffer | r5:0:64"
  found 1 "$launch" "c 2 1 ReadBuffer | r5:0:64" "c 3 1 Kernel=k | w5:8:8"
  found 0 "$launch" "c 2 1 ReadBuffer | r5:0:64" "c 3 1 Kernel=k | w5:8:8" "g 2 3"
  found 1 "$launch" "c 2 1 ReadBuffer | r5:0:64" "C 3 0 Kernel=k +1 |" "c 4 3 WriteBuffer | s5:0:64"
  found 1 "u 1" "c 2 0 WriteBuffer 1 | w5:0:64" "c 3 0 ReadBuffer | r5:0:64" "s 1"
  found 0 "u 1" "c 2 0 WriteBuffer 1 | w5:0:64" "c 3 0 ReadBuffer | r5:0:64" "s 1 failed"
  found 1 "u 1" "c 2 0 Marker 1 |" "c 3 0 WriteBuffer +2 | w5:0:64" "c 4 0 ReadBuffer | r5:0:64" "s 1 failed"
}

finish() {
  [ $bad = 0 ] || fail "$bad of $runs runs (seed $seed)"
  echo "$runs runs in order (seed $seed)"
  exit 0
}

# SEED STEPS KERNELS: the commands of a random host program (programs/random_host_programs.c) around random kernels, in `random`.
random_host() {
  rm -rf kernels
  python3 "$GS_SOURCE/tests/access/generate.py" $(($1 * 4)) 2 kernels
  python3 "$GS_SOURCE/tests/access/oracle/free.py" $(($1 * 200)) "$3" kernels "$GS_BUILD"
  random=("$programs/random_host_programs" "$1" "$2" kernels/*.cl)
}

part=${2:-programs}
if [ $part = programs ] || [ $part = all ]; then
  the_look
  over "$GS_BUILD/tests/unordered_commands" 1
  over "$programs/user_events"
  over "$programs/events_beside_writes"
  over "$programs/gathered_ranges"
  # What launches will need is brought before they are called, and the application does this and that in between.
  for steps in "$seed 20" "$((seed + 1)) 30 3" "$((seed + 2)) 30 3" "$((seed + 3)) 30 3"; do
    # shellcheck disable=SC2086
    over "$programs/halos" $steps
    over "$programs/interior" $steps # what no step writes parts own nevertheless
  done
  # Everything is brought home while a call that blocks reads there, without the context's lock.
  layers=$library:$programs/call_hooks.so
  over "$programs/small_read_during_launch"
  layers=$library
fi
if [ $part = random ] || [ $part = all ]; then
  random_host $((seed + 410)) 60 2
  over "${random[@]}"
  # Its parts write in turns: a transfer takes along what its source's part writes meanwhile, and that is spoiled.
  ways=("pinned --devices cpu:3")
  over "$samples/fastwalsh" --size 4096 --group 64
  grep -q '^g ' graph.[0-9]* || fail "nothing was fetched from under a writer: the layer's spoiling wasn't tried"
  ways=("plain --devices cpu:2" "${ways[@]}")
fi
[ $part = daemon ] || [ $part = all ] || finish

# Under a daemon, where threads of gpusparc's enqueue the launches.
own_daemon transfer_chunk=64KiB <<'END'
[task both]
period = 200ms
mode = multi
END
begin_daemon
alone_ways=("${ways[@]}")
ways=("plain --devices cpu:2 --gpus 2 --task both")
over "$programs/user_events"
over "$programs/transfers"
if [ $part = all ]; then
  ways+=("auto --devices cpu:2 --gpus 2 --task both")
  for program in queues transfers images sub_buffers "columns 3 300 200" "stress $seed 100 3" threads ../unordered_commands\ 2; do
    # shellcheck disable=SC2086
    over "$programs/"$program
  done
  end_daemon
  ways=("${alone_ways[@]}")
  export GPUSPARC_SOCKET=$dir/none
  for ((s = seed; s < seed + 10; s++)); do
    random_host "$s" 150 4
    over "${random[@]}"
  done
  for program in queues threads_on_halves threads callbacks sub_buffers transfers staging images aliases unordered_launch_and_write bands reductions sparse created_with_contents \
    geometry chunks object_creation release_orders refused_kernels copy_of_parts contend\ 5\ 120\ 3; do
    # shellcheck disable=SC2086
    over "$programs/"$program
  done
  while IFS='|' read -r name _ arguments _; do
    # shellcheck disable=SC2086
    over "$samples/"${name% } $arguments
  done < <(grep -v '^#' "$samples/MANIFEST")
  for ((s = seed; s < seed + 10; s++)); do over "$programs/stress" "$s" 250 4; done
fi
finish
