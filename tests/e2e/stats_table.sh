#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of --stats: a line and equal columns for each kernel, however long its name, the one that took longest first;
# shares, shortest and longest times. JSON says the same.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
"$programs/kernel_names" >plain.txt || fail "the program fails without gpusparc"
gpusparc run --devices cpu:2 --mode multi --stats=table.txt "$programs/kernel_names" >out.txt 2>err.txt || fail "$(cat err.txt)"
cmp plain.txt out.txt || fail "other results"
gpusparc run --devices cpu:2 --mode multi --stats=table.json "$programs/kernel_names" >out.txt 2>err.txt || fail "$(cat err.txt)"
python3 - <<'END' || fail "$(cat table.txt)"
import json
lines = [l.rstrip("\n") for l in open("table.txt")]
head = lines[0]
assert head.split()[1:8] == ["kernel", "launches", "split", "parts", "device", "ms", "%"], head
rows = lines[1:lines.index(next(l for l in lines if l.startswith("gpusparc: path ")))]
assert len(rows) == 3, rows
end = head.index("max ms") + len("max ms")
cells = [r[:end].split() for r in rows]
assert all(len(c) == 9 and len(r[:end]) == end for c, r in zip(cells, rows)), rows
assert sorted(c[2:5] for c in cells) == [["1", "1", "2"], ["2", "2", "2"], ["3", "3", "2"]], cells
names = sorted((c[1] for c in cells), key=len) # the order is that of the times, whatever they are
assert names[0] == "brief" and [len(n) for n in names] == [5, 48, 48] and all(".." in n for n in names[1:]), names
ms = [float(c[5]) for c in cells]
assert ms == sorted(ms, reverse=True), ms
assert abs(sum(float(c[6]) for c in cells) - 100) < 0.2, cells
for c, m in zip(cells, ms):
    least, most = float(c[7]), float(c[8])
    assert 0 < least <= most <= m + 0.002, c
    assert abs(float(c[6]) - 100 * m / sum(ms)) < 0.11, c
stats = json.load(open("table.json"))
kernels = stats["kernels"]
assert sorted(k["launches"] for k in kernels) == [1, 2, 3], kernels
often = next(k["name"] for k in kernels if k["launches"] == 3)
assert often.endswith("_once_more") and len(often) > 180, often
for k in kernels:
    assert 0 < k["min_ns"] <= k["max_ns"] <= max(k["device_ns"]), k
END
echo passed
