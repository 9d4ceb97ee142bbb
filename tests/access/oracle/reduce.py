#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a random kernel that differs smaller: reduce.py SEED [--build FOLDER]. Works in the current folder.

Statements go, and what stands around a block, as long as some launch still differs in the same way."""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from campaign import clang_command, oracle_command, variant  # noqa: E402
from kernels import PRELUDE, Kernel  # noqa: E402


class Reduction:
    def __init__(self, seed, build):
        self.build = os.path.abspath(build)
        self.std, self.flags = variant(seed)
        k = Kernel(seed, self.std)
        head, self.tail = k.text.split("\n}\n#ifdef GS_HOST")
        self.tail = "\n}\n#ifdef GS_HOST" + self.tail
        start = head.index("__kernel")
        self.helpers = [h for h in head[:start].split("\n") if h]
        lines = head[start:].split("\n")
        self.signature, self.lines = "\n".join(lines[:2]), lines[2:]
        self.base = os.path.abspath(f"reduced_{seed}")
        first, *launches = k.launches.split("\nL ")
        self.plan, self.launches = first, launches
        self.kind, self.line = None, ""

    def text(self, lines, helpers):
        return "\n".join(helpers) + "\n" + self.signature + "\n" + "\n".join(lines) + self.tail

    def attempt(self, lines, helpers, launches):
        """The difference's line, or "" where there is none of the kind."""
        with open(self.base + ".cl", "w", encoding="ascii") as f:
            f.write(PRELUDE + self.text(lines, helpers))
        with open(self.base + ".plan", "w", encoding="ascii") as f:
            f.write("\nL ".join([self.plan, *launches]) + "\n")
        clang, oracle = clang_command(self.base, self.std, self.flags), oracle_command(self.build, self.base, self.std, self.flags)
        if subprocess.run(clang, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            return ""
        done = subprocess.run(oracle, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": "/dev/null"})
        for line in done.stdout.splitlines():
            kind = line.rsplit(": ", 1)[-1]
            if line.startswith("different:") and self.kind in (None, kind):
                self.kind = kind
                return line
        return ""

    def keep(self, lines, helpers, launches):
        line = self.attempt(lines, helpers, launches)
        if line:
            self.lines, self.helpers, self.launches, self.line = lines, helpers, launches, line
        return bool(line)

    def end_of(self, i):
        """Behind the statement that begins at line i."""
        depth, j = 0, i
        while j < len(self.lines):
            s = self.lines[j].strip()
            depth += s.count("{") - s.count("}")
            j += 1
            header = s.startswith(("if", "for", "while", "do", "else", "UNLESS", "switch")) and not s.endswith((";", "}", "{"))
            if depth <= 0 and not header:
                return j
        return j

    def smaller(self):
        i = 0
        changed = False
        while i < len(self.lines):
            j = self.end_of(i)
            if self.keep(self.lines[:i] + self.lines[j:], self.helpers, self.launches):
                changed = True
                continue
            inside = self.lines[i + 2:j - 1]
            if j - i > 3 and self.lines[i + 1].strip() == "{" and self.lines[j - 1].strip().startswith("}") and \
                    self.keep(self.lines[:i] + inside + self.lines[j:], self.helpers, self.launches):
                changed = True
                continue
            i += 1
        return changed

    def run(self):
        if not self.keep(self.lines, self.helpers, self.launches):
            return False
        for launch in self.launches:
            if self.keep(self.lines, self.helpers, [launch]):
                break
        while self.smaller():
            pass
        for h in list(self.helpers):
            self.keep(self.lines, [x for x in self.helpers if x != h], self.launches)
        return True


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("seed", type=int)
    p.add_argument("--build", default=os.environ.get("GS_BUILD", "build"))
    o = p.parse_args()
    r = Reduction(o.seed, o.build)
    if not r.run():
        print(f"seed {o.seed} doesn't differ")
        return 1
    print(r.line + r.text(r.lines, r.helpers).split("\n}\n#ifdef GS_HOST")[0] + "\n}\n")
    for end in ("cl", "plan", "so"):
        os.unlink(f"{r.base}.{end}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
