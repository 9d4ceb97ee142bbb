# SPDX-License-Identifier: MIT
# What the benches over hosts share: network namespaces as hosts (tests/hosts/namespaces.sh), a folder $work, and on
# cgroup v1 a group $group against the machine's other programs: a session's niceness counts within the session alone.
export GS_SOURCE=$PWD GS_BUILD=${GS_BUILD:-$PWD/build}
export PATH=$GS_BUILD/bin:$PATH POCL_CACHE_DIR=${POCL_CACHE_DIR:-$GS_BUILD/tests/run/pocl-cache} POCL_MAX_PTHREAD_COUNT=1
source tests/hosts/namespaces.sh
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
cpu=/sys/fs/cgroup/cpu group=/sys/fs/cgroup/cpu/gs$$
if mkdir $group 2>/dev/null; then
  echo 262144 >$group/cpu.shares
  echo $$ >$group/cgroup.procs
fi
finish() {
  hosts_down
  rm -rf "$work"
  [ -d $group ] || return 0
  echo $$ >$cpu/cgroup.procs
  for _ in $(seq 50); do # until the last of its processes has ended
    rmdir $group/* $group 2>/dev/null || true
    [ -d $group ] && sleep 0.1 || break
  done
}
bench_hosts_up() { # as hosts_up
  hosts_up "$@"
  trap finish EXIT
}
