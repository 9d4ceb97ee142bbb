#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A server, an ssh (of the launcher's, or from host to host), a far side or the launcher is killed, or a link goes silent,
# at a random time of a run over two hosts: status 125 and one sentence a second after GPUSPARC_HOSTS_TIMEOUT at the latest,
# or the right bytes; nothing is left.
#   kills.sh [ROUNDS [SEED]]
set -euo pipefail
GPUSPARC_HOSTS_TIMEOUT=${GPUSPARC_HOSTS_TIMEOUT:-8}
source "$GS_SOURCE/tests/hosts/namespaces.sh"
rounds=${1:-8} seed=${2:-1}
RANDOM=$seed
echo "seed $seed"
rm -rf ./*
hosts_up 2
sample=$GS_BUILD/lib/gpusparc/samples/matmul
app=(--size 128 --tile 16 --iterations 300 --no-check)
POCL_MAX_PTHREAD_COUNT=1 "$sample" "${app[@]}" --output plain >/dev/null
# A busy machine is known by what this run takes.
begin=$(date +%s%N)
GPUSPARC_HOSTS_TIMEOUT=120 gpusparc run --hosts gs1,gs2 --hosts-required --mode multi "$sample" "${app[@]}" --iterations 2 \
  --output remote >/dev/null || fail "it doesn't run"
whole=$((($(date +%s%N) - begin) / 1000000))
[ $((GPUSPARC_HOSTS_TIMEOUT * 1000)) -ge $((5 * whole)) ] || GPUSPARC_HOSTS_TIMEOUT=$((5 * whole / 1000 + 1))
cmp plain remote || fail "other bytes without a kill"
servers() { ip netns pids "gs$$_$1" 2>/dev/null | while read -r p; do [ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || echo "$p"; done; }
children() { pgrep -P "$1" "$2" || true; }
for i in $(seq "$rounds"); do
  rm -f remote
  [ $((RANDOM % 3)) != 0 ] && hosts=(--hosts gs1,gs2) || hosts=(--hosts "$hosts_net.1.2,$hosts_net.2.2" --hosts-plain)
  # exchange looks at its bytes itself
  [ $((RANDOM % 2)) = 0 ] && program=("$sample" "${app[@]}" --output remote) || program=("$GS_BUILD/tests/hosts/exchange" 4 100)
  gpusparc run "${hosts[@]}" --hosts-required --mode multi "${program[@]}" >out 2>err &
  launcher=$! rc=0
  until [ -n "$(children $launcher "$(basename "${program[0]}")")" ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
  sleep "$((RANDOM % 3)).$((RANDOM % 10))"
  silent=
  case $((RANDOM % 7)) in
  0) what="server" victims=$(servers $((RANDOM % 2 + 1)) pocld) ;;
  1) what="far side" victims=$(servers $((RANDOM % 2 + 1)) gpusparc) ;;
  2) what="ssh" victims=$(children $launcher ssh | head -1) ;;
  3) what="launcher" victims=$launcher ;;
  4) what="link" victims="" silent=gs$$_$((RANDOM % 2 + 1)) dev=far ;;
  5) what="link between" victims="" silent=gs$$_1 dev=to_2 ;;
  6) what="ssh between" victims=$(servers 1 ssh) ;;
  esac
  begin=$(date +%s%N)
  for v in $victims; do kill -9 "$v" 2>/dev/null || true; done
  [ -z "$silent" ] || ip -n "$silent" link set $dev down # packets are lost, and nobody is told
  wait $launcher 2>/dev/null || rc=$?
  took=$((($(date +%s%N) - begin) / 1000000))
  [ -z "$silent" ] || { ip -n "$silent" link set $dev up; link_routes 1 2; }
  case $rc in
  0) [ "${program[0]}" != "$sample" ] || cmp plain remote || fail "round $i: $what killed, wrong bytes" ;;
  125) [ "$(grep -c '^gpusparc: host [^ ]* is lost: ' err)" = 1 ] || fail "round $i: $what killed: $(cat err)" ;;
  137) [ "$what" = launcher ] || fail "round $i: $what killed, exit status 137: $(cat err)" ;;
  *) fail "round $i: $what killed, exit status $rc: $(cat err)" ;;
  esac
  [ $rc != 125 ] || [ $took -lt $((GPUSPARC_HOSTS_TIMEOUT * 1000 + 1000 + whole)) ] || fail "round $i: $what killed, and the application ended only after $took ms"
  echo "round $i: $what killed (${hosts[2]:-tunnels}), status $rc after $took ms: $(grep -c . err) lines"
  until [ -z "$(servers 1 pocld)$(servers 2 pocld)" ]; do sleep 0.1; done # the test's limit is for those that stay
done
