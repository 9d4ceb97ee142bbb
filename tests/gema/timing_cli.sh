#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc timing as its user sees it.
set -euo pipefail
command=timing
source "$GS_SOURCE/tests/cli/refuses.sh"
has() { grep -qE -- "$1" out.txt || { cat out.txt; fail "missing: $1"; }; }

# Table 10 (rows), with the constants that it needs.
gpusparc timing --mix arithmetic=78,arithmetic_dependent=1,shared_load=40,shared_store=9,global_store=9,global_load=8 \
  --set shared_load=28 --set shared_store=28 --set global_store=54 --set global_load.best=64 \
  --set global_load.average=400 --set global_load.worst=400 --hidden 2034 >out.txt
has 'equations 1 to 11 +2856 +3510 +5544'

# Figures 36 and 37: at 400 and 470 cycles what Tables 13 and 14 print, and each load's latency in both models.
rows="arithmetic=78,arithmetic_dependent=1,shared_load=40,shared_store=9,global_store=9,global_load=8"
as_printed=(--set shared_load=28 --set shared_store=28 --set global_store=54)
gpusparc timing --mix "$rows" "${as_printed[@]}" --hidden 63.5625% --sweep global_load=350..500/10 --measured 3410 --svg sweep.svg >out.txt
[ "$(wc -l <out.txt)" = 17 ] || { cat out.txt; fail "16 points and a line above them"; }
has '^ +400 +3510 +3490 +[+]2.9 +[+]2.3$'
grep -q 'error (%)' sweep.svg || fail "sweep.svg lacks its axis"
gpusparc timing --mix "$rows" "${as_printed[@]}" --hidden 2034 --sweep global_load=400..410/10 --json >a.json
python3 -c 'import json; p = json.load(open("a.json"))["points"]; assert [q["equations"] for q in p] == [3510, 3590] and p[1]["mwp"] - p[0]["mwp"] == 80, p'
refuses 2 "--sweep wants KEY=A..B" --mix arithmetic=1 --sweep global_load=500..350
refuses 2 "--sweep wants KEY=A..B" --mix arithmetic=1 --sweep global_load=1..100000
refuses 2 "--sweep: " --mix arithmetic=1 --sweep no_such=1..2
refuses 2 "--sweep wants --mix" alu --sweep global_load=1..2
refuses 2 "--measured wants --sweep" --mix arithmetic=1 --measured 5

gpusparc timing --print-profile >fermi.json
gpusparc timing "ld alu x10 alu!11" --profile fermi.json --json >a.json
gpusparc timing "ld alu x10 alu!11" --json >b.json
cmp a.json b.json
python3 - <<'P'
import json
j = json.load(open("a.json"))
assert j["simulated"] == {"best": 356.0, "average": 376.0, "worst": 566.0}, j
assert j["equations"] == {"best": 416.0, "average": 376.0, "worst": 566.0}, j
P

gpusparc timing "alu x32" --warps 14 --scheduler variable --rate 0=2 --rate 1=2 --svg out.svg --trace >out.txt
has '^ +0  W0 +0 alu'
python3 -c 'import xml.dom.minidom; d = xml.dom.minidom.parse("out.svg"); assert sum(g.getAttribute("class").startswith("s") for g in d.getElementsByTagName("g")) == 7' ||
  fail "not a line for each of the 7 warps"
for said in '>time (clock cycles)<' '>instructions issued<' 'warp 12, ends at'; do grep -q "$said" out.svg || fail "the picture doesn't say $said"; done
gpusparc timing "alu x32" --warps 14 >out.txt
for p in lrr gto two-level variable; do has "^$p +[0-9]"; done

cat >k.ptx <<'P'
.visible .entry k(.param .u64 p)
{
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f3, %f4;
  mul.f32 %f5, %f1, %f2;
  st.global.f32 [%rd1], %f5;
  ret;
}
P
gpusparc timing --ptx k.ptx --json >a.json
python3 - <<'P'
import json
j = json.load(open("a.json"))
# ldc 0, ld 18 (reads %rd1), add 24, mul 18 + 350, st 18 later, ret 34 later, 6 until it is done
assert j["simulated"]["best"] == 18 + 350 + 18 + 34 + 6, j
P

refuses 2 "one of a program"
refuses 2 "none of alu" "nop"
refuses 2 "--scheduler is one of" alu --warps 2 --scheduler fifo
refuses 2 "--svg wants" alu --svg x.svg
refuses 2 "has no order" --mix arithmetic=1 --warps 2
refuses 2 'there is no warp 9' alu --warps 4 --rate 9=2
answers=yes refuses 1 "ask for" alu --warps 4 --rate 0=1
answers=yes refuses 1 "cannot write no/such" alu --warps 2 --scheduler lrr --svg no/such/folder/x.svg
refuses 2 "must end in .svg" alu --warps 2 --scheduler lrr --svg x.gif
answers=yes refuses 1 "room for" "alu x100000" --warps 8 --scheduler lrr --svg x.svg
echo '{"arithmetic": 3}' >bad.json
refuses 2 'bad.json: the device profile' alu --profile bad.json
echo passed
