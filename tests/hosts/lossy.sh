#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two hosts behind links with a delay that lose packets: the bytes are the plain run's.
#   lossy.sh [MICROSECONDS [LOST]]    each way; of each thousand packets
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
rm -rf ./*
hosts_up 2 "" "${1:-2000}" "${2:-10}"
for sample in "vectoradd --size 100000" "matmul --size 128 --iterations 5" "binomial --size 256" "histogram --size 100000"; do
  read -ra app <<<"$sample"
  POCL_MAX_PTHREAD_COUNT=1 "$GS_BUILD/lib/gpusparc/samples/${app[0]}" "${app[@]:1}" --no-check --output plain >/dev/null
  for how in "--hosts gs1,gs2" "--hosts $hosts_net.1.2,$hosts_net.2.2 --hosts-plain"; do
    begin=$(date +%s%N) rc=0
    gpusparc run $how --hosts-required --mode multi "$GS_BUILD/lib/gpusparc/samples/${app[0]}" "${app[@]:1}" --no-check --output remote >out 2>err || rc=$?
    [ $rc = 0 ] && cmp plain remote || fail "$sample, $how: status $rc: $(cat err)"
    echo "$sample, $how: as the plain run, in $((($(date +%s%N) - begin) / 1000000)) ms"
  done
done
