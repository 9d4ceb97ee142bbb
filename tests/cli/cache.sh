#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc cache: says what is there, removes it, and touches nothing else.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
export XDG_CACHE_HOME=$PWD/own
rm -rf own
[[ $(gpusparc cache) == "$PWD/own/gpusparc: 0 entries, 0 B of at most 256 MiB" ]] || complain "an empty one: $(gpusparc cache)"
gpusparc run --mode multi --devices cpu:2 "$GS_BUILD/lib/gpusparc/samples/matmul" --size 64 >/dev/null
printf 'gpusparc-learnt 1\n' >own/gpusparc/learnt-$(printf '%064d' 7)
[[ $(gpusparc cache) == *"translations"*"1 "*"learnt"* ]] || complain "gpusparc cache says: $(gpusparc cache)"
[ "$(gpusparc cache --show | wc -l)" = $(($(ls own/gpusparc | wc -l) + 1)) ] || complain "--show: $(gpusparc cache --show)"
gpusparc cache --json >cache.json
python3 - <<'P' || complain "--json: $(cat cache.json)"
import json, os
a = json.load(open("cache.json"))
assert sorted(e["name"] for e in a["entries"]) == sorted(os.listdir("own/gpusparc"))
assert a["bytes"] == sum(e["bytes"] for e in a["entries"]) == sum(os.path.getsize("own/gpusparc/" + e["name"]) for e in a["entries"])
assert {"translations", "learnt"} <= {e["kind"] for e in a["entries"]} and a["limit_bytes"] == 256 << 20
P
touch own/kept
[[ $(gpusparc cache --clear) == *"removed"* ]] || complain "--clear"
[ -z "$(ls own/gpusparc)" ] && [ -e own/kept ] || complain "--clear left: $(ls own own/gpusparc)"
[ "$(GPUSPARC_CACHE_SIZE=3M gpusparc cache)" = "$PWD/own/gpusparc: 0 entries, 0 B of at most 3 MiB" ] || complain "GPUSPARC_CACHE_SIZE"
chmod 777 own/gpusparc
says "not this user's alone to write" cache
says "not both" cache --show --clear
says "takes no argument 'all'" cache all
exit $fail
