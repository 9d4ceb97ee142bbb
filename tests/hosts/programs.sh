#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of tests/e2e over two hosts, unsplit and split: the plain run's output.
#   programs.sh "PROGRAM ARGUMENT..."...
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
rm -rf ./*
hosts_up 2
same() { # NAME ARGUMENTS...
  local mode rc
  POCL_MAX_PTHREAD_COUNT=1 timeout -s KILL 60 "$GS_BUILD/tests/e2e/$1" "${@:2}" >plain.txt 2>plain.err || fail "$* fails alone: $(tail -3 plain.err)"
  for mode in single multi; do
    rc=0
    timeout -s KILL 200 gpusparc run --mode $mode --hosts gs1,gs2 --hosts-required "$GS_BUILD/tests/e2e/$1" "${@:2}" >out.txt 2>err.txt || rc=$?
    [ $rc = 0 ] || fail "$* in $mode exits with $rc: $(tail -3 err.txt)"
    cmp plain.txt out.txt || { diff plain.txt out.txt | head -4 || true; fail "$* in $mode differs"; }
  done
}
for program; do
  # shellcheck disable=SC2086
  same $program
done
