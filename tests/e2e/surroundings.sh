#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# surroundings.sh [FILES]: what else may be on a machine, under a daemon: a clock of the day that jumps, another allocator,
# AddressSanitizer, and the kernel that ends whoever has taken too much memory; with FILES, so many in the cache. The bytes
# are the plain run's.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon <<'CONF'
[task t]
period = 100ms
user = *
CONF
app=("$GS_BUILD/lib/gpusparc/samples/matmul" --size 128 --iterations 20 --no-check)
"${app[@]}" --output plain >/dev/null
run() { # NAME [VARIABLE=VALUE...]: as the task, split
  local name=$1
  shift
  env "$@" gpusparc run --devices cpu:2 --mode multi --task t --task-required --stats=stats.json "${app[@]}" --output split >out.txt 2>err.txt ||
    fail "$name: $? $(cat err.txt)"
  cmp plain split || fail "$name: other bytes"
  stats stats.json split:matmul
  [ "$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])')" = 0 ] ||
    fail "$name: a unit was taken back: $(cat "$dir/log")"
  echo "$name: as without"
}

LD_PRELOAD=$GS_BUILD/tests/e2e/jumping_clock.so begin_daemon
LD_PRELOAD=$GS_BUILD/tests/e2e/jumping_clock.so gpusparc set t period=200ms >/dev/null || fail "set"
LD_PRELOAD=$GS_BUILD/tests/e2e/jumping_clock.so gpusparc reload >/dev/null || fail "reload"
run "a clock that jumps" LD_PRELOAD="$GS_BUILD/tests/e2e/jumping_clock.so"
end_daemon

begin_daemon
jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1)
if [ -n "$jemalloc" ]; then
  run jemalloc LD_PRELOAD="$jemalloc"
else
  echo "left out, jemalloc: libjemalloc2 is not installed" >&2
fi

asan=$(cc -print-file-name=libasan.so)
if [ -e "$asan" ]; then
  # gpusparc's library comes before the sanitizer's, which by itself refuses that.
  run AddressSanitizer LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
else
  echo "left out, AddressSanitizer: the compiler has no libasan.so" >&2
fi

if [ $# -gt 0 ]; then
  mkdir -p many/gpusparc
  (cd many/gpusparc && seq -f '%064.0f' "$1" | xargs touch)
  run "a cache of $1 files" XDG_CACHE_HOME="$PWD/many"
  rm -rf many
fi

# The kernel ends an application of the task: the next one runs.
group=/sys/fs/cgroup/memory/gpusparc-$$
if [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null && echo 400M >"$group/memory.limit_in_bytes"; then
  trap 'end_all; rmdir "$group" 2>/dev/null || true' EXIT
  rc=0
  sh -c 'echo $$ >"$0/cgroup.procs"; exec gpusparc run --devices cpu:2 --task t "$@"' "$group" "$GS_BUILD/lib/gpusparc/samples/matmul" --size 8192 --no-check >out.txt 2>&1 || rc=$?
  [ $rc = 137 ] || fail "out of memory: status $rc: $(tail -3 out.txt)"
  run "after one that ran out of memory"
  [ "$(gpusparc status --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["clients"]))')" = 0 ] || fail "the dead are clients still"
else
  echo "left out, the end by the kernel: no group of processes with a limit can be made here" >&2
fi
end_daemon
