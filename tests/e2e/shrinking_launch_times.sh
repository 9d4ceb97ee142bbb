#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A factorisation, each of whose launches is smaller than the one before: it is known of most of them how long they take,
# over a driver whose GPUs only let time pass. (With a record for each step of the sizes alone, 144 and more of 511
# launches are not known; with one for each size, all.) How many are split depends on how busy the machine is: it is
# only told. Over PoCL the matrix is the plain run's, however it is split.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
for process in first second; do
  FAKE_ITEM_NS=25 GPUSPARC_REAL=$programs/fake.so gpusparc run --stats="$process.json" "$programs/shrinking_launch_times" 512 1 1 \
    >"$process.txt" 2>&1 || fail "$process: $(cat "$process.txt")"
  python3 - "$process.json" "$process" <<'END' || fail "$process process: not as it should be: $(cat "$process.json")"
import json, sys
bad = False
for k in json.load(open(sys.argv[1]))["kernels"]:
    unknown = sum(r["count"] for r in k["reasons"] if r["reason"] == "how long it takes isn't known yet")
    print(sys.argv[2], k["name"], k["launches"], "launches,", unknown, "not known,", k["split"], "split")
    bad |= unknown > k["launches"] / 4
sys.exit(bad)
END
done

OPENCL_LAYERS='' "$programs/shrinking_launch_times" 128 20 1 >plain.txt 2>/dev/null
for transfer in plain pinned; do
  for mode in auto multi; do
    GPUSPARC_TRANSFER=$transfer gpusparc run --devices cpu:2 --mode $mode "$programs/shrinking_launch_times" 128 20 1 >$mode.txt 2>$mode.err ||
      fail "$mode, $transfer: $(cat $mode.err)"
    cmp plain.txt $mode.txt || fail "$mode, $transfer: another matrix"
  done
done
echo passed
