#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A host's server asks the daemon of its host for its units, as any application there; each of several GPUs has one.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
rm -rf ./*
export GPUSPARC_HOSTS_TIMEOUT=60 GPUSPARC_SOCKET=$PWD/socket
start_daemon() { # GPUS
  gpusparc daemon --socket "$PWD/socket" --config /dev/null --gpus "$1" --trace trace.json >daemon.log 2>&1 &
  daemon=$!
  trap 'kill $daemon 2>/dev/null || true' EXIT
  until [ -S socket ]; do sleep 0.05; done
}
end_daemon() {
  kill $daemon
  wait $daemon || true
}
sample=$GS_BUILD/lib/gpusparc/samples/matmul
"$sample" --size 384 --output plain >/dev/null
start_daemon 1
gpusparc run --hosts localhost --hosts-required --mode single "$sample" --size 384 --iterations 5 --output remote >/dev/null
cmp plain remote
end_daemon
grep -q no.task trace.json && grep -q '"name":"grant"' trace.json || fail "the daemon has granted the server nothing: $(head -c 600 trace.json)"

cat >ssh <<'END'
#!/bin/sh
while [ "$1" != -- ]; do shift; done
OPENCL_LAYERS=$GS_BUILD/tests/e2e/as_gpu.so POCL_DEVICES="pthread pthread" exec sh -c "$3"
END
chmod +x ssh
rm -f socket
start_daemon 2
GPUSPARC_SSH=$PWD/ssh gpusparc run --hosts 127.0.0.1 --hosts-plain --hosts-required --mode multi "$sample" --size 384 --iterations 5 --output remote >/dev/null
cmp plain remote
end_daemon
python3 - <<'END' || fail "the daemon hasn't granted units on both GPUs"
import json
events = json.load(open("trace.json"))
events = events if isinstance(events, list) else events["traceEvents"]
names = {(e.get("pid"), e.get("tid")): e["args"].get("name") for e in events if e.get("ph") == "M"}
units = {names.get((e.get("pid"), e.get("tid"))) for e in events if e.get("name") == "no task"}
print(units)
raise SystemExit(not {"GPU 0", "GPU 1"} <= units)
END
