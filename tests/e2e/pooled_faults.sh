#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pooled_faults.sh [MOST]: --memory pooled where each of the driver's allocations fails once (of some programs up to MOST + 9), and
# where some transfers fail while they run: the bytes of the plain run, or an error. With MOST also where there is no memory from then on, as drivers say when it is first used (seconds each: gpusparc is
# patient), and where each other call of the driver's fails once, at up to MOST places.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/pooled_common.sh"
most=${1:-0} right=0 errors=0
layer=$programs/small_memory.so:$programs/faults.so
export SMALL_MEMORY_BYTES=$((200 << 10)) memory=pooled+host:1MiB

one() { # FAULT CASE
  local rc=0
  FAULT=$1 pooled pooled.txt "$programs/pooled" 512 "$2" || rc=$?
  if [ $rc = 0 ]; then
    same "$2, $1"
    right=$((right + 1))
  else
    grep -q 'error -' pooled.txt || fail "$2, $1: exit status $rc: $(cat pooled.txt pooled.err)"
    errors=$((errors + 1))
  fi
}

# A transfer that the driver has no memory for is an error: the device isn't full.
plain plain.txt "$programs/pooled" 512 windows
for k in 1 30 60; do
  ! FAULT=clEnqueueReadBuffer:$k:-4:once pooled pooled.txt "$programs/pooled" 512 windows || fail "read $k is refused, and nobody says so"
  ! grep -q 'error -4' pooled.txt pooled.err || fail "read $k is refused, and the device is full: $(cat pooled.txt pooled.err)"
done

cases="stencil windows images"
[ "$most" = 0 ] || cases+=" uncut"
cases+=" rows"
for case in $cases; do
  [ $case != rows ] || export GPUSPARC_TRANSFER=pinned layer=$layer:$programs/as_gpu.so # by the ring of pinned memory, which may fail, too
  plain plain.txt "$programs/pooled" 512 $case
  FAULT_COUNTS=$PWD/counts.txt pooled pooled.txt "$programs/pooled" 512 $case
  same "$case without a fault"
  while read -r name count; do
    case $name in
      clCreateBuffer | clCreateImage | clCreateCommandQueue)
        step=$([ $case = stencil ] && echo 1 || echo $((count / (most + 9) + 1)))
        for ((k = 1; k <= count; k += step)); do
          one $name:$k:-4:once $case
          [ "$most" = 0 ] || [ $name != clCreateBuffer ] || one $name:$k:-4:hollow $case
        done ;;
      clEnqueueReadBuffer | clEnqueueWriteBuffer | clEnqueueCopyBuffer | clEnqueueReadBufferRect | clEnqueueWriteBufferRect | clEnqueueReadImage | clEnqueueWriteImage)
        for ((k = 1; k <= count; k += count / (most + 3) + 1)); do
          one "$name:$k:-5:late" $case
          [ "$most" = 0 ] || one "$name:$k:-5:once" $case
        done ;;
      clRelease* | clRetain* | clGet* | clSetUserEventStatus) ;;
      *) [ "$most" = 0 ] || for ((k = 1; k <= count; k += count / most + 1)); do one "$name:$k:-5:once" $case; done ;;
    esac
  done <counts.txt
done
echo "the right bytes $right times, an error $errors times"
