#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The picture of pooled memory is drawn of the numbers that are kept, and docs/memory.md has the same ones.
set -euo pipefail
"$GS_BUILD/lib/gpusparc/bench/bench_draw" pooled.svg "$GS_SOURCE/bench/results/pooled-h200x2/sizes.csv"
cmp pooled.svg "$GS_SOURCE/docs/pictures/pooled.svg"
python3 - "$GS_SOURCE" <<'END'
import csv, os, sys
os.chdir(sys.argv[1])
table = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in open("docs/memory.md") if line.startswith("| ")]
row = {cells[0]: cells[1:] for cells in table}
kept = list(csv.DictReader(open("bench/results/pooled-h200x2/sizes.csv")))
for mode, name in ("plain on one", "plain, ms"), ("pooled on two", "pooled on two, ms"):
    points = [(p["cards"], p["ms"]) for p in kept if p["mode"] == mode]
    shown = list(zip(row["bytes, of one card"], row[name]))
    if not points or points != shown:
        sys.exit(f"{name}: kept {points}, shown {shown}")
END
