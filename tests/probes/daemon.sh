#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A probe beside others, under the daemon: it waits while the GPU is held, --force doesn't, and a probe that is killed
# leaves the GPU free.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
pids=()
trap 'for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null || true; done' EXIT

export GPUSPARC_SOCKET=$PWD/d.sock
cat >d.conf <<'C'
[system]
gpus = 1
cpus = 2
watchdog = 60s
C
gpusparcd --socket "$GPUSPARC_SOCKET" --config d.conf >d.log 2>&1 &
pids+=($!)
for _ in $(seq 50); do [ -S "$GPUSPARC_SOCKET" ] && break; sleep 0.1; done
[ -S "$GPUSPARC_SOCKET" ] || { cat d.log; fail "the daemon did not come up"; }

gpusparc probe order --count 2 --runs 200 >out.txt 2>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "a probe alone has nothing to say"; }

# Probes that are stopped at random moments until one of them holds the GPU: the next one has to wait for it.
held=no
for try in $(seq 20); do
  gpusparc probe order --by atomic --count 32 --runs 100000000 >/dev/null 2>&1 &
  holder=$!
  pids+=($holder)
  sleep 1.$((RANDOM % 10))
  kill -STOP $holder
  if ! timeout --preserve-status -s INT 4 gpusparc probe order --count 2 --runs 10 --json >out.txt 2>err.txt; then cat err.txt; fail "rc"; fi
  if grep -q "waiting: other applications" err.txt; then
    held=yes
    break
  fi
  kill -9 $holder
  wait $holder 2>/dev/null || true
done
[ $held = yes ] || fail "no probe ever held the GPU"
python3 -c 'import json; assert json.load(open("out.txt"))["points"][0]["vectors"] == 0'
grep -q "stopped early" err.txt || fail "no word of the interruption"

timeout 20 gpusparc probe order --count 2 --runs 10 --force --json >out.txt 2>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "--force has nothing to say"; }

# The holder dies: the GPU is free again for the probe that waits.
gpusparc probe order --count 2 --runs 10 --json >out.txt 2>err.txt &
waiter=$!
pids+=($waiter)
sleep 2
kill -9 $holder
wait $waiter || { cat err.txt; fail "the waiting probe gave $?"; }
python3 -c 'import json; assert json.load(open("out.txt"))["points"][0]["vectors"] == 10'
echo passed
