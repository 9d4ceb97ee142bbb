/* SPDX-License-Identifier: MIT */
/* From forms to the bytes that a part may touch. Too much is right here, too little is not. */
#include "translator/evaluation/eval_lattice.h"

/* The variables of f with strides that rise. A constraint's form whose variables occur in f nowhere else is as good as
 * a variable that the constraint bounds. */
static void make_lattice(const struct gs_eval *e, const struct gs_form *f, struct gs_lattice *l)
{
    struct gs_form rest = *f;
    const struct gs_level *level = &e->levels[e->level];
    l->first = l->n = 0;
    for (uint32_t i = 0; i < level->constraints; i++) {
        const struct gs_constraint *c = &e->constraints[i];
        int64_t q = gs_form_multiple(&rest, &c->form);
        struct gs_form without;
        if (q == 0 || !gs_form_add(e, &rest, -q, &c->form, &without) || gs_form_shares_variable(&without, &c->form) ||
            !gs_form_is_gapless(e, &c->form))
            continue;
        struct gs_interval in = gs_form_interval(e, &c->form);
        gs_lattice_add(l, q, (struct gs_interval){gs_greatest(in.lo, c->in.lo), gs_least(in.hi, c->in.hi)});
        rest = without;
    }
    gs_lattice_add_form(e, l, &rest);
}

/* Narrows `in` by what is known of a multiple of the constraint's form. */
static void narrow_by(const struct gs_eval *e, const struct gs_form *f, const struct gs_constraint *c,
                      struct gs_interval *in)
{
    int64_t q = gs_form_multiple(f, &c->form);
    struct gs_form rest;
    if (q == 0 || !gs_form_add(e, f, -q, &c->form, &rest))
        return;
    struct gs_interval x = gs_form_interval(e, &c->form), r = gs_form_interval(e, &rest);
    gs_wide lo = gs_greatest(x.lo, c->in.lo), hi = gs_least(x.hi, c->in.hi);
    const gs_wide limit = (gs_wide)1 << 70; /* the products below stay far from the end of a gs_wide */
    if (lo < -limit || hi > limit)
        return;
    in->lo = gs_greatest(in->lo, (q > 0 ? q * lo : q * hi) + r.lo);
    in->hi = gs_least(in->hi, (q > 0 ? q * hi : q * lo) + r.hi);
}

struct gs_interval gs_form_bounds(const struct gs_eval *e, const struct gs_form *f)
{
    struct gs_interval in = gs_form_interval(e, f);
    const struct gs_level *l = &e->levels[e->level];
    for (uint32_t i = 0; i < l->constraints; i++)
        narrow_by(e, f, &e->constraints[i], &in);
    return in;
}

/* May some item's value be anything, as far as the buffer reaches? */
static bool is_anywhere(const struct gs_eval *e, const struct gs_form *f, struct gs_interval in, uint64_t bytes,
                        uint64_t buffer_bytes)
{
    if (in.lo > 0 || in.hi + bytes < buffer_bytes)
        return false;
    for (uint32_t i = 0; i < f->n; i++) {
        gs_wide c = f->t[i].factor;
        struct gs_interval v = e->var[f->t[i].var];
        if (f->t[i].var >= e->first_node_var && (c > 0 ? c : -c) * (v.hi - v.lo + 1) >= buffer_bytes)
            return true;
    }
    return false;
}

/* Does a variable of the form, which is a node's own, leave a gap? Then what lies below and above it. */
static bool has_gap(const struct gs_eval *e, const struct gs_form *f, uint32_t *var, struct gs_interval sides[2])
{
    for (uint32_t i = f->n; i-- > 0 && f->t[i].var >= e->first_node_var;) {
        const struct gs_memo *m = &e->memo[f->t[i].var - e->first_node_var];
        const struct gs_interval v = e->var[f->t[i].var];
        if (!gs_memo_holds(e, m) || !m->around || m->gap.lo <= v.lo || m->gap.hi >= v.hi)
            continue;
        *var = f->t[i].var;
        sides[0] = (struct gs_interval){v.lo, m->gap.lo - 1};
        sides[1] = (struct gs_interval){m->gap.hi + 1, v.hi};
        return true;
    }
    return false;
}

bool gs_set_add(struct gs_eval *e, const struct gs_form *f, uint64_t bytes, uint64_t buffer_bytes,
                struct gs_rangeset *out)
{
    struct gs_interval in = gs_form_bounds(e, f), sides[2];
    uint32_t var;
    if (in.lo > in.hi)
        return true;
    if (has_gap(e, f, &var, sides)) {
        bool known = true;
        for (unsigned i = 0; i < 2 && known; i++) {
            gs_level_enter(e);
            gs_var_narrow(e, var, sides[i]);
            known = gs_set_add(e, f, bytes, buffer_bytes, out);
            gs_level_leave(e);
        }
        return known;
    }
    const gs_wide limit = (gs_wide)1 << 62;
    if (in.lo < -limit || in.hi > limit || is_anywhere(e, f, in, bytes, buffer_bytes))
        return false;
    struct gs_lattice l;
    bool exact;
    make_lattice(e, f, &l);
    const gs_wide run =
        gs_lattice_run(&l, bytes, e->ranges < GS_MANY_RANGES ? GS_MAX_RANGES : GS_MAX_RANGES_THEN, &exact);
    const struct gs_interval clip = {gs_greatest(in.lo, 0), gs_least(in.hi + bytes, buffer_bytes)};
    const int n = gs_lattice_ranges(&l, run, clip, out);
    if (n < 0)
        e->no_memory = true;
    else if (l.n)
        e->ranges += (uint32_t)n;
    return true;
}
