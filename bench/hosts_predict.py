#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What several hosts of 8 GPUs would give: hosts_predict.py [--work TIMES] [SUMMARY.csv]

One iteration of a sample on the n = 8 h GPUs of h hosts, of which `off` = 8 (h - 1) aren't home's, takes

    T(h) = TIMES * kernels / n + (written + read) / TUNNEL                           client and home
         + ((written + read) * off / n + shared * off) / min(NETWORK, (h - 1) LINK)  home and other hosts
         + 2 * each * 8 / min(NETWORK, (h - 1) LINK)                                 each host and all others
         + ((written + read) * 7 / n + (shared + each) * 7) / INSIDE                 home and the GPUs beside it
         + launches * (TRIP + n * PART)

beside TIMES * kernels + transfers on one GPU of the client itself. The sample's kernels, launches, bytes and transfers on
an H200 are those of SUMMARY.csv (`gpusparc bench`; default: bench/results/table_v-h200x2). `shared` is what each further
GPU needs of what home has, beside its part; `each` what it needs in each launch of what all others have written. All
that the application writes goes to home, from there to other hosts by a link to each, and back; nothing overlaps. TIMES:
kernels with so much more to do for the same bytes.
"""
import argparse
import csv
import sys
from pathlib import Path

# bench/results/hosts-cpu2.md has where each of these terms is from.
NETWORK = 12.5e9 * 0.94  # bytes a second of 100 Gbit/s, less the headers
TUNNEL = 0.4e9           # of the client's ssh to home
LINK = 0.3e9             # of an ssh from host to host, both ways together
INSIDE = 1.3e9           # from one device to another of its server, at least: what a server takes without ssh
TRIP = 0.2e-3            # a launch and its end
PART = 0.4e-3            # each part of a launch, with new data
GPUS = 8
HOSTS = (2, 4, 8, 16, 32, 64)

# Shares of what is written: `shared` (matmul's B, a filter's border) and `each` (pagerank's ranks, floydwarshall's row).
SHARED = {
    "matmul": (0.5, 0), "binomial": (0, 0), "knn": (0, 0), "filter": (0.001, 0), "aes": (0, 0), "vectoradd": (0, 0),
    "dxtcompression": (0, 0), "quasirandom": (0, 0), "pagerank": (0, 0.1), "floydwarshall": (0, 0.0003),
}


def sample_of(path):
    found = {}
    for row in csv.DictReader(open(path)):
        name = row["sample"]
        if row["mode"] == "plain":
            found[name] = {"kernels": float(row["kernel_ms"]) / 1e3}
        elif row["mode"] == "multi1":
            found[name].update(launches=int(row["launches"]) / 20, write=int(row["bytes_app_write"]),
                               read=int(row["bytes_app_read"]), one=float(row["total_ms"]) / 1e3)
    return found


def predict(s, shares, hosts, times):
    n, off = hosts * GPUS, (hosts - 1) * GPUS
    moved, shared = s["write"] + s["read"], shares[0] * s["write"]
    each = shares[1] * s["write"] * s["launches"]
    links = min(NETWORK, (hosts - 1) * LINK)
    between = (moved * off / n + shared * off + 2 * each * GPUS) / links if links else 0
    inside = (moved * (GPUS - 1) / n + (shared + each) * (GPUS - 1)) / INSIDE
    return times * s["kernels"] / n + moved / min(NETWORK, TUNNEL) + between + inside + s["launches"] * (TRIP + n * PART)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--work", type=float, default=100, metavar="TIMES", help="default: 100")
    ask.add_argument("summary", nargs="?", default=Path(__file__).parent / "results/table_v-h200x2/summary.csv")
    given = ask.parse_args()
    samples = sample_of(given.summary)
    print("| sample | one GPU, ms | " + " | ".join(f"{h} hosts" for h in HOSTS) + " | most at |")
    print("| --- | ---: |" + " ---: |" * (len(HOSTS) + 1))
    for name, shares in SHARED.items():
        s = samples[name]
        alone = s["one"] + (given.work - 1) * s["kernels"]
        times = {h: alone / predict(s, shares, h, given.work) for h in range(1, 129)}
        most = max(times, key=times.get)
        print(f"| {name} | {alone * 1e3:.0f} | " + " | ".join(f"{times[h]:.1f}" for h in HOSTS) +
              f" | {'beyond 128' if most == 128 else most} |")


main()
