#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Samples over two hosts give one device's bytes; nothing listens on a host afterwards.
#   samples.sh [HOSTS [SAMPLE...]]
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
count=${1:-2}
shift || true
samples=$GS_BUILD/lib/gpusparc/samples
[ $# -gt 0 ] || set -- vectoradd matmul binomial histogram knn reduction fdtd3d sobel dwthaar1d atomiccounters radixsort
rm -rf ./*
hosts_up "$count"
list=$(seq -s, -f 'gs%g' "$count")
failed=0
for name; do
  arguments=$(sed -n "s/^$name *|[^|]*| *\([^|]*[^| ]\) *|.*/\1/p" "$samples/MANIFEST")
  # shellcheck disable=SC2086
  POCL_MAX_PTHREAD_COUNT=1 "$samples/$name" $arguments --output plain >/dev/null || fail "$name doesn't run plain"
  rc=0
  # shellcheck disable=SC2086
  gpusparc run --hosts "$list" --hosts-required --mode multi --stats="$name.json" "$samples/$name" $arguments --output remote >out 2>err || rc=$?
  if [ $rc != 0 ] || ! cmp -s plain remote; then
    echo "$name: exit status $rc, $(cmp plain remote 2>&1 | head -1) $(tail -3 err)"
    failed=1
  fi
  rm -f remote
done
for i in $(seq "$count"); do
  left=$(ip netns pids gs$$_$i | while read -r pid; do cat "/proc/$pid/comm" 2>/dev/null; done | grep -cx pocld || true)
  [ "$left" = 0 ] || fail "host gs$i still has $left servers"
done
[ $failed = 0 ] || fail "see above"
