# SPDX-License-Identifier: MIT
# Hosts as network namespaces of this machine, with a link to each and sshd in it: `hosts_up 3 [RATE [DELAY]]` makes gs1,
# gs2 and gs3; RATE, such as 1gbit, limits each link, DELAY in us is added each way (bench_delay: kernels without netem).
# The script that sources this ends them all.
source "$GS_SOURCE/tests/hosts/engine_there.sh"
[ "$(id -u)" = 0 ] || skip "network namespaces take root"
for tool in ip tc ssh ssh-keygen /usr/sbin/sshd; do command -v $tool >/dev/null || skip "$tool is missing"; done
export GPUSPARC_HOSTS_TIMEOUT=${GPUSPARC_HOSTS_TIMEOUT:-30}
unset GPUSPARC_HOSTS GPUSPARC_TASK GPUSPARC_TASK_REQUIRED
ip netns add gs_try_$$ 2>/dev/null || skip "network namespaces can't be made here"
ip netns delete gs_try_$$
hosts_made=0 hosts_dir= hosts_delays=()
hosts_down() { # Their ends are no news.
  for i in $(seq "$hosts_made"); do
    for pid in $(ip netns pids gs$$_$i 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done
    ip netns delete gs$$_$i 2>/dev/null || true
    ip link delete gs$$_$i 2>/dev/null || true
  done
  [ ${#hosts_delays[@]} = 0 ] || kill "${hosts_delays[@]}" 2>/dev/null || true
  [ -z "$hosts_dir" ] || rm -rf "$hosts_dir"
}
hosts_up() { # COUNT [RATE [DELAY]]
  hosts_dir=$(mktemp -d)
  trap hosts_down EXIT
  mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$hosts_dir/key"
  local i net
  for i in $(seq "$1"); do
    hosts_made=$i
    net=10.$((200 + $$ % 50)).$i
    ip netns add gs$$_$i
    if [ -n "${3:-}" ]; then
      "$GS_BUILD/lib/gpusparc/bench/bench_delay" gs$$_$i gs$$_$i "$3" & disown
      hosts_delays+=($!)
      until ip -n gs$$_$i link show far >/dev/null 2>&1; do sleep 0.02; done
      ip link set gs$$_$i mtu 9000
      ip -n gs$$_$i link set far mtu 9000
    else
      ip link add gs$$_$i type veth peer name far netns gs$$_$i
    fi
    ip addr add $net.1/24 dev gs$$_$i
    ip link set gs$$_$i up
    ip -n gs$$_$i addr add $net.2/24 dev far
    ip -n gs$$_$i link set far up
    ip -n gs$$_$i link set lo up
    if [ -n "${2:-}" ]; then
      tc qdisc add dev gs$$_$i root tbf rate "$2" burst 256k latency 50ms
      ip netns exec gs$$_$i tc qdisc add dev far root tbf rate "$2" burst 256k latency 50ms
    fi
    cat >"$hosts_dir/sshd$i" <<END
ListenAddress $net.2
HostKey $hosts_dir/key
AuthorizedKeysFile $hosts_dir/key.pub
StrictModes no
UsePAM no
PidFile none
SetEnv GPUSPARC_ENGINE=$engine POCL_MAX_PTHREAD_COUNT=1 POCL_CACHE_DIR=$POCL_CACHE_DIR POCL_AFFINITY=0
END
    ip netns exec gs$$_$i taskset -c $(((i - 1) % $(nproc))) /usr/sbin/sshd -D -f "$hosts_dir/sshd$i" 2>>"$hosts_dir/log" & disown
    cat >>"$hosts_dir/ssh" <<END
Host gs$i
  HostName $net.2
  User root
  IdentityFile $hosts_dir/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
  done
  export GPUSPARC_SSH="ssh -F $hosts_dir/ssh"
  for i in $(seq "$1"); do
    until ssh -F "$hosts_dir/ssh" -o BatchMode=yes gs$i true 2>/dev/null; do sleep 0.2; done
  done
}
