#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc probe stops with what it has, goes on where it stopped, refuses what isn't its own; and draws pictures.
set -euo pipefail
command=probe
source "$GS_SOURCE/tests/cli/refuses.sh"

# Half of the runs, then the rest: as many as asked for, of the same measurement alone.
rm -rf no_cache ./*.bin ./*.svg ./*.gp part.json
gpusparc probe order --by atomic --count 2..3 --runs 30 --state s.bin >/dev/null
gpusparc probe order --by atomic --count 2..3 --runs 70 --state s.bin --resume --json >out.json
python3 -c 'import json; assert [p["vectors"] for p in json.load(open("out.json"))["points"]] == [70, 70]'
refuses 1 "belongs to another measurement" order --by atomic --count 2..4 --runs 70 --state s.bin --resume
refuses 1 "belongs to another measurement" sum --runs 70 --state s.bin --resume
refuses 1 "s.bin is there already: --resume goes on from it" order --by atomic --count 2..3 --runs 70 --state s.bin
head -c 3000 s.bin >short.bin
refuses 1 "is damaged" order --by atomic --count 2..3 --runs 70 --state short.bin --resume
python3 -c 'b = bytearray(open("s.bin", "rb").read()); b[len(b) // 2] ^= 1; open("flipped.bin", "wb").write(b)'
refuses 1 "is damaged" order --by atomic --count 2..3 --runs 70 --state flipped.bin --resume
refuses 1 "is damaged, or isn't a probe's state" order --state "$0" --resume
refuses 1 "could not be read" order --by atomic --count 2..3 --runs 70 --state nowhere.bin --resume

# A sum in two parts has the results of one that was never stopped: each run's order of the elements is its own.
sum="gpusparc probe sum --elements 2000 --condition 1e10 --permute --methods tree,exact --json"
$sum --runs 12 >whole.json
$sum --runs 5 --state sum.bin >/dev/null
$sum --runs 12 --state sum.bin --resume >parts.json
python3 - <<'P'
import json
whole, parts = (json.load(open(f))["methods"] for f in ("whole.json", "parts.json"))
assert whole[0]["distinct"] > 1
for a, b in zip(whole, parts):
    assert b["runs"] == 12
    for key in ("distinct", "mode", "worst_error", "correctly_rounded", "last_bits"):
        assert a[key] == b[key], (key, a, b)
P
refuses 1 "belongs to another measurement" sum --elements 2000 --seed 2 --runs 12 --state sum.bin --resume
refuses 1 "belongs to another measurement" order --state sum.bin --resume

# Ctrl-C: what was measured is reported as a part, and kept. That is pressed once the worker has had the processor for
# three times as long as a whole run of one vector, so that something is known, however busy the machine is.
gpusparc probe order --by atomic --count 8 --runs 1 >/dev/null # its kernel is compiled then
whole=$({ TIMEFORMAT='%U %S'; time gpusparc probe order --by atomic --count 8 --runs 1 >/dev/null; } 2>&1)
whole=$(awk '{ print int(($1 + $2) * 100) }' <<<"$whole") # in ticks of 10 ms
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null || echo $((3 * whole)); } # PID; that it has ended is seen later
takes_interrupts() { # PID of the worker: they are blocked, for the thread that awaits them
  [ -n "$1" ] && [ $((0x$(sed -n 's/^SigBlk:\t//p' "/proc/$1/status" 2>/dev/null || echo 0) & 2)) != 0 ]
}
interrupt() { # SECONDS ARGUMENTS...
  local seconds=$1
  shift
  gpusparc probe "$@" >out.json 2>err.txt &
  local pid=$!
  until takes_interrupts "$(pgrep -P $pid gpusparc-probe)"; do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
  sleep "$seconds"
  while [ "$(ticks "$(pgrep -P $pid gpusparc-probe)")" -lt $((3 * whole)) ]; do sleep 0.02; done
  kill -INT $pid
  local rc=0
  wait $pid || rc=$?
  [ $rc = 130 ] || { cat err.txt; fail "an interrupted probe gave $rc"; }
  grep -qE "stopped after [1-9][0-9]* of [0-9]+ (runs|measurements): what is above is of these, and --resume goes on" err.txt ||
    { cat err.txt; fail "no word of the interruption"; }
}
vectors() { python3 -c 'import json; j = json.load(open("out.json")); assert not j["complete"] and 0 < j["done"] < j["asked"], j; print(j["points"][0]["vectors"])'; }
mkdir no_cache
interrupt 1 order --by atomic --count 8 --runs 100000000 --state i.bin --json
first=$(vectors)
interrupt 1 order --by atomic --count 8 --runs 100000000 --state i.bin --resume --json
second=$(vectors)
[ 0 -lt "$first" ] && [ "$first" -lt "$second" ] && [ "$second" -lt 100000000 ] || fail "$first vectors, then $second"
interrupt 1 order --by atomic --count 4 --runs 100000 --init --state init.bin --json # amid compilations
# The same from a terminal, whose Ctrl-C goes to all processes there, while kernels of other sizes are compiled.
POCL_CACHE_DIR=$PWD/no_cache script -qec "trap : INT; gpusparc probe order --of warp --count 1..32 --runs 3000; echo it gave \$?" typescript >/dev/null < <(
  sleep 1
  printf '\003'
  sleep 3
)
grep -q "it gave 130" typescript || { cat typescript; fail "Ctrl-C on a terminal"; }
grep -qE "stopped (after|before)" typescript || { cat typescript; fail "no word of the interruption on a terminal"; }
[ "$(vectors)" -gt 0 ] || fail "nothing was measured"
interrupt 1 sum --runs 100000000 --methods tree --state isum.bin --json
python3 -c 'import json; j = json.load(open("out.json")); assert not j["complete"] and 0 < j["methods"][0]["runs"] < 100000000, j'

# On a terminal a long run shows how far it is, in one line that it takes away at the end.
script -qec "gpusparc probe order --by atomic --count 32 --runs 100000" typescript >/dev/null
python3 - <<'P'
shown = open("typescript", "rb").read().decode()
assert "\r32 groups: " in shown and " of 100000 (" in shown and "\r\x1b[K" in shown, shown[-500:]
P

# Ctrl-C once something is known.
rc=0
"$GS_SOURCE/tests/common/ctrl_c.py" '8 groups: [1-9][0-9]* of 100000000' gpusparc probe order --by atomic --count 8 --runs 100000000 >out.txt 2>err.txt || rc=$?
[ $rc = 130 ] && grep -q 'stopped after [1-9][0-9]* of 100000000 runs' err.txt && grep -q '^ *8 ' out.txt || { cat out.txt err.txt; fail "Ctrl-C gave $rc"; }

# The cycles: what was measured before the interruption isn't measured again, and a part makes no profile.
latency="latency --runs 3000 --memory 4 --warps 2 --json"
gpusparc probe latency --runs 1 --memory 4 --warps 2 >/dev/null # its kernels are compiled then
# shellcheck disable=SC2086
interrupt 2 $latency --state l.bin --profile part.json
[ ! -e part.json ] || fail "a profile of a part"
cp out.json interrupted.json
refuses 1 "belongs to another measurement" latency --runs 3001 --memory 4 --warps 2 --state l.bin --resume
# shellcheck disable=SC2086
gpusparc probe $latency --state l.bin --resume --profile whole_profile.json >out.json
python3 - <<'P'
import json
part, whole = (json.load(open(f)) for f in ("interrupted.json", "out.json"))
got = [c is not None for c in part["one_warp"].values()]
assert not part["complete"] and part["profile"] is None and got[0] and got == sorted(got, reverse=True), got
assert whole["complete"] and whole["profile"] and all(whole["one_warp"].values()) and all(whole["shared_store_conflicts"])
if part["one_warp"]["mul_dependent"]:
    assert part["one_warp"]["add_dependent"] == whole["one_warp"]["add_dependent"]
P

# A picture of each probe.
gpusparc probe order --count 1..4 --runs 20 --plot order.svg >/dev/null
gpusparc probe sum --runs 5 --plot sum.svg >/dev/null
gpusparc probe latency --runs 3 --memory 4 --warps 1..2 --plot latency.svg >/dev/null
for p in order sum latency; do grep -q '</svg>' $p.svg || fail "no picture of $p"; done
# A row for each test where there is one number of warps; else few curves in each of several frames.
gpusparc probe latency --runs 3 --memory 4 --plot one.svg >/dev/null
[ "$(grep -c '>.*dependent</text>' one.svg)" -ge 12 ] || fail "tests without a row: $(grep -c 'dependent</text>' one.svg)"
python3 - <<'P' || fail "more curves in a frame than colours"
import re
for panel in open("latency.svg").read().split('class="panel"')[1:]:
    assert 0 < len(re.findall('<g class="s', panel)) <= 3
P
refuses 2 "must end in .svg, .png or .pdf" order --plot picture.jpeg
echo passed
