# SPDX-License-Identifier: MIT
# Hosts as network namespaces of this machine, with a link to each and sshd in it: `hosts_up 3 [RATE [DELAY [LOST]]]` makes gs1,
# gs2 and gs3; RATE, such as 1gbit, limits each link, DELAY in us is added each way (bench_delay: kernels without netem), and
# LOST of each thousand packets are lost.
# Without DELAY each two of them (nine at most) have a link of their own, and log in to each other, but not where APART=yes.
# The script that sources this ends them all.
source "$GS_SOURCE/tests/hosts/engine_there.sh"
[ "$(id -u)" = 0 ] || skip "network namespaces take root"
for tool in ip tc ssh ssh-keygen /usr/sbin/sshd; do command -v $tool >/dev/null || skip "$tool is missing"; done
export GPUSPARC_HOSTS_TIMEOUT=${GPUSPARC_HOSTS_TIMEOUT:-30}
unset GPUSPARC_HOSTS GPUSPARC_TASK GPUSPARC_TASK_REQUIRED
ip netns add gs_try_$$ 2>/dev/null || skip "network namespaces can't be made here"
ip netns delete gs_try_$$
# Addresses begin with $hosts_net. Who has made the namespace of that name has them alone, also beside other builds' tests.
hosts_net=
for n in {200..249}; do ip netns add gs_addresses_$n 2>/dev/null && hosts_net=10.$n && break; done
[ -n "$hosts_net" ] || fail "scripts that were killed have left all of gs_addresses_200 to _249: ip netns delete NAME"
hosts_made=0 hosts_dir= hosts_delays=()
hosts_down() { # Their ends are no news.
  for i in $(seq "$hosts_made"); do
    for pid in $(ip netns pids gs$$_$i 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done
    ip netns delete gs$$_$i 2>/dev/null || true
    ip link delete gs$$_$i 2>/dev/null || true
  done
  [ ${#hosts_delays[@]} = 0 ] || kill "${hosts_delays[@]}" 2>/dev/null || true
  [ -z "$hosts_dir" ] || rm -rf "$hosts_dir"
  ip netns delete "gs_addresses_${hosts_net#10.}" 2>/dev/null || true
}
trap hosts_down EXIT
limit() { # NAMESPACE DEVICE RATE
  ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "$3" burst 256k latency 50ms
}
link_pair() { # I J [RATE]: gsI's end is to_J
  local net=$hosts_net.$((100 + $1 * 10 + $2))
  ip -n gs$$_$1 link add "to_$2" type veth peer name "to_$1" netns gs$$_$2
  ip -n gs$$_$1 addr add $net.1/30 dev "to_$2"
  ip -n gs$$_$2 addr add $net.2/30 dev "to_$1"
  ip -n gs$$_$1 link set "to_$2" up
  ip -n gs$$_$2 link set "to_$1" up
  link_routes "$1" "$2"
  [ -z "${3:-}" ] || { limit gs$$_$1 "to_$2" "$3"; limit gs$$_$2 "to_$1" "$3"; }
  echo "ListenAddress $net.1" >>"$hosts_dir/sshd$1"
  echo "ListenAddress $net.2" >>"$hosts_dir/sshd$2"
  ssh_host "$2" $net.2 >>"$hosts_dir/ssh$1"
  ssh_host "$1" $net.1 >>"$hosts_dir/ssh$2"
}
link_routes() { # I J: those to the other host's own address, which go with the link
  ip -n gs$$_$1 route replace $hosts_net.$2.2 via $hosts_net.$((100 + $1 * 10 + $2)).2
  ip -n gs$$_$2 route replace $hosts_net.$1.2 via $hosts_net.$((100 + $1 * 10 + $2)).1
}
ssh_host() { # I ADDRESS: how ssh gets there
  cat <<END
Host gs$1 $2
  HostName $2
  User root
  IdentityFile $hosts_dir/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
}
hosts_up() { # COUNT [RATE [DELAY [LOST]]]
  hosts_dir=$(mktemp -d)
  mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$hosts_dir/key"
  local i j net
  for i in $(seq "$1"); do
    hosts_made=$i
    net=$hosts_net.$i
    ip netns add gs$$_$i
    if [ -n "${3:-}" ]; then
      "$GS_BUILD/lib/gpusparc/bench/bench_delay" gs$$_$i gs$$_$i "$3" ${4:+"$4"} & disown
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
      limit gs$$_$i far "$2"
    fi
    cat >"$hosts_dir/sshd$i" <<END
ListenAddress $net.2
HostKey $hosts_dir/key
AuthorizedKeysFile $hosts_dir/key.pub
StrictModes no
UsePAM no
PidFile none
SetEnv GPUSPARC_ENGINE=$engine POCL_MAX_PTHREAD_COUNT=1 POCL_CACHE_DIR=$POCL_CACHE_DIR POCL_AFFINITY=0 "GPUSPARC_SSH=ssh -F $hosts_dir/ssh$i"
END
    ssh_host $i $net.2 >>"$hosts_dir/ssh"
    : >"$hosts_dir/ssh$i"
    for j in $(seq $([ -z "${3:-}${APART:-}" ] && echo $((i - 1)) || echo 0)); do link_pair "$j" "$i" "${2:-}"; done
  done
  for i in $(seq "$1"); do
    ip netns exec gs$$_$i taskset -c $(((i - 1) % $(nproc))) /usr/sbin/sshd -D -f "$hosts_dir/sshd$i" 2>>"$hosts_dir/log" & disown
  done
  export GPUSPARC_SSH="ssh -F $hosts_dir/ssh"
  for i in $(seq "$1"); do
    until ssh -F "$hosts_dir/ssh" -o BatchMode=yes gs$i true 2>/dev/null; do sleep 0.2; done
  done
}
