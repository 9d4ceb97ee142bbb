# SPDX-License-Identifier: MIT
"""Private variables of all kinds through which random kernels' numbers go, and what changes them."""

DECLARATIONS = ["int a0[4] = {{{x}, 1, 2, n}};", "uint2 v0 = (uint2)({x}, 3);", "int4 v1 = (int4)(4, {x}, n, 1);", "struct plain s0 = {{{x}, 5}};",
                "int i0 = {x}, *p0 = &i0;", "union mixed u0; u0.i = {x};", "int r0[2][3] = {{{{1, 2, 3}}, {{{x}, 5, 6}}}};",
                "struct nest d0 = {{{{1, {x}}}, {{3, 4}}}};", "uchar c0 = {x};", *["bool b0 = {x} > 3;", "bool f1 = true;"] * 4, "struct grid g0 = {{{{{{1, 2}}, {{{x}, 3}}}}}};",
                "int a1[4] = {{[2] = {x}, 1}};",
                "struct nest d1 = {{.u = {{1, {x}}}, .p.a = 3}};"]
PLACES = {"a0": ["a0[0]", "a0[1]", "a0[E & 3]", "a0[3]"], "v0": ["v0.x", "v0.y", "v0.s1"], "v1": ["v1.y", "v1.w", "v1.lo.x", "v1.zw.y"],
          "s0": ["s0.a", "s0.b"], "i0": ["i0", "*p0", "p0[0]"], "u0": ["u0.i", "u0.b[0]", "u0.s[1]"], "r0": ["r0[1][0]", "r0[0][2]", "r0[E & 1][1]"],
          "d0": ["d0.p.a", "d0.u[1]", "d0.p.c", "d0.u[E & 1]"], "c0": ["c0"], "b0": ["b0"], "f1": ["f1"], "g0": ["g0.a[1][0]", "g0.a[2][1]"],
          "a1": ["a1[2]", "a1[3]", "a1[E & 3]"],
          "d1": ["d1.u[1]", "d1.p.a", "d1.p.c"]}
CHANGES = {"a0": ["bump(a0 + 1);", "fill(a0, E);", "swap(a0, a0 + 3);", "for (int e = 1; e < 4; e++) a0[e] += a0[e - 1];",
                  "{ int *q = &a0[E & 3]; *q = 7; }", "*(a0 + 2) = E;"],
           "v0": ["v0 = v0.yx;", "v0 += 1u;", "v0.x++;", "v0 = (uint2)(E);", "set(&v0, E);", "v0 = vload2(0, (uint *)&v0);"],
           "v1": ["v1 = v1.wzyx;", "v1.xy = v1.zw;", "v1 *= 2;", "v1.odd = (int2)(E, 1);", "((int *)&v1)[1] = E;", "v1 = as_int4(v1);",
                  "vstore2((int2)(E), 1, (int *)&v1);", "v1 = min(v1, (int4)(9));", "v1 = convert_int4(convert_uchar4(v1));",
                  "v1 = __builtin_shufflevector(v1, v1, 3, 6, 1, 0);", "v1 = __builtin_convertvector(__builtin_convertvector(v1 * 100, uchar4), int4);"],
           "s0": ["s0 = made(E, 2);", "through(&s0, E);", "s0.a += s0.b;", "{ struct plain other = s0; other.a = E; s0 = other; }",
                  "{ struct plain *q = &s0; q->b = E; }", "s0.a = sum_of(s0);", "*(int *)&s0 = E;"],
           "i0": ["*p0 += 2;", "bump(p0);", "bump(&i0);", "i0 = twice(i0);", "p0 = &i0;", "i0 -= E;", "i0 = -i0;", "i0 = ~i0;",
                  "i0 ^= 1;", "i0 <<= 1;", "i0 >>= 1;", "i0 = i0 ?: 3;", "__builtin_add_overflow(i0, E, &i0);", "i0 = ({ int z = E; z + 1; });",
                  "while (i0 > 20) i0 -= 5;", "do i0++; while (i0 & 3);", "for (; i0 < 6; i0++) ;"],
           "u0": ["u0.b[1] = E;", "u0.s[0] = E;", "u0.i = E;"], "r0": ["r0[1][2] = E;", "fill(r0[0], E);", "r0[E & 1][0]++;"],
           "d0": ["d0.u[0] = E;", "d0.p.a = E;", "{ struct nest o_ = d0; d0 = o_; }", "d0.p.c++;"], "c0": ["c0 += E;", "c0--;", "c0 *= 3;"],
           "b0": ["b0 = E;", "b0 = !b0;", "b0 ^= 1;", "b0++;", "b0--;"], "f1": ["f1++;", "f1++;", "f1 += 1;", "f1 = f1 + 2;", "for (int e = 0; e < 3; e++) f1++;"], "g0": ["g0.a[1][1] = E;", "g0.a[0][0] += E;"],
           "a1": ["a1[3] = E;", "fill(a1, E);"],
           "d1": ["d1.u[0] = E;", "d1.p.a += E;"]}
USES = {"b0": ["b0", "(b0 + 2)", "(b0 * 3)"], "f1": ["f1", "(f1 + 1)", "(f1 * 2)"]}  # of a truth value: numbers made of it
FUNCTIONS = """
void bump(int *p) { *p += 3; }
void fill(int *a, int v) { for (int i = 0; i < 3; i++) a[i] = v + i; }
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
void set(uint2 *p, uint a) { p->x = a; p->y += 1; }
struct plain made(int a, int b) { struct plain s; s.a = a; s.b = b; if (a & 1) { s.a = b; return s; } s.b++; return s; }
void through(struct plain *s, int a) { if (a > 3) { s->a = a; return; } s->b += a; }
int sum_of(struct plain s) { s.a += s.b; return s.a; }
"""


class States:
    def state(self):
        """Declares a variable of some kind, or uses and changes one that is in scope."""
        if not self.states or self.chance(0.4):
            d = self.pick(DECLARATIONS)
            name = d.split("=")[0].split("[")[0].split(";")[0].split(",")[0].split()[-1]
            if name not in self.states:
                self.put(d.format(x=self.pick([self.own, self.atom(), "n & 15", "2"])))
                self.states.append(name)
        name = self.pick(self.states)
        for _ in range(self.pick([0, 1, 1, 2])):
            change = self.pick(CHANGES[name] + [f"{p} = E;" for p in PLACES[name]] + [f"{p} += E;" for p in PLACES[name]])
            change = change.replace("E", self.pick([self.own, self.atom(), "1", "n & 7", self.number(2)]))
            if self.chance(0.2):
                change = f"if ({self.condition()}) {{ {change} }}"
            self.put(change)
        if name in USES:
            self.next_index = f"({self.own}) * 4 + {self.pick(USES[name])}"
        self.vars.append(self.pick(USES.get(name, PLACES[name])).replace("E", self.own))
