#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever fails under --json leaves JSON on stdout that says why, with the sentence and the status; on stderr stays what
# stands there without --json. What succeeds isn't touched, nor is a partial answer.
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
rm -rf none
fails() { # STATUS ARGUMENT...
  local wanted=$1 rc=0
  shift
  GPUSPARC_SOCKET=$PWD/none gpusparc "$@" >out.json 2>err.txt </dev/null || rc=$?
  [ $rc = "$wanted" ] || complain "gpusparc $*: status $rc: $(cat out.json err.txt)"
  python3 - "$rc" <<'END' || complain "gpusparc $*: $(cat out.json)"
import json, sys
said = json.load(open("out.json"))
if "error" in said:
    lines = [l.removeprefix("gpusparc: ") for l in open("err.txt").read().splitlines() if not l.startswith("gpusparc: warning: ")]
    assert said["status"] == int(sys.argv[1]) and said["error"] == said.get("errors", [said["error"]])[0], said
    assert all(e in lines for e in said.get("errors", [])), (said, lines)
END
  grep -q '"error"\|"mistakes"\|"kernels"' out.json || complain "gpusparc $*: no error in $(cat out.json)"
}
echo '[task' >bad.conf
echo 'kernel' >bad.cl
fails 1 analyze --json missing.conf
fails 1 analyze --json bad.conf
fails 2 analyze --json --policy none bad.conf
fails 1 bench --json --samples missing
fails 1 bench --json --report --output missing
fails 2 cache --json nothing
fails 1 check --json missing.conf
fails 1 check --json bad.conf
fails 1 devices --json --devices 97
fails 2 devices --json --nothing
fails 2 devices --json --check --measure
fails 1 explain --json missing.cl
fails 1 explain --json bad.cl
fails 2 makespan --json
fails 2 probe --json nothing
# What the probe's worker, a process of its own, says: its sentence, once, also where its answer was on stdout already.
fails 2 probe order --json --runs none
grep -q '"error": "--runs wants a number' out.json || complain "the worker's sentence isn't there: $(cat out.json)"
fails 1 probe order --json --device 63
grep -q '"error": "there is no device 63' out.json || complain "the worker's sentence isn't there: $(cat out.json)"
fails 2 profile --json
fails 1 reload --json
fails 1 set --json a period=1s
fails 2 set --json a colour=red
fails 2 simulate --json --sets none
fails 1 status --json
fails 2 timing --json
fails 2 try --json
fails 1 try --json ./missing
# Each command that has --json is among them.
for c in $(gpusparc --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  ! gpusparc "$c" --help | grep -q -- '^  --json' || grep -q "^fails [12] $c --json" "$0" || complain "$c --json isn't tried"
done
# A name that is no UTF-8 doesn't break it.
fails 1 analyze --json $'caf\xe9.conf'

gpusparc cache --json | python3 -c 'import json, sys; assert "error" not in json.load(sys.stdin)' || complain "what succeeds"
exit $fail
