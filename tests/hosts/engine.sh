#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the engine got wrong on one host by itself (scripts/remote_edits.py).
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
export GPUSPARC_HOSTS_TIMEOUT=60
gpusparc run --hosts localhost --hosts-required --mode single "$GS_BUILD/tests/hosts/uploads"

# A server answers who knows the run's secret.
gpusparc run --hosts localhost --hosts-required --mode single python3 "$GS_SOURCE/tests/hosts/knock.py" "$GS_BUILD/tests/hosts/uploads" ||
  fail "a server's door"

# A server hangs, all of it or the thread that hears connections: its parent isn't told.
hang() { # [NAME]
  local rc=0
  GPUSPARC_HOSTS_TIMEOUT=2 gpusparc run --hosts localhost --hosts-required --mode single \
    "$GS_BUILD/lib/gpusparc/samples/matmul" --size 128 --tile 16 --iterations 100000 --no-check >out 2>err &
  local launcher=$! server= begin=0
  until server=$(pgrep -f "^$engine/bin/pocld -a" | while read -r p; do tr '\0' '\n' <"/proc/$p/environ" | grep -qx "GS_TEST=$$" && echo "$p"; done) && [ -n "$server" ]; do sleep 0.05; done
  sleep 2
  "$GS_BUILD/tests/hosts/freeze" "$server" "$@" &
  begin=$(date +%s%N)
  wait $launcher || rc=$?
  echo "a server that hangs ($*): status $rc after $((($(date +%s%N) - begin) / 1000000)) ms: $(cat err)"
  [ $rc = 125 ] && grep -q "host localhost is lost: its server no longer answers" err || fail "a server that hangs: $rc, $(cat err)"
}
export GS_TEST=$$
hang
hang gs-reads

# The shim, which shows an application one device, isn't in this machine's server.
POCL_DEVICES="pthread pthread" gpusparc run --hosts localhost:all --hosts-required --mode multi --stats=stats.json "$GS_BUILD/lib/gpusparc/samples/matmul" --size 384 >out ||
  fail "localhost's two devices: $(cat out)"
python3 -c 'import json; raise SystemExit(json.load(open("stats.json"))["devices"] != 2)' || fail "localhost has two devices: $(cat stats.json)"

# A server's driver may begin nothing before a flush.
mkdir -p lazy/bin
ln -sfn "$engine/vendors" lazy/vendors
cp "$engine/VERSION" lazy
cat >lazy/bin/pocld <<END
#!/bin/sh
LAZY=unflushed OPENCL_LAYERS=$GS_BUILD/tests/e2e/lazy.so exec "$engine/bin/pocld" "\$@"
END
chmod +x lazy/bin/pocld
GPUSPARC_ENGINE=$PWD/lazy timeout 60 gpusparc run --hosts localhost --hosts-required --mode single "$GS_BUILD/tests/hosts/uploads" ||
  fail "nothing is flushed: is the engine of these edits (scripts/remote.sh)?"

# A server makes a program from the binary that one before has kept, and from the source where that is no good.
export POCL_CACHE_DIR=$PWD/pocl-cache
rm -rf pocl-cache
kept() { gpusparc run --hosts localhost --hosts-required --mode single "$GS_BUILD/tests/hosts/kept_binaries" "$@" || fail "kept_binaries $*: $?" >&2; }
files() { stat -c '%n %i' pocl-cache/gpusparc/*; }
kept >first
[ -d pocl-cache/gpusparc ] || fail "nothing is kept: is the engine of these edits (scripts/remote.sh)?"
files >files.first
[ "$(wc -l <files.first)" = 1 ] || fail "what is kept: $(cat files.first)"
kept >second
cmp first second || fail "another program from the binary that is kept"
files | cmp files.first - || fail "what is kept isn't used"
kept "-cl-kernel-arg-info -DTIMES=2" >other
[ "$(files | wc -l)" = 2 ] && ! cmp -s first other || fail "of other options: $(files), $(cat other)"
for damage in 's/./x/' '$d'; do
  rm -rf pocl-cache/gpusparc
  kept >/dev/null
  sed -i "$damage" pocl-cache/gpusparc/*
  files >files.damaged
  kept >damaged
  cmp first damaged || fail "after sed '$damage': $(cat damaged)"
  ! files | cmp -s files.damaged - || fail "after sed '$damage' it is used"
done
