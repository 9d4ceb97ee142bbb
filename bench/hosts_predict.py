#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What several hosts of 8 GPUs would give: hosts_predict.py [--work TIMES] [SUMMARY.csv]

One iteration of a sample on the n = 8 h GPUs of h hosts takes

    T(h) = TIMES * kernels / n + (bytes + shared * (n - 1)) / min(NETWORK, h * TUNNEL) + launches * (TRIP + n * PART)

beside TIMES * kernels + transfers on one GPU of the client itself. The sample's kernels, launches, bytes and transfers on
an H200 are those of SUMMARY.csv (`gpusparc bench`; default: bench/results/table_v-h200x2); `shared` is what each further
GPU needs of what others have, too. All bytes go through the client, and nothing overlaps. TIMES: kernels with so much more
to do for the same bytes.
"""
import argparse
import csv
import sys
from pathlib import Path

# bench/results/hosts-cpu2.md has where each of these terms is from.
NETWORK = 12.5e9 * 0.94  # bytes a second of 100 Gbit/s, less the headers
TUNNEL = 0.4e9           # of one host's ssh
TRIP = 0.2e-3            # a launch and its end
PART = 0.4e-3            # each part of a launch, with new data
GPUS = 8
HOSTS = (2, 4, 8, 16, 32, 64)

# Of the bytes written to the device, what each further GPU needs, too: once (matmul's B, a filter's border), and in each
# launch, there and back (pagerank's ranks, floydwarshall's row).
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


def predict(s, shared, hosts, times):
    n = hosts * GPUS
    moved = s["write"] * (1 + (n - 1) * (shared[0] + 2 * shared[1] * s["launches"])) + s["read"]
    return times * s["kernels"] / n + moved / min(NETWORK, hosts * TUNNEL) + s["launches"] * (TRIP + n * PART)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--work", type=float, default=100, metavar="TIMES", help="default: 100")
    ask.add_argument("summary", nargs="?", default=Path(__file__).parent / "results/table_v-h200x2/summary.csv")
    given = ask.parse_args()
    samples = sample_of(given.summary)
    print("| sample | one GPU, ms | " + " | ".join(f"{h} hosts" for h in HOSTS) + " | most at |")
    print("| --- | ---: |" + " ---: |" * (len(HOSTS) + 1))
    for name, shared in SHARED.items():
        s = samples[name]
        alone = s["one"] + (given.work - 1) * s["kernels"]
        times = {h: alone / predict(s, shared, h, given.work) for h in range(1, 129)}
        most = max(times, key=times.get)
        print(f"| {name} | {alone * 1e3:.0f} | " + " | ".join(f"{times[h]:.1f}" for h in HOSTS) +
              f" | {'beyond 128' if most == 128 else most} |")


main()
