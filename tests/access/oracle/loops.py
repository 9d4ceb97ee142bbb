# SPDX-License-Identifier: MIT
"""Random loops: up and down, by all kinds of steps, with all kinds of tests, that wrap, or never run."""
from expressions import INTS


class Loops:
    def extra(self, v, test):
        """A loop's test with something besides what bounds it."""
        if not self.has("conditions", 0.25):
            return test
        if self.chance(0.35) and "," not in test:  # what ends the loop though it may hold again later
            again = self.pick([f"{v} >= {self.pick(['base', 'n', 'm', '4', 'x', self.atom()])}", f"{v} != {self.pick(['n', 'm', 'base', 'x', '3'])}",
                               f"{v} < {self.pick(['n', 'm', '12'])}", f"({v} & {self.pick('1248')})", f"{v} <= {self.atom()}",
                               f"!({v} == {self.pick(['n', 'base', '5'])})", f"({self.own} + {v}) % {self.pick('357')}"])
            return self.pick([f"{test} && {again}", f"{again} && {test}", f"!(!({again}) || !({test}))", f"{test} && {again} && {self.condition(2)}"])
        other = self.pick([f"{v} {self.pick(['<', '<=', '>', '>=', '!='])} {self.pick(['n', 'm', 'base', 'x', '8'])}",
                           self.condition(1), self.condition(2), f"{v} + base < n", f"in[{self.own} * 16 + {v} & 255] > 1",
                           f"in[{v} & 63] != 3"])
        if "," in test:
            return test
        return self.pick([f"{test} && {other}", f"{test} && {other}", f"{other} && {test}", f"{other} && {test}",
                          f"({test}) & ({other})", f"{test} || {other}", f"!(!({test}) || {other})", f"({other}, {test})",
                          f"({test}, {other})", f"({test}) && ({other}) && {self.comparison()}", f"{test} ? {other} : 0",
                          f"AND3({test}, {other}, n > 1)"])

    def picked(self):
        """A loop over places that stand in an array of the work-item's own."""
        vars_, stored, states = list(self.vars), list(self.stored), list(self.states)
        a, v, n = self.name("g"), self.name("k"), self.pick([2, 3, 4, 4, 9, 40])
        self.put(f"{self.pick(['int', 'int', 'uint', 'ushort', 'long'])} {a}[{n}]{self.pick(['', ' = {0}'])};")
        if n > 9 or self.chance(0.4):
            self.put(f"for (int e = 0; e < {n}; e++) {a}[e] = {self.pick([self.own, '0', 'n & 15'])} + e{self.pick(['', ' * 2', ' * base', ' + (int)get_global_id(0)'])};")
        else:
            for i in range(n):
                self.put(f"{a}[{i}] = {self.ring() if self.chance(0.7) else self.own};")
        limit = self.pick([str(n)] * 5 + [f"{n - 1}", f"(n & {n - 1 & 2 | 1})", f"min((int)m, {n})"])
        style = self.pick(["for", "for", "for", "two", "down", "while", "do"])
        head = {"for": f"for (int {v} = 0; {v} < {limit}; {v}++)", "two": f"for (uint {v} = 1; {v} < {limit}; {v} += 2)",
                "down": f"for (int {v} = {limit} - 1; {v} >= 0; {v}--)", "while": f"int {v} = 0; while ({v} < {limit})", "do": f"int {v} = 0; do"}[style]
        sum_ = self.name("t")
        self.put(f"int {sum_} = {self.pick(['0', '0', self.own])};")
        self.put(head)
        self.put("{")
        self.depth += 1
        self.loops += 1
        self.breakable += 1
        self.counters = [v] + self.counters
        place = self.pick([f"{v} * {self.pick(['64', '256', 'get_global_size(0)'])} + {a}[{v}]"] * 4 + [f"{a}[{v}]", f"{a}[{v}] * 4 + {v}", f"{a}[({v} + 1) & 1]"])
        if self.chance(0.4):
            w = self.name("t")
            self.put(f"int {w} = {place};")
            place = w
            self.vars.append(w)
        if self.chance(0.3):
            self.put(self.pick([f"{sum_} += {place};", f"{sum_} += {a}[{v}];", f"{sum_} += 1;", f"{a}[{v}] += 1;", f"{a}[0] = {place};", f"if ({self.condition()}) {sum_} = {v};"]))
        self.vars.append(sum_)
        if self.has("jumps", 0.1):
            self.jump()
        self.next_index = self.pick([place, place, place, f"{sum_} * 16 + {v}"])
        self.store()
        self.next_index = None
        if self.chance(0.3):
            self.statement()
        self.counters = self.counters[1:]
        if style in ("while", "do"):
            self.put(f"{v}++;")
        self.loops -= 1
        self.breakable -= 1
        self.depth -= 1
        self.put("}" + (f" while ({v} < {limit});" if style == "do" else ""))
        self.vars, self.states = vars_ + [sum_], states
        self.stored = stored + self.outlive(self.stored[len(stored):], [v])

    def loop(self):
        if self.has("picks", 0.04):
            self.picked()
            return
        v = self.name("k")
        t = self.pick(INTS) if self.has("types", 0.15) else self.pick(["int", "int", "uint", "size_t"])
        loaded = "idx" in self.ins and self.chance(0.4)
        limit = self.pick(["idx[x + 1]", f"idx[{self.own}] + 4", "idx[0]", "(idx[x & 7] & 15)"]) if loaded else self.pick(["16", "8", "4", "5", "16", "3", "1"]) if self.chance(0.6) else \
            self.pick(["n", "m", "base", "(n & 15)", "min((int)n, 16)", "(x & 7)", "get_local_id(0)", "get_local_size(0)",
                       "(m >> 2)", "n - base", "n / 4", f"({self.number(1)} & 15)"])
        first = self.pick(["idx[x]", "0", "idx[x] / 2"]) if loaded and limit == "idx[x + 1]" else self.pick(["0"] * 6 + ["1", "base", "2", "x & 3", "get_local_id(0)"])
        step = "1" if self.chance(0.7) else self.pick(["2", "3", "4", "get_local_size(0)", "m", "5"])
        if t in ("uchar", "char", "short", "ushort") and self.chance(0.25):  # near the end of the type
            limit, step = self.pick(["250", "120", "n", "m", "200", "32760", "65500"]), self.pick(["16", "32", "50", "64", "100"])
            first = self.pick(["0", "100", "n", "200"]) if t in ("uchar", "char") else self.pick(["32700", "65400", "base - 3"])
        up, down = self.pick([f"{v}++", f"++{v}", f"{v} += 1"]), self.pick([f"{v}--", f"--{v}", f"{v} -= 1"])
        if step != "1":
            up, down = self.pick([f"{v} += {step}", f"{v} = {v} + {step}"]), f"{v} -= {step}"
        k = self.random()
        init, second = first, None
        if k < 0.55 or not self.has("loops", 0.25):
            test, move = self.pick([f"{v} < {limit}", f"{v} < {limit}", f"{limit} > {v}", f"{v} <= {limit}"]), up
        elif k < 0.65:
            init, test, move = f"{limit} - 1", self.pick([f"{v} >= 0", f"{v} >= {first}", f"{v} > {first}", f"{v} < {limit}"]), down
        elif k < 0.7:
            test, move = self.pick([f"{v} != {limit}", f"{limit} != {v}", f"!({v} == {limit})"]), up
        elif k < 0.73:
            init, test, move = limit, self.pick([f"{v}-- > 0", f"{v}--", f"--{v} > 0", f"--{v}"]), ""
        elif k < 0.76:
            test, move = self.pick([f"{v}++ < {limit}", f"++{v} < {limit}"]), ""
        elif k < 0.8:
            init, test, move = self.pick([("1", f"{v} < {limit} * 4", f"{v} *= 2"), (limit, f"{v} > 0", f"{v} >>= 1"),
                                          ("1", f"{v} <= {limit}", f"{v} <<= 1"), (limit, f"{v}", f"{v} /= 2")])
        elif k < 0.9:
            w = second = self.name("j")
            init = f"{first}, {w} = {self.pick([limit, '16', 'n', '0'])}"
            test = self.pick([f"{v} < {limit} && {w} > base", f"{v} < 16 && {w} < n", f"{v} < {w}", f"{v} < {limit}",
                              f"{v} <= {w}", f"{w} > 0 && {v} < {limit}", f"{v} < {limit}, {w} > 0"])
            move = f"{up}, {self.pick([w + '--', w + '++', w + ' -= 2', w + ' = ' + v])}"
        elif k < 0.95:
            test, move = self.pick([f"({self.own} + {v}) < n", f"{v} * {v} < {limit}", f"{v} + {v} < {limit}", f"{v} - base < {limit}",
                                    f"({self.pick(['uchar', 'int', 'uint', 'char'])}){v} < {limit}"]), up
        else:
            test, move = "", up
        if test:
            test = self.extra(v, test)
        self.emit_loop(v, t, init, test, move, second)

    def emit_loop(self, v, t, init, test, move, second):
        vars_, stored, states = list(self.vars), list(self.stored), list(self.states)
        counted = self.name("c") if self.pick(["uchar", "short", t]) == t and t != "int" or self.chance(0.05) else None
        stepped = self.name("t") if self.has("jumps", 0.1) else None
        if counted:  # ends, even if the variable wraps around
            self.put(f"int {counted} = 0;")
        if stepped:
            self.put(f"{self.pick(['int', 'uint', 'long'])} {stepped} = {self.pick(['0', 'base', '2', 'x & 3'])};")
        style = self.pick(["for"] * 6 + ["while", "while", "do", "do", "outer"])
        if style == "for":
            self.put(f"for ({t} {v} = {init}; {test}; {move})")
        else:
            self.put(f"{t} {v} = {init};")
            self.put("do" if style == "do" else f"while ({test or '1'})" if style == "while" else f"for (; {test}; {move})")
        self.put("{")
        self.depth += 1
        self.loops += 1
        self.breakable += 1
        own_counters = [v] + ([second] if second else [])
        self.counters = own_counters + self.counters
        if not test:
            self.put(f"if ({v} {self.pick(['>=', '==', '>'])} {self.pick(['4', '8', 'm & 15'])}) break;")
        first_move = style in ("while", "do") and move and self.chance(0.15)
        if first_move:
            self.put(move + ";")
        if counted:
            self.put(f"if (++{counted} > 20) break;")
        if stepped:  # perhaps not in every iteration
            if self.chance(0.6):
                self.put(f"if ({self.condition()}) {self.pick(['continue', 'continue', 'break'])};")
            self.put(self.pick([f"{stepped}++;", f"{stepped} += 2;", f"if ({self.condition()}) {stepped}++;", f"{stepped}--;"]))
            own_counters.insert(0, stepped)
            self.counters = [stepped] + self.counters
        for _ in range(self.pick([1, 1, 1, 2])):
            if self.has("jumps"):
                self.jump()
            self.statement()
        if self.chance(0.04):
            self.put(f"if ({self.comparison()}) {v}{self.pick(['++', ' += 2', '--'])};")
        if style in ("while", "do") and move and not first_move:
            self.put(move + ";")
        self.counters = self.counters[len(own_counters):]
        self.loops -= 1
        self.breakable -= 1
        self.depth -= 1
        self.put("}" + (f" while ({test or '1'});" if style == "do" else ""))
        self.vars, self.states = vars_, states
        self.stored = stored + self.outlive(self.stored[len(stored):], own_counters)
        if style != "for":
            self.vars.append(v)
