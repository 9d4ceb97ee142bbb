#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# links.sh: auto mode's prediction begins with what the links between the devices were measured to carry, by `gpusparc devices
# --measure`; where bytes go between devices at all.
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
begins() { sed -n 's/.*through the host: \([0-9]*\) ns for a transfer.*/\1/p' "$1"; }
gpusparc devices --devices cpu:2 --measure --json >measured.json 2>/dev/null
auto measured.txt
python3 - "$(begins measured.txt)" <<'END'
import json, sys
links = json.load(open("measured.json"))["links"]["links"]
found = sorted(l["latency_us"] for l in links if "host" not in (l["from"], l["to"]))
assert abs(int(sys.argv[1]) - found[len(found) // 2] * 1000) <= 6, (sys.argv, found)
END
echo passed
