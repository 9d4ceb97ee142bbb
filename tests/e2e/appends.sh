#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# appends.sh [SEED [COUNT]]: random kernels that append to lists, and such as nearly do (appends.py). Those that are taken
# for appending leave what the parts would one after the other, byte by byte.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
first=${1:-4203}
for ((seed = first; seed < first + ${2:-1}; seed++)); do
  echo "seed $seed"
  python3 "$GS_SOURCE/tests/e2e/appends.py" "$seed" 60 >kernels.cl
  gpusparc explain --json kernels.cl >explain.json
  python3 - >found.txt <<'END'
import json
for k in json.load(open("explain.json"))["kernels"]:
    # Lists and counters of one buffer must lie apart, by the lists' limits, which are a few hundred elements.
    lists = [a for a in k["appends"] if a["list"] == "c"]
    begins = sorted([a["begin"] + (32 if a["begin_argument"] else 0), a["limited"]] for a in lists)
    begins += sorted([a["counter_offset"], True] for a in lists if a["counter_offset"] > 8000)
    begins.sort()
    apart = all(x[1] and y[0] - x[0] > 8000 or x[0] == 16000 for x, y in zip(begins, begins[1:]))
    if k["appends"] and apart:
        print(k["name"])
END
  [ "$(wc -l <found.txt)" -ge 6 ] || fail "seed $seed: only $(wc -l <found.txt) of 60 are found"
  gpusparc run --mode single --devices cpu:2 "$programs/appends" kernels.cl "$seed" apart >apart.txt
  for transfer in plain pinned; do
    GPUSPARC_TRANSFER=$transfer gpusparc run --mode multi --devices cpu:2 --stats="$PWD/stats.json" "$programs/appends" kernels.cl "$seed" together >together.txt
    while read -r name; do
      stats stats.json "split:$name"
      [ "$(grep -c "^$name " apart.txt)" = 6 ] || fail "seed $seed: $name was not run"
      cmp -s <(grep "^$name " apart.txt) <(grep "^$name " together.txt) || {
        diff <(grep "^$name " apart.txt) <(grep "^$name " together.txt) || true
        sed -n "/^__kernel void $name(/,/^}/p" kernels.cl
        fail "seed $seed: $name, $transfer"
      }
    done <found.txt
  done
  echo "$(wc -l <found.txt) of 60 append"
done
