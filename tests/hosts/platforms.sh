#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Devices of two platforms in one group, through this machine's server: PoCL's CPU, and Mesa's rusticl on llvmpipe, which
# is told to call itself a GPU. A platform of OpenCL 1.x, such as Oclgrind's, stays outside, and so does one without
# devices, such as rusticl's where nobody asks for llvmpipe.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
rm -rf ./*
loads() { python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null; }
pocl=$(cat /etc/OpenCL/vendors/pocl.icd 2>/dev/null || true)
[ -n "$pocl" ] && loads libRusticlOpenCL.so.1 || skip "there are no two platforms: rusticl (mesa-opencl-icd) is missing"
export GPUSPARC_HOSTS_TIMEOUT=60 RUSTICL_ENABLE=llvmpipe RUSTICL_DEVICE_TYPE=gpu OCL_ICD_VENDORS=$PWD/vendors
unset GPUSPARC_HOSTS GPUSPARC_TASK GPUSPARC_TASK_REQUIRED
mkdir vendors
echo "$pocl" >vendors/pocl.icd
echo libRusticlOpenCL.so.1 >vendors/rusticl.icd
oclgrind=/usr/lib/oclgrind/liboclgrind-rt-icd.so
[ ! -e $oclgrind ] || echo $oclgrind >vendors/oclgrind.icd
RUSTICL_ENABLE='' gpusparc run --hosts localhost:all --hosts-required --mode single "$GS_BUILD/tests/hosts/uploads" ||
  fail "beside a platform without devices: $?"
types() { # LIST: of the devices
  gpusparc devices --hosts "$1" --json >devices.json || fail "gpusparc devices --hosts $1: $?"
  python3 -c 'import json; print(*(d["type"] for d in json.load(open("devices.json"))["devices"]))'
}
types localhost >out
[ "$(cat out)" = gpu ] || fail "localhost has $(cat out)"
types localhost:all >out
[ "$(cat out)" = "gpu cpu" ] || fail "localhost:all has $(cat out)"
for name in vectoradd aes filter histogram; do # by which the two drivers give the same bytes
  sample=$GS_BUILD/lib/gpusparc/samples/$name
  OCL_ICD_VENDORS=$pocl "$sample" --output plain >/dev/null
  gpusparc run --hosts localhost:all --hosts-required --mode multi --stats=stats.json "$sample" --output both >/dev/null
  cmp plain both
  python3 -c 'import json; k = json.load(open("stats.json"))["kernels"]; raise SystemExit(not any(min(x["device_ns"][:2]) for x in k))' ||
    fail "$name wasn't split: $(cat stats.json)"
done
