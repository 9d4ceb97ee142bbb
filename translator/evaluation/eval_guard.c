/* SPDX-License-Identifier: MIT */
/* Truth of conditions, and how guards and loops narrow what comes to the code under them. */
#include "translator/evaluation/eval_state.h"

#include <stdlib.h>
#include <string.h>

static gs_wide least(gs_wide a, gs_wide b)
{
    return a < b ? a : b;
}

static gs_wide greatest(gs_wide a, gs_wide b)
{
    return a > b ? a : b;
}

static gs_wide floor_divide(gs_wide a, gs_wide b)
{
    gs_wide q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

void gs_level_enter(struct gs_eval *e)
{
    struct gs_level *below = &e->levels[e->level], *l = &e->levels[++e->level];
    *l = *below;
    l->serial = ++e->serial;
    l->undo = e->n_undo;
}

void gs_level_leave(struct gs_eval *e)
{
    const struct gs_level *l = &e->levels[e->level--];
    while (e->n_undo > l->undo) {
        const struct gs_undo *u = &e->undo[--e->n_undo];
        e->var[u->var] = u->old;
    }
}

static bool is_unset(struct gs_interval v)
{
    return v.lo == 1 && v.hi == 0;
}

static bool remember(struct gs_eval *e, uint32_t var)
{
    if (e->n_undo == e->undo_cap) {
        uint32_t cap = e->undo_cap * 2;
        struct gs_undo *undo = realloc(e->undo == e->first_undo ? NULL : e->undo, cap * sizeof *undo);
        if (!undo) {
            e->no_memory = true;
            return false;
        }
        if (e->undo == e->first_undo)
            memcpy(undo, e->first_undo, sizeof e->first_undo);
        e->undo = undo;
        e->undo_cap = cap;
    }
    e->undo[e->n_undo++] = (struct gs_undo){var, e->var[var]};
    return true;
}

/* Narrows one variable. True where that changed it. */
static bool narrow(struct gs_eval *e, uint32_t var, struct gs_interval to)
{
    struct gs_interval old = e->var[var];
    if (!is_unset(old)) {
        to.lo = greatest(to.lo, old.lo);
        to.hi = least(to.hi, old.hi);
        if (to.lo == old.lo && to.hi == old.hi)
            return false;
    }
    if (to.lo > to.hi) {
        e->levels[e->level].empty = true;
        return false;
    }
    if (!remember(e, var))
        return false;
    e->var[var] = to;
    return true;
}

/* item = group * size + local, each way. */
static void narrow_dimension(struct gs_eval *e, unsigned d)
{
    gs_wide size = e->launch->local[d];
    struct gs_interval item = e->var[GS_VAR_ITEM + d];
    narrow(e, GS_VAR_GROUP + d, (struct gs_interval){item.lo / size, item.hi / size});
    struct gs_interval group = e->var[GS_VAR_GROUP + d];
    if (group.lo == group.hi)
        narrow(e, GS_VAR_LOCAL + d, (struct gs_interval){item.lo - group.lo * size, item.hi - group.lo * size});
    struct gs_interval local = e->var[GS_VAR_LOCAL + d];
    narrow(e, GS_VAR_ITEM + d, (struct gs_interval){group.lo * size + local.lo, group.hi * size + local.hi});
}

void gs_var_narrow(struct gs_eval *e, uint32_t var, struct gs_interval to)
{
    if (narrow(e, var, to) && var < GS_VAR_LOOP)
        narrow_dimension(e, var % 3);
}

/* ---- truth ---- */

static enum gs_truth negate(enum gs_truth t)
{
    return t == GS_MAYBE ? GS_MAYBE : t == GS_TRUE ? GS_FALSE : GS_TRUE;
}

/* The interval of a - b. */
static struct gs_interval difference(struct gs_eval *e, uint32_t a, uint32_t b, struct gs_form *d, bool *fits,
                                     struct gs_memo *m)
{
    struct gs_form x = gs_eval_value(e, a, m), y = gs_eval_value(e, b, m);
    *fits = gs_form_add(e, &x, -1, &y, d);
    if (x.n || y.n)
        m->free = false;
    if (*fits)
        return gs_form_interval(e, d);
    struct gs_interval p = gs_form_interval(e, &x), q = gs_form_interval(e, &y);
    return (struct gs_interval){p.lo - q.hi, p.hi - q.lo};
}

/* Is a - b, which lies in `in`, as the comparison wants it? */
static enum gs_truth truth_of(const struct gs_node *n, struct gs_interval in)
{
    if (n->op == GS_N_EQ)
        return in.lo > 0 || in.hi < 0 ? GS_FALSE : in.lo == in.hi ? GS_TRUE : GS_MAYBE;
    if (n->op == GS_N_LT)
        return in.hi < 0 ? GS_TRUE : in.lo >= 0 ? GS_FALSE : GS_MAYBE;
    return in.hi <= 0 ? GS_TRUE : in.lo > 0 ? GS_FALSE : GS_MAYBE;
}

static bool is_comparison(const struct gs_node *n)
{
    return n->op == GS_N_EQ || n->op == GS_N_LT || n->op == GS_N_LE;
}

static enum gs_truth compare(struct gs_eval *e, const struct gs_node *n, struct gs_memo *m)
{
    struct gs_form d;
    bool fits;
    const enum gs_truth t = truth_of(n, difference(e, n->a, n->b, &d, &fits, m));
    if (t == GS_MAYBE)
        m->lossy = true;
    return t;
}

enum gs_truth gs_eval_truth(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    if (e->depth >= GS_MAX_DEPTH || e->budget == 0) {
        m->free = false;
        m->lossy = true;
        return GS_MAYBE;
    }
    e->depth++;
    e->budget--; /* a condition is not remembered, and its parts may be shared */
    enum gs_truth t, u;
    switch (n->op) {
    case GS_N_EQ:
    case GS_N_LT:
    case GS_N_LE:
        t = compare(e, n, m);
        break;
    case GS_N_LNOT:
        t = negate(gs_eval_truth(e, n->a, m));
        break;
    case GS_N_LAND:
    case GS_N_LOR:
        t = gs_eval_truth(e, n->a, m);
        u = gs_eval_truth(e, n->b, m);
        if (n->op == GS_N_LAND)
            t = t == GS_FALSE || u == GS_FALSE ? GS_FALSE : t == GS_TRUE && u == GS_TRUE ? GS_TRUE : GS_MAYBE;
        else
            t = t == GS_TRUE || u == GS_TRUE ? GS_TRUE : t == GS_FALSE && u == GS_FALSE ? GS_FALSE : GS_MAYBE;
        break;
    default: {
        struct gs_form f = gs_eval_value(e, node, m);
        struct gs_interval in = gs_form_interval(e, &f);
        if (f.n)
            m->free = false;
        t = in.lo > 0 || in.hi < 0 ? GS_TRUE : in.lo == in.hi ? GS_FALSE : GS_MAYBE;
        if (t == GS_MAYBE)
            m->lossy = true;
    }
    }
    e->depth--;
    return t;
}

/* ---- guards ---- */

void gs_form_narrow(struct gs_eval *e, const struct gs_form *f, struct gs_interval to)
{
    const struct gs_interval in = gs_form_interval(e, f);
    for (uint32_t i = 0; i < f->n && !e->levels[e->level].empty; i++) {
        gs_wide c = f->t[i].factor;
        struct gs_interval v = e->var[f->t[i].var];
        gs_wide rest_lo = in.lo - c * (c > 0 ? v.lo : v.hi), rest_hi = in.hi - c * (c > 0 ? v.hi : v.lo);
        gs_wide lo = greatest(to.lo, in.lo) - rest_hi, hi = least(to.hi, in.hi) - rest_lo; /* lo <= c * var <= hi */
        struct gs_interval bound = {-floor_divide(-lo, c), floor_divide(hi, c)};
        if (c < 0)
            bound = (struct gs_interval){-floor_divide(hi, -c), floor_divide(-lo, -c)};
        gs_var_narrow(e, f->t[i].var, bound);
    }
}

/* Narrows to the items for which lo <= f <= hi. */
static void require(struct gs_eval *e, const struct gs_form *f, struct gs_interval to)
{
    struct gs_level *l = &e->levels[e->level];
    struct gs_interval in = gs_form_interval(e, f);
    if (in.lo >= to.lo && in.hi <= to.hi)
        return;
    if (in.lo > to.hi || in.hi < to.lo) {
        l->empty = true;
        return;
    }
    gs_form_narrow(e, f, to);
    if (f->n > 1 && l->constraints < GS_MAX_CONSTRAINTS)
        e->constraints[l->constraints++] = (struct gs_constraint){*f, to};
}

static const gs_wide far_off = (gs_wide)1 << 100;

/* Narrows to the items for which the comparison is as wanted; d: a - b, if it fits a form, and `in` its interval. */
static void require_difference(struct gs_eval *e, const struct gs_node *n, bool truth, const struct gs_form *d,
                               bool fits, struct gs_interval in)
{
    struct gs_interval to = {-far_off, far_off};
    if (n->op == GS_N_EQ && truth)
        to = (struct gs_interval){0, 0};
    else if (n->op == GS_N_EQ && in.lo >= 0)
        to.lo = 1;
    else if (n->op == GS_N_EQ && in.hi <= 0)
        to.hi = -1;
    else if (n->op == GS_N_LT && truth)
        to.hi = -1;
    else if (n->op == GS_N_LT)
        to.lo = 0;
    else if (n->op == GS_N_LE && truth)
        to.hi = 0;
    else if (n->op == GS_N_LE)
        to.lo = 1;
    if (fits)
        require(e, d, to);
    else if (in.lo > to.hi || in.hi < to.lo)
        e->levels[e->level].empty = true;
}

static void require_compare(struct gs_eval *e, const struct gs_node *n, bool truth)
{
    struct gs_form d;
    bool fits;
    struct gs_memo m = {.free = true};
    const struct gs_interval in = difference(e, n->a, n->b, &d, &fits, &m);
    require_difference(e, n, truth, &d, fits, in);
}

static void require_truth(struct gs_eval *e, uint32_t node, bool truth)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_memo m = {.free = true};
    if (is_comparison(n)) { /* one look at both sides decides all */
        require_compare(e, n, truth);
        return;
    }
    if (e->depth >= GS_MAX_DEPTH)
        return;
    if ((n->op == GS_N_LAND && truth) || (n->op == GS_N_LOR && !truth)) { /* each side for itself */
        e->depth++;
        require_truth(e, n->a, truth);
        if (!e->levels[e->level].empty)
            require_truth(e, n->b, truth);
        e->depth--;
        return;
    }
    enum gs_truth t = gs_eval_truth(e, node, &m);
    if (t == (truth ? GS_TRUE : GS_FALSE))
        return;
    if (t != GS_MAYBE) {
        e->levels[e->level].empty = true;
        return;
    }
    e->depth++;
    switch (n->op) {
    case GS_N_LNOT:
        require_truth(e, n->a, !truth);
        break;
    case GS_N_LAND: /* one side at least */
    case GS_N_LOR: {
        enum gs_truth never = truth ? GS_FALSE : GS_TRUE;
        bool not_a = gs_eval_truth(e, n->a, &m) == never, not_b = gs_eval_truth(e, n->b, &m) == never;
        if (not_b)
            require_truth(e, n->a, truth);
        else if (not_a)
            require_truth(e, n->b, truth);
        break;
    }
    default: {
        struct gs_form f = gs_eval_value(e, node, &m);
        struct gs_interval in = gs_form_interval(e, &f), to = {-far_off, far_off};
        if (!truth)
            to = (struct gs_interval){0, 0};
        else if (in.lo >= 0)
            to.lo = 1;
        else if (in.hi <= 0)
            to.hi = -1;
        require(e, &f, to);
    }
    }
    e->depth--;
}

void gs_guard_enter(struct gs_eval *e, uint32_t node, bool truth)
{
    const struct gs_node *n = &e->p->nodes[node];
    const enum gs_truth wanted = truth ? GS_TRUE : GS_FALSE;
    struct gs_memo m = {.free = true};
    if (n->op == (truth ? GS_N_LAND : GS_N_LOR)) { /* each side is decided by itself */
        gs_level_enter(e);
        require_truth(e, node, truth);
        return;
    }
    /* What is found out now is remembered on the level below, for those beside us. */
    if (is_comparison(n)) {
        struct gs_form d;
        bool fits;
        const struct gs_interval in = difference(e, n->a, n->b, &d, &fits, &m);
        const enum gs_truth t = truth_of(n, in);
        gs_level_enter(e);
        e->levels[e->level].empty |= t != wanted && t != GS_MAYBE;
        if (t == GS_MAYBE)
            require_difference(e, n, truth, &d, fits, in);
        return;
    }
    const enum gs_truth t = gs_eval_truth(e, node, &m);
    gs_level_enter(e);
    e->levels[e->level].empty |= t != wanted && t != GS_MAYBE;
    if (t == GS_MAYBE)
        require_truth(e, node, truth);
}

/* ---- loops ---- */

static bool add_forms(const struct gs_eval *e, const struct gs_form *a, const struct gs_form *b,
                      struct gs_interval *out)
{
    struct gs_form d;
    if (!gs_form_add(e, a, -1, b, &d))
        return false;
    *out = gs_form_interval(e, &d);
    return true;
}

/* With way = limit - init for a rising loop, init - limit for a falling one, and its stride: the last k for which
 * stride * k < way (or <=, or != where that comes to the same). -1 below none. */
static bool last_iteration(uint8_t cmp, struct gs_interval way, struct gs_interval stride, gs_wide *last, bool *exact)
{
    if (stride.lo <= 0)
        return false;
    if (cmp == GS_LOOP_LE || cmp == GS_LOOP_GE) {
        way.lo++;
        way.hi++;
    }
    bool one = way.lo == way.hi && stride.lo == stride.hi;
    if (cmp == GS_LOOP_NE && (way.lo < 0 || stride.lo != stride.hi || (stride.lo != 1 && (!one || way.lo % stride.lo))))
        return false;
    *exact = one;
    *last = way.hi <= 0 ? -1 : (way.hi - 1) / stride.lo;
    return true;
}

struct gs_loop_bound gs_loop_bound(struct gs_eval *e, uint32_t loop, struct gs_memo *m)
{
    const struct gs_loop *l = &e->p->loops[loop];
    struct gs_loop_bound b = {.last = (gs_wide)1 << 62};
    if (l->cmp == GS_LOOP_UNBOUNDED || e->depth >= GS_MAX_DEPTH)
        return b;
    m->free = false;
    m->lossy = true;
    e->depth++;
    struct gs_form init = gs_eval_value(e, l->init, m), step = gs_eval_value(e, l->step, m);
    struct gs_form limit = gs_eval_value(e, l->limit, m);
    e->depth--;
    struct gs_interval from = gs_form_interval(e, &init), by = gs_form_interval(e, &step);
    struct gs_interval to = gs_form_interval(e, &limit), way;
    struct gs_interval range = gs_int_range(l->type), also = gs_int_range(l->cmp_type);
    range = (struct gs_interval){greatest(range.lo, also.lo), least(range.hi, also.hi)};
    bool rising = l->cmp == GS_LOOP_LT || l->cmp == GS_LOOP_LE || (l->cmp == GS_LOOP_NE && by.lo > 0);
    if (!(rising ? add_forms(e, &limit, &init, &way) : add_forms(e, &init, &limit, &way)))
        way = rising ? (struct gs_interval){to.lo - from.hi, to.hi - from.lo}
                     : (struct gs_interval){from.lo - to.hi, from.hi - to.lo};
    struct gs_interval stride = rising ? by : (struct gs_interval){-by.hi, -by.lo};
    gs_wide last;
    if (!last_iteration(l->cmp, way, stride, &last, &b.exact))
        return b;
    /* Until the condition ends the loop, the variable mustn't wrap, nor be converted to something else. */
    gs_wide reached = l->cmp == GS_LOOP_LE || l->cmp == GS_LOOP_GE ? 0 : 1; /* how far the body stays from the limit */
    struct gs_interval body = from, whole = from;
    if (rising) {
        body.hi = greatest(to.hi - reached, from.lo);
        whole.hi = greatest(body.hi + stride.hi, from.hi);
    } else {
        body.lo = least(to.lo + reached, from.hi);
        whole.lo = least(body.lo - stride.hi, from.lo);
    }
    if (whole.lo < range.lo || whole.hi > range.hi) {
        b.exact = false;
        return b;
    }
    b.bounded = true;
    b.after = (struct gs_interval){least(whole.lo, from.lo), greatest(whole.hi, from.hi)};
    b.last = l->tested_after ? last + 1 : last;
    return b;
}

void gs_loop_range(struct gs_eval *e, uint32_t loop, gs_wide last)
{
    if (remember(e, GS_VAR_LOOP + loop))
        e->var[GS_VAR_LOOP + loop] = (struct gs_interval){0, last};
}

void gs_loop_enter(struct gs_eval *e, uint32_t loop, bool body)
{
    struct gs_memo m = {.free = true};
    struct gs_loop_bound b = gs_loop_bound(e, loop, &m);
    gs_level_enter(e);
    if (!body)
        b.last++;
    if (b.last < 0)
        e->levels[e->level].empty = true;
    else
        gs_loop_range(e, loop, b.last);
}
