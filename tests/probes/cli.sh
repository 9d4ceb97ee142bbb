#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc probe on PoCL, small: what it prints, and what it refuses.
set -euo pipefail
command=probe
source "$GS_SOURCE/tests/cli/refuses.sh"

for by in clock atomic; do
  for of in group warp; do
    gpusparc probe order --by $by --of $of --count 1..4 --runs 40 --sync --note "at will" --json >$by-$of.json
  done
done
gpusparc probe order --count 2 --runs 5 --init --json >init.json
python3 - <<'P'
import json, math
for by in ("clock", "atomic"):
    for of in ("group", "warp"):
        j = json.load(open(f"{by}-{of}.json"))
        assert (j["by"], j["of"], j["sync"], j["init"], j["note"]) == (by, of, True, False, "at will"), j
        per_run = j["compute_units"] if of == "warp" else 1
        assert [p["n"] for p in j["points"]] == [1, 2, 3, 4]
        for p in j["points"]:
            assert p["vectors"] == 40 * per_run and p["exact"], p
            assert p["mode"] * p["cardinality"] >= 1 - 1e-9 and p["cardinality"] + p["mode_count"] - 1 <= p["vectors"], p
            assert p["cardinality"] <= 10 ** p["log10_possible"] + 1e-6, p
            assert 0 <= p["entropy_bits"] <= math.log2(p["cardinality"]) + 1e-9, p
        assert j["points"][0]["mode"] == 1
assert json.load(open("init.json"))["points"][0]["vectors"] == 5
P

# How long these take is measured by bench/probes.sh.
gpusparc probe order --count 32 --runs 1000 >out.txt

# The exact sum has the same bits for every order, group size and number of groups, and it is correctly rounded.
for local in 32 64 512; do
  for groups in 1 7; do
    gpusparc probe sum --elements 5000 --condition 1e11 --runs 5 --permute --local $local --groups $groups --json >s.$local.$groups
  done
done
python3 - <<'P'
import json, glob
last = set()
for f in glob.glob("s.*.*"):
    j = json.load(open(f))
    assert 0.9e11 < j["condition"] < 1.1e11
    m = {x["method"]: x for x in j["methods"]}
    assert set(m) == {"atomic", "warp", "tree", "exact"}
    e = m["exact"]
    assert e["distinct"] == 1 and e["correctly_rounded"] == e["runs"] == 5 and e["worst_error"] < 2 ** -24, e
    assert m["tree"]["worst_error"] > e["worst_error"]
    last.add(e["last"])
assert len(last) == 1, last
P
# Of a file: half a unit in the last place and a little more (tests/probes/longacc.c and exact_kernel.c have thousands).
python3 -c 'import struct; open("x.bin", "wb").write(struct.pack("3f", 1, 2.0 ** -24, 2.0 ** -149))'
gpusparc probe sum --input x.bin --methods exact --runs 2 --local 64 --permute --json >out.json
python3 -c 'import json; m = json.load(open("out.json"))["methods"][0]; assert int(m["last_bits"], 16) == 0x3f800001 and m["correctly_rounded"] == 2, m'
echo abc >odd.bin
printf x >>odd.bin
refuses 1 "odd.bin could not be read" sum --input odd.bin
# With a good condition all of them are right to a few units in the last place.
gpusparc probe sum --elements 4096 --condition 1 --runs 3 --json >out.json
python3 -c 'import json; assert all(m["worst_error"] < 1e-4 for m in json.load(open("out.json"))["methods"])'
gpusparc probe sum --elements 100 --runs 2 --methods tree,exact >out.txt
! grep -q atomic out.txt || fail "a method that was not asked for"

gpusparc probe latency --runs 20 --memory 4 --warps 1..2 --profile p.json --json >out.json
python3 - <<'P'
import json
j = json.load(open("out.json"))
assert all(c["best"] <= c["average"] <= c["worst"] for c in j["one_warp"].values())
assert j["one_warp"]["special_dependent"]["average"] > j["one_warp"]["add_dependent"]["best"], j["one_warp"]
assert len(j["shared_load_conflicts"]) == 6 and all(len(c) == 6 and all(c) for c in j["shared_store_conflicts_by_warps"].values())
assert set(j["by_warps"]["barriers"]) == {"1", "2"}
P
gpusparc timing "ld alu! alu! st!" --profile p.json >/dev/null

gpusparc probe starts --warps 6 --runs 30 --schedulers 2 --json >out.json
python3 - <<'P'
import json
j = json.load(open("out.json"))
assert j["complete"] and j["runs"] == 30 and 1 <= j["patterns"] <= 30, j
assert len(j["common"]["starts"]) == 6 and min(j["common"]["starts"]) == 0, j
assert j["exception"] is None if j["patterns"] == 1 else j["exception"]["runs"] <= j["common"]["runs"], j
P
gpusparc probe starts --warps 3 --runs 2 --schedulers 2 --plot starts.svg >out.txt
# Each warp stands once in each table, in its scheduler's column: warp 1 in the second, the others in the first.
[ "$(grep -cE '^ +[0-9]+ {14,17}1 *$' out.txt)" = "$(grep -c 'of 2 runs$' out.txt)" ] || { cat out.txt; fail "warp 1 isn't in its column"; }
grep -q 'cycles after the first warp' starts.svg || fail "starts.svg lacks its axis"

gpusparc probe handover --runs 70 --kernel 100 --margin 50 --json >out.json
python3 - <<'P'
import json
j = json.load(open("out.json"))
assert j["complete"] and j["kernel_ns"] >= 100000 and j["margin_percent"] == 50, j
for kind in (j["stays"], j["changes"]):
    # On a machine that was busy only while the kernel was timed, most turns seem to take no longer than the kernel: 0.
    assert kind["turns"] == 70 and 0 <= kind["median_ns"] <= kind["p99_ns"] <= kind["longest_ns"], j
bound = j["handover_ns"]
assert bound % 1000 == 0 and 0 < bound - 1.5 * j["changes"]["longest_ns"] <= 1000, j
P
# What it says for the config is a config.
gpusparc probe handover --runs 40 >out.txt
{ sed -n '/^\[system\]/,$p' out.txt; printf 'gpus = 1\ncpus = 1\n[task a]\npriority = 1\nperiod = 1s\nsegments.1 = cpu 1ms\n'; } >handover.conf
gpusparc check handover.conf
gpusparc probe handover --runs 1000000 --kernel 333 >out.txt 2>err.txt &
probe=$!
for _ in $(seq 200); do [ "$(pgrep -fc 'gpusparc-probe turns 0 333')" != 2 ] || break; sleep 0.1; done
pkill -KILL -n -f 'gpusparc-probe turns 0 333'
! wait $probe || fail "a probe of which one half was killed ends well"
grep -q "takes turns has ended\|ended before it was ready" err.txt || fail "a half was killed: $(cat err.txt)"
! pgrep -f 'gpusparc-probe turns 0 333' || fail "the other half is still there"

refuses 2 "probe wants one of" nothing
refuses 2 "--kernel wants a number" handover --kernel 0
refuses 2 "--by is clock or atomic" order --by hand
refuses 2 "--count wants a number" order --count 5..3
refuses 2 "--resume wants" order --resume
refuses 2 "there is no option" sum --frobnicate
refuses 2 "power of two" sum --local 96
refuses 2 "--note wants text in UTF-8" sum --note $'\xe4'
refuses 2 "--condition" sum --condition 0
refuses 1 "there is no device 63" latency --device 63
refuses 1 "no/such.json could not be written" latency --runs 1000000 --profile no/such.json
refuses 1 "no/such.state could not be written" sum --runs 100000000 --state no/such.state
refuses 1 "cannot write no/such.svg" sum --runs 100000000 --plot no/such.svg
echo passed
