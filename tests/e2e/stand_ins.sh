#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stand_ins.sh INCLUDE_DIR: --memory pooled over a driver that reports any use of a stand-in (faults.c, "small"): each entry point
# that takes a memory object is called once (stand_ins.c), and stands in docs/memory.md; then what all kinds of programs do.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/pooled_common.sh"
layer=$programs/small_memory.so:$programs/faults.so
export FAULT=clCreateBuffer:128:-9999:small FAULT_USED=$PWD/used memory=pooled+host:64MiB
rm -f used
unused() { [ ! -e used ] || { sort used | uniq -c; fail "$1: a stand-in was used by the driver"; }; }

pooled pooled.txt "$programs/stand_ins" || { cat pooled.txt pooled.err; fail "exit status $?"; }
unused stand_ins
grep -q '"images_refused": 2' stats.json || fail "the images refused: $(grep '"memory"' stats.json)"
python3 - "$GS_SOURCE" "$1" <<'P'
import re
import sys

source, include = sys.argv[1:]
sys.path.insert(0, source + "/shim")
sys.dont_write_bytecode = True
import gen

prototypes, names = gen.read_dispatch(include)
takes = [n for n in names if not re.search(r"KHR|EXT|INTEL|GL|D3D|DX9|EGL", n)
         and (re.search(r"\bcl_mem\b", " ".join(prototypes[n][1]) + " " + prototypes[n][0])
              or re.match("clSetKernel(Arg|ExecInfo)", n))]
said = dict(line.split() for line in open("pooled.txt") if line.startswith("cl"))
none = {n: -59 for n in takes if re.search("CreatePipe|Native|SVM|ExecInfo", n)}
none.update({n: -38 for n in takes if re.match("clGetPipeInfo|clEnqueue.*Image", n)}) # they are called with buffers
none.update({n: -59 for n in ("clCreateImage", "clCreateImageWithProperties")}) # of buffers
table = open(source + "/docs/memory.md").read()
for n in takes:
    if n not in said:
        sys.exit(f"FAILED: stand_ins.c doesn't call {n}")
    if int(said[n]) != none.get(n, 0):
        sys.exit(f"FAILED: {n} answers {said[n]}, not {none.get(n, 0)}")
    if not re.search(rf"\b{n}\b", table):
        sys.exit(f"FAILED: docs/memory.md doesn't say what {n} does with a stand-in")
print(f"{len(takes)} entry points take a memory object")
P
grep -q '^8192 bytes' pooled.txt || fail "the size of a buffer: $(cat pooled.txt)"
# The bytes: what the plain run has behind its calls for images.
FAULT='' plain plain.txt "$programs/stand_ins"
cmp <(grep -E '^[mn] ' plain.txt) <(grep -E '^[mn] ' pooled.txt) || fail "other bytes: $(cat pooled.txt)"

export SMALL_MEMORY_BYTES=$((300 << 10))
for case in gathers windows invalidates; do
  FAULT='' plain plain.txt "$programs/pooled" 512 $case
  alike $case "$programs/pooled" 512 $case
done
FAULT='' plain plain.txt "$programs/stress" 7 150 2
alike stress "$programs/stress" 7 150 2
unused "programs"

# The layer sees each use there is, where buffers are what they are.
FAULT=clCreateBuffer:8192:0:small OPENCL_LAYERS=$programs/faults.so "$programs/stand_ins" >plain.txt
for name in $(sed -n 's/^\(clEnqueue[A-Za-z]*\) .*/\1/p' plain.txt) clCreateImage; do
  grep -qx "$name" used || fail "the layer doesn't see $name: $(cat used)"
done
