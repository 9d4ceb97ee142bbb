#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program whose splits no single process wins back what the compiler takes for: it is compiled once the first process
# has ended, beyond it, and the next one splits from its first launch on. Over a driver whose GPUs only let time pass,
# and over PoCL, whose devices pass for GPUs.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache PACED_BYTES=140000
rm -rf cache

# What the compiler takes for 140 KB is reckoned at 2.2 s: 20 launches of 20 ms gain 0.2 by two devices, less than that
# and more than a 32nd, on a slow machine as well.
fake() { # OPTIONS
  FAKE_ITEM_NS=${item:-300} GPUSPARC_REAL=$programs/fake.so gpusparc run --stats=stats.txt "$@" "$programs/paced" ${launches:-20} 65536
}
nothing() { # WHAT
  [ -z "$(ls cache/gpusparc/job-* cache/gpusparc/built-* 2>/dev/null)" ] || fail "$1: something is to be compiled"
}
ended() { await "gpusparc-compile doesn't end" none_compile; }
not_again() { ! grep -q "once this process has ended" stats.txt || fail "$1 is to be compiled again: $(cat stats.txt)"; }

fake >/dev/null
grep -qE "advance +20 +0 " stats.txt || fail "the first process splits: $(cat stats.txt)"
shows stats.txt "programs that are compiled for splits once this process has ended, for later ones: %llu"
until_compiled 1
ls cache/gpusparc/job-* 2>/dev/null && fail "the job is still there"
# The next process makes it ready with the kernel object, before any launch.
ready() { # WHEN
  rm -f input debug.txt
  mkfifo input
  launches=0 GPUSPARC_DEBUG=1 fake <input >/dev/null 2>debug.txt &
  exec 3>input
  await "$1 it isn't made ready before a launch" grep -q "was translated" debug.txt
  exec 3>&-
  wait $!
}
ready "by the mark"
# What was measured of the link between the devices counts until splits have told more.
links=$(echo cache/gpusparc/learnt-*)
printf 'gpusparc cache\nmemory 7000 200\n' >"${links/learnt-/links-}"
for kept in 1 0; do
  GPUSPARC_DEBUG=1 fake 2>debug.txt >/dev/null
  grep -qE "advance +20 +[1-9]" stats.txt || fail "the next process doesn't split: $(cat stats.txt)"
  [ "$(grep -c "the host: 7000 ns" debug.txt)" = $kept ] || fail "not $kept: $(head debug.txt)"
done
shows stats.txt "programs that were compiled for splits after an earlier process: %llu"
gpusparc cache | grep -qE "^  built +1 " || fail "gpusparc cache: $(gpusparc cache)"

# Once a process has prepared it, that counts, which the mark hasn't seen: what two launches gain is enough.
launches=2 fake >/dev/null
printf 'gpusparc cache\n3 99000000000000 1\n' >"$(echo cache/gpusparc/built-*)"
ready "by a process's own time"

# So does a process of one launch, of 2 s, which is known only once it has ended: the next one waits for what is compiled.
gpusparc cache --clear >/dev/null
for split in 0 1; do
  item=30000 launches=1 fake >/dev/null
  grep -qE "advance +1 +$split " stats.txt || fail "not $split of one launch: $(cat stats.txt)"
  until_compiled 1
done

# Nothing where it is asked to begin anew, in other modes, and where no later process would see it.
gpusparc cache --clear >/dev/null
for how in --forget "--mode single" "--mode multi" --verify; do
  fake $how >/dev/null
  nothing "$how"
done
GPUSPARC_CACHE_SIZE=0 fake >/dev/null
not_again "without a cache something"

# Jobs that nobody does, as their applications were ended by signals, keep no other from being done.
mkdir -p cache/gpusparc
for i in $(seq 10 41); do printf 'gpusparc cache\n4' >cache/gpusparc/job-"$(printf "$i%.0s" {1..32})"; done
fake >/dev/null
until_compiled 1
[ -z "$(ls cache/gpusparc/job-* 2>/dev/null)" ] || fail "jobs are left: $(ls cache/gpusparc)"
gpusparc cache --clear >/dev/null

# Whoever waits for the application's output doesn't wait for the compiler, which would take ten minutes. It is in a
# session of its own, and holds nothing of the application's.
began() { grep -q "^$1 0 " cache/gpusparc/built-* 2>/dev/null && [ "$(compilers | wc -l)" = 2 ]; }
leader() { # of those that compile: the others are its children
  local p
  for p in $(compilers); do
    if read -r _ _ _ _ _ session _ <"/proc/$p/stat" && [ "$session" = "$p" ]; then echo "$p"; fi
  done
}
out=$(exec 7>held; FAKE_BUILD_MS=600000 programs=$programs nice -n 3 bash -c "$(declare -f fake); fake" 2>&1)
await "gpusparc-compile doesn't begin: $out" began 1
pid=$(leader)
read -r _ _ _ _ _ session terminal _ <"/proc/$pid/stat"
[ "$session" = "$pid" ] && [ "$terminal" = 0 ] || fail "of session $session, terminal $terminal"
[ "$(readlink "/proc/$pid/cwd")" = / ] || fail "it holds the folder $(readlink "/proc/$pid/cwd")"
for fd in 0 1 2; do
  [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] || fail "descriptor $fd of it is $(readlink "/proc/$pid/fd/$fd")"
done
for fd in "/proc/$pid/fd"/*; do
  case $(readlink "$fd") in
  pipe:* | */held) fail "it holds $(readlink "$fd")" ;;
  esac
done
tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qx gpusparc-compile || fail "it is called $(tr '\0' ' ' <"/proc/$pid/cmdline")"
! tr '\0' '\n' <"/proc/$pid/environ" | grep -E "^(LD_PRELOAD|GPUSPARC_STATS)=" || fail "it has variables of the application's"
[ "$(awk '{ print $19 }' "/proc/$pid/stat")" = $(($(nice) + 13 < 19 ? $(nice) + 13 : 19)) ] || fail "it isn't nice enough"

# Only one at a time. What another application leaves meanwhile is done by whoever comes next.
one_compiles() { [ "$(leader)" = "$pid" ]; }
PACED_BYTES=145000 fake >/dev/null
await "two compile at once" one_compiles
[ "$(ls cache/gpusparc/job-* | wc -l)" = 2 ] || fail "the other application's job: $(ls cache/gpusparc)"
kill -KILL "$pid"
ended
fake >/dev/null
until_compiled 2
# Two that end at once.
gpusparc cache --clear >/dev/null
(PACED_BYTES=145000 fake >/dev/null) &
fake --stats=other.txt >/dev/null
wait $!
until_compiled 2

# One that is killed is tried thrice, and never again.
gpusparc cache --clear >/dev/null
for tries in 1 2 3; do
  FAKE_BUILD_MS=600000 fake >/dev/null
  await "it isn't tried $tries times" began $tries
  kill -KILL $(compilers)
  ended
done
fake >/dev/null
not_again "what has failed three times"
none_compile || fail "it is tried a fourth time"

# GPUs of which one process at a time may have a context are left alone, and no try is counted. CUDA is begun for that
# alone, once.
rm -rf cache
cuda() { # VARIABLES
  rm -f begun.txt
  (export CUDA_LOG=$PWD/begun.txt LD_LIBRARY_PATH=$programs/cuda:${LD_LIBRARY_PATH:-} "$@"; fake >/dev/null)
  await "it doesn't ask whether it may use the GPUs" grep -qs begins begun.txt
  ended
  [ "$(cat begun.txt)" = begins ] || fail "CUDA is begun $(wc -l <begun.txt) times"
}
cuda CUDA_MODE=3
ls cache/gpusparc/job-* >/dev/null || fail "the job is gone"
! ls cache/gpusparc/built-* 2>/dev/null || fail "it was tried on GPUs that are another's: $(cat cache/gpusparc/built-*)"
cuda
are_built 1 || fail "it isn't compiled: $(ls cache/gpusparc)"

# Whoever removes the cache meanwhile finds it gone.
gpusparc cache --clear >/dev/null
FAKE_BUILD_MS=3000 fake >/dev/null
await "gpusparc-compile doesn't begin" began 1
kill -STOP $(compilers)
rm -rf cache
kill -CONT $(compilers)
ended
[ ! -e cache ] || fail "the cache is there again: $(ls cache/gpusparc)"
# Wherever it is then: here, where nothing has been translated yet.
fake --mode multi env GPUSPARC_RUN=compile >/dev/null
[ ! -e cache ] || fail "gpusparc-compile makes the cache: $(ls cache/gpusparc)"

# A driver that keeps nothing: its compiler is counted as what it takes each time. A process that was told otherwise
# remembers, and the next one does without.
apart() { # WHEN
  FAKE_BUILD_MS=1000 GPUSPARC_DEBUG=1 fake 2>debug.txt >/dev/null
  ! grep "compiled for" debug.txt || fail "$1 it is compiled beside the application"
}
for told in right wrong; do
  rm -rf cache
  FAKE_BUILD_MS=1000 fake >/dev/null
  until_compiled 1
  if [ $told = wrong ]; then
    printf 'gpusparc cache\n3 1000000 1\n' >"$(echo cache/gpusparc/built-*)"
    FAKE_BUILD_MS=1000 fake >/dev/null
  fi
  apart "once a process was told $told how long that takes"
done

# Over PoCL: the same bytes, and a compiler that refuses the translation is asked thrice. The launches are as long as it
# takes to gain a sixth of a second: for 140 KB the compiler is reckoned at 2.2. It is the processors' time that is measured,
# which a busy machine has as much of.
export OPENCL_LAYERS=$programs/as_gpu.so:$programs/faults.so POCL_CACHE_DIR=$PWD/pocl
rounds=100
app() { "$@" "$programs/paced" 20 65536 $rounds each; }
spent() { # the processors' ms of a run, in the user's code
  local TIMEFORMAT=%U seconds
  seconds=$({ time app env >/dev/null; } 2>&1)
  echo $((10#${seconds/./}))
}
alone=$(app) rounds=0 # it is compiled
begun=$(spent)
for ((rounds = 100; $(spent) - begun < 320; rounds *= 2)); do :; done
alone=$(app)
pocl() { # OPTIONS
  rm -f stats.txt
  app gpusparc run --devices cpu:2 "$@"
}
remembered() { grep -qs "^$tries 0 " cache/gpusparc/built-* && none_compile; }
rm -rf cache
for tries in 1 2 3; do
  [ "$(FAULT=clBuildProgram:2:-11 pocl --stats=stats.txt)" = "$alone" ] || fail "other bytes where it is refused"
  grep -qE "churn +20 +0 " stats.txt || fail "split, though it is refused: $(cat stats.txt)"
  await "it isn't remembered that it was refused $tries times: $(cat stats.txt)" remembered
done
[ "$(pocl --stats=stats.txt)" = "$alone" ] || fail "other bytes once it was refused"
not_again "what was refused three times"
rm -rf cache
[ "$(pocl --stats=stats.txt)" = "$alone" ] || fail "other bytes in the first process"
grep -qE "churn +20 +0 " stats.txt || fail "split in the first process: $(cat stats.txt)"
until_compiled 1
[ "$(pocl --stats=stats.txt)" = "$alone" ] || fail "other bytes in the second process"
not_again "what is compiled"
! grep -qE "churn +20 +0 " stats.txt || fail "not split in the second process: $(cat stats.txt)"

# What carries bytes between the GPUs is found out then, too, once: beside an application that takes half of its run.
rm -rf cache install asked
mkdir -p install/bin install/lib
cp "$GS_BUILD/bin/gpusparc" install/bin/
cp -r "$GS_BUILD/lib/gpusparc" install/lib/
printf '#!/bin/sh\necho asked >>%s/asked\necho ok\n' "$PWD" >install/lib/gpusparc/gpusparc-link-probe
LAZY=gpu OPENCL_LAYERS=$programs/lazy.so POCL_DEVICES="pthread pthread" LD_LIBRARY_PATH=$programs/cuda:${LD_LIBRARY_PATH:-} \
  GPUSPARC_DEBUG=1 app install/bin/gpusparc run --devices gpu 2>debug.txt >/dev/null || fail "over GPUs with windows: $(cat debug.txt)"
until_compiled 1
[ "$(cat asked)" = asked ] || fail "the link is probed $(wc -l <asked) times, not once"
! grep "the link between" debug.txt || fail "the application has the link probed"

# CPU devices have no part in it.
OPENCL_LAYERS=
rm -rf cache
[ "$(pocl)" = "$alone" ] || fail "CPUs: other bytes"
nothing "CPUs"
echo passed
