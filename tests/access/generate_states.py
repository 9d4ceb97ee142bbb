#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random kernels whose indices come out of private state: generate_states.py SEED COUNT FOLDER makes
FOLDER/s<SEED + i>.cl.

Where generate.py varies how an index is computed, this varies where it has been meanwhile: in structs, vectors, unions and
arrays, behind pointers to them, in helpers that change what they are handed, through `&&`, `?:`, loops and switches. A
work-item stores to its own STRIPE elements only, and reads below what is masked; all arithmetic wraps around."""
import os
import random
import sys

STRIPE = 64  # elements of `out` that belong to one work-item
READ = 4000  # more elements of `in` than eight for each work-item

HELPERS = """
struct T { uint x; ushort y; uint2 v; uint a[2]; };
struct R { struct T t; uint *p; };
struct scene { __global const uint *in; uint n; struct T t; uint *q; };
union U { uint u; uchar b[4]; ushort h[2]; };
typedef struct __attribute__((packed)) { uchar k; uint w; } packed;
uint pick(const uint *p, uint i) { return p[i & 3]; }
void bump(uint *p) { *p += 3; }
void bump_by(uint *p, uint n) { for (uint i = 0; i < n; i++) *p += i; }
void set_vector(uint2 *p, uint a) { p->x = a; p->y += 1; }
void set_in_loop(uint2 *p, uint n) { for (uint i = 0; i < n; i++) { p->s1 += p->x + 1; p->x ^= i; } }
uint twist(uint4 *p) { uint s = 0; for (int i = 0; i < 3; i++) { s = s * 3 + p->y; *p = p->yzwx; } return s; }
struct T made(uint a, uint b)
{
    struct T t;
    t.x = a; t.y = (ushort)b; t.v = (uint2)(a, b); t.a[0] = b; t.a[1] = a;
    if (a & 1) { t.x = b; return t; }
    t.y++;
    return t;
}
void change(struct T *t, uint a) { t->x += a; t->v.x = a; t->a[a & 1] = 5; }
void through(struct R r, uint a) { *r.p ^= a; r.t.x = 1; }
uint read_of(const struct R *r) { return *r->p + r->t.x; }
uint many(uint a)
{
    if (a == 0) return 1;
    if (a < 3) return a + 2;
    switch (a & 3) { case 0: return 9; case 1: a++; case 2: a += 2; break; default: a = 1; }
    return a;
}
void swap(uint *a, uint *b) { uint t = *a; *a = *b; *b = t; }
void fill(uint a[4], uint v) { for (int i = 0; i < 4; i++) a[i] = v + i; }
uint deep(uint *p, uint n) { if (n > 2) bump(p); while (n--) bump(p); return *p & 7; }
uint *choose(uint *a, uint *b, uint c) { return c & 1 ? a : b; }
uint side(uint *p) { return (*p)++; }
uint scene_at(const struct scene *s, uint i) { return s->in[i & 127]; }
uint scene_copied(struct scene s, uint i) { return s.in[i & 127] + *s.q; }
void scene_move(struct scene *s, uint by) { s->in += by & 3; s->t.x = by; }
void scene_set(struct scene *s, __global const uint *p) { s->in = p; }
void scene_add(struct scene *s, uint v) { *s->q += v; }
uint scene_sum(struct scene *s, uint n)
{
    uint sum = 0;
    for (uint i = 0; i < n; i++) { sum += s->in[i]; s->n += i; s->t.v.x ^= sum; }
    return sum;
}
__global const uint *either(__global const uint *a, __global const uint *b, uint c) { return c & 1 ? a : b; }
"""

# E stands for an expression.
PLACES = ["i0", "i1", "i2", "i3", "s0", "c0", "v0.x", "v0.y", "v1.s2", "v1.w", "v1.y", "a[0]", "a[1]", "a[3]", "a[E & 3]",
          "t0.x", "t0.y", "t0.v.x", "t0.a[1]", "t1.x", "t1.v.y", "t1.a[0]", "*p", "p[0]", "pv->x", "pv->y", "(*pv).y", "pt->x",
          "pt->v.y", "pt->a[1]", "u.u", "u.b[0]", "u.h[1]", "r.t.x", "*r.p", "k.w", "k.k", "q4->z", "rows[1][0]",
          "rows[E & 1][1]", "w8.s5", "w8.lo.y", "w8.hi.x", "((uint *)&v1)[2]", "((uchar *)&i2)[1]", "(*choose(&i0, &i1, n))",
          "(*choose(&i2, a + 1, E))"]
SIMPLE = ["i0", "i1", "a[1]", "v0.x", "t0.x", "*p", "pv->x", "u.b[1]", "c0"]
EXPRESSIONS = ["(E + E)", "(E * 3u)", "(E - E)", "(E & E)", "(E | E)", "(E ^ E)", "(E >> 2)", "(E >> 33)", "(E >> (n & 7))",
               "(E << 1)", "(E << 34)", "(E < E)", "(E > E)", "(E <= E)", "(E == E)", "(E != E)", "(E && E)", "(E || E)",
               "((E & 1u) ? E : E)", "((E > n) ? E : E)", "(!E)", "many(E)", "pick(a, E)", "(uint)(uchar)(E)",
               "(uint)(short)(E)", "(E % 7u)", "(E / 3u)", "(E / (n | 1u))", "min((uint)(E), (uint)(E))",
               "max((uint)(E), (uint)(E))", "abs_diff((uint)(E), (uint)(E))", "(E, E)", "(1 && E)", "(0 || E)", "(E && 1)",
               "(E || 0)", "(~E)", "(-E)", "made(E, E).y", "made(E, E).v.x", "((uint2)(E, E)).y"]
CHANGES = ["bump(&i0);", "bump(p);", "bump(&a[1]);", "bump(&t0.x);", "bump(a + 2);", "bump_by(&i1, n & 3);", "bump_by(p, 2);",
           "set_vector(&v0, E);", "set_vector(pv, E);", "set_in_loop(&v0, n & 3);", "set_in_loop(pv, 2);", "i0 = twist(&v1);",
           "i1 = twist(q4);", "change(&t0, E);", "change(pt, E);", "through(r, E);", "i2 = read_of(&r);", "swap(&i0, &i1);",
           "swap(p, a);", "fill(a, E);", "fill(rows[1], 7);", "i3 = deep(&i0, n & 3);", "i3 = deep(p, 1);",
           "i1 = side(p) + 1;", "t1 = made(E, n);", "*pt = made(n, E);", "t0 = t1;", "t1 = t0;", "*pt = t1;", "t1 = *pt;",
           "r.t = t0;", "t0 = r.t;", "v0 = v1.zw;", "v1.xy = v0;", "v1 = v1.wzyx;", "v0 = v0 + 1u;", "v0 += v1.lo;",
           "v1 *= 3u;", "v0++;", "w8.lo = v1;", "v1 = w8.odd;", "vstore2(v0, 0, a);", "v0 = vload2(1, a);",
           "v1 = vload4(0, a);", "vstore3(v1.xyz, 0, a + 1);", "v0 = as_uint2((int2)(1, 2));", "v0 = convert_uint2(v1.xz);",
           "v1 = (uint4)(v0, i0, 3u);", "v0 = (uint2)(i1);", "b0 = i0 > 2;", "i0 = b0;", "b0 ^= 1;", "i1 = b0 ? 3 : 4;",
           "b0 = i1 & 6;", "u.u = i0;", "i1 = u.h[0];", "p = &i0;", "p = &i1;", "p = a;", "p = &a[2];", "p = &t0.x;",
           "p = &pt->a[0];", "p = n & 1 ? &i2 : &i3;", "p = choose(&i0, a + 1, n);", "pv = &v0;", "pv = &t1.v;",
           "pv = n & 2 ? &v0 : &t0.v;", "pt = &t0;", "pt = &t1;", "pt = n & 1 ? &t0 : &t1;", "r.p = &i1;", "r.p = p;",
           "q4 = &v1;", "p = (uint *)&v1;", "p = (uint *)pv;", "p = rows[0];", "pv = (uint2 *)a;"]
SCENE = ["sum += scene_at(&scene, E);", "sum += scene_at(ps, E);", "sum += scene_copied(scene, E);", "scene_move(&scene, E);",
         "scene_set(&scene, in + own + (E & 7));", "scene_set(ps, more);", "scene_add(&scene, E);", "scene.q = &i0;",
         "scene.q = p;", "sum += scene_sum(&scene, n & 3);", "sum += scene_sum(ps, 2);", "scene.in = either(in, more, E);",
         "{ struct scene other = scene; other.in++; if (E & 1) scene = other; ps = &scene; }"]


class Kernel:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.depth, self.count, self.loops, self.budget = [], 1, 0, 0, 30

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self):
        self.count += 1
        return f"k{self.count}"

    def filled(self, text, depth=2):
        parts = text.split("E")
        return parts[0] + "".join(self.expression(depth) + part for part in parts[1:])

    def place(self):
        return self.filled(self.r.choice(PLACES))

    def expression(self, depth=0):
        k = self.r.randrange(26 if depth < 3 else 5)
        if k < 2:
            return f"{self.r.choice([0, 1, 2, 3, 5, 7, 8, 16])}u"
        if k == 2:
            return self.r.choice(["n", "m"])
        if k < 5:
            return self.place() if depth < 2 else self.r.choice(SIMPLE)
        return self.filled(self.r.choice(EXPRESSIONS), depth + 1)

    def use(self):
        e = self.expression()
        if self.r.randrange(5) < 3:
            self.put(f"sum = sum * 3 + in[own * 8 + (({e}) & 255u)];")
        else:
            self.put(f"out[own * {STRIPE} + (({e}) & {STRIPE - 1}u)] = {self.r.randrange(1, 99)};")

    def block(self, n):
        self.put("{")
        self.depth += 1
        for _ in range(n):
            self.statement()
        self.depth -= 1
        self.put("}")

    def loop(self):
        r, v = self.r, self.name()
        limit = r.choice(["3", "n % 4", "2", "(m & 3) + 1"])
        k = r.randrange(6)
        self.loops += 1
        if k in (2, 3):
            self.put(f"uint {v} = {limit if k == 2 else 0};")
        self.put([f"for (uint {v} = 0; {v} < {limit}; {v}++)", f"for (int {v} = {limit}; {v} >= 0; {v} -= 2)",
                  f"while ({v}--)", "do", f"for (uint {v} = 0, w{v} = 9; {v} < w{v}; {v}++, w{v} -= 3)",
                  f"for (uchar {v} = 0; ; {v}++)"][k])
        if k == 5:
            self.put(f"{{ if ({v} == 3) break;")
        self.block(r.randrange(1, 4))
        if k == 5:
            self.put(self.filled(r.choice(["if (E & 1u) continue;", "if (E > n) break;", ""])))
            self.statement()
            self.put("}")
        if k == 3:
            self.put(f"while (++{v} < {limit});")
        if k in (2, 3):
            self.put(f"sum += in[own * 8 + ({v} & 255u)];")
        self.loops -= 1

    def switch(self):
        self.put(f"switch ({self.expression(1)} & 7) {{")
        for case in self.r.sample(range(8), self.r.randrange(2, 5)):
            self.put(f"case {case}:;")
            self.statement()
            if self.r.randrange(3):
                self.put("continue;" if self.loops and self.r.randrange(4) == 0 else "break;")
        if self.r.randrange(2):
            self.put("default:;")
            self.statement()
        self.put("}")

    def statement(self):
        r = self.r
        self.budget -= 1
        k = r.randrange(34) if self.budget > 0 else 0
        if k < 6:
            self.use()
        elif k < 10:
            self.put(f"{self.place()} = {self.expression()};")
        elif k < 12:
            self.put(f"{self.place()} {r.choice(['+', '-', '^', '|', '*', '>>', '<<'])}= {self.expression(2)};")
        elif k == 12:
            self.put(r.choice(["%s++;", "++%s;", "%s--;"]) % self.place())
        elif k < 18:
            self.put(self.filled(r.choice(CHANGES)))
        elif k < 22:
            self.put(self.filled(r.choice(SCENE)))
        elif k < 26:
            self.put(self.filled(r.choice(["if (E & 1u)", "if (E > n)"]), 1))
            self.block(r.randrange(1, 4))
            if r.randrange(2):
                self.put("else")
                self.block(r.randrange(1, 3))
        elif k < 29 and self.depth < 4:
            self.loop()
        elif k < 31:
            self.switch()
        elif k == 31:
            v = self.name()
            self.put(self.filled(f"uint {v}[3] = {{E, E}}; for (int e = 0; e < 2; e++) {v}[e + 1] += {v}[e];"))
            self.put(f"sum += in[own * 8 + ({v}[1] & 255u)];")
        elif k == 32:
            v = self.name()
            self.put(self.filled(f"struct T {v} = {{E, 3, (uint2)(E, 1u), {{4, E}}}}; ") + f"{r.choice(['t0', '*pt'])} = {v};")
        else:
            self.put(self.filled(f"do {{ {self.place()} = E; if (E & n) break; {self.place()} += E; }} while (0);"))

    def text(self):
        for _ in range(self.r.randrange(6, 16)):
            self.statement()
        self.use()
        local = self.r.choice([2, 4, 8])
        size = local * self.r.choice([2, 3, 4])
        body = "\n".join(self.lines)
        return f"""//! kernel work
//! global {size}
//! local {local}
//! offset {self.r.choice([0, 0, 3])}
//! buffer uint {size * STRIPE} zero
//! buffer uint {size * 8 + READ} random 1000
//! buffer uint {size} zero
//! value uint {self.r.randrange(9)}
//! value uint {self.r.randrange(300)}
//! buffer uint {READ} random 1000
{HELPERS}
__kernel void work(__global uint *out, __global const uint *in, __global uint *sums, uint n, uint m,
                   __global const uint *more)
{{
    const uint own = get_global_id(0) - get_global_offset(0);
    uint sum = own, i0 = own, i1 = n, i2 = 2, i3 = m, *p = &i2;
    ushort s0 = 7;
    uchar c0 = 9;
    bool b0 = n > 3;
    uint2 v0 = (uint2)(1, n), *pv = &v0;
    uint4 v1 = (uint4)(4, 3, 2, m), *q4 = &v1;
    uint8 w8 = (uint8)(5);
    uint a[4] __attribute__((aligned(16))) = {{1, 2, 3, 4}}, rows[2][4] = {{{{1, 2, 3, 4}}, {{5, 6, 7, 8}}}};
    struct T t0 = {{1, 2, (uint2)(3, 4), {{5, 6}}}}, t1 = made(n, m), *pt = &t1;
    struct R r = {{t0, &i3}};
    struct scene scene = {{in, n, t0, &i1}}, *ps = &scene;
    union U u;
    u.u = 77;
    packed k = {{3, 4}};
{body}
    sums[own] = sum + i0 + i1 * 3 + i2 * 5 + i3 * 7 + v0.x + v0.y * 3 + v1.z + a[0] + a[1] * 9 + t0.x + t1.x + u.u + k.w;
}}
"""


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        with open(f"{folder}/s{seed + i}.cl", "w", encoding="ascii") as f:
            f.write(Kernel(seed + i).text())


main()
