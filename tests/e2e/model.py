#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model.py NOTES [--depth N] [--devices N] [--wide]: replays what one process has noted (lock_notes.c), line by line, and says
the first line that breaks a promise of docs/daemon.md ("The shim's side") or common/client/client.h:

- a command, a shared unit and each unit goes from state to state as the tables say;
- a unit is submitted by a grant, which is given back once;
- no thread waits while it has a unit that is granted and not submitted;
- of one resource no more units are out than the daemon lets an application have;
- in a queue in order, units are submitted in order, and those behind the first when what came before has ended;
- a command fails if what it comes after has failed, or a unit of it, and else all its units are complete;
- at the end nothing is left.

--wide: an application that is connected alone may have sixteen times as many units out."""
import argparse
import os
import sys
from collections import Counter, defaultdict

COMMAND = ["prepared", "enqueued", "served", "over"]
COMMAND_NEXT = {"prepared": ["enqueued"], "enqueued": ["served"], "served": ["over"], "over": []}
# By the table of docs/daemon.md, whose rows are in the order of enum gs_sharing.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/daemon.md"), encoding="utf-8") as page:
    ROWS = [row.split("|")[1:-1] for row in page.read().split("| state | join")[1].split("\n\n")[0].splitlines()[2:]]
SHARING = [row[0].strip() for row in ROWS]
SHARING_NEXT = {row[0].strip(): [state.strip(" \\*") for cell in row[1:] for state in cell.split(",")] for row in ROWS}
UNIT = ["queued", "granted", "submitted", "complete", "failed"]
UNIT_NEXT = {"queued": ["granted"], "granted": ["queued", "submitted", "failed"],
             "submitted": ["complete", "failed"], "complete": [], "failed": []}
WITH_GRANT = ["granted", "submitted"]
HAS_ENDED = ["complete", "failed"]
PCI, WIDE = 0, 16


class Broken(Exception):
    pass


def promise(kept, text):
    if not kept:
        raise Broken(text)


class Unit:
    def __init__(self, command=None):
        self.command, self.state, self.thread = command, "queued", None


class Command:
    def __init__(self, queue, in_order, units):
        self.queue, self.in_order, self.units = queue, in_order, units
        self.state, self.sharing, self.status = "prepared", None, 0
        self.gate = self.end = None
        self.gate_set = self.end_set = self.behind_failed = False
        self.overtaken = False  # it must have failed then, of which nobody may have heard yet
        self.behind = False  # when it was called for, the first unit of the command before hadn't ended

    def comes_after(self, before):
        if self.behind and before.state in ("served", "over") and before.fails() and all(u.state == "queued" for u in before.units):
            self.behind_failed = True

    def fails(self):
        return self.behind_failed or self.status < 0 or any(u.state == "failed" for u in self.units)


class Model:
    def __init__(self, depth, devices, wide):
        self.depth, self.devices, self.wide = depth, devices, wide
        self.commands, self.units, self.addresses = {}, {}, {}
        self.events = {}  # gates and ends, by handle
        self.grants = {}  # of units, by address: (resource, daemon's client, generation, is it a piece?)
        self.holds = defaultdict(set)  # by thread: units that it was granted and has not submitted
        self.queues = defaultdict(list)  # commands in the order in which they were enqueued
        self.ended, self.seen = False, Counter()

    def unit(self, address, state):
        """One that no command has is a new one with each first state."""
        u = self.units.get(address)
        if not u or (not u.command and state == "queued"):
            promise(not u or u.state not in WITH_GRANT, "a unit begins anew that was %s" % (u and u.state))
            u = self.units[address] = Unit()
        return u

    # ---- the lines ----

    def on_new(self, thread, h, queue, in_order, n, first, size):
        promise(h not in self.commands, "a command is made where another one is")
        units = [Unit() for _ in range(int(n))]
        c = self.commands[h] = Command(queue, in_order == "1", units)
        self.addresses[h] = [hex(int(first, 16) + i * int(size)) for i in range(len(units))]
        for address, u in zip(self.addresses[h], units):
            u.command = c
            self.units[address] = u

    def on_made(self, thread, h, gate, end, behind):
        c = self.commands[h]
        c.behind = behind == "1"
        c.gate, c.end = (None if e == "(nil)" else e for e in (gate, end))
        promise(bool(c.gate) == (c.units[0].state != "granted"), "a gate where the first unit is granted, or none where it isn't")
        for e in (c.gate, c.end):
            if e:
                self.events[e] = c

    def on_gone(self, thread, h):
        c = self.commands.pop(h)
        promise(c.state in ("prepared", "over"), "a command goes that is %s" % c.state)
        for address in self.addresses.pop(h):
            u = self.units.pop(address)
            promise(u.state in HAS_ENDED + ["queued"], "a command goes with a unit that is %s" % u.state)
        if c.state == "over":
            promise(c.gate_set or not c.gate, "a command goes whose gate is shut")
            promise(c.end_set or not c.end, "a command goes whose event has not ended")
        for e in (c.gate, c.end):
            self.events.pop(e, None)
        if c in self.queues[c.queue]:
            self.queues[c.queue].remove(c)

    def on_command(self, thread, h, before, after, status):
        c, before, after = self.commands[h], COMMAND[int(before)], COMMAND[int(after)]
        promise(c.state == before, "a command is %s, not %s" % (c.state, before))
        promise(after in COMMAND_NEXT[before], "a command that is %s becomes %s" % (before, after))
        c.state, c.status = after, int(status)
        line = self.queues[c.queue]
        if before == "prepared" and c.in_order:
            if line:
                c.comes_after(line[-1])
            line.append(c)
        if after == "served" and c in line and c is not line[-1]:
            line[line.index(c) + 1].comes_after(c)
        if after == "served" and not c.fails():
            promise(all(u.state in HAS_ENDED + ["submitted"] for u in c.units), "a command is served before its units are submitted")
        if after == "over":
            self.is_over(c)

    def is_over(self, c):
        states = [u.state for u in c.units]
        promise(not set(states) & set(WITH_GRANT), "a command is over with a unit under way")
        promise(c.status < 0 or not c.behind_failed, "what a command comes after has failed, and it hasn't")
        promise(c.status < 0 or "failed" not in states, "a unit has failed, and its command hasn't")
        promise(c.status < 0 or set(states) == {"complete"}, "a command is complete, and a unit of it isn't")
        promise(c.status < 0 or not c.overtaken, "a command is overtaken by one that comes after it in its queue")
        for other in self.earlier(c):
            if c.end and other.end and not c.fails() and other.state != "over":
                other.overtaken = True
        self.seen["failed" if c.status < 0 else "several" if len(states) > 1 else "single"] += 1

    def earlier(self, c):
        """What came before it in its queue, in order, and is still known."""
        line = self.queues[c.queue] if c.in_order else []
        return line[:line.index(c)] if c in line else []

    def on_sharing(self, thread, h, before, after):
        c, before, after = self.commands[h], SHARING[int(before)], SHARING[int(after)]
        promise(before == c.sharing or (c.sharing is None and before in ("open", "closed")), "sharing is %s, not %s" % (c.sharing, before))
        promise(after in SHARING_NEXT[before], "sharing goes from %s to %s" % (before, after))
        c.sharing = after

    def on_grant(self, thread, address, resource, client, generation, piece):
        u = self.units.get(address)
        promise(address not in self.grants, "a unit is granted twice")
        promise(not u or not u.command or u.state == "queued", "a unit is granted that is %s" % (u and u.state))
        self.grants[address] = (resource, client, generation, piece == "1")
        self.seen["granted"] += 1
        if client == "0":  # no daemon counts it
            return
        self.seen["by a daemon"] += 1
        out = [g for g in self.grants.values() if g[:3] == (resource, client, generation)]
        most = self.depth * (self.devices if int(resource) == PCI else 1) * (WIDE if self.wide else 1)
        promise(len(out) <= 2 * most and sum(not g[3] for g in out) <= most, "%d units of resource %s are out" % (len(out), resource))

    def on_give(self, thread, address):
        promise(self.grants.pop(address, None), "a unit is given back that isn't granted, or was given back before")

    def on_unit(self, thread, address, before, after):
        before, after = UNIT[int(before)], UNIT[int(after)]
        u = self.unit(address, before)
        promise(u.state == before, "a unit is %s, not %s" % (u.state, before))
        promise(after in UNIT_NEXT[before], "a unit that is %s becomes %s" % (before, after))
        promise(after not in WITH_GRANT or address in self.grants, "a unit becomes %s without a grant" % after)
        # It goes back with the very next line of this thread: at the end none may be left.
        u.state = after
        if before == "granted":
            self.holds[u.thread].discard(address)
        if after == "granted":
            u.thread = thread
            self.holds[thread].add(address)
        if after == "submitted" and u.command and u is u.command.units[0]:
            for other in self.earlier(u.command):
                other.overtaken = other.overtaken or any(v.state not in HAS_ENDED + ["submitted"] for v in other.units)

    def on_enqueue(self, thread, address, ready):
        u = self.units[address]
        promise(u.state in WITH_GRANT and address in self.grants, "a unit is enqueued that is %s" % u.state)
        promise(ready == "0", "a unit is enqueued while what comes before it is at %s" % ready)
        promise(not u.command.behind_failed, "a unit is enqueued behind what has failed")

    def on_behind(self, thread, h, status):
        if int(status) < 0:
            self.commands[h].behind_failed = True

    def on_set(self, thread, event, status):
        c, status = self.events.get(event), int(status)
        if not c:
            return  # the application's
        if event == c.gate:
            promise(status < 0 or c.units[0].state == "submitted", "a gate is opened for a unit that is %s" % c.units[0].state)
            promise(status < 0 or not c.behind_failed, "a gate is opened behind what has failed")
            c.gate_set = True
        else:
            promise(c.state == "over", "a command's event ends while it is %s" % c.state)
            promise((status < 0) == (c.status < 0), "a command ends with %d, its event with %d" % (c.status, status))
            c.end_set = True

    def on_wait(self, thread, what):
        promise(not self.holds[thread], "a thread waits (%s) with a unit that is granted and not submitted" % what)

    def on_end(self, thread):
        self.ended = True
        promise(not self.grants, "%d grants are not given back" % len(self.grants))
        left = Counter(c.state for c in self.commands.values() if c.state != "over")
        promise(not left, "commands are left: %s" % dict(left))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("notes")
    p.add_argument("--depth", type=int, default=2)
    p.add_argument("--devices", type=int, default=2)
    p.add_argument("--wide", action="store_true")
    a = p.parse_args()
    model = Model(a.depth, a.devices, a.wide)
    last = []
    with open(a.notes) as notes:
        for number, line in enumerate(notes, 1):
            thread, what, *words = line.split()
            last = last[-200:] + [line.rstrip()]
            try:
                getattr(model, "on_" + what)(thread, *words)
            except (Broken, KeyError) as e:
                about = [s for s in last if s.split()[0] == thread or (words and words[0] in s)][-12:]
                sys.exit("%s, line %d: %s\n  %s" % (a.notes, number, e if isinstance(e, Broken) else "%s is not known" % e, "\n  ".join(about)))
            if model.ended:
                break
    if not model.ended:
        sys.exit("%s: the process has not come to its end; %d grants are out; commands: %s"
                 % (a.notes, len(model.grants), dict(Counter(c.state for c in model.commands.values()))))
    print(" ".join("%s=%d" % (k.replace(" ", "_"), v) for k, v in sorted(model.seen.items())))


main()
