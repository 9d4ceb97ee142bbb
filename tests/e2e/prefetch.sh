#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recurs from launch to launch is brought behind a launch's parts for the next one, so that an application that
# waits for each launch has nothing enqueued between its wait and the next parts (programs/halos.c, over the layer that
# writes down what comes after what). What doesn't recur is fetched by the launch that needs it. The bytes are as plain.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
library=$programs/graph.so

# SEED STEPS [ONE-IN [own]]: in how many of the last eight launches transfers came behind the parts, and before them.
count() {
  rm -f graph.[0-9]*
  "$programs/halos" "$@" >plain.txt
  GRAPH=$PWD/graph OPENCL_LAYERS=$library GPUSPARC_TRANSFER=pinned gpusparc run --mode multi --devices cpu:2 \
    bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$library" "$programs/halos" "$@" >out.txt
  cmp plain.txt out.txt || fail "halos $*: other bytes"
  python3 - graph.[0-9]* <<'END'
import sys

launches = []  # of each what was enqueued for it: K a part, T a transfer
for line in open(sys.argv[1]):
    word = line.split()
    if word[0] == "C":
        launches.append("" if word[3].startswith("Kernel") else None)
    elif word[0] == "c" and launches and launches[-1] is not None:
        launches[-1] += "K" if word[3].startswith("Kernel") else "T" if word[3][:4] in ("Read", "Writ") else ""
last = [l for l in launches if l is not None][-8:]
print(sum("KT" in l for l in last), sum("TK" in l for l in last))
END
}
# One grid and another in turn; in place; both: each launch, or each second one, brings what comes next.
for seed in 4 2 1; do
  read -r behind before < <(count $seed 30)
  [ "$before" = 0 ] && [ "$behind" -ge 4 ] ||
    fail "seed $seed: of 8 launches $behind have transfers behind their parts, $before before them"
done
# Its own memory the application may free once it has waited and let the buffers go: nothing is under way by then.
read -r behind before < <(count 1 30 0 own)
[ "$behind" = 0 ] && [ "$before" -ge 4 ] ||
  fail "its own memory: of 8 launches $behind have transfers behind their parts, $before before them"
# Something else comes between all of them.
read -r behind before < <(count 3 30 1)
[ "$behind" -le 4 ] || fail "of 8 launches that aren't alike $behind have transfers behind their parts"
echo "what recurs comes ahead"
