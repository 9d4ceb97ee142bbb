#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc devices --check: what works, and for each thing that is broken the line that says so, and exit status 1.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
rm -rf tree file home tmp
export GPUSPARC_SOCKET=$PWD/none XDG_CACHE_HOME=$PWD/home TMPDIR=$PWD/tmp GPUSPARC_STATS=$PWD/stats GPUSPARC_ONLY=nothing
mkdir -p tree/bin tree/lib/gpusparc home tmp
touch file
ln "$GS_BUILD/bin/gpusparc" tree/bin/ 2>/dev/null || cp "$GS_BUILD/bin/gpusparc" tree/bin/
for f in "$GS_BUILD"/lib/gpusparc/*; do ln -s "$f" tree/lib/gpusparc/; done
program=tree/lib/gpusparc/gpusparc-self-test

# STATUS ERROR LINE... -- ARGUMENT...: each LINE is an extended regular expression, of one line of the output.
check() {
  local wanted=$1 error=$2 lines=() rc=0
  shift 2
  while [ "$1" != -- ]; do lines+=("$1") && shift; done
  shift
  tree/bin/gpusparc devices --check "$@" >out.txt 2>err.txt </dev/null || rc=$?
  [ $rc = "$wanted" ] || complain "--check $*: exit status $rc: $(cat out.txt err.txt)"
  [ "$(cat err.txt)" = "$error" ] || complain "--check $* says: $(cat err.txt)"
  for line in "${lines[@]}"; do
    grep -qE "$line" out.txt || complain "--check $*: no line '$line' in: $(cat out.txt)"
  done
  [ -z "$(ls tmp)" ] || complain "--check $* leaves $(ls tmp)"
  [ ! -e stats ] || complain "--check $* writes the user's statistics"
}

check 0 "" '^devices +ok +2 parts of the CPU' '^daemon +- +none at .*/none:' "^cache +ok +$PWD/home/gpusparc\$" \
  '^translator +ok' '^windows +- ' '^plain run +ok' "^split run +ok +2 kernels on 2 devices, and the plain run's bytes, in less than [0-9]" \
  '^gpusparc works here$' -- --devices cpu:2
[ -z "$(ls home/gpusparc)" ] || complain "--check leaves in the cache: $(ls home/gpusparc)"

# GPUs with memories of their own, which PoCL's devices pass for (tests/e2e/lazy), by what the trial of windows says.
windows() { # ANSWER LINE
  rm tree/lib/gpusparc/gpusparc-link-probe
  printf '#!/bin/sh\n%s\n' "$1" >tree/lib/gpusparc/gpusparc-link-probe
  chmod +x tree/lib/gpusparc/gpusparc-link-probe
  LAZY=gpu LAZY_SEED=1 LAZY_REPORT=$PWD/report OPENCL_LAYERS=$GS_BUILD/tests/e2e/lazy.so POCL_DEVICES="pthread pthread" \
    check 0 "" '^devices +ok +2 of ' "$2" '^split run +ok' -- --devices gpu
}
windows 'echo ok' '^windows +ok +'
windows 'echo no: the GPUs are too far apart' "^windows +- +the GPUs are too far apart: bytes between GPUs go through the host's memory"
windows 'exit 1' '^windows +- +their trial failed: '

# What can't be used.
XDG_CACHE_HOME=$PWD/file check 1 "gpusparc: it doesn't work here: cache" "^cache +not +$PWD/file/gpusparc can't be used: Not a directory" \
  '^split run +ok' -- --devices cpu:2
GPUSPARC_TRANSLATOR=$PWD/missing check 1 "gpusparc: it doesn't work here: translator, split run" \
  "^translator +not +$PWD/missing: No such file" "^split run +not .*wasn't split: the translator $PWD/missing" -- --devices cpu:2
printf '#!/bin/sh\necho "error while loading shared libraries: libclang" >&2\nexit 127\n' >loader
chmod +x loader
rm $program
printf '#!/bin/sh\necho no device today >&2\nexit 1\n' >$program
chmod +x $program
GPUSPARC_TRANSLATOR=$PWD/loader check 1 "gpusparc: it doesn't work here: translator, plain run, split run" \
  '^translator +not .*shared libraries: libclang' '^plain run +not .*no device today' '^split run +not +not known: there is no plain run' -- --devices cpu:2
check 1 "gpusparc: it doesn't work here: plain run, split run" '^split run' -- --devices cpu:1

# A run that leaves other bytes under gpusparc, one that isn't under it, one that crashes, one that hangs.
under() { # SCRIPT: without gpusparc it works
  printf '#!/bin/sh\n[ "$GPUSPARC_RUN" ] || { echo right; exit; }\n%s\n' "$1" >$program
}
under 'echo wrong'
check 1 "gpusparc: it doesn't work here: split run" "^split run +not +its bytes aren't the plain run's" -- --devices cpu:2
under 'echo right'
check 1 "gpusparc: it doesn't work here: split run" "^split run +not .* gpusparc has seen 0 of 2 kernels" -- --devices cpu:2
check 1 "gpusparc: it doesn't work here: split run" '^split run +not +there is one device' -- --devices cpu:1
under "printf 'caf\\351' >&2; kill -SEGV \$\$"
check 1 "gpusparc: it doesn't work here: split run" '^split run +not +it crashed by signal 11 .*: caf[?][.] Until' -- --devices cpu:2
rc=0
tree/bin/gpusparc devices --check --json --devices cpu:2 >out.json 2>err.txt || rc=$?
python3 - $rc <<'P' || complain "the JSON: $(cat out.json err.txt)"
import json, sys
s = json.load(open("out.json"))
assert sys.argv[1] == "1" and s["status"] == 1 and s["works"] is False and s["error"] == "it doesn't work here: split run"
assert [c["item"] for c in s["checks"]] == ["devices", "daemon", "cache", "translator", "windows", "plain run", "split run"]
assert {c["item"]: c["state"] for c in s["checks"]}["split run"] == "not"
P
under 'echo begun >&2; sleep 100'
check 1 "gpusparc: it doesn't work here: split run" '^split run +not +it had not ended after 3 s and was killed.*: begun' -- --check=3 --devices cpu:2
# Ctrl-C ends the run under way, and nothing is left.
tree/bin/gpusparc devices --check=60 --devices cpu:2 >out.txt 2>err.txt &
pid=$!
for _ in $(seq 1000); do grep -q 'plain run' out.txt && break; sleep 0.02; done
kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc = 1 ] && grep -q 'interrupted before all was known' err.txt && [ -z "$(ls tmp)" ] || complain "interrupted: status $rc, $(cat out.txt err.txt)"

says "wants a number of seconds" devices --check=0
says "wants a number of seconds" devices --check=abc
says "goes without --hosts" devices --check --hosts localhost
says "goes without --measure" devices --check --measure
exit $fail
