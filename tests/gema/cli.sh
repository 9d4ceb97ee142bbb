#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc check, analyze and simulate as a user meets them.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
expect() { # STATUS PATTERN COMMAND...: exit status, and a line of its output
  local status=$1 pattern=$2 out rc=0
  shift 2
  out=$("$@" 2>&1) || rc=$?
  [ "$rc" -eq "$status" ] || fail "$* exited $rc, not $status: $out"
  grep -qE -- "$pattern" <<<"$out" || fail "$* said nothing of '$pattern': $out"
}

cat > good.conf <<'END'
[system]
gpus = 2
cpus = 4
gpu_chunk = 2ms
pci_chunk = 1ms
[task a]
period = 200ms
segments.1 = cpu 2ms, pci 3ms, gpu 40ms, pci 5ms, cpu 5ms
segments.2 = cpu 4ms, pci 6ms, gpu 21ms, pci 10ms, cpu 8ms
[task b]
period = 500ms
segments.1 = cpu 2ms, pci 3ms, gpu 60ms, pci 5ms, cpu 5ms
END
sed 's/gpu 60ms/gpu 600ms/' good.conf > late.conf
printf '[system]\ngpus = none\n[task a]\nnonsense\n' > bad.conf

expect 0 'no mistakes' gpusparc check good.conf
# What [system] doesn't say is the machine's, as for the daemon.
printf '[task a]\nperiod = 1s\nsegments.1 = cpu 1ms\n' > machine.conf
expect 0 'no mistakes' gpusparc check machine.conf
expect 1 'an analysis can' gpusparc analyze machine.conf
expect 1 '^bad.conf:2: ' gpusparc check bad.conf
expect 1 '^bad.conf:3: task a has no period' gpusparc check bad.conf
expect 1 '^bad.conf:4: ' gpusparc check bad.conf
expect 1 'cannot be read' gpusparc check missing.conf
sed '/^\[task b/a user = nobody-by-that-name\nmatch =' good.conf > nobody.conf
expect 0 "nobody.conf:10: task b is given to user 'nobody-by-that-name', whom" gpusparc check nobody.conf
expect 0 'task b has an empty match' gpusparc check nobody.conf
printf '[task a]\nperiod = 1s\nmatch = knn\nuser = 4294967296\n[task b]\nperiod = 1s\nmatch = */x\nuser = -1\n[task c]\nperiod = 1s\nmatch = */x\nuser = 1000\n' > odd.conf
expect 0 "task a has the match 'knn', which no program's path has" gpusparc check odd.conf
expect 0 "task a is given to user '4294967296', whom" gpusparc check odd.conf
expect 0 "task b is given to user '-1', whom" gpusparc check odd.conf
expect 0 'task c has the same match as task b' gpusparc check odd.conf
[ "$(gpusparc check odd.conf 2>&1 | grep -c 'given to\|the match\|same match')" = 4 ] || fail "warnings of what is right"
for i in $(seq 1100); do printf '[task t%d]\nperiod = 1s\n' $i; done > many.conf
[ "$(gpusparc check many.conf 2>&1 | grep -c 'more than 1024 tasks')" = 1 ] || fail "too many tasks: said other than once"
expect 0 'warning: .*:1: gpus = 17 can be analyzed, but the daemon schedules 16' gpusparc check <(sed 's/^gpus = 2/gpus = 17/' good.conf)
expect 2 'takes one config' gpusparc check
expect 2 'takes one config' gpusparc check --json
expect 2 "no option '--jason'" gpusparc check --jason good.conf
printf '[system]\ngpus = \377\xc3\xa9"\n' > bytes.conf
check_json() { # STATUS FILE EXPRESSION over the answer a
  local rc=0
  gpusparc check "$2" --json >out.json 2>err.txt || rc=$?
  [ "$rc" = "$1" ] || fail "check --json $2 exits with $rc, not $1"
  [ ! -s err.txt ] || fail "check --json $2 says it elsewhere: $(cat err.txt)"
  python3 -c "import json; a = json.load(open('out.json')); assert $3, a" || fail "check --json $2"
}
check_json 0 good.conf 'a == {"file": "good.conf", "tasks": 2, "mistakes": [], "warnings": []}'
check_json 1 bad.conf '[m["line"] for m in a["mistakes"]] == [2, 3, 4] and "has no period" in a["mistakes"][1]["message"]'
check_json 1 missing.conf '[m["line"] for m in a["mistakes"]] == [None] and "cannot be read" in a["mistakes"][0]["message"]'
analyze_json() { # FILE EXPRESSION over the answer a
  ! gpusparc analyze "$1" --json >out.json 2>err.txt || fail "analyze --json $1 finds nothing wrong"
  [ ! -s err.txt ] || fail "analyze --json $1 says it elsewhere: $(cat err.txt)"
  python3 -c "import json; a = json.load(open('out.json')); assert $2, a" || fail "analyze --json $1"
}
analyze_json bad.conf '[m["line"] for m in a["mistakes"]] == [2, 3, 4] and a["file"] == "bad.conf"'
analyze_json missing.conf 'a["mistakes"][0]["line"] is None and "cannot be read" in a["mistakes"][0]["message"]'
printf '[system]\ngpus = 2\ncpus = 1\n' > empty.conf
analyze_json empty.conf '[m["message"] for m in a["mistakes"]] == ["it holds no task"]'
expect 1 '^empty.conf: it holds no task' gpusparc analyze empty.conf
check_json 1 bytes.conf "[m['line'] for m in a['mistakes']] == [2] and '?\u00e9\\\"' in a['mistakes'][0]['message']"
check_json 0 nobody.conf '[w["line"] for w in a["warnings"]] == [10, 10] and not a["mistakes"]'

# Eight GPUs do what four can't, whatever each task gets: 480 ms of one GPU in 100, 80 in 200, 40 in 400 and 20 in 800,
# which up to eight, four, two and one share.
for gpus in 8 4; do
  printf '[system]\ngpus = %d\ncpus = 16\ngpu_chunk = 2ms\npci_chunk = 1ms\n' $gpus
  for task in "eight 4 100 480 240 120 60" "four 3 200 80 40 20 20" "two 2 400 40 20 20 20" "one 1 800 20 20 20 20"; do
    read -r name priority period one two four eight <<<"$task"
    printf '[task %s]\npriority = %d\nperiod = %dms\n' $name $priority $period
    for n in "1 $one" "2 $two" "4 $four" "8 $eight"; do
      [ "${n% *}" -gt $gpus ] || printf 'segments.%d = cpu 1ms, pci 1ms, gpu %dms, pci 1ms\n' $n
    done
  done
done | awk '/system/ { n++ } { print >(n == 1 ? "eight.conf" : "four.conf") }'
expect 0 'every deadline is met' gpusparc analyze eight.conf --policy gema+
expect 0 '^eight  *8  *100ms' gpusparc analyze eight.conf --policy gema+
# Without --policy it is as the daemon has it: gema+ finds modes for this set, gema doesn't.
{
  printf '[system]\ngpus = 4\ncpus = 2\ngpu_chunk = 1ms\npci_chunk = 1ms\nhandover = 10us\n'
  for task in "a 20 11 7 4" "b 80 29 17 12" "c 80 24 14 10" "d 20 5 3 2" "e 100 44 26 18" "f 40 8 5 3"; do
    read -r name period one two four <<<"$task"
    printf '[task %s]\nperiod = %dms\n' $name $period
    printf 'segments.%d = pci 1ms, gpu %dms\n' 1 $one 2 $two 4 $four
  done
} >plus.conf
expect 1 '^policy gema, .*: not schedulable' gpusparc analyze --policy gema plus.conf
expect 0 '^policy gema\+, .*: every deadline is met' gpusparc analyze plus.conf
expect 0 '^gema finds no modes .*; gema\+ does' gpusparc analyze plus.conf
expect 1 'eight  *4  *100ms.*misses' gpusparc analyze four.conf --policy global

expect 0 'every deadline is met' gpusparc analyze good.conf
expect 0 'may grow to' gpusparc analyze good.conf --policy global
# The search for the headroom ends at eight; a bound that was cut is longer than it says. The report says both, too.
printf '[system]\ngpus = 1\ncpus = 1\ngpu_chunk = 10us\npci_chunk = 10us\nhandover = 10us\n[task a]\nperiod = 1s\nsegments.1 = gpu 1ms\n' >hr.conf
expect 0 '^All times may grow to 8 times what they are, or more, before' gpusparc analyze hr.conf
sed 's/gpu 1ms/gpu 500ms/' hr.conf >room.conf
expect 0 '^All times may grow to 1\.[0-9]* times what they are before' gpusparc analyze room.conf --html room.html
grep -q 'All times may grow to 1\.[0-9]* times what they are before' room.html || fail "room.html: $(grep -o 'All times[^<]*' room.html)"
gpusparc analyze hr.conf --html hr.html >/dev/null
grep -q 'All times may grow to 8 times what they are, or more, before' hr.html || fail "hr.html: $(grep -o 'All times[^<]*' hr.html)"
sed 's/period = 1s/period = 10ms\npriority = 2/; s/gpu 1ms/gpu 9ms/' hr.conf >cut.conf
printf '[task b]\npriority = 1\nperiod = 20ms\nsegments.1 = gpu 9ms\n' >>cut.conf
gpusparc analyze cut.conf --html cut.html >cut.txt || [ $? -eq 1 ]
grep -q '>>40ms</td>' cut.html && grep -q '>&lt;-20ms</td>' cut.html && grep -q '^b .* >40ms  *<-20ms ' cut.txt || fail "cut.html: $(grep -o '[^ ]*40ms<' cut.html)"

expect 1 'gpu of b to 0\.' gpusparc analyze late.conf
# What analyze says of shorter times holds, of few tasks and of many (of which the policy isn't asked for each).
cat >shrink.py <<'END'
import json, random, subprocess, sys
random.seed(7)
def config(tasks, scale=1, only=None):
    text = "[system]\ngpus = 2\ncpus = 4\ngpu_chunk = 1ms\npci_chunk = 1ms\nhandover = 10us\n"
    for i, (period, pci, gpu) in enumerate(tasks):
        f = {r: scale if only in (None, (f"t{i}", r)) else 1 for r in ("pci", "gpu")}
        text += f"[task t{i}]\nperiod = {period}ms\n"
        for g, part in (1, 1), (2, .55):
            text += f"segments.{g} = pci {pci * f['pci']:.6f}ms, gpu {gpu * part * f['gpu']:.6f}ms, pci {pci * f['pci']:.6f}ms\n"
    return text
def analyze(text, *options):
    open("shrink.conf", "w").write(text)
    return json.loads(subprocess.run(["gpusparc", "analyze", "--json", *options, "shrink.conf"], stdout=subprocess.PIPE).stdout)
seen = {"headroom": 0, "advice": 0}
for n, heavy in (3, 0), (5, 0), (8, 1), (17, 0), (20, 0), (20, 1), (30, 0):
    tasks = [(random.randint(40, 300), .2, random.uniform(.2, 1.8)) for _ in range(n)]
    tasks = [(p, pci, g * p * (1.6 if not heavy else .5) / n) for p, pci, g in tasks]
    if heavy:
        tasks[0] = (400, .2, 800)
    answer = analyze(config(tasks))
    assert not answer["schedulable"] or answer["headroom"] >= 1, (n, answer["headroom"])
    if not answer["schedulable"] and answer["headroom"]:
        seen["headroom"] += 1
        assert analyze(config(tasks, answer["headroom"] - .0001), "--policy", "global")["schedulable"], (n, answer["headroom"])
    for a in answer["shrink"]:
        seen["advice"] += 1
        text = config(tasks, a["factor"] - .0001, (a["task"], a["resource"]))
        assert analyze(text, "--policy", "global")["schedulable"], (n, a)
print(seen)
assert all(seen.values())
END
python3 shrink.py
expect 1 'No choice of modes' gpusparc analyze late.conf --policy global
expect 1 '^bad.conf:4: ' gpusparc analyze bad.conf
# Priorities the wrong way round: others are found, printed for the config, and hold there.
cat >upside.conf <<'END'
[system]
gpus = 1
cpus = 1
gpu_chunk = 1ms
pci_chunk = 1ms
[task slow]
period = 100ms
priority = 2
segments.1 = gpu 40ms
[task fast]
period = 20ms
priority = 1
segments.1 = gpu 4ms
END
expect 1 '^--priorities audsley looks for priorities' gpusparc analyze upside.conf
expect 0 '^  \[task fast\] priority = 2, mode = 1$' gpusparc analyze --priorities audsley upside.conf
gpusparc analyze --priorities audsley --json upside.conf >out.json
python3 - <<'END' || fail "--priorities audsley --json: $(cat out.json)"
import json
a = json.load(open("out.json"))
assert a["schedulable"] and a["priorities"] == "audsley"
assert [(t["name"], t["priority"]) for t in a["tasks"]] == [("fast", 2), ("slow", 1)]
END
gpusparc analyze --priorities audsley upside.conf | sed -n 's/^  \[task \(.*\)\] priority = \(.*\), mode = \(.*\)$/\1 \2 \3/p' >found.txt
cp upside.conf mended.conf
while read -r name priority mode; do
  sed -i "/^\[task $name\]/,/^segments/ s/^priority = .*/priority = $priority\nmode = $mode/" mended.conf
done <found.txt
expect 0 'every deadline is met' gpusparc analyze mended.conf
sed 's/gpu 40ms/gpu 90ms/' upside.conf >never.conf
expect 1 '^No priorities were found' gpusparc analyze --priorities audsley never.conf
expect 2 'there are config and audsley' gpusparc analyze --priorities best good.conf
expect 2 'goes by --analysis safe' gpusparc analyze --priorities audsley --analysis paper good.conf
expect 2 'goes by --analysis safe' gpusparc simulate --priorities audsley --analysis paper
expect 2 'there are single' gpusparc analyze --policy best good.conf
expect 2 'no option' gpusparc analyze --wrong good.conf
expect 2 'not a duration' gpusparc analyze --until 5 good.conf
expect 1 'published formula' gpusparc analyze --analysis paper good.conf
expect 1 '^policy gema, analysis paper: not proven schedulable' gpusparc analyze --analysis paper good.conf
# Of what the daemon doesn't do nothing is said to be met: segments as whole.
for key in gpu pci; do
  grep -v "^${key}_chunk" good.conf > whole.conf
  expect 1 'analysis safe: not proven schedulable' gpusparc analyze whole.conf
  expect 1 "^Unproven: .*\(${key}_chunk in \[system\]" gpusparc analyze whole.conf
  expect 1 'unproven$' gpusparc analyze whole.conf
  ! gpusparc analyze whole.conf | grep -q 'is met\|may grow' || fail "analyze vouches for whole.conf"
  expect 0 "warning: whole.conf:1: .*\(${key}_chunk\)" gpusparc check whole.conf
  analyze_json whole.conf 'not a["schedulable"] and not any(t["schedulable"] or t["proven"] for t in a["tasks"])'
  gpusparc analyze whole.conf --html whole.html >out.txt && fail "analyze --html of whole.conf exits 0"
  grep -q '[Nn]ot proven schedulable' whole.html && ! grep -q 'meets its deadline' whole.html || fail "whole.html vouches for it"
done
printf '[system]\ngpus = 1\ncpus = 1\n[task a]\nperiod = 1s\nsegments.1 = cpu 1ms\n' > only_cpu.conf
expect 0 'every deadline is met' gpusparc analyze only_cpu.conf
expect 1 'cannot write no/such' gpusparc analyze --timeline no/such/folder/x.svg good.conf
for policy in single local gema gema+ global; do
  gpusparc analyze --policy $policy --json good.conf > out.json
  python3 - <<'END' || fail "JSON of $policy"
import json
a = json.load(open("out.json"))
assert a["schedulable"] and len(a["tasks"]) == 2
for t in a["tasks"]:
    assert t["response_ns"] <= min(t["deadline_ns"], 50000 + sum(s["response_ns"] for s in t["segments"])) # it asks for its GPU
    assert t["slack_ns"] == t["deadline_ns"] - t["response_ns"] and t["proven"]
END
done
gpusparc analyze good.conf --timeline t.svg --until 1s > /dev/null
gpusparc analyze good.conf --timeline t.json > /dev/null
python3 - <<'END' || fail "timelines"
import json, xml.dom.minidom
events = json.load(open("t.json"))["traceEvents"]
assert sum(e["ph"] == "X" and e["pid"] == 1 for e in events) >= 20
assert xml.dom.minidom.parse("t.svg").documentElement.tagName == "svg"
END

gpusparc simulate --sets 3000 --seed 7 --threads 1 --csv one.csv > /dev/null
gpusparc simulate --sets 3000 --seed 7 --policies gema --json >deadline.json
gpusparc simulate --sets 3000 --seed 7 --policies gema --priorities audsley --json >audsley.json
python3 - <<'END' || fail "other priorities bring nothing"
import json
a, b = (json.load(open(f + ".json")) for f in ("deadline", "audsley"))
assert (a["priorities"], b["priorities"]) == ("deadline", "audsley")
a, b = ([p["schedulable"]["gema"] for p in f["points"]] for f in (a, b))
assert all(x <= y for x, y in zip(a, b)) and sum(b) > 1.05 * sum(a), (sum(a), sum(b))
END
gpusparc simulate --sets 3000 --seed 7 --threads 3 --csv three.csv --plot plot.svg > /dev/null
gpusparc simulate --generator gcaps --figure 8b --sets 3 --csv pinned.csv --plot pinned.svg >pinned.txt
gpusparc simulate --generator gcaps --figure 8b --sets 3 --json >pinned.json
python3 - <<'P' || fail "--generator gcaps: --json, --csv and the table differ"
import csv, json
rows = list(csv.DictReader(open("pinned.csv")))
figure, = json.load(open("pinned.json"))["figures"]
table = [line.split() for line in open("pinned.txt").read().splitlines()[2:]]
assert len(rows) == len(figure["points"]) == len(table) == 9
for r, p, t in zip(rows, figure["points"], table):
    counts = [str(round(100 * n / p["sets"], 1)) for n in p["schedulable"].values()]
    assert t[2:] == counts and all(int(r[k]) == n for k, n in p["schedulable"].items())
assert rows[0]["chunks"] == "3" and rows[8]["fmlp+"] == "0"
P
grep -q 'utilization of each CPU' pinned.svg || fail "pinned.svg lacks its axis"
expect 2 "figure can't be 7 with --generator gcaps" gpusparc simulate --generator gcaps --figure 7
expect 2 "generator can't be other" gpusparc simulate --generator other
expect 2 "no option '--cpus'" gpusparc simulate --generator gcaps --cpus 2
expect 2 '--epsilon 1ms wants --generator gcaps' gpusparc simulate --epsilon 1ms
gpusparc simulate --sets 3000 --seed 7 --json >sets.json
python3 - <<'P' || fail "--json isn't what --csv is"
import csv, json
rows = list(csv.DictReader(open("one.csv")))
points = json.load(open("sets.json"))["points"]
assert [int(r["sets"]) for r in rows] == [p["sets"] for p in points]
assert all(int(r[k]) == p["schedulable"][k] for r, p in zip(rows, points) for k in p["schedulable"])
P
cmp one.csv three.csv || fail "the figures depend on the number of threads"
[ "$(awk -F, 'NR > 1 { n += $2 } END { print n }' one.csv)" -eq 3000 ] || fail "not 3000 sets"
# One chunk at a time: how many there are has to be known.
printf '[system]\ngpus = 1\ncpus = 1\ndepth = 1\ngpu_chunk = 2ms\npci_chunk = 1ms\n[task a]\nperiod = 200ms\nsegments.1 = pci 1ms chunks 4, gpu 10ms\n' > one_chunk.conf
expect 0 "segments.1 of task a doesn't say how many chunks its gpu segments may have" gpusparc check one_chunk.conf
expect 1 'unproven$' gpusparc analyze one_chunk.conf
analyze_json one_chunk.conf 'not a["schedulable"] and not a["tasks"][0]["proven"]'
expect 1 'Unproven from a down: with depth = 1 there are hand-overs .50us. between its chunks' gpusparc analyze one_chunk.conf
sed 's/gpu 10ms/gpu 10ms chunks 20/' one_chunk.conf > counted.conf
expect 0 'no mistakes' gpusparc check counted.conf
! gpusparc check counted.conf 2>&1 | grep -q chunks || fail "check doubts what is counted"
expect 0 'meets$' gpusparc analyze counted.conf
expect 0 'Counted: a hand-over of 50us before each chunk' gpusparc analyze counted.conf
sed 's/depth = 1/depth = 2/' one_chunk.conf > two_chunks.conf
expect 0 'Counted: a hand-over of 50us to each segment, and one back' gpusparc analyze two_chunks.conf
# Chunks shorter than a hand-over: unproven for that task and those below, but for what is one chunk at most, and where
# the segment says how many there are.
cat >short.conf <<'END'
[system]
gpus = 1
cpus = 1
gpu_chunk = 1ms
pci_chunk = 40us
[task a]
priority = 3
period = 100ms
segments.1 = pci 40us, gpu 3ms
[task b]
priority = 2
period = 200ms
segments.1 = pci 41us, gpu 3ms
[task c]
priority = 1
period = 400ms
segments.1 = gpu 3ms
END
expect 0 "segments.1 of task b doesn't say how many chunks its pci segments may have: with a pci_chunk below handover" gpusparc check short.conf
[ "$(gpusparc check short.conf 2>&1 | grep -c hand-over)" = 1 ] || fail "check doubts more than task b: $(gpusparc check short.conf 2>&1)"
expect 1 '^a .* meets$' gpusparc analyze short.conf
expect 1 '^b .* unproven$' gpusparc analyze short.conf
expect 1 '^c .* unproven$' gpusparc analyze short.conf
expect 1 'Unproven from b down: as its chunks are shorter than one there are hand-overs .50us.' gpusparc analyze short.conf
analyze_json short.conf 'not a["schedulable"] and [t["proven"] for t in a["tasks"]] == [True, False, False]'
for count in s/41us/40us/ 's/41us/41us chunks 2/'; do
  sed "$count" short.conf >long.conf
  expect 0 '^c .* meets$' gpusparc analyze long.conf
  ! gpusparc check long.conf 2>&1 | grep hand-over || fail "check doubts what is counted"
done
awk -F, 'NR > 1 && ($3 > $7 || $4 > $7 || $5 > $7 || $6 > $7) { exit 1 }' one.csv || fail "a policy beats the optimum"
grep -q '<svg' plot.svg || fail "no plot"
gpusparc simulate --figure 8 --sets 1100 --csv eight.csv > /dev/null
[ "$(wc -l < eight.csv)" -eq 12 ] || fail "figure 8 has 11 points"
gpusparc simulate --sets 300 --modes all --pieces gang --analysis paper > /dev/null
expect 2 "can't be x" gpusparc simulate --sets x
expect 2 'no option' gpusparc simulate --wrong
expect 2 "can't be" gpusparc simulate --policies ''
expect 0 "no point has 100 schedulable sets" gpusparc simulate --sets 50
# Where the results can't go is found out before the work, and no picture is drawn on standard output.
for bad in "--csv no/such.csv" "--csv ." "--plot no/such.svg"; do
  rc=0
  timeout 20 gpusparc simulate --sets 1000000000 $bad > out.txt 2> err.txt || rc=$?
  [ "$rc" = 1 ] && [ ! -s out.txt ] && [ "$(wc -l < err.txt)" = 1 ] && grep -q "cannot write" err.txt || fail "simulate $bad: $rc $(head -5 out.txt err.txt)"
done
expect 2 'must end in' gpusparc simulate --sets 1000000000 --plot picture.jpeg
expect 1 'interrupted after' timeout --foreground --preserve-status -s KILL 30 timeout --foreground --preserve-status -s INT 1 gpusparc simulate --sets 1000000000 --threads 1 --csv interrupted.csv
[ "$(wc -l < interrupted.csv)" = 21 ] || fail "an interrupted experiment leaves no CSV"
expect 1 'interrupted after' timeout --foreground --preserve-status -s INT 1 gpusparc simulate --sets 1000000000 --threads 1
echo ok
