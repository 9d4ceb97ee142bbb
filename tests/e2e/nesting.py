#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nesting.py TRACE...: on each track of a trace in Chrome's format any two spans ("X") lie apart, or one within the other; viewers draw
what overlaps otherwise as if it were something else. Each track has a name. Exits 1 with a sentence for what isn't so."""
import json
import sys



def check(path):
    tracks, names = {}, set()
    whole = json.load(open(path))
    for e in whole["traceEvents"] if isinstance(whole, dict) else whole:
        if e["ph"] == "X":
            begin = round(e["ts"] * 1000)  # nanoseconds
            tracks.setdefault((e["pid"], e["tid"]), []).append((begin, begin + round(e["dur"] * 1000), e))
        elif e["ph"] == "M" and e["name"] == "thread_name":
            names.add((e["pid"], e["tid"]))
    for track, spans in tracks.items():
        if track not in names:
            sys.exit(f"{path}: track {track} has no name")
        open_spans = []
        for begin, end, e in sorted(spans, key=lambda s: (s[0], -s[1])):
            while open_spans and open_spans[-1][1] <= begin:
                open_spans.pop()
            if open_spans and end > open_spans[-1][1]:
                sys.exit(f"{path}: on track {track}\n{e}\noverlaps\n{open_spans[-1][2]}")
            open_spans.append((begin, end, e))
    print(f"{path}: {sum(map(len, tracks.values()))} spans on {len(tracks)} tracks")


if __name__ == "__main__":
    for trace in sys.argv[1:]:
        check(trace)
