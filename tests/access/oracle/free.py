#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random kernels for others to launch: free.py SEED COUNT FOLDER BUILD. Of the oracle's kernels from SEED on, COUNT that
ended within their buffers, wrote something that no other work-group touches, and read none of it: so they give the same
whatever their outputs held, and wherever these lie. Each is a file of FOLDER, with its launch at the head as
tests/e2e/programs/random_host_programs.c reads it."""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from campaign import BATCH, clang_command, oracle_command, variant  # noqa: E402
from kernels import PRELUDE, Kernel  # noqa: E402
import subprocess  # noqa: E402


# Stores of these leave bytes that may be anything: padding.
PADDED = re.compile(r"__global (?:struct|union) (?:padded|tail|hole|nest|grids|three|mixed|where) |__global \w+(?:3|5|6|7|12) |vstorea_half3")


def launches(seed, count, folder, build):
    """(seed, text of the launch) of the kernels that are free."""
    std, flags = variant(seed)
    base = os.path.join(folder, "batch")
    kernels = [Kernel(s, std) for s in range(seed, seed + count)]
    with open(base + ".cl", "w", encoding="ascii") as f:
        f.write(PRELUDE + "".join(k.text for k in kernels))
    with open(base + ".plan", "w", encoding="ascii") as f:
        f.write("\n".join(k.launches for k in kernels) + "\n")
    subprocess.run(clang_command(base, std, flags), check=True, stderr=subprocess.DEVNULL)
    command = oracle_command(build, base, std, flags)
    out = subprocess.run(command[:1] + ["-f"] + command[1:], stdout=subprocess.PIPE, text=True, check=True).stdout
    for end in (".cl", ".plan", ".so"):
        os.unlink(base + end)
    found, head = {}, None
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["free"]:
            head = found.setdefault(int(words[1]), []) if int(words[1]) not in found else None
        elif line.startswith("//! ") and head is not None:
            head.append(line)
        elif not line.startswith("//! "):
            head = None
    return {s: lines for s, lines in found.items() if any(line.startswith("//! output") for line in lines)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("seed", type=int)
    p.add_argument("count", type=int)
    p.add_argument("folder")
    p.add_argument("build")
    o = p.parse_args()
    o.build, o.folder = os.path.abspath(o.build), os.path.abspath(o.folder)
    os.makedirs(o.folder, exist_ok=True)
    seed, written = o.seed // BATCH * BATCH, 0
    while written < o.count:
        std = variant(seed)[0]
        for s, lines in sorted(launches(seed, BATCH, o.folder, o.build).items()):
            if written == o.count:
                break
            text = Kernel(s, std).text.split("#ifdef GS_HOST")[0]
            if PADDED.search(text):
                continue
            # PoCL 6.0 has wait_group_events for 3.0 alone: with 1.2 the process ends, as the linker finds none.
            named = "CL3.0" if "wait_group_events" in text else std
            with open(os.path.join(o.folder, f"work{s}.cl"), "w", encoding="ascii") as f:
                f.write(f"//! options -cl-std={named}\n" + "\n".join(lines) + "\n" + PRELUDE + text)
            written += 1
        seed += BATCH


main()
