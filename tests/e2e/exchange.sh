#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Devices that exchange what they hold get it at the same time, through windows and through pinned memory: what each of
# them gets doesn't wait for what another gets (programs/exchange.c, over a layer that follows what waits for what,
# longest_chain.c). And what several get from one place through pinned memory is read there once, also what the host
# has written again.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"

# Windows between PoCL's devices: a copy of what is installed, whose probe says that there may be some.
install=$PWD/install
rm -rf install fresh
mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
printf '#!/bin/sh\necho ok\n' >install/lib/gpusparc/gpusparc-link-probe

# The lines of clFinish: behind write, take, put, take, write, take.
check() { # WAY DEVICES KIB OF A PIECE, SENT BY reads|copies
  python3 - "$@" $mib chains.txt <<'END2' || fail "$1 with $2 devices: $(cat chains.txt)"
import sys
way, n, piece, sent, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) << 10, sys.argv[4], int(sys.argv[5]) << 20
lines = [list(map(int, line.split())) for line in open(sys.argv[6])]
lines = [l for l in lines if l[1] + l[2] + l[3] > 100000]  # longest chain, bytes read, written, copied
if len(lines) != 5:
    sys.exit(f"{len(lines)} steps moved bytes")
write, spread, exchange, again = lines[:4]
# A device gets what the others hold; before its first piece comes that has to leave its place.
got = size * (n - 1) // n
small = 64 << 10
if exchange[0] > got + min(piece, size // n) + small:
    sys.exit(f"{way}, {n} devices: an exchange in which each gets {got} bytes has a chain of {exchange[0]}")
if spread[0] > size + piece + small:
    sys.exit(f"{way}, {n} devices: what all get from one place, {size} bytes, has a chain of {spread[0]}")
left = spread[1] if sent == "reads" else spread[3] - (n - 1) * size
if not size <= left <= size + small:
    sys.exit(f"{way}, {n} devices: {left} bytes have left the place that holds {size}")
if not size <= again[2] <= size + small or again[0] > size + small:
    sys.exit(f"{way}, {n} devices: {size} bytes that the host writes again are written as {again[2]}, chain {again[0]}")
END2
}
run() { # COMMAND...
  rm -f chains.txt
  "$programs/exchange" $mib >plain.txt
  LONGEST_CHAIN=$PWD/chains.txt timeout "$(left)" "$@" >out.txt 2>err.txt || { cat err.txt; fail "$*"; }
  cmp plain.txt out.txt || fail "$* computes something else"
}
mib=12
for n in 2 3 8; do
  OPENCL_LAYERS=$programs/longest_chain.so GPUSPARC_TRANSFER=pinned \
    run gpusparc run --devices cpu:$n --mode multi "$programs/exchange" $mib
  check pinned $n 4096 reads
done

for run in "2 80 32" "3 12 32" "8 40 32"; do
  read -r n mib piece <<<"$run"
  OPENCL_LAYERS=$programs/longest_chain.so:$programs/lazy.so LAZY=gpu POCL_DEVICES="$(printf 'pthread %.0s' $(seq $n))" \
    XDG_CACHE_HOME=$PWD/fresh LD_LIBRARY_PATH=$programs/cuda GPUSPARC_TRANSFER=peer \
    run install/bin/gpusparc run --devices gpu --gpus $n --mode multi "$programs/exchange" $mib
  check windows $n $((piece << 10)) copies
done

# Pieces of one buffer from one place to another go together: fewer commands than pieces, where each took two.
for run in "3 1024 64" "2 251 64" "3 33 1000" "2 100 3"; do
  read -r n plane planes <<<"$run"
  rm -f trace.json stats.json
  "$programs/planes" "$plane" "$planes" >plain.txt
  OPENCL_LAYERS=$programs/lazy.so LAZY=gpu,lanes,poison POCL_DEVICES="$(printf 'pthread %.0s' $(seq "$n"))" \
    XDG_CACHE_HOME=$PWD/fresh LD_LIBRARY_PATH=$programs/cuda GPUSPARC_TRANSFER=peer timeout "$(left)" \
    install/bin/gpusparc run --devices gpu --gpus "$n" --mode multi --stats=stats.json --trace "$PWD/trace.json" \
    "$programs/planes" "$plane" "$planes" >out.txt 2>err.txt || { cat err.txt; fail "planes $run"; }
  cmp plain.txt out.txt || fail "planes $run computes something else"
  python3 - <<'END2' || fail "planes $run: $(cat stats.json)"
import json
pieces = json.load(open("stats.json"))["bytes"]["peer"]["transfers"]
commands = sum(e.get("cat") == "peer" for e in json.load(open("trace.json")))
if not 0 < commands < pieces:
    raise SystemExit(f"{pieces} pieces take {commands} commands")
END2
done
