#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# refused_marker.sh: a sole application's launches have no events under a daemon, and the driver refuses the marker that
# is to tell of their end (faults.c), also where they stand behind a command of several units: the application ends with
# the same bytes, or its own call has failed, each unit is given back, each step is one of the model's (model.py), and no
# call waits under a context's lock but as docs/locking.md says.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
check_order
own_daemon watchdog=20s kernel_chunk=4 <<'END'
[task one]
period = 20s
mode = 1
END
begin_daemon
taken_back() { gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])'; }
export OPENCL_LAYERS=$programs/as_gpu.so:$programs/faults.so GPUSPARC_TRANSFER=plain
same=0 told=0
none_out() { gpusparc status --json | python3 -c 'import json, sys; sys.exit(any(r["units"] for r in json.load(sys.stdin)["resources"]))'; }
mkfifo -m 600 go 2>/dev/null || true
exec 7<>go
under() { # PROGRAM ARGUMENTS...; it gets a line when it waits for one, once no unit is out
  local app rc=0
  rm -f notes out.txt
  GS_NOTES=$PWD/notes timeout -s KILL $((GS_LIMIT / 4)) gpusparc run --devices cpu:2 --gpus 1 --task one "$programs/$1" "${@:2}" <&7 >out.txt 2>err.txt &
  app=$!
  while kill -0 $app 2>/dev/null; do
    if grep -qs waits out.txt && none_out; then echo go >&7; break; fi
    sleep 0.02
  done
  wait $app || rc=$?
  return $rc
}
count() { # LEAST PROGRAM ARGUMENTS...: `n` markers
  local least=$1
  shift
  OPENCL_LAYERS='' "$programs/$1" "${@:2}" >plain.txt <<<go || fail "$1 without gpusparc"
  FAULT_COUNTS=$PWD/counts.txt under "$@"
  n=$(sed -n 's/^clEnqueueMarkerWithWaitList //p' counts.txt)
  [ "${n:-0}" -ge "$least" ] || fail "only ${n:-0} markers: $(cat counts.txt)"
}
refuse() { # MARKER:HOW PROGRAM ARGUMENTS...
  local way=$1 rc=0
  FAULT=clEnqueueMarkerWithWaitList:${way/:/:-6:} under "${@:2}" || rc=$?
  if [ $rc = 0 ]; then cmp plain.txt out.txt || fail "$2, marker $way: another result"; same=$((same + 1))
  else grep -q "error -6" out.txt || { cat out.txt err.txt; fail "$2, marker $way: exit status $rc"; }; told=$((told + 1)); fi
  [ "$(taken_back)" = 0 ] || fail "$2, marker $way: a unit wasn't given back"
  python3 "$GS_SOURCE/tests/e2e/model.py" notes --wide >seen.txt || fail "$2, marker $way"
}
count 4 job_rows 20 3
for way in 1:forever 1:once 2:once 3:once $((n / 2)):once $n:once $((n / 2)):forever; do
  refuse $way job_rows 20 3
done
[ $same -ge 3 ] || fail "$same runs computed the same, and $told told of the error"
count 4 launches_behind_units
for way in $((n - 1)):once $n:once $(seq -f %.0f:forever $((n - 2)) $((n + 1))); do # the last ones, of those behind the units
  refuse $way launches_behind_units
done
end_daemon
echo "$n markers; $same runs computed the same, $told told of an error"
in_order
