#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sentences of docs/messages.md that need a driver, a translator or a system that behaves as few do: each is made to
# appear here. Those of ordinary behaviour are shown by the tests of it.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
over_fake() { # STATS ARGUMENTS...: of programs/program_origins.c
  GPUSPARC_REAL=$programs/fake.so gpusparc run --mode multi --stats="$1" "$programs/program_origins" "${@:2}" || fail "program_origins ${*:2}"
}
# Where programs and objects come from.
over_fake origins.json
stats origins.json split:known \
  single:unbuilt:"it was not built" \
  single:unlinked:"it was compiled but not linked" \
  single:intermediate:"its program was made from an intermediate language" \
  single:built_in:"its kernel is built into the device" \
  single:binary:"its program was made from a binary whose source gpusparc doesn't know (if the application keeps it in a cache: emptying that once lets it be split)" \
  single:linked:"a program that it is linked from was not compiled from source" \
  single:extension:"its program was made by an extension that gpusparc doesn't know" \
  single:again:"its program was built again while it had kernels" \
  single:nowhere:"the translator doesn't know the kernel" \
  single:foreign:"it takes a memory object that gpusparc doesn't know"
over_fake unknown.json unknown called
stats unknown.json single:known:"the application has called a function of an extension that gpusparc doesn't know"
over_fake pointer.json one called
stats pointer.json single:known:"the application sets arguments by an extension in this context"
over_fake two.json one another called
stats two.json single:known:"two OpenCL platforms have the same extension, whose calls can bypass gpusparc"

# Translators that answer what they weren't asked, or what doesn't compile.
translator() { # COMMAND, which has the question on its standard input
  printf '#!/bin/sh\n%s\n' "$1" >translator.sh
  chmod +x translator.sh
  export GPUSPARC_TRANSLATOR=$PWD/translator.sh
}
real=$GS_BUILD/lib/gpusparc/gpusparc-translate
over_cpu() { # STATS PROGRAM...: on separate memories
  GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --stats="$1" "${@:2}" >out.txt 2>err.txt || fail "${*:2}: $(cat err.txt)"
}
translator "$real \"\$@\" >answer; cat answer"
over_fake asked.json one
stats asked.json split:known
translator "cat >/dev/null; cat $PWD/answer"
over_cpu other.json "$programs/linking"
stats other.json single:linked:"the translator's answer doesn't fit the program"
translator "$real \"\$@\" | sed 's/get_group_id(0)/get_graup_id(0)/'"
over_cpu damaged.json "$programs/linking"
shows damaged.json "the summary of the program can't be read: %s"
unset GPUSPARC_TRANSLATOR
OPENCL_LAYERS=$programs/faults.so FAULT=clBuildProgram:2:-11 over_cpu broken.json "$programs/dlopened_opencl" libOpenCL.so.1 local
shows broken.json "its translation doesn't compile on every device of the group (error %d): %s"

# The host's memory is at its end, as a library before gpusparc has it: 1 MiB and more isn't to be had for gpusparc.
LD_PRELOAD=$programs/no_large_memory.so over_fake scarce.json large
stats scarce.json single:known:"there was too little memory to split it"

# What auto mode chooses, and expects, as the launches are shorter, or fewer.
: >auto.txt
for ns in 100 30 2; do
  rm -rf cache
  FAKE_ITEM_NS=$ns GPUSPARC_REAL=$programs/fake.so gpusparc run --stats=one.txt "$programs/paced" $((12000 / ns)) 65536
  cat one.txt >>auto.txt
done
FAKE_ITEM_NS=100 GPUSPARC_REAL=$programs/fake.so gpusparc run --stats=one.txt "$programs/paced" 400 1024
cat one.txt >>auto.txt
rm -rf cache
FAKE_ITEM_NS=100 FAKE_SLOWER=20 GPUSPARC_REAL=$programs/fake.so gpusparc run --stats=one.txt "$programs/paced" 80 262144
cat one.txt >>auto.txt
shows auto.txt "how long it takes isn't known yet" "its program is still being translated for a split" "it is too short to gain" \
  "too few launches so far to win back what a first split costs" "one device is faster" \
  "auto expects %.3f ms on one device, %.3f ms split" "auto expects %.3f ms on one device, at least %.3f ms split"

# Two threads that use the same buffers.
over_cpu halves.json "$programs/threads_on_halves"
stats halves.json why:count:"another thread is using one of its memory objects"

# A buffer in shared virtual memory.
over_cpu svm.json "$programs/svm"
[ "$(cat out.txt)" = "the device has none" ] || stats svm.json why:bump:"a memory object lies in shared virtual memory"

# By a daemon.
own_daemon <<'CONF'
[task one]
period = 1s
mode = 1
user = *
[task two]
period = 1s
mode = 2
user = *
CONF
begin_daemon
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi --task one --stats=one.json "$programs/unsplittable" keep >out.txt
stats one.json single:fine:"the daemon gives it one GPU"
gpusparc run --devices cpu:2 --mode auto --task two --stats=unit.json "$GS_BUILD/lib/gpusparc/samples/floydwarshall" --size 16 >out.txt
shows unit.json "it is so short that the daemon grants it as a whole"
says() { # STATUS SENTENCE OPTION...
  local rc=0
  gpusparc run --devices cpu:2 "${@:3}" "$programs/dlopened_opencl" libOpenCL.so.1 local >out.txt 2>err.txt || rc=$?
  [ $rc = "$1" ] || fail "${*:3}: exit status $rc: $(cat err.txt)"
  shows err.txt "$2"
}
says 125 "this program is no task of the daemon's config" --task-required
says 0 "--pace: %s: the jobs are not held back" --pace
end_daemon
says 125 "there is no daemon: this program is no task" --task-required
GPUSPARC_GUPS=2 says 0 "nothing reads the variable %s%s%s%s%s"
says 0 "%s: no kernel is called %s; %s has %s%s" --only nowhere

# Files that can't be written.
says 0 "the statistics can't be written to %s: %s" --stats=/dev/full
says 0 "the log ends here, it can't be written: %s" --log=/dev/full
by_itself() { # SENTENCE VARIABLE: without the launcher, which would look itself
  env "$2" GPUSPARC_DEVICES=cpu:2 GPUSPARC_MODE=multi LD_PRELOAD="$GS_BUILD/lib/gpusparc/libgpusparc-log.so $GS_BUILD/lib/gpusparc/libgpusparc.so" \
    "$programs/dlopened_opencl" libOpenCL.so.1 local >out.txt 2>err.txt || fail "$2: $(cat err.txt)"
  shows err.txt "$1"
}
by_itself "the log can't be written to %s: %s" GPUSPARC_LOG="$PWD/absent/log"
by_itself "%s can't be written: %s" GPUSPARC_DUMP="$PWD/absent"
mkdir -p dump
gpusparc run --devices cpu:2 --dump dump --mode multi "$programs/dlopened_opencl" libOpenCL.so.1 local >out.txt
for f in dump/*; do ln -sf /dev/full "$f"; done
says 0 "%s%s in %s can't be written: %s" --dump="$PWD/dump"
