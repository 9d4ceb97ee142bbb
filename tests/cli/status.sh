#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc status with an application: memory by process and device, the user's name, the program where its path is long.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
export GPUSPARC_SOCKET=$PWD/sock
rm -rf sock deep
gpusparcd --gpus 2 2>log &
daemon=$! app=
trap 'for p in $app $daemon; do kill "$p" 2>/dev/null || true; wait "$p" || true; done' EXIT
for _ in $(seq 500); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.02; done
deep=$PWD/deep/a-folder-with-a-long-name/and-another-one-in-it
mkdir -p "$deep"
cp "$GS_BUILD/lib/gpusparc/samples/matmul" "$GS_BUILD/lib/gpusparc/samples/matmul.cl" "$deep"
GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode multi "$deep/matmul" --size 256 --iterations 1000000 >app.txt 2>&1 &
app=$!
# Three matrices of 256 KiB on the first device; on the second what its part needs of them: of whole buffers.
for _ in $(seq 600); do
  gpusparc status --json >state.json
  grep -q '"gpu1": 786432' state.json && break
  kill -0 "$app" 2>/dev/null || break
  sleep 0.05
done
python3 - "$app" <<'P' || complain "the state: $(cat state.json app.txt)"
import json, sys
s = json.load(open("state.json"))
assert [r["name"] for r in s["resources"]] == ["link", "gpu0", "gpu1"]
assert [r["memory_bytes"] for r in s["resources"]] == [None, 3 << 18, 3 << 18]
(c,) = s["clients"]
assert c["pid"] == int(sys.argv[1]) and c["memory_bytes"] == {"gpu0": 3 << 18, "gpu1": 3 << 18}
P
gpusparc status >table.txt
grep -qE '^link +[0-9]+% +- ' table.txt || complain "no link in: $(cat table.txt)"
grep -qE '^gpu1 +[0-9]+% +768 KiB ' table.txt || complain "no memory of gpu1 in: $(cat table.txt)"
grep -qE "^$app +$(id -un | cut -c1-10) +- .* [^/].*/matmul\$" table.txt || complain "no user and program in: $(cat table.txt)"
! grep -qF "$deep" table.txt || complain "a long path in: $(cat table.txt)"
grep -qE "^MEMORY +gpu0 +gpu1\$" table.txt && grep -qE "^$app +768 KiB +768 KiB  [^/].*/matmul\$" table.txt || complain "no memory in: $(cat table.txt)"
kill "$app"
wait "$app" || true
app=
for _ in $(seq 200); do gpusparc status --json >state.json; grep -q '"clients": \[\]' state.json && break; sleep 0.02; done
grep -q MEMORY <(gpusparc status | grep -v RESOURCE) && complain "memory of nobody"

# The decision: what isn't proven isn't called schedulable.
kill "$daemon"
wait "$daemon" || true
printf '[system]\ngpus = 1\ncpus = 2\nrealtime = no\n[task a]\nperiod = 10s\nuser = *\nsegments.1 = gpu 1ms\n' >conf
gpusparcd --config conf 2>log &
daemon=$!
for _ in $(seq 500); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.02; done
gpusparc run --devices cpu:1 --task a "$GS_BUILD/lib/gpusparc/samples/matmul" --size 64 --iterations 1000000 >app.txt 2>&1 &
app=$!
decided() { # PROVEN TEXT: what `status` comes to say
  for _ in $(seq 500); do
    gpusparc status --json >state.json
    gpusparc status >table.txt
    grep -q "\"proven\": $1" state.json && grep -q "$2" table.txt && return
    kill -0 "$app" 2>/dev/null || break
    sleep 0.02
  done
  complain "proven isn't $1, or missing: $2: $(cat table.txt app.txt)"
}
decided false '^Not proven schedulable: a meets its deadline'
sed -i 's/^gpus.*/&\ngpu_chunk = 1ms\npci_chunk = 1ms/' conf
gpusparc reload >/dev/null
decided true '^Schedulable: a meets its deadline'
exit $fail
