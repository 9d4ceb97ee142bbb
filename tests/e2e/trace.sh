#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --trace: what is in it agrees with the statistics and the clock, however the application ends, and nothing of it shows in
# the application.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
check() { python3 "$GS_SOURCE/tests/e2e/check_trace.py" "$@" || fail "check_trace.py $*"; }
quiet() { [ ! -s err.txt ] || { cat err.txt; fail "$1: words on stderr"; }; }

# A split sample, by each path, and on one device.
"$samples/matmul" --size 128 >alone.txt
for path in auto plain pinned; do
  GPUSPARC_TRANSFER=$path gpusparc run --devices cpu:2 --mode multi --trace "$path.json" --stats="$path.stats.json" \
    "$samples/matmul" --size 128 >out.txt 2>err.txt
  cmp alone.txt out.txt || fail "$path: another output"
  quiet "$path"
  check "$path.json" --stats "$path.stats.json" --kernel matmul 0 1 --ended
done
gpusparc run --devices cpu:2 --mode single --trace single.json --stats=single.stats.json "$samples/matmul" --size 128 >out.txt 2>err.txt
quiet single
check single.json --stats single.stats.json --kernel matmul 0 --ended
# A merge by comparison, and a launch that is verified.
GPUSPARC_TRANSFER=pinned gpusparc run --devices cpu:3 --mode multi --trace merge.json --stats=merge.stats.json "$programs/aliases" >out.txt
check merge.json --stats merge.stats.json --ended
grep -q '"cat":"merge"' merge.json && stats merge.stats.json "took:merge" "path:merge" || fail "nothing was merged"
gpusparc run --devices cpu:2 --mode multi --stats "$samples/vectoradd" --size 65536 >out.txt 2>err.txt
grep -Eq '^gpusparc: in all, ms: write [0-9.]+ kernel [0-9.]+ merge 0.000 read [0-9.]+$' err.txt || { cat err.txt; fail "the table of times"; }

# Several processes, one file for statistics: each has its own.
rm -f shared*.json
GS=$samples gpusparc run --devices cpu:2 --mode multi --stats=shared.json sh -c \
  '"$GS/vectoradd" --size 65536 & "$GS/matmul" --size 128 & wait; "$GS/matvecmul"' >out.txt
[ "$(ls shared*.json | wc -l)" = 3 ] || fail "statistics of three processes: $(ls shared*.json)"
for kernel in vectoradd matmul matvecmul; do
  [ "$(grep -l "\"process\": .*\"name\": \"$kernel\"" shared*.json | wc -l)" = 1 ] || fail "statistics of $kernel"
done
rm -f shared*.json
for i in 1 2; do
  gpusparc run --devices cpu:2 --stats=shared.json "$samples/vectoradd" --size 65536 >out.txt
done
[ "$(ls shared*.json)" = shared.json ] || fail "statistics of two runs: $(ls shared*.json)"
# Rows and images.
for sample in fdtd3d sobel; do
  gpusparc run --devices cpu:2 --mode multi --trace $sample.json --stats=$sample.stats.json "$samples/$sample" \
    $(sed -n "s/^$sample *|[^|]*|\([^|]*\)|.*/\1/p" "$samples/MANIFEST") >out.txt
  check $sample.json --stats $sample.stats.json --ended
done
gpusparc run --devices cpu:2 --mode multi --verify --trace verify.json --stats=verify.stats.json "$samples/vectoradd" --size 65536 >out.txt
check verify.json --stats verify.stats.json --ended

# Two processes at once and one after them share the file; what an earlier run left is gone.
echo rubbish >several.json
GS=$samples gpusparc run --devices cpu:2 --mode multi --trace several.json sh -c \
  '"$GS/vectoradd" --size 65536 & "$GS/matmul" --size 128 & wait; "$GS/vectoradd" --size 65536' >out.txt
check several.json --processes 3 --ended
# Without the launcher, twice: the second is what is in the file.
for i in 1 2; do
  GPUSPARC_TRACE=$PWD/bare.json GPUSPARC_DEVICES=cpu:2 GPUSPARC_MODE=multi LD_PRELOAD=$GS_BUILD/lib/gpusparc/libgpusparc.so \
    "$samples/vectoradd" --size 65536 >out.txt
done
check bare.json --processes 1 --ended

# It is killed in the middle, closes its descriptors, forks.
for signal in TERM KILL; do
  rm -f killed.json
  gpusparc run --devices cpu:2 --mode multi --trace killed.json "$samples/matmul" --size 128 --iterations 1000000 >out.txt 2>err.txt &
  app=$!
  for _ in $(seq 1000); do
    [ "$(grep -c '"kernel"' killed.json 2>/dev/null || true)" -gt 10 ] 2>/dev/null && break
    sleep 0.05
  done
  kill -$signal $app
  rc=0
  wait $app 2>/dev/null || rc=$?
  [ "$rc" -gt 128 ] || fail "SIG$signal ends it with $rc"
  check killed.json --kernel matmul 0 1
done
for how in closed fork exec running callback destructor; do
  "$programs/ways_to_end" $how >alone.txt || true
  gpusparc run --devices cpu:2 --mode multi --trace ending.json "$programs/ways_to_end" $how >out.txt 2>err.txt || true
  cmp alone.txt out.txt || fail "ways_to_end $how: another output"
  quiet "ending $how"
  check ending.json
done

# It can't be written: one sentence, once, and the application's own result and status.
cannot() { # WHAT FILE
  rc=0
  gpusparc run --devices cpu:2 --mode multi --trace "$2" "$samples/vectoradd" --size 65536 >out.txt 2>err.txt || rc=$?
  [ "$rc" = 0 ] && grep -q PASS out.txt || fail "$1: status $rc"
  [ "$(wc -l <err.txt)" = 1 ] && grep -qF "$2" err.txt || { cat err.txt; fail "$1: other than one sentence"; }
}
cannot "a folder that isn't there" "$PWD/absent/t.json"
cannot "a folder" "$PWD"
cannot "a device" /dev/null
# A full disk, where we may make one.
mkdir -p small
export GS_SAMPLES=$samples
if unshare -m mount -t tmpfs -o size=16k none small 2>/dev/null; then
  unshare -m sh -c 'mount -t tmpfs -o size=16k none small && gpusparc run --devices cpu:2 --mode multi \
    --trace small/full.json "$GS_SAMPLES/matmul" --size 32 --iterations 200 && cp small/full.json .' >out.txt 2>err.txt || fail "a full disk: status $?"
  [ "$(wc -l <err.txt)" = 1 ] && grep -q "small/full.json ends here" err.txt || { cat err.txt; fail "a full disk: other than one sentence"; }
  check full.json
else
  echo "left out, a full disk: none may be made here"
fi
echo passed
