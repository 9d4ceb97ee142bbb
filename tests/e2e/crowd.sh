#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# crowd.sh SEED SECONDS [lazy] [deaths] [graph]: processes of several threads (programs/crowd.c, stress.c) come and go under one
# daemon on devices that say that they are GPUs, so that now one is alone and now it isn't; some are killed. What the
# others compute is the same as without gpusparc, none hangs, nobody keeps a unit until the watchdog takes it back, and
# in the end the daemon holds nothing for anybody. lazy: some over a driver that is as lazy as it may be. deaths: the
# daemon is killed, and comes back, now and then. The shim looks at each lock, and at each state of a command.
# graph: what comes after what is written down and looked at (graph.sh), of each process that isn't killed.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 seconds=$2
shift 2
extras=" $* "
seeds=4 slots=${CROWD_SLOTS:-3}
limit=${CROWD_LIMIT:-40} # seconds, in which a process enqueues something or has come to its end
own_daemon watchdog=10s <<'END'
[task crowd]
period = 200ms
END
has() { [[ $extras == *" $1 "* ]]; }
any() { local words=("$@"); chosen=${words[RANDOM % $#]}; } # not in a subshell, whose numbers would be the same ones

for ((i = 0; i < seeds; i++)); do
  "$programs/crowd" $((seed + i)) 50 4 >"alone$i.txt" || fail "seed $((seed + i)) fails without gpusparc"
  "$programs/stress" $((seed + i)) 300 4 i >"stress$i.txt" || fail "stress $((seed + i)) fails without gpusparc"
done

# What a process that is stuck does.
look_into() { # PID
  gpusparc status --json >"hung.$1.json" || true
  command -v gdb >/dev/null && timeout 60 gdb -batch -p "$1" -ex 'thread apply all bt 12' >"hung.$1.txt" 2>/dev/null || true
  for task in /proc/"$1"/task/*; do echo "$(<"$task/comm"): $(cat "$task/wchan" 2>/dev/null)"; done || true
}

one() { # SLOT
  local i=$((RANDOM % seeds)) rc=0 app layers=$programs/as_gpu.so life=$((limit * 20)) n=0 steps=0 now killed=no way chosen
  local variables options preload=()
  any auto plain pinned && variables=(GPUSPARC_TRANSFER="$chosen")
  any 1 2 && options=(--devices cpu:2 --gpus "$chosen")
  any single multi auto && options+=(--mode "$chosen")
  if has lazy && [ $((RANDOM % 2)) = 0 ]; then
    any unflushed unflushed,lanes late lock inside poison,late
    layers+=:$programs/lazy.so
    variables+=(LAZY="$chosen" LAZY_REPORT="$PWD/report$1" LAZY_SEED=$RANDOM LAZY_STUCK_MS=$((limit * 500)))
    any tidy untidy && way=$chosen # the others end while threads of theirs are in the driver
  else
    any tidy tidy untidy exit running && way=$chosen
  fi
  if has graph; then
    layers+=:$programs/graph.so
    variables+=(GRAPH="$PWD/graph$1")
    preload=(bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$programs/graph.so")
    rm -f "graph$1".[0-9]*
  fi
  [ $((RANDOM % 4)) != 0 ] || options+=(--task crowd)
  [ $((RANDOM % 6)) != 0 ] || { killed=yes life=$((1 + RANDOM % 10)); }
  local program=(crowd $((seed + i)) 50 4 "$way") same=alone$i.txt
  if ! has lazy && [ $((RANDOM % 3)) = 0 ]; then
    program=(stress $((seed + i)) 300 4 i)
    same=stress$i.txt
  fi
  local what="${program[*]}: ${variables[*]} ${options[*]}"
  rm -f "report$1"
  : >"steps$1"
  env STEPS="$PWD/steps$1" OPENCL_LAYERS="$layers" "${variables[@]}" gpusparc run "${options[@]}" "${preload[@]}" "$programs/${program[0]}" \
    "${program[@]:1}" \
    >"out$1.txt" 2>"err$1.txt" &
  app=$!
  while kill -0 $app 2>/dev/null && [ $n -lt $life ]; do
    sleep 0.05
    n=$((n + 1)) now=$(stat -c %s "steps$1")
    [ $killed = yes ] || [ $now = $steps ] || n=0 steps=$now
  done
  if kill -0 $app 2>/dev/null; then
    [ $killed = yes ] || { echo "process $app hung for $limit s after $steps commands: $what"; look_into $app; }
    kill -KILL $app 2>/dev/null || true
    wait $app || true
    [ $killed = yes ]
    return
  fi
  wait $app || rc=$?
  [ $rc = 0 ] || { tail -n 3 "out$1.txt" "err$1.txt"; echo "process $app ended with $rc: $what"; return 1; }
  cmp "$same" "out$1.txt" || { diff "$same" "out$1.txt" | head -4; echo "process $app computed otherwise: $what"; return 1; }
  ! has graph || python3 "$GS_SOURCE/tests/e2e/graph/graph.py" "graph$1".[0-9]* >"found$1.txt" ||
    { head -12 "found$1.txt"; echo "process $app isn't in order: $what"; return 1; }
  [ ! -s "report$1" ] || { head -3 "report$1"; echo "the driver was misused: $what"; return 1; }
}

# Processes one after the other, with pauses, in which those of other slots may be alone.
slot() { # SLOT
  local until=$((SECONDS + seconds)) runs=0
  RANDOM=$((seed * 7 + $1))
  while [ $SECONDS -lt $until ] && [ ! -e failed ]; do
    one "$1" || { touch failed; return 1; }
    runs=$((runs + 1))
    [ $((RANDOM % 3)) != 0 ] || sleep "0.$((RANDOM % 10))"
  done
  echo $runs >"runs$1.txt"
}

rm -f failed hung.* runs*.txt
check_order
begin_daemon
for ((s = 1; s <= slots; s++)); do
  slot $s >"slot$s.txt" 2>&1 &
  pids[s]=$!
done
until=$((SECONDS + seconds))
RANDOM=$seed
while has deaths && [ $SECONDS -lt $until ] && [ ! -e failed ]; do
  sleep $((1 + RANDOM % 4))
  kill -KILL "$daemon"
  wait "$daemon" || true
  [ $((RANDOM % 2)) = 0 ] || sleep 1
  begin_daemon
done
bad=0
for ((s = 1; s <= slots; s++)); do wait "${pids[s]}" || { cat slot$s.txt; bad=1; }; done
[ $bad = 0 ] || fail "seed $seed"

taken=$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])')
[ "$taken" = 0 ] || fail "$taken units were kept until the watchdog took them back"
# The dead have gone, and nothing of what they had is left.
for _ in $(seq 100); do
  left=$(gpusparc status --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(*["client %s" % c for c in s["clients"]],
      *["%s of %s: %s" % (k, r["name"], r[k]) for r in s["resources"] for k in ("holder", "units", "waiting", "alone") if r[k]], sep="; ")')
  [ -n "$left" ] || break
  sleep 0.05
done
[ -z "$left" ] || fail "the daemon holds: $left"
end_daemon
in_order
echo "$(awk '{ n += $1 } END { print n }' runs*.txt) processes (seed $seed)"
