#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws the order probe's results, as `gpusparc probe order --json` wrote them, in one picture: mode and number of
# different vectors over groups or warps. usage: probe_plot.sh OUTPUT.svg RESULT.json...
set -euo pipefail
out=$1
shift
python3 - "$out" "$@" <<'P' | gnuplot
import json, sys
results = [json.load(open(f)) for f in sys.argv[2:]]
title = lambda j: f"{j['of']}s by {j['by']}"
print(f"set terminal svg size 1000,420 background 'white'\nset output '{sys.argv[1]}'")
for k, j in enumerate(results):
    print(f"$d{k} << END")
    for p in j["points"]:
        print(p["n"], 100 * p["mode"], p["cardinality"])
    print("END")
print(f"set multiplot layout 1,2 title '{results[0]['device']}, {results[0]['points'][0]['vectors']} launches and more'")
print("set xlabel 'groups, or warps of a group'\nset grid\nset key below\nset ylabel 'mode, percent'\nset yrange [0:105]")
print("plot " + ", ".join(f"$d{k} using 1:2 with linespoints title '{title(j)}'" for k, j in enumerate(results)))
print("set ylabel 'different vectors'\nset yrange [0.9:*]\nset logscale y")
print("plot " + ", ".join(f"$d{k} using 1:3 with linespoints title '{title(j)}'" for k, j in enumerate(results)))
P
