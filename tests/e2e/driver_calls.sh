#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the driver is called for by an application whose launches aren't split: in auto mode exactly what it is called for
# without gpusparc, but for a few launches that are measured; and under a daemon, while short launches follow one another,
# for next to nothing besides. And that one finds a daemon which comes later.
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
# A split launch without transfers is two parts and two markers, each queue sent off once behind what others wait for.
python3 - <<'END' || fail "other calls for a split launch"
calls = open("multi.log").read().split("mark 0\n")[3].splitlines()
parts = [i for i, c in enumerate(calls) if c.startswith("clEnqueueNDRangeKernel")]
row = calls[parts[4]:parts[24]]
count = {c: sum(r.startswith(c) for r in row) / 10 for c in ("clEnqueueNDRangeKernel", "clEnqueueMarker", "clFlush")}
print(count)
raise SystemExit(count != {"clEnqueueNDRangeKernel": 2, "clEnqueueMarker": 2, "clFlush": 3})
END
python3 - <<'END'
def iterations(file):
    all = open(file).read().split("mark 0\n")
    return [i.splitlines() for i in all[1:-1]], all[0].splitlines()

(plain, before), (ours, our_before), (single, _) = map(iterations, ("plain.log", "ours.log", "single.log"))
assert len(plain) == len(ours) == len(single) == 49, (len(plain), len(ours), len(single))
assert plain[0] and all(p == plain[0] for p in plain), "the plain run isn't steady"
# Of the arguments two are set to what they are: they need not be handed on.
def counted(calls):
    others = [c for c in calls if not c.startswith("clSetKernelArg")]
    return others, len(calls) - len(others)
(plain, n), ours, single = map(list, zip(*map(counted, plain))), [counted(o) for o in ours], [counted(s) for s in single]
assert all(o[1] in (n[0], n[0] - 2) for o in ours + single), "other arguments"
ours, single = [o[0] for o in ours], [s[0] for s in single]
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
# In a context of two devices a short command takes the context's lock: once for the driver's call, twice where it waits
# without the lock. Its handles are found without one.
GPUSPARC_REAL=$fake.so gpusparc run --no-daemon --mode auto "$programs/lock_counter" >locked.txt || fail "lock_counter"
diff - locked.txt <<'END' || fail "other locks at home"
launch: 1
read: 2
write: 1
write that blocks: 2
map: 2
unmap: 1
END
# On a busy machine launches take too long to share a unit: the best tenth of the iterations counts.
export GPUSPARC_SOCKET=$PWD/sock
printf '[system]\ngpus = 2\nrealtime = no\n' >conf
gpusparc daemon --config conf 2>daemon.txt &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait 2>/dev/null || true' EXIT
for ((i = 0; i < 100; i++)); do gpusparc status --json >status.json 2>/dev/null && break; sleep 0.1; done
GPUSPARC_REAL=$fake.so FAKE_LOG=daemon.log gpusparc run --mode single "$programs/steady" 50 2>err.txt || { cat err.txt; fail "under a daemon"; }
python3 - <<'END' || fail "short launches under a daemon cost further calls"
import statistics
more = []
for text in open("daemon.log").read().split("mark 0\n")[1:]:
    calls = text.splitlines()
    launches = [i for i, c in enumerate(calls) if c.startswith("clEnqueueNDRangeKernel")]
    assert len(launches) == 21, len(launches)
    row = calls[launches[0]:launches[19]]
    more.append(sum(not c.startswith(("clEnqueueNDRangeKernel", "clSetKernelArg")) for c in row))
assert len(more) == 50
tenth = sorted(more)[5]
print("calls besides those of the application, of 20 launches under a daemon:", tenth, "at best, median", statistics.median(more))
raise SystemExit(tenth > 10)
END

# An application that is alone needs next to no gates, not even for its first commands: what asks for a resource that isn't
# its own waits in the call, and so do launches of which nothing is known yet. There were 29. Where a unit's end is heard
# late, what comes next stands behind one: a third of nine processes is enough.
for ((i = 0; i < 9; i++)); do
  GPUSPARC_REAL=$fake.so FAKE_LOG=first.log gpusparc run --gpus 1 --mode single "$programs/steady" 2 2>err.txt || { cat err.txt; fail "first commands"; }
  awk '/^mark 0/ { n++ } n == 1 && /clCreateUserEvent/ { gates++ } END { print gates + 0 }' first.log
done >gates.txt
echo "gates of the first commands: $(sort -n gates.txt | xargs)"
[ "$(sort -n gates.txt | sed -n 3p)" -le 6 ] || fail "an application that is alone begins with gates"

# Nor do the shim's own threads keep processors awake meanwhile: each woke up 10,000 to 20,000 times a second.
woken() { cat /proc/$app/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'; }
GPUSPARC_REAL=$fake.so gpusparc run --gpus 1 --mode single "$programs/steady" 100000000 &
app=$!
trap 'kill $app $daemon 2>/dev/null || true; wait 2>/dev/null || true' EXIT
sleep 1
before=$(woken)
sleep 1
more=$(($(woken) - before))
kill $app
wait $app 2>/dev/null || true
echo "threads woken in a second of short launches: $more"
[ $more -le 25000 ] || fail "threads wake up all the time while short launches follow one another"

# Calls that are only handed on don't look for a daemon: now and then one isn't.
kill $daemon
wait $daemon 2>/dev/null || true
GPUSPARC_REAL=$fake.so gpusparc run --mode auto "$programs/steady" 100000000 &
app=$!
trap 'kill $app $daemon 2>/dev/null || true; wait 2>/dev/null || true' EXIT
sleep 1
gpusparc daemon --config conf 2>daemon.txt &
daemon=$!
joined=0
for ((i = 0; i < 100; i++)); do
  joined=$(gpusparc status --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["clients"])' 2>/dev/null || echo 0)
  [ "$joined" = 1 ] && break
  sleep 0.1
done
[ "$joined" = 1 ] || fail "an application of short launches doesn't find a daemon that comes later"
kill $app

# While the application waits, nobody else is in the driver: the end of its unit (here after 5 ms) is looked for when the
# wait is over.
GPUSPARC_REAL=$fake.so FAKE_ITEM_NS=80000 FAKE_LOG=waits.log gpusparc run --gpus 1 --mode single "$programs/stream" 40 1 >out.txt 2>err.txt || { cat err.txt; fail "waits"; }
python3 - <<'END' || fail "the driver is asked for ends that nobody has need of"
import statistics
rows = [text.splitlines() for text in open("waits.log").read().split("mark 0\n")[1:-1]]
looks = statistics.median(sum(c.startswith("clGetEventInfo") for c in row) for row in rows)
print("looks at events in a wait for 5 ms: median", looks)
flushes = statistics.median("\n".join(row).partition("clFinish")[2].count("clFlush") for row in rows)
print("flushes after it:", flushes)
raise SystemExit(looks > 10 or flushes > 0)
END
echo passed
