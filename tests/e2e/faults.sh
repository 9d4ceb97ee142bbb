#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# faults.sh CASES [KIND...]: lets calls of the driver fail below gpusparc, at up to CASES places per function and program
# (faults.c says how; KIND is once, forever, lost or late): the output is one device's, or the application sees an error;
# never other bytes, a crash or a hang.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
most=$1
shift
bad=0 cases=0 right=0 seen=0

# The output with the driver's error where the program prints one, or the program's own words that a call failed.
says_so() { # CODE STATUS
  if [ "$2" = 1 ]; then grep -q "error" out.txt; else [ "$2" = 0 ] && ! diff alone.txt out.txt | grep '^>' | grep -qv -- ": $1\$"; fi
}

one() { # FAULT PROGRAM ARGUMENTS...
  local rc=0
  FAULT=$1 timeout 30 gpusparc run --mode multi --gpus "$gpus" "$programs/${@:2:1}" "${@:3}" >out.txt 2>err.txt || rc=$?
  cases=$((cases + 1))
  if [ $rc = 0 ] && cmp -s alone.txt out.txt; then
    right=$((right + 1))
  elif says_so "$code" $rc; then
    seen=$((seen + 1))
  else
    echo "$2 (transfers: ${GPUSPARC_TRANSFER:-auto}), FAULT=$1: exits with $rc"
    tail -2 err.txt
    bad=$((bad + 1))
  fi
}

sweep() { # KIND CODE GPUS PROGRAM ARGUMENTS...
  local kind=$1 name count k
  code=$2 gpus=$3
  shift 3
  "$programs/$1" "${@:2}" >alone.txt
  FAULT_COUNTS=$PWD/counts.txt gpusparc run --mode multi --gpus "$gpus" "$programs/$1" "${@:2}" >out.txt
  cmp alone.txt out.txt || fail "$* without a fault"
  while read -r name count; do
    case $name in
      clRelease* | clRetain* | clGet*) continue ;;
      clEnqueue*) ;;
      *) [ "$kind" != late ] || continue ;;
    esac
    for ((k = 1 + RANDOM % (count / most + 1); k <= count; k += count / most + 1)); do
      one "$name:$k:$code:$kind" "$@"
    done
  done <counts.txt
}

RANDOM=${SEED:-7}
export OPENCL_LAYERS=$programs/faults.so
for kind in "${@:-once}"; do
  GPUSPARC_TRANSFER=plain sweep "$kind" -4 2 queues
  GPUSPARC_TRANSFER=pinned sweep "$kind" -5 2 transfers
  sweep "$kind" -6 3 queues
  GPUSPARC_TRANSFER=pinned sweep "$kind" -4 2 images
done
[ $bad = 0 ] || fail "$bad of $cases cases (SEED=${SEED:-7})"
echo "$cases cases: $right right in spite of it, $seen errors that the application sees"
