#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random kernels for the access analysis: generate.py SEED COUNT FOLDER makes FOLDER/a<SEED + i>.cl.

Each one is free of races and of undefined behaviour: its own element of `out` belongs to one work-item; `same` is only
ever written with one value; every index is in bounds, by a guard, a clamp, a mask or a remainder. What varies is how the
indices come about: variables and their reassignment, loops of many kinds, helpers, pointers, casts, conditionals."""
import os
import random
import sys

# A pointer's parameter may be written as an array, and be handed on, moved and dereferenced as a pointer is.
FETCHES = [
    "uint fetch(__global const uint *p, size_t i) { return p[i]; }",
    "uint fetch(__global const uint p[], size_t i) { return *(p + i); }",
    "uint second(__global const uint p[], size_t i) { return p[i]; }\n"
    "uint fetch(__global const uint p[], size_t i) { return second(p + (i & 1), i - (i & 1)); }",
]
PUTS = [
    "void put(__global uint *p, uint i) { __global uint *q = p + i; *q = 77u; }",
    "void put(__global uint p[], uint i) { __global uint *q = p + i; *q = 77u; }",
    "void write(uint i, __global uint p[]) { *(i + p) = 77u; }\n"
    "void put(__global uint p[], uint i) { write(i / 2, i & 1 ? p + i - i / 2 : (i / 2) + p); }",
]
N = 4096  # elements of each buffer but `out` ...
ROWS = 100  # ... and those that tell where in the others something stands


class Kernel:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.forms = random.Random(-seed - 1)
        self.lines, self.helpers = [], []
        self.ints, self.uints = ["n", "m"], ["u"]  # small numbers: no sum of products below overflows
        self.fixed = {"n", "m", "u"}
        self.count = 0
        self.depth = 1
        self.dims = self.r.choice([1, 1, 2, 2, 3])
        self.in_loop = 0
        self.budget = 26

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    # ---- numbers, all well below 2^20 in size so that int never overflows ----

    def item(self):
        d = self.r.randrange(self.dims)
        f = self.r.choice(["get_global_id", "get_global_id", "get_local_id", "get_group_id", "get_global_size",
                           "get_local_size", "get_num_groups"])
        return f"{f}({d})"

    def small(self, depth=0):
        """An int expression: its value lies within about +-2^16."""
        r = self.r
        k = r.randrange(12 if depth < 2 else 4)
        if k == 0:
            return str(r.choice([0, 1, 2, 3, 5, 8, 16, 17, 31, 64]))
        if k == 1:
            return r.choice(self.ints)
        if k <= 3:
            return f"(int){self.item()}"
        a, b = self.small(depth + 1), self.small(depth + 1)
        if k == 4:
            return f"({a} + {b})"
        if k == 5:
            return f"({a} - {b})"
        if k == 6:
            return f"({self.bounded(depth + 1)} * {r.choice([2, 3, 4, 7, 16])})"
        if k == 7:
            return f"({a} / {r.choice([2, 3, 4, 8])})"
        if k == 8:
            return f"({a} % {r.choice([2, 3, 8, 10])})"
        if k == 9:
            return f"({a} {r.choice(['<', '>', '<=', '>=', '==', '!='])} {b} ? {a} : {b})"
        if k == 10:
            return r.choice([f"min({a}, {b})", f"max({a}, {b})", f"clamp({a}, 0, {r.choice([5, 63, 200])})",
                             f"({a} & {r.choice([3, 7, 15, 255])})", f"({a} >> {r.choice([1, 2, 4])})",
                             f"(int)(uchar)({a})", f"(int)(short)({a})", f"abs_of({a})"])
        return f"(int)({self.wide(depth + 1)} & 1023)"

    def bounded(self, depth):
        return self.r.choice([f"clamp({self.small(depth)}, -200, 200)", str(self.r.randrange(50)),
                              f"(int){self.item()}", f"({self.small(depth)} & 63)"])

    def wide(self, depth=0):
        """A uint or size_t expression: it may wrap, which C defines."""
        r = self.r
        k = r.randrange(9 if depth < 2 else 3)
        if k == 0:
            return self.item()
        if k == 1:
            return f"(uint){self.item()}"
        if k == 2:
            return r.choice(self.uints)
        a, b = self.wide(depth + 1), self.wide(depth + 1)
        if k == 3:
            return f"({a} {r.choice('+-*')} {b})"
        if k == 4:
            return f"({a} / ({b} | 1u))"
        if k == 5:
            return f"({a} % {r.choice([3, 16, 33, 64])}u)"
        if k == 6:
            return f"({a} {r.choice(['<<', '>>'])} {r.choice([1, 2, 5])})"
        if k == 7:
            return f"({a} {r.choice('&|^')} {b})"
        return f"({a} - {r.choice([1, 2, 7])}u)"

    def condition(self):
        r = self.r
        k = r.randrange(6)
        a, b = self.small(1), self.small(1)
        op = r.choice(["<", ">", "<=", ">=", "==", "!="])
        if k < 3:
            return f"{a} {op} {b}"
        if k == 3:
            return f"({a} {op} {b} {r.choice(['&&', '||'])} {self.small(1)} < {self.small(1)})"
        if k == 4:
            return f"!({a} {op} {b})"
        return f"{self.wide(1)} {r.choice(['<', '>'])} {self.wide(1)}"

    # ---- accesses ----

    def index(self):
        """An index below N, and a condition under which it is one ("" : always)."""
        r = self.r
        k = r.randrange(7)
        if k == 0:
            return f"({self.wide()}) % {N}u", ""
        if k == 1:
            return f"({self.wide()}) & {N - 1}", ""
        if k == 2:
            return f"clamp({self.small()}, 0, {N - 1})", ""
        if k == 3:
            return f"min((uint)({self.wide()}), {N - 1}u)", ""
        name = self.name("i")
        if k == 4:
            self.put(f"int {name} = {self.small()};")
            return name, f"{name} >= 0 && {name} < {N}"
        if k == 5:
            self.put(f"uint {name} = {self.wide()};")
            return name, f"{name} < {N}"
        self.put(f"size_t {name} = {self.wide()};")
        return name, r.choice([f"{name} < {N}", f"{N} > {name}", f"!({name} >= {N})"])

    def read(self):
        r = self.r
        index, guard = self.index()
        k = r.randrange(8)
        buffer = r.choice(["in", "bytes", "in"])
        text = f"{buffer}[{index}]"
        if k == 1:
            text = f"*({buffer} + ({index}))"
        elif k == 2:
            text = f"fetch({buffer if buffer == 'in' else 'in'}, {index})"
        elif k == 3 and not guard:
            text = f"vload4(({index}) / 4, in).s{r.randrange(4)}"
        elif k == 4:
            text = f"pairs[({index}) / 2].{r.choice('ab')}"
        elif k == 5:
            pointer = self.name("p")
            self.put(f"__global const uint *{pointer} = in + ({index}) / 2;")
            text = f"{pointer}[({self.wide(1)}) % 2000u]"
            if guard:
                text = f"({guard} ? {text} : 5u)"
                guard = ""
        statement = f"sum += {text};"
        self.put(f"if ({guard}) {statement}" if guard else statement)

    def write(self):
        r = self.r
        index, guard = self.index()
        k = r.randrange(5)
        text = f"same[{index}] = 77u;"
        if k == 1:
            text = f"put(same, {index});"
        elif k == 2:
            text = f"small[{index}] = 7;"
        elif k == 3 and not guard:
            text = f"vstore2((uint2)(77u, 77u), ({index}) / 2, same);"
        self.put(f"if ({guard}) {text}" if guard else text)

    # ---- what buffers hold ----

    def row(self):
        """A row's number, the same for all work-items of some or its own, that `first` and `rows` have."""
        return self.r.choice([f"(({self.wide(1)}) % {ROWS}u)", f"(own % {ROWS}u)", f"(own / 2 % {ROWS}u)",
                              f"(uint)clamp({self.small(1)}, 0, {ROWS - 1})", f"(get_group_id(0) % {ROWS}u)"])

    def held(self):
        """Reads at indices that are bounded by what a buffer holds: rows of a sparse matrix in their many forms."""
        r = self.r
        e, w = self.name("e"), self.name("row")
        k = r.randrange(9)
        self.put(f"const uint {w} = {self.row()};")
        inner = r.choice(["sum += in[%s];", "sum += more[in[%s] & 1023u];", "sum += in[held[%s]];", "same[%s] = 77u;",
                          "sum += bytes[%s] + in[%s + 5];", "sum += fetch(in, %s);"])

        def put(at):
            self.put("    " + inner.replace("%s", at))

        if k == 0:
            t = r.choice(["uint", "size_t", "ulong", "int", "long"])
            self.put(f"for ({t} {e} = first[{w}]; {e} < first[{w} + 1]; {e}{r.choice(['++', ' += 2'])})")
            put(e)
        elif k == 1:
            self.put(f"for (int {e} = (int)first[{w} + 1] - 1; {e} >= (int)first[{w}]; {e}--)")
            put(e)
        elif k == 2:
            t = r.choice(["uint", "int", "ushort", "long"])
            of = r.choice(["counts", "counts", "signs"] if t != "uint" else ["counts"])
            self.put(f"for ({t} {e} = 0; {e} < {of}[{w}]; {e}++)")
            put(f"(first[{w}] + {e})")
        elif k == 3:
            n = self.name("n")
            self.put(f"const int {n} = first[{w} + 1] - first[{w}];")
            self.put(f"for (int {e} = 0; {e} < {n}; {e}++)")
            put(f"(first[{w}] + {e})")
        elif k == 4:
            v = self.name("v")
            self.put(f"const uint2 {v} = ((__global const uint2 *)first)[{w} / 2];")
            self.put(f"for (uint {e} = {v}.x; {e} < {v}.y; {e}++)")
            put(e)
        elif k == 5:
            p = self.name("p")
            self.put(f"__global const uint *{p} = in + first[{w}];")
            self.put(f"for (int {e} = 0; {e} < counts[{w}]; {e}++)")
            self.put(f"    sum += {p}[{e}];")
        elif k == 6:
            self.put(f"if (signs[{w}] {r.choice(['<', '>', '>=', '=='])} {r.choice([0, 3, 12])})")
            put(f"(uint)(signs[{w}] + 40)")
        elif k == 7:
            self.put(f"uint {e} = first[{w}];")
            self.put(f"while ({e} < first[{w} + 1])")
            self.put("{")
            put(e)
            self.put(f"    if ({self.condition()}) break;")
            self.put(f"    {e}++;")
            self.put("}")
        else:
            at = r.choice([f"held[{w}]", f"(uint)(signs[{w}] + 20)", f"min(held[{w}], 900u)", f"(held[{w}] >> 1)",
                           f"(first[{w}] + counts[{w}])", f"(held[{w}] * 2u)", f"(ushort)held[{w}]",
                           f"held[held[{w}] % {ROWS}u]", f"({self.condition()} ? held[{w}] : first[{w}])"])
            put(at)

    # ---- statements ----

    def block(self, inside):
        self.put("{")
        self.depth += 1
        ints, uints = list(self.ints), list(self.uints)
        for _ in range(inside):
            self.statement()
        self.ints, self.uints = ints, uints
        self.depth -= 1
        self.put("}")

    def loop(self):
        r = self.r
        v, k = self.name("k"), r.randrange(10)
        limit = r.choice(["5", "n", "m", "7", f"(int){self.item()}"])
        limit = f"min({limit}, 9)"
        seen = f"(int){v}" if k == 2 else v  # clamp and the like take arguments of one type
        self.fixed.add(seen)
        tail = ""
        if k == 0:
            self.put(f"for (int {v} = 0; {v} < {limit}; {v}++)")
        elif k == 1:
            self.put(f"for (int {v} = {limit}; {v} > 0; {v} -= {r.choice([1, 2])})")
        elif k == 2:
            self.put(f"for (uint {v} = {r.choice(['0', '1', '(uint)get_local_id(0)'])}; {v} < (uint)max({limit}, 0) * 8u; "
                     f"{v} += {r.choice(['3', '8', '(uint)get_local_size(0)', '(uint)get_global_size(0)'])})")
        elif k == 3:
            self.put(f"int {v} = {r.choice(['0', '2'])};")
            self.put(f"while ({v} < {limit})")
            tail = f"{v} += {r.choice([1, 2, 3])};"
        elif k == 4:
            self.put(f"int {v} = 0;")
            self.put("do")
            tail = f"while (++{v} < {limit});"
        elif k == 5:
            self.put(f"int {v} = clamp({limit}, 0, 9);")
            self.put(f"while ({v}-- > 0)")
        elif k == 6:
            self.put(f"for (int {v} = 1; {v} < 20 + {limit}; {v} *= 2)")
        elif k == 9:
            self.put(f"int {v} = {r.choice(['0', '-1 + 1', 'n'])};")
            self.put(f"while (in[{v}] < {r.choice([5, 900])}u && {v} < {limit})")
            tail = f"{v}++;"
        elif k == 7:
            self.put(f"int {v} = 0;")
            self.put(f"for (; {v} != 6; {r.choice([f'{v}++', f'{v} += 2', f'++{v}'])})")
        else:
            self.put(f"int {v} = 0;")
            self.put(f"for (;; {v}++)")
        self.ints.append(seen)
        self.put("{")
        self.depth += 1
        if k == 8:
            self.put(f"if ({v} >= {limit}) break;")
        ints, uints = list(self.ints), list(self.uints)
        self.in_loop += 1
        for _ in range(r.randrange(1, 4)):
            self.statement()
        if r.randrange(4) == 0 and k not in (3, 9):
            self.put(f"if ({self.condition()}) {r.choice(['break', 'continue'])};")
            self.statement()
        self.in_loop -= 1
        self.ints, self.uints = ints, uints
        if k in (3, 9):
            self.put(tail)
        self.depth -= 1
        self.put("} " + (tail if k == 4 else ""))
        if k in (0, 1, 2, 6):
            self.ints.remove(seen)
        self.fixed.discard(seen)
        if k not in (0, 1, 2, 6):
            self.fixed.add(v)  # read only from here on: its bound is what keeps it small

    def statement(self):
        r = self.r
        self.budget -= 1
        if self.budget < 0:
            return self.read()
        k = r.randrange(19)
        if k > 15:
            self.held()
        elif k < 3:
            self.read()
        elif k < 5:
            self.write()
        elif k == 5:
            name = self.name("v")
            self.put(f"int {name} = clamp({self.small()}, -3000, 3000);")
            self.ints.append(name)
        elif k == 6:
            name = self.name("w")
            self.put(f"uint {name} = {self.wide()};")
            self.uints.append(name)
        elif k == 7:
            free = [v for v in self.ints if v not in self.fixed]
            if free:
                v = r.choice(free)
                self.put(r.choice([f"{v} = clamp({self.small()}, -3000, 3000);",
                                   f"if ({self.condition()}) {v} = {r.choice([0, 5, 100])};",
                                   f"{v} = {self.condition()} ? {v} : 9;",
                                   f"{v} = clamp({v} + 3, -100, 2000);"]))
        elif k == 8:
            free = [v for v in self.uints if v not in self.fixed]
            if free:
                v = r.choice(free)
                self.put(r.choice([f"{v} = {self.wide()};", f"{v} += {self.wide(1)};", f"{v}++;", f"{v} >>= 1;",
                                   f"{v} ^= {r.choice(self.uints)};"]))
        elif k < 11:
            self.put(f"if ({self.condition()})")
            self.block(r.randrange(1, 4))
            if r.randrange(2):
                self.put("else")
                self.block(r.randrange(1, 3))
        elif k < 13 and self.depth < 4:
            self.loop()
        elif k == 13 and not self.in_loop and self.depth == 1 and r.randrange(3) == 0:
            self.put(f"if ({self.condition()}) return;")
        elif k == 14:
            self.put(f"switch ({self.small(1)})")
            self.put("{")
            for case in r.sample(range(8), 3):
                self.put(f"case {case}:")
                self.block(1)
                if r.randrange(3):
                    self.put("break;")
            if r.randrange(2):
                self.put("default:")
                self.block(1)
            self.put("}")
        else:
            name = self.name("q")
            index, guard = self.index()
            which = f"{self.condition()} ? in : more;"
            if self.forms.randrange(3) == 0:  # behind the loop it isn't known which
                self.put(f"__global const uint *{name};")
                self.put(f"for (int e = 0; e <= (n & 3); e++) {name} = e & 1 ? more : {which}")
            else:
                self.put(f"__global const uint *{name} = {which}")
            text = f"sum += {name}[{index}];"
            self.put(f"if ({guard}) {text}" if guard else text)

    def read_back(self, stride):
        """What the work-item may have written is read: behind that, or before it, the next time round."""
        mine = f"out[own * {stride} + e]"
        each = f"for (int e = 0; e < {self.forms.choice([stride, max(1, stride - 1)])}; e++)"
        how = self.forms.randrange(4)
        if how == 1:
            self.put(f"{each} {mine} = {mine} * 3u + 1u;")
        elif how == 2:
            self.put(f"for (int t = 0; t < n; t++) {{ {each} sum += {mine}; {each} if (e < t) {mine} = sum; }}")
        elif how == 3:
            self.put(f"{each} {mine} = sum; {each} sum += {mine}; {each} {mine} = sum ^ {mine};")

    def text(self):
        r = self.r
        local = [r.choice([1, 2, 4, 8]) if self.dims > 1 else r.choice([1, 4, 8, 16]) for _ in range(self.dims)]
        groups = [r.choice([1, 2, 3, 5]) for _ in range(self.dims)]
        size = [a * b for a, b in zip(local, groups)]
        offset = [r.choice([0, 0, 0, 3, 16]) for _ in range(self.dims)]
        items = 1
        for s in size:
            items *= s
        own = "0"
        for d in reversed(range(self.dims)):
            own = f"({own}) * get_global_size({d}) + (get_global_id({d}) - get_global_offset({d}))"
        style = r.randrange(4)
        stride = r.choice([1, 1, 2, 3])
        for _ in range(r.randrange(3, 9)):
            self.statement()
        if style == 0:
            self.put(f"if (own < {r.choice([items, items - 1, items // 2 + 1])}) out[own * {stride}] = sum;")
        elif style == 1:
            self.put(f"__global uint *mine = out + own * {stride};")
            self.put("*mine = sum;")
        elif style == 2:
            self.put(f"for (int e = 0; e < {stride}; e++) out[own * {stride} + e] = sum + e;")
        else:
            self.put(f"if ({self.condition()}) out[own * {stride}] = sum;")
        self.read_back(stride)
        head = [f"//! options -cl-std=CL1.2", "//! kernel work", "//! global " + " ".join(map(str, size)),
                "//! local " + " ".join(map(str, local)), "//! offset " + " ".join(map(str, offset)),
                f"//! buffer uint {items * stride} random 1000", f"//! buffer uint {N} random 1000",
                f"//! buffer uint {N} random 1000", f"//! buffer uchar {N} random 250",
                f"//! buffer uint {N} random 1000", f"//! buffer uint {N} zero", f"//! buffer uchar {N} zero",
                f"//! value int {r.randrange(12)}", f"//! value int {r.randrange(40)}",
                f"//! value uint {r.randrange(100)}", f"//! buffer uint {ROWS + 2} rising {r.choice([2, 5, 12])}",
                f"//! buffer uchar {ROWS} random {r.choice([2, 9])}", f"//! buffer char {ROWS} around {r.choice([5, 20])}",
                f"//! buffer uint {ROWS + 2000} random {r.choice([50, 1000])}"]
        declared = self.forms.choice(["*in", "in[]"])
        return "\n".join(head) + """
struct pair { uint a, b; };
int abs_of(int x) { if (x < 0) return -x; return x; }
""" + self.forms.choice(FETCHES) + "\n" + self.forms.choice(PUTS) + f"""
__kernel void work(__global uint *out, __global const uint {declared}, __global const uint *more,
                   __global const uchar *bytes, __global const struct pair *pairs, __global uint *same,
                   __global uchar *small, int n, int m, uint u, __global const uint *first,
                   __global const uchar *counts, __global const char *signs, __global const uint *held)
{{
    const size_t own = """ + own + """;
    uint sum = (uint)own;
""" + "\n".join(self.lines) + "\n}\n"


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        with open(f"{folder}/a{seed + i}.cl", "w", encoding="ascii") as f:
            f.write(Kernel(seed + i).text())


main()
