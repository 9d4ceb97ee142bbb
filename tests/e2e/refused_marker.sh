#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# refused_marker.sh: a sole application's launches have no events under a daemon, and the driver refuses the marker that
# is to tell of their end (faults.c): the application ends with the same bytes, or its own call has failed, each unit is
# given back, and no call waits under a context's lock but as docs/locking.md says.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
check_order
own_daemon <<'END'
[system]
gpus = 2
realtime = no
watchdog = 20s
[task one]
period = 20s
mode = 1
END
begin_daemon
taken_back() { gpusparc status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["daemon"]["taken_back"])'; }
export OPENCL_LAYERS=$programs/as_gpu.so:$programs/faults.so GPUSPARC_TRANSFER=plain
same=0 told=0
under() { timeout "$(left)" gpusparc run --devices cpu:2 --gpus 1 --task one "$programs/job_rows" 20 3 "$@" >out.txt 2>err.txt; }
OPENCL_LAYERS='' "$programs/job_rows" 20 3 >plain.txt || fail "job_rows without gpusparc"
FAULT_COUNTS=$PWD/counts.txt under
n=$(sed -n 's/^clEnqueueMarkerWithWaitList //p' counts.txt)
[ "${n:-0}" -gt 3 ] || fail "only ${n:-0} markers: $(cat counts.txt)"
for way in 1:forever 1:once 2:once 3:once $((n / 2)):once $n:once $((n / 2)):forever; do
  rc=0
  FAULT=clEnqueueMarkerWithWaitList:${way/:/:-6:} under || rc=$?
  if [ $rc = 0 ]; then cmp plain.txt out.txt || fail "marker $way: another result"; same=$((same + 1))
  else grep -q "error -6" out.txt || { cat out.txt err.txt; fail "marker $way: exit status $rc"; }; told=$((told + 1)); fi
  [ "$(taken_back)" = 0 ] || fail "marker $way: a unit wasn't given back"
done
[ $same -ge 3 ] || fail "$same runs computed the same, and $told told of the error"
end_daemon
echo "$n markers; $same runs computed the same, $told told of an error"
in_order
