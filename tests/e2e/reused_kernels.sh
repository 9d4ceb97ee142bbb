#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kernel object that lies where another one lay is none of its launches: under a daemon the first launch of a long
# kernel goes by chunks of the configured size, after 300 short-lived objects of a short kernel, whose chunks have grown.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon kernel_chunk=4 </dev/null
begin_daemon
cat >check.py <<'END2'
import json
most = {}
for e in sorted(json.load(open("trace.json")), key=lambda e: e.get("ts", 0)):
    if e["ph"] == "X" and e["cat"] == "kernel":
        most.setdefault(e["name"], []).append(e["args"]["items"])
first = most["lengthy"][0]
print(f"the first unit of the long kernel has {first} work-items; of the short one {most['brief'][0]} to {max(most['brief'])}")
raise SystemExit(first > 4 * 64)
END2
"$programs/reused_kernels" 300 >alone.txt
for mode in multi single; do
  gpusparc run --devices cpu:2 --mode $mode --trace trace.json "$programs/reused_kernels" 300 >out.txt 2>err.txt || { cat err.txt; fail "$mode"; }
  cmp alone.txt out.txt || fail "$mode: another result"
  python3 check.py || fail "$mode: a new kernel is cut by what another one took"
done
