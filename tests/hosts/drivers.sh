#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Servers over other drivers than PoCL's own: one that refuses commands, and a lazy one (tests/e2e/lazy/lazy.h) with two
# devices for each host that pass for NVIDIA's GPUs.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
programs=$GS_BUILD/tests/e2e samples=$GS_BUILD/lib/gpusparc/samples
rm -rf ./*
export GPUSPARC_HOSTS_TIMEOUT=60
unset GPUSPARC_HOSTS GPUSPARC_TASK GPUSPARC_TASK_REQUIRED
mkdir -p far/bin
ln -s "$engine"/{VERSION,lib,vendors} far/
cat >far/bin/pocld <<END
#!/bin/sh
exec env \$FAR "$engine/bin/pocld" "\$@"
END
cat >ssh <<END
#!/bin/sh
while [ "\$1" != -- ]; do shift; done
GPUSPARC_ENGINE=$PWD/far exec sh -c "\$3"
END
chmod +x far/bin/pocld ssh
export GPUSPARC_SSH=$PWD/ssh
over_two() { # PROGRAM...: rc is its exit status
  rc=0
  gpusparc run --hosts 127.0.0.2,127.0.0.3 --hosts-plain --hosts-required --mode multi --stats=stats.json "$@" >out 2>err ||
    rc=$?
}

for fault in clEnqueueNDRangeKernel:1:-5 clEnqueueNDRangeKernel:1:-5:late clEnqueueReadBuffer:1:-5 clEnqueueWriteBuffer:1:-5; do
  FAR="OPENCL_LAYERS=$programs/faults.so FAULT=$fault" over_two "$samples/vectoradd" --size 1000
  [ $rc = 125 ] || fail "$fault: exit status $rc: $(cat err)"
  grep -q 'is lost: its driver has refused a command (error -5)' err || fail "$fault: $(cat err)"
done

export FAR="OPENCL_LAYERS=$programs/lazy.so LAZY=gpu,poison LAZY_REPORT=$PWD/report" POCL_DEVICES="pthread pthread"
split=0
python3 "$GS_SOURCE/tests/access/generate.py" 28 4 kernels >/dev/null
for run in "$samples/radixsort --size 10007" "$samples/blackscholes --size 10007 --groups 5" "$programs/sub_buffers" \
  "$programs/random_host_programs 7 100 kernels/a28.cl kernels/a29.cl" "$programs/random_host_programs 8 100 kernels/a30.cl kernels/a31.cl"; do
  # shellcheck disable=SC2086
  $run >plain 2>/dev/null || fail "$run fails plain"
  # shellcheck disable=SC2086
  over_two $run
  [ $rc = 0 ] && cmp plain out || fail "$run: exit status $rc, $(diff plain out | head -3) $(tail -2 err)"
  [ ! -e report ] || fail "$run: $(head -3 report)"
  split=$((split + $(python3 -c 'import json; print(sum(k["split"] for k in json.load(open("stats.json"))["kernels"]))')))
done
[ $split -gt 0 ] || fail "nothing was split"
over_two "$programs/geometry" # what else it prints may depend on the sizes of work-groups that the drivers choose
grep -q '^wrong local size: -54' out || fail "another local size than the required one: $(grep wrong out)"
