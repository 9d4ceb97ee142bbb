#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the oracle notice? Each mutant is one wrong edit of the translator: mutants.py [NAME...] builds it in a copy and runs random
kernels until one differs, 3000 at most. Works in the current folder; scripts/soak.sh mutants runs it. Ends with 1 if one is missed.

A mutant is a name, a file, the text to replace, which is there once, and what to put there. Those from `seven` are the faults that
the sure writes once had."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MUTANTS = [
    # ---- the seven ----
    ("seven: a loop's other conjuncts cut it like a box", "eval_sure.c",
     "    return factor == 0 || (factor > 0 && to.lo == -far_off) || (factor < 0 && to.hi == far_off);",
     "    return factor == 0 || factor != 0;"),
    ("seven: the rest of a do-while's condition is forgotten", "eval_sure.c",
     "b.bounded && b.exact && is_comparison(s->e->p, l->condition)", "b.bounded && b.exact && l->condition != NO_LOOP"),
    ("seven: __builtin_memset counts one element", "access_build_call.c",
     "if (gs_type_is_address(&c->t[i]) && !touches_one_element(c->name))",
     "if (gs_type_is_address(&c->t[i]) && !touches_one_element(c->name) && c->n > 9)"),
    ("seven: vectors of 5, 6 and 7 count as written whole", "access_build_type.c",
     "n >= 1 && n <= 16 && (n & (n - 1)) == 0 && t->component != 0 && t->size == n * t->component", "n != 3"),
    ("seven: item, group and local id are independent", "eval_sure.c",
     "return !(ids->item & ids->group) && !(ids->local & uneven);", "return !(ids->local & uneven & 8);"),
    ("seven: a guard that nobody satisfies cuts nothing", "eval_sure.c",
     "    if (out->in.lo > out->in.hi)\n        return false;\n", ""),
    ("seven: vstorea_half3 writes six bytes", "access_build_call.c", "count == 3 && !padded; /*", "count == 3; /*"),
    # ---- numbers ----
    ("a product's sign is forgotten in an interval", "eval_form.c", "r.lo += c * (c > 0 ? v->lo : v->hi);",
     "r.lo += c * (c != 0 ? v->lo : v->hi);"),
    ("a number that wrapped is taken for its value in a wider type", "eval_node.c", "    return gs_eval_value(e, n->a, m);\n}\n\n/* The value of one",
     "    return gs_eval_lazy(e, n->a, m);\n}\n\n/* The value of one"),
    ("a remainder may be as large as the divisor", "eval_node.c", "return in.lo >= 0 && in.hi < w;", "return in.lo >= 0 && in.hi <= w;"),
    ("a mask keeps one value less", "eval_node.c", "*out = floor_divide(e, node, &f, w + 1, true, m);",
     "*out = floor_divide(e, node, &f, w > 1 ? w : 2, true, m);"),
    ("a ring's gap begins a value early", "eval_node.c", "m->gap = (struct gs_interval){low.hi + 1, high.lo - 1};",
     "m->gap = (struct gs_interval){low.hi, high.lo - 1};"),
    ("a ring's gap ends a value late", "eval_node.c", "m->gap = (struct gs_interval){low.hi + 1, high.lo - 1};",
     "m->gap = (struct gs_interval){low.hi + 1, high.lo};"),
    ("what lies above a gap is forgotten", "eval_set.c", "for (unsigned i = 0; i < 2 && known; i++) {", "for (unsigned i = 0; i < 1 && known; i++) {"),
    ("a gap holds where it wasn't found", "eval_set.c", "if (!gs_memo_holds(e, m) || !m->around ||", "if (m->serial == 0 || !m->around ||"),
    ("a remainder keeps its sign in unsigned types, too", "eval_node.c", "is_single(y) && gs_int_signed(n->type) && x.lo >= -most",
     "is_single(y) && x.lo >= -2 * most"),
    ("the larger of two is the smaller", "eval_node.c",
     "return own_variable(e, node, (struct gs_interval){greatest(x.lo, y.lo), greatest(x.hi, y.hi)}, m);",
     "return own_variable(e, node, (struct gs_interval){greatest(x.lo, y.lo), least(x.hi, y.hi)}, m);"),
    ("a selection is its first side", "eval_node.c",
     "return either(e, node, in[0], in[1], m);", "return either(e, node, in[0], in[0], m);"),
    ("a launch's offset is forgotten", "eval_node.c", "        f.base = (int64_t)g->offset[n->dim];\n", ""),
    ("the last group is as large as the others", "eval_node.c", "if (local <= 1 || e->launch->global[d] % local == 0)",
     "if (local <= 1 || e->launch->global[d] % local != local)"),
    ("an element's place is that of the one before", "access_build_place.c",
     "by = gs_node(b, GS_N_SUB, GS_I64, gs_node_const(b, GS_I64, 0), by, 0);", "by = gs_node(b, GS_N_ADD, GS_I64, gs_node_const(b, GS_I64, 0), by, 0);"),
    # ---- loops ----
    ("a loop ends one iteration early", "eval_guard.c", "*last = way.hi <= 0 ? -1 : (way.hi - 1) / stride.lo;",
     "*last = way.hi <= 1 ? -1 : (way.hi - 2) / stride.lo;"),
    ("<= in a loop is <", "eval_guard.c", "        way.lo++;\n        way.hi++;\n", ""),
    ("a loop's variable never wraps", "eval_guard.c", "if (whole.lo < range.lo || whole.hi > range.hi) {",
     "if (whole.lo < range.lo && whole.hi > range.hi) {"),
    ("do-while runs no more often than while", "eval_guard.c", "b.last = l->tested_after ? last + 1 : last;", "b.last = last;"),
    ("a loop's last test reads nothing", "eval_guard.c", "    if (!body)\n        b.last++;\n", ""),
    ("a condition that begins wrapped is known", "eval_node.c",
     "return gs_form_same(&lazy, &value) && gs_loop_bound(e, n->c, m).bounded;", "return (gs_form_same(&lazy, &value) || true) && gs_loop_bound(e, n->c, m).bounded;"),
    ("continue passes by nothing", "access_build_loop.c", "l->changed[i].steady = false; /* `continue`", "l->changed[i].steady &= true; /* `continue`"),
    ("a break ends no iteration", "access_build_loop.c", "    if (l->has_break || l->has_return)\n        gs_scope_push(b, GS_C_MAYBE, 0, true);\n    if (tested_before)",
     "    if (tested_before)"),
    ("an iteration's condition is forgotten", "access_build_loop.c", "        if (!goes_on)\n            return true;\n", "        if (!goes_on && i > 3)\n            return true;\n"),
    ("a loop of which a part has run has ended", "access_build_loop.c", "        b->n_variables = variables;\n    }\n    return false;", "        b->n_variables = variables;\n    }\n    return b->one_by_one > 0;"),
    ("a loop with break runs one by one", "access_build_loop.c", "!l->tested_after && !l->has_break && !l->has_continue && !l->has_return &&\n        run_one", "!l->tested_after &&\n        run_one"),
    ("a truth value adds up", "access_build_expr.c", "t.class == GS_T_INT && t.is_bool ? &wide : &t;", "t.class == GS_T_INT && t.is_bool && t.size > 1 ? &wide : &t;"),
    # ---- guards ----
    ("a sure guard is forgotten", "eval_sure.c", "        if (!known)\n", "        if (!known && s->e->level > 2)\n"),
    ("what perhaps happens is sure", "eval_sure.c",
     "        enter_level(s);\n        here(s)->nothing = true;\n    }\n    here(s)->nothing |=", "        enter_level(s);\n    }\n    here(s)->nothing |="),
    ("< holds for equal numbers", "eval_sure.c", "*(truth ? &to->hi : &to->lo) = truth ? -1 : 0;", "*(truth ? &to->hi : &to->lo) = truth ? 0 : 0;"),
    ("a bound is rounded the wrong way", "eval_sure.c", "{-floor_divide(-lo, c), floor_divide(hi, c)};", "{floor_divide(lo, c), floor_divide(hi, c)};"),
    ("of either side one is enough", "eval_sure.c",
     "        } else {\n            here(s)->nothing = true;\n        }\n        break;\n    case GS_N_EQ:", "        }\n        break;\n    case GS_N_EQ:"),
    ("a possible guard is narrowed too far", "eval_guard.c", "    else if (n->op == GS_N_LT && truth)\n        to.hi = -1;", "    else if (n->op == GS_N_LT && truth)\n        to.hi = -2;"),
    ("cases within other statements are dead code", "access_build_stmt.c", " || is_entered_within(b, &body)) {",
     " || (body.n > 9999 && is_entered_within(b, &body))) {"),
    ("else is the same as if", "access_build_stmt.c", "r.begin = gs_scope_push(b, GS_C_GUARD, condition, truth);",
     "r.begin = gs_scope_push(b, GS_C_GUARD, condition, true);"),
    # ---- bytes ----
    ("a gap of one byte is none", "eval_lattice.c", "            if (l->d[i].stride <= run) {", "            if (l->d[i].stride <= run + 1) {"),
    ("the last byte of an access is forgotten", "eval_set.c", "gs_least(in.hi + bytes, buffer_bytes)};", "gs_least(in.hi + bytes - 1, buffer_bytes)};"),
    ("falling strides begin at the wrong end", "eval_lattice.c", "    l->first += factor * (factor > 0 ? v.lo : v.hi);", "    l->first += factor * v.lo;"),
    ("padding in a struct is written", "access_build_type.c", "return s.whole && s.bytes == t->size;", "return s.whole && s.bytes <= t->size;"),
    ("what is read first is overwritten", "eval.c", "else if (o->overwrites.n && o->reads.n && gs_rangeset_remove_set(&o->overwrites, &o->reads) < 0)",
     "else if (o->overwrites.n && o->reads.n > 999 && gs_rangeset_remove_set(&o->overwrites, &o->reads) < 0)"),
    ("a write in a loop comes before all that follows in it", "eval_before.c",
     "        if (p->contexts[a].kind != GS_C_GUARD)\n            return false;\n", "        ;\n"),
    ("a strided copy's stride is of the other side", "access_build_call.c", "gs_node(b, GS_N_MUL, GS_I64, iv, to_global ? global : step, 0)",
     "gs_node(b, GS_N_MUL, GS_I64, iv, to_global ? step : global, 0)"),
    ("a vector in memory is a component short", "access_build_call.c", "    struct gs_type t = several(&element, apart);", "    struct gs_type t = several(&element, apart > 4 ? apart - 1 : apart);"),
]
IGNORED = shutil.ignore_patterns("build*", ".git", ".gpu", "__pycache__")


def build(folder, targets):
    done = subprocess.run(["ninja", "-C", folder, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout[-2000:]


def prepare():
    """A copy of the source with a build of its own."""
    shutil.copytree(SOURCE, "source", ignore=IGNORED)
    cache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "-S", "source", "-B", "build", "-G", "Ninja", *cache], stdout=subprocess.DEVNULL, check=True)
    return build("build", ["oracle", "oracle_builtins", "gpusparc-translate"])


def look(seed, count, jobs):
    """The first seed that differs, or None; and what is said of it."""
    os.makedirs("run", exist_ok=True)
    command = [sys.executable, "source/tests/access/oracle/campaign.py", str(count), str(seed), "--build", "build", "--until", "1",
               "--jobs", str(jobs), "--folder", "run"]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    seeds = re.search(r"^seeds that differ:((?: \d+)+)$", out, re.M)
    kind = re.search(r"^different: .*: ([^:\n]*)$", out, re.M)
    if not seeds:
        return None, "" if " 0 kernels differ" in out and "ended with" not in out else out[-1500:]
    return min(map(int, seeds[1].split())), kind[1] if kind else ""


def try_mutant(mutant, options):
    """One line about it; is it found?"""
    name, file, old, new = mutant
    path, = glob.glob(f"source/translator/*/{file}")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        return False, f"doesn't apply: {text.count(old)} places in {file}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
    failed = build("build", ["oracle", "gpusparc-translate"])
    first, what = (None, f"doesn't build:\n{failed}") if failed else look(options.seed, options.count, options.jobs)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if first is None:
        return False, what or f"MISSED by {options.count} kernels"
    return True, f"found by kernel {first - options.seed + 1} (seed {first}): {what}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", help="parts of the mutants' names; all by default")
    p.add_argument("--count", type=int, default=3000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    o = p.parse_args()
    failed = prepare()
    if failed:
        print(failed)
        return 1
    first, what = look(o.seed, o.count, o.jobs)
    if first is not None or what:
        print(f"without a mutant: {what} (seed {first})")
        return 1
    print(f"without a mutant {o.count} kernels from seed {o.seed} don't differ", flush=True)
    chosen = [m for m in MUTANTS if not o.names or any(n in m[0] for n in o.names)]
    missed = 0
    for m in chosen:
        found, line = try_mutant(m, o)
        missed += not found
        print(f"{m[0]}: {line}", flush=True)
    print(f"{len(chosen)} mutants, {missed} not found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
