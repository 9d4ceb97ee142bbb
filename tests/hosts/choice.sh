#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Over links of 1 Gbit/s and 0.9 ms `auto` leaves a stencil of 4 ms a launch on one host, in a first process as well, and
# splits what has little to move and much to do. On a busy machine some launches take many times as long, and it tries.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
rm -rf ./*
export XDG_CACHE_HOME=$PWD/cache
hosts_up 2 1gbit 450
splits() { # SAMPLE ARGUMENTS: of how many launches
  gpusparc run --hosts gs1,gs2 --hosts-required --mode auto --stats=stats.json "$GS_BUILD/lib/gpusparc/samples/$1" "${@:2}" --no-check >/dev/null 2>err || fail "$1: $(cat err)"
  python3 -c 'import json; print(sum(k["split"] for k in json.load(open("stats.json"))["kernels"]))'
}
for process in 1 2; do
  n=$(splits fdtd3d --size 64 --steps 10 --iterations 20)
  [ "$n" -le 20 ] || fail "process $process: $n of 200 launches of the stencil were split"
done
n=$(splits binomial --size 1024 --iterations 12)
[ "$n" -gt 4 ] || fail "$n of 12 launches of binomial were split"
