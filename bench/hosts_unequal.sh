#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two hosts of a core each, of which the second is slowed by a quota: what share of the ideal `multi` and `auto` reach, in
# a process of 9 launches (their median) and in the first launch of the next process. That one compiles what it splits
# in its first launch, so its longest part is given, too. As root, on cgroup v1, after scripts/remote.sh.
#   bench/hosts_unequal.sh [RUNS [PERCENT...]]     the second host's share of a core; default 50 20 5
# SIZE is the number of binomial's vectors. A part has to be long beside the quota's period, 80 ms at 5 %.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
source tests/hosts/bench.sh
runs=${1:-3} size=${SIZE:-16384}
shift || true
[ $# -gt 0 ] || set -- 50 20 5
bench_hosts_up 2
mkdir $group/slow
slow_down() { # PERCENT of a core, in slices of 4 ms: the kernel looks at quotas once in a tick, of 4 ms at 250 Hz
  echo -1 >$group/slow/cpu.cfs_quota_us
  echo $((400000 / $1)) >$group/slow/cpu.cfs_period_us
  echo 4000 >$group/slow/cpu.cfs_quota_us
  for p in $(ip netns pids gs$$_2); do echo "$p" >$group/slow/cgroup.procs; done
}
sample=$GS_BUILD/lib/gpusparc/samples/binomial
run() { # HOSTS MODE SIZE ITERATIONS: the median of the iterations' kernel ms
  timeout 300 gpusparc run --hosts "$1" --hosts-required --mode "$2" --stats="$work/stats.json" "$sample" --size "$3" --no-check --iterations "$4" --times 2>"$work/err" |
    sed -n 's/.*"kernel_ms": \([0-9.]*\).*/\1/p' || { cat "$work/err" >&2; return 1; }
}
longest() { python3 -c 'import json, sys; print(max(json.load(open(sys.argv[1]))["kernels"][0]["device_ns"]) / 1e6)' "$work/stats.json"; }
echo "commit $(git rev-parse --short HEAD), load $(cut -d' ' -f1 /proc/loadavg), binomial --size $size, kernel ms, the median of $runs (of the least)"
echo
echo "| mode | share of a core | first alone | second alone | ideal | a process | of the ideal | the next one's first launch | of it | its longest part | of it |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for percent; do
  slow_down "$percent"
  rm -rf "$work"/t.*
  few=$((size * percent / 100)) # as many as the second host's part may have
  for _ in $(seq "$runs"); do
    run gs1 single "$size" 3 >>"$work/t.one"
    run gs2 single $few 3 >>"$work/t.two"
    for mode in multi auto; do
      rm -rf "$work/cache"
      run gs1,gs2 $mode "$size" 9 >>"$work/t.$mode.first"
      run gs1,gs2 $mode "$size" 1 >>"$work/t.$mode.next"
      longest >>"$work/t.$mode.longest"
    done
  done
  for mode in multi auto; do
    python3 - "$work/t" $mode "$percent" "$(python3 -c "print($size / $few)")" <<'END'
import statistics, sys
files, mode, percent, times = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
read = lambda name: [float(line) for line in open(f"{files}.{name}")]
def figures(of):
    one, two = of(read("one")), of(read("two")) * times
    return [one, two, 1 / (1 / one + 1 / two)] + [of(read(f"{mode}.{name}")) for name in ("first", "next", "longest")]
median, least = figures(statistics.median), figures(min)
ratios = [f"{median[i]:.0f} | {median[2] / median[i]:.2f} ({least[2] / least[i]:.2f})" for i in (3, 4, 5)]
print(f"| {mode} | {percent} % |", " | ".join(f"{x:.0f}" for x in median[:3]), "|", " | ".join(ratios), "|")
END
  done
done
