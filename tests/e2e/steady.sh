#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the driver is called for by an application whose launches aren't split: in auto mode exactly what it is called for
# without gpusparc, but for a few launches that are measured.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
fake=$programs/fake
mkdir -p plain
ln -sf "$fake.so" plain/libOpenCL.so.1

FAKE_LOG=plain.log LD_LIBRARY_PATH=$PWD/plain "$programs/steady" 50 2>err.txt || { cat err.txt; fail "plain"; }
GPUSPARC_REAL=$fake.so FAKE_LOG=ours.log gpusparc run --mode auto "$programs/steady" 50 || fail "auto mode"
GPUSPARC_REAL=$fake.so FAKE_LOG=single.log gpusparc run --mode single "$programs/steady" 50 || fail "single mode"
# The shim is at work: told to, it splits.
GPUSPARC_REAL=$fake.so FAKE_LOG=multi.log gpusparc run --mode multi "$programs/steady" 5 || fail "multi mode"
grep -q 'clEnqueueNDRangeKernel [2-9]' multi.log || fail "nothing was split"
python3 - <<'END'
def iterations(file):
    all = open(file).read().split("mark 0\n")
    return [i.splitlines() for i in all[1:-1]], all[0].splitlines()

(plain, before), (ours, our_before), (single, _) = map(iterations, ("plain.log", "ours.log", "single.log"))
assert len(plain) == len(ours) == len(single) == 49, (len(plain), len(ours), len(single))
assert plain[0] and all(p == plain[0] for p in plain), "the plain run isn't steady"
assert all(s == plain[0] for s in single), "mode single is not the plain run"
steady = [i for i, o in enumerate(ours) if o != plain[0]]
more = sum(map(len, ours)) - sum(map(len, plain))
print("iterations that differ:", steady, "calls more:", more)
for i in steady[:2]:
    print(sorted(set(ours[i]) - set(plain[0])))
# Of each of the two kernels at most two launches are measured, early or when the machine was busy: markers, and flushes.
assert len(steady) <= 4 and more <= 24, "never steady"
assert not before and not our_before, (before, our_before)
END
echo passed
