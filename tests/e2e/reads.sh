#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reads.sh: a large read of what two devices hold takes from both at once, a piece here and a piece there (in_flight.c
# counts); a large write goes to those who want it; and the bytes are right.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"

# 16 MiB in 16 pieces, of which 8 are on their way: 4 from each device where each has a half.
pieces() { # HOW LEAST-TOGETHER PIECES-OF-FIRST PIECES-OF-SECOND
  "$programs/reads" "$1" >alone.txt
  rm -f counts.txt
  IN_FLIGHT=$PWD/counts.txt OPENCL_LAYERS=$programs/in_flight.so GPUSPARC_TRANSFER=pinned \
    gpusparc run --mode multi --devices cpu:2 "$programs/reads" "$1" >out.txt
  cmp alone.txt out.txt || { diff alone.txt out.txt; fail "$1"; }
  read -r _ _ _ together _ all0 all1 _ <counts.txt
  [ "$together" -ge "$2" ] || fail "$1: only $together at a time from each"
  [ "$all0 $all1" = "$3 $4" ] || fail "$1: $all0 pieces from the first, $all1 from the second"
}
pieces halves 4 8 8
pieces quarter 2 12 4

# What each device reads of a buffer that is written again and again goes there from the second time on: only the first
# time, and over the edges, do bytes go from one to the other.
shares() { # HOW MOST-BYTES-BETWEEN [OPTION...]
  "$programs/writes" "$1" >alone.txt
  for n in 2 3; do
    rm -f counts.txt
    IN_FLIGHT=$PWD/counts.txt OPENCL_LAYERS=$programs/in_flight.so GPUSPARC_TRANSFER=pinned \
      gpusparc run --mode multi --devices cpu:$n "${@:3}" --stats="$PWD/stats.json" "$programs/writes" "$1" >out.txt
    cmp alone.txt out.txt || { diff alone.txt out.txt; fail "$* on $n"; }
    between=$(sed -n 's/.*"pinned": {"bytes": \([0-9]*\).*/\1/p' stats.json)
    [ "$between" -le "$2" ] || fail "$* on $n: $between bytes between the devices"
  done
  read -r _ _ _ _ _ _ _ _ _ writes _ <counts.txt
  [ "$writes" -ge 15 ] || fail "$*: only $writes pieces written to the second device"
}
shares steady $((12 << 20))
shares mixed $((64 << 20))
# Calls that don't block carry them too where the queue has nothing to do, which depends on the machine: the bytes are
# right either way.
"$programs/writes" beside >alone.txt
GPUSPARC_TRANSFER=pinned gpusparc run --mode multi --devices cpu:2 "$programs/writes" beside >out.txt
cmp alone.txt out.txt || { diff alone.txt out.txt; fail beside; }
# And by the units of a daemon, as a task and as none; but to no device that the task isn't given.
own_daemon <<'END'
[system]
gpus = 3
realtime = no
[task all]
period = 10s
mode = multi
[task one]
period = 10s
mode = 1
END
begin_daemon
shares steady $((12 << 20)) --task all
shares mixed $((64 << 20))
"$programs/writes" mixed >alone.txt
IN_FLIGHT=$PWD/counts.txt OPENCL_LAYERS=$programs/in_flight.so GPUSPARC_TRANSFER=pinned \
  gpusparc run --mode multi --devices cpu:2 --task one "$programs/writes" mixed >out.txt
cmp alone.txt out.txt || { diff alone.txt out.txt; fail "mixed as task one"; }
