/* SPDX-License-Identifier: MIT */
/* From forms to sets of bytes. */
#include "translator/eval_state.h"

/* More ranges than these of one access are widened to fewer: the rows of the largest pictures; but fewer once a part
 * has so many in all, since each takes time whenever it is looked at which bytes are where. */
enum { MAX_RANGES = 32768, MAX_RANGES_THEN = 4096, MANY_RANGES = 8 * MAX_RANGES };

/* x = first + any of its strides times 0 .. count - 1. */
struct lattice {
    gs_wide first;
    uint32_t n;
    struct {
        gs_wide stride, count;
    } d[GS_FORM_TERMS];
};

static gs_wide least(gs_wide a, gs_wide b)
{
    return a < b ? a : b;
}

static gs_wide greatest(gs_wide a, gs_wide b)
{
    return a > b ? a : b;
}

/* The factor q with which f - q * c has fewer variables, or 0. */
static int64_t multiple_of(const struct gs_form *f, const struct gs_form *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = 0; j < f->n; j++)
            if (f->t[j].var == c->t[i].var)
                return f->t[j].factor % c->t[i].factor == 0 ? f->t[j].factor / c->t[i].factor : 0;
    return 0;
}

static void add_dimension(struct lattice *l, gs_wide factor, struct gs_interval v)
{
    l->first += factor * (factor > 0 ? v.lo : v.hi);
    if (v.lo >= v.hi)
        return;
    gs_wide stride = factor > 0 ? factor : -factor;
    uint32_t at = l->n++;
    for (; at > 0 && l->d[at - 1].stride > stride; at--)
        l->d[at] = l->d[at - 1];
    l->d[at].stride = stride;
    l->d[at].count = v.hi - v.lo + 1;
}

/* Does the form take every integer between its least and its largest value? */
static bool is_gapless(const struct gs_eval *e, const struct gs_form *f)
{
    struct lattice l = {.n = 0};
    for (uint32_t i = 0; i < f->n; i++)
        add_dimension(&l, f->t[i].factor, e->var[f->t[i].var]);
    gs_wide run = 1;
    for (uint32_t i = 0; i < l.n && l.d[i].stride <= run; i++)
        run += l.d[i].stride * (l.d[i].count - 1);
    struct gs_interval in = gs_form_interval(e, f);
    return run == in.hi - in.lo + 1;
}

static bool shares_variable(const struct gs_form *f, const struct gs_form *g)
{
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t j = 0; j < g->n; j++)
            if (f->t[i].var == g->t[j].var)
                return true;
    return false;
}

/* The variables of f with strides that rise. A constraint's form whose variables occur in f nowhere else is as good as
 * a variable, and cut to its bounds exactly. Returns the number of such constraints. */
static uint32_t make_lattice(const struct gs_eval *e, const struct gs_form *f, struct lattice *l)
{
    struct gs_form rest = *f;
    const struct gs_level *level = &e->levels[e->level];
    uint32_t taken = 0;
    l->first = l->n = 0;
    for (uint32_t i = 0; i < level->constraints; i++) {
        const struct gs_constraint *c = &e->constraints[i];
        int64_t q = multiple_of(&rest, &c->form);
        struct gs_form without;
        if (q == 0 || !gs_form_add(e, &rest, -q, &c->form, &without) || shares_variable(&without, &c->form) ||
            !is_gapless(e, &c->form))
            continue;
        struct gs_interval in = gs_form_interval(e, &c->form);
        add_dimension(l, q, (struct gs_interval){greatest(in.lo, c->in.lo), least(in.hi, c->in.hi)});
        rest = without;
        taken++;
    }
    l->first += rest.base;
    for (uint32_t i = 0; i < rest.n; i++)
        add_dimension(l, rest.t[i].factor, e->var[rest.t[i].var]);
    return taken;
}

/* Narrows `in` by what is known of a multiple of the constraint's form. */
static void narrow_by(const struct gs_eval *e, const struct gs_form *f, const struct gs_constraint *c,
                      struct gs_interval *in)
{
    int64_t q = multiple_of(f, &c->form);
    struct gs_form rest;
    if (q == 0 || !gs_form_add(e, f, -q, &c->form, &rest))
        return;
    struct gs_interval x = gs_form_interval(e, &c->form), r = gs_form_interval(e, &rest);
    gs_wide lo = greatest(x.lo, c->in.lo), hi = least(x.hi, c->in.hi);
    const gs_wide limit = (gs_wide)1 << 70; /* the products below stay far from the end of a gs_wide */
    if (lo < -limit || hi > limit)
        return;
    in->lo = greatest(in->lo, (q > 0 ? q * lo : q * hi) + r.lo);
    in->hi = least(in->hi, (q > 0 ? q * hi : q * lo) + r.hi);
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

/* Makes one run of bytes of the small strides: exact while a stride is no longer than the run so far. The rest stays in
 * the lattice; where that is more than `most`, more is made one run, and `*exact` false. */
static gs_wide make_run(struct lattice *l, gs_wide bytes, gs_wide most, bool *exact)
{
    gs_wide run = bytes, ranges;
    *exact = true;
    do {
        uint32_t kept = 0;
        ranges = 1;
        for (uint32_t i = 0; i < l->n; i++) {
            if (l->d[i].stride <= run) {
                run += l->d[i].stride * (l->d[i].count - 1);
            } else {
                l->d[kept++] = l->d[i];
                if (ranges <= most)
                    ranges *= least(l->d[kept - 1].count, most + 1);
            }
        }
        bool again = kept < l->n && kept > 0 && l->d[0].stride <= run;
        l->n = kept;
        if (ranges <= most && !again)
            break;
        if (!again) {
            *exact = false;
            run = greatest(run, l->d[0].stride);
        }
    } while (l->n);
    return run;
}

static int add_runs(const struct lattice *l, uint32_t d, gs_wide first, gs_wide run, struct gs_interval clip,
                    struct gs_rangeset *out)
{
    if (d == 0) {
        gs_wide begin = greatest(first, clip.lo), end = least(first + run, clip.hi);
        return begin < end ? gs_rangeset_add(out, (struct gs_range){(uint64_t)begin, (uint64_t)end}) : 0;
    }
    for (gs_wide i = 0; i < l->d[d - 1].count; i++) {
        int err = add_runs(l, d - 1, first + i * l->d[d - 1].stride, run, clip, out);
        if (err)
            return err;
    }
    return 0;
}

/* Do the items and iterations that come here make f take all the values of its lattice that lie in its bounds? `taken`:
 * constraints that have become dimensions of the lattice. */
static bool is_certain(const struct gs_eval *e, const struct gs_form *f, uint64_t bytes, uint32_t taken)
{
    const struct gs_level *l = &e->levels[e->level];
    if (l->inexact || (l->cuts > 1 && l->cuts != taken))
        return false;
    if (f->n && f->t[f->n - 1].var >= e->first_node_var)
        return false;
    uint8_t item = 0, group = 0, local = 0;
    for (uint32_t i = 0; i < f->n && f->t[i].var < GS_VAR_LOOP; i++) {
        uint8_t bit = (uint8_t)(1u << f->t[i].var % 3);
        *(f->t[i].var < GS_VAR_GROUP ? &item : f->t[i].var < GS_VAR_LOCAL ? &group : &local) |= bit;
    }
    uint8_t uneven = 0;
    for (unsigned d = 0; d < 3; d++)
        uneven |= (uint8_t)((e->launch->global[d] % e->launch->local[d] != 0) << d);
    if ((l->item_cut & l->group_cut) || (l->group_cut & (item | uneven)) || (local & (l->item_cut | uneven)) ||
        (group & item))
        return false;
    if (l->cuts == taken)
        return true;
    const struct gs_form *cut = &e->constraints[0].form;
    int64_t q = multiple_of(f, cut);
    struct gs_form rest;
    return q && (uint64_t)(q > 0 ? q : -q) >= bytes && gs_form_add(e, f, -q, cut, &rest) && rest.n == 0;
}

bool gs_set_add(struct gs_eval *e, const struct gs_form *f, uint64_t bytes, uint64_t buffer_bytes, bool surely,
                struct gs_rangeset *out)
{
    struct lattice l;
    uint32_t taken = make_lattice(e, f, &l);
    if (surely && !is_certain(e, f, bytes, taken))
        return false;
    struct gs_interval in = gs_form_bounds(e, f);
    if (in.lo > in.hi)
        return true;
    const gs_wide limit = (gs_wide)1 << 62;
    if (in.lo < -limit || in.hi > limit)
        return false;
    if (!surely && is_anywhere(e, f, in, bytes, buffer_bytes))
        return false;
    bool exact;
    gs_wide run = make_run(&l, bytes, e->ranges < MANY_RANGES ? MAX_RANGES : MAX_RANGES_THEN, &exact);
    if (surely && !exact)
        return false;
    struct gs_interval clip = {greatest(in.lo, 0), least(in.hi + bytes, buffer_bytes)};
    if (l.n == 0) {
        if (add_runs(&l, 0, l.first, run, clip, out) < 0)
            e->no_memory = true;
        return true;
    }
    /* First by themselves, in rising order: among ranges that are there each would move all that lie behind it. */
    struct gs_rangeset runs = {0};
    if (clip.lo < clip.hi && (add_runs(&l, l.n, l.first, run, clip, &runs) < 0 || gs_rangeset_add_set(out, &runs) < 0))
        e->no_memory = true;
    e->ranges += (uint32_t)runs.n;
    gs_rangeset_free(&runs);
    return true;
}

bool gs_set_leaves(struct gs_eval *e, const struct gs_form *f, uint64_t bytes, uint64_t buffer_bytes)
{
    const gs_wide limit = (gs_wide)1 << 62;
    const struct gs_interval in = gs_form_bounds(e, f), beyond = {greatest(in.lo, buffer_bytes), in.hi + bytes};
    struct lattice l;
    bool exact;
    if (in.lo > in.hi || beyond.lo >= beyond.hi || in.lo < -limit || in.hi > limit ||
        !is_certain(e, f, bytes, make_lattice(e, f, &l)))
        return false;
    const gs_wide run = make_run(&l, bytes, MAX_RANGES, &exact);
    struct gs_rangeset runs = {0};
    if (exact && add_runs(&l, l.n, l.first, run, beyond, &runs) < 0)
        e->no_memory = true;
    const bool leaves = runs.n;
    gs_rangeset_free(&runs);
    return leaves;
}
