#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_trace.py TRACE [--stats STATS] [--kernel NAME DEVICE...] [--processes N] [--ended]: is it JSON, does each event lie inside its
process's life, do the bytes equal those of the statistics, did the kernel run on just those devices, are there so many processes, and
have all ended? Exits 1 with a sentence for what isn't so."""
import argparse
import json
import sys

import nesting

parser = argparse.ArgumentParser()
parser.add_argument("trace")
parser.add_argument("--stats")
parser.add_argument("--kernel", nargs="+")
parser.add_argument("--processes", type=int)
parser.add_argument("--ended", action="store_true")
asked = parser.parse_args()


def union(some):
    """The time in which at least one of the spans lay."""
    total, until = 0, 0
    for e in sorted(some, key=lambda e: e["ts"]):
        end = e["ts"] + e["dur"]
        total += max(0, end - max(e["ts"], until))
        until = max(until, end)
    return total


events = json.load(open(asked.trace))
nesting.check(asked.trace)


def hold(condition, sentence):
    if not condition:
        sys.exit(f"{asked.trace}: {sentence}")


def mark(name, which):
    """By process: exec keeps its number, and makes two of it."""
    at = {}
    for e in events:
        if e["ph"] == "i" and e["cat"] == "process" and e["name"] == name:
            at[e["pid"]] = which(at.get(e["pid"], e["ts"]), e["ts"])
    return at


starts, ends = mark("start", min), mark("end", max)
hold(asked.processes in (None, len(starts)), f"{len(starts)} processes")
hold(not asked.ended or starts.keys() == ends.keys(), "a process has no end")
spans = [e for e in events if e["ph"] == "X"]
for e in spans:
    args, pid = e.get("args", {}), e["pid"]
    hold(e["cat"] in "kernel upload download peer copy merge reduce api".split(), f"category {e['cat']}")
    hold(e["dur"] >= 0 and e["ts"] >= starts[pid], f"before the start: {e}")
    hold(pid not in ends or e["ts"] + e["dur"] <= ends[pid], f"after the end: {e}")
    if e["cat"] != "api":
        hold(args["asked"] <= e["ts"] + 0.001, f"begins before it was asked for: {e}")
        hold(("bytes" in args) != ("items" in args), f"bytes and items: {e}")
        hold("path" not in args or e["name"] == args["path"], f"name and path: {e}")
named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
hold({(e["pid"], e["tid"]) for e in spans} <= named, "a track has no name")

# A part of a launch begins after what was sent to its device for it, and the bytes were sent by who has them.
if asked.kernel:
    name, devices = asked.kernel[0], {int(d) for d in asked.kernel[1:]}
    ran = {e["args"]["device"] for e in spans if e["cat"] == "kernel" and e["name"] == name}
    hold(ran == devices, f"{name} ran on {sorted(ran)}")
    for d in devices:
        sent = [e for e in spans if e["cat"] == "upload" and e["args"]["device"] == d]
        runs = [e for e in spans if e["cat"] == "kernel" and e["name"] == name and e["args"]["device"] == d]
        if len(runs) == 1 and sent:
            hold(all(s["ts"] + s["dur"] <= runs[0]["ts"] + 0.001 for s in sent), "a kernel ran before its input was there")
if asked.stats:
    whole = json.load(open(asked.stats))
    stats = whole["bytes"]
    mine = [e for e in spans if e.get("args", {}).get("for") not in ("merge", "reduce", "verify")]
    own = [e for e in mine if e["name"] in ("direct", "staged", "map", "unmap")]
    merging = [e for e in spans if e.get("args", {}).get("for") in ("merge", "reduce")]
    for name, some in (("write", [e for e in own if e["cat"] == "upload"]), ("kernel", [e for e in mine if e["cat"] == "kernel"]),
                       ("merge", merging), ("read", [e for e in own if e["cat"] == "download"])):
        together = union(some)
        hold(abs(together - whole[f"{name}_ns"] / 1000) < 0.01 + 0.003 * len(some), f"{name}: {together} us, {name}_ns {whole[f'{name}_ns']}")
    for path in "copy", "pinned", "peer", "direct", "staged":
        together = union([e for e in spans if e["name"] == path and e["cat"] not in ("kernel", "api") and e.get("args", {}).get("for") != "verify"
                          and (e in mine or path not in ("direct", "staged"))])
        hold(abs(together - stats[path]["ns"] / 1000) < 0.01 + 0.003 * len(spans), f"{path}: {together} us, {stats[path]['ns']} ns")
    for cat, path in ("upload", "app_write"), ("download", "app_read"):
        total = sum(e["args"]["bytes"] for e in spans if e["cat"] == cat and e["name"] in ("direct", "staged") and "for" not in e["args"])
        hold(total == stats[path]["bytes"], f"{cat}s of {total} bytes, {path} {stats[path]['bytes']}")
