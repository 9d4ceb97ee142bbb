#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is one job of a task: writes, kernels and all the reads after them, not one for each read; and the last one counts
# although nothing follows it.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
export GPUSPARC_SOCKET=$PWD/sock
printf '[system]\ngpus = 2\nrealtime = no\n[task t]\nperiod = 50ms\nuser = *\n' >conf
gpusparc daemon --config conf --socket "$PWD/sock" 2>daemon.log &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; rm -f sock sock.lock' EXIT
for ((i = 0; i < 100; i++)); do gpusparc status --json >status.json 2>/dev/null && break; sleep 0.1; done
jobs() { gpusparc status --json >status.json; python3 -c 'import json; print(json.load(open("status.json"))["tasks"][0]["jobs"])'; }
# knn reads two buffers in each iteration, with a call that waits each; paced or not.
expected=0
for options in "" --pace "--mode multi --pace" "--mode single"; do
  # shellcheck disable=SC2086
  gpusparc run --devices cpu:2 --task t $options -- "$samples/knn" --size 256 --iterations 5 --no-check >out.txt 2>err.txt ||
    { cat err.txt; fail "knn $options"; }
  expected=$((expected + 5))
  for ((i = 0; i < 50 && $(jobs) < expected; i++)); do sleep 0.1; done
  [ "$(jobs)" -eq $expected ] || fail "$(jobs) jobs after $options, not $expected"
done
