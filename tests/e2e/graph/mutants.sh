#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mutants.sh [NAME...]: gpusparc without one rule of docs/coherence.md after the other (mutant.py): each is to be found,
# by order (graph.py) or by the bytes.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
mutant=$GS_SOURCE/tests/e2e/graph/mutant.py library=$programs/graph.so
rm -rf install && mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
export PATH=$PWD/install/bin:$PATH GPUSPARC_SOCKET=$PWD/none

# What is found by one run: "order: N pairs" and "the bytes", or nothing.
found() { # PROGRAM...
  rm -f graph.[0-9]*
  GRAPH=$PWD/graph OPENCL_LAYERS=$library GPUSPARC_TRANSFER=plain timeout -s KILL 200 gpusparc run --mode multi --devices "$devices" \
    bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$library" "$@" >out.txt 2>err.txt || echo "exits with $?"
  cmp -s plain.txt out.txt || echo "the bytes"
  python3 "$GS_SOURCE/tests/e2e/graph/graph.py" graph.[0-9]* >found.txt || echo "order: $(grep -o '[0-9]* not in order' found.txt)"
}

missed=0
# shellcheck disable=SC2086
[ $# -gt 0 ] || { names=$(python3 "$mutant") && set -- none $names; }
for name in "$@"; do
  program=("$GS_BUILD/tests/unordered_commands" 2) devices=cpu:2
  [ "$name" != 4 ] || devices=cpu:3
  [ "$name" != 3 ] || program=("$programs/stress" 1 80 3)
  "${program[@]}" >plain.txt
  if [ "$name" = none ]; then
    cp "$GS_BUILD/lib/gpusparc/libgpusparc.so" install/lib/gpusparc/
  else
    python3 "$mutant" "$GS_BUILD" "$name" install/lib/gpusparc/libgpusparc.so
  fi
  what=$(found "${program[@]}")
  echo "without rule $name: ${what:-nothing found}" | tr '\n' ' '
  echo
  [ "$name" = none ] || [ -n "$what" ] || missed=$((missed + 1))
  [ "$name" != none ] || [ -z "$what" ] || missed=$((missed + 1))
done
[ $missed = 0 ] || fail "$missed not as they should be"
