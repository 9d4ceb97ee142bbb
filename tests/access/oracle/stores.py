# SPDX-License-Identifier: MIT
"""What random kernels do with buffers: stores in all forms that the language has, and reads."""

SCALARS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "float": 4}
SCALAR_OUT = ["int"] * 5 + ["uint"] * 4 + ["float"] * 2 + ["uchar", "ushort", "short", "char", "ulong", "long"]
VECTOR_OUT = ["int2", "int3", "int3", "int4", "uint4", "uint8", "float4", "int16", "uchar4", "uchar3", "short3", "ushort2",
              "int5", "int5", "int6", "int7", "uchar5", "short6", "float7", "uchar12", "long3", "double2"]
STRUCT_OUT = ["plain", "padded", "tail", "hole", "nest", "tight", "grid", "grids", "three", "four"]
COUNT = {"2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "16": 16, "12": 12}
MEMBERS = {"plain": ["a", "b"], "padded": ["c", "a"], "tail": ["a", "s"], "hole": ["c", "l", "s"],
           "nest": ["p.c", "p.a", "u[0]", "u[1]"], "tight": ["c", "a", "s"], "grid": ["a[0][0]", "a[2][1]", "a[1][E & 1]"],
           "grids": ["t[0].a", "t[1].s", "z", "t[E & 1].s"], "three": ["v.x", "v.z", "w", "v"], "four": ["f.x", "f.w", "i", "f"],
           "mixed": ["i", "b[0]", "b[5]", "s[1]"]}
ALL = {"plain": ["a", "b"], "padded": ["c", "a"], "tail": ["a", "s"], "hole": ["c", "l", "s"]}


def vector_parts(t):
    """('int', 5) of int5; None of a scalar."""
    base = t.rstrip("0123456789")
    return (base, int(t[len(base):])) if base != t and base in {**SCALARS, "double": 8} else None


class Stores:
    def out_type(self):
        k = self.random()
        if "vectors" in self.traits and k < 0.75:
            return self.pick(VECTOR_OUT)
        if "pad" in self.traits and k < 0.75:
            return self.pick(["int3", "int5", "int6", "int7", "uchar5", "float7", "short6", "uchar3", "struct padded", "struct tail",
                              "struct hole", "struct three", "struct nest", "struct grids"])
        if "structs" in self.traits and k < 0.75:
            return self.pick(["union mixed"] + ["struct " + s for s in STRUCT_OUT])
        return self.pick(SCALAR_OUT) if k < 0.93 else self.pick(VECTOR_OUT)

    # ---- values ----

    def value(self, t):
        """Something of a scalar or vector type, perhaps from a buffer."""
        if self.has("reads", 0.5 if "again" in self.traits else 0.25):
            return f"({t})({self.read()})"
        return f"({t})({self.pick([self.own, '7', self.atom()])})"

    def read(self):
        names = [n for n in self.ins if n != "ps"]
        n = self.pick(names)
        i = self.pick([self.own, self.own, self.index(), self.number(1)])
        k = self.random()
        if "ps" in self.ins and k < 0.4:
            s = self.ins["ps"].split()[1]
            return f"ps[{i}]." + self.pick(MEMBERS[s]).replace("E", self.own)
        if self.stored and (k < 0.55 or "again" in self.traits):
            buffer, at = self.pick(self.stored)
            at = at.replace("$", self.pick(self.counters + ["0", "1", "3"]))
            at = self.pick([at, f"({at}) + 1", f"({at}) - 1", f"({at}) + {self.constant()}", f"({at}) ^ 1"])
            return f"{buffer}[{at}]" if self.outs[buffer] in SCALARS else f"{n}[{i}]"
        if k < 0.7:
            return f"{n}[{i}]"
        if k < 0.8:
            return f"*({n} + {i})"
        if k < 0.86:
            return f"vload{self.pick(['2', '3', '4', '8'])}({i}, {n}).x"
        if k < 0.9:
            return f"vload4({self.number(2)} & 15, {n} + ({i})).w"
        if k < 0.92:
            h, where = self.pick(["", "2", "3", "4", "8"]), f"(__global const half *)in"
            part = ".x" if h else ""
            return f"(int)vload{'a' if h and self.chance(0.5) else ''}_half{h}({i}, {where}){part}"
        if k < 0.94:
            return f"({self.condition()} ? {n}[{i}] : {n}[{self.own}])"
        o, t = self.pick(list(self.outs.items()))
        return f"{o}[{i}]" if t in SCALARS else f"{n}[{i}]"

    def use(self):
        """A read whose value goes to the work-item's own element."""
        t = self.outs["o"]
        if t in SCALARS:
            self.put(f"o[{self.own}] = ({t})({self.read()} + {self.read()});")
        else:
            self.put(f"if ({self.read()} == 12345)")
            stored = list(self.stored)
            self.put("{")
            self.depth += 1
            self.store()
            self.depth -= 1
            self.put("}")
            self.stored = stored

    # ---- stores ----

    def store(self):
        o, t = self.pick(list(self.outs.items()))
        i = self.index()
        if self.chance(0.15):
            v = self.name("i")
            self.put(f"{self.pick(['int', 'uint', 'size_t', 'long'])} {v} = {i};")
            i = v
        if self.has("steps", 0.05):
            self.stepped(o, t, i)
            return
        if self.has("pointers"):
            o = self.pointer(o, t)
        elif self.has("helpers"):
            self.helper(o, t, i)
            return
        if self.has("bytes", 0.05):
            self.by_bytes(o, t, i)
        elif t in SCALARS:
            self.store_scalar(o, t, i)
        elif vector_parts(t):
            self.store_vector(o, t, i)
        else:
            self.store_struct(o, t, i)
        if o in self.outs:
            self.stored.append((o, i))

    def store_scalar(self, o, t, i):
        v = self.value(t)
        k = self.random()
        if k < 0.6:
            self.put(f"{o}[{i}] = {v};")
        elif k < 0.66:
            self.put(f"*({o} + ({i})) = {v};")
        elif k < 0.7:
            self.put(self.pick([f"{o}[{i}] += {v};", f"{o}[{i}]++;", f"--{o}[{i}];", f"{o}[{i}] = {o}[{i}] + 1;"]))
        elif k < 0.74:
            self.put(f"{o}[{i}] = {self.condition()} ? {v} : {self.value(t)};")
        elif k < 0.78:
            self.put(f"{self.condition()} ? ({o}[{i}] = {v}) : 0;" if t != "float" else f"{o}[{i}] = {v};")
        elif k < 0.82:
            self.put(f"{self.condition()} {self.pick(['&&', '||'])} ({o}[{i}] = {v});")
        elif k < 0.835:
            self.put(f"{o}[{i}] = {o}[({i}) + 1] = {v};")
        elif k < 0.84 and t in ("int", "uint"):
            self.put(self.pick([f"atomic_inc({o} + ({i}));", f"atomic_add({o} + ({i}), 3);", f"atomic_max({o} + ({i}), 4);", f"atomic_xchg({o} + ({i}), 1);"]))
        elif k < 0.88:
            self.put(self.pick([f"__builtin_nontemporal_store({v}, {o} + ({i}));", f"PUT({o}, {i}, {v});", f"(*({o} + ({i}))) = {v};",
                                f"((__global {t} (*)[4]){o})[{i}][{self.pick('0123')}] = {v};", f"{{ __global {t} (*rows)[8] = (__global {t} (*)[8])({o} + 4); rows[{i}][1] = {v}; }}",
                                f"{o}[({{ int z = {i}; z; }})] = {v};", f"({o} + 3)[({i}) - 1] = {v};", f"({i})[{o}] = {v};" if not i[0].isalpha() else f"{o}[+{i}] = {v};",
                                f"do {{ {o}[{i}] = {v}; }} while (0);", f"PUT_IF({self.condition()}, {o}, {i}, {v});"]))
        else:
            n = self.pick([2, 2, 3, 4, 4, 8, 16])
            where = self.pick([(i, o), (i, o), ("0", f"{o} + ({i})"), (self.own, f"{o} + {n}")])
            self.put(f"vstore{n}(({t}{n})({v}), {where[0]}, {where[1]});")

    def store_vector(self, o, t, i):
        base, n = vector_parts(t)
        k = self.random()
        if k < 0.55:
            self.put(f"{o}[{i}] = ({t})({self.value(base)});")
        elif k < 0.65:
            self.put(f"{o}[{i}].{self.pick(['x', 'y', 's1', 's0', 'xy'])} = {self.value(base)};")
        elif k < 0.72 and n >= 4:
            self.put(f"{o}[{i}].{self.pick(['hi', 'lo', 'odd', 'even']) if n in (4, 8, 16) else 's0'} = {self.value(base)};")
        elif k < 0.78 and n in (2, 3, 4, 8, 16):
            v = self.name("w")
            self.put(f"{t} {v} = {self.value(base)}; {v}.y = 3; {o}[{i}] = {v}.{self.swizzle(n)};")
        elif k < 0.86:
            self.put(f"((__global {base} *){o})[({i}) * {n} + {self.pick(['0', '1', str(n - 1)])}] = {self.value(base)};")
        elif k < 0.92:
            m = self.pick([2, 3, 4, 8, 16])
            self.put(f"vstore{m}(({base}{m})({self.value(base)}), {i}, (__global {base} *){o});")
        elif k < 0.96:
            self.put(f"{o}[{i}] += ({t})({self.value(base)});")
        else:
            self.put(f"(&{o}[{i}])->x = {self.value(base)};" if base != "x" else "")

    def swizzle(self, n):
        return "s" + "".join("0123456789abcdef"[(j * 3 + 1) % n] for j in range(n))

    def store_struct(self, o, t, i):
        s = t.split()[1]
        k = self.random()
        if k < 0.5 or s == "mixed":
            member = self.pick(MEMBERS[s]).replace("E", self.own)
            self.put(self.pick([f"{o}[{i}].{member} = {self.own};", f"({o} + ({i}))->{member} = {self.own};"]))
        elif s in ALL and k < 0.6:
            for member in ALL[s]:
                self.put(f"{o}[{i}].{member} = 5;")
        elif s in ALL:
            v = self.name("s")
            self.put(f"struct {s} {v} = {{{self.own}, 3}}; SET_{s}({o}[{i}], {v});")
        else:
            v = self.name("s")
            self.put(f"struct {s} {v}; __builtin_memset(&{v}, 1, sizeof {v});" if self.chance(0.03) else f"struct {s} {v} = {{0}};")
            self.put(f"{o}[{i}] = {v};")

    def by_bytes(self, o, t, i):
        k = self.random()
        size = f"sizeof({t})"
        if k < 0.06:
            self.put(f"__builtin_memset({o} + ({i}), {self.pick(['0', '1', '255'])}, {self.pick([size, '4', '3', '16', size + ' * 2', 'n & 7', 'n'])});")
        elif k < 0.14:
            v = self.name("b")
            self.put(f"{t} {v}[4]; __builtin_memset({v}, 1, sizeof {v});")
            f = self.pick(["__builtin_memcpy", "__builtin_memcpy", "__builtin_memmove"])
            self.put(f"{f}({o} + ({i}), {v}, {self.pick([size, '4', '1', size + ' * 4', size + ' * 2', 'n & 7', 'm & 15'])});")
        elif k < 0.18:
            self.put(f"__builtin_memcpy({o} + ({i}), (__global const uchar *)in + ({self.own}) * 4, {self.pick([size, '4', '8', '3'])});")
        elif k < 0.22:
            v = self.name("b")
            self.put(f"uchar {v}[16]; __builtin_memcpy({v}, {self.pick(['in', 'o'])} + ({self.own}), {self.pick(['16', '4', '7'])});")
            self.put(f"((__global uchar *){o})[({i}) + ({v}[{self.pick(['0', '3', '5'])}] & 3)] = 1;")
        elif k < 0.5:
            h = f"(__global half *){o}"
            n = self.pick(["", "2", "3", "3", "3", "4", "8"])
            a = self.pick(["", "a"]) if n else ""
            r = self.pick(["", "", "_rte", "_rtz"])
            self.put(f"vstore{a}_half{n}{r}((float{n})({self.own}), {i}, {h});")
        elif k < 0.7:
            c = self.pick(["uchar", "ushort", "uint", "ulong", "uchar4", "uint2", "short"])
            j = self.pick(["0", "1", "3"])
            self.put(f"((__global {c} *)({o} + ({i})))[{j}] = ({c})(3);")
        elif k < 0.85:
            self.put(f"*(__global uint *)((__global uchar *){o} + ({i}) * 4) = 3;")
        else:
            self.put(f"*((__global uint *){o} + ({i})) = 4; *((__global ushort *){o} + ({i}) * 2 + 1) = 2;")

    # ---- pointers ----

    def pointer(self, o, t):
        """A pointer that leads to where `o` does, or near."""
        p = self.name("p")
        k = self.random()
        same = [n for n, u in self.outs.items() if u == t]
        other = self.pick(same)
        if k < 0.25:
            self.put(f"__global {t} *{p} = {o} + {self.pick([self.own, '1', 'base', self.atom()])};")
        elif k < 0.4:
            self.put(f"__global {t} *{p} = {self.condition()} ? {o} : {other}{self.pick(['', '', ' + 8', ' + ' + self.own])};")
        elif k < 0.5:
            self.put(f"__global {t} *{p} = {o}; if ({self.condition()}) {p} = {other};")
        elif k < 0.6:
            self.put(f"__global {t} *{p} = {o}; {self.pick([p + '++', p + ' += 2', p + ' += ' + self.own, '++' + p])};")
        elif k < 0.7:
            self.put(f"__global {t} *{p}s[2] = {{{o}, {other}}}; __global {t} *{p} = {p}s[{self.pick(['0', '1', 'n & 1', self.own + ' & 1'])}];")
        elif k < 0.8:
            f = f"at{p}_{self.seed}"
            self.helpers.append(self.pick([
                f"__global {t} *{f}(__global {t} *a, __global {t} *b, int i) {{ return i & 1 ? a : b; }}",
                f"__global {t} *{f}(__global {t} *a, __global {t} *b, int i) {{ if (i > 4) return b; return a + i; }}",
                f"__global {t} *{f}(__global {t} *a, __global {t} *b, int i) {{ for (int k = 0; k < i && k < 4; k++) a++; return a; }}"]))
            self.put(f"__global {t} *{p} = {f}({o}, {other}, {self.pick(['n', self.own, '1'])});")
        elif k < 0.9:
            self.put(f"struct {{ __global {t} *p; int k; }} {p}w = {{{o}, {self.pick(['1', self.own])}}}; {p}w.p += {p}w.k;")
            self.put(f"__global {t} *{p} = {p}w.p;")
        else:
            self.put(f"__global {t} *{p} = (__global {t} *)((__global uchar *){o} + {self.pick(['sizeof(' + t + ')', '16', '64 * (base & 3)'])});")
        return p

    def stepped(self, o, t, i):
        """A pointer that a loop moves on."""
        p, e = self.name("p"), self.name("e")
        v = f"({t})({self.own})" if " " not in t else None
        if v is None:
            v = self.name("s")
            self.put(f"{t} {v} = {{0}};")
        step = self.pick(["++", "++", "++", " += 2", " += 4", "--"])
        count = self.pick(["4", "8", "16", "n", "(n & 15)", "m", "base"])
        k = self.random()
        if k < 0.3:
            self.put(f"for (__global {t} *{p} = {o} + ({i}); {p} {self.pick(['<', '!=', '<='])} {o} + ({i}) + {count}; {p}{step}) *{p} = {v};")
        elif k < 0.5:
            self.put(f"__global {t} *{p} = {o} + ({i}), *{e} = {p} + {count}; while ({p} {self.pick(['<', '!='])} {e}) *{p}++ = {v};")
        elif k < 0.65:
            self.put(f"__global {t} *{p} = {o} + ({i}); for (int {e} = 0; {e} < {count}; {e}++) {{ *{p} = {v}; {p}{step}; }}")
        elif k < 0.8:
            self.put(f"__global {t} *{p} = {o} + ({i}); for (int {e} = 0; {e} < {count}; {e}++, {p} += {self.pick(['16', 'get_global_size(0)', 'm', '2'])}) *{p} = {v};")
        elif k < 0.9:
            self.put(f"__global {t} *{p} = {o} + ({i}) + 16; do {{ *--{p} = {v}; }} while ({p} > {o} + ({i}));")
        else:
            self.put(f"__global {t} *{p} = {o}; {p} += {i}; for (int {e} = 0; {e} < {count}; {e}++) if ({self.condition()}) *{p}++ = {v};")

    def helper(self, o, t, i):
        f = f"put{self.name('')}_{self.seed}"
        value = "(" + t + ")(3)" if " " not in t else "*q"
        bodies = ["{ p[i] = V; }", "{ if (i < n) p[i] = V; }", "{ if (i >= n) return; p[i] = V; }",
                  "{ __global T *r = p + i; *r = V; }", "{ for (int k = 0; k < n && k < 8; k++) p[i + k] = V; }",
                  "{ while (n-- > 0) { p[i] = V; i++; if (i > 500) return; } }", "{ p += i; for (int k = 0; k < 4; k++) *p++ = V; }",
                  "{ if (n > 3) { p[i] = V; return; } p[i + 1] = V; }", "{ do { p[i++] = V; } while (i < n); }",
                  "{ int k = 0; for (; k < 16; k++) { if (k == n) return; p[i * 16 + k] = V; } }",
                  "{ for (int k = 3; k >= 0; k--, p++) p[i * 4] = V; }"]
        body = self.pick(bodies).replace("T", t).replace("V", value)
        extra = ", T *q".replace("T", t) if " " in t else ""
        self.helpers.append(f"void {f}(__global {t} *p, {self.pick(['int', 'int', 'uint', 'size_t', 'long'])} i, "
                            f"{self.pick(['int', 'uint', 'long'])} n{extra}) {body}")
        if extra:
            v = self.name("s")
            self.put(f"{t} {v} = {{0}};")
            extra = f", &{v}"
        self.put(f"{f}({o}, {i}, {self.pick(['n', 'm', '4', '100', self.atom()])}{extra});")

    # ---- written, then read ----

    def phase(self, o, t, k, write, s):
        """The work-item's own 16 elements, written or read: one, some or all of them, in some order."""
        j = self.name("j")
        head = self.pick([f"for (int {j} = 0; {j} < {self.pick(['4', '16', '16', '15', 'n', 'm', '8'])}; {j}++)"] * 3 +
                         [f"for (int {j} = {self.pick(['15', '3', '14', 'n - 1'])}; {j} >= {self.pick(['0', '0', '1', 'base'])}; {j}--)",
                          f"for (uint {j} = 0; {j} < 16; {j} += 2)", "", ""])
        at = self.pick(["J", "J", "K * 4 + J", "K", "15 - J", "J + 1", "J * 4 & 15", "K + 1", "J + base", "J - 1", "3"])
        at = at.replace("J", j if head else self.pick(["1", "0", "2"])).replace("K", k or "2")
        at = self.pick([f"{self.own} * 16 + ({at})"] * 3 + [f"({at}) * 512 + {self.own}"])
        guard = f"if ({self.condition()}) " if self.chance(0.25) else ""
        use = f"{o}[{at}] = ({t})({self.own});" if write else f"{s} += (int){o}[{at}];"
        self.put((head + " " if head else "") + "{ " + guard + use + " }")

    def phases(self):
        """What a part writes before it reads it need not be there when the part begins: but only then."""
        names = [(o, t) for o, t in self.outs.items() if t in SCALARS]
        if not names:
            return
        o, t = self.pick(names)
        s, k = self.name("i"), None
        self.put(f"int {s} = 0;")
        if self.chance(0.6):
            k = self.name("k")
            self.put(self.pick([f"for (int {k} = 0; {k} < {self.pick(['4', '3', 'n', '16'])}; {k}++)",
                                f"for (int {k} = 3; {k} >= 0; {k}--)"]))
        self.put("{")
        self.depth += 1
        for write in self.pick([(1, 0), (1, 0), (0, 1), (1, 0, 1), (1, 1, 0), (0, 1, 0), (1, 0, 0)]):
            self.phase(o, t, k, write, s)
        self.depth -= 1
        self.put("}")
        if self.chance(0.5):
            self.phase(o, t, None, self.chance(0.3), s)
        self.put(f"if ({s} == 123456) {o}[{self.own} * 16] = 1;")

    # ---- the work-group ----

    def group_phase(self):
        """Local memory, barriers, copies by the group; only where all work-items come by."""
        if any("return" in s for s in self.lines):
            return
        self.barriers = True
        o, t = next(iter(self.outs.items()))
        if " " in t or (vector_parts(t) and vector_parts(t)[1] not in (2, 4, 8, 16)):
            self.put("barrier(CLK_LOCAL_MEM_FENCE);")
            return
        l = self.name("l")
        lid = "get_local_linear_id()" if self.std == "CL3.0" else \
            "((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))"
        size = "(get_local_size(0) * get_local_size(1) * get_local_size(2))"
        group = "((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0))"
        count = self.pick([size, size, "4", "n & 15", "m", "n", f"{size} - 1"])
        self.put(f"__local {t} {l}[256];")
        # All of it: a copy may be of more elements than the group has work-items.
        self.put(f"for (uint {l}f = {lid}; {l}f < 256; {l}f += {size}) {l}[{l}f] = ({t})(1);")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        at = self.pick([f"{o} + {group} * {size}", f"{o} + {group} * 256", f"{o} + get_group_id(0) * 300", o])
        k = self.random()
        if k < 0.4:
            self.put(f"event_t {l}e = async_work_group_copy({at}, {l}, {count}, 0); wait_group_events(1, &{l}e);")
        elif k < 0.55:
            self.put(f"event_t {l}e = async_work_group_strided_copy({at}, {l}, {count}, {self.pick(['2', '3', 'm', '1'])}, 0); "
                     f"wait_group_events(1, &{l}e);")
        elif k < 0.65:
            into, of = (l, o) if self.chance(0.4) else (self.name("m"), "in")
            u = t if into == l else self.ins["in"]
            if into != l:
                self.put(f"__local {u} {into}[256];")
            self.put(f"event_t {l}e = async_work_group_copy({into}, (__global const {u} *){of} + {self.pick(['0', group + ' * 16', 'base'])}, "
                     f"{self.pick([count, '16'])}, 0); wait_group_events(1, &{l}e);")
            self.put(f"{o}[{self.own}] = ({t})({into}[{self.pick(['0', lid])}]);"
                     if not vector_parts(t) else f"{o}[{self.own}].x = 1;")
        elif k < 0.75:
            self.put(f"{o}[{self.own}] = {l}[{self.pick(['0', lid, '3'])}];")
            self.put("barrier(CLK_GLOBAL_MEM_FENCE);")
            self.put(f"{l}[{lid}] = {o}[{self.pick([self.own, group + ' * ' + size, f'{group} * {size} + ({lid} + 1) % {size}', f'{self.own} ^ 1', f'{self.own} - {lid}'])}];")
        else:
            self.put(f"if ({lid} == 0) {o}[{group}] = {l}[{size} - 1];")
