#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests of the grant rules notice? Each mutant is one wrong edit of scheduler/policy.c or patience.c: mutants.py [NAME...] builds
it with each of the tests below, in the current folder, and says the first that fails. scripts/soak.sh daemon_mutants runs it. Ends with
1 if one is missed.

A mutant is a name, a file, the text to replace, which is there once, and what to put there."""
import argparse
import os
import subprocess
import sys

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TESTS = ["rules", "liars", "fairness", "policy", "waits_beside_liars", "patience_loopholes"]
LIMIT_S = 120  # a mutant may never end
MUTANTS = [
    # ---- who is first ----
    ("the smaller priority goes first", "policy.c", "return a->priority > b->priority;", "return a->priority < b->priority;"),
    ("within a priority the last goes first", "policy.c", "return a->order < b->order;", "return a->order > b->order;"),
    ("who has had most goes first", "policy.c", "return a->key < b->key;", "return a->priority > 0 ? a->key < b->key : a->key > b->key;"),
    ("the processes of a task take turns", "policy.c", "return w->priority ? w->since :", "return w->priority ? 0 :"),
    ("a task's last process goes first", "policy.c", "return w->priority ? w->since :", "return w->priority ? UINT64_MAX - w->since :"),
    ("tasks have shares as well", "policy.c", "return w->priority ? w->since : w->tag_ns[resource]", "return w->tag_ns[resource]"),
    ("units out aren't expected to take anything", "policy.c", "(r->holder == client ? r->expected_ns : 0)", "(r->holder == client ? 0 : 0)"),
    ("a place isn't brought up to date with its time", "policy.c", "    r->accounted_ns = now_ns;\n    refresh(p, r->holder);", "    r->accounted_ns = now_ns;"),
    ("who leaves a line leaves a wrong place", "policy.c", "    p->w[r->line[at].client].at[resource] = at;\n", ""),
    ("a request leads for all resources", "policy.c", "while (w->queue[i].resource != resource ||", "while (false ||"),
    # ---- shares ----
    ("a newcomer isn't level", "policy.c", "    catch_up(p, client, resource);\n    p->w[client].at[resource] = r->waiting++;", "    p->w[client].at[resource] = r->waiting++;"),
    ("the start isn't remembered", "policy.c", "    p->r[resource].start_ns = p->w[client].tag_ns[resource];\n", ""),
    ("the start isn't set when nobody waits any more", "policy.c", "        if (p->w[r->holder].priority == 0)\n            start(p, r->holder, i);\n", ""),
    ("tasks set the start", "policy.c", "    if (w->priority == 0)\n        start(p, client, resource);\n    if (r->asked)", "    start(p, client, resource);\n    if (r->asked)"),
    ("time isn't charged before the next one is chosen", "policy.c", "        account(p, r, 0, now_ns);\n    for (uint32_t left", "        ;\n    for (uint32_t left"),
    ("time is charged to tasks", "policy.c", "    if (w->priority == 0) {\n        w->tag_ns[resource] += had;", "    {\n        w->tag_ns[resource] += had;"),
    ("who comes again owes nothing", "policy.c", "    memcpy(w->tag_ns, owner->tag_ns, sizeof w->tag_ns);\n", ""),
    ("who leaves last decides what its user owes", "policy.c", "        if (owner->tag_ns[i] < w->tag_ns[i])\n", ""),
    ("a task that is none any more isn't level", "policy.c", "    for (unsigned r = 0; r < p->resources; r++)\n        catch_up(p, client, r);\n    refresh(p, client);\n    serve(p, touched |", "    refresh(p, client);\n    serve(p, touched |"),
    ("time is charged as what one becomes", "policy.c", "            account(p, r, 0, now_ns);\n            spend_patience(p, r);\n", "            spend_patience(p, r);\n"),
    ("who becomes a task isn't charged", "policy.c", "            account(p, r, 0, now_ns);\n            spend_patience(p, r);\n", "            account(p, r, 0, now_ns);\n"),
    ("an expectation has no limit", "policy.c", "rq.cost_ns < COST_CAP_NS ? rq.cost_ns : COST_CAP_NS;", "rq.cost_ns;"),
    ("what is expected of units isn't less when some are back", "policy.c", "r->expected_ns / r->units * (r->units - gone);", "r->expected_ns / r->units * r->units;"),
    ("the share isn't told", "policy.c", "        w->share_ns[kind_of(resource)] += had;\n", ""),
    # ---- grants and leases ----
    ("one unit more than depth", "policy.c", "(is_short(p, client, resource) ? 1 : p->depth);", "(is_short(p, client, resource) ? 1 : p->depth + 1);"),
    ("a holder is ended with units out", "policy.c", "    if (r->units)\n        return false;\n    end(", "    if (r->units > 1)\n        return false;\n    end("),
    ("a lease isn't settled", "policy.c", "        p->ops->allow(p->ctx, r->holder, i);\n", ""),
    ("what a cancelled one stood before isn't served", "policy.c", "        serve(p, GS_MASK(resource), now_ns); /* the one", "        /* the one"),
    ("any request of a slot is cancelled", "policy.c", "w->queue[i].slot != slot || w->queue[i].serial != serial", "w->queue[i].slot != slot"),
    ("more units out than the daemon knows of", "policy.c", "units >= r->units)\n        return;\n    begin", "units == r->units)\n        return;\n    begin"),
    ("a page may say more units than depth", "policy.c", "r->units = units < p->depth ? units : p->depth;", "r->units = units;"),
    # ---- which GPU ----
    ("the preferred GPU isn't", "policy.c", "(equal && (r == prefer || p->r[r]", "(equal && (p->r[r]"),
    ("of equal GPUs another than the preferred one", "policy.c", "delay == least && best != prefer;", "delay == least;"),
    ("the most used of two equal GPUs", "policy.c", "p->r[r].load_ns < p->r[best].load_ns", "p->r[r].load_ns > p->r[best].load_ns"),
    ("the GPU that serves it latest", "policy.c", "|| delay < least ||", "|| delay > least ||"),
    ("who goes before doesn't count", "policy.c", "            delay += 2;\n", "            ;\n"),
    ("who goes behind counts", "policy.c", "if (r->line[i].client != r->holder && before(&r->line[i], &mine))", "if (r->line[i].client != r->holder)"),
    ("a holder that waits counts twice", "policy.c", "if (r->line[i].client != r->holder && before", "if (before"),
    ("one's own units count", "policy.c", "r->holder == GS_NO_CLIENT || r->holder == client ||", "r->holder == GS_NO_CLIENT ||"),
    ("an idle lease is busy", "policy.c", "        !(r->asked ? r->units : p->ops->units(p->ctx, r->holder, resource)))", "        !(r->asked ? r->units : 1))"),
    ("a holder that goes before is like any", "policy.c", "(before(&holders, &mine) ? 2 : 1)", "(before(&holders, &mine) ? 1 : 1)"),
    ("the link is a GPU", "policy.c", "if (mask & ~GS_MASK_ALL_GPUS(p->resources - 1))", "if (mask & ~(GS_MASK_ALL_GPUS(p->resources - 1) | 1u))"),
    # ---- alone ----
    ("alone beside tasks", "policy.c", "return !rq->alone || !p->tasks;", "return true;"),
    ("alone beside one's own units", "policy.c", "if (r->holder == client && !alone && !r->alone)", "if (r->holder == client && !r->alone)"),
    ("alone is a lease when it ends", "policy.c", "    if (r->alone && !units)\n        end(p, resource, false, now_ns);\n", ""),
    ("alone has no more patience", "policy.c", "watchdog_ns * ALONE_PATIENCE", "watchdog_ns"),
    ("alone is in peace beside tasks", "policy.c", "return p->r[resource].alone && !p->tasks;", "return p->r[resource].alone;"),
    ("alone is in peace no moment longer", "policy.c", "            p->r[i].hurt_ns = p->now_ns; /* from", "            ; /* from"),
    ("anybody renews", "policy.c", "p->r[resource].holder == client && is_in_peace(p, resource))", "is_in_peace(p, resource))"),
    ("renewing counts beside tasks", "policy.c", "== client && is_in_peace(p, resource))", "== client && p->r[resource].alone)"),
    ("renewing counts for a plain unit", "policy.c", "== client && is_in_peace(p, resource))", "== client && !p->tasks)"),
    # ---- the watchdog ----
    ("the limit counts from the newest unit", "policy.c", "return r->oldest_ns > r->hurt_ns ? r->oldest_ns :", "return r->oldest_ns > r->hurt_ns ? r->newest_ns :"),
    ("the limit counts from the newest unit's grant on", "policy.c", "    if (!r->units)\n        r->accounted_ns = r->oldest_ns = now_ns;", "    r->oldest_ns = now_ns;\n    if (!r->units)\n        r->accounted_ns = now_ns;"),
    ("a unit given back starts the time anew", "policy.c", "    r->oldest_ns = r->newest_ns;\n    if (r->alone && !units)", "    r->oldest_ns = now_ns;\n    if (r->alone && !units)"),
    ("the oldest unit's time goes on when it is back", "policy.c", "    r->oldest_ns = r->newest_ns;\n    if (r->alone && !units)", "    if (r->alone && !units)"),
    ("the limit counts from the grant, also if nobody waited", "policy.c", "return is_short(p, r->holder, resource) ?", "return true ?"),
    ("each one that comes starts the time anew", "policy.c", "    if (!hurt)\n        p->r[rq->resource]", "    p->r[rq->resource]"),
    ("when others came isn't noted", "policy.c", "        p->r[rq->resource].hurt_ns = now_ns;", "        ;"),
    ("a holder's own requests are others'", "policy.c", "return r->waiting > ((p->w[r->holder].want & GS_MASK(resource)) != 0);", "return r->waiting > 0;"),
    ("who is short has the time until others come as well", "policy.c", "return is_short(p, r->holder, resource) ?", "return false ?"),
    ("it is said that others waited all the time", "policy.c", "p->now_ns - hurts_since(p, resource)", "p->now_ns - kept_since(p, resource)"),
    ("who is short may take as many units as others", "policy.c", "(is_short(p, client, resource) ? 1 : p->depth);", "p->depth;"),
    ("who is short has leases", "policy.c", "const bool always_asks = r->alone || is_short(p, client, resource);", "const bool always_asks = r->alone;"),
    ("who is short has leases when nobody waits", "policy.c", "r->waiting || r->alone || is_short(p, r->holder, i))", "r->waiting || r->alone)"),
    ("leases of who has become short go on", "policy.c", "    for (unsigned i = 0; i < p->resources; i++)\n        if (p->r[i].holder != GS_NO_CLIENT && is_short(p, p->r[i].holder, i))\n            ask(p, i, p->now_ns);\n", ""),
    ("tasks are short with their user", "policy.c", "return w->priority == 0 && chunk_of", "return chunk_of"),
    ("nothing is spent at a unit's end", "policy.c", "    begin(p, now_ns);\n    spend_patience(p, resource);\n", "    begin(p, now_ns);\n"),
    ("nothing is spent by leaving", "policy.c", "        if (p->r[i].holder == client)\n            spend_patience(p, i);\n", "        ;\n"),
    ("tasks spend their user's patience", "policy.c", "is_in_peace(p, resource) || p->w[r->holder].priority)", "is_in_peace(p, resource))"),
    ("a measurement spends patience", "policy.c", "is_in_peace(p, resource) || p->w[r->holder].priority)", "p->w[r->holder].priority)"),
    ("patience is spent for nobody", "policy.c", "    if (keeps_others_waiting(p, resource))\n        charge(p, resource);", "    if (p->r[resource].holder != GS_NO_CLIENT)\n        charge(p, resource);"),
    ("who gives up leaves no charge", "policy.c", "        if (hurt && !keeps_others_waiting(p, resource))", "        if (false)"),
    ("the chunk of the link is that of the GPUs", "policy.c", "p->w[client].chunk_ns[KIND_PCI] = pci_ns;", "p->w[client].chunk_ns[KIND_PCI] = gpu_ns;"),
    ("what was taken isn't served", "policy.c", "    serve(p, taken, now_ns);\n    return taken;", "    return taken;"),
    # ---- offences ----
    ("who is taken back from isn't put behind", "policy.c", "        put_behind(p, holder);\n", ""),
    ("the user doesn't pay for it", "policy.c", "        gs_user_offends(user_of(p, holder), p->now_ns);\n", ""),
    ("tasks are put behind", "policy.c", "    if (!w->priority) {\n        gs_user_offends", "    if (true) {\n        gs_user_offends"),
    ("behind is only level", "policy.c", ".priority = w->behind ? BEHIND : w->priority,", ".priority = w->priority,"),
    ("nobody is pardoned", "policy.c", "        w->behind = false;\n        for", "        for"),
    ("a pardon is a claim", "policy.c", "            catch_up(p, c, r);\n        refresh(p, c);\n    }\n    p->pardon_ns", "            ;\n        refresh(p, c);\n    }\n    p->pardon_ns"),
    ("the next pardon is forgotten", "policy.c", "            next = w->offences.until_ns < next ? w->offences.until_ns : next;\n", ""),
    ("a later pardon hides an earlier one", "policy.c", "    if (w->offences.until_ns < p->pardon_ns)\n", ""),
    ("a task stays behind", "policy.c", "p->w[client].behind && !priority;", "p->w[client].behind;"),
    ("each offence is news", "policy.c", "w->offences.n == 1 && user_of", "user_of"),
    ("a user's offences are news without end", "policy.c", " && user_of(p, holder)->offences.n <= MOST_NEWS;", ";"),
    ("the penalty isn't told", "policy.c", "        p->offence.behind_ns = w->offences.until_ns - p->now_ns;\n", ""),
    ("a user that is here may be forgotten", "policy.c", "        if (o->patience.clients)\n            continue;\n", ""),
    ("a user that owes is forgotten before one that doesn't", "policy.c", "(blank && !best_blank)", "(!blank && best_blank)"),
    ("the user that left last is forgotten first", "policy.c", "o->left_ns < p->user[best].left_ns", "o->left_ns > p->user[best].left_ns"),
    ("a user's clients aren't counted down", "policy.c", "    owner->patience.clients--;\n", ""),
    # ---- patience ----
    ("offences are never forgotten", "patience.c", "return o->n && now_ns <= o->until_ns + FORGET_NS;", "return o->n;"),
    ("offences are forgotten when they are paid for", "patience.c", "now_ns <= o->until_ns + FORGET_NS;", "now_ns <= o->until_ns;"),
    ("each offence costs the same", "patience.c", "NS_PER_S << (o->n < MOST_DOUBLINGS ? o->n : MOST_DOUBLINGS);", "NS_PER_S << 0;"),
    ("doublings have no limit", "patience.c", "(o->n < MOST_DOUBLINGS ? o->n : MOST_DOUBLINGS);", "o->n;"),
    ("short is for ever", "patience.c", "return now_ns < u->offences.until_ns;", "return u->offences.n > 0;"),
    ("patience has no floor", "patience.c", "return chunk_ns * depth > LEAST_NS ? chunk_ns * depth : LEAST_NS;", "return chunk_ns * depth;"),
    ("patience is the floor", "patience.c", "return chunk_ns * depth > LEAST_NS ? chunk_ns * depth : LEAST_NS;", "return LEAST_NS;"),
    ("what was spent doesn't come back", "patience.c", "u->spent_ns > back ? u->spent_ns - back : 0", "u->spent_ns"),
    ("a tenth of the time comes back", "patience.c", "/ GS_CONFIG_COMES_BACK", "/ 10"),
    ("without chunks there is no limit", "patience.c", "        return watchdog_ns;\n    uint64_t limit;", "        return UINT64_MAX / 2;\n    uint64_t limit;"),
    ("who is short has depth chunks", "patience.c", "limit = chunk_ns > LATE_NS ? chunk_ns : LATE_NS;", "limit = chunk_ns * depth > LATE_NS ? chunk_ns * depth : LATE_NS;"),
    ("who is short has no floor", "patience.c", "limit = chunk_ns > LATE_NS ? chunk_ns : LATE_NS;", "limit = chunk_ns;"),
    ("after an offence patience is whole again", "patience.c", "} else if (!task && is_remembered(&u->offences, now_ns)) {", "} else if (false) {"),
    ("after an offence nobody may be woken late", "patience.c", "limit = chunk_ns * depth + LATE_NS;", "limit = chunk_ns * depth;"),
    ("tasks have their user's patience", "patience.c", "gone = task ? 0 : spent(u, now_ns);", "gone = spent(u, now_ns);"),
    ("tasks are short with their user, in their limit", "patience.c", "if (!task && gs_user_is_short(u, now_ns)) {", "if (gs_user_is_short(u, now_ns)) {"),
    ("the watchdog is no limit", "patience.c", "return limit < watchdog_ns ? limit : watchdog_ns;", "return limit;"),
    ("a chunk that is allowed is spent", "patience.c", "u->spent_ns = spent(u, now_ns) + kept_ns - chunk_ns * depth;", "u->spent_ns = spent(u, now_ns) + kept_ns;"),
    ("only the last unit is spent", "patience.c", "u->spent_ns = spent(u, now_ns) + kept_ns", "u->spent_ns = kept_ns"),
    ("an offence leaves what was spent", "patience.c", "    gs_offend(&u->offences, now_ns);\n    u->spent_ns = 0;\n    u->at_ns = now_ns;", "    gs_offend(&u->offences, now_ns);"),
    ("an offence leaves nothing to remember", "patience.c", "!spent(u, now_ns) && !is_remembered(&u->offences, now_ns);", "!spent(u, now_ns);"),
    ("who owes is blank", "patience.c", "return !u->clients && !spent(u, now_ns) &&", "return !u->clients &&"),
]


def run(command):
    """True, or what it said."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "takes too long"
    return True if done.returncode == 0 else done.stdout.decode(errors="replace")[-1500:]


def build(test, files):
    flags = os.environ.get("CFLAGS", "-O1").split()
    return run([os.environ.get("CC", "cc"), "-std=gnu17", *flags, f"-I{SOURCE}", *files, f"{SOURCE}/tests/scheduler/{test}.c",
                "-lcmocka", "-o", test])


def first_to_fail(files):
    """The first test that doesn't pass, or None; and what doesn't build."""
    for test in TESTS:
        built = build(test, files)
        if built is not True:
            return None, f"doesn't build:\n{built}"
        if run([f"./{test}"]) is not True:
            return test, ""
    return None, ""


def try_mutant(mutant):
    """One line about it; is it found?"""
    _, file, old, new = mutant
    with open(f"{SOURCE}/scheduler/{file}", encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        return False, f"doesn't apply: {text.count(old)} places in {file}"
    with open(file, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
    test, problem = first_to_fail([m if m == file else f"{SOURCE}/scheduler/{m}" for m in ("policy.c", "patience.c")])
    return test is not None, f"found by {test}" if test else problem or "MISSED"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", help="parts of the mutants' names; all by default")
    o = p.parse_args()
    test, problem = first_to_fail([f"{SOURCE}/scheduler/policy.c", f"{SOURCE}/scheduler/patience.c"])
    if test or problem:
        print(f"without a mutant: {problem or test + ' fails'}")
        return 1
    chosen = [m for m in MUTANTS if not o.names or any(n in m[0] for n in o.names)]
    missed = 0
    for m in chosen:
        found, line = try_mutant(m)
        missed += not found
        print(f"{m[0]}: {line}", flush=True)
    print(f"{len(chosen)} mutants, {missed} not found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
