#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pyopencl.sh arithmetic|reductions|binaries: Python's pyopencl, from Debian's package: arithmetic of arrays; reductions and
# scans; a kernel of the program's own, whose binaries pyopencl keeps.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
python=/usr/bin/python3
"$python" -c 'import pyopencl, numpy' 2>/dev/null || { echo "left out: pyopencl is not installed"; exit 77; }
export PYOPENCL_NO_CACHE=1 PYOPENCL_CTX=0 HOME=$PWD PYTHONDONTWRITEBYTECODE=1
cat >common.py <<'P'
import hashlib
import numpy as np
import pyopencl as cl
import pyopencl.array as array

platform = cl.get_platforms()[0]
try:
    devices = platform.get_devices(cl.device_type.GPU) or platform.get_devices()
except cl.Error:
    devices = platform.get_devices()
ctx = cl.Context([devices[0]])
queue = cl.CommandQueue(ctx)


def show(name, a):
    a = np.ascontiguousarray(a)
    print(name, a.dtype, a.shape, hashlib.sha256(a.tobytes()).hexdigest()[:24])


rng = np.random.RandomState(5)
n = 50000
x = array.to_device(queue, rng.randint(0, 1000, n).astype(np.int32))
y = array.to_device(queue, rng.randint(1, 1000, n).astype(np.int32))
f = array.to_device(queue, rng.rand(n).astype(np.float32))
P
same() { # STATISTICS...: app.py prints the same under gpusparc
  "$python" -W ignore app.py >alone.txt
  gpusparc run --gpus 2 --mode multi --stats=split.json "$python" -W ignore app.py >split.txt
  cmp alone.txt split.txt || { diff alone.txt split.txt; fail "another output"; }
  stats split.json devices:2 "$@"
}

arithmetic() {
  cat >app.py <<'P'
from common import array, cl, ctx, f, np, queue, show, x, y
from pyopencl.elementwise import ElementwiseKernel

show("sum", (x + 3 * y - x * y).get())
show("slice", (x[1000:30000] + y[2000:31000]).get())
show("float", (f * 2.5 + 1.0).get())
show("square", (f ** 2).get())
z = x.copy()
z += y
z[100:200] = 7
show("in place", z.get())
show("where", array.if_positive(x - y, x, y).get())
show("arange", array.arange(queue, 0, 20000, 3, dtype=np.int32).get())
axpbyz = ElementwiseKernel(ctx, "int a, int *x, int b, int *y, int *z", "z[i] = a*x[i] + b*y[i]", "axpbyz")
axpbyz(5, x, 6, y, z)
show("elementwise", z.get())
assert (x.get() + 3 * y.get() - x.get() * y.get() == (x + 3 * y - x * y).get()).all()
P
  same split:axpbyz
}

reductions() {
  cat >app.py <<'P'
from common import array, ctx, np, show, x, y
from pyopencl.reduction import ReductionKernel

print("sum", int(array.sum(x).get()), "dot", int(array.dot(x.astype(np.int64), y.astype(np.int64)).get()))
print("max", int(array.max(x).get()), "min", int(array.min(y).get()))
count = ReductionKernel(ctx, np.int32, neutral="0", reduce_expr="a+b", map_expr="x[i] % 7 == 0 ? 1 : 0",
                        arguments="__global const int *x")
print("count", int(count(x).get()), int((x.get() % 7 == 0).sum()))
show("cumsum", array.cumsum(x).get() if hasattr(array, "cumsum") else np.cumsum(x.get()))
P
  same split:reduce_kernel_stage1
}

# Binaries that a run without gpusparc has kept must not keep others from being split.
binaries() {
  cat >app.py <<'P'
from common import array, cl, ctx, np, queue, show, x

prg = cl.Program(ctx, """
__kernel void own(__global const int *a, __global int *b, int w) {
  int i = get_global_id(0), j = get_global_id(1);
  b[j * w + i] = a[i * (int)get_global_size(1) + j] + (int)get_group_id(1);
}""").build()
b = array.zeros(queue, 200 * 250, np.int32)
prg.own(queue, (200, 250), (8, 10), x.data, b.data, np.int32(200))
show("transpose", b.get())
P
  same split:own
  unset PYOPENCL_NO_CACHE
  export XDG_CACHE_HOME=$PWD/cache
  rm -rf cache && mkdir cache
  for run in 1 2; do same split:own; done
}

"$1"
echo passed
