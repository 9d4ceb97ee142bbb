#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The probes on devices with and without cl_khr_kernel_clock: PoCL with other names (other_clock.c), which hides its own
# clock and offers the extension's functions in one scope, in both, or not at all.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
on() { # CLOCKS ARGUMENTS...
  local clocks=$1
  shift
  FAKE_CLOCKS=$clocks LD_PRELOAD=$GS_BUILD/tests/libother_clock.so gpusparc probe "$@"
}
refuses() { # CLOCKS TEXT ARGUMENTS...
  local clocks=$1 text=$2 rc=0
  shift 2
  on "$clocks" "$@" >out.txt 2>err.txt || rc=$?
  [ "$rc" = 1 ] || { cat err.txt; fail "$* gave $rc"; }
  [ ! -s out.txt ] || fail "$* printed a result"
  [ "$(wc -l <err.txt)" = 1 ] && grep -qF -- "$text" err.txt || { cat err.txt; fail "$*: missing: $text"; }
}
clock_is() { # NAME JSON
  python3 -c 'import json, sys; j = json.load(open(sys.argv[2])); assert j["clock"] == sys.argv[1], j["clock"]' "$@"
}

# None at all: a clear no, and what goes without a clock goes.
refuses 0 "has no clock that the groups of a kernel can compare (cl_khr_kernel_clock, or PTX on NVIDIA); use --by atomic" \
  order --count 2 --runs 5
refuses 0 "has no clock that the warps of a kernel can compare" order --of warp --count 2 --runs 5
refuses 0 "has no clock that the warps of a kernel can compare" latency --runs 5 --memory 1
on 0 order --by atomic --count 2 --runs 5 >/dev/null
on 0 sum --runs 2 >/dev/null

# One clock for each group: it can't compare groups.
refuses 2 "has no clock that the groups of a kernel can compare" order --count 2 --runs 5
on 2 order --of warp --count 2 --runs 20 --json >out.json
clock_is "cl_khr_kernel_clock, work-group" out.json

# One clock for the device serves for both.
for of in group warp; do
  on 1 order --of $of --count 3 --runs 50 --json >out.json
  clock_is "cl_khr_kernel_clock, device" out.json
  # On a processor the readings of different groups differ: the ranks come from a clock that runs.
  python3 -c 'import json; p = json.load(open("out.json"))["points"][0]; assert p["vectors"] >= 50, p'
done
on 1 latency --runs 10 --memory 1 --json >out.json
clock_is "cl_khr_kernel_clock, device" out.json
python3 - <<'P'
import json
one = json.load(open("out.json"))["one_warp"]
assert one["special_dependent"]["average"] > one["add_dependent"]["best"] and one["global_load"]["worst"] > 0, one
P
on 3 latency --runs 3 --memory 1 --json >out.json
clock_is "cl_khr_kernel_clock, work-group" out.json
echo passed
