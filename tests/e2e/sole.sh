#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sole.sh SEED ROUNDS: an application that is the only one connected to a daemon, on devices that say that they are GPUs.
# Rows of short launches need no call of the driver that they don't without a daemon; and random sequences of commands
# compute the same, also while others come and go.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 rounds=$2
unset GPUSPARC_REAL
own_daemon <<'END'
[system]
gpus = 2
realtime = no
[task one]
period = 1s
mode = 1
END
begin_daemon

# What it calls, by rows; the first ones learn how long launches take.
calls() { # LOG
  python3 -c '
import collections, statistics, sys
rows = [collections.Counter(l.split()[0] for l in row.splitlines()) for row in open(sys.argv[1]).read().split("mark 0\n")[200:-1]]
names = sorted(set().union(*rows))
print(*(f"{name} {statistics.median(row[name] for row in rows):g}" for name in names if statistics.median(row[name] for row in rows)), sep="\n")' "$1"
}
for program in "sole 400 7" "sole 400 1" "alone 400"; do
  read -ra words <<<"$program"
  for under in without daemon; do
    options=(--gpus 1)
    [ $under = daemon ] || options+=(--no-daemon)
    GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=0.1 FAKE_LOG=rows.log timeout 240 gpusparc run "${options[@]}" "$programs/${words[0]}" "${words[@]:1}" >out.txt 2>err.txt ||
      { cat err.txt; fail "$program $under"; }
    calls rows.log >$under.txt
  done
  echo "$program:" $(cat without.txt)
  diff without.txt daemon.txt || fail "$program: one that is alone under a daemon needs other calls of the driver"
done

# Most launches of a row are handed on with nothing locked. (Of so many rows that one is, on a busy machine too.)
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=0.1 timeout 240 gpusparc run --gpus 1 "$programs/locks" 5000 100 >out.txt 2>err.txt || { cat err.txt; fail locks; }
grep launches, err.txt
[ "$(sed -n 's/^100 launches, \(.*\) locks$/\1/p' err.txt)" -lt 100 ] || fail "each launch of a row takes locks"

# Where it waits after every few launches most rows take no unit, nor any lock. The time that the GPU is at work is told all the same; and once
# another application is connected they go by units. (So many rows that most come after the one before has gone, and after what the first ones are
# learnt by, on a busy machine too.)
busy() { gpusparc status --json | python3 -c 'import json, sys; print([r for r in json.load(sys.stdin)["resources"] if r["name"] == "gpu0"][0]["busy_ns"])'; }
locked() { tail -1 err.txt | sed -n "s/^$many rows, \(.*\) locks each\$/\1/p"; }
many=20000
rm -f go said other.in
mkfifo go said other.in
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 timeout 240 gpusparc run --gpus 1 "$programs/locks" $many 3 3 <go >said 2>err.txt &
app=$!
apps=$app
exec 3>go 4<said
read -r said <&4 || { cat err.txt; fail "locks, alone"; }
[ "$(locked)" -eq 0 ] || { cat err.txt; fail "rows of one that is alone take locks"; }
before=$(busy)
echo >&3
read -r said <&4 || { cat err.txt; fail "locks, alone"; }
took=$(($(busy) - before))
# 60000 launches of 10 us, of which some come after the last that was told.
echo "$many rows: $(locked) locks each, the GPU was busy for $took ns"
[ $took -ge 400000000 ] || fail "the GPU was said to be busy for $took ns of 600 ms"
FAKE_ITEM_NS=5 GPUSPARC_REAL=$programs/fake.so timeout 240 gpusparc run --gpus 1 "$programs/locks" 10 3 2 <other.in >other.txt 2>&1 &
other=$!
apps="$app $other"
exec 5>other.in
for ((i = 0; i < 300; i++)); do grep -qs waits other.txt && break; sleep 0.1; done
grep -q waits other.txt || { cat other.txt; gpusparc status --json; fail "the other application"; }
echo >&3
wait $app || { cat err.txt; fail "locks, no longer alone"; }
[ "$(locked)" -gt 0 ] || { cat err.txt; fail "rows take no unit though another application is connected"; }
exec 3>&- 4<&- 5>&-
wait $other || true # it reads no line
apps=

# One that is paced is held back at each job's begin all the same.
begin=$(date +%s%N)
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=0.1 timeout 240 gpusparc run --gpus 1 --pace=10ms "$programs/locks" 200 3 >out.txt 2>err.txt || { cat err.txt; fail "locks, paced"; }
took=$((($(date +%s%N) - begin) / 1000000))
echo "200 jobs with a period of 10 ms: $took ms"
[ $took -ge 1900 ] || fail "200 jobs with a period of 10 ms took $took ms"

# Each is a job, though what it begins with has no event that tells of its end. (On a busy machine some are seen to end late, and then count as one with the next.)
GPUSPARC_REAL=$programs/fake.so gpusparc run --gpus 1 --task one "$programs/sole" 300 3 events >/dev/null 2>err.txt || { cat err.txt; fail "sole as a task"; }
jobs=$(gpusparc status --json | python3 -c 'import json, sys; t = [t for t in json.load(sys.stdin)["tasks"] if t["task"] == "one"][0]; print(t["jobs"] + t["warmup_jobs"])')
echo "$jobs jobs"
[ "$jobs" -ge 250 ] && [ "$jobs" -le 310 ] || fail "$jobs jobs of 300 were seen to end"

# By rows without a unit too: each is one job, however much of it has been waited for before its end. They take no more locks than it takes to begin
# and end a job, and what they used is told as theirs.
jobs_of() { # PROGRAM ARGUMENT...: how many are counted
  local before after
  before=$(jobs_now)
  FAKE_ITEM_NS=5 GPUSPARC_REAL=$programs/fake.so timeout 240 gpusparc run --gpus 1 --task one "$programs/$1" "${@:2}" >jobs.txt 2>err.txt || { cat err.txt; fail "$* as a task" >&2; }
  after=$(jobs_now)
  echo $((after - before))
}
jobs_now() { gpusparc status --json | python3 -c 'import json, sys; t = [t for t in json.load(sys.stdin)["tasks"] if t["task"] == sys.argv[1]][0]; print(t["jobs"] + t["warmup_jobs"])' "${1:-one}"; }
before=$(busy)
jobs=$(jobs_of locks $many 3)
took=$(($(busy) - before))
echo "$many rows as a task: $jobs jobs, $(locked) locks each, the GPU was busy for $took ns"
[ "$jobs" -ge $((many * 9 / 10)) ] && [ "$jobs" -le $many ] || fail "$many rows were counted as $jobs jobs"
[ "$(locked)" -le 15 ] || fail "the rows of a task take $(locked) locks each"
[ $took -ge 400000000 ] || fail "the GPU was said to be busy for $took ns of 500 ms"
# A job has ended where the application has waited and nothing is under way. On a busy machine the rest of a job may have ended when it goes on from its wait for a part.
for words in "500 queues" "500 events" "4000 twice"; do
  read -r n way <<<"$words"
  jobs=$(jobs_of apart "$n" "$way")
  idle=$(cat jobs.txt)
  echo "$n jobs, a part of which is waited for ($way): $jobs; all had ended by then $idle times"
  [ "$jobs" -ge $((n * 4 / 5)) ] && [ "$jobs" -le $((n + idle)) ] || fail "$n jobs, a part of which is waited for ($way, all had ended by then $idle times), were counted as $jobs"
done
for way in queues threads; do
  jobs=$(jobs_of relay 2000 $way)
  echo "2000 jobs whose end is waited for elsewhere ($way): $jobs"
  [ "$jobs" -ge 1900 ] && [ "$jobs" -le 2010 ] || fail "2000 jobs whose end is waited for elsewhere ($way) were counted as $jobs"
done

# What a thread has left in its row when it ended keeps no other thread's job from its end.
jobs=$(jobs_of legacy 100 1000)
echo "100 jobs of a thread that ends then, and 1000 of another one: $jobs"
[ "$jobs" -ge 1000 ] && [ "$jobs" -le 1110 ] || fail "100 jobs of a thread that ends then, and 1000 of another one were counted as $jobs"

# Nor does a row that its thread has no use for any more keep others from having one.
locks_each() { sed -n 's/^\(.*\) locks each$/\1/p' err.txt; }
GPUSPARC_REAL=$programs/fake.so timeout 240 gpusparc run --gpus 1 "$programs/legacy" 100 20000 >/dev/null 2>err.txt || { cat err.txt; fail "legacy"; }
echo "20000 jobs of a thread after those of another one that has ended: $(locks_each)"
[ "$(locks_each)" -le 20 ] || fail "20000 jobs of a thread after those of another one that has ended take $(locks_each) locks each"

# A handler of exit() waits for what another queue's chunks are before.
for rows in 40 57 74; do
  OPENCL_LAYERS=$programs/as_gpu.so timeout 240 gpusparc run --devices cpu:2 --gpus 1 "$programs/last_wait" $rows >out.txt || { cat out.txt; fail "last_wait $rows"; }
  grep -q "it has ended" out.txt || fail "last_wait $rows: nothing is waited for"
done

# Its number of GPUs counts from its next job on, also where the jobs follow one another by rows without a unit. (The log is written in blocks.)
rm -f go said
mkfifo go said
launches() { grep -c '^clEnqueueNDRangeKernel' modes.log; }
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 FAKE_LOG=modes.log timeout 240 gpusparc run --gpus 2 --mode multi --task one "$programs/locks" 300 3 3 <go >said 2>err.txt &
app=$!
exec 3>go 4<said
counts=()
last=0
for mode in multi 1 end; do
  read -r said <&4 || true
  counts+=($(($(launches) - last)))
  last=$(launches)
  [ $mode != end ] || break
  sed -i "s/^mode = .*/mode = $mode/" "$dir/conf"
  gpusparc reload >/dev/null
  echo >&3
done
wait $app || { cat err.txt; fail "a task whose mode changes"; }
exec 3>&- 4<&-
echo "launches of a task with one GPU, two, and one: ${counts[*]}"
[ "${counts[1]}" -ge 1600 ] || fail "a task that has two GPUs from now on goes on with one"

# One that goes alone as no task, and becomes one, has jobs from then on.
rm -f go said
mkfifo go said
GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 timeout 240 gpusparc run --gpus 1 --task later "$programs/locks" 300 3 2 <go >said 2>err.txt &
app=$!
apps=$app
exec 3>go 4<said
read -r said <&4 || { cat err.txt; fail "locks, no task yet"; }
printf '[task later]\nperiod = 1s\nmode = 1\n' >>"$dir/conf"
gpusparc reload >/dev/null
echo >&3
wait $app || { cat err.txt; fail "locks, a task by now"; }
apps=
exec 3>&- 4<&-
jobs=$(jobs_now later)
echo "300 jobs of one that has become a task: $jobs"
[ "$jobs" -ge 250 ] && [ "$jobs" -le 300 ] || fail "300 jobs of one that has become a task were counted as $jobs"

# Who waits doesn't take for ended what another thread enqueues meanwhile: two launches of a second each keep the GPU.
before=$(busy)
mkdir -p cache
rm -rf cache/*
FAKE_ITEM_NS=10 FAKE_ROUNDS=1 GPUSPARC_REAL=$programs/fake.so XDG_CACHE_HOME=$PWD/cache timeout 240 gpusparc run --gpus 1 "$programs/ahead" >out.txt 2>err.txt ||
  { cat err.txt; fail "ahead"; }
took=$(($(busy) - before))
[ $took -ge 1900000000 ] || fail "two launches of a second each had the GPU for $took ns"

# What blocks has no unit while it waits for commands that need more of them.
end_daemon
sed -i 's/^realtime/depth = 1\n&/' "$dir/conf"
begin_daemon
"$programs/crossed" >alone.txt || fail "crossed without gpusparc"
for transfer in auto plain; do
  OPENCL_LAYERS=$programs/as_gpu.so GPUSPARC_TRANSFER=$transfer timeout 240 gpusparc run --devices cpu:2 --gpus 1 "$programs/crossed" >out.txt 2>err.txt ||
    { cat err.txt; fail "crossed: $transfer"; }
  cmp alone.txt out.txt || fail "crossed: $transfer differs"
done
end_daemon
sed -i '/^depth/d' "$dir/conf"
begin_daemon

# Nor is there a unit for what waits for the application itself, though that has begun to before the daemon came.
end_daemon
rm -f go
mkfifo go
OPENCL_LAYERS=$programs/as_gpu.so GPUSPARC_TRANSFER=plain timeout 240 gpusparc run --devices cpu:2 --gpus 1 "$programs/early" >out.txt 2>err.txt <go &
app=$!
exec 3>go
for _ in $(seq 500); do grep -q ready err.txt && break; sleep 0.02; done
begin_daemon
echo >&3
exec 3>&-
wait $app || { cat err.txt; fail "early"; }

# What has to wait for a unit isn't what tells of the ends of those that have one.
for _ in 1 2 3; do
  OPENCL_LAYERS=$programs/as_gpu.so timeout 240 gpusparc run --devices cpu:2 --gpus 1 "$programs/turns" >out.txt 2>err.txt ||
    { cat out.txt err.txt; fail "turns"; }
done

# Two threads in one queue: rows of the one, whatever the other does.
for ((s = seed; s < seed + 2 * rounds; s++)); do
  "$programs/shared_queue" "$s" 60 >alone.txt || fail "shared_queue $s fails without gpusparc"
  for gpus in 1 2; do
    OPENCL_LAYERS=$programs/as_gpu.so timeout 240 gpusparc run --devices cpu:2 --gpus $gpus "$programs/shared_queue" "$s" 60 >out.txt 2>err.txt ||
      { cat err.txt; fail "shared_queue $s"; }
    cmp alone.txt out.txt || fail "shared_queue $s differs"
  done
done

# What one queue's command waits for in another is sent off before it, for devices that take all queues' in that order.
"$programs/queues" >alone.txt
LAZY=unflushed,lanes OPENCL_LAYERS=$programs/as_gpu.so:$programs/lazy.so GPUSPARC_TRANSFER=plain timeout 240 gpusparc run --devices cpu:2 --gpus 2 --mode multi \
  "$programs/queues" >out.txt 2>err.txt || { cat err.txt; fail "queues, in lanes"; }
cmp alone.txt out.txt || fail "queues, in lanes: differs"

for ((s = seed; s < seed + rounds; s++)); do
  "$programs/stress" "$s" 300 3 >alone.txt || { cat alone.txt; fail "seed $s fails without gpusparc"; }
  for way in 1:auto 2:plain 2:pinned; do
    rc=0
    OPENCL_LAYERS=$programs/as_gpu.so GPUSPARC_TRANSFER=${way#*:} timeout 200 gpusparc run --devices cpu:2 --gpus "${way%:*}" --mode multi \
      "$programs/stress" "$s" 300 3 >out.txt 2>err.txt & app=$!
    if [ $((s % 2)) = 0 ]; then # others say hello, and leave
      while kill -0 $app 2>/dev/null; do timeout 240 gpusparc run --devices cpu:2 "$programs/untied" >/dev/null 2>&1 || true; sleep 0.1; done
    fi
    wait $app || rc=$?
    [ "$rc" = 0 ] || { cat err.txt; fail "seed $s: $way exits with $rc"; }
    cmp alone.txt out.txt || { diff alone.txt out.txt | head -5; fail "seed $s: $way differs"; }
  done
done
echo "seeds $seed to $((seed + rounds - 1)): the same"
end_daemon
echo passed
