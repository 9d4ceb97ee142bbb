#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random test kernels: generate.py SEED COUNT FOLDER makes FOLDER/r<SEED + i>.cl.

Each program is free of races: a work-item writes only elements that no other one touches, a work-group its own element
of the groups' buffer. All arithmetic is on uint, so that nothing is undefined. The work-item functions stand wherever C
lets them: in helpers any number of calls deep, in macros, in functions that macros make, behind #if."""
import math
import os
import random
import sys

FUNCTIONS = ["get_group_id", "get_num_groups", "get_global_size", "get_global_offset", "get_local_size", "get_local_id",
             "get_global_id"]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.head, self.body, self.helpers, self.macros = [], [], [], []
        self.counter = 0

    def name(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def dimension(self, variables):
        choice = self.r.randrange(4)
        if choice < 2:
            return str(self.r.randrange(3))
        if choice == 2 and variables:
            return f"({self.r.choice(variables)}) % 3"
        return self.r.choice(["1 + 1", "(uint)0", "1u", "ONE", "ZERO"])

    def ask(self, variables):
        function, d = self.r.choice(FUNCTIONS), self.dimension(variables)
        form = self.r.randrange(5)
        if form == 0:
            return f"(uint)CALL({function}, {d})"
        if form == 1:
            return f"(uint)ASK({function[4:]}, {d})"
        if form == 2 and self.macros:
            return self.r.choice(self.macros)
        return f"(uint){function}({d})"

    def expression(self, variables, depth=0):
        kind = self.r.randrange(10 if depth < 3 else 4)
        if kind == 0 or (kind < 3 and not variables):
            return f"{self.r.randrange(1000)}u"
        if kind < 3:
            return self.r.choice(variables)
        if kind == 3:
            return self.ask(variables)
        a, b = (self.expression(variables, depth + 1) for _ in range(2))
        if kind == 4 and self.helpers:
            helper, n = self.r.choice(self.helpers)
            args = [self.expression(variables, depth + 2) for _ in range(n)]
            return f"{helper}({', '.join(args)})"
        if kind == 5:
            return f"({a} > {b} ? {self.expression(variables, depth + 1)} : {b})"
        if kind == 6:
            return f"({a} >> ({b} & 31u))"
        if kind == 7:
            return f"TWICE({a})"
        return f"({a} {self.r.choice(['+', '-', '*', '^', '&', '|'])} {b})"

    def statements(self, variables, n):
        out, known = [], list(variables)
        for _ in range(n):
            kind = self.r.randrange(4)
            if kind == 0 or not known:
                v = self.name("v")
                out.append(f"uint {v} = {self.expression(known)};")
                known.append(v)
            elif kind == 1:
                v, i = self.r.choice(known), self.name("i")
                out.append(f"for (uint {i} = 0; {i} < {self.r.randrange(1, 5)}; {i}++) {v} += {self.expression(known + [i])};")
            elif kind == 2:
                v = self.r.choice(known)
                out.append(f"if ({self.expression(known)} & 1u) {v} ^= {self.expression(known)}; else {v}++;")
            else:
                v = self.r.choice(known)
                out.append("#if " + self.r.choice(["1", "defined(FLAG)", "!defined(FLAG)", "LEVEL > 2"]))
                out.append(f"{v} += {self.expression(known)};")
                out.append("#else")
                out.append(f"{v} -= {self.expression(known)};")
                out.append("#endif")
        return out, known

    def helper(self):
        name, n = self.name("helper"), self.r.randrange(4)
        params = [self.name("p") for _ in range(n)]
        lines, known = self.statements(params, self.r.randrange(3))
        lines.append(f"return {self.expression(known)};")
        listed = ", ".join(f"uint {p}" for p in params) or self.r.choice(["void", "void", ""])
        form = self.r.randrange(6)
        if form == 0:  # a macro makes the function; no directives may stand in its body
            value = self.expression(params)
            self.body.append(f"#define MAKE_{name}(F) uint F({listed}) {{ return {value}; }}")
            self.body.append(f"MAKE_{name}({name})")
        elif form == 1:
            value = self.expression(params)
            self.body.append(f"#define PASTE_{name}(A, B) \\\n    static uint A##B({listed}) \\\n    {{ return {value}; }}")
            self.body.append(f"PASTE_{name}({name[:3]}, {name[3:]})")
        else:
            if form == 2:
                self.body.append(f"uint {name}({', '.join('uint' for _ in params) or 'void'});")
            start = self.r.choice(["uint", "static uint", "uint __attribute__((always_inline))", "inline static uint"])
            if form == 2:
                start = "uint"
            self.body.append(f"{start}\n{name}({listed})\n{{\n    " + "\n    ".join(lines) + "\n}")
        self.helpers.append((name, n))

    def macro(self):
        name = self.name("MACRO")
        self.body.append(f"#define {name} ({self.expression([], 2)})")
        self.macros.append(name)

    def geometry(self):
        dims = self.r.randrange(1, 4)
        local = [self.r.choice([1, 2, 3, 4, 5, 7]) for _ in range(dims)]
        groups = [self.r.choice([1, 2, 3, 4, 5, 6, 7, 9]) for _ in range(dims)]
        offset = [self.r.choice([0, 0, 1, 5, 32]) for _ in range(dims)]
        return dims, [a * b for a, b in zip(local, groups)], local, groups, offset

    def kernel(self):
        name = self.name("kernel")
        dims, size, local, groups, offset = self.geometry()
        total, n_groups, n_local = math.prod(size), math.prod(groups), math.prod(local)
        step = next(k for k in iter(lambda: self.r.randrange(1, total + 1), None) if math.gcd(k, total) == 1)
        sizes = [f"{what} {' '.join(map(str, v))}" for what, v in (("global", size), ("local", local), ("offset", offset))]
        self.head += [f"kernel {name} {' '.join(sizes)}", f"buffer uint {total} random 1000",
                      f"buffer uint {total} zero", f"buffer uint {n_groups} zero", f"value uint {self.r.randrange(99)}"]
        at, group, item = [], [], []
        for d in range(dims):
            below, gbelow, lbelow = math.prod(size[:d]), math.prod(groups[:d]), math.prod(local[:d])
            at.append(f"((uint)get_global_id({d}) - {offset[d]}u) * {below}u")
            group.append(f"(uint)get_group_id({d}) * {gbelow}u")
            item.append(f"(uint)get_local_id({d}) * {lbelow}u")
        lines = [f"const uint where = (({' + '.join(at)}) * {step}u) % {total}u;", f"uint at = {' + '.join(at)};", f"uint read = in[(at * {self.r.randrange(1, 99)}u + {self.r.randrange(99)}u) % {total}u];"]
        more, known = self.statements(["at", "read", "by"], self.r.randrange(1, 5))
        lines += more
        if self.r.randrange(2):
            lines += [f"__local uint tile[{n_local}];", f"uint item = {' + '.join(item)};",
                      f"tile[item] = {self.expression(known)};", "barrier(CLK_LOCAL_MEM_FENCE);",
                      f"uint sum = 0; for (uint k = 0; k < {n_local}u; k++) sum = sum * 3u + tile[k];",
                      f"if (item == 0) groups[{' + '.join(group)}] = sum ^ {self.ask([])};"]
            known.append("sum")
        value = self.expression(known)
        lines.append(self.r.choice([f"out[where] = {value};", f"put(out, where, {value});",
                                    f"__global uint *q = out + where; *q = {value};"]))
        qualifier = self.r.choice(["__kernel", "kernel", "KERNEL"])
        self.body.append(f"{qualifier} void {name}(__global const uint *in, __global uint *out, __global uint *groups, uint by)\n"
                         "{\n    " + "\n    ".join(lines) + "\n}")

    def text(self):
        self.head.append("options -DLEVEL=" + str(self.r.randrange(5)) + self.r.choice(["", " -DFLAG"]))
        self.body += ["#define ZERO 0", "#define ONE 1", "#define KERNEL __kernel", "#define CALL(f, d) f(d)",
                      "#define ASK(what, d) CALL(get_##what, d)", "#define TWICE(x) ((x) + (x))",
                      "void put(__global uint *p, uint i, uint v) { p[i] = v; }"]
        for _ in range(self.r.randrange(2, 9)):
            self.r.choice([self.helper, self.helper, self.macro])()
        for _ in range(self.r.randrange(1, 3)):
            self.kernel()
        return "".join(f"//! {h}\n" for h in self.head) + "\n".join(self.body) + "\n"


def main():
    seed, count, folder = int(sys.argv[1], 0), int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        with open(os.path.join(folder, f"r{seed + i}.cl"), "w") as f:
            f.write(Program(seed + i).text())


main()
