#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# large_reads.sh: a large read of what two devices hold takes from both at once, a piece here and a piece there (in_flight.c
# counts); a large write goes to the devices that want the bytes; and the bytes are right.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"

# 16 MiB in 16 pieces, of which 8 are on their way: 4 from each device where each has a half.
pieces() { # HOW LEAST-TOGETHER PIECES-OF-FIRST PIECES-OF-SECOND
  "$programs/large_reads" "$1" >alone.txt
  rm -f counts.txt
  IN_FLIGHT=$PWD/counts.txt OPENCL_LAYERS=$programs/in_flight.so GPUSPARC_TRANSFER=pinned \
    gpusparc run --mode multi --devices cpu:2 "$programs/large_reads" "$1" >out.txt
  cmp alone.txt out.txt || { diff alone.txt out.txt; fail "$1"; }
  read -r _ _ _ together _ all0 all1 _ <counts.txt
  [ "$together" -ge "$2" ] || fail "$1: only $together at a time from each"
  [ "$all0 $all1" = "$3 $4" ] || fail "$1: $all0 pieces from the first, $all1 from the second"
}
pieces halves 4 8 8
pieces quarter 2 12 4

# A large buffer that the host writes again and again, of which each device reads its own part, and its neighbours' edges:
# the bytes, by calls that block and calls that don't (whether these carry it depends on the machine). What goes from one
# device to another: each other device's part once, what launches change in between, and edges.
same() { # HOW MOST-BYTES-BETWEEN [OPTION...]
  "$programs/large_writes" "$1" >alone.txt
  for n in 2 3; do
    GPUSPARC_TRANSFER=pinned gpusparc run --mode multi --devices cpu:$n "${@:3}" --stats="$PWD/stats.json" \
      "$programs/large_writes" "$1" >out.txt
    cmp alone.txt out.txt || { diff alone.txt out.txt; fail "$* on $n"; }
    between=$(sed -n 's/.*"pinned": {"bytes": \([0-9]*\).*/\1/p' stats.json)
    [ "$between" -le "$2" ] || fail "$* on $n: $between bytes between the devices"
  done
}
none=$((1 << 40))
same steady $((12 << 20))
same mixed $((64 << 20))
same beside $none
# A piece that the driver refuses once, on its way to either device: all bytes go to the first device after all, or, if
# they went there alone, the call returns the error.
"$programs/large_writes" steady >alone.txt
for piece in 18 25 40 60; do
  rc=0
  FAULT=clEnqueueWriteBuffer:$piece:-5 OPENCL_LAYERS=$programs/faults.so GPUSPARC_TRANSFER=pinned \
    timeout -k 2 60 gpusparc run --mode multi --devices cpu:2 "$programs/large_writes" steady >out.txt 2>&1 || rc=$?
  [ $rc = 1 ] && grep -q ' error -5$' out.txt && continue
  [ $rc = 0 ] && cmp alone.txt out.txt || { diff alone.txt out.txt; fail "piece $piece refused: $rc"; }
done
# And by the units of a daemon, as a task of all GPUs and of one.
own_daemon gpus=3 <<'END'
[task all]
period = 10s
mode = multi
[task one]
period = 10s
mode = 1
END
begin_daemon
same steady $((12 << 20)) --task all
same mixed $((64 << 20)) --task all
same mixed $none --task one
