#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ranges.sh SEED COUNT [MOST]: replicas that are ranges of large buffers, on devices that say they have little memory (small_memory.c).
# Programs (programs/ranges.c) have the plain run's bytes, and hold no more than they need; COUNT random ones, from SEED on, have
# them by the driver's copies, by pinned memory and by windows, and no driver refuses a transfer (refusals.c). Where each allocation
# fails once, and up to MOST copies and reads while they run: the plain run's bytes, or an error; MOST 0: without these.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 count=$2 most=${3:-4}
export SMALL_MEMORY_DEVICES=8 REFUSALS=$PWD/refusals

# Windows between PoCL's devices: a copy of what is installed, whose probe says that there may be some.
rm -rf install fresh refusals
mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
printf '#!/bin/sh\necho ok\n' >install/lib/gpusparc/gpusparc-link-probe

plain() { OPENCL_LAYERS='' POCL_DEVICES=pthread timeout 100 "$programs/ranges" "$@" >plain.txt || fail "without gpusparc: $*"; }
on() { # DEVICES WAY ARGUMENTS...: as the plain run, by all devices
  local n=$1 way=$2 rc=0 layers=$programs/small_memory.so:$programs/refusals.so
  shift 2
  export POCL_DEVICES
  POCL_DEVICES=$(printf 'pthread %.0s' $(seq "$n"))
  if [ "$way" = peer ]; then
    OPENCL_LAYERS=$programs/lazy.so:$layers LAZY=gpu,poison LAZY_REPORT=$PWD/report XDG_CACHE_HOME=$PWD/fresh LD_LIBRARY_PATH=$programs/cuda GPUSPARC_TRANSFER=peer \
      timeout 100 install/bin/gpusparc run --devices gpu --mode multi --stats=stats.json "$programs/ranges" "$@" >out.txt 2>err.txt || rc=$?
  else
    OPENCL_LAYERS=${layer:+$layer:}$layers GPUSPARC_TRANSFER=$way \
      timeout 100 gpusparc run --devices all --mode multi --stats=stats.json "$programs/ranges" "$@" >out.txt 2>err.txt || rc=$?
  fi
  [ $rc = 0 ] || { cat out.txt err.txt; fail "$* on $n devices ($way): exit status $rc"; }
  cmp plain.txt out.txt || { diff plain.txt out.txt | head -4; fail "$* on $n devices ($way)"; }
  [ ! -e refusals ] || { sort refusals | uniq -c; fail "$* on $n devices ($way): transfers that were refused"; }
  [ ! -e report ] || { sort report | uniq -c; fail "$* on $n devices ($way)"; }
}
# All devices together have held from LEAST to MOST per cent of so many bytes, and each launch was split.
held() { # LEAST MOST BYTES
  python3 - "$@" <<'END' || fail "held: $(cat stats.json)"
import json, sys
least, most, of = map(int, sys.argv[1:])
s = json.load(open("stats.json"))
all = 100 * sum(s["memory"]["peak"]) / of
sys.exit(not least <= all <= most or any(k["split"] != k["launches"] for k in s["kernels"]))
END
}

kib=8192
export SMALL_MEMORY_BYTES=$((32 << 20))
plain stencil $kib
on 2 plain stencil $kib && held 145 156 $((kib << 10))
on 4 pinned stencil $kib && held 175 186 $((kib << 10))
# Where devices have unlike memories, the smallest says what is large.
SMALL_MEMORY_FIRST=$((1 << 30)) on 2 plain stencil $kib && held 145 156 $((kib << 10))
on 4 peer stencil $kib && held 175 186 $((kib << 10))
# A program that was translated before it had a large buffer has whole replicas.
plain warm $kib
on 2 plain warm $kib && held 195 202 $((kib << 10))
# What needs more has a whole replica, and then the old one is let go: a driver's memory is poisoned by then, and nothing begins early.
for middle in some count table swap; do
  plain $middle $kib
  on 2 plain $middle $kib && held 175 204 $((kib << 10))
done
plain swap 3072
for modes in unflushed,lanes,poison slow,late,poison; do
  LAZY=$modes LAZY_SEED=46 LAZY_STUCK_MS=60000 LAZY_REPORT=$PWD/report layer=$programs/lazy.so on 3 pinned swap 3072
done
# A program without a large buffer knows nothing of it.
plain swap 256
on 2 plain swap 256
! grep -q '"memory"' stats.json || fail "small buffers: $(grep '"memory"' stats.json)"

export SMALL_MEMORY_BYTES=$((4 << 20))
for ((s = seed; s < seed + count; s++)); do
  plain "$s" 70
  on 2 plain "$s" 70
  on 4 pinned "$s" 70
  on $((2 + s % 3)) peer "$s" 70
  grep -q '"peer"' stats.json || fail "seed $s: no bytes went by windows"
done

[ "$most" -gt 0 ] || exit 0
right=0 errors=0
one() { # FAULT
  local rc=0
  FAULT=$1 OPENCL_LAYERS=$programs/small_memory.so:$programs/faults.so GPUSPARC_TRANSFER=plain \
    timeout 100 gpusparc run --devices all --mode multi "$programs/ranges" $case 512 >out.txt 2>err.txt || rc=$?
  if [ $rc = 0 ] && cmp -s plain.txt out.txt; then
    right=$((right + 1))
  else
    [ $rc = 1 ] && grep -q 'error -' out.txt || fail "$1: exit status $rc: $(cat out.txt err.txt)"
    errors=$((errors + 1))
  fi
}
export POCL_DEVICES="pthread pthread"
for case in swap mirrored; do
  plain $case 512
  FAULT_COUNTS=$PWD/counts.txt one clFinish:99:-5:once
  while read -r name n; do
    case $name in
      clCreateBuffer) for ((k = 1; k <= n; k++)); do one $name:$k:-4:once; one $name:$k:-4:hollow; done ;;
      clEnqueueCopyBuffer | clEnqueueReadBuffer | clEnqueueWriteBuffer | clEnqueueNDRangeKernel)
        for ((k = 1; k <= n; k += n / most + 1)); do one $name:$k:-5:late; one $name:$k:-5:once; done ;;
    esac
  done <counts.txt
done
echo "seeds $seed to $((seed + count - 1)): the same; with faults the right bytes $right times, an error $errors times"
