#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two hosts of a core each, of which the second is slowed by a quota: what share of the ideal `multi` and `auto` reach, in
# a process of 13 launches (their median) and in the first launch of the next process. That one compiles what it splits
# in its first launch, so its longest part is given, too. As root, on cgroup v1, after scripts/remote.sh.
#   bench/hosts_unequal.sh [RUNS [PERCENT...]]     the second host's share of a core; default 50 20 5
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
source tests/hosts/bench.sh
runs=${1:-3}
shift || true
[ $# -gt 0 ] || set -- 50 20 5
bench_hosts_up 2
mkdir $group/slow
slow_down() { # PERCENT of a core, in slices of 1 ms
  echo -1 >$group/slow/cpu.cfs_quota_us
  echo $((100000 / $1)) >$group/slow/cpu.cfs_period_us
  echo 1000 >$group/slow/cpu.cfs_quota_us
  for p in $(ip netns pids gs$$_2); do echo "$p" >$group/slow/cgroup.procs; done
}
sample=$GS_BUILD/lib/gpusparc/samples/binomial
read -r -a app <<<"${APP:---size 4096}"
run() { # HOSTS MODE ITERATIONS: the kernel's ms of each iteration
  timeout 300 gpusparc run --hosts "$1" --hosts-required --mode "$2" --stats="$work/stats.json" "$sample" "${app[@]}" --no-check --iterations "$3" --times 2>"$work/err" |
    sed -n 's/.*"kernel_ms": \([0-9.]*\).*/\1/p' || { cat "$work/err" >&2; return 1; }
}
least() { sort -n | head -1; }
echo "commit $(git rev-parse --short HEAD), load $(cut -d' ' -f1 /proc/loadavg), binomial ${app[*]}, kernel ms, the least of $runs"
echo
longest() { python3 -c 'import json, sys; print(max(json.load(open(sys.argv[1]))["kernels"][0]["device_ns"]) / 1e6)' "$work/stats.json"; }
echo "| mode | share of a core | first alone | second alone | ideal | a process | of the ideal | the next one's first launch | of it | its longest part | of it |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for percent; do
  slow_down "$percent"
  rm -rf "$work"/t.*
  for _ in $(seq "$runs"); do
    run gs1 single 3 >>"$work/t.one"
    run gs2 single 1 >>"$work/t.two"
    for mode in multi auto; do
      rm -rf "$work/cache"
      run gs1,gs2 $mode 13 >>"$work/t.$mode.first"
      run gs1,gs2 $mode 1 >>"$work/t.$mode.next"
      longest >>"$work/t.$mode.longest"
    done
  done
  for mode in multi auto; do
    awk -v p="$percent" -v m=$mode -v a="$(least <"$work/t.one")" -v b="$(least <"$work/t.two")" -v f="$(least <"$work/t.$mode.first")" \
      -v n="$(least <"$work/t.$mode.next")" -v l="$(least <"$work/t.$mode.longest")" \
      'BEGIN {i = 1 / (1 / a + 1 / b); printf "| %s | %d %% | %.0f | %.0f | %.0f | %.0f | %.2f | %.0f | %.2f | %.0f | %.2f |\n", m, p, a, b, i, f, i / f, n, i / n, l, i / l}'
  done
done
