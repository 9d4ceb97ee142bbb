#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `auto` predicts for each kernel of the samples, beside what the kernel then takes: on one device, and split.

predicted.py [--gpus N | --devices SPEC] [--small | --like SUMMARY.csv] [--iterations N] [--stop-after S] [SAMPLE...]

Each sample runs three times with nothing learnt: in auto, whose last prediction counts (that of a kernel which it tried
is corrected by the tries: "tried"), in single and in multi. "One" and "parts" are the median launch of the second half,
parts from the first part's or its transfer's begin to the last part's end. The prediction of a split also has what its
outputs cost later, on their way home, and what the application writes next, on its way to the parts: so the iteration
counts, in which the sample writes, computes and reads. Its prediction is what single takes, less what each launch gains
by auto's prediction. Where auto has made no plan its figure of a split has no transfers: "not planned". Sizes: the
samples' own defaults, the small ones of the tests, or those of a `gpusparc bench --scale auto`. Milliseconds. The worst
predictions come first. Kernels that nothing was predicted for are counted at the end, with auto's reasons. Exit status
1: a sample failed, or isn't there.
"""
import argparse
import collections
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

options = argparse.ArgumentParser(usage=__doc__)
options.add_argument("--gpus")
options.add_argument("--devices")
options.add_argument("--small", action="store_true")
options.add_argument("--like")
options.add_argument("--iterations", default="12")
options.add_argument("--stop-after", type=float, default=1e9)
options.add_argument("samples", nargs="*")
args = options.parse_args()

gpusparc = shutil.which("gpusparc") or sys.exit("predicted: gpusparc is not on the PATH")
folder = Path(gpusparc).resolve().parent.parent / "lib/gpusparc/samples"
group = (["--gpus", args.gpus] if args.gpus else []) + (["--devices", args.devices] if args.devices else [])
scales = {row["sample"]: float(row["scale"]) for row in csv.DictReader(open(args.like))} if args.like else {}


def sizes(name, small, grow):
    """The sample's arguments of MANIFEST: the small ones, or the defaults grown as MANIFEST says."""
    if args.small:
        return small.split()
    result = []
    for entry in grow.split():
        option, default, root, multiple = entry.split(":")
        value = int(default) * scales.get(name, 1) ** (1 / int(root))
        value = 2 ** round(value).bit_length() // 2 if multiple == "p2" else max(int(value / int(multiple)), 1) * int(multiple)
        result += ["--" + option, str(int(value))]
    return result


def run(mode, output, sample):
    """Milliseconds of the median iteration; None: it failed."""
    command = [gpusparc, "run", "--forget", "--no-daemon", *group, "--mode", mode, *output, "--", str(folder / sample[0])]
    done = subprocess.run(command + sample[1] + ["--iterations", args.iterations, "--no-check", "--times"], timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode else json.loads(done.stdout.splitlines()[-1])["total_ms"]


def launches(trace):
    """For each kernel of a trace the milliseconds of the median launch of its second half."""
    events = [e for e in json.load(open(trace)) if e["ph"] == "X" and e["cat"] != "api" and "for" not in e["args"]]
    taken, under_way, brought = collections.defaultdict(list), None, []

    def end():
        nonlocal under_way
        if under_way:
            name, begin, last, _ = under_way
            taken[name].append((last - begin) / 1e3)
            under_way = None
    for e in sorted(events, key=lambda e: e["ts"]):
        part = e["args"].get("part")
        if e["cat"] != "kernel":
            if part is not None:
                brought.append(e["ts"])
            continue
        if under_way and (under_way[0] != e["name"] or part is None or part in under_way[3]):
            end()
        if not under_way:
            under_way = [e["name"], min([e["ts"], *brought]) if part is not None else e["ts"], 0, set()]
            brought = []
        under_way[2] = max(under_way[2], e["ts"] + e["dur"])
        under_way[3].add(part)
    end()
    return {name: statistics.median(times[len(times) // 2:]) for name, times in taken.items()}


def per_iteration(kernel, iterations):
    """Milliseconds that a kernel's splits should gain in an iteration."""
    return (kernel["choice"]["single_ns"] - kernel["choice"]["split_ns"]) / 1e6 * kernel["launches"] / iterations


samples, reasons, begun, bad = [], collections.Counter(), time.time(), False
unknown = set(args.samples)
with tempfile.TemporaryDirectory() as work:
    os.environ["GPUSPARC_SOCKET"] = work + "/none"
    for line in open(folder / "MANIFEST"):
        if line.startswith("#") or not line.strip():
            continue
        name, _, small, grow = (field.strip() for field in line.split("|"))
        unknown.discard(name)
        if args.samples and name not in args.samples or time.time() - begun > args.stop_after:
            continue
        sample = (name, sizes(name, small, grow))
        took = {}
        try:
            for mode, output in (("auto", [f"--stats={work}/auto.json"]), ("single", []), ("multi", []),
                                 ("single", ["--trace", work + "/one"]), ("multi", ["--trace", work + "/all"])):
                took[mode, bool(output)] = run(mode, output, sample)
        except subprocess.TimeoutExpired:
            took["a run of more than 120 s"] = None
        if None in took.values():
            print(f"predicted: {name} failed: {[way for way in took if took[way] is None]}", file=sys.stderr)
            bad = True
            continue
        one, split, rows, gain = launches(work + "/one"), launches(work + "/all"), [], 0
        for kernel in json.load(open(work + "/auto.json"))["kernels"]:
            if not kernel.get("choice"):
                reasons.update({r["reason"]: 1 for r in kernel.get("reasons", [])})
                continue
            if not kernel["choice"]["single_ns"] or not kernel["choice"]["split_ns"]:
                reasons["auto knew only one of both times"] += 1
                continue
            gain += per_iteration(kernel, int(args.iterations))
            rows.append((kernel["name"], kernel["choice"]["single_ns"] / 1e6, one.get(kernel["name"]),
                         kernel["choice"]["split_ns"] / 1e6, split.get(kernel["name"]),
                         "tried" if kernel["split"] else "" if kernel["choice"]["planned"] else "not planned"))
        if rows:
            single, multi = took["single", False], took["multi", False]
            samples.append((name, single, max(single - gain, 1e-3), multi, rows))
samples.sort(key=lambda s: -max(s[2] / s[3], s[3] / s[2]))
number = lambda ms: f"{ms:.3f}" if ms else "-"
print("| sample | kernel | one: predicted | taken | split: predicted | parts | | iteration: one | split, predicted | taken | "
      "predicted / taken |\n| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
for sample, single, predicted, multi, rows in samples:
    whole = f"{single:.3f} | {predicted:.3f} | {multi:.3f} | {predicted / multi:.2f}"
    for row in rows:
        print(f"| {sample} | {row[0]} | " + " | ".join(map(number, row[1:5])) + f" | {row[5]} | {whole} |")
        sample, whole = "", " | | | "
if samples:
    ratios = sorted(max(s[2] / s[3], s[3] / s[2]) for s in samples)
    alone = sorted(max(r[1] / r[2], r[2] / r[1]) for s in samples for r in s[4] if r[1] and r[2])
    print(f"\n{len(samples)} samples: a split iteration is predicted within {ratios[len(ratios) // 2]:.2f} times of what it "
          f"takes at the median, {ratios[len(ratios) * 9 // 10]:.2f} at nine of ten.\n{len(alone)} kernels on one device: "
          f"{alone[len(alone) // 2]:.2f}, {alone[len(alone) * 9 // 10]:.2f}.")
for reason, count in reasons.most_common():
    print(f"Nothing predicted for {count}: {reason}.")
if unknown:
    print("predicted: there is no sample " + ", ".join(sorted(unknown)), file=sys.stderr)
sys.exit(bad or bool(unknown))
