#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gpusparc moves and merges for an application under a daemon goes by units: each command that reaches the driver
# (--trace sees them all) has had a grant, as the daemon's own count says, and is no longer than a chunk; and who is
# killed in the middle of merges leaves the others going on.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon watchdog=60s kernel_chunk=4 transfer_chunk=16KiB <<'END2'
[task both]
period = 200ms
priority = 9
mode = multi
[task one]
period = 1s
priority = 1
mode = multi
END2
begin_daemon
units() { gpusparc status --json | python3 -c 'import json, sys; print(*(r["granted"] + r["taken"] for r in json.load(sys.stdin)["resources"]))'; }

cat >check.py <<'END2'
import json, sys
trace, wanted, before, after, way = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(), sys.argv[4].split(), sys.argv[5]
made = int(sys.argv[6])  # memory with contents that is one unit, and no command
CHUNK, MERGE_ITEMS = 16 * 1024, 4 * 64  # as the config says: devices of one compute unit, work-groups of 64 work-items
spans = [e for e in json.load(open(trace)) if e["ph"] == "X" and e["cat"] != "api"]
count = {}
for e in spans:
    count[e["name"]] = count.get(e["name"], 0) + 1
    count[e["cat"]] = count.get(e["cat"], 0) + 1
    if e["name"] not in ("map", "unmap") or way == "pinned":  # in shared memory a map moves nothing
        if e["args"].get("bytes", 0) > CHUNK:
            sys.exit(f"{trace}: more than a chunk: {e}")
        if e["cat"] in ("merge", "reduce") and e["args"].get("items", 0) > MERGE_ITEMS:
            sys.exit(f"{trace}: more work-groups than a chunk: {e}")
for what in wanted:
    if not count.get(what):
        sys.exit(f"{trace}: there is no {what} among {count}")
link, gpus = int(after[0]) - int(before[0]), sum(map(int, after[1:])) - sum(map(int, before[1:]))
# Short launches that follow one another may share a unit.
if not 0 <= len(spans) + made - link - gpus <= count.get("kernel", 0):
    sys.exit(f"{trace}: {link} units of the link and {gpus} of the GPUs for {len(spans)} commands: {count}")
END2
granted() { # WAY CATEGORIES,PATHS PROGRAM [ARGUMENT...]
  local way=$1 wanted=$2 before after
  shift 2
  before=$(units)
  GPUSPARC_TRANSFER=$way timeout 100 gpusparc run --devices cpu:2 --mode multi --task both --task-required --stats=stats.json --trace "trace.json" "$programs/$@" >out.txt 2>err.txt ||
    { cat err.txt; fail "$* by $way"; }
  after=$(units)
  plain plain.txt "$programs/$@"
  cmp plain.txt out.txt || fail "$* by $way computes something else"
  python3 check.py trace.json "$wanted" "$before" "$after" $way "${made:-0}" || fail "$* by $way"
}
granted plain kernel,copy,upload,download,merge chunks
granted pinned kernel,copy,upload,download,merge,staged,pinned chunks
made=6 granted pinned kernel,staged staging
granted pinned kernel,upload,download,staged host_pointers # maps of 64 KiB as well
made=10 granted pinned kernel,upload,download,map,unmap images # likewise
made=1 granted plain kernel,copy,merge sparse 300007 3000
made=1 granted pinned kernel,upload,download,merge sparse 300007 3000
made=37 granted plain kernel,copy,reduce reductions

# Short launches that follow one another share units: 900 of them, which run as they do without gpusparc. How many do is
# the clock's to say (bench/daemon_shim.sh counts them); some of 4500 do, however busy the machine is.
"$programs/bursts" >bursts.txt || fail "bursts fails without gpusparc"
all=0
for task in one both one both one; do
  before=$(units)
  gpusparc run --devices cpu:2 --mode single --task $task --task-required "$programs/bursts" >out.txt 2>err.txt || { cat out.txt err.txt; fail "bursts as $task"; }
  cmp bursts.txt out.txt || fail "bursts as $task computes something else"
  read -r _ a _ <<<"$(units)"
  read -r _ b _ <<<"$before"
  [ $((a - b)) -ge 18 ] || fail "900 launches in $((a - b)) units"
  all=$((all + a - b))
done
[ $all -lt 4500 ] || fail "4500 launches in $all units"

# Auto mode learns from launches in chunks, where the daemon doesn't say how many GPUs there are to be: an application
# without a task. What a task is told wins.
export XDG_CACHE_HOME=$dir/cache
learnt() { # EXPRESSION over the kernel k: prints it
  python3 -c "
import json
k = {k['name']: k for k in json.load(open('stats.json'))['kernels']}['work']
reasons = [r['reason'] for r in k['reasons']]
print($1)"
}
for known in False True; do
  gpusparc run --devices cpu:2 --stats=stats.json "$programs/jobs" 12 4000 4000 >auto.txt 2>err.txt || { cat err.txt; fail "jobs in auto mode"; }
  "$programs/jobs" 12 4000 4000 | cmp - auto.txt || fail "jobs in auto mode computes something else"
  [ "$(learnt "k.get('choice', {}).get('single_ns', 0) > 0")" = True ] || { cat stats.json; fail "auto mode learns nothing"; }
  [ "$(learnt "\"how long it takes isn't known yet\" not in reasons")" = $known ] || { cat stats.json; fail "what is known: not $known"; }
done
gpusparc run --devices cpu:2 --task one --stats=stats.json "$programs/jobs" 5 4000 4000 >auto.txt
[ "$(learnt "k['split'] == k['launches'] == 5")" = True ] || { cat stats.json; fail "what the daemon tells a task doesn't win"; }

# The urgent application is killed while it merges; the other, which had to wait for it, goes on, and it isn't the
# watchdog that ends its wait for the dead.
echo 'import sys, time
for line in sys.stdin: print(time.monotonic_ns(), flush=True)' >stamp.py
stdbuf -oL timeout "$(left)" gpusparc run --devices cpu:2 --mode multi --task one --task-required "$programs/jobs" 100000 2000 100 2>low.err | python3 stamp.py >ends.txt &
apps=$!
low=$apps
read -r _ b _ <<<"$(units)"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --task both --task-required "$programs/sparse" 8000005 3000 100000 >/dev/null 2>urgent.err &
app=$!
apps="$apps $app"
a=$b
while [ $((a - b)) -le 1500 ]; do
  kill -0 "$app" || { cat urgent.err; fail "the urgent application has ended before it could be killed"; }
  sleep 0.02
  read -r _ a _ <<<"$(units)"
done
kill -9 "$app"
wait "$app" 2>/dev/null || true
killed=$(python3 -c 'import time; print(time.monotonic_ns())')
first=
while [ -z "$first" ] && kill -0 "$low"; do
  sleep 0.1
  first=$(awk -v k="$killed" '$1 > k && ++n == 3 { print int(($1 - k) / 1000000); exit }' ends.txt)
done
[ -n "$first" ] || { cat low.err; fail "nothing goes on after the death of an application that merged"; }
taken=$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])')
[ "$taken" = 0 ] || fail "the watchdog has ended the wait for an application that is dead"
echo "the other's third job ended $first ms after that death"

# Threads that each read what they have launched: none keeps a unit of a GPU while its read waits for the others' parts.
[ -z "$daemon" ] || end_daemon
printf '[system]\ngpus = 2\nrealtime = no\n' >"$dir/conf"
begin_daemon
"$programs/threads" >alone.txt
for _ in 1 2 3 4; do
  GPUSPARC_TRANSFER=plain timeout -s KILL "$(left)" gpusparc run --devices cpu:2 --mode multi "$programs/threads" >out.txt ||
    fail "threads that read each what they have launched"
  cmp alone.txt out.txt || fail "threads that read each what they have launched compute something else"
done
