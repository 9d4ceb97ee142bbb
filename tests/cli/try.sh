#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc try: what it says of applications that sleep longer or shorter, print the same or something else.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
export TMPDIR=$PWD/tmp
rm -rf tmp && mkdir tmp
# The application: GPUSPARC_MODE is what the run is told; a plain one has none.
cat >app <<'END'
#!/bin/sh
echo "${GPUSPARC_MODE:-plain}" >>runs
case ${GPUSPARC_MODE:-plain} in plain) sleep ${PLAIN:-0.12} ;; single) sleep ${SINGLE:-0.1} ;; *) sleep ${ALL:-0.01} ;; esac
[ -z "${FILE:-}" ] || echo "$0" >"$FILE"
echo "${SAYS:-result}"
exit ${EXITS:-0}
END
chmod +x app
try() { timeout 120 gpusparc try --devices cpu:2 "$@"; }

# With parts of the CPU all are compared with one of them.
try --json --time 3 ./app >faster.json || complain "try: $?"
python3 - <<'END' || complain "$(cat faster.json)"
import json
t = json.load(open("faster.json"))
assert t["base"] == "single" and t["same"] and t["devices"] == 2 and t["default"]["all"]["times"] > 1
# Fewer than eight rounds, on a busy machine, are too few for 95 % in all of four looks.
assert t["default"]["outcome"] == ("faster" if t["rounds"] >= 8 else "not sure")
assert all(len(t["times"][way]["s"]) == t["rounds"] for way in ("plain", "single", "default"))
assert "times as fast on 2 parts of the CPU" in t["verdict"]
END
PLAIN=0 SINGLE=0.01 ALL=0.1 try --time 3 ./app >slower || complain "try of what is slower: $?"
# A busy machine may spend all of --time on few rounds, in which one device is slower yet.
grep -q '^Slower: 0\.[0-9]* times as fast\|^Not sure: 0\.[0-9]* times as fast\|^Not sure: .*too few rounds (--time)' slower || complain "of what is slower: $(cat slower)"
[ -z "$(ls tmp)" ] || complain "left behind: $(ls tmp)"

# An outlier is named in each shape of the answer; a program that launches no kernel is told so, and what to look at.
cat >once <<'END'
#!/bin/sh
echo >>runs
[ $(wc -l <runs) != 6 ] || exec sleep 1
sleep 0.02
END
chmod +x once
rm -f runs
try --time 3 --html once.html ./once >once.txt || complain "one slow run: $?"
for f in once.txt once.html; do
  # Where all of --time went into one round, as on a busy machine, nothing tells what is usual.
  grep -q 'An outlier: round 1, [a-z ]*, took 1[0-9]*\.[0-9] ms; [0-9.]* ms is usual\.' $f || grep -q 'too few rounds (--time)' $f || complain "one slow run, $f: $(cat once.txt)"
  grep -q 'It launched no OpenCL kernel under gpusparc, so there was nothing to split\.' $f || complain "no kernel, $f: $(cat once.txt)"
  grep -q "Next: the application.s OpenCL calls, one a line: gpusparc run --log --devices cpu:2 ./once\|Next: the application&#39;s OpenCL calls, one a line: gpusparc run --log --devices cpu:2 ./once" $f ||
    complain "no kernel, $f: $(cat once.txt)"
done

# What differs is said, and ends with 1.
export PLAIN=0 SINGLE=0 ALL=0
cat >liar <<'END'
#!/bin/sh
echo "${GPUSPARC_MODE:-plain}"
END
chmod +x liar
! try --time 1 ./liar >wrong || complain "another output goes unseen"
grep -q "^WRONG: with one device its output differs from the plain run's" wrong || complain "another output: $(cat wrong)"
printf '#!/bin/sh\n[ -z "${GPUSPARC_MODE:-}" ]\n' >liar
! try --time 1 ./liar >wrong || complain "another exit status goes unseen"
grep -q "^WRONG: with one device its exit status differs" wrong || complain "another exit status: $(cat wrong)"
EXITS=3 try --time 1 ./app >fails || complain "an application that always ends with 3: $?"
grep -q '^Exit status (3) and output were' fails && grep -q '^It ends with exit status 3 without gpusparc, too. Does it do its work?$' fails ||
  complain "always 3: $(cat fails)"
printf '#!/bin/sh\necho "no file x" >&2; echo >&2; exit 1\n' >liar
try --time 1 ./liar >fails || complain "an application that fails: $?"
grep -q '^It ends with exit status 1 without gpusparc, too: no file x\. Does it' fails && grep -q '^Next: mend that' fails || complain "fails: $(cat fails)"
printf '#!/bin/sh\necho $$\n' >liar
try --time 1 ./liar >varies || complain "what varies by itself: $?"
grep -q '^Not compared: ' varies || complain "what varies by itself: $(cat varies)"
# Its first plain runs happen to be alike: that it varies is seen later.
echo 0 >count
cat >liar <<'END'
#!/bin/sh
if [ -n "${GPUSPARC_MODE:-}" ]; then echo $$; exit; fi
n=$(($(cat count) + 1))
echo $n >count
[ $n -gt 2 ] && echo $n || echo alike
END
try --time 2 ./liar >varies || complain "what varies later: $?"
grep -q '^Not compared: ' varies || complain "what varies later: $(cat varies)"

printf '#!/bin/sh\n[ "${GPUSPARC_MODE:-}" != auto ] || exec sleep 1000\n' >liar
! try --timeout 1s ./liar >hangs || complain "a run that doesn't end goes unseen"
grep -q '^WRONG: with all devices it had not ended after [0-9]* s; a plain run took' hangs || complain "a run that hangs: $(cat hangs)"

# Files are compared, and are there afterwards.
FILE=made try --time 1 --output made ./app >files || complain "--output: $?"
grep -q 'output and files were' files && [ "$(cat made)" = ./app ] || complain "--output: $(cat files)"
cat >liar <<'END'
#!/bin/sh
[ "${GPUSPARC_MODE:-}" = auto ] || echo right >made
END
! try --time 1 --output made ./liar >files || complain "a file that isn't written goes unseen"
grep -q "^WRONG: with all devices made differs" files && [ "$(cat made)" = right ] || complain "a missing file: $(cat files)"
! try --output nothing ./app 2>said || complain "a file that the application doesn't write"
grep -q "has left no file 'nothing'" said || complain "no file: $(cat said)"

echo input >input
! try --output input ./app 2>said && grep -q "doesn't write 'input'" said && [ "$(cat input)" = input ] || complain "a file that is only read: $(cat said)"

# Ctrl-C gives what is known.
rm -f runs
PLAIN=0.05 gpusparc try --devices cpu:2 --time 1000 ./app >stopped 2>said &
pid=$!
for ((i = 0; i < 2000 && $(cat runs 2>/dev/null | wc -l) < 10; i++)); do sleep 0.05; done
kill -INT $pid
wait $pid || complain "interrupted: $? $(cat said)"
grep -q 'times as fast' stopped || complain "interrupted: $(cat stopped)"

# A plain run that takes longer than --time, and one in which it is interrupted: what is known, and what to do.
rc=0
PLAIN=1.2 try --time 1 --json --html long.html ./app >long.json || rc=$?
[ $rc = 1 ] && grep -q 'Not known: a plain run takes [0-9.]* s, and --time is 1 s' long.html || complain "too little time: $rc, $(cat long.json)"
python3 - <<'END' || complain "too little time: $(cat long.json)"
import json
t = json.load(open("long.json"))
assert t["verdict"].startswith("Not known: a plain run takes ") and not t["compared"] and not t["same"]
assert t["rounds"] == 0 and t["times"]["plain"]["first_s"] >= 1.2 and t["kernels"] == []
END
rc=0
PLAIN=1.2 try --time 1 ./app >long || rc=$?
[ $rc = 1 ] && [ "$(sed -n 2p long)" = "Nothing was compared: there are too few runs." ] || complain "too little time: $rc, $(cat long)"
grep -q '^Next: with a smaller input, or gpusparc try --time [0-9]*0s --devices cpu:2 ./app$' long || complain "too little time: $(cat long)"
rm -f runs
PLAIN=1000 gpusparc try --devices cpu:2 --html long.html ./app >stopped 2>said &
pid=$!
for ((i = 0; i < 2000; i++)); do [ ! -s runs ] || break; sleep 0.05; done
kill -INT $pid
rc=0
wait $pid || rc=$?
[ $rc = 1 ] && [ ! -s said ] || complain "interrupted in the first run: $rc, $(cat said)"
for f in stopped long.html; do
  grep -q 'Not known: it was interrupted in the first plain run, after [0-9.]* s' $f || complain "interrupted in the first run: $(cat stopped)"
done
rm -f runs
PLAIN=0.1 SINGLE=1000 gpusparc try --devices cpu:2 ./app >stopped 2>said &
pid=$!
for ((i = 0; i < 2000; i++)); do ! grep -qs single runs || break; sleep 0.05; done
kill -INT $pid
rc=0
wait $pid || rc=$?
[ $rc = 1 ] && grep -q '^Not known: it was interrupted before each way had been run once; a plain run takes [0-9.]* s' stopped ||
  complain "interrupted in the second way: $rc, $(cat stopped said)"

# Kernels and their reasons; each shape of the answer.
matmul=("$GS_BUILD/lib/gpusparc/samples/matmul" --size 64)
"${matmul[@]}" >/dev/null # compiles its kernel, which takes longer than --time on a busy machine
try --time 4 --multi --html page.html --markdown "${matmul[@]}" >answer.md || complain "--markdown: $?"
grep -q '^\*\*' answer.md && grep -q '^| 100.0 | matmul | 1 |' answer.md && grep -q '^In mode multi: ' answer.md || complain "--markdown: $(cat answer.md)"
grep -q 'what would have it split' page.html || complain "--html"
gpusparc bench -- ./app | grep -q 'output were' || complain "bench -- ./app"
gpusparc devices --json | grep -q '"GPU"' || {
  gpusparc try "${matmul[@]}" >blind || complain "without a GPU: $?"
  grep -q "^There is no GPU here, so how fast it would be can't be known. Kernels that it launched: 1; of these can be split: 1" blind ||
    complain "without a GPU: $(cat blind)"
  gpusparc try true >blind && ! grep -q 'Kernels that it launched' blind && grep -q '^It launched no OpenCL kernel' blind ||
    complain "without a GPU and kernels: $(cat blind)"
  printf '#!/bin/sh\necho $$\n' >liar
  gpusparc try ./liar >blind && grep -q '^Not compared: ' blind || complain "without a GPU, of what varies by itself: $(cat blind)"
  printf '#!/bin/sh\necho "${GPUSPARC_MODE:-plain}"\n' >liar
  ! gpusparc try ./liar >blind && grep -q '^WRONG: ' blind || complain "without a GPU, another output: $(cat blind)"
}

# Wrong words.
for words in "" "--time x ./app" "--json --markdown ./app" "--html page.txt ./app" "--nothing ./app"; do
  rc=0
  # shellcheck disable=SC2086
  gpusparc try $words >/dev/null 2>said || rc=$?
  [ $rc = 2 ] && [ "$(wc -l <said)" = 1 ] || complain "gpusparc try $words: $rc, $(cat said)"
done
! gpusparc try ./nosuch 2>said && grep -q "'./nosuch' can't be run: No such file" said || complain "no such application: $(cat said)"
! try --time 1 --html /dev/full ./app >/dev/null 2>said || complain "a full disk"
exit $fail
