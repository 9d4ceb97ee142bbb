# SPDX-License-Identifier: MIT
"""Random kernels: Kernel(seed) has `text`, of which every name ends in the seed, and `launches` (launches.py).

Unlike those of ../generate.py these may be anything that clang takes: an access beyond a buffer makes the launch invalid,
and races and values don't matter. Most have a store that the analysis can follow, with one or two things around it that
are easily got wrong: each kernel draws a few traits, and the rest of it is plain."""
import random
import re

from expressions import INTS, PARTS, Expressions
from launches import launches_of
from loops import Loops
from states import FUNCTIONS, States
from stores import Stores

PRELUDE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef int int5 __attribute__((ext_vector_type(5)));
typedef int int6 __attribute__((ext_vector_type(6)));
typedef int int7 __attribute__((ext_vector_type(7)));
typedef uchar uchar5 __attribute__((ext_vector_type(5)));
typedef short short6 __attribute__((ext_vector_type(6)));
typedef float float7 __attribute__((ext_vector_type(7)));
typedef uchar uchar12 __attribute__((ext_vector_type(12)));
struct plain { int a; int b; };
struct padded { uchar c; int a; };
struct tail { int a; short s; };
struct hole { uchar c; long l; ushort s; };
struct nest { struct padded p; uint u[2]; };
struct __attribute__((packed)) tight { uchar c; int a; short s; };
struct grid { int a[3][2]; };
struct grids { struct tail t[2]; uchar z; };
struct three { int3 v; int w; };
struct four { float4 f; int i; };
union mixed { int i; uchar b[8]; short s[2]; };
struct where { __global int *p; int k; };
#ifdef GS_HOST_MEMBERS
#define SET_plain(to, v) do { struct plain v_ = (v); __typeof__(&(to)) t_ = &(to); t_->a = v_.a; t_->b = v_.b; } while (0)
#define SET_padded(to, v) do { struct padded v_ = (v); __typeof__(&(to)) t_ = &(to); t_->c = v_.c; t_->a = v_.a; } while (0)
#define SET_tail(to, v) do { struct tail v_ = (v); __typeof__(&(to)) t_ = &(to); t_->a = v_.a; t_->s = v_.s; } while (0)
#define SET_hole(to, v) do { struct hole v_ = (v); __typeof__(&(to)) t_ = &(to); t_->c = v_.c; t_->l = v_.l; t_->s = v_.s; } while (0)
#else
#define SET_plain(to, v) (to) = (v)
#define SET_padded(to, v) (to) = (v)
#define SET_tail(to, v) (to) = (v)
#define SET_hole(to, v) (to) = (v)
#endif
__constant int table[8] = {0, 1, 2, 3, 5, 8, 13, 21};
enum kind { FEW = 3, MANY = 12 };
#define TWICE(x) ((x) + (x))
#define AND3(a, b, c) ((a) && (b) && (c))
#define UNLESS(c) if (c) ; else
#define PUT(p, i, v) (p)[i] = (v)
#define PUT_IF(c, p, i, v) do { if (c) (p)[i] = (v); } while (0)
int twice(int v) { return v * 2; }
int least(int a, int b) { if (a < b) return a; return b; }
uint wrap(uint v, uint n) { while (v >= n && n) v -= n; return v; }
bool within(int v, int lo, int hi) { return v >= lo && v < hi; }
""" + FUNCTIONS



class Kernel(Expressions, Loops, Stores, States):
    def __init__(self, seed, std):
        self.r = random.Random(seed)
        self.random = self.r.random
        self.seed, self.std = seed, std
        self.lines, self.depth, self.count, self.helpers = [], 1, 0, []
        self.barriers = False
        self.dims = self.pick([1, 1, 1, 2, 2, 3])
        self.reqd = [self.pick([1, 2, 4]) if d < self.dims else 1 for d in range(3)] if self.chance(0.03) else None
        self.loops = 0  # how many are open
        self.breakable = 0
        self.vars = []  # integer variables in scope
        self.counters = []  # of the loops that are open
        self.states = []  # names of variables of states.py, in scope
        self.next_index = None  # what the next index is, if not a random one
        self.stored = []  # (buffer, index) of earlier stores, in scope
        self.budget = 10
        self.traits = {self.pick(["guards", "conditions", "loops", "vectors", "structs", "pointers", "helpers", "types",
                                  "geometry", "reads", "jumps", "bytes", "groups", "loaded", "pad", "states", "by value", "steps", "again", "phases", "rings", "picks"])
                       for _ in range(self.pick([1, 1, 2, 2, 3]))}
        self.arguments()
        self.body()

    # ---- drawing ----

    def pick(self, of):
        return of[int(self.random() * len(of))]

    def chance(self, p):
        return self.random() < p

    def has(self, trait, p=0.06):
        """The trait is one of the kernel's, or comes by itself for once."""
        return self.chance(0.6 if trait in self.traits else p)

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    # ---- arguments ----

    def arguments(self):
        value_types = [t for t in INTS if t != "size_t"] if self.has("types", 0.15) else ["int", "int", "uint"]
        self.values = {v: self.pick(value_types) for v in ("n", "m", "base")}
        if "by value" in self.traits:
            self.values.update(self.pick([{"sp": "struct plain"}, {"v4": "int4"}, {"v2": "uint2"}, {"ti": "struct tight"}, {"gr": "struct grid"}]))
        self.outs = {"o": self.out_type()}
        if self.chance(0.3) or "pointers" in self.traits:
            self.outs["q"] = self.outs["o"] if self.chance(0.6) else self.out_type()
        self.ins = {"in": self.pick(["int", "int", "uint", "uchar", "short"])}
        self.parts = [p for n in self.values for p in PARTS.get(n, [])]
        if "loaded" in self.traits or self.chance(0.1):
            self.ins["idx"] = self.pick(["int", "uint", "ushort", "uchar"])
        if "structs" in self.traits and self.chance(0.3):
            self.ins["ps"] = "struct " + self.pick(["plain", "padded", "nest", "grid"])

    def parameters(self):
        """Of the kernel, and the types to which what it is called with is converted."""
        p = [(("volatile " if self.chance(0.01) else "") + f"__global {t}", n) for n, t in self.outs.items()]
        p += [(f"{'__constant' if n != 'in' and self.chance(0.3) else '__global const'} {t}", n) for n, t in self.ins.items()]
        texts = [self.pick([f"{t} *{n}"] * 5 + [f"{t} *restrict {n}", f"{t} {n}[]"]) for t, n in p]
        return texts + [f"{t} {n}" for n, t in self.values.items()], [f"{t} *" for t, n in p]

    # ---- statements ----

    def outlive(self, stored, counters):
        """Stores whose places can be named behind a block: a closed loop's counter becomes $, any number."""
        out = []
        for buffer, at in stored:
            for c in counters:
                at = re.sub(rf"\b{c}\b", "$", at)
            known = set(self.vars) | set(self.counters)
            if all(name in known for name in re.findall(r"\b[a-z]\d+\b", at) if name not in self.states):
                out.append((buffer, at))
        return out

    def block(self, n):
        vars_, stored, states = list(self.vars), list(self.stored), list(self.states)
        self.put("{")
        self.depth += 1
        for _ in range(n):
            self.statement()
        self.depth -= 1
        self.put("}")
        self.vars, self.states = vars_, states
        self.stored = stored + self.outlive(self.stored[len(stored):], [])

    def guard(self):
        c = self.condition()
        if self.chance(0.35) and not self.loops:
            self.put(self.pick([f"if ({c}) return;", f"if (!({c})) return;", f"if (!({c})) return;"]))
            return
        unless = self.chance(0.1)
        self.put(f"UNLESS({c})" if unless else self.pick([f"if ({c})"] * 5 + [f"if (!({c}))"]))
        self.block(self.pick([1, 1, 2]))
        if not unless and self.chance(0.25):
            self.put("else")
            self.block(1)

    def jump(self):
        c = self.condition()
        k = self.random()
        if self.breakable and k < 0.4:
            self.put(f"if ({c}) break;")
        elif self.breakable and k < 0.7:
            self.put(f"if ({c}) continue;")
        elif k < 0.96:
            self.put(f"if ({c}) return;")
        elif self.depth < 4:
            label = self.name("skip")
            self.put(f"if ({c}) goto {label}_{self.seed};")
            self.block(1)
            self.put(f"{label}_{self.seed}:;")

    def switch(self):
        self.put(f"switch ({self.pick([self.own, 'n', self.atom()])} & 3) {{")
        before, self.breakable = self.breakable, 0
        for case in (0, 1, 2):
            if self.chance(0.6):
                head, tail = "", ""
                if self.chance(0.1):  # as in Duff's device
                    head, tail = self.pick([("{", "}"), ("if (0) {", "}"), (f"if ({self.condition()}) {{", "}"), ("do {", "} while (0);")])
                self.put(f"{head} case {case}:")
                self.block(1)
                self.put(tail)
                if self.chance(0.8):
                    self.put("break;")
        if self.chance(0.5):
            self.put("default:")
            self.block(1)
        self.breakable = before
        self.put("}")

    def variable(self):
        k = self.random()
        free = [v for v in self.vars if v.startswith("t")]
        if k < 0.5 or not free:
            v = self.name("t")
            self.put(f"{self.pick(INTS)} {v} = {self.pick([self.index(), self.number()])};")
            self.vars.append(v)
        else:
            v = self.pick(free)
            self.put(self.pick([f"{v} += {self.number(2)};", f"if ({self.condition()}) {v} = {self.number(2)};", f"{v}++;",
                                f"{v} = {self.condition()} ? {v} : {self.constant()};", f"{v} = {self.number()};"]))

    def statement(self):
        self.budget -= 1
        k = self.random()
        if self.budget < 0 or self.depth > 5 or k < 0.45:
            self.store()
        elif k < 0.65 if "guards" in self.traits else k < 0.55:
            self.guard()
        elif k < 0.8 and self.loops < 2:
            self.loop()
        elif k < 0.88:
            if self.has("states", 0.15):
                self.state()
            else:
                self.variable()
            self.store()
        elif k < 0.91 if "states" not in self.traits else k < 0.885:
            self.switch()
        elif k < 0.94 and self.has("jumps"):
            self.jump()
            self.store()
        else:
            self.use()

    def body(self):
        self.choose_own()
        if "states" in self.traits:
            self.state()
        if self.has("phases", 0.02):
            self.phases()
        if self.has("guards", 0.3):
            self.guard()
        if self.has("groups", 0.03):
            self.group_phase()
        if self.chance(0.35) and self.loops == 0:
            self.loop()
        for _ in range(self.pick([1, 1, 2, 3])):
            self.statement()
        ps, pointers = self.parameters()
        name = f"work{self.seed}"
        casts = [f"({t})a[{i}]" for i, t in enumerate(pointers)]
        casts += [f"*({t} *)a[{len(pointers) + i}]" for i, t in enumerate(self.values.values())]
        attribute = f"__attribute__((reqd_work_group_size({', '.join(map(str, self.reqd))})))\n" if self.reqd else ""
        self.text = "\n".join(self.helpers) + f"\n__kernel {attribute}void {name}({', '.join(ps)})\n{{\n" + "\n".join(self.lines) + \
            f"\n}}\n#ifdef GS_HOST\nvoid run_{name}(ulong *a) {{ {name}({', '.join(casts)}); }}\n#endif\n"
        self.launches = launches_of(self)
