#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""appends.py SEED COUNT: writes kernels a0 ... that take numbers from counters by atomics and store by them, in many
ways: as lists are appended to, and with one thing or another that is none of it (the result is kept, a slot left out,
a jump in between, the limit is no limit, ...). For programs/appends.c; appends.sh compares those that gpusparc takes for
appending with work-groups that run one after the other, byte by byte."""
import random
import sys

HELPERS = """
typedef struct { uint count, below, later, pad[5]; uint items[1 << 13]; } box;
void push(__global uint *list, __global uint *n, uint v) { list[atomic_inc(n)] = v; }
void push_below(__global uint *list, __global uint *n, uint most, uint v)
{
    uint at = atomic_inc(n);
    if (at >= most)
        return;
    list[at] = v;
}
uint mixed(uint x) { for (uint k = 0; k < 2; k++) x = x * 1664525u + k; return x >> 3; }
uint taken(__global uint *n) { return atomic_inc(n); }
"""

HEAD = 8  # words of c before its first list; its counters: 0, 1 (which begins below 0), 2 (of a later list), BEHIND
LATER = 4096
BEHIND = 4000


class Kernel:
    def __init__(self, r, name):
        self.r, self.name, self.lines, self.depth, self.loops, self.count = r, name, [], 1, 0, 0
        self.computed = []
        self.until = r.choice([-1, r.randrange(20)])  # after so many chances, one thing is none of it; or never

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def misses(self):
        self.until -= 1
        return self.until == -1

    def counter(self):
        return self.r.choice(["n"] * 6 + ["n + 1", "&n[1]", "&n[0]"])

    def value(self, at=None):
        if at and self.misses():
            return self.r.choice([at, f"(v ^ {at})", f"in[{at} & 63]"])
        if self.misses():
            return self.r.choice(["n[0]", "a[5]", "atomic_inc(sum)"])
        return self.r.choice(["v", "i", "v + i", "in[(i + 1) & 127]", "v * 3u", "mixed(v)"] + self.computed)

    def condition(self):
        return self.r.choice(["v & 1", "v > 100000u", "(v & 3) != 0", "i & 1", "v % 5 == 2"])

    def open(self):
        r = self.r.random()
        if r < 0.5:
            self.put(f"if ({self.condition()}) {{")
            kind = "if"
        elif r < 0.75 and self.loops < 2:
            k = f"k{self.count}"
            self.count += 1
            self.put(f"for (uint {k} = 0; {k} < {self.r.randrange(1, 4)}; {k}++) {{")
            kind = "for"
        elif r < 0.85:
            self.put("do {")
            kind = "do"
        else:
            self.put("{")
            kind = "block"
        self.depth += 1
        self.loops += kind == "for"
        if kind == "for":
            self.put("v = v * 1664525u + 1013904223u;")
        return kind

    def close(self, kind):
        self.depth -= 1
        self.loops -= kind == "for"
        self.put("} while (0);" if kind == "do" else "}")

    def jump(self):
        return self.r.choice(["continue;", "break;"] if self.loops else ["return;"]) if self.r.random() < 0.8 else "return;"

    def between(self):
        if self.misses():
            self.put(f"if ({self.condition()}) {self.jump()}")
        elif self.r.random() < 0.4:
            self.put(self.r.choice(["v = v * 3u + 1u;", "atomic_add(sum, v & 7u);", "uint w{0} = v ^ i;".format(self.count)]))
            self.count += 1

    def element(self, unit, c):
        place = self.place(unit, c)
        if self.shift:
            return self.r.choice([f"{self.shift} + {place}", f"{place} + {self.shift}"])
        return place

    def place(self, unit, c):
        at = self.at
        if unit == 1:
            return self.r.choice([f"{at} + {c}", f"{c} + {at}"]) if c else at
        return self.r.choice([f"{unit} * {at} + {c}", f"{at} * {unit}u + {c}"])

    def list(self, name):
        """The name of a list, or of a variable that is the list."""
        self.shift = ""
        if name == "c":
            begin = LATER if self.counts == "later" else HEAD
            mode = self.r.choice(["shift", "by"] + ["pointer", "pointer by", "member"] * (self.counts != "below"))
            if self.counts == "later" and mode in ("by", "pointer by", "member"):
                mode = "shift"
            if mode in ("shift", "by"):
                self.shift = "base" if mode == "by" else str(begin)
                if self.misses():
                    self.shift = self.r.choice(["base + i", "8 + (v & 3)", "few"])
                return name
            if mode == "member":
                return "h->items"
            name = f"l{self.count}"
            self.count += 1
            self.put(f"__global uint *{name} = " + (f"c + {begin}" if mode == "pointer" else self.r.choice(["c + base", "&c[base]"])) + ";")
            return name
        if self.r.random() < 0.8:
            return name
        alias = f"l{self.count}"
        self.count += 1
        self.put(f"__global uint *{alias} = {name if not self.misses() else self.r.choice([f'{name} + 1', f'v & 1 ? a : b'])};")
        if self.misses():
            self.put(self.r.choice([f"{alias} = b;", f"{alias}++;", f"if (v & 2) {alias} = a;"]))
        return alias

    def pointer(self, name, unit):
        """A variable that points to where the number says."""
        pointer = f"p{self.count}"
        self.count += 1
        self.put(f"__global uint *{pointer} = " + self.r.choice([f"&{name}[{self.element(unit, 0)}]", f"{name} + ({self.element(unit, 0)})"]) + ";")
        return pointer

    def compute(self):
        """Something that the stores may be of, in a variable of the block."""
        if self.r.random() < 0.6:
            return
        name = f"t{self.count}"
        self.count += 1
        self.put(f"uint {name};")
        self.put(f"{name} = mixed(v ^ i);")
        self.put(self.r.choice([f"for (uint q = 0; q < 3; q++) {name} += in[q];", f"if (v & 2) {name}++;", f"{name} ^= 5u;"]))
        if self.misses():
            self.put(self.r.choice(["v ^= 5u;", f"if ({name} & 1) {self.jump()}", f"{name} += {self.at};"]))
        self.computed = [name] * 3

    def stores(self, lists, unit, step):
        kept = 0
        self.computed = []
        self.compute()
        for name in lists:
            name = self.list(name)
            pointer = self.pointer(name, unit) if self.r.random() < 0.25 else None
            for c in range(unit * step):
                if self.misses():
                    continue
                to = self.r.choice([f"{pointer}[{c}]", f"*({pointer} + {c})"]) if pointer else f"{name}[{self.element(unit, c)}]"
                self.put(f"{to} = {self.value(self.at)};")
                kept += 1
            if pointer and self.misses():
                self.shift = ""
                self.put(self.r.choice([f"{pointer}++;", f"v ^= *{pointer};", f"{pointer}[{unit * step}] = 3;",
                                        f"v += {pointer} == {name};", f"{pointer} = b; *{pointer} = v;"]))
            if self.misses():
                self.put(f"{name}[{self.element(unit, unit * step)}] = 9;")
        if self.misses():
            self.put(self.r.choice(["v += c[5];", "c[6] = v;", "c[0] = 3;", "atomic_inc(c + 7);", "v += h->count;",f"v += {self.at};", f"out[i] = {self.at};", f"{self.at}++;", "b[i] = 5;",
                                    "atomic_inc(sum);", f"n[2] = {self.at};", "atomic_dec(n);", "a[9] += 1;"]))

    def limit(self, step):
        at, r = self.at, self.r
        if self.misses():
            return r.choice([f"{at} != most", f"{at} < sum[0]", f"{at} > most", f"{at} < n[3]", f"{at} < most && v & 1",
                             f"{at} * 2 < most", f"{at} < most + i"])
        if self.counts == "beside":
            return r.choice([f"{at} < few", f"few > {at}", f"{at} <= few", f"{at} < 150u", f"{at} + {step - 1} < few"])
        return r.choice([f"{at} < most", f"most > {at}", f"{at} <= most", f"{at} + {step - 1} < most", f"{at} < 2060u",
                         f"{at} < short_most", f"(({at}) < most)"])

    def append(self):
        r = self.r
        self.computed = []
        beside = r.random() < 0.45
        self.counts = r.choice(["beside", "beside", "below", "later"]) if beside else ""
        if r.random() < 0.2 and beside:
            self.put(r.choice([f"c[{HEAD} + atomic_inc(c)] = {self.value()};", f"h->items[atomic_inc(&h->count)] = {self.value()};",
                               f"push(c + {HEAD}, c, {self.value()});", f"push_below(c + base, &c[0], few, {self.value()});"]))
            return
        if r.random() < 0.2 and not beside:
            self.put(r.choice([f"{r.choice('ab')}[atomic_inc({self.counter()})] = {self.value()};",
                               f"push({r.choice('ab')}, {self.counter()}, {self.value()});",
                               f"push_below({r.choice('ab')}, {self.counter()}, {r.choice(['most', 'most', '2100u'])}, {self.value()});"]))
            return
        self.at = f"at{self.count}"
        self.count += 1
        step, unit = self.choice_of(), r.choice([1, 1, 1, 2])
        counter = self.counter()
        if beside:
            counter = {"below": r.choice(["c + 1", "&c[1]", "&h->below"]), "later": r.choice(["c + 2", "&h->later"]),
                       "beside": r.choice(["c", "&c[0]", "&h->count", f"c + {BEHIND}"])}[self.counts]
        take = f"atomic_inc({counter})" if step == 1 and r.random() < 0.7 else f"atomic_add({counter}, {step})"
        if self.misses():
            take = r.choice([f"taken({self.counter()})", f"atomic_dec(n)", f"(v & 1 ? {take} : 3)", f"{take} + 1", f"atomic_add(n, v & 1)"])
        kind = r.choice(["uint", "uint", "int"] + ["size_t"] * (self.counts != "below"))
        if r.random() < 0.7:
            self.put(f"{kind} {self.at} = {take};")
        else:
            self.put(f"{kind} {self.at};")
            self.put(f"{self.at} = {take};")
        self.between()
        lists = r.choice([["c"], ["c"], ["c", "a"]]) if beside else r.choice([["a"], ["b"], ["a"], ["a", "b"]])
        if self.counts == "below":
            lists = ["c"]
        if unit == 1 and step == 1 and r.random() < 0.2:
            old, self.at = self.at, f"to{self.count}"
            self.put(f"uint {self.at} = {r.choice(['', '1 * '])}{old};")
        style = r.random()
        if style < 0.5:
            self.stores(lists, unit, step)
        elif style < 0.8:
            self.put(f"if ({self.limit(step)}) {{")
            self.depth += 1
            self.stores(lists, unit, step)
            self.depth -= 1
            self.put("}" if not self.misses() else "} else { v++; }")
        else:
            self.put(f"if ({self.at} >= {'few' if self.counts == 'beside' else 'most'}) {self.jump()}")
            self.stores(lists, unit, step)
        if self.misses():
            self.put("v ^= 7;")

    def choice_of(self):
        return self.r.choice([1, 1, 1, 1, 2, 3])

    def make(self):
        self.put("uint i = get_global_id(0), v = in[i];")
        self.put("__global box *h = (__global box *)c;")
        if self.r.random() < 0.2:
            self.put("if (v & 64) return;")
        if self.r.random() < 0.5:
            self.put("out[i] = v + 1;")
        for _ in range(self.r.choice([1, 1, 1, 2])):
            opened = [self.open() for _ in range(self.r.choice([0, 1, 1, 2]))]
            self.append()
            for kind in reversed(opened):
                self.close(kind)
        if self.r.random() < 0.4:
            self.put("out[i] += v;")
        if self.r.random() < 0.3:
            self.put("atomic_add(sum, v);")
        return "\n".join([f"__kernel void {self.name}(__global const uint *in, __global uint *a, __global uint *b, "
                          "__global uint *n,", "    uint most, ushort short_most, __global uint *sum, __global uint *out,",
                          "    __global uint *c, uint base, uint few)",
                          "{", *self.lines, "}"])


seed, count = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
print(HELPERS + "\n".join(Kernel(rng, f"a{i}").make() for i in range(count)))
