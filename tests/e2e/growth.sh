#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# growth.sh ROUNDS: an application that runs for long doesn't grow: after its first rounds, none adds to the heap. With
# PoCL programs and contexts are looked at in long runs only: LLVM's own memory goes up and down by megabytes, and PoCL
# keeps some kilobytes of each, without gpusparc too. Over a driver that keeps nothing they are looked at as the others.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
rounds=$1
"$programs/growth" "$rounds" >alone.txt 2>alone.err

stays() { # NAME OPTIONS...
  local name=$1
  shift
  gpusparc run --gpus 2 --devices cpu:2 "$@" "$programs/growth" "$rounds" >"$name.txt" 2>"$name.err" ||
    { cat "$name.err"; fail "$name"; }
  cmp alone.txt "$name.txt" || fail "$name: another output"
  awk -v name="$name" -v long=$((rounds >= 4000)) '
    { most = !/^programs|^contexts/ ? 150 : long ? 20000 : 1e9 }
    $NF > most { print name ": " $0 " bytes per round"; bad = 1 }
    END { exit bad || NR < 16 }' "$name.err" || { cat "$name.err"; fail "$name grows"; }
}
stays shared --mode multi
GPUSPARC_TRANSFER=plain stays plain --mode multi
GPUSPARC_TRANSFER=pinned stays pinned --mode multi
stays single --mode single
fake=$programs/fake
for mode in single multi auto; do
  for phase in programs contexts; do
    GPUSPARC_REAL=$fake.so gpusparc run --mode $mode "$programs/growth" 4000 $phase >fake.txt 2>fake.err || fail "$phase ($mode)"
    awk '$NF > 150 { exit 1 } END { exit !NR }' fake.err || fail "$mode, bytes a round over a driver that keeps nothing: $(cat fake.err)"
  done
done
# Nor does one whose kernels are all different: what is known of kernels, and counted, has an end, after some thousands.
# (With --stats auto asks the translator about each.)
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
own_daemon </dev/null
begin_daemon
for how in "--mode single --no-daemon --stats=stats.json" "--mode auto --no-daemon" "--mode multi"; do
  GPUSPARC_REAL=$fake.so gpusparc run $how "$programs/generated_kernels" 13000 >varied.txt || fail "varied $how"
  [ "$(cat varied.txt)" -le 16 ] || fail "different kernels $how: $(cat varied.txt) bytes for each"
done
echo "$rounds rounds: nothing grows"
