#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# appends.sh [SEED [COUNT]]: random kernels that append to lists, and such as nearly do (appends.py). Those that are taken
# for appending leave what the parts would one after the other, byte by byte.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
first=${1:-$RANDOM}
for ((seed = first; seed < first + ${2:-1}; seed++)); do
  echo "seed $seed"
  python3 "$GS_SOURCE/tests/e2e/appends.py" "$seed" 40 >kernels.cl
  gpusparc explain --json kernels.cl >explain.json
  python3 - >found.txt <<'END'
import json
for k in json.load(open("explain.json"))["kernels"]:
    if k["appends"]:
        print(k["name"])
END
  [ "$(wc -l <found.txt)" -ge 4 ] || fail "seed $seed: only $(wc -l <found.txt) of 40 are found"
  gpusparc run --mode single --devices cpu:2 "$programs/appends" kernels.cl "$seed" apart >apart.txt
  for transfer in plain pinned; do
    GPUSPARC_TRANSFER=$transfer gpusparc run --mode multi --devices cpu:2 --stats="$PWD/stats.json" "$programs/appends" kernels.cl "$seed" together >together.txt
    while read -r name; do
      stats stats.json "split:$name"
      [ "$(grep -c "^$name " apart.txt)" = 5 ] || fail "seed $seed: $name was not run"
      cmp -s <(grep "^$name " apart.txt) <(grep "^$name " together.txt) || {
        diff <(grep "^$name " apart.txt) <(grep "^$name " together.txt) || true
        sed -n "/^__kernel void $name(/,/^}/p" kernels.cl
        fail "seed $seed: $name, $transfer"
      }
    done <found.txt
  done
  echo "$(wc -l <found.txt) of 40 append"
done
