#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random kernels, run on the host, against what the translator says of them: campaign.py COUNT [SEED].

Kernels come in batches of 200 seeds, which clang compiles at once. Each difference is printed with
the kernel and a command that runs it alone; the end status is 1 if there was one."""
import argparse
import os
import re
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernels import PRELUDE, Kernel  # noqa: E402

BATCH = 200
FLAGS = ("-x cl -Xclang -finclude-default-header -w -fPIC -fwrapv -fsanitize=kernel-address -nostdlib -shared "
         "-mllvm -asan-instrumentation-with-call-threshold=0 -mllvm -asan-stack=0 -mllvm -asan-globals=0 "
         "-mllvm -asan-opt-same-temp=0 -mllvm -asan-kernel-mem-intrinsic-prefix=1").split()
# How a batch is compiled: the language, and what compilers may do in one way or another. The seed decides.
PLAIN = ["-O0", "-Xclang", "-fpreserve-vec3-type"]
MEMBERS = ["-DGS_HOST_MEMBERS"]  # a struct is assigned member by member, and padding left alone
VARIANTS = [("CL1.2", PLAIN + MEMBERS), ("CL3.0", PLAIN + MEMBERS), ("CL1.2", ["-O0"]), ("CL1.2", PLAIN),
            ("CL1.2", ["-O1", "-Xclang", "-fpreserve-vec3-type"] + MEMBERS), ("CL1.2", PLAIN + MEMBERS), ("CL3.0", PLAIN + MEMBERS),
            ("CL1.2", PLAIN + MEMBERS)]


def variant(seed):
    return VARIANTS[seed // BATCH % len(VARIANTS)]


def clang_command(base, std, flags):
    return ["clang-19", *FLAGS, *flags, f"-cl-std={std}", "-Xclang", "-fdeclare-opencl-builtins", "-DGS_HOST", f"{base}.cl", "-o",
            f"{base}.so"]


def oracle_command(build, base, std, flags):
    narrowed = ["-n"] if "-O1" in flags else []
    return [f"{build}/tests/oracle", *narrowed, "-o", f"-cl-std={std}", f"{build}/lib/gpusparc/gpusparc-translate", f"{base}.cl",
            f"{base}.plan", f"{base}.so", f"{build}/tests/oracle_builtins_{std}.so"]


class Batch:
    def __init__(self, options, first, count):
        self.options, self.first, self.count = options, first, count
        self.base = os.path.abspath(f"{options.folder}/kernels_{first}")
        self.std, self.flags = variant(first)
        self.counts, self.differences, self.failure = {}, [], ""

    def write(self):
        kernels = [Kernel(seed, self.std) for seed in range(self.first, self.first + self.count)]
        with open(self.base + ".cl", "w", encoding="ascii") as f:
            f.write(PRELUDE + "".join(k.text for k in kernels))
        with open(self.base + ".plan", "w", encoding="ascii") as f:
            f.write("\n".join(k.launches for k in kernels) + "\n")
        return self

    def call(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": "/dev/null"})
        if done.returncode not in (0, 1) or (done.returncode == 1 and "different" not in done.stdout):
            self.failure = f"kernels {self.first}..{self.first + self.count - 1}: {' '.join(command)}\n" \
                           f"ended with {done.returncode}\n{done.stderr[-3000:]}"
        return done.stdout

    def run(self):
        o = self.options
        self.call(clang_command(self.base, self.std, self.flags))
        if self.failure:
            return self
        command = oracle_command(o.build, self.base, self.std, self.flags)
        out = self.call(command[:1] + ["-v"] * o.verbose + command[1:])
        for line in out.splitlines():
            if line.startswith("different:"):
                self.differences.append((int(line.split()[2].rstrip(",")), line))
            elif line.startswith("counts "):
                words = line.split()[1:]
                self.counts = dict(zip(words[::2], map(int, words[1::2])))
            else:
                print(line)
        if not o.keep:
            for end in ("cl", "plan", "so"):
                os.unlink(f"{self.base}.{end}")
        return self


def batches(seed, count):
    """(first, count): none crosses a multiple of BATCH, since these are compiled alike."""
    end = seed + count
    while seed < end:
        n = min(end - seed, BATCH - seed % BATCH)
        yield seed, n
        seed += n


def percent(counts, what, of):
    return f"{100 * counts.get(what, 0) / max(counts.get(of, 0), 1):.1f} %"


def report(counts, seconds, cpu):
    print(f"{counts.get('kernels', 0)} kernels, {counts.get('launches', 0)} launches, {counts.get('parts', 0)} parts, "
          f"{counts.get('different', 0)} kernels differ")
    print(f"checked {percent(counts, 'checked', 'kernels')} of the kernels (never split {percent(counts, 'refused', 'kernels')}); of these "
          f"surely overwrite {percent(counts, 'sure', 'checked')}, reads known {percent(counts, 'finite', 'checked')}, "
          f"writes known {percent(counts, 'known', 'checked')}")
    print(f"bytes written {counts.get('written_bytes', 0)}, of them sure {percent(counts, 'sure_bytes', 'written_bytes')}; launches out of "
          f"bounds {percent(counts, 'out_of_bounds', 'launches')}, too long {percent(counts, 'too_long', 'launches')}, "
          f"trapped {percent(counts, 'trapped', 'launches')}")
    print(f"{seconds:.1f} s, {1000 * cpu / max(counts.get('kernels', 0), 1):.2f} ms of CPU per kernel")


def cpu_seconds():
    return sum(u.ru_utime + u.ru_stime for u in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("count", type=int)
    p.add_argument("seed", type=int, nargs="?", default=1)
    p.add_argument("--build", default=os.environ.get("GS_BUILD", "build"), help="the build folder")
    p.add_argument("--folder", default=".", help="where to work")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--until", type=int, default=20, help="end once so many kernels differ")
    p.add_argument("--known", metavar="REGEX", help="count, but don't show, kernels that differ and whose text matches")
    p.add_argument("--keep", action="store_true", help="leave the batches' files")
    p.add_argument("--verbose", action="store_true")
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    print(f"seed {o.seed}, {o.count} kernels", flush=True)
    began, counts, differences, failures, known = time.time(), {}, [], 0, 0
    with ThreadPoolExecutor(o.jobs) as pool:
        waiting = []
        todo = batches(o.seed, o.count)
        while True:
            while len(waiting) < o.jobs + 1 and len(differences) < o.until and failures < 5:
                b = next(todo, None)
                if not b:
                    break
                waiting.append(pool.submit(Batch(o, *b).write().run))
            if not waiting:
                break
            b = waiting.pop(0).result()
            for name, v in b.counts.items():
                counts[name] = counts.get(name, 0) + v
            if b.failure:
                failures += 1
                print(b.failure)
            for seed, line in b.differences:
                text = Kernel(seed, b.std).text.split("#ifdef GS_HOST")[0]
                if o.known and re.search(o.known, text):
                    known += 1
                    continue
                print(f"{line}\n{text.strip()}\nagain: scripts/soak.sh access 1 {seed}\n", flush=True)
                differences.append(seed)
    report(counts, time.time() - began, cpu_seconds())
    if known:
        print(f"{known} kernels that differ match {o.known}")
    if differences:
        print("seeds that differ:", *differences)
    return 1 if differences or failures else 0


if __name__ == "__main__":
    sys.exit(main())
