#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# random_host_programs.sh SEED COUNT [STEPS [KERNELS]]: COUNT random host programs (programs/random_host_programs.c) around random kernels: KERNELS of
# the oracle's (tests/access/oracle/free.py) and two of generate.py's,
# on places with memories of their own: the plain run's bytes by the driver's copies, by the pinned ring, and with
# --verify, over two to four places. A launch that --verify calls wrong is a failure.
# HOSTS_KERNELS=FOLDER: kernels from there in the place of new ones.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 count=$2 steps=${3:-150} kernels=${4:-5}

under() { # NAME OPTIONS...
  local name=$1 rc=0
  shift
  timeout -s KILL 200 gpusparc run --mode multi --stats="$name.json" "$@" "$programs/random_host_programs" "$s" "$steps" "${files[@]}" >"$name.txt" 2>"$name.err" || rc=$?
  [ "$rc" = 0 ] || { tail -5 "$name.err"; fail "seed $s: $name exits with $rc (steps $steps, kernels $kernels)"; }
  cmp alone.txt "$name.txt" || { diff alone.txt "$name.txt" | head -4; fail "seed $s: $name differs (steps $steps, kernels $kernels)"; }
  ! grep '^gpusparc' "$name.err" | grep -vE 'verify: .*(, all alike|not compared|nothing compared)' || fail "seed $s: $name has something to say"
  stats "$name.json" right
}
split=0
for ((s = seed; s < seed + count; s++)); do
  files=("${HOSTS_KERNELS:-kernels}"/*.cl)
  if [ -z "${HOSTS_KERNELS:-}" ]; then
    rm -rf kernels
    python3 "$GS_SOURCE/tests/access/generate.py" $((s * kernels)) 2 kernels
    python3 "$GS_SOURCE/tests/access/oracle/free.py" $((s * 200)) "$kernels" kernels "$GS_BUILD"
    files=(kernels/*.cl)
  fi
  timeout -s KILL 100 "$programs/random_host_programs" "$s" "$steps" "${files[@]}" >alone.txt 2>alone.err || { tail -n 3 alone.txt alone.err; fail "seed $s fails without gpusparc"; }
  GPUSPARC_TRANSFER=plain under plain --devices cpu:$((2 + s % 3))
  GPUSPARC_TRANSFER=pinned under pinned --devices cpu:$((2 + (s + 1) % 3))
  way=$([ $((s % 2)) = 0 ] && echo plain || echo pinned)
  GPUSPARC_TRANSFER=$way under verified --devices cpu:$((2 + (s + 2) % 3)) --verify
  split=$((split + $(python3 -c 'import json; print(sum(k["split"] for k in json.load(open("plain.json"))["kernels"]))')))
done
# Two or three kernels may all be of one work-group, or be refused.
[ $split -gt 0 ] || [ $((count * kernels)) -lt 4 ] || fail "nothing was split"
echo "seeds $seed to $((seed + count - 1)): the same; $split launches were split"
