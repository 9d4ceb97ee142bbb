#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Launches of 5e9 work-items in one, two and three dimensions, with an offset of 7e9 and without, over a driver that
# computes nothing: the parts, and under a daemon their chunks, are each work-item once. The bytes of launches whose
# numbers take more than 32 bits: compare.sh's programs/beyond_32_bits.c.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
large() { # NAME PIECES GROUP OPTIONS: some launch is in so many at least
  local name=$1 least=$2 group=$3
  shift 3
  FAKE_ITEM_NS=0.00002 FAKE_SLOWER=1 FAKE_LOG=large.log GPUSPARC_REAL=$programs/fake.so gpusparc run "$@" \
    "$programs/beyond_32_bits" 5000000000 "$group" >launches.txt 2>err.txt || { cat err.txt; fail "$name"; }
  python3 - "$least" ${FAKE_NAME:+near} <<'END' || fail "$name: not each work-item once"
import sys
launches = [tuple(map(int, line.split()[1:])) for line in open("launches.txt")]
done, boxes = [], []
for line in open("large.log"):
    w = line.split()
    if w[0] == "work":
        boxes.append([(int(a), int(n)) for a, n in zip(w[4::2], w[5::2])])
    elif w[0] == "mark" and boxes:
        done.append(boxes)
        boxes = []
assert len(launches) == len(done) == 4, (len(launches), len(done))
for launch, boxes in zip(launches, done):
    dims, items = len(boxes[0]), 1
    first, size = launch[:3][:dims], launch[3:][:dims]
    for n in size:
        items *= n
    assert items == 5000000000, items
    total = 0
    for box in boxes:
        n = 1
        for (a, length), begin, whole in zip(box, first, size):
            assert begin <= a and a + length <= begin + whole and length, (box, launch)
            n *= length
        total += n
    assert total == items, (total, launch)
    if sys.argv[2:] and len(boxes) > 1:
        assert all(a < 1 << 31 for box in boxes for a, _ in box), (boxes, launch)
    # None lies in another: sorted by the dimension's begin, slowest first, only neighbours in it can meet.
    for d in range(dims):
        boxes.sort(key=lambda b: b[d][0])
        for i, b in enumerate(boxes):
            for c in boxes[i + 1:]:
                if c[d][0] >= b[d][0] + b[d][1]:
                    break
                assert any(x[0] >= y[0] + y[1] or y[0] >= x[0] + x[1] for x, y in zip(b, c)), (b, c)
    print(len(boxes), "pieces of", *launch)
assert max(map(len, done)) >= int(sys.argv[1]), "not in so many"
END
}
large "two devices" 2 256 --no-daemon --mode multi
large "two devices, no local size that divides it" 2 100 --no-daemon --mode multi
# NVIDIA's driver takes no offset of 2^31 and more: such a launch is cut in another dimension, or stays whole.
FAKE_NAME="NVIDIA CUDA" large "where offsets are short" 2 256 --no-daemon --mode multi --stats=near.json
stats near.json split:plane split:space single:bytes:"a part would begin at a work-item of 2^31 or more, which this driver gets wrong"
own_daemon kernel_chunk=400 <<<'[task large]
period = 1000ms'
begin_daemon
large "in chunks" 20 256 --task large --mode multi
large "in chunks of one device" 20 256 --task large --gpus 1
FAKE_NAME="NVIDIA CUDA" large "in chunks where offsets are short" 20 256 --task large --mode multi
end_daemon
