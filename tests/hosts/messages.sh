#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gpusparc run --hosts refuses, leaves out, and tells the application.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/fakes.sh"

# The list.
for bad in a,,b ,a a, -oProxyCommand=x a:0 a:17 a:x a:-1 a:al a:all2 'a b' '[::1' '[::1]2' '[::1]:0' '[a]' '[::1]:a' ::1::2 fe80::1% 'a%b' 'u@[::g]' '[]' '[-o]' ''; do
  [ -n "$bad" ] || continue
  run 125 --hosts "$bad" true
  said "is no host for --hosts"
done
run 125 --hosts a,b,a:2 true
said "--hosts names a twice"
run 125 --hosts "$(seq -s, 17)" true
said "more than 16 hosts"
GPUSPARC_HOSTS=a,,b run 125 true
said "is no host for GPUSPARC_HOSTS"

# Without the engine: what to run.
GPUSPARC_ENGINE= HOME=$PWD XDG_DATA_HOME= run 125 --hosts localhost true
said "scripts/remote.sh"
GPUSPARC_ENGINE=$PWD run 125 --hosts localhost true
said "GPUSPARC_ENGINE"
run 125 --hosts up --task t true
said "daemon"

# How long a host may take to answer, in s: a busy machine is known by what one takes.
begin=$(date +%s%N)
run 0 --hosts up true
patience=$((3 + 10 * ($(date +%s%N) - begin) / 1000000000))
begin_anew
rm -f asked secrets ssh.log
# IPv6 as ssh takes it, with and without a number of devices.
run 0 --hosts "[::1]:1,me@::1,me@[fe80::1%eth0]:all,fe80::1:1" true
said "host fe80::1:1 is left out"
for name in ::1 me@::1 me@fe80::1%eth0 fe80::1:1; do
  grep -qF -- "-- $name exec" ssh.log || fail "no $name in: $(cat ssh.log)"
done
run 125 --hosts "[::1],::1:2,::1" true
said "--hosts names ::1 twice"
begin_anew
rm -f asked secrets

# Who is left out, and why. The rest are told of to driver and shim, in the list's order.
GPUSPARC_HOSTS_TIMEOUT=$patience run 0 --hosts up,refuses,deaf,old,bare,localhost env
said "host refuses is left out: ssh: connect to host refuses port 22: Connection refused"
said "host deaf is left out: it doesn't answer"
said "host old is left out: its engine is version other 2, this machine's fake 1"
said "host bare is left out: the engine of --hosts is not on this machine"
grep -q '^GPUSPARC_REMOTE=up,localhost$' out && grep -q '^POCL_DEVICES=remote remote$' out || fail "told: $(cat out)"
[ "$(grep -c '^POCL_REMOTE[01]_PARAMETERS=127.0.0.1:[0-9]*/[0-9]' out)" = 2 ] || fail "told: $(cat out)"
grep -q "^OCL_ICD_VENDORS=$PWD/engine/vendors$" out || fail "told: $(cat out)"
begin_anew
# The run's secret: in the environments of the application and of its servers, in no command line, and not the next run's.
secret=$(sed -n 's/^POCLD_SECRET=\([0-9a-f]\{32\}\)$/\1/p' out)
[ -n "$secret" ] || fail "no secret: $(cat out)"
[ "$(sort -u secrets)" = "$secret" ] || fail "the servers' secrets: $(cat secrets), the application's: $secret"
! grep -q "$secret" ssh.log || fail "ssh's words have the secret"
# The fastest is home, but for this machine if it is named first.
for list in up,fast,up2=fast,up,up2 fast,up=fast,up localhost,fast=localhost,fast up,localhost=up,localhost; do
  run 0 --hosts "${list%=*}" --hosts-required env
  grep -q "^GPUSPARC_REMOTE=${list#*=}\$" out || fail "$list: $(grep REMOTE out)"
  begin_anew
done
# Under a daemon of its own machine each of several GPUs has a server that asks for it, and a tunnel.
! grep -q "$secret" out || fail "two runs have one secret"
rm -f asked ssh.log
gpusparc daemon --socket "$PWD/socket" --config /dev/null --gpus 2 >daemon.log 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null || true' EXIT
await test -S socket
run 0 --hosts gpus --hosts-required env
port=$(sed -n 's/^POCL_REMOTE0_PARAMETERS=127.0.0.1:\([0-9]*\)\/0#.*/\1/p' out) far=$(sed -n 's/^1 at //p' asked)
grep -q "^POCL_REMOTE1_PARAMETERS=127.0.0.1:$((port + 2))/0#" out || fail "no server for each GPU: $(grep POCL out)"
grep -q "^0 at $((far - 2))$" asked || fail "the servers don't ask for a GPU each: $(cat asked)"
grep -q -- "-L 127.0.0.1:$((port + 3)):127.0.0.1:$((far + 1)) " ssh.log || fail "no tunnel for each server: $(cat ssh.log)"
begin_anew
run 0 --hosts gpus:all --hosts-required env
grep -q '^POCL_REMOTE1_PARAMETERS=127.0.0.1:[0-9]*/1#' out || fail "all of them have one server: $(grep POCL out)"
begin_anew
run 0 --hosts gpus:1 --hosts-required env
grep -q '^POCL_DEVICES=remote$' out || fail "one of two: $(grep POCL out)"
begin_anew
# What this run has its application load doesn't hide this machine's own devices.
rm asked
GPUSPARC_SOCKET=$PWD/socket POCL_DEVICES="pthread pthread" run 0 --hosts localhost --hosts-required env
grep -q '^all at' asked || fail "localhost has one device of two: $(cat asked)"
begin_anew
kill $daemon
wait $daemon || true
run 0 --hosts gpus --hosts-required env
grep -q '^POCL_REMOTE1_PARAMETERS=127.0.0.1:[0-9]*/1#' out || fail "without a daemon: $(grep POCL out)"
begin_anew
run 125 --hosts up,refuses --hosts-required env
said "host refuses can't be used: ssh: connect"
[ ! -s out ] || fail "it was run without a host that is required"
begin_anew
GPUSPARC_HOSTS_TIMEOUT=1 run 125 --hosts deaf true
said "no host of --hosts has a device"

# Hosts that log in to each other are linked, by one ssh; where another machine answers to the name they aren't.
: >ssh.log >links
run 0 --hosts up,up2,localhost env
grep -q '^GPUSPARC_REMOTE_DIRECT=110,110,001$' out || fail "told: $(cat out)"
grep -qE -- '-L (127\.0\.0\.1:[0-9]+):\1 -R (127\.0\.0\.1:[0-9]+):\2 -- up2 ' ssh.log && [ "$(wc -l <links)" = 1 ] || fail "ssh: $(cat ssh.log)"
APART="of-another net:[1]" run 0 --hosts up,up2 env
grep -q '^GPUSPARC_REMOTE_DIRECT=10,01$' out && [ "$(wc -l <links)" = 3 ] || fail "told: $(cat out)"
GPUSPARC_TRANSFER=pinned run 0 --hosts up,up2 env
grep -q '^GPUSPARC_REMOTE_DIRECT=10,01$' out && [ "$(wc -l <links)" = 3 ] || fail "told: $(cat out)"
APART=deaf GPUSPARC_HOSTS_TIMEOUT=$patience run 0 --hosts up,up2 env
grep -q '^GPUSPARC_REMOTE_DIRECT=10,01$' out || fail "told: $(cat out)"
begin_anew

# All goes through tunnels, with the listeners on the loopback alone.
: >ssh.log >links
run 0 --hosts up true
grep -qE -- '-L 127\.0\.0\.1:[0-9]+:127\.0\.0\.1:[0-9]+ -L 127' ssh.log && grep -q 'address 127.0.0.1' ssh.log &&
  grep -q 'BatchMode=yes' ssh.log && grep -q 'ExitOnForwardFailure=yes' ssh.log || fail "ssh: $(cat ssh.log)"

# The application's end is the launcher's; nothing is left, whichever it is.
run 7 --hosts up sh -c 'exit 7'
run 143 --hosts up sh -c 'kill -TERM $$'
run 126 --hosts up ./engine
run 127 --hosts up ./nothing
said "can't be run"
GPUSPARC_HOSTS=up run 0 sh -c 'echo "$GPUSPARC_REMOTE"'
[ "$(cat out)" = up ] || fail "GPUSPARC_HOSTS: $(cat out)"
GPUSPARC_HOSTS=none run 0 sh -c 'echo "${GPUSPARC_REMOTE-}"'
[ -z "$(cat out)" ] || fail "GPUSPARC_HOSTS=none: $(cat out)"
begin_anew

# gpusparc serve by itself, which takes this port and the next one: two that nobody listens on now.
free_ports() {
  python3 -c '
import socket
while True:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
        try:
            second.bind(("127.0.0.1", port + 1))
        except (OSError, OverflowError):
            continue
        print(port)
        break'
}
serve() { # STATUS ARGUMENTS
  local want=$1 rc=0
  shift
  gpusparc serve "$@" >out 2>err </dev/null || rc=$?
  [ $rc = "$want" ] || fail "serve $*: exit status $rc: $(cat out err)"
}
serve 2
serve 2 --port 80
serve 2 --port 30000 --pairs none
serve 2 --port 30000 more
serve 1 --port 30000 --secret
grep -q '^failed it has heard no secret$' out || fail "no secret: $(cat out)"
serve 0 --port "$(free_ports)"
grep -q '^gpusparc-serve fake 1$' out && grep -q '^ready$' out || fail "serve: $(cat out)"
# Two that draw the same port: the second is refused also where the first one's server doesn't listen yet.
rm -f begun
touch late
port=$(free_ports)
mkfifo near
gpusparc serve --port "$port" >first 2>&1 <near &
exec 3>near
await test -s begun
serve 1 --port "$port"
grep -q '^taken$' out || fail "two have one port: $(cat out)"
rm late
await grep -q '^ready$' first
exec 3>&-
wait $! || fail "the first serve: $(cat first)"
nothing_left
