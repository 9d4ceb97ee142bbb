#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_stats.py STATS.json DEVICES FILE…: was each launch of the test kernels split, unless its file expects it whole, it
has fewer work-groups than devices, or the device can't run it?"""
import json
import re
import sys


def launches(path):
    now = None
    for line in open(path):
        words = line[3:].split() if line.startswith("//!") else []
        if words and words[0] == "kernel":
            if now:
                yield now
            sizes = {w: [int(n) for n in s.split()] for w, s in re.findall(r"(global|local) ([\d ]+)", line)}
            now = {"name": words[1], "local": [], "expect": [], **sizes}
        elif words and now is not None and words[0] == "expect":
            now["expect"] = words[1:]
    yield now


def main():
    devices, wrong, seen = int(sys.argv[2]), 0, 0
    stats = {k["name"]: k for k in json.load(open(sys.argv[1]))["kernels"]}
    for path in sys.argv[3:]:
        for launch in launches(path):
            kernel = stats.get(launch["name"])
            if kernel is None or kernel["launches"] != 1 or not launch["local"] or "maybe" in launch["expect"]:
                continue
            groups = max(g // l for g, l in zip(launch["global"], launch["local"]))
            should = "whole" not in launch["expect"] and groups >= devices
            seen += 1
            if bool(kernel["split"]) != should:
                print(f"{path}: {launch['name']} is {'not ' if should else ''}split: {kernel['reasons']}")
                wrong += 1
    print(f"{seen} launches, {wrong} wrong")
    sys.exit(wrong > 0 or seen == 0)


main()
