#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# alone_bound.sh: an application that is connected alone, and enqueues launch after launch without a wait, has no more of them
# under way than two of alone mode's intervals (shim/schedule/alone.h), whatever the launches were expected to take.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
unset GPUSPARC_REAL
own_daemon <<'END'
[system]
gpus = 1
realtime = no
END
begin_daemon
stream() { # LAUNCHES: two rows of so many
  GPUSPARC_REAL=$programs/fake.so FAKE_LOG=stream.log timeout 240 gpusparc run --gpus 1 "$programs/stream" 2 "$1" >out.txt 2>err.txt ||
    { cat err.txt; fail "stream $1"; }
}

# Launches of 38 us, of which the host makes one in 4 us.
FAKE_ITEM_NS=600 stream 4000
python3 - <<'END'
row = [line.split()[0] for line in open("stream.log").read().split("mark 0\n")[2].splitlines()]
row = row[:row.index("clFinish")]
marks = [i for i, call in enumerate(row) if call == "clEnqueueMarkerWithWaitList"]
launches = row.count("clEnqueueNDRangeKernel")
between = [row[a:b].count("clEnqueueNDRangeKernel") for a, b in zip(marks, marks[1:])]
looked, waited = (sum(call in row[a:b] for a, b in zip(marks, marks[1:])) for call in ("clGetEventInfo", "clWaitForEvents"))
others = sum(call not in ("clEnqueueNDRangeKernel", "clSetKernelArg") for call in row)
print(f"{launches} launches, {len(marks)} markers, {looked} looked at, {waited} waited for, {others} calls besides; at most {max(between)} from one marker to the next")
assert launches == 4000
assert max(between) <= 128, "an interval is longer than 128 commands"
assert looked >= len(between) * 0.8, "markers aren't looked at"
assert waited >= len(between) / 10, "markers aren't waited for"
assert others <= launches // 5, "alone mode costs more than one call of five"
END

# Each takes 6.4 us longer than the one before: they soon take longer than what they were expected to when alone mode
# began, and go by units again.
FAKE_ROUNDS=1 FAKE_ITEM_NS=100 stream 500
python3 - <<'END'
row = [line.split()[0] for line in open("stream.log").read().split("mark 0\n")[2].splitlines()]
row = [call for call in row[:row.index("clFinish")] if call != "clSetKernelArg"]
runs = [len(run.split()) for run in " ".join("x" if call == "clEnqueueNDRangeKernel" else "|" for call in row[len(row) // 2:]).split("|")]
print("launches that take up to 3.2 ms: at most", max(runs), "one right after the other")
assert max(runs) < 16, "launches that have become long go alone"
END

# So they do where each row is waited for, which no marker tells of.
for how in finish events apart; do
  GPUSPARC_REAL=$programs/fake.so FAKE_ROUNDS=1 FAKE_ITEM_NS=60 FAKE_LOG=longer.log timeout 240 gpusparc run --gpus 1 "$programs/longer" $how >out.txt 2>err.txt ||
    { cat err.txt; fail "longer $how"; }
  python3 - $how <<'END'
import statistics, sys
def longest(row): return max(len(run.split()) for run in " ".join("x" if call == "clEnqueueNDRangeKernel" else "|" for call in row).split("|"))
rows = [[line.split()[0] for line in row.splitlines() if "SetKernelArg" not in line] for row in open("longer.log").read().split("mark 0\n")[1:]]
if sys.argv[1] == "apart": # what is known of units' times counts
    runs = [longest(row) for row in rows[-80:]]
    print("rows of 10 launches that take 2.7 ms: one right after the other", *runs)
    assert max(runs) < 10, "launches that are known to be long go alone"
else:
    runs = [longest(row) for row in rows[-20:]]
    print("rows of 100 launches that take 0.77 ms: one right after the other", *runs)
    assert statistics.median(runs) <= 32, "launches that have become long go alone"
END
done

# What was stopped meanwhile isn't taken to be long for ever: the next waits say that it isn't.
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 gpusparc run --gpus 1 "$programs/locks" 40000 3 >out.txt 2>err.txt &
app=$!
apps=$app
for _ in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.1
  kill -STOP $app
  sleep 0.02
  kill -CONT $app
done
wait $app || { cat err.txt; fail locks; }
apps=
tail -1 err.txt
grep -q "^40000 rows, 0 locks each" err.txt || fail "launches that were stopped once need markers ever after"

# What waits for the application isn't waited for; also where a device carries out its queues' commands one after the
# other, and another queue's waits.
export LAZY=channels LAZY_REPORT=$PWD/lazy.txt
for how in "" svm beside; do
  layers=$programs/as_gpu.so
  [ "$how" != beside ] || layers=$layers:$programs/lazy.so
  OPENCL_LAYERS=$layers timeout -k 2 60 "$programs/postponed" $how >plain.txt || fail "postponed $how fails without gpusparc"
  OPENCL_LAYERS=$layers timeout -k 2 60 gpusparc run --devices cpu:2 --gpus 1 "$programs/postponed" $how >out.txt 2>err.txt ||
    { cat err.txt; fail "postponed $how"; }
  cmp plain.txt out.txt || fail "postponed $how computes something else"
done
end_daemon
echo passed
