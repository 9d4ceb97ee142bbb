#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc devices: the group, and what its links carry: once measured, from the cache, and nothing where there is nothing.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
gpusparc devices --devices cpu:2 >out.txt
grep -q 'have not been measured' out.txt || { cat out.txt; fail "links that nobody measured"; }
gpusparc devices --devices cpu:2 --json >before.json
gpusparc devices --devices cpu:2 --measure --json >now.json
gpusparc devices --devices cpu:2 --json >kept.json
cmp now.json kept.json || fail "the figures were not kept"
gpusparc devices --devices cpu:2 >out.txt
grep -Eq '^  host +-> device 1 +pinned +[0-9.]+ GB/s +[0-9.]+ us$' out.txt || { cat out.txt; fail "the table"; }
grep -q 'share the host.s memory' out.txt || fail "the table, of the devices"
gpusparc devices --devices cpu:3 | grep -q 'have not been measured' || fail "another group's figures"
# As if the devices had no common memory, by each way.
for path in pinned plain; do
  GPUSPARC_TRANSFER=$path gpusparc devices --devices cpu:2 --measure --json >$path.json
done
python3 - <<'END'
import json
assert "links" not in json.load(open("before.json"))
links = json.load(open("now.json"))["links"]["links"]
ends = [(l["from"], l["to"], l["path"]) for l in links]
assert sorted(map(str, ends)) == sorted(str((f, t, p)) for d in (0, 1) for f, t in (("host", d), (d, "host")) for p in ("pageable", "pinned")), ends
assert all(l["latency_us"] > 0 and l["gb_per_s"] > 0 for l in links), links
END
python3 - <<'END'
import json
for path, name in ("pinned", "pinned"), ("plain", "copy"):
    links = json.load(open(path + ".json"))["links"]["links"]
    between = [(l["from"], l["to"], l["path"]) for l in links if "host" not in (l["from"], l["to"])]
    assert between == [(0, 1, name), (1, 0, name)], between
END
# A choice that fits none: what there is, and why it is no group.
rc=0
gpusparc devices --devices 77 >out.txt 2>err.txt || rc=$?
[ "$rc" = 1 ] && grep -q ' units ' out.txt && ! grep -q '^the group' out.txt && grep -q "no device fits --devices" err.txt || { cat out.txt err.txt; fail "devices that there are not: $rc"; }
shows err.txt 'no device fits --devices or GPUSPARC_DEVICES; `gpusparc devices` lists what there is'
GPUSPARC_DEVICES=77 gpusparc devices --json >out.json 2>err.txt && fail "devices that there are not"
python3 -c 'import json; d = json.load(open("out.json")); assert d["platforms"] and d["group"] is None'
POCL_DEVICES=none gpusparc devices >out.txt 2>err.txt && fail "a platform without devices"
grep -q "no OpenCL platform shows a GPU or a CPU device" err.txt || { cat out.txt err.txt; fail "a platform without devices: not said"; }
shows err.txt "no OpenCL platform shows a GPU or a CPU device"
mkdir -p no-vendors
OCL_ICD_VENDORS=$PWD/no-vendors gpusparc devices >out.txt 2>err.txt && fail "no platform"
shows err.txt "there is no OpenCL platform; install a driver (pocl-opencl-icd serves the CPU)"
rc=0
gpusparc devices --measure=1 >out.txt 2>err.txt || rc=$?
[ "$rc" = 2 ] || fail "an option with too much: $rc"
# A cache of rubbish counts as none.
for f in cache/gpusparc/*; do echo '{"links": 7' >"$f"; done
gpusparc devices --devices cpu:2 | grep -q 'have not been measured' || fail "a cache of rubbish"
echo passed
