#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# links.sh: auto mode's prediction begins with what the links between the devices were measured to carry: by `gpusparc devices
# --measure`, or by a probe beside the first application that could be split; where bytes go between devices at all.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
sample=$GS_BUILD/lib/gpusparc/samples/binomial
export XDG_CACHE_HOME=$PWD/own-cache GPUSPARC_DEBUG=1
rm -rf "$XDG_CACHE_HOME"
"$sample" --size 700 --iterations 12 --no-check --output plain >out 2>&1 || fail "binomial, plain: $(cat out)"
auto() { # FILE: what a run says that has learnt nothing else
  gpusparc run --devices cpu:2 --forget "$sample" --size 700 --iterations 12 --no-check --output split >"$1" 2>&1 || fail "$(cat "$1")"
  cmp plain split || fail "other bytes"
}
kept() { echo "$XDG_CACHE_HOME"/gpusparc/links-*; }

auto shared.txt
[ ! -e "$(kept)" ] || fail "devices that share memory were measured"
! grep -q "between devices" shared.txt || fail "devices that share memory have figures"

export GPUSPARC_TRANSFER=pinned
# Beside an application that goes on until the probe has ended.
gpusparc run --devices cpu:2 --forget "$sample" --size 700 --iterations 1000000 --no-check >first.txt 2>&1 &
app=$!
for _ in {1..600}; do
  [ ! -s "$(kept)" ] && kill -0 $app 2>/dev/null || break
  sleep 0.1
done
kill $app 2>/dev/null || true
wait $app 2>/dev/null || true
[ -s "$(kept)" ] || fail "nothing was measured beside the application"
grep -Eq '^host [1-9][0-9]* [1-9][0-9]*$' "$(kept)" || fail "$(cat "$(kept)")"
auto next.txt
begins() { sed -n 's/.*through the host (kept): \([0-9]*\) ns for a transfer.*/\1/p' "$1"; }
[ "$(begins next.txt)" = "$(sed -n 's/^host \([0-9]*\) .*/\1/p' "$(kept)")" ] || fail "kept are $(cat "$(kept)"), not $(begins next.txt)"

rm -f "$(kept)"
gpusparc devices --devices cpu:2 --measure --json >measured.json 2>/dev/null
auto measured.txt
python3 - "$(begins measured.txt)" <<'END'
import json, sys
links = json.load(open("measured.json"))["links"]["links"]
found = sorted(l["latency_us"] for l in links if "host" not in (l["from"], l["to"]))
assert abs(int(sys.argv[1]) - found[len(found) // 2] * 1000) <= 6, (sys.argv, found)
END
echo passed
