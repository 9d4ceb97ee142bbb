#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All of the probes on one device, as in bench/results/probes-h200: JSON files and a picture in a folder.
# usage: [ELEMENTS=N] probes.sh FOLDER [RUNS [DEVICE]]     N floats in the long sums (2^24). Wants `gpusparc` on the PATH; DEVICE as for `gpusparc probe --device`
set -euo pipefail
out=$1 runs=${2:-10000} device=${3:-0}
here=$(dirname "$0")
mkdir -p "$out"
probe() { gpusparc probe "$@" --device "$device"; }
for of in group warp; do
  for by in clock atomic; do
    probe order --of $of --by $by --runs "$runs" --json >"$out/order-$of-$by.json"
  done
done
bash "$here/probe_plot.sh" "$out/order.svg" "$out"/order-*.json
{
  echo '['
  for condition in 1e8 1e11; do
    probe sum --condition $condition --runs 1000 --json
    echo ,
  done
  probe sum --elements ${ELEMENTS:-16777216} --runs 50 --json
  echo ,
  probe sum --elements ${ELEMENTS:-16777216} --runs 10 --permute --methods warp,tree,exact --json
  echo ']'
} >"$out/sum.json"
probe latency --warps 1..32 --runs 30 --profile "$out/profile.json" --json >"$out/latency.json"
python3 - "$out/sum.json" <<'P'
import json, sys
for j in json.load(open(sys.argv[1])):
    m = {x["method"]: x["ns_per_element"] for x in j["methods"]}
    print(f"{j['elements']} floats: exact over tree {m['exact'] / m['tree']:.2f}")
P
