#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# random_daemon_runs.sh SEED RUNS [SECONDS]: random programs over a driver that is lazy, or whose commands fail, under a daemon: as
# an application and as a task, by itself and beside another one, with a daemon that dies at a random step and comes
# again. Each process notes its states, grants and waits (lock_notes.c), and model.py replays them: no promise is broken. So
# many runs, and then further ones until so many seconds are over.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
seed=$1 runs=$2 until=$((SECONDS + ${3:-0})) failing=0
for program in crowd stress jobs contend; do
  [ -x "$programs/$program" ] || { echo "left out: $program isn't built"; exit 77; }
done
RANDOM=$seed
own_daemon watchdog=100s kernel_chunk=4 transfer_chunk=8192 <<'END'
[task one]
period = 200ms
mode = 1
[task both]
period = 200ms
mode = 2
END
any() { local words=("$@"); chosen=${words[RANDOM % $#]}; } # not in a subshell, whose numbers would be the same ones
replay() { python3 "$GS_SOURCE/tests/e2e/model.py" "$@"; }

plain() { # NAME PROGRAM ARGUMENTS...
  [ -e "$1.plain" ] || "$programs/$2" "${@:3}" >"$1.plain" 2>plain.err || { cat plain.err; fail "${*:2} without gpusparc"; }
}

# Waits until the process has noted so many lines, or has ended.
await_step() { # PID NOTES LINES
  while kill -0 "$1" 2>/dev/null && [ "$({ wc -l <"$2"; } 2>/dev/null || echo 0)" -lt "$3" ]; do sleep 0.01; done
}

one() { # RUN
  local s=$((seed + $1 % 3)) layers=$programs/lazy.so variables options name program beside='' dies='' what app other rc=0 wide=''
  any crowd crowd stress stress jobs failing
  name=$chosen-$s
  case $chosen in
  crowd) program=(crowd $s 20 3) ;;
  stress) program=(stress $s 60 3 i) ;;
  jobs) program=(jobs 12 4000 100 3) ;;
  failing) program=(stress $s 40 2 g 4) layers=$programs/faults.so failing=$((failing + 1)) ;;
  esac
  any auto plain pinned && variables=(GPUSPARC_TRANSFER="$chosen")
  any 1 2 2 && options=(--devices cpu:2 --gpus "$chosen")
  any "--mode single" "--mode multi" "--mode auto" "--task one" "--task both" && read -ra words <<<"$chosen"
  options+=("${words[@]}")
  if [ $layers = "$programs/lazy.so" ]; then
    any unflushed unflushed,lanes late=3 slow inside poison,late=3
    variables+=(LAZY="$chosen" LAZY_REPORT="$PWD/lazy.txt" LAZY_SEED=$RANDOM LAZY_STUCK_MS=200000)
    [ $((RANDOM % 3)) != 0 ] || { layers=$programs/as_gpu.so:$layers; wide=--wide; } # then it may be alone
  else
    variables+=(FAULT=any:$s:-9999:often)
  fi
  [ $((RANDOM % 2)) != 0 ] || beside=yes
  [ $((RANDOM % 3)) != 0 ] || dies=$((1 + RANDOM % 3000))
  what="run $1: ${variables[*]} ${layers//$programs\//} ${options[*]} ${program[*]}${beside:+, beside another}${dies:+, the daemon dies at line $dies}"
  plain "$name" "${program[@]}"
  rm -f notes notes2 lazy.txt
  env OPENCL_LAYERS="$layers" GS_NOTES="$PWD/notes" "${variables[@]}" timeout -s KILL 120 \
    gpusparc run "${options[@]}" "$programs/${program[0]}" "${program[@]:1}" >out.txt 2>err.txt &
  app=$!
  if [ -n "$beside" ]; then
    plain contend contend 5 40 2
    GS_NOTES=$PWD/notes2 timeout -s KILL 120 gpusparc run --devices cpu:2 "$programs/contend" 5 40 2 >out2.txt 2>err2.txt &
    other=$!
  fi
  if [ -n "$dies" ]; then
    await_step $app notes "$dies"
    kill -KILL "$daemon"
    { wait "$daemon"; } 2>/dev/null || true
    await_step $app notes $((dies + RANDOM % 300))
    begin_daemon
  fi
  wait $app || rc=$?
  [ $rc = 0 ] || { tail -3 err.txt; replay notes $wide || true; fail "exits with $rc: $what"; }
  [ -e notes ] || fail "nothing was noted: $what"
  replay notes $wide >seen.txt || fail "$what"
  cmp "$name.plain" out.txt || fail "another result: $what"
  [ ! -s lazy.txt ] || { head -3 lazy.txt; fail "the driver was misused: $what"; }
  echo "$what: $(<seen.txt)"
  cat seen.txt >>all.txt
  [ -n "$beside" ] || return 0
  wait $other || fail "contend beside $what"
  cmp contend.plain out2.txt || fail "another result of contend, beside $what"
  [ -e notes2 ] || [ -n "$dies" ] || fail "contend noted nothing, beside $what"
  [ ! -e notes2 ] || replay notes2 >>all.txt || fail "contend, beside $what" # it may have met no daemon
}

# What the model says of notes of which a line is left out, or is there twice.
finds() { # WORD EDIT WORDS
  local n
  n=$(grep -n " $1 " notes | sed -n '2s/:.*//p')
  sed "${n}$2" notes >wrong
  ! replay wrong --wide >wrong.txt 2>&1 || fail "the model doesn't see that line $n ($1) is edited by $2"
  grep -q "$3" wrong.txt || { cat wrong.txt; fail "the model doesn't say '$3' where line $n is edited by $2"; }
}

rm -f ./*.plain
check_order
begin_daemon
: >all.txt
n=0
while [ $n -lt "$runs" ] || [ $SECONDS -lt $until ]; do
  one $n
  n=$((n + 1))
done
finds give d "grants are not given back\|granted twice"
finds give p "given back before"
finds grant d "without a grant"
finds grant p "granted twice"
taken=$(gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])')
[ "$taken" = 0 ] || fail "$taken units were kept until the watchdog took them back"
end_daemon
in_order
for word in several single by_a_daemon $([ $failing = 0 ] || echo failed); do
  grep -q "$word=[1-9]" all.txt || [ "$n" -lt 10 ] || fail "nothing was seen of: $word"
done
echo "$n runs (seed $seed)"
