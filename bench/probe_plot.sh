#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws several results of one probe, as `gpusparc probe order --json` or `probe sum --json` wrote them, in one picture:
# mode and number of different vectors over groups or warps; or, of sums, over the warps of a group.
# usage: probe_plot.sh OUTPUT.svg RESULT.json...
set -euo pipefail
out=$1
shift
python3 - "$out" "$@" <<'P' | gnuplot
import json, sys
results = [json.load(open(f)) for f in sys.argv[2:]]
curves = {}  # title: [(x, mode, cardinality)]
for j in results:
    if j.get("probe", "order") == "order":
        title = f"{j['of']}s by {j['by']}" + (", barrier first" if j["sync"] else "") + (", anew" if j["init"] else "")
        curves[title] = [(p["n"], p["mode"], p["cardinality"]) for p in j["points"] if p["vectors"]]
    else:
        for m in j["methods"]:
            curves.setdefault(m["method"], []).append((j["groups"] * j["local"] // 32, m["mode"], m["distinct"]))
sums = results[0].get("probe") == "sum"
things = "results" if sums else "vectors"
what = "sums" if sums else "orders"
print(f"set terminal svg size 1000,460 background 'white'\nset output '{sys.argv[1]}'")
for k, points in enumerate(curves.values()):
    print(f"$d{k} << END")
    for x, mode, distinct in sorted(points):
        print(x, 100 * mode, distinct)
    print("END")
print(f"set multiplot layout 1,2 title \"{results[0]['device']}: {what}\" noenhanced")
print(f"set xlabel '{'warps' if sums else 'groups, or warps of a group'}'\nset grid\nset key below")
print("set ylabel 'mode, percent'\nset yrange [0:105]")
if sums:
    print("set logscale x 2")
print("plot " + ", ".join(f"$d{k} using 1:2 with linespoints title '{t}'" for k, t in enumerate(curves)))
print(f"set ylabel 'different {things}'\nset yrange [0.9:*]\nset logscale y")
print("plot " + ", ".join(f"$d{k} using 1:3 with linespoints title '{t}'" for k, t in enumerate(curves)))
P
