#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""atomic_results.py SEED COUNT: random kernels in which the result of one atomic goes through variables, arrays, structs, unions,
pointers and helpers, or gets lost on the way. Where it reaches an output, a condition or an index, as this script follows it
while it writes the kernel, `gpusparc explain` must refuse the kernel. Says how many of the others it lets be split."""
import json
import random
import subprocess
import sys

seed, count = int(sys.argv[1]), int(sys.argv[2])
BATCH = 50

HELPERS = """
int pass_on(int x) { int y = x; return y; }
int drop(int x) { return 3; }
int first_of(int a, int b) { int t = b; t = a; return t; }
int either(int a, int b) { return b & 1 ? a : 7; }
void put(int *p, int x) { *p = x; }
int get(const int *p) { return *p; }
int take(__global int *n) { return atomic_inc(n); }
int take_kept(__global int *n) { int old; old = atomic_add(n, 2); return old; }
int take_none(__global int *n) { int old = atomic_sub(n, 2); return 5; }
void bump(__global int *n) { (void)atomic_inc(n); }
struct pair { int a, b; };
int sum_of(struct pair s) { return s.a + s.b; }
union bits { int i; uint u; };
"""

ATOMICS = [("atomic_inc(n)", True), ("atomic_add(n, 3)", True), ("take(n)", True), ("take_kept(n)", True),
           ("take_none(n)", False), ("(atomic_inc(n), 4)", False), ("(bump(n), 9)", False)]


class Kernel:
    def __init__(self, rng, name):
        self.rng, self.name, self.used = rng, name, False
        # What holds numbers, and whether any that it holds may come from the atomic.
        self.names = [f"v{i}" for i in range(5)] + ["a[0]", "a[1]", "s.a", "s.b", "w.x", "w.y", "u.i", "*p"]
        self.taint = {n: False for n in self.names}
        self.lines, self.atomic = [], rng.randrange(12)

    def read(self, n):
        if n in ("*p", "v0"):
            return self.taint["v0"]
        return self.taint[n]

    def write(self, n, taint, joined=False):
        n = "v0" if n == "*p" else n
        self.taint[n] = taint or (joined and self.taint[n])

    def expression(self, depth=0):
        r = self.rng.random()
        if depth > 2 or r < 0.3:
            n = self.rng.choice(self.names)
            if self.rng.random() < 0.5 and not self.read(n):  # often what matters
                n = self.rng.choice([t for t in self.names if self.read(t)] or [n])
            return n, self.read(n)
        if r < 0.4:
            return str(self.rng.randrange(100)), False
        e, t = self.expression(depth + 1)
        f, u = self.expression(depth + 1)
        form = self.rng.randrange(11)
        if form == 0:
            return f"({e} + {f})", t or u
        if form == 1:
            return f"pass_on({e})", t
        if form == 2:
            return f"drop({e})", False
        if form == 3:
            return f"first_of({e}, {f})", t
        if form == 4:
            return f"min({e}, {f})", t or u
        if form == 5:
            return f"as_int((uint)({e}))", t
        if form == 6:
            return f"({e}, {f})", u
        if form == 7:
            return f"(~{e} ^ -{f})", t or u
        if form == 8:
            return "get(&v1)", self.read("v1")
        if form == 9:
            return "sum_of(s)", self.read("s.a") or self.read("s.b")
        return f"(int)(float)({e})", t

    def statement(self, indent, conditional):
        r = self.rng.randrange(14)
        e, t = self.expression()
        to = self.rng.choice(self.names)
        if r < 5:
            self.lines.append(f"{indent}{to} = {e};")
            self.write(to, t, conditional)
        elif r < 7:
            op = self.rng.choice(["+=", "^=", "-="])
            self.lines.append(f"{indent}{to} {op} {e};")
            self.write(to, t or self.read(to))
        elif r == 7:
            self.lines.append(f"{indent}put(&v2, {e});")
            self.write("v2", t, conditional)
        elif r == 8:
            f = self.rng.choice(self.names)
            value = t
            self.lines.append(f"{indent}{to} = {f} = {e};")
            self.write(f, value, conditional)
            self.write(to, value, conditional)
        elif r == 9:
            self.lines.append(f"{indent}{to}++;")
        elif r == 10:
            self.lines.append(f"{indent}q = s; q.a = {e}; {to} = q.b;")
            self.write(to, self.read("s.b"), conditional)
        elif r == 11 and not conditional:
            self.lines.append(f"{indent}if (get_global_id(0) > 3) {{")
            for _ in range(self.rng.randrange(3)):
                self.statement(indent + "    ", True)
            self.lines.append(f"{indent}}}")
        elif r == 12 and not conditional:
            # What comes round: one assignment back.
            back = self.rng.choice(self.names)
            self.lines.append(f"{indent}for (int i = 0; i < 3; i++) {{")
            self.lines.append(f"{indent}    {to} += {back};")
            self.lines.append(f"{indent}    {back} = {e};")
            self.lines.append(f"{indent}}}")
            for _ in range(2):
                self.write(to, self.read(to) or self.read(back))
                self.write(back, t or self.read(back) or self.read(to))

    def sink(self):
        e, t = self.expression()
        self.used |= t
        form = self.rng.randrange(4)
        if form == 0:
            self.lines.append(f"    out[get_global_id(0)] = {e};")
        elif form == 1:
            self.lines.append(f"    out[{e} & 15] = 1;")
        elif form == 2:
            self.lines.append(f"    if ({e} > 2)\n        out[get_global_id(0)] = 2;")
        else:
            self.lines.append(f"    for (int i = 0; i < ({e} & 3); i++)\n        out[get_global_id(0)] = i;")

    def text(self):
        n = self.rng.randrange(4, 16)
        for i in range(n):
            if i == min(self.atomic, n - 1):
                call, t = self.rng.choice(ATOMICS)
                to = self.rng.choice(self.names)
                self.lines.append(f"    {to} = {call};")
                self.write(to, t)
            elif self.rng.random() < 0.12:
                self.sink()
            else:
                self.statement("    ", False)
        if self.rng.random() < 0.5:
            self.sink()
        return (f"__kernel void {self.name}(__global int *n, __global int *out)\n{{\n"
                "    int v0 = 1, v1 = 2, v2 = 3, v3 = 4, v4 = 5, a[2] = {1, 2}, *p = &v0;\n"
                "    struct pair s = {1, 2}, q;\n    int2 w = (int2)(1, 2);\n    union bits u = {1};\n"
                + "\n".join(self.lines) + "\n}\n")


def main():
    rng, wrong, used, split, kept = random.Random(seed), 0, 0, 0, 0
    for first in range(0, count, BATCH):
        kernels = [Kernel(rng, f"k{i}") for i in range(first, min(first + BATCH, count))]
        with open("results.cl", "w") as f:
            f.write(HELPERS + "\n".join(k.text() for k in kernels))
        run = subprocess.run(["gpusparc", "explain", "--json", "results.cl"], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"seed {seed}, kernels from {first}: {run.stdout}{run.stderr}")
        verdicts = {k["name"]: k["refusal"] for k in json.loads(run.stdout)["kernels"]}
        for k in kernels:
            refused = verdicts[k.name] is not None
            used += k.used
            split += not refused
            kept += not k.used
            if k.used and not refused:
                wrong += 1
                print(f"seed {seed}: the result is used, and nobody says so:\n" + "\n".join(k.lines) + "\n")
    print(f"seed {seed}: {count} kernels, {used} use the result, {wrong} of them aren't refused; of the {kept} others {split} "
          "are split")
    sys.exit(wrong > 0 or split == 0)


main()
