#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# An application that is the only client of a daemon, on devices that say that they are GPUs: what counts as a job of a
# task, what its commands wait for, and the bytes of random sequences of commands. $GS_SEED is the first seed. What is
# tagged "exit" waits more than it works, and what is tagged "count" counts what the shim does while commands take
# microseconds: each is a test of its own.
bats_require_minimum_version 1.5.0

limited() { timeout -s KILL 200 gpusparc run "$@"; } # a hang ends here

setup() {
  source "$GS_SOURCE/tests/e2e/common.sh"
  unset GPUSPARC_REAL
  cd "$BATS_TEST_TMPDIR"
  own_daemon <<'END'
[task one]
period = 1s
mode = 1
END
  begin_daemon 3>&-
}

teardown() { end_all; }

# What the daemon knows: the time for which the first GPU was at work, and how many jobs of a task it has counted.
busy() { gpusparc status --json | python3 -c 'import json, sys; print([r for r in json.load(sys.stdin)["resources"] if r["name"] == "gpu0"][0]["busy_ns"])'; }
jobs_now() { gpusparc status --json | python3 -c 'import json, sys; t = [t for t in json.load(sys.stdin)["tasks"] if t["task"] == sys.argv[1]][0]; print(t["jobs"] + t["warmup_jobs"])' "${1:-one}"; }
jobs_of() { # PROGRAM ARGUMENT...: `jobs` is how many of task one are counted
  local before
  before=$(jobs_now)
  FAKE_ITEM_NS=5 GPUSPARC_REAL=$programs/fake.so limited --gpus 1 --task one "$programs/$1" "${@:2}" >jobs.txt
  jobs=$(($(jobs_now) - before))
  echo "$jobs jobs"
}
# Over PoCL, whose devices say that they are GPUs.
on_gpus() { OPENCL_LAYERS=$programs/as_gpu.so limited --devices cpu:2 "$@"; }
same_on_gpus() { # NAME OPTION...: what `program` prints is what it prints without gpusparc
  [ -e plain.txt ] || "${program[@]}" >plain.txt
  on_gpus "${@:2}" "${program[@]}" >out.txt
  diff plain.txt out.txt || fail "$1 differs"
}

@test "a paced application is held back at each job's begin" {
  begin=$(date +%s%N)
  GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=0.1 limited --gpus 1 --pace=10ms "$programs/job_rows" 200 3
  took=$((($(date +%s%N) - begin) / 1000000))
  echo "200 jobs with a period of 10 ms: $took ms"
  [ $took -ge 1900 ]
}

# bats test_tags=count
@test "what the host gets of shared virtual memory is a job's result" {
  for how in map copy finish; do
    before=$(jobs_now)
    on_gpus --gpus 1 --task one "$programs/svm_rows" 30 $how >out.txt
    "$programs/svm_rows" 30 $how | diff - out.txt
    [ $(($(jobs_now) - before)) = 30 ]
  done
}

# On a busy machine some jobs are seen to end late, and then count as one with the next.
# bats test_tags=count
@test "what begins with commands without an event is a job all the same" {
  GPUSPARC_REAL=$programs/fake.so limited --gpus 1 --task one "$programs/job_rows" 300 3 events
  jobs=$(jobs_now)
  echo "$jobs jobs"
  [ "$jobs" -ge 250 ]
  [ "$jobs" -le 310 ]
}

# bats test_tags=count
@test "each row of launches is one job, whose time of the GPU is the task's" {
  before=$(busy)
  jobs_of job_rows 4000 3
  took=$(($(busy) - before))
  echo "busy for $took ns" # 12000 launches of 10 us
  [ "$jobs" -ge 3600 ]
  [ "$jobs" -le 4000 ]
  [ $took -ge 80000000 ]
}

# A job has ended where the application has waited and nothing is under way. On a busy machine the rest of a job may
# have ended when it goes on from its wait for a part.
# bats test_tags=count
@test "a wait for a part of a job isn't its end" {
  for words in "500 queues" "500 events" "4000 twice"; do
    read -r n way <<<"$words"
    jobs_of read_amid_job "$n" "$way"
    idle=$(cat jobs.txt)
    echo "$way: all had ended by then $idle times"
    [ "$jobs" -ge $((n * 4 / 5)) ]
    [ "$jobs" -le $((n + idle)) ]
  done
}

# bats test_tags=count
@test "a job ends where another queue or thread waits for its end" {
  for way in queues threads; do
    jobs_of waited_for_elsewhere 2000 $way
    [ "$jobs" -ge 1900 ]
    [ "$jobs" -le 2010 ]
  done
}

# bats test_tags=count
@test "what a thread has left when it ended keeps no other thread's job from its end" {
  jobs_of thread_leaves_job 100 1000
  [ "$jobs" -ge 1000 ]
  [ "$jobs" -le 1110 ]
}

@test "a handler of exit() waits for what another queue's chunks are before" {
  for rows in 40 57 74; do
    on_gpus --gpus 1 "$programs/wait_at_exit" $rows | grep "it has ended"
  done
}

launches() { grep -c '^clEnqueueNDRangeKernel' modes.log; }
# bats test_tags=count
@test "a task's number of GPUs counts from its next job on" { # the log is written in blocks
  mkfifo go said
  GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 FAKE_LOG=modes.log limited --gpus 2 --mode multi --task one "$programs/job_rows" 300 3 3 <go >said 2>err.txt 3>&- &
  apps=$!
  exec 7>go 8<said
  counts=()
  last=0
  for mode in multi 1 end; do
    read -r said <&8 || true
    counts+=($(($(launches) - last)))
    last=$(launches)
    [ $mode != end ] || break
    sed -i "s/^mode = .*/mode = $mode/" "$dir/conf"
    gpusparc reload
    echo >&7
  done
  wait "$apps"
  apps=
  exec 7>&- 8<&-
  echo "with one GPU, two, and one: ${counts[*]} launches"
  [ "${counts[1]}" -ge 1600 ]
}

# bats test_tags=count
@test "an application that becomes a task has jobs from then on" {
  mkfifo go said
  GPUSPARC_REAL=$programs/fake.so FAKE_ITEM_NS=5 limited --gpus 1 --task later "$programs/job_rows" 300 3 2 <go >said 2>err.txt 3>&- &
  apps=$!
  exec 7>go 8<said
  read -r said <&8
  printf '[task later]\nperiod = 1s\nmode = 1\n' >>"$dir/conf"
  gpusparc reload
  echo >&7
  wait "$apps"
  apps=
  exec 7>&- 8<&-
  jobs=$(jobs_now later)
  echo "$jobs jobs of 300" # and the one before, whose end may be seen when the next one begins
  [ "$jobs" -ge 250 ]
  [ "$jobs" -le 301 ]
}

@test "who waits doesn't take for ended what another thread enqueues meanwhile" {
  before=$(busy)
  FAKE_ITEM_NS=10 FAKE_ROUNDS=1 GPUSPARC_REAL=$programs/fake.so XDG_CACHE_HOME=$PWD limited --gpus 1 "$programs/wait_during_launch"
  took=$(($(busy) - before))
  echo "busy for $took ns" # two launches of a second each
  [ $took -ge 1900000000 ]
}

@test "what blocks has no unit while it waits for commands that need more of them" {
  end_daemon
  sed -i 's/^realtime/depth = 1\n&/' "$dir/conf"
  begin_daemon 3>&-
  program=("$programs/read_behind_write")
  for transfer in auto plain; do GPUSPARC_TRANSFER=$transfer same_on_gpus $transfer --gpus 1; done
}

@test "a read has no unit that commands before it in its queue need" {
  end_daemon
  sed -i 's/^realtime/depth = 1\nalone = chunks\n&/' "$dir/conf"
  begin_daemon 3>&-
  program=("$programs/reads_beside_writes")
  AS_GPU=late GPUSPARC_TRANSFER=plain same_on_gpus late --gpus 1
}

# Threads of ours sleep by then.
# bats test_tags=exit
@test "a handler of exit() joins a thread that waits for a launch of many units" {
  for how in finish event read status profile callback user "status destructor" "finish library" "finish $programs/destructor_hook.so"; do
    FAKE_ITEM_NS=200 GPUSPARC_REAL=$programs/fake.so limited --gpus 1 "$programs/exit_joins_waiting_thread" $how >out.txt
    [ "$(cat out.txt)" = "${how% *} has ended" ]
  done
}

# bats test_tags=exit
@test "a launch of many units that nobody waits for doesn't go on while exit() takes the driver apart" {
  FAKE_END_MS=1500 FAKE_ITEM_NS=2000 GPUSPARC_REAL=$programs/fake.so limited --gpus 1 "$programs/exit_joins_waiting_thread" finish left
}

# Over PoCL, which lasts: a unit is small. The shim as a layer by itself, and beside its preload where the application's calls go
# past that, to a library of OpenCL that comes before.
# bats test_tags=exit
@test "a handler of exit() joins such a thread where the shim is a layer" {
  end_daemon
  sed -i 's/^realtime/kernel_chunk = 32\n&/' "$dir/conf"
  begin_daemon 3>&-
  shim=$GS_BUILD/lib/gpusparc/libgpusparc.so
  export GPUSPARC_DEVICES=cpu:2 GPUSPARC_GPUS=1 OPENCL_LAYERS=$programs/as_gpu.so:$shim
  for how in finish status "status destructor"; do
    timeout -s KILL 60 "$programs/exit_joins_waiting_thread" $how >out.txt
    [ "$(cat out.txt)" = "${how% *} has ended" ]
  done
  loader=$(ldd "$programs/exit_joins_waiting_thread" | sed -n 's/.*libOpenCL.* => \([^ ]*\).*/\1/p')
  LD_PRELOAD=$loader:$shim timeout -s KILL 60 "$programs/exit_joins_waiting_thread" finish >out.txt
  [ "$(cat out.txt)" = "finish has ended" ]
  LD_PRELOAD=$loader:$shim timeout -s KILL 60 "$programs/exit_joins_waiting_thread" finish driver
}

@test "what waits for the application since before the daemon came has no unit" {
  end_daemon
  mkfifo go
  GPUSPARC_TRANSFER=plain OPENCL_LAYERS=$programs/as_gpu.so limited --devices cpu:2 --gpus 1 "$programs/early_user_event" >out.txt 2>err.txt <go 3>&- &
  app=$!
  exec 7>go
  for _ in $(seq 500); do grep -q ready err.txt && break; sleep 0.02; done
  begin_daemon 3>&-
  echo >&7
  exec 7>&-
  wait $app
}

@test "what has to wait for a unit isn't what tells of the ends of those that have one" {
  for _ in 1 2 3; do on_gpus --gpus 1 "$programs/two_kernels_in_turn"; done
}

# Also where a device carries out its queues' commands one after the other, and another queue's waits.
@test "what waits for the application isn't waited for" {
  export LAZY=channels LAZY_REPORT=$PWD/lazy.txt
  for how in "" svm beside; do
    layers=$programs/as_gpu.so
    [ "$how" != beside ] || layers=$layers:$programs/lazy.so
    OPENCL_LAYERS=$layers "$programs/launches_behind_event" $how >plain.txt
    OPENCL_LAYERS=$layers limited --devices cpu:2 --gpus 1 "$programs/launches_behind_event" $how >out.txt
    diff plain.txt out.txt
  done
}

@test "two threads in one queue" {
  for ((s = GS_SEED; s < GS_SEED + 2; s++)); do
    echo "seed $s"
    program=("$programs/shared_queue" $s 60)
    rm -f plain.txt
    for gpus in 1 2; do same_on_gpus "$gpus GPUs" --gpus $gpus; done
  done
}

@test "what one queue's command waits for in another is sent off before it" { # for devices that take all queues' in that order
  "$programs/queues" >plain.txt
  LAZY=unflushed,lanes OPENCL_LAYERS=$programs/as_gpu.so:$programs/lazy.so GPUSPARC_TRANSFER=plain limited --devices cpu:2 --gpus 2 --mode multi "$programs/queues" >out.txt
  diff plain.txt out.txt
}

stress() { # SEED
  program=("$programs/stress" "$1" 300 3)
  rm -f plain.txt
  for way in 1:auto 2:plain 2:pinned; do
    GPUSPARC_TRANSFER=${way#*:} same_on_gpus "seed $1, $way" --gpus "${way%:*}" --mode multi
  done
}
@test "random sequences of commands compute the same" { stress "$GS_SEED"; }

@test "random sequences of commands compute the same while others come and go" {
  while :; do limited --devices cpu:2 "$programs/queues" || true; sleep 0.1; done >others.txt 2>&1 3>&- &
  apps=$!
  stress $((GS_SEED + 1))
}
