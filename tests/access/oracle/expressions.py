# SPDX-License-Identifier: MIT
"""Random numbers, conditions and indices, made of ids, sizes, arguments, loop counters and what buffers hold."""

PARTS = {"sp": ["sp.a", "sp.b"], "v4": ["v4.x", "v4.w", "v4.s2"], "v2": ["v2.x", "v2.y"], "ti": ["ti.a", "ti.s", "ti.c"],
         "gr": ["gr.a[0][1]", "gr.a[2][0]"]}
INTS = ["int", "int", "int", "uint", "uint", "size_t", "long", "ulong", "short", "ushort", "uchar", "char"]


class Expressions:
    def constant(self):
        return self.pick(["0", "1", "1", "2", "3", "4", "5", "7", "8", "15", "16", "17", "31", "64", "100"])

    def dim(self):
        return int(self.random() * self.dims)

    def id(self):
        d = self.dim()
        return self.pick([f"get_global_id({d})", f"get_global_id({d})", f"get_local_id({d})", f"get_group_id({d})"] * 4 +
                         ["get_global_id(n & 1)", "get_local_id(x & 1)", "get_local_linear_id()" if self.std == "CL3.0" else "get_group_id(0)"])

    def size(self):
        d = self.dim()
        return self.pick([f"get_global_size({d})", f"get_local_size({d})", f"get_num_groups({d})"] * 3 +
                         ["get_work_dim()", "get_global_size(n & 1)", f"get_global_offset({d})", "FEW", "MANY",
                          f"get_enqueued_local_size({d})" if self.std == "CL3.0" else f"get_local_size({d})"])

    def atom(self):
        k = self.random()
        if k < 0.45 and self.counters:
            return self.pick(self.counters)
        if k < 0.6:
            return self.pick(self.vars)
        if k < 0.8:
            return self.pick(["n", "m", "base", "n"] + self.parts * 2)
        if k < 0.9:
            return self.id()
        if k < 0.95:
            return self.size()
        return self.constant()

    def number(self, depth=0):
        """Any integer expression: small mostly, of any type."""
        k = self.random()
        if depth > 2 or k < 0.4:
            return self.atom()
        if k < 0.5:
            return self.constant()
        a = self.number(depth + 1)
        if k < 0.6:
            return f"({a} + {self.constant()})"
        if k < 0.68:
            return f"({a} - {self.constant()})"
        if k < 0.74:
            return f"({a} * {self.pick(['2', '3', '4', '16'])})"
        if k < 0.78:
            return f"(({self.pick(INTS)}){a})"
        if k < 0.82:
            return f"({a} {self.pick('/%')} {self.pick(['2', '3', '4', '8', '16'])})"
        if k < 0.86:
            return f"({a} & {self.pick(['1', '3', '7', '15', '255'])})"
        if k < 0.88:
            return f"({a} >> {self.pick('123')})"
        b = self.number(depth + 1)
        if k < 0.92:
            return f"({a} {self.pick('+-')} {b})"
        if k < 0.93:
            return f"min((int)({a}), (int)({b}))"
        if k < 0.94:
            return self.pick([f"clamp((int)({a}), 0, {self.constant()})", f"abs((int)({a}))", f"mul24((int)({a}), 3)", f"mad24((uint)({a}), 4u, 1u)",
                              f"select((int)({a}), (int)({b}), (int)({a} > 2))", f"abs_diff((uint)({a}), 4u)", f"convert_int({a})", f"({a}, {b})",
                              f"({a} ^ {self.constant()})", f"({a} | {self.pick('1248')})", f"({a} << {self.pick('123')})", f"-({a})",
                              f"({a} * {b})", f"({a} % ({b} | 1))", f"(({a} > 3) + 1)", f"max({self.pick('12')}u, (uint)({b}))",
                              f"__builtin_popcount({a})", f"table[({a}) & 7]", f"table[({a}) & 3]", f"(int)sizeof(short[{self.pick('345')}])", f"({a} ?: 2)"])
        if k < 0.95:
            return f"max((uint)({a}), (uint)({b}))"
        if k < 0.96:
            return f"twice({a})"
        if k < 0.97:
            return f"least({a}, {b})"
        if k < 0.98:
            return f"TWICE({a})"
        if k < 0.99 and self.has("loaded"):
            return self.loaded()
        return f"({self.condition(depth + 1)} ? {a} : {b})"

    def loaded(self):
        name = self.pick(list(n for n in self.ins if n != "ps"))
        return f"{name}[{self.pick([self.own, self.own, '0', 'base & 15', self.own + ' & 31', self.number(2) + ' & 63'])}]"

    def comparison(self, depth=0):
        op = self.pick(["<", "<", "<", "<=", ">", ">=", "==", "!="])
        k = self.random()
        if k < 0.25:
            return f"{self.own} {op} {self.pick(['n', 'n', 'm', self.constant()])}"
        if k < 0.35:
            return f"{self.pick([self.own + ' * 2', self.own + ' * 4', self.own + ' + base', self.own + ' - base'])} {op} n"
        if k < 0.55 and self.counters:
            c = self.pick(self.counters)
            return self.pick([f"{c} {op} {self.pick(['n', 'm', 'base', self.constant()])}", f"{c} + base {op} n",
                              f"{c} {op} {self.own}"])
        if k < 0.62:
            return f"{self.id()} {op} {self.pick(['n', 'm', 'base', self.constant()])}"
        if k < 0.67:  # over several ids
            a, b, c = self.id(), self.pick(self.vars + [self.own]), self.pick(["", " * 2", " * 4", " * 16", " * get_local_size(0)", " * n"])
            return self.pick([f"{a}{c} + {b} {op} n", f"{b}{c} + {a} {op} n", f"{b} - {a} {op} {self.pick(['0', '1', 'base'])}", f"{a} {op} {b}",
                              f"{b} {op} {a}{c}", f"n - {b} {op} {a}", f"{a} * 3 {op} {b} * 2", f"{b} / {self.pick('248')} {op} {a}"])
        if k < 0.72:
            return f"{self.pick(['n', 'm', 'base'])} {op} {self.pick([self.constant(), 'm', self.own])}"
        if k < 0.77:
            return f"within({self.atom()}, {self.pick(['0', 'base', '2'])}, {self.pick(['n', '16', 'm'])})"
        if k < 0.82 and self.has("loaded", 0.3):
            return f"{self.loaded()} {op} {self.constant()}"
        if k < 0.86:
            return f"({self.atom()} & {self.pick('1234')})"
        return f"{self.number(1)} {op} {self.number(2)}"

    def condition(self, depth=0):
        compound = 0.45 if "conditions" in self.traits else 0.15
        if depth > 2 or not self.chance(compound):
            return self.comparison(depth)
        k = self.random()
        a, b = self.condition(depth + 1), self.condition(depth + 1)
        if k < 0.45:
            return f"({a} && {b})"
        if k < 0.65:
            return f"({a} || {b})"
        if k < 0.8:
            return f"!({a})"
        if k < 0.86:
            return f"({self.number(2)}, {a})"
        if k < 0.9:
            return f"({a} & {b})"
        if k < 0.93:
            return f"({a} ? {b} : {self.comparison()})"
        if k < 0.95:
            return f"AND3({a}, {b}, {self.comparison()})"
        if k < 0.97:
            return f"({a}) == ({b})"
        return self.pick([f"!!({a})", f"__builtin_expect({a}, 1)", f"(({a}) ^ ({b}))", f"({a} > 0)", f"(({a}) | ({b}))", f"(bool)({self.number(1)})",
                          f"({a}) != ({b})"])

    # ---- where in a buffer ----

    def choose_own(self):
        """A number of the work-item's own, mostly: `self.own`, and the variables x, y, z."""
        ids = []
        for d in range(self.dims):
            k = self.random()
            e = f"get_global_id({d})"
            if k < 0.3:
                e = f"get_global_id({d}) - get_global_offset({d})"
            elif k < 0.4:
                e = f"get_group_id({d}) * get_local_size({d}) + get_local_id({d})"
            elif k < 0.45:
                e = f"get_global_size({d}) - 1 - (get_global_id({d}) - get_global_offset({d}))"
            elif k < 0.5 and self.has("groups"):
                e = self.pick([f"get_local_id({d})", f"get_group_id({d})"])
            v = "xyz"[d]
            self.put(f"{self.pick(INTS) if self.has('types') else self.pick(['int', 'int', 'uint', 'size_t'])} {v} = {e};")
            ids.append(v)
        self.vars += ids
        if self.dims == 1 and self.chance(0.8):
            self.own = "x"
            return
        w = [self.pick([f"get_global_size({d})", f"get_global_size({d})", self.pick(["16", "32", "n"])]) for d in range(3)]
        if self.dims == 1:
            e = self.pick(["x + 0", "x * 1", "n - 1 - x", "x + base", "x ^ 1", "(x << 1) + 1", "x / 2", "x & 31"])
        elif self.dims == 2:
            e = self.pick([f"y * {w[0]} + x"] * 6 + [f"x * {w[1]} + y", f"x * {w[1]} + y", "x + y", "x", "y", "y * 16 + x"])
        else:
            e = self.pick([f"(z * {w[1]} + y) * {w[0]} + x"] * 4 + ["(z * 8 + y) * 8 + x", f"z * {w[0]} + x", "x + y + z", "y"])
        if self.std == "CL3.0" and self.chance(0.1):
            e = "get_global_linear_id()"
        self.put(f"{self.pick(INTS) if self.has('types') else self.pick(['int', 'uint', 'size_t'])} own = {e};")
        self.own = "own"
        self.vars.append("own")

    def index(self):
        if self.next_index:  # by what a truth value has become
            i, self.next_index = self.next_index, None
            return i
        """An integer expression: which element is meant."""
        k, own = self.random(), self.own
        if self.counters:
            c = self.pick(self.counters)
            if len(self.counters) > 1 and self.chance(0.5):
                c = f"({self.counters[0]} * {self.pick(['4', '8', '16'])} + {self.counters[1]})"
            if k < 0.4:
                return f"{own} * {self.pick(['4', '8', '16', '16', '16', '17', 'm'])} + {c}"
            if k < 0.65:
                return f"{c} * {self.pick(['256', '300', '512', 'get_global_size(0)', 'm'])} + {own}"
            if k < 0.7:
                return f"{own} * 16 + {self.pick(['15 - ' + c, c + ' + 1', '2 * ' + c, '(' + c + ' & 7)', c + ' - base'])}"
            if k < 0.75:
                return c
        if k < 0.8 and self.has("groups", 0.1):
            d = self.dim()
            g = self.pick([f"get_local_id({d})", f"get_group_id({d})"])
            return self.pick([f"{own} + {g} * 1024", f"{g} * 600 + {own}", f"{own} * 16 + {g}", f"{g} * 64 + get_local_id(0)",
                              f"{own} + {g}", f"{g}"])
        if k < 0.93 and self.has("rings", 0.03):
            return self.ring()
        if k < 0.85 and self.has("loaded", 0.05):
            return self.pick([self.loaded(), f"{self.loaded()} + {own}", f"{self.loaded()} * 4 + {own}"])
        if k < 0.95:
            return self.pick([own, own, own, own, f"{own} + {self.constant()}", f"{own} * 2", f"{own} * 3 + 1", f"{own} + base",
                              f"({own} >= base ? {own} : 0)", f"({own} < n ? {own} : {own} + 256)"])
        return self.number()

    def ring(self):
        """A neighbour in a row whose ends are neighbours, too."""
        row = self.pick(["", "", "", " * 16", " * 64 + x"])
        own = self.pick(self.vars if row else [self.own])
        far = self.pick(["1", "1", "1", "2", "5", "base"] + self.counters * 3)
        w = self.pick(["get_global_size(0)", "get_global_size(0)", "8", "16", "16", "32", "64", "100", "(int)get_global_size(0)", "(n | 1)"])
        mask = self.pick(["7", "15", "31", "63", "255"])
        if self.chance(0.2):
            v = self.name("r")
            self.put(f"int {v} = {own} {self.pick('+-')} {far}; if ({v} < 0) {v} += {w}; if ({v} >= {w}) {v} -= {w};")
            return v + row
        at = self.pick([f"({own} + {far}) % {w}", f"({own} + {w} - {far}) % {w}", f"(({own} - {far}) % {w} + {w}) % {w}", f"({own} - {far} - 8) % {w} + {w}", f"({own} * 2 + {far}) % {w}",
                        f"({own} + {far}) & {mask}", f"({own} - {far}) & {mask}", f"({own} == 0 ? {w} - 1 : {own} - 1)",
                        f"({own} + 1 == {w} ? 0 : {own} + 1)", f"({own} + {far} < {w} ? {own} + {far} : {own} + {far} - {w})",
                        f"({own} < {far} ? {own} + {w} - {far} : {own} - {far})"])
        if self.chance(0.2):  # of which another condition knows more
            return f"({at}){row} + ({own} {self.pick(['<', '>='])} {self.pick(['8', '12', 'base', 'n'])} ? ({at}) & 64 : 0)"
        return f"({at}){row}"
