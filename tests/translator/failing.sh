# SPDX-License-Identifier: MIT
# An application whose translator crashes, hangs, talks nonsense or is missing, and one whose cache can't be used, runs on
# one device, or as ever, and gives the right bytes; --stats says why.
set -euo pipefail
run=$GS_BUILD/tests/run_kernels
files=("$GS_SOURCE/tests/kernels/helper_deep.cl" "$GS_SOURCE/tests/kernels/plain.cl" "$GS_SOURCE/tests/kernels/local_memory.cl")
export XDG_CACHE_HOME=$PWD/cache POCL_CACHE_DIR=$PWD/pocl # PoCL has one of its own
rm -rf "$XDG_CACHE_HOME"
mkdir -p "$POCL_CACHE_DIR"
"$run" plain.bin "${files[@]}"

script() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
script crash 'kill -SEGV $$'
script hang 'exec sleep 100'
script nonsense 'cat; echo more'
script fails 'exit 1'

# with NAME SPLITS WORDS: runs the application; is the number of split launches right, and are the words among the reasons?
with() {
  local begin=$SECONDS
  rm -f got.bin stats.json
  gpusparc run --devices cpu:2 --gpus 2 --mode multi --stats=stats.json -- "$run" got.bin "${files[@]}" >out.txt 2>err.txt ||
    { echo "$1: it failed"; cat out.txt err.txt; exit 1; }
  cmp plain.bin got.bin
  [ ! -s out.txt ] || { echo "$1: something on stdout"; cat out.txt; exit 1; }
  [ $((SECONDS - begin)) -lt 60 ] || { echo "$1: it took $((SECONDS - begin)) s"; exit 1; }
  python3 - "$1" "$2" "$3" <<'PYTHON'
import json, sys
kernels = json.load(open("stats.json"))["kernels"]
split = sum(k["split"] for k in kernels)
reasons = " ".join(r["reason"] for k in kernels for r in k["reasons"])
if len(kernels) != 3 or split != int(sys.argv[2]) or sys.argv[3] not in reasons:
    sys.exit(f"{sys.argv[1]}: {split} launches split, reasons: {reasons}")
PYTHON
}

GPUSPARC_TRANSLATOR=$PWD/crash with crash 0 crashed
GPUSPARC_TRANSLATOR=$PWD/fails with fails 0 failed
GPUSPARC_TRANSLATOR=$PWD/nonsense with nonsense 0 "can't be read"
GPUSPARC_TRANSLATOR=$PWD/missing with missing 0 "could not be started"
GPUSPARC_TRANSLATOR=$PWD/hang GPUSPARC_TRANSLATE_TIMEOUT=1 with hang 0 "too long"
XDG_CACHE_HOME=/dev/null with 'no cache' 3 ''
XDG_CACHE_HOME=/proc with 'a cache that is read-only' 3 ''
with 'all is well' 3 ''
with 'from the cache' 3 ''
