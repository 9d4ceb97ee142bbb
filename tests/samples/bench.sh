#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc bench, on stand-ins for samples whose times and results are known, and on two real ones.
. "$GS_SOURCE/tests/samples/lib.sh"
gpusparc run -- true 2>/dev/null || { echo "left out: gpusparc runs nothing here"; exit 77; }
rm -rf ./*

# fake NAME SCRIPT: a sample that takes 100 ms alone and 40 ms on several devices; SCRIPT may say otherwise.
mkdir fakes
fake() {
    cat >"fakes/$1" <<END
#!/usr/bin/env bash
total=100.0 result=right
[ "\${GPUSPARC_MODE:-}" = multi ] && total=40.0
[ "\${GPUSPARC_MODE:-}" = single ] && total=80.0
args="\$*"
$2
while [ \$# -gt 0 ]; do [ "\$1" = --output ] && echo "\$result" >"\$2"; shift; done
echo "$1 1 PASS"
echo "{\"write_ms\": 10.0, \"kernel_ms\": \$total, \"read_ms\": 5.0, \"total_ms\": \$total, \"iterations\": 1}"
END
    chmod +x "fakes/$1"
    echo "$1 | compute | --tiny | size:1000:1:1 side:100:2:10 power:1024:1:p2" >>fakes/MANIFEST
}
fake steady ''
fake varying 'result=$GPUSPARC_MODE'
fake broken 'echo "it broke" >&2; exit 3'
fake slow 'exec sleep 98.7654'
fake sized 'echo "$args" >>sizes.txt
[[ $args =~ --size\ ([0-9]+) ]] && total=$(( ${BASH_REMATCH[1]} / 50 )).0'

export GPUSPARC_DEVICES=cpu:2 # says which devices, and leaves the plain run as the base
bench() { gpusparc bench --mode multi --samples fakes --runs 3 "$@" >out 2>err; }
expect() { grep -qE -- "$1" "$2" || fail "no '$1' in $2: $(cat "$2")"; }

# Figures, table, CSV and pictures.
bench --output figures steady || fail "exit status $? for a sample that is right"
expect '^steady +compute +1 +multi2 .* 40\.000 +2\.50 \[2\.50 2\.50\] .* equal$' out
expect '^steady +compute +1 +single .* 1\.25 \[1\.25 1\.25\]' out
expect '^No mean of multi2 over plain: no speed-up is sure' out
! grep -q 'Geometric' out || fail "a mean of what is unsure: $(cat out)"
expect '^Measured by gpusparc bench --mode multi --samples fakes --runs 3 --output figures steady; .* load when it began: [0-9.]+, on [0-9]+ processors\.$' out
grep -q '>of one run each<' figures/speedup.svg && fail "three runs are said to be one"
expect '^steady +compute +1 +multi2 .* unsure ' out
expect '^steady,compute,1,multi2,3,.*,equal,,,unsure' figures/summary.csv
expect '^steady,compute,1,multi2,3,10\.0000,40\.0000,5\.0000,0\.0000,40\.0000,2\.5000,2\.5000,2\.5000,' figures/summary.csv
[ "$(wc -l <figures/runs.csv)" -eq 10 ] || fail "not one line for each of 9 runs"
for f in bars.svg speedup.svg environment.json checks.json; do
    [ -s figures/$f ] || fail "$f is missing"
done
[ -z "$(ls -A figures | grep '^\.result')" ] || fail "temporary files are left"
# The base's phases make up its time: its bar ends at 100 %, where the line is. No label is slanted.
python3 - <<'END' || fail "bars.svg"
import re
text = open("figures/bars.svg").read()
bars = {}
for x, y, w in re.findall(r'<rect class="s\d" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', text):
    bars[y] = max(bars.get(y, 0), float(x) + float(w))
level = float(re.search(r'<path d="M([\d.]+) [\d.]+v[\d.]+" stroke="#222"', text)[1])
ends = [end for _, end in sorted(bars.items(), key=lambda b: float(b[0]))]
left = float(re.search(r'<rect class="s0" x="([\d.]+)"', text)[1])
assert len(ends) == 2 and abs(ends[0] - level) < 0.2, (ends, level)
assert abs((ends[1] - left) / (level - left) - 0.4) < 0.01, (ends, level)
assert "rotate" not in text and ">buffer write<" in text and "% of plain" in text
END
bench --output figures --report --html report.html steady || fail "--html: $(cat err)"
for said in '<td>steady</td>' '<td>multi2</td>' 'data-v="2.5">2.50<' '>as fast<' 'All results'; do
    grep -q -- "$said" report.html || fail "the report lacks $said"
done
rc=0
bench --output figures --report --html report.pdf steady || rc=$?
[ $rc -eq 2 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e report.pdf ] || fail "--html report.pdf: $rc $(cat err)"
bench --output figures --report --base single steady || fail "--report"
expect '^steady +compute +1 +multi2 .* 2\.00 \[2\.00 2\.00\]' out
bench --output figures --report --json steady || fail "--report --json"
expect '"speedup": 2\.5' out
# Of runs on parts of the CPU, and in several looks, without saying so again; where there is nothing, nothing is made.
gpusparc bench --samples fakes --devices cpu:2 --mode multi --iterations 7 --until-sure --runs 8 --output parts steady >parts.txt 2>err || fail "parts: $(cat err)"
gpusparc bench --samples fakes --output parts --report >again.txt 2>err || fail "--report asks for settings: $(cat err)"
cmp parts.txt again.txt || fail "--report shows something else"
expect '^steady .* multi2 .* 2\.00 \[2\.00 2\.00\]' again.txt
# Without a GPU, and without a word on devices: one half of the CPU against both.
if gpusparc devices --json | grep -q '"type": "gpu"'; then
    echo "there is a GPU: bench by itself takes it"
else
    env -u GPUSPARC_DEVICES gpusparc bench --samples fakes --mode multi --runs 3 --output halves steady >out 2>err || fail "halves: $(cat err)"
    expect 'there is no GPU: .*--devices cpu:2' err
    expect '^steady +compute +1 +multi2 .* 2\.00 \[2\.00 2\.00\]' out
    expect 'of multi2 over single' out
    env -u GPUSPARC_DEVICES gpusparc bench --samples fakes --mode multi --runs 1 --gpus 2,3 --output parts3 steady >out 2>err || fail "parts: $(cat err)"
    expect '--devices cpu:3' err
fi
rc=0
bench --output nothing --report || rc=$?
[ $rc -eq 1 ] && [ ! -e nothing ] && [ "$(wc -l <err)" = 1 ] || fail "--report of nothing: $rc $(cat err)"
expect 'nothing holds no results' err

# Without the devices that are asked for there is nothing to measure, and no folder; with fewer it is said.
rc=0
bench --devices 97 --output devices steady || rc=$?
[ $rc -eq 1 ] && [ ! -e devices ] && [ "$(wc -l <err)" = 1 ] || fail "bench with devices that there are not: $rc $(cat err)"
expect 'no device fits' err
bench --devices cpu:2 --gpus 2,3 --runs 1 --output few steady || fail "bench --gpus 2,3 --devices cpu:2: $(cat err)"
expect 'the group has 2 devices: multi3 runs on no more' err

# Somebody's own file of one of its names isn't written over.
for own in runs.csv settings.json; do
    mkdir mine
    echo "precious words" >mine/$own
    rc=0
    bench --output mine steady || rc=$?
    [ $rc -eq 1 ] && [ "$(cat mine/*)" = "precious words" ] && [ "$(wc -l <err)" = 1 ] || fail "--output mine has written over $own: $rc $(cat err)"
    rm -r mine
done

# How sure it is: six runs that agree say it; `unclear` goes on to --runs-max, the others end where it is
# known; every other run has the modes the other way round.
multi='[ "$GPUSPARC_MODE" = multi ] && ' draw='echo x >>draws; RANDOM=$(wc -l <draws)'
fake clear "$draw; total=10\$((RANDOM % 10)).0; ${multi}total=8\$((RANDOM % 10)).0"
fake worse "$draw; total=10\$((RANDOM % 10)).0; ${multi}total=12\$((RANDOM % 10)).0"
# 0.965 and 0.975 times the base's, in turn.
fake unclear "total=97.0; [ -n \"\$GPUSPARC_MODE\" ] && { echo x >>turns; total=99.5; [ \$((\$(wc -l <turns) % 2)) -eq 0 ] && total=100.5; }"
bench --output six --runs 6 --no-single clear worse unclear || fail "a verdict changed the exit status"
expect '^clear .* multi2 .* 1\.[0-9]+-1\.[0-9]+ +not slower ' out
expect '^worse .* multi2 .* 0\.[78][0-9]+-0\.[89][0-9]+ +slower ' out
expect '^unclear .* multi2 .* 0\.965-0\.975 +unsure ' out
expect '^Slower than 0\.97 times plain: 1; not slower: 1; unsure: 1\. .* 0\.05\.$' out
# The mean's interval is that of the runs' own means, and holds the mean of the medians here.
python3 - <<'END' || fail "the mean: $(grep Geometric out)"
import csv, math, re, statistics
rows = {}
for r in csv.DictReader(open("six/runs.csv")):
    rows[r["sample"], r["mode"], int(r["run"])] = float(r["total_ms"])
names = sorted({s for s, _, _ in rows})
ratio = {(s, k): rows[s, "plain", k] / rows[s, "multi2", k] for s in names for k in range(1, 7)}
mean = math.exp(statistics.mean(math.log(statistics.median(ratio[s, k] for k in range(1, 7))) for s in names))
runs = [math.exp(statistics.mean(math.log(ratio[s, k]) for s in names)) for k in range(1, 7)]
said = re.search(r"multi2 over plain: all ([\d.]+) \(([\d.]+) to ([\d.]+)\), compute", open("out").read())
got = [float(x) for x in said.groups()]
# Of six runs with 95 %: from the least of them to the largest.
for g, want in zip(got, (mean, min(runs), max(runs))):
    assert abs(g - want) < 0.0051, (got, mean, runs)
END
[ "$(sed -n '2,5s/,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*$//p' six/runs.csv | tr '\n' ' ')" = \
    "clear,1,plain,1 clear,1,multi2,1 clear,1,multi2,2 clear,1,plain,2 " ] || fail "the modes don't take turns"
bench --output six --report --json --runs 6 --no-single --limit 0.5 worse || fail "--limit"
expect '"verdict": "not slower"' out
bench --output sure --until-sure --runs 8 --runs-max 18 --no-single clear worse unclear || fail "--until-sure"
for of in clear:16 worse:16 unclear:36; do
    [ "$(grep -c "^${of%:*}," sure/runs.csv)" -eq "${of#*:}" ] ||
        fail "--until-sure: other runs of ${of%:*} than ${of#*:}: $(cut -d, -f1-4 sure/runs.csv)"
done
expect '^worse .* slower ' out
expect 'probability of 0\.0167\.$' out
cp sure/runs.csv runs.before
bench --output sure --resume --until-sure --runs 8 --runs-max 18 --no-single clear worse unclear || fail "--resume"
cmp runs.before sure/runs.csv || fail "what was sure was measured again"
head -n 20 runs.before >sure/runs.csv
bench --output sure --resume --until-sure --runs 8 --runs-max 18 --no-single clear worse unclear || fail "--resume"
[ "$(grep -c ^unclear, sure/runs.csv)" -eq 36 ] || fail "--resume didn't go on until it was sure"
bench --output sure --resume --runs 8 --no-single clear && fail "--resume with other looks"
expect 'other settings' err
bench --output narrow --precision 0.02 --runs 8 --runs-max 12 --no-single clear unclear || fail "--precision"
[ "$(grep -c ^clear, narrow/runs.csv)/$(grep -c ^unclear, narrow/runs.csv)" = 24/16 ] || fail "--precision 0.02"
fake idle 'sleep 0.4'
bench --output late --stop-after 2 --runs 1000 --no-single idle || fail "--stop-after"
expect '2 s are over; .*--resume' err
[ "$(wc -l <late/runs.csv)" -lt 8 ] || fail "--stop-after 2: $(cat late/runs.csv)"

# Side by side: the modes of a run take turns, long ones, and never run at the same time.
fake ticking 'total=1.0; [[ $args =~ --times ]] && for ((k = 0; k < 40000; k++)); do echo $$ >>ticks; done'
bench --output side --side-by-side --runs 2 --no-single ticking || fail "--side-by-side"
expect '^ticking .* multi2 .* 1\.000 +1\.00 ' out
[ "$(wc -l <side/runs.csv)" -eq 5 ] || fail "--side-by-side: not four runs: $(cat side/runs.csv)"
read -r all changes < <(awk '$1 != last { n++; last = $1 } END { print NR, n }' ticks)
[ "$all" -eq 200000 ] || fail "--side-by-side: $all ticks of four runs and of the one that sets the turns' length"
{ [ "$changes" -ge 9 ] && [ "$changes" -le $((all / 200)) ]; } || fail "--side-by-side: $all ticks in $changes turns"
fake ending '[[ $args =~ --times ]] && [ "$GPUSPARC_MODE" = multi ] && exit 3'
bench --output ends --side-by-side --runs 1 --no-single ending && fail "--side-by-side: one fails"
expect 'ending, scale 1, multi2: exit status 3' err
expect '^ending,1,plain,1,' ends/runs.csv
fake endless '[[ $args =~ --times ]] && [ "$GPUSPARC_MODE" = multi ] && exec sleep 98.7655'
bench --output late2 --side-by-side --timeout 1 --runs 1 --no-single endless && fail "--side-by-side: one has no end"
expect 'endless, scale 1, multi2: not ready in time' err
pgrep -f "sleep 98.7655" >/dev/null && fail "a stopped sample outlived its time"

# Merging takes 7 ms once and 3 ms in each iteration, of the kernels' 40.
fake merging 'n=1; [[ $args =~ --iterations\ ([0-9]+) ]] && n=${BASH_REMATCH[1]}
[ -z "${GPUSPARC_STATS:-}" ] || [ "$GPUSPARC_MODE" = single ] ||
    echo "{\"merge_ns\": $((7000000 + 3000000 * n)), \"kernels\": [], \"bytes\": {\"direct\": {\"bytes\": 9000000}, \"merge\": {\"bytes\": $((2000000 * n))}}}" >"$GPUSPARC_STATS"'
bench --output merges merging || fail "exit status $? for a sample that merges"
expect '^merging +compute +1 +multi2 +10\.000 +40\.000 +3\.000 +5\.000 +40\.000 +2\.50 .* 2\.0  equal$' out
expect '^merging,compute,1,multi2,3,10\.0000,40\.0000,5\.0000,3\.0000,40\.0000,' merges/summary.csv
# Of the bar of 40 % the merge has 3 of 55 ms, as the fake's phases overlap; the plain run merges nothing.
expect '>multi2, merge: 2\.18182<' merges/bars.svg
! grep -q 'plain, merge' merges/bars.svg || fail "the plain run merges"

# The compared result is that of as many iterations as are timed: what goes wrong once launches are split is found.
fake later '[ "${GPUSPARC_MODE:-}" = multi ] && [[ $args =~ --iterations\ 7 ]] && result=wrong'
bench --output later --iterations 7 later && fail "exit status 0 where the seventh iteration is wrong"
expect '^later .* multi2 .* DIFFERENT$' out

# What is wrong is said, counts, and doesn't keep the others from running.
bench --output wrong --timeout 1 varying broken slow steady && fail "exit status 0 in spite of wrong results"
expect 'varying, scale 1, multi2: the result differs' err
expect 'broken, scale 1, plain: exit status 3: it broke$' err
expect 'slow, scale 1, plain: not ready in time' err
expect '^varying .* multi2 .* DIFFERENT$' out
expect '^steady .* equal$' out
pgrep -f "sleep 98.7654" >/dev/null && fail "a sample outlived its time"

# Sizes.
bench --output sizes --scale 0.5,4 --runs 1 sized || fail "--scale"
expect '^--size 500 --side 70 --power 512( |$)' sizes.txt
expect '^--size 4000 --side 200 --power 4096( |$)' sizes.txt
bench --output auto --scale auto --min-ms 250 --runs 1 sized || fail "--scale auto"
expect '^sized,16,plain,1,' auto/runs.csv
bench --output like --scale auto --like sizes --runs 1 --no-single sized || fail "--like"
expect '^sized,0.5,multi2,1,' like/runs.csv
[ "$(grep -c single like/runs.csv)" -eq 0 ] || fail "--no-single"
bench --output small --small --runs 1 sized || fail "--small"
expect '^--tiny( |$)' sizes.txt

# An interrupted bench goes on where it was, after a line that was cut off, too.
head -n 6 figures/runs.csv >runs.before
{ cat runs.before; printf 'steady,1,multi2,2,10.0'; } >figures/runs.csv
bench --output figures --resume steady || fail "--resume"
[ "$(wc -l <figures/runs.csv)" -eq 10 ] || fail "after --resume there is not one line for each run"
head -n 6 figures/runs.csv | cmp - runs.before || fail "--resume measured again what was there"
bench --output figures steady && fail "results were written over"
expect 'holds results already' err
bench --output figures --resume --iterations 7 steady && fail "other settings went into the same folder"
expect 'other settings' err

fake long 'sleep 0.05'
gpusparc bench --samples fakes --runs 1000 --output stopped long >out 2>err &
pid=$!
for _ in $(seq 100); do
    [ "$(cat stopped/runs.csv 2>/dev/null | wc -l)" -gt 3 ] && break
    sleep 0.1
done
kill -INT $pid
wait $pid && fail "exit status 0 of an interrupted bench"
expect 'interrupted; .*--resume' err
expect '^long .* plain' out

# Wrong usage.
for args in '--gpus x' '--gpus 0' '--mode fast' '--runs 0' '--scale -1' '--scale 1,' '--base best' '--foo' 'nothere' \
    '--small --scale 2' '--base single --no-single' '--runs' '--limit x' '--precision 0' '--runs-max 9' '--stop-after 0' \
    '--until-sure --runs 9 --runs-max 8' '--until-sure --runs-max 1000'; do
    bench $args
    [ $? -eq 2 ] || fail "exit status of bench $args is not 2"
    [ "$(wc -l <err)" -eq 1 ] || fail "bench $args doesn't say one sentence"
done

# Two real ones.
gpusparc bench --devices cpu:2 --mode multi --small --runs 1 --iterations 1 --output real matmul prefixsum >out 2>err ||
    fail "real samples: $(cat err)"
[ "$(grep -c equal out)" -eq 4 ] || fail "real samples: $(cat out)"
expect '^matmul .* multi2 .* 1/1 ' out
[ "$failures" -eq 0 ]
