#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws several results of one probe, as `gpusparc probe order --json` or `probe sum --json` wrote them, in one picture:
# mode and number of different vectors over groups or warps; or, of sums, over the warps of a group. Or one result of the
# latency probe: cycles over warps, and over the work-items that meet in a bank.
# usage: probe_plot.sh OUTPUT.svg RESULT.json...
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
out=${1:?the picture to draw, then the results}
[[ $out == *.svg && $# -gt 1 ]] || { echo "probe_plot.sh: the picture to draw comes first and ends in .svg, then the results" >&2; exit 2; }
shift
python3 - "$out" "$@" <<'P' | gnuplot
import json, sys
results = [json.load(open(f)) for f in sys.argv[2:]]
print(f"set terminal svg size 1000,520 background 'white'\nset output '{sys.argv[1]}'")

def draw_latency(j):
    conflicts = {"local load, dependent": j["shared_load_conflicts"], "local store": j["shared_store_conflicts"]}
    for k, by_warps in enumerate(j["by_warps"].values()):
        points = [f"{w} {c['average']}" for w, c in by_warps.items() if c]
        print(f"$d{k} << END", *points, "END", sep="\n")
    for k, list_ in enumerate(conflicts.values()):
        print(f"$c{k} << END", *(f"{2 ** i} {c['average']}" for i, c in enumerate(list_) if c), "END", sep="\n")
    print(f"set multiplot layout 1,2 title \"{j['device']}: cycles per instruction\" noenhanced\nset grid")
    print("set key below font ',8' noenhanced\nset logscale y\nset ylabel 'cycles'\nset xlabel 'warps of a group'")
    print("plot " + ", ".join(f"$d{k} using 1:2 with linespoints pointsize 0.4 title '{t}'" for k, t in enumerate(j["by_warps"])))
    print("unset logscale y\nset yrange [0:*]\nset xlabel 'work-items on one bank'")
    print("plot " + ", ".join(f"$c{k} using 1:2 with linespoints title '{t}'" for k, t in enumerate(conflicts)))

if "by_warps" in results[0]:
    draw_latency(results[0])
    sys.exit()
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
