#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Under a daemon no byte moves and no kernel runs outside of a unit: a layer below gpusparc says when each command that
# reached the driver ran, and each making of memory with contents; the daemon's trace says when units were out.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon watchdog=60s kernel_chunk=64 transfer_chunk=256KiB <<'END2'
[task both]
period = 200ms
mode = multi
[task pool]
match = */pooled
period = 1s
mode = 1
END2
cat >check.py <<'END2'
import bisect, json, sys
trace, log, wanted = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
units = {}  # by resource, merged
for e in sorted((e for e in json.load(open(trace)) if e["ph"] == "X" and e["pid"] == 1), key=lambda e: e["ts"]):
    kind = "link" if e["args"]["resource"] == 0 else "gpu"
    begin, end = e["ts"] * 1e3, (e["ts"] + e["dur"]) * 1e3
    for list_ in (units.setdefault(kind, []), units.setdefault("any", [])):
        if list_ and begin <= list_[-1][1]:
            list_[-1][1] = max(list_[-1][1], end)
        else:
            list_.append([begin, end])
CLOSE = 2e3  # the trace's times are rounded
def out(kind, begin, end):
    list_ = units.get(kind, [])
    i = bisect.bisect(list_, [begin + CLOSE, float("inf")]) - 1
    return i >= 0 and list_[i][1] >= end - CLOSE
count, bad = {}, []
for line in open(log):
    kind, begin, end, name = line.split()
    count[name] = count.get(name, 0) + 1
    if not out(kind, int(begin), int(end)):
        bad.append(line)
if bad:
    sys.exit(f"{len(bad)} of {sum(count.values())} outside of all units: {''.join(bad[:10])}")
for name in wanted:
    if not count.get(name):
        sys.exit(f"no {name} among {count}")
END2
seen() { # WAY CALL,... PROGRAM [ARGUMENT...]
  local way=$1 wanted=$2
  shift 2
  rm -f "$dir/began" "$dir/trace"
  begin_daemon --trace "$dir/trace"
  OPENCL_LAYERS=$programs/command_times.so${SMALL_MEMORY_BYTES:+:$programs/small_memory.so} COMMAND_TIMES=$dir/began GPUSPARC_TRANSFER=$way timeout 100 \
    gpusparc run ${HOW---devices cpu:2 --mode multi --task both} --stats=stats.json "$programs/$@" >out.txt 2>err.txt || { cat err.txt; fail "$* by $way"; }
  end_daemon
  plain plain.txt "$programs/$@"
  cmp plain.txt out.txt || fail "$* by $way computes something else"
  ! grep '"name":"lost"' "$dir/trace" || fail "$* by $way: the daemon's trace isn't whole"
  python3 check.py "$dir/trace" "$dir/began" "$wanted" || fail "$* by $way"
}
for way in plain pinned; do
  seen $way clCreateBuffer,clEnqueueWriteBuffer,clEnqueueNDRangeKernel,clEnqueueReadBuffer,clCreateImage created_with_contents
  seen $way clEnqueueMapBuffer,clEnqueueUnmapMemObject host_pointers
  seen $way clEnqueueCopyBuffer,clEnqueueNDRangeKernel sparse 300007 3000
done
seen pinned clEnqueueNDRangeKernel,clEnqueueCopyBuffer chunks
seen plain clEnqueueNDRangeKernel reductions
seen pinned clEnqueueReadImage,clEnqueueWriteImage images
seen plain clEnqueueReadBufferRect,clEnqueueWriteBufferRect,clEnqueueFillBuffer transfers
HOW="--devices cpu:2 --mode multi" seen plain clEnqueueNDRangeKernel jobs 12 4000 4000 # without a task, in the mode that learns

# So it is with pooled memory, whose windows come, leave and go round. Such a program is no task, whatever matches its path,
# and its launches are cut where there is one GPU, too.
export POCL_DEVICES="pthread pthread" HOW="--devices all --memory pooled+host:64MiB" SMALL_MEMORY_BYTES=$((640 << 10))
for case in stencil gathers reduction windows rows uncut; do
  seen plain clEnqueueNDRangeKernel,clEnqueueReadBuffer,clEnqueueWriteBuffer pooled 1024 $case
done
seen pinned clEnqueueWriteBuffer,clEnqueueReadBuffer pooled 1024 writes
seen plain clEnqueueReadImage,clEnqueueWriteImage pooled 1024 images
POCL_DEVICES=pthread SMALL_MEMORY_BYTES= seen plain clEnqueueNDRangeKernel pooled 1024 stencil
grep -q '"ph":"X","name":"no task"' "$dir/trace" || fail "a pooled program is a task"
units=$(grep -c '"ph":"X","name":"no task","pid":1,"tid":1,' "$dir/trace")
[ "$units" -ge 20 ] || fail "$units units of one GPU for four launches of 512 and more work-groups"

# The check finds what it is for: without the daemon's leave all is outside.
python3 - "$dir/trace" >none.json <<'END2'
import json, sys
json.dump([e for e in json.load(open(sys.argv[1])) if e["ph"] != "X" or e["pid"] != 1 or e["args"]["resource"] == 0], sys.stdout)
END2
! python3 check.py none.json "$dir/began" clEnqueueNDRangeKernel >out.txt 2>&1 || fail "kernels without units aren't found"
grep -q 'outside of all units' out.txt || { cat out.txt; fail "what is found"; }
