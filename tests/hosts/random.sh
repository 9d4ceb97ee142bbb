#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random host programs (tests/e2e/programs/random_host_programs.c) around random kernels, over two hosts and three, one of them with
# --verify: the plain run's bytes.
#   random.sh [COUNT [SEED [STEPS [KERNELS]]]]
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
count=${1:-2} seed=${2:-1} steps=${3:-100} kernels=${4:-4}
program=$GS_BUILD/tests/e2e/random_host_programs
rm -rf ./*
hosts_up 3
under() { # NAME OPTIONS...
  local rc=0
  timeout -s KILL 200 gpusparc run --mode multi --hosts-required "${@:2}" --stats="$1.json" "$program" "$s" "$steps" kernels/*.cl >"$1.txt" 2>"$1.err" || rc=$?
  [ $rc = 0 ] || { tail -5 "$1.err"; fail "seed $s: $1 exits with $rc (steps $steps, kernels $kernels)"; }
  cmp alone.txt "$1.txt" || { diff alone.txt "$1.txt" | head -4 || true; fail "seed $s: $1 differs (steps $steps, kernels $kernels)"; }
  ! grep '^gpusparc' "$1.err" | grep -vE 'verify: .*(, all alike|not compared|nothing compared)' || fail "seed $s: $1 has something to say"
}
split=0
for ((s = seed; s < seed + count; s++)); do
  rm -rf kernels
  python3 "$GS_SOURCE/tests/access/generate.py" $((s * kernels)) 2 kernels
  python3 "$GS_SOURCE/tests/access/oracle/free.py" $((s * 200)) "$kernels" kernels "$GS_BUILD"
  POCL_MAX_PTHREAD_COUNT=1 timeout -s KILL 100 "$program" "$s" "$steps" kernels/*.cl >alone.txt 2>alone.err || fail "seed $s fails alone: $(tail -3 alone.err)"
  under two --hosts gs1,gs2
  under three --hosts gs3,gs1,gs2 --verify
  split=$((split + $(python3 -c 'import json; print(sum(k["split"] for k in json.load(open("two.json"))["kernels"]))')))
done
[ $split -gt 0 ] || fail "nothing was split"
echo "seeds $seed to $((seed + count - 1)): the same; $split launches were split"
