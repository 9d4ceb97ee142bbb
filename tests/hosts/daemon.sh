#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A host's server asks the daemon of its host for its units, as any application there.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
rm -rf ./*
export GPUSPARC_HOSTS_TIMEOUT=60 GPUSPARC_SOCKET=$PWD/socket
gpusparc daemon --socket "$PWD/socket" --config /dev/null --gpus 1 --trace trace.json 2>daemon.log &
daemon=$!
trap 'kill $daemon 2>/dev/null || true' EXIT
until [ -S socket ]; do sleep 0.05; done
sample=$GS_BUILD/lib/gpusparc/samples/matmul
"$sample" --size 384 --output plain >/dev/null
gpusparc run --hosts localhost --hosts-required --mode single "$sample" --size 384 --iterations 5 --output remote >/dev/null
cmp plain remote
kill $daemon
wait $daemon || true
grep -q no.task trace.json && grep -q '"name":"grant"' trace.json || fail "the daemon has granted the server nothing: $(head -c 600 trace.json)"
