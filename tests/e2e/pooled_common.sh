# SPDX-License-Identifier: MIT
# What the tests of --memory pooled share: devices with less memory than the buffers have (small_memory.c).
source "$GS_SOURCE/tests/e2e/common.sh"
export POCL_DEVICES="pthread pthread" GPUSPARC_DEVICES=all
unset GPUSPARC_MEMORY
layer=$programs/small_memory.so

# pooled OUTPUT COMMAND...: its exit status. SMALL_MEMORY_BYTES says what a device has.
pooled() {
  local out=$1
  shift
  rm -f stats.json
  OPENCL_LAYERS=$layer timeout 200 gpusparc run --memory "${memory:-pooled}" --stats=stats.json "$@" >"$out" 2>pooled.err
}
same() { cmp plain.txt pooled.txt || { diff plain.txt pooled.txt | cut -c1-160 | head; cat pooled.err; fail "$*"; }; }
# alike WHAT COMMAND...: it prints what the last plain run did.
alike() {
  local what=$1 rc=0
  shift
  pooled pooled.txt "$@" || rc=$?
  [ $rc = 0 ] || { cat pooled.txt pooled.err; fail "$what: exit status $rc"; }
  same "$what"
}
# Each device's peak in bytes is at most a share of all, in per cent.
peak() { python3 -c '
import json, sys
peak = json.load(open("stats.json"))["memory"]["peak"]
sys.exit(any(100 * p > int(sys.argv[1]) * int(sys.argv[2]) for p in peak))' "$1" "$2" || fail "$3: a device held too much: $(cat stats.json)"; }
