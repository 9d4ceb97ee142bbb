#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Devices of which the others take so many times as long (or half), over a driver whose devices only let time pass: each
# has as much of a launch as it does in the time of the others, within a few launches, and in the next process from the
# first on; and where that gains nothing auto mode leaves them on one device. The bytes are the plain run's.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
unequal() { # SLOWER MODE LAUNCHES FIRST: from that launch on
  FAKE_ITEM_NS=${item_ns:-100} FAKE_SLOWER=$1 FAKE_LOG=work.log GPUSPARC_REAL=$programs/fake.so gpusparc run --mode "$2" \
    "$programs/paced" "$3" ${items:-262144} ${rounds:-} >out.txt 2>&1 || fail "$2, 1:$1: $(cat out.txt)"
  python3 - "$1" "$4" ${items:-262144} ${item_ns:-100} ${rounds:-1} ${ideal:-0} <<'END2' || fail "$2, 1:$1, from launch $4 on"
import sys
first, all_items, item_ns = int(sys.argv[2]), int(sys.argv[3]) * int(sys.argv[5]), float(sys.argv[4])
ideal = float(sys.argv[6]) or 1 + sum(1 / float(d.split(",")[-1]) for d in sys.argv[1].split("/"))
launches, longest, items = [], 0, 0
for line in open("work.log"):
    w = line.split()
    if w[0] != "work":
        continue
    longest = max(longest, float(w[3]))
    items += int(w[2])
    if items == all_items:
        launches.append(items * item_ns / longest)
        longest, items = 0, 0
print(sys.argv[1], " ".join(f"{x / ideal:.3f}" for x in launches), "of", f"{ideal:.2f}")
sys.exit(items != 0 or min(launches[first - 1:]) < 0.95 * ideal)
END2
}
for slower in 0.5 5 1/3; do
  rm -rf cache
  unequal $slower multi 12 4
  unequal $slower multi 8 1
done
# In auto mode the parts are compiled beside the first launches, for as long as that takes. In the next process they come
# from a cache, but nobody waits longer for them than that gains.
rm -rf cache
unequal 5 auto 80 60
unequal 5 auto 20 12
# One that has bad luck in one launch, or comes to be slower for good, has its share again soon, ...
rm -rf cache
unequal 20x1,1 multi 10 4
rm -rf cache
unequal 1x1,10x1,1 multi 10 3
unequal 1 multi 4 1
rm -rf cache
unequal 1x20,4 multi 60 50
unequal 4 multi 8 1
# ... and also one that was of no use in the process before. The launches are long, so that a stall of the machine amid
# the one try isn't most of it.
rm -rf cache
item_ns=400 unequal 20 auto 50 50
item_ns=400 unequal 1 auto 30 25
# To find out that one is of no use costs little, where the launches are long.
rm -rf cache
ideal=1 item_ns=400 unequal 50 auto 8 1
# All enqueued and waited for once: the second launch waits for what the first says.
rm -rf cache
rounds=3400000 items=65536 item_ns=0.00012 FAKE_ROUNDS=2 unequal 1 multi 30 4
# Fewer work-groups than compute units take as long as one for each: 300 of them take three turns on a device of 100
# units, and two of such devices two.
rm -rf cache
ideal=1.5 items=19200 item_ns=1500 FAKE_WAVE=6400 unequal 1 multi 80 70
# Of several hosts, each of which compiles by itself, a program that was split before is made ready as it is built, though
# nothing is launched yet.
rm -rf cache
export GPUSPARC_REMOTE=a,b
unequal 5 multi 6 4
rm -f until && mkfifo until
FAKE_SLOWER=5 FAKE_ITEM_NS=100 GPUSPARC_DEBUG=1 GPUSPARC_REAL=$programs/fake.so timeout 100 gpusparc run --mode multi "$programs/paced" 0 262144 \
  <until >out.txt 2>&1 &
exec 3>until # it ends when this is closed
for _ in $(seq 3000); do
  ! grep -q 'was translated' out.txt || break
  sleep 0.02
done
exec 3>&-
wait $!
grep -q 'was translated' out.txt || fail "nothing was made ready: $(cat out.txt)"
unset GPUSPARC_REMOTE
# And the bytes are the plain run's, of random kernels and host programs, on places with memories of their own.
export OPENCL_LAYERS=$programs/as_gpu.so AS_GPU=unlike
rm -rf kernels cache
python3 "$GS_SOURCE/tests/access/generate.py" 3084 2 kernels
python3 "$GS_SOURCE/tests/access/oracle/free.py" 154200 3 kernels "$GS_BUILD"
export POCL_DEVICES="pthread pthread pthread"
random=("$programs/random_host_programs" 771 150 kernels/*.cl)
timeout -s KILL 100 "${random[@]}" >alone.txt 2>alone.err || fail "random host programs without gpusparc"
for options in "plain multi" "pinned multi" "plain auto"; do
  read -r way mode <<<"$options"
  GPUSPARC_TRANSFER=$way timeout -s KILL 200 gpusparc run --devices 0,1,2 --mode "$mode" --stats=bytes.json "${random[@]}" >split.txt 2>split.err ||
    { tail -n 3 split.err; fail "random host programs, $options"; }
  cmp alone.txt split.txt || { diff alone.txt split.txt | head -4; fail "random host programs, $options: it differs"; }
  stats bytes.json right
done
echo passed
