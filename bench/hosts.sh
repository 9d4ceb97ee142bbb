#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two hosts (network namespaces with a core each, sshd in them) against one of them, as a table. As root, after
# scripts/remote.sh; wants a build in build/ (or GS_BUILD).
#   bench/hosts.sh [RUNS [RATE]]     RATE, such as 1gbit, limits the links
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
export GS_SOURCE=$PWD GS_BUILD=${GS_BUILD:-$PWD/build}
export PATH=$GS_BUILD/bin:$PATH POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache}
source tests/hosts/namespaces.sh
runs=${1:-3}
hosts_up 2 ${2:+"$2"}
echo "commit $(git rev-parse --short HEAD), load $(cut -d' ' -f1 /proc/loadavg), link ${2:-bare}, medians of $runs, ms in all"
gpusparc devices --hosts gs1,gs2
# Once before: a server compiles each kernel when it is first launched there.
time_of() { # HOSTS MODE SAMPLE ARGUMENTS: the median of what the sample says of itself
  for run in $(seq 0 "$runs"); do
    gpusparc run --hosts "$1" --hosts-required --mode "$2" "$GS_BUILD/lib/gpusparc/samples/$3" --no-check --times "${@:4}" 2>/dev/null |
      sed -n 's/.*"total_ms": \([0-9.]*\).*/\1/p' | { [ "$run" = 0 ] && cat >/dev/null || cat; }
  done | sort -n | sed -n "$(((runs + 1) / 2))p"
}
echo "| program | one host | two, multi | times | two, auto | times |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
while read -r name arguments; do
  # shellcheck disable=SC2086
  one=$(time_of gs1 single $name $arguments) multi=$(time_of gs1,gs2 multi $name $arguments) auto=$(time_of gs1,gs2 auto $name $arguments)
  awk -v n="$name $arguments" -v a="$one" -v b="$multi" -v c="$auto" \
    'BEGIN {printf "| %s | %.0f | %.0f | %.2f | %.0f | %.2f |\n", n, a, b, b ? a / b : 0, c, c ? a / c : 0}'
done <<'END'
matmul --size 768
binomial --size 4096
knn --size 1024
vectoradd --size 1000000
fdtd3d --size 64 --steps 10
END
