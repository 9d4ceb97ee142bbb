#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Drivers of every version that lack functions (partial.c): what a version doesn't promise is never called, and where
# anything that gpusparc itself calls is null, or an optional function fails, the application sees the plain run.
#   partial.sh             each function in turn, for the versions 1.2 and 3.0, with one program
#   partial.sh --all       for all versions, programs and kinds of devices
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
icd=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}/pocl.icd
[ -f $icd ] || { echo "left out: PoCL isn't installed"; exit 77; }
export OCL_ICD_VENDORS=$programs/partial.so GPUSPARC_MODE=multi PARTIAL_DRIVER
PARTIAL_DRIVER=$(cat $icd)
export POCL_DEVICES=pthread # where devices are GPUs, two of them
vectoradd=$GS_BUILD/lib/gpusparc/samples/vectoradd
cases=0

# The program plainly, and under gpusparc, over the same driver: pair NAME PROGRAM ARGS...
pair() {
  local name=$1
  shift
  timeout "$(left)" "$@" >plain.txt 2>plain.err || fail "$name: the plain run: $(cat plain.err)"
  under "$name" "$@"
}
under() {
  local name=$1
  shift
  rm -f stats.json
  GPUSPARC_STATS=stats.json timeout "$(left)" gpusparc run "$@" >under.txt 2>under.err || fail "$name: exit status $?: $(cat under.err)"
  cmp plain.txt under.txt || fail "$name: another output than the plain run"
  cases=$((cases + 1))
}
split() { grep -Eq '"split": [1-9]' stats.json; }
# What each calls: called plain.log under.log
called() {
  PARTIAL_LOG=plain.log "${program[@]}" >plain.txt 2>plain.err || return 1
  PARTIAL_LOG=under.log gpusparc run "${program[@]}" >under.txt 2>&1 || fail "$PARTIAL_VERSION: $(cat under.txt)"
  sort plain.log >plain.sorted
  extra=$(sort under.log | comm -13 plain.sorted -)
}
# These are optional, or needn't succeed; the others are null where a driver hasn't got them.
optional="clCreateSubDevices clGetDeviceAndHostTimer clSetMemObjectDestructorCallback"

# None of them is called by the plain run, which so is the same each time.
each_function() {
  local f
  called || fail "$PARTIAL_VERSION: ${program[*]}: the plain run: $(cat plain.err)"
  for f in $extra; do
    PARTIAL=$words,null:$f under "$(basename "${program[0]}"), OpenCL $PARTIAL_VERSION, $words, without $f" "${program[@]}"
  done
  for f in $optional; do
    if grep -qx "$f" <<<"$extra"; then
      PARTIAL=$words,error:$f under "$(basename "${program[0]}"), OpenCL $PARTIAL_VERSION, $words, where $f fails" "${program[@]}"
    fi
  done
}

words=parts program=("$vectoradd" --size 65536)
for PARTIAL_VERSION in 1.1 1.2 2.0 2.1 3.0; do
  export PARTIAL_VERSION
  PARTIAL=hang:newer pair "OpenCL $PARTIAL_VERSION" "${program[@]}"
  if [ $PARTIAL_VERSION = 1.1 ]; then
    grep -q "has OpenCL 1.1; gpusparc needs 1.2 or newer" under.err || fail "1.1: not said: $(cat under.err)"
    shows under.err "%s has OpenCL %u.%u; gpusparc needs 1.2 or newer"
  else
    split || fail "$PARTIAL_VERSION: not split"
  fi
  PARTIAL=hang:newer,whole,hang:clCreateSubDevices pair "$PARTIAL_VERSION, one device" "${program[@]}"
  [ $PARTIAL_VERSION = 1.1 ] || shows under.err "the CPU device can't be divided"
  POCL_DEVICES="pthread pthread" PARTIAL=hang:newer,gpus,hang:clCreateSubDevices pair "$PARTIAL_VERSION, two GPUs" "${program[@]}"
  [ $PARTIAL_VERSION = 1.1 ] || split || fail "$PARTIAL_VERSION, two GPUs: not split"
done
for PARTIAL_VERSION in 1.2 3.0; do each_function; done
PARTIAL=null:clEnqueueFillBuffer pair "a function that is needed" "${program[@]}"
shows under.err "%s has no %s, which gpusparc needs"
# Where the application itself needs what is newer, or has events, waits and transfers of all kinds.
if [ "${1:-}" = --all ]; then
  for program in queues transfers callbacks user_events sub_buffers images profiling; do
    program=("$programs/$program")
    for PARTIAL_VERSION in 1.2 2.0 2.1 3.0; do
      words=parts
      each_function
      export POCL_DEVICES="pthread pthread" words=gpus
      PARTIAL=gpus each_function
      POCL_DEVICES=pthread
    done
  done
fi
echo "$cases cases"
