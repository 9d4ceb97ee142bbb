#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the daemon costs: a request nobody contends, a contended hand-over, an urgent task's wait, and nothing at all.
#   bench/daemon.sh [BUILD [flood|beside [FLOOD:CONNECTIONS...]]]  prints JSON lines; each figure's aim stands behind its `#`;
#   flood, beside: that figure alone; with nothing:1 threads:2 nothing:1 threads:2 beside a flood and beside none in turn
# The daemon runs as it would in service, but with a socket and a config of its own. On a machine with other work the
# hand-over measures that work: the baseline lines say what the machine itself gives at the moment.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=${1:-build}
scripts/build.sh "$build" >/dev/null
cmake --build "$build" --target daemon_bench daemon_beside daemon_flood >/dev/null
dir=$(mktemp -d)
export GPUSPARC_SOCKET=$dir/sock
cat >"$dir/conf" <<CONF
[system]
gpus = 1
realtime = yes
[task low]
period = 1s
[task high]
period = 10ms
CONF
daemon= other=
trap 'kill $daemon $other 2>/dev/null || true; wait $daemon 2>/dev/null || true; rm -rf "$dir"' EXIT
begin() { # [LINE OF [system] [OPTION...]]: the daemon, in place of the one before
  if [ -n "$daemon" ]; then
    kill $daemon
    wait $daemon || true
  fi
  sed "s/^gpus = 1/&\n${1:-}/" "$dir/conf" >"$dir/conf.now"
  "$build/bin/gpusparcd" --config "$dir/conf.now" "${@:2}" 2>"$dir/log" &
  daemon=$!
  until "$build/bin/gpusparc" status --json >/dev/null 2>&1; do sleep 0.1; done
}
begin "awake = no"
one=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') # a processor that we may use

bench=$build/bench/daemon_bench
bench_dir=$build/bench
wakeups() { awk '/^voluntary_ctxt_switches/ { print $2 }' /proc/$daemon/status; }

# Forty tasks of which the analysis takes long: many segments, up to four GPUs. The last two hand the GPU to each other;
# the others' processes, the flood's among them, warm up for ever: they get no processor before others.
write_tasks() {
  printf '[system]\ngpus = 4\ncpus = 4\npci_chunk = 1ms\ngpu_chunk = 2ms\n'
  for i in $(seq 0 39); do
    printf '[task t%d]\nperiod = %dms\nwarmup = %d\nuser = *\n' "$i" $((1000 + 130 * i)) $((i < 38))
    for g in 1 2 4; do echo "segments.$g = cpu 1ms, pci 3ms, gpu $((24 / g))ms, pci 2ms, gpu $((16 / g))ms, pci 1ms"; done
  done
}
flood() { # CONNECTIONS SECONDS
  write_tasks >"$dir/conf"
  begin
  "$bench_dir/daemon_flood" "$1" 40 "$2"
}
# Another user's floods (as root; else one's own), in this order, else all of them: each first with another daemon of
# ordinary priority as its aim, which shows what its load alone does, then with the daemon. $BESIDE_SECONDS each (20).
beside() { # [FLOOD:CONNECTIONS...]
  [ $# -gt 0 ] || set -- nothing:1 records:8 units:8 threads:2 joins:400 knocks:400 silent:400 unread:256 reads:256 \
    plans:256 requests:250 orders:250 gone:300 pichain:8
  chmod 755 "$dir"
  cat >"$dir/conf" <<CONF
[system]
gpus = 2
pci_chunk = 1ms
gpu_chunk = 2ms
CONF
  local i=4
  for task in high partner low; do
    i=$((i - 1))
    printf '[task %s]\nperiod = %dms\npriority = %d\nsegments.1 = cpu 1ms, pci 1ms, gpu 2ms, pci 1ms\n' $task $((400 / i)) $i
  done >>"$dir/conf"
  echo 'user = *' >>"$dir/conf"
  local seconds=${BESIDE_SECONDS:-20}
  sed 's/^gpus = 2/&\nrealtime = no/' "$dir/conf" >"$dir/conf.other"
  for flood in "$@"; do
    "$build/bin/gpusparcd" --config "$dir/conf.other" --mode 0666 --trace "$dir/trace.other" --socket "$dir/other" 2>/dev/null &
    other=$!
    until [ -S "$dir/other" ]; do sleep 0.1; done
    begin "" --mode 0666 --trace "$dir/trace"
    "$bench_dir/daemon_beside" "${flood%:*}" "${flood#*:}" "$seconds" "$daemon" "$dir/other"
    kill "$other"
    wait "$other" || true
    other=
    "$bench_dir/daemon_beside" "${flood%:*}" "${flood#*:}" "$seconds" "$daemon"
  done
}
echo "# load average $(cut -d' ' -f1 /proc/loadavg) on $(nproc) cores"
if [ "${2:-}" = flood ]; then
  for n in 20 400; do flood "$n" 20; done
  exit
fi
if [ "${2:-}" = beside ]; then
  beside "${@:3}"
  exit
fi
echo "# the machine"
"$bench" baseline 2 5000
for n in 10 100; do "$bench" baseline "$n" 5000; done
echo "# request: below 500 ns"
for n in 1 10 100; do "$bench" request "$n"; done
echo "# handover: median below 15000 ns"
for n in 2 10 100; do "$bench" handover "$n" 10000; done
for n in 2 10; do "$bench" handover "$n" 5000 200; done
echo "# the same with all on one processor, where no other has to be woken from idling: what the hand-over itself takes"
taskset -pc "$one" $daemon >/dev/null
for n in 2 10 100; do taskset -c "$one" "$bench" handover "$n" 5000; done
echo "# of chunks of 200 us by a daemon that is awake in time"
begin "awake = yes"
for n in 2 10; do "$bench" handover "$n" 5000 200; done
begin
echo "# urgent: at most one running and one queued chunk, plus 0.5 ms: 4500000 ns"
for n in 1 10; do "$bench" urgent "$n" 300; done
echo "# flood: the 99.9th percentile of a grant below 1 ms more than without"
cp "$dir/conf" "$dir/conf.two"
for n in 20 400; do flood "$n" 20; done
mv "$dir/conf.two" "$dir/conf"
begin
cp "$dir/conf" "$dir/conf.two"
echo "# beside another user's flood: a task joins within 20 ms at the 99.9th percentile, has a grant within 0.5 ms of the"
echo "# unit before it; the daemon takes 64 MiB at most"
beside
mv "$dir/conf.two" "$dir/conf"
begin
echo "# idle: no wake-ups in five seconds"
sleep 3
before=$(wakeups)
sleep 5
echo "{\"figure\":\"wake-ups while idle\",\"seconds\":5,\"count\":$(($(wakeups) - before))}"
