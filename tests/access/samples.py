#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""samples.py SOURCE SAMPLES [--accept]: see samples.sh"""
import difflib
import json
import os
import pathlib
import subprocess
import sys

BEGIN, END = "<!-- tests/access/samples.sh -->\n", "<!-- end -->\n"


def table(samples):
    """One row per sample: along which dimensions its kernels are split, and how the parts' writes come together."""
    rows = "| sample | kernels: split along dimension | writes |\n"
    rows += "| --- | --- | --- |\n"
    env = dict(os.environ, GPUSPARC_TRANSFER="plain")
    for line in (samples / "MANIFEST").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, _, arguments, _ = [w.strip() for w in line.split("|")]
        command = ["gpusparc", "run", "--mode", "multi", "--gpus", "2", "--stats=stats.json", "--",
                   str(samples / name), *arguments.split(), "--iterations", "1"]
        run = subprocess.run(command, capture_output=True, text=True, env=env)
        if run.returncode != 0:
            sys.exit(f"{name}: {run.stdout}{run.stderr}")
        stats = json.load(open("stats.json"))
        kernels = ", ".join(f"{k['name']}: {k['dim']}" if k["split"] else f"{k['name']}: one work-group"
                            for k in sorted(stats["kernels"], key=lambda k: k["name"]))
        moved = stats["bytes"]
        how = "compared" if moved["merge"]["bytes"] else "reduced" if moved["reduce"]["bytes"] else "owned"
        rows += f"| {name} | {kernels} | {how} |\n"
    return rows


def main():
    source, samples, accept = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "--accept" in sys.argv
    page = source / "docs/access.md"
    text = page.read_text()
    head, rest = text.split(BEGIN)
    rows, tail = rest.split(END)
    found = table(samples)
    if accept:
        page.write_text(head + BEGIN + found + END + tail)
        return 0
    ok = rows == found
    sys.stdout.writelines(difflib.unified_diff(rows.splitlines(True), found.splitlines(True), "docs/access.md", "found"))
    # Those that compare are the irregular ones that the page names, each with its reason.
    compared = {r.split("|")[1].strip() for r in found.splitlines()[2:] if r.split("|")[3].strip() == "compared"}
    named = {r[2:].split(":")[0] for r in tail.splitlines() if r.startswith("- ")}
    if compared != named:
        print(f"docs/access.md gives reasons for {sorted(named)}, compared are {sorted(compared)}")
        ok = False
    return 0 if ok else 1


sys.exit(main())
