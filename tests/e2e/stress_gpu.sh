#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stress_gpu.sh [SECONDS [SEED [GPUS [seeds]]]]: on real GPUs, for so long, with every way of moving bytes between them: the
# programs of this folder once, then random sequences of commands (stress.c) with seeds from SEED on; each is run plain
# and under gpusparc and compared byte for byte. Run from anywhere; GS_BUILD names the build, else build/ beside us.
set -uo pipefail
GS_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
export GS_SOURCE GS_BUILD=${GS_BUILD:-$GS_SOURCE/build}
export PATH=$GS_BUILD/bin:$PATH
programs=$GS_BUILD/tests/e2e
seconds=${1:-60} seed=${2:-1} gpus=${3:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0 runs=0 end=$((SECONDS + seconds))

compare() { # PATH PROGRAM ARGUMENTS...
  local way=$1 rc=0
  shift
  GPUSPARC_TRANSFER=$way timeout 240 gpusparc run --devices gpu --gpus "$gpus" --mode multi --stats=stats.json "$programs/$1" "${@:2}" \
    >split.txt 2>split.err || rc=$?
  runs=$((runs + 1))
  [ $rc = 0 ] && cmp -s alone.txt split.txt && return
  bad=$((bad + 1))
  echo "FAILED: GPUSPARC_TRANSFER=$way $*: exits with $rc"
  diff alone.txt split.txt | head -4 | cut -c1-160
  tail -2 split.err
}

all_ways() { # PROGRAM ARGUMENTS...
  local way rc=0
  timeout 15 "$programs/$1" "${@:2}" >alone.txt 2>alone.err || rc=$?
  if [ $rc != 0 ]; then
    [ -n "${quiet:-}" ] || echo "left out: $* exits with $rc without gpusparc: $(tail -1 alone.txt | cut -c1-120)"
    return 1
  fi
  for way in auto plain pinned peer; do
    [ $SECONDS -ge $end ] || compare $way "$@"
  done
}

gpusparc devices | head -8
if [ "${4:-}" != seeds ]; then # else random sequences alone
  for p in transfers queues images aliases threads sub_buffers host_pointers user_events release_orders host_access profiling; do
    [ $SECONDS -ge $end ] || all_ways $p
  done
fi
# Of random sequences what the driver can't do is left out, as little as it takes.
levels=("" i iw iwg iwgr iwgrm iwgrmo iwgrmof) level=0 ran=0
for ((; SECONDS < end && level < ${#levels[@]}; seed++)); do
  quiet=1
  until [ $SECONDS -ge $end ] || all_ways stress "$seed" 2000 4 "${levels[level]}" 2>/dev/null; do
    level=$((level + 1))
    [ $level -lt ${#levels[@]} ] || { echo "left out: stress $seed, whatever is left out"; break; }
  done
  ran=$((ran + 1))
done
echo "$runs runs under gpusparc, $ran seeds up to $((seed - 1)) without '${levels[level]-anything}': $bad failed"
[ $bad = 0 ]
