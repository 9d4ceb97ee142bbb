#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What goes from one host to another doesn't pass through the client, by tunnels and without; where a host can't log in
# to the other it does, and `gpusparc devices` says so.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/namespaces.sh"
rm -rf ./*
hosts_up 2
mib=16 rounds=6
on_wire() { cat /sys/class/net/gs$$_*/statistics/[rt]x_bytes | awk '{n += $1} END {printf "%d", n / 1048576}'; }
exchange() { # HOSTS OPTIONS...: MiB on the client's links, beyond what is written and read; of $what
  local before
  before=$(on_wire)
  # shellcheck disable=SC2086
  gpusparc run --hosts "$1" --hosts-required --mode multi "${@:2}" "$GS_BUILD/tests/hosts/exchange" $mib $rounds $what >out 2>err || fail "$*: $(cat out err)"
  echo $(($(on_wire) - before - 2 * mib))
}
for way in gs1,gs2 "$hosts_net.1.2,$hosts_net.2.2 --hosts-plain"; do
  for what in '' image; do
    # shellcheck disable=SC2086
    moved=$(exchange $way)
    [ "$moved" -lt $mib ] || fail "$way: $rounds exchanges of $mib MiB ${what:+(an image) }took $moved MiB on the client's links"
  done
done
what=
sample=$GS_BUILD/lib/gpusparc/samples/pagerank # whose two pieces are 160 KB: what is more than 32 KiB goes directly
"$sample" --size 20000 --output plain >/dev/null
gpusparc run --hosts gs1,gs2 --hosts-required --mode multi --stats=stats.json "$sample" --size 20000 --output remote >/dev/null
cmp plain remote
python3 - <<'END' || fail "pieces of more than 32 KiB go through the client: $(cat stats.json)"
import json
moved = json.load(open("stats.json"))["bytes"]
raise SystemExit(moved["pinned"]["bytes"] > 32768 * moved["pinned"]["transfers"] or not moved["peer"]["bytes"])
END
gpusparc devices --hosts gs1,gs2 >out
grep -q "gs1 and gs2: bytes go directly" out || fail "$(cat out)"
mv "$hosts_dir/ssh1" "$hosts_dir/ssh1.away"
moved=$(exchange gs1,gs2)
[ "$moved" -lt $mib ] || fail "by gs2's own ssh: $moved MiB on the client's links"
mv "$hosts_dir/ssh2" "$hosts_dir/ssh2.away"
moved=$(exchange gs1,gs2)
[ "$moved" -gt $((rounds * mib * 3 / 2)) ] || fail "only $moved MiB on the client's links: by which way did the rest go?"
gpusparc devices --hosts gs1,gs2 >out
grep -q "gs1 and gs2: bytes go through this machine (Can't open user config file" out || fail "$(cat out)"
