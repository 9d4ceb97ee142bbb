#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# faults.sh CASES KIND...: lets calls of the driver fail below gpusparc. The output is one device's, or the application sees
# an error; never other bytes, a crash or a hang. KIND is
#   plain, pinned    chosen calls, while bytes go on that path: most programs are spared
#   daemon, chunks   chosen calls under a daemon: a launch's units, each unit of a transfer
#   once, forever, lost, gone, late   at up to CASES places per function and program (faults.c says how); some: once, few programs
# $SEED chooses the places.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
most=$1
shift
bad=0 cases=0 right=0 seen=0

alone() { plain alone.txt "$programs/$1" "${@:2}"; } # PROGRAM ARGUMENTS...

# The output with the driver's error where the program prints one, or the program's own words that a call failed.
says_so() { # CODE STATUS
  local other
  if [ "$2" = 1 ]; then
    grep -q "error" out.txt
  else
    other=$(diff alone.txt out.txt | grep '^>' | grep -cv -- ": $1\$" || true)
    [ "$2" = 0 ] && [ "$other" = 0 ]
  fi
}

one() { # FAULT PROGRAM ARGUMENTS...
  local rc=0
  FAULT=$1 timeout "$(left)" gpusparc run --mode "${mode:-multi}" --gpus "$gpus" "$programs/${@:2:1}" "${@:3}" >out.txt 2>err.txt || rc=$?
  cases=$((cases + 1))
  if [ $rc = 0 ] && cmp -s alone.txt out.txt; then
    right=$((right + 1))
  elif says_so "$code" $rc; then
    seen=$((seen + 1))
  else
    echo "$2 (transfers: ${GPUSPARC_TRANSFER:-auto}), FAULT=$1: exits with $rc"
    diff alone.txt out.txt | head -4 || true
    tail -2 err.txt
    bad=$((bad + 1))
  fi
}

sweep() { # KIND CODE GPUS PROGRAM ARGUMENTS...
  local kind=$1 name count k
  code=$2 gpus=$3
  shift 3
  alone "$@"
  FAULT_COUNTS=$PWD/counts.txt gpusparc run --mode multi --gpus "$gpus" "$programs/$1" "${@:2}" >out.txt
  cmp alone.txt out.txt || fail "$* without a fault"
  while read -r name count; do
    case $name in
      clRelease* | clRetain* | clGet*) continue ;;
      # Of a driver that never takes the end of a user event nothing can be had.
      clSetUserEventStatus) [ "$kind" = once ] || continue ;;
      clEnqueue*) ;;
      *) [[ $kind != late && $kind != gone ]] || continue ;;
    esac
    for ((k = 1 + RANDOM % (count / most + 1); k <= count; k += count / most + 1)); do
      one "$name:$k:$code:$kind" "$@"
    done
  done <counts.txt
}

# Whichever copy it is: what a thread of ours couldn't enqueue it tries once more, and what has run by then isn't done
# twice.
each_copy() { # CODE GPUS PROGRAM ARGUMENTS...
  local k
  code=$1 gpus=$2
  shift 2
  alone "$@"
  GPUSPARC_TRANSFER=plain FAULT_COUNTS=$PWD/counts.txt gpusparc run --mode multi --gpus "$gpus" "$programs/$1" "${@:2}" >out.txt
  for ((k = 1; k <= $(sed -n 's/^clEnqueueCopyBuffer //p' counts.txt); k++)); do
    GPUSPARC_TRANSFER=plain one "clEnqueueCopyBuffer:$k:$code:once" "$@"
  done
}

# In spite of the fault the output is one device's.
spared() { # FAULT PROGRAM ARGUMENTS...
  local wrong=$((bad + seen))
  code=${1#*:*:} gpus=2
  code=${code%%:*}
  alone "${@:2}"
  one "$@"
  [ $((bad + seen)) = $wrong ] || { diff alone.txt out.txt | head -4; fail "$2 isn't spared by FAULT=$1"; }
}

# There is no memory from one of the last LAST buffers on: the application's own are there by then.
scarce() { # KIND GPUS LAST PROGRAM
  local k count wrong=$((bad + seen))
  code=-4 gpus=$2
  alone "$4"
  FAULT_COUNTS=$PWD/counts.txt gpusparc run --mode multi --gpus "$gpus" "$programs/$4" >out.txt
  count=$(sed -n 's/^clCreateBuffer //p' counts.txt)
  for ((k = count - $3 + 1; k <= count; k++)); do one "clCreateBuffer:$k:-4:$1" "$4"; done
  [ $((bad + seen)) = $wrong ] || fail "$4 isn't spared by a lack of memory ($1, $gpus devices)"
}

# A part that fails while it runs, and an application that doesn't look at its events: what the launch wrote is an error
# until it is written anew.
failed_output() { # PART, in the order in which they are enqueued
  alone failed_output
  sed -i '1s/error 0/error -5/' alone.txt
  FAULT=clEnqueueNDRangeKernel:$1:-9999:late gpusparc run --mode multi --gpus 2 "$programs/failed_output" >out.txt
  cmp alone.txt out.txt || { cat out.txt; fail "part $1 fails, $GPUSPARC_TRANSFER"; }
}

# A read that comes while it runs (on a busy machine, after) fails with it, and isn't tried in another way.
spoiled_soon() { # PART
  alone failed_output
  sed -i '1s/error 0/error -14/' alone.txt
  GPUSPARC_DEBUG=1 FAULT=clEnqueueNDRangeKernel:$1:-9999:late gpusparc run --mode multi --gpus 2 "$programs/failed_output" soon >out.txt 2>err.txt
  cmp alone.txt <(sed '1s/error -5/error -14/' out.txt) || { cat out.txt; fail "part $1 fails while its bytes are read, $GPUSPARC_TRANSFER"; }
  ! grep "through the pinned ring failed" err.txt || fail "a read is tried again that came behind a failure"
}

# So does a unit of a part that a thread of ours has enqueued, whose end the driver calls back about. The launch ends when
# all its parts have: what is written anew isn't overwritten by the other one.
spoiled_by_unit() { # UNIT, in the order in which they are enqueued
  alone failed_output
  sed -i '1s/error 0/error -5/' alone.txt
  FAULT=clEnqueueNDRangeKernel:$1:-9999:late gpusparc run --mode multi --gpus 2 "$programs/failed_output" >out.txt
  cmp alone.txt out.txt || { cat out.txt; fail "unit $1 fails"; }
}

# A launch that takes long fails while one of its parts has yet to enqueue units: in another way than by a unit's own end,
# which waits for the other part's. What is written and launched as soon as it has failed comes after those all the same.
spoiled_early() { # UNIT, in the order in which they are enqueued
  FAULT=clEnqueueNDRangeKernel:$1:-9999:late timeout "$(left)" gpusparc run --mode multi --gpus 2 "$programs/failed_output" slow >out.txt ||
    fail "spoiled slow exits with $?"
  grep -q "written: error 0, 0 words wrong" out.txt || { cat out.txt; fail "unit $1 fails, and the launch before its other units have ended"; }
}

# Who waits for a launch, a part of which fails, waits for the others.
spoiled_waits() { # PART
  FAULT=clEnqueueNDRangeKernel:$1:-9999:late timeout "$(left)" gpusparc run --mode multi --gpus 2 "$programs/failed_output" waits >out.txt
  { echo "the launch: error -14, status -14"; echo waited; echo "added to what was written: error 0, 0 words wrong"; } >alone.txt
  cmp alone.txt out.txt || { cat out.txt; fail "part $1 fails, and is waited for"; }
}

# A command all of whose units are had at once ends by a marker: whichever fails, it fails, and can be done over.
each_unit() { # FUNCTION PROGRAM
  local count k
  FAULT_COUNTS=$PWD/counts.txt gpusparc run --mode multi --gpus 2 "$programs/$2" >out.txt
  count=$(sed -n "s/^$1 //p" counts.txt)
  [ "$count" -ge 3 ] || fail "$2 has a $1 in one unit"
  for ((k = 1; k <= count; k++)); do spared "$1:$k:-9999:late" "$2"; done
}

# What a launch's later units use isn't let go before they are had.
later_units() {
  local kept
  kept=$(samplers)
  alone released_samplers $kept
  rm -f report
  OPENCL_LAYERS=$programs/lazy.so:$OPENCL_LAYERS LAZY=poison LAZY_REPORT=$PWD/report GPUSPARC_TRANSFER=plain \
    gpusparc run --mode multi --gpus 2 "$programs/released_samplers" $kept >out.txt
  cmp alone.txt out.txt || fail "released_samplers over a driver that overwrites what is let go"
  [ ! -e report ] || { sort report | uniq -c; fail "released_samplers uses what it has let go"; }
}

# All that is chosen for one path of the bytes.
on_path() { # PATH
  local lack k
  export GPUSPARC_TRANSFER=$1
  spared clCreateBuffer:3:-4:forever transfers                # the application's own are there by then: no replica
  spared clCreateBuffer:4:-4:forever transfers                # one replica
  for lack in forever hollow; do
    spared clCreateBuffer:4:-4:$lack copy_of_parts                   # the copy's other part has no place there
    for k in {4..9}; do spared clCreateBuffer:$k:-4:$lack retries; done
  done
  spared clEnqueueNDRangeKernel:1:-9999:gone transfers        # the second device is lost before it has done anything
  spared clCreateKernel:2:-6:once callbacks                   # the first split is tried in a callback of the driver's
  # Nor is there any for putting together what the parts have written.
  scarce forever 2 4 chunks
  scarce hollow 2 4 chunks
  [ "$1" = plain ] || scarce forever 3 7 chunks
  # There are no more queues: auto mode can't measure a launch, and no call can carry a transfer.
  mode=auto spared clCreateCommandQueue:2:-6:forever transfers
  failed_output 1
  failed_output 2
  spoiled_soon 1
  spoiled_soon 2
  spoiled_waits 3
  spoiled_waits 4
  # Half of an exchange is on its way when the rest is refused: what comes later waits for it, and isn't overwritten.
  [ "$1" = plain ] || spared clEnqueueReadBuffer:16:-5:once exchange 64 busy
  unset GPUSPARC_TRANSFER
}

# Under a daemon a launch's units follow from a thread of ours, and the application has its event by then.
under_daemon() {
  local k was=$bad spared=$right
  own_daemon kernel_chunk=4 </dev/null
  begin_daemon
  # Which call is the k-th differs from run to run: of a launch's first unit, in its call, the application is told.
  alone columns 2 300 200
  code=-5 gpus=2
  for k in 13 16 19 22 25; do GPUSPARC_TRANSFER=pinned one clEnqueueNDRangeKernel:$k:-5:once columns 2 300 200; done
  [ $bad = $was ] && [ $right -gt $spared ] || fail "units that are refused once: $((right - spared)) of 5 spared, $((bad - was)) wrong"
  later_units
  # Where a launch's chunks can't have what they take it goes as one unit.
  GPUSPARC_TRANSFER=plain spared clCreateKernel:4:-6:forever columns 2 300 200
  # Nor does anybody wait for ever for a gate, or an end, whose event the driver has refused to end once.
  for k in 2 7 13 26; do GPUSPARC_TRANSFER=pinned spared clSetUserEventStatus:$k:-5:once columns 2 300 200; done
  # A marker that has failed isn't let go of before all that it waits for has ended: PoCL (3.1) crashed in one run of eight.
  for k in {1..4} {1..4} {1..4}; do GPUSPARC_TRANSFER=plain spoiled_by_unit $k; done
  for k in 11 11 11 11; do GPUSPARC_TRANSFER=pinned spoiled_early $k; done
  end_daemon
  rm -rf "$dir"
  export GPUSPARC_SOCKET=$dir/none
}

# Transfers are cut into units of the daemon's, launches are one unit each.
in_chunks() {
  own_daemon kernel_chunk=1000000 transfer_chunk=32768 </dev/null
  begin_daemon
  GPUSPARC_TRANSFER=plain each_unit clEnqueueWriteBuffer retries
  GPUSPARC_TRANSFER=plain each_unit clEnqueueReadBuffer retries
  # A launch that has no memory for the gate of its unit isn't enqueued without one: the application is told, and goes on.
  printf '%s\n' "waits: error -6" "next: error 0" "sum 10" >alone.txt
  FAULT=clCreateUserEvent:2:-6:once timeout "$(left)" gpusparc run --gpus 1 "$programs/behind_user_event" >out.txt || fail "ungated"
  cmp alone.txt out.txt || { cat out.txt; fail "a launch that has no memory for its gate"; }
  # Where one of them is refused the command fails when the others have ended.
  FAULT=clEnqueueReadBuffer:2:-5:forever OPENCL_LAYERS=$programs/as_gpu.so:$OPENCL_LAYERS GPUSPARC_TRANSFER=plain \
    timeout "$(left)" gpusparc run --devices cpu:2 --gpus 1 "$programs/refused_read" >out.txt || { cat out.txt; fail "refused_read"; }
  end_daemon
  rm -rf "$dir"
  export GPUSPARC_SOCKET=$dir/none
}

# Only an application that looks at its events can see these. This one tries again: then all must come right.
sweep_late() {
  local told=$seen # of refused units
  GPUSPARC_TRANSFER=plain sweep late -5 2 retries
  GPUSPARC_TRANSFER=pinned sweep late -5 3 retries
  [ $seen = $told ] || fail "$((seen - told)) commands that failed while they ran could not be done over"
}

sweep_some() {
  GPUSPARC_TRANSFER=plain sweep once -4 2 queues
  GPUSPARC_TRANSFER=pinned sweep once -5 2 transfers
  GPUSPARC_TRANSFER=pinned sweep once -4 2 images
}

sweep_all() { # KIND
  GPUSPARC_TRANSFER=plain sweep "$1" -4 2 queues
  GPUSPARC_TRANSFER=pinned sweep "$1" -5 2 transfers
  sweep "$1" -6 3 queues
  # A call that waits for a carried transfer returns its error, and the commands behind it go on.
  GPUSPARC_TRANSFER=pinned sweep "$1" -4 2 failing_transfers
  # A carried transfer that nobody waits for lets the commands behind it fail, and PoCL (3.1) then still works on what it
  # has let go of, its own transfers among them, of which nobody can keep an event; it does so without us.
  GPUSPARC_TRANSFER=$([ "$1" = once ] && echo pinned || echo plain) sweep "$1" -4 2 images
  [ "$1" != once ] || GPUSPARC_TRANSFER=pinned sweep once -4 2 host_pointers
  [ "$1" != once ] || GPUSPARC_TRANSFER=pinned sweep once -6 3 sparse 1100003 900
}

RANDOM=${SEED:-7}
echo "seed ${SEED:-7}"
export OPENCL_LAYERS=$programs/faults.so
for kind; do
  case $kind in
  plain | pinned) on_path "$kind" ;;
  daemon) under_daemon ;;
  chunks) in_chunks ;;
  late | some) "sweep_$kind" ;;
  *) sweep_all "$kind" ;;
  esac
done
[ $bad = 0 ] || fail "$bad of $cases cases (SEED=${SEED:-7})"
echo "$cases cases: $right right in spite of it, $seen errors that the application sees"
