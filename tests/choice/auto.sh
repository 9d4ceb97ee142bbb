#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Auto mode on real programs: the plain run's bytes whatever it chooses; what is short is left alone, nothing of it is
# translated; what is long is tried on both halves of the CPU; --stats says what was expected.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
export XDG_CACHE_HOME=$PWD/own-cache
rm -rf "$XDG_CACHE_HOME"

# Its launches take microseconds.
short=("$samples/vectoradd" --size 1000 --iterations 20 --output short)
gpusparc run --devices cpu:2 "${short[@]}" >out 2>&1 || fail "vectoradd: $(cat out)"
! grep -rl "__kernel" "$XDG_CACHE_HOME" 2>/dev/null || fail "a program was translated for launches of microseconds"
gpusparc run --devices cpu:2 --stats=short.json "${short[@]}" >out 2>&1 || fail "vectoradd: $(cat out)"
stats short.json devices:2 single:vector_add

# A buffer is made for each of such launches: nobody asks the driver where it lies, which takes longer than the launch.
for ((i = 0; i < 3; i++)); do
  OPENCL_LAYERS=$GS_BUILD/bench/timeline.so TIMELINE=$PWD/calls gpusparc run --devices cpu:2 "$samples/quasirandom" \
    --vectors 64 --dimensions 1 --group 64 --iterations 200 >out 2>&1 || fail "quasirandom: $(cat out)"
  [ "$(grep -c clCreateBuffer calls)" -ge 200 ] || fail "the layer saw $(grep -c clCreateBuffer calls) buffers"
  maps=$(grep -c clEnqueueMapBuffer calls) || true
  [ "$maps" -gt 20 ] || break # more where the machine is so busy that such a launch seems long
done
[ $i -lt 3 ] || fail "$maps maps for 200 short launches"

long=(--size 700 --iterations 12)
"$samples/binomial" "${long[@]}" --no-check --output plain >out 2>&1 || fail "binomial, plain: $(cat out)"
# What this leaves in the caches makes the other's translation quick.
gpusparc run --devices cpu:2 --mode multi "$samples/binomial" --size 700 --no-check --output split >out 2>&1 ||
  fail "binomial, multi: $(cat out)"
cmp plain split || fail "binomial, multi: other bytes"
gpusparc run --devices cpu:2 --stats=long.json "$samples/binomial" "${long[@]}" --no-check --output split >out 2>&1 ||
  fail "binomial: $(cat out)"
cmp plain split || fail "binomial: other bytes"
stats long.json devices:2 some:binomial
for way in copy host pinned; do
  grep -q "\"$way\": {\"bytes\": 0," long.json || fail "bytes were moved in a memory of all devices: $(cat long.json)"
done
grep -q '"choice": {"single_ns": [1-9]' long.json || fail "nothing is said of the choice: $(cat long.json)"

# What has been learnt is there in the next run, unless it is to be forgotten or the file is damaged.
unknown="how long it takes isn't known yet"
again() { # NAME OPTIONS...
  local name=$1
  shift
  gpusparc run --devices cpu:2 --stats="$name.json" "$@" "$samples/binomial" --size 700 --no-check --output split >out 2>&1 ||
    fail "binomial, $name: $(cat out)"
  cmp plain split || fail "binomial, $name: other bytes"
  ! grep gpusparc: out || fail "binomial, $name: $(cat out)"
}
learnt=$(echo "$XDG_CACHE_HOME"/gpusparc/learnt-*)
[ -s "$learnt" ] || fail "nothing was kept"
again known
! grep -q "$unknown" known.json || fail "what was learnt isn't there: $(cat known.json)"
cp "$learnt" copy
again forgotten --forget
grep -q "$unknown" forgotten.json || fail "it wasn't forgotten: $(cat forgotten.json)"
for bytes in 0 20 200; do
  head -c "$bytes" copy >"$learnt"
  again "damaged-$bytes"
  grep -q "$unknown" "damaged-$bytes.json" || fail "a file of $bytes bytes was believed"
done
# A run without auto mode leaves it alone.
cp copy "$learnt"
again multi --mode multi
cmp copy "$learnt" || fail "--mode multi wrote what was learnt"

# Two kernels in turn on the same data, in separate memories.
"$samples/pagerank" --size 300000 --iterations 3 --no-check --output plain >out 2>&1 || fail "pagerank, plain: $(cat out)"
for path in plain pinned; do
  GPUSPARC_TRANSFER=$path gpusparc run --devices cpu:2 --stats=pagerank.json "$samples/pagerank" --size 300000 \
    --iterations 3 --no-check --output split >out 2>&1 || fail "pagerank: $(cat out)"
  cmp plain split || fail "pagerank, $path: other bytes"
done
