#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""graph.py [--most N] LOG...: what graph.so has written (graph.h): is each pair of commands of the driver in order of which
one writes bytes that the other reads or writes?

In order: there is a path from one to the other, by queues, wait lists, user events and what the host has waited for.
Left out are pairs that the application leaves unordered itself, by its own graph:
  - both do what two commands of the application ask for (a launch's kernel, a write's write), and neither of these two
    comes after the other: then they touch different bytes, which of a launch isn't known, or the application is wrong;
  - the first reads, for whatever command of the application, the second is a later command's own, and these two are
    unordered: what was read was of no use then;
  - both are the same launch's own kernels;
  - the first reads for a launch that a kernel of the same launch writes there, or for a call that was refused, and the
    layer has spoiled where it lies what it took (flow.c): it is used for nothing, or the bytes are wrong.
A transfer, a copy that is kept or a merge, which gpusparc adds, has no other excuse: what it writes must be in order with
all else, and what it reads with all that was enqueued before.

Exits with 1 and says which where there is such a pair."""
import bisect
import re
import sys


class Graph:
    """One level: nodes, and which come before which."""

    def __init__(self):
        self.name, self.call, self.before, self.known, self.touched = {}, {}, {}, {}, {}
        self.waits, self.failed, self.spoiled = {}, set(), set()
        self.joins = [[]]  # what the host has learnt, one after the other
        self.past = {}
        self.join_past = [0]

    def add(self, words, touched):
        node = int(words[0])
        self.call[node], self.name[node] = int(words[1]), words[2]
        self.before[node] = [int(w) for w in words[3:]]
        self.waits[node] = [int(w) for w in words[3:] if w[0] != "+"]
        self.known[node] = len(self.joins) - 1
        self.touched[node] = touched

    def made(self, node):
        self.name[node], self.call[node] = "User event", 0
        self.before[node], self.known[node], self.touched[node] = [], None, []

    def is_set(self, node, failed):
        if self.known.get(node) is None:  # again: refused
            self.known[node] = len(self.joins) - 1
            if failed:
                self.failed.add(node)

    def drop_failed(self):
        """What waits for a user event that fails isn't carried out."""
        for node, waits in self.waits.items():
            if not self.failed.isdisjoint(waits):
                self.failed.add(node)
                self.touched[node] = []

    def join(self, nodes):
        self.joins.append([n for n in nodes if n in self.before])

    def finish(self):
        """All that comes before each, as bits. What the host has learnt by some time is a node of its own."""
        self.bit = {n: i for i, n in enumerate(self.before)}
        done, joined = self.past, [None] * len(self.joins)
        joined[0] = 0
        for target in list(self.before) + list(range(-len(self.joins) + 1, 0)):
            todo = [target]
            while todo:
                at = todo[-1]
                if at < 0:
                    if joined[-at] is not None:
                        todo.pop()
                        continue
                    need = [n for n in self.joins[-at] if n not in done]
                    if joined[-at - 1] is None:
                        need.append(at + 1)
                    if need:
                        todo += need
                        continue
                    past = joined[-at - 1]
                    for n in self.joins[-at]:
                        past |= done[n] | 1 << self.bit[n]
                    joined[-at] = past
                elif at not in done:
                    need = [n for n in self.before[at] if n not in done]
                    known = self.known[at] or 0
                    if joined[known] is None:
                        need.append(-known)
                    if need:
                        todo += need
                        continue
                    past = joined[known]
                    for n in self.before[at]:
                        past |= done[n] | 1 << self.bit[n]
                    done[at] = past
                todo.pop()

    def comes_before(self, a, b):
        return a == b or bool(self.past[b] >> self.bit[a] & 1)

    def ordered(self, a, b):
        return self.comes_before(a, b) or self.comes_before(b, a)


class Object:
    """Who has touched which bytes of a memory object last: stretches [begin, end, writers, readers]."""

    def __init__(self):
        self.begins, self.stretches = [], []

    def cut(self, at):
        i = bisect.bisect_right(self.begins, at) - 1
        if i >= 0 and self.begins[i] < at < self.stretches[i][1]:
            begin, end, writers, readers = self.stretches[i]
            self.stretches[i] = [begin, at, writers, readers]
            self.begins.insert(i + 1, at)
            self.stretches.insert(i + 1, [at, end, list(writers), list(readers)])

    def between(self, begin, end):
        self.cut(begin)
        self.cut(end)
        i, at = bisect.bisect_left(self.begins, begin), begin
        while at < end:
            if i == len(self.begins) or self.begins[i] > at:
                till = min(end, self.begins[i]) if i < len(self.begins) else end
                self.begins.insert(i, at)
                self.stretches.insert(i, [at, till, [], []])
            yield self.stretches[i]
            at = self.stretches[i][1]
            i += 1


def rows(field):
    """'r3:0:65536[:pitch:rows:slice pitch:slices]' -> access, object, [(begin, end)]"""
    access, numbers = field[0], [int(n) for n in field[1:].split(":")]
    thing, begin, length = numbers[:3]
    pitch, n, slice_pitch, slices = numbers[3:] or (0, 1, 0, 1)
    if pitch == length and n > 1:
        length, n = length * n, 1
    return access, thing, [(begin + s * slice_pitch + r * pitch, begin + s * slice_pitch + r * pitch + length)
                           for s in range(slices) for r in range(n)]


def written(access):
    return access != "r"


def kind(name):
    """Commands of one kind do what the other asks for."""
    if name.startswith("Kernel="):
        return name
    word = re.match(r"[A-Z][a-z]*", name).group(0)
    return {"Unmap": "Write", "Map": "Read"}.get(word, word)


class Check:
    def __init__(self, below, above):
        self.below, self.above = below, above
        self.seen, self.faults, self.wrote = {}, [], {}  # wrote: node, object -> [(begin, end, access)]
        self.of_threads()

    def of_threads(self):
        """A write of a thread of gpusparc's is for the last call so far that asks for such bytes."""
        for node, call in self.below.call.items():
            for field in self.below.touched[node] if not call else ():
                access, thing, stretches = rows(field)
                if not thing or self.below.name[node].startswith("Kernel="):
                    continue
                for c in reversed([c for c in self.above.touched if c < node]):
                    if kind(self.above.name[c]) == kind(self.below.name[node]) and any(
                            (written(access), thing) == (written(a), t) and s[0][0] <= stretches[0][0] and stretches[-1][1] <= s[-1][1]
                            for a, t, s in map(rows, self.above.touched[c])):
                        self.below.call[node] = c
                        break

    def own(self, node):
        """Is it what its call asks for?"""
        call = self.below.call[node]
        return call in self.above.name and kind(self.above.name[call]) == kind(self.below.name[node])

    def excuse(self, first, how, second):
        calls = self.below.call[first], self.below.call[second]
        if (first, second) in self.below.spoiled:
            return True
        if not self.own(second) or 0 in calls:
            return False
        if calls[0] == calls[1]:
            return self.own(first)
        if self.above.ordered(*calls):
            return False
        return how[0] == "r" or self.own(first)

    def how_written(self, node, thing, begin, end):
        """Stretches of that which the command has written, each with its access."""
        return ((max(begin, b), min(end, e), a) for b, e, a in self.wrote[node, thing] if b < end and begin < e)

    def pair(self, first, how, second, thing, begin, end):
        key = first, how, second
        if first == second or self.seen.get(key) in ("ordered", "fault"):
            return
        self.seen[key] = "ordered" if self.below.ordered(first, second) else "excused"
        if self.seen[key] == "ordered":
            return
        ways = [(begin, end, how)]
        if how != "ww":
            ways = [(b, e, how.replace("w", a)) for b, e, a in self.how_written(second if how == "rw" else first, thing, begin, end)]
        for b, e, h in ways:
            if not self.excuse(first, h, second):
                self.seen[key] = "fault"
                self.faults.append((key, f"{'object ' + str(thing) if thing else 'host memory'}, bytes {b} to {e}:\n"
                                    f"  {self.say(first, how[0])}\n  {self.say(second, how[1])}"))
                return

    def say(self, node, access):
        call = self.below.call[node]
        name = f"call {call}, {self.above.name.get(call)}" if call else "a thread of gpusparc's"
        return f"{'read' if access == 'r' else 'written'} by {node}, {self.below.name[node]}, for {name}"

    def touch(self, objects, node, access, thing, begin, end):
        before = self.below.comes_before
        for stretch in objects.setdefault(thing, Object()).between(begin, end):
            _, _, writers, readers = stretch
            for w in writers:
                self.pair(w, "w" + access, node, thing, stretch[0], stretch[1])
            if access != "r":
                for r in readers:
                    self.pair(r, "rw", node, thing, stretch[0], stretch[1])
                stretch[2] = [w for w in writers if not before(w, node)] + [node]
                stretch[3] = [r for r in readers if not before(r, node)]
            elif node not in readers:
                stretch[3] = [r for r in readers if not before(r, node)] + [node]

    def run(self):
        objects = {}
        for node, touched in self.below.touched.items():
            for field in touched:
                access, thing, all_rows = rows(field)
                for begin, end in all_rows:
                    if written(access):
                        self.wrote.setdefault((node, thing), []).append((begin, end, access))
                    else:
                        self.touch(objects, node, "r", thing, begin, end)
            for thing in {rows(field)[1] for field in touched if written(field[0])}:
                stretches = []  # written in one way or the other
                for begin, end, _ in sorted(self.wrote[node, thing]):
                    if stretches and stretches[-1][1] >= begin:
                        stretches[-1][1] = max(end, stretches[-1][1])
                    else:
                        stretches.append([begin, end])
                for begin, end in stretches:
                    self.touch(objects, node, "w", thing, begin, end)

def read(path):
    below, above = Graph(), Graph()
    with open(path, encoding="utf-8") as log:
        for line in log:
            if not line.endswith("\n"):  # the process ended while a thread was writing
                break
            what, *words = line.split()
            graph = above if what.isupper() else below
            what = what.lower()
            if what == "c":
                end = words.index("|") if "|" in words else len(words)
                graph.add(words[:end], words[end + 1:])
            elif what == "u":
                graph.made(int(words[0]))
            elif what == "s":
                graph.is_set(int(words[0]), len(words) > 1)
            elif what == "g":
                graph.spoiled.add((int(words[0]), int(words[1])))
            elif what == "j":
                graph.join([int(w) for w in words])
    below.drop_failed()
    below.finish()
    above.finish()
    return below, above


def main():
    most, paths = 5, sys.argv[1:]
    if paths and paths[0] == "--most":
        most, paths = int(paths[1]), paths[2:]
    bad = 0
    for path in paths:
        below, above = read(path)
        check = Check(below, above)
        check.run()
        for _, text in check.faults[:most]:
            print(f"not in order: {text}")
        bad += len(check.faults)
        excused = sum(what == "excused" for what in check.seen.values())
        print(f"{path}: {len(below.before)} commands for {len(above.before)} calls, {len(check.seen)} pairs that share bytes, "
              f"{excused} of them the application's own or of no effect, {len(check.faults)} not in order")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
