/* SPDX-License-Identifier: MIT */
#include "translator/evaluation/eval_sure.h"

#include "translator/evaluation/eval_lattice.h"

static const gs_wide far_off = (gs_wide)1 << 100;

#define NO_LOOP UINT32_MAX

void gs_sure_begin(struct gs_sure *s, struct gs_eval *e)
{
    s->e = e;
    s->at[0] = (struct gs_sure_level){.nothing = e->levels[0].empty};
    s->n_loops[0] = 0;
}

static struct gs_sure_level *here(struct gs_sure *s)
{
    return &s->at[s->e->level];
}

static void enter_level(struct gs_sure *s)
{
    const uint32_t outside = s->e->level;
    gs_level_enter(s->e);
    s->at[s->e->level] = s->at[outside];
    s->n_loops[s->e->level] = s->n_loops[outside];
}

static bool is_around(const struct gs_sure *s, uint32_t loop)
{
    for (uint32_t i = 0; i < s->n_loops[s->e->level]; i++)
        if (s->loops[i] == loop)
            return true;
    return false;
}

/* Is the form made of variables alone that a point gives values to? And which ids does it speak of? */
static bool is_of_points(const struct gs_sure *s, const struct gs_form *f, struct gs_sure_level *ids)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t var = f->t[i].var;
        const uint8_t bit = (uint8_t)(1u << var % 3);
        if (var >= s->e->first_node_var)
            return false;
        if (var >= GS_VAR_LOOP && !is_around(s, var - GS_VAR_LOOP))
            return false;
        if (var < GS_VAR_GROUP)
            ids->item |= bit;
        else if (var < GS_VAR_LOOP)
            ids->group |= bit;
        if (var >= GS_VAR_LOCAL && var < GS_VAR_LOOP)
            ids->local |= bit;
    }
    return true;
}

/* ---- guards ---- */

static gs_wide floor_divide(gs_wide a, gs_wide b)
{
    const gs_wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Keeps the points with lo <= f <= hi (S3, S4). */
static void keep_within(struct gs_sure *s, const struct gs_form *f, struct gs_interval to)
{
    struct gs_sure_level *l = here(s);
    const struct gs_interval in = gs_form_interval(s->e, f);
    if (in.lo >= to.lo && in.hi <= to.hi)
        return;
    if (in.lo > to.hi || in.hi < to.lo || !is_of_points(s, f, l)) {
        l->nothing = true;
        return;
    }
    if (f->n == 1) {
        const gs_wide c = f->t[0].factor, lo = to.lo - f->base, hi = to.hi - f->base; /* lo <= c * var <= hi */
        const struct gs_interval rising = {-floor_divide(-lo, c), floor_divide(hi, c)};
        const struct gs_interval falling = {-floor_divide(-hi, c), floor_divide(lo, c)};
        gs_var_narrow(s->e, f->t[0].var, c > 0 ? rising : falling);
        return;
    }
    if (l->constraints == GS_MAX_CONSTRAINTS) {
        l->nothing = true;
        return;
    }
    s->c[l->constraints++] = (struct gs_constraint){*f, to};
    gs_form_narrow(s->e, f, to);
}

static int64_t factor_of(const struct gs_form *f, uint32_t var)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->t[i].var == var)
            return f->t[i].factor;
    return 0;
}

/* Once f, as an iteration more of the loop changes it, has left `to`, does it never come back? */
static bool stays_out(const struct gs_form *f, struct gs_interval to, uint32_t loop)
{
    const int64_t factor = loop == NO_LOOP ? 0 : factor_of(f, GS_VAR_LOOP + loop);
    return factor == 0 || (factor > 0 && to.lo == -far_off) || (factor < 0 && to.hi == far_off);
}

/* Which differences a - b make the comparison come out as wanted. False where that is not one interval. */
static bool wanted_difference(const struct gs_node *n, bool truth, struct gs_interval in, struct gs_interval *to)
{
    *to = (struct gs_interval){-far_off, far_off};
    switch (n->op) {
    case GS_N_LT:
        *(truth ? &to->hi : &to->lo) = truth ? -1 : 0;
        return true;
    case GS_N_LE:
        *(truth ? &to->hi : &to->lo) = truth ? 0 : 1;
        return true;
    default: /* GS_N_EQ */
        if (truth)
            *to = (struct gs_interval){0, 0};
        else if (in.lo >= 0)
            to->lo = 1;
        else if (in.hi <= 0)
            to->hi = -1;
        else
            return false;
        return true;
    }
}

/* Keeps the points for which the comparison comes out as wanted. `loop`: it is a part of that loop's condition. */
static void keep_compared(struct gs_sure *s, const struct gs_node *n, bool truth, uint32_t loop)
{
    struct gs_memo m = {.free = true};
    const struct gs_form a = gs_eval_value(s->e, n->a, &m), b = gs_eval_value(s->e, n->b, &m);
    struct gs_form d;
    struct gs_interval to;
    if (gs_form_add(s->e, &a, -1, &b, &d) && wanted_difference(n, truth, gs_form_interval(s->e, &d), &to) &&
        stays_out(&d, to, loop))
        keep_within(s, &d, to);
    else
        here(s)->nothing = true;
}

/* Keeps points for which the node is true, or false, as wanted: not all of them, perhaps (S3 to S5). `loop`: the node
 * is a part of that loop's condition, and all iterations before a point's must pass it as well. */
static void keep(struct gs_sure *s, uint32_t node, bool truth, uint32_t loop)
{
    struct gs_eval *e = s->e;
    const struct gs_node *n = &e->p->nodes[node];
    const enum gs_truth wanted = truth ? GS_TRUE : GS_FALSE, never = truth ? GS_FALSE : GS_TRUE;
    struct gs_memo m = {.free = true};
    if (here(s)->nothing)
        return;
    const enum gs_truth t = e->depth < GS_MAX_DEPTH ? gs_eval_truth(e, node, &m) : GS_MAYBE;
    if (t == wanted)
        return;
    if (t == never || e->depth >= GS_MAX_DEPTH) {
        here(s)->nothing = true;
        return;
    }
    e->depth++;
    switch (n->op) {
    case GS_N_LNOT:
        keep(s, n->a, !truth, loop);
        break;
    case GS_N_LAND:
    case GS_N_LOR:
        if ((n->op == GS_N_LAND) == truth) { /* both sides */
            keep(s, n->a, truth, loop);
            keep(s, n->b, truth, loop);
        } else if (gs_eval_truth(e, n->b, &m) == never) { /* one side, as the other doesn't help */
            keep(s, n->a, truth, loop);
        } else if (gs_eval_truth(e, n->a, &m) == never) {
            keep(s, n->b, truth, loop);
        } else {
            here(s)->nothing = true;
        }
        break;
    case GS_N_EQ:
    case GS_N_LT:
    case GS_N_LE:
        keep_compared(s, n, truth, loop);
        break;
    default:
        here(s)->nothing = true;
    }
    e->depth--;
}

/* ---- loops ---- */

static bool is_comparison(const struct gs_access_program *p, uint32_t node)
{
    while (p->nodes[node].op == GS_N_LNOT)
        node = p->nodes[node].a;
    return p->nodes[node].op >= GS_N_EQ && p->nodes[node].op <= GS_N_LE;
}

/* S6 for loops that test first, S7 for those that test last. */
static void enter_loop(struct gs_sure *s, uint32_t loop)
{
    const struct gs_loop *l = &s->e->p->loops[loop];
    struct gs_memo m = {.free = true};
    const struct gs_loop_bound b = gs_loop_bound(s->e, loop, &m);
    enter_level(s);
    uint32_t *n = &s->n_loops[s->e->level];
    if (*n == GS_MAX_NESTING || l->condition == GS_NO_NODE || (!l->tested_after && (!b.bounded || b.last < 0))) {
        here(s)->nothing = true;
        return;
    }
    s->loops[(*n)++] = loop;
    if (l->tested_after) {
        const bool counted = b.bounded && b.exact && is_comparison(s->e->p, l->condition);
        gs_loop_range(s->e, loop, counted ? b.last : 0);
        return;
    }
    gs_loop_range(s->e, loop, b.last);
    keep(s, l->condition, true, loop);
}

/* Is the guard the condition of the loop just around, which S6 has dealt with? */
static bool is_own_condition(const struct gs_sure *s, const struct gs_scope *c)
{
    const uint32_t n = s->n_loops[s->e->level];
    return n > 0 && c->truth && s->e->p->loops[s->loops[n - 1]].condition == c->what &&
           !s->e->p->loops[s->loops[n - 1]].tested_after;
}

void gs_sure_enter(struct gs_sure *s, const struct gs_scope *c)
{
    if (here(s)->nothing) {
        enter_level(s);
    } else if (c->kind == GS_C_LOOP && c->truth) {
        enter_loop(s, c->what);
    } else if (c->kind == GS_C_GUARD) {
        const bool known = is_own_condition(s, c);
        enter_level(s);
        if (!known)
            keep(s, c->what, c->truth, NO_LOOP);
    } else { /* a test of a loop, or what can't be said */
        enter_level(s);
        here(s)->nothing = true;
    }
    here(s)->nothing |= s->e->levels[s->e->level].empty;
}

/* ---- bytes ---- */

/* May item, group and local id be taken for independent of one another? (S2) */
static bool are_independent(const struct gs_eval *e, const struct gs_sure_level *ids)
{
    uint8_t uneven = 0;
    for (unsigned d = 0; d < 3; d++) /* the part's last group has fewer items */
        uneven |= (uint8_t)((e->box->end[d] * e->launch->local[d] > e->launch->global[d]) << d);
    return !(ids->item & ids->group) && !(ids->local & uneven);
}

/* A constraint and how the offset depends on it: offset = factor * constraint's form + rest, which share no variable.
 */
struct cut {
    int64_t factor;
    struct gs_form rest;
    struct gs_interval in; /* of the constraint's form, cut; not empty */
    bool gapless;
};

static bool find_cut(const struct gs_eval *e, const struct gs_form *f, const struct gs_constraint *c, struct cut *out)
{
    const struct gs_interval in = gs_form_interval(e, &c->form);
    out->in = (struct gs_interval){gs_greatest(in.lo, c->in.lo), gs_least(in.hi, c->in.hi)};
    out->gapless = gs_form_is_gapless(e, &c->form);
    out->factor = 0;
    out->rest = *f;
    if (out->in.lo > out->in.hi)
        return false;
    if (!gs_form_shares_variable(f, &c->form))
        return out->gapless; /* else there might be no point */
    out->factor = gs_form_multiple(f, &c->form);
    return out->factor != 0 && gs_form_add(e, f, -out->factor, &c->form, &out->rest) &&
           !gs_form_shares_variable(&out->rest, &c->form);
}

/* S9: the values of the offset at the points, as a lattice of which those count that lie in `clip`. False where the
 * rules don't say. */
static bool make_lattice(const struct gs_sure *s, const struct gs_form *f, uint64_t bytes, struct gs_lattice *l,
                         struct gs_interval *clip)
{
    const struct gs_eval *e = s->e;
    const uint32_t n = s->at[e->level].constraints;
    struct gs_sure_level ids = s->at[e->level];
    struct gs_form rest = *f;
    if (!is_of_points(s, f, &ids))
        return false;
    uint32_t apart = 0; /* constraints whose forms have gaps */
    l->first = l->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct cut cut;
        for (uint32_t j = 0; j < i; j++)
            if (gs_form_shares_variable(&s->c[j].form, &s->c[i].form))
                return false;
        if (!find_cut(e, &rest, &s->c[i], &cut))
            return false;
        is_of_points(s, &cut.rest, &ids); /* group and local id, taken off, may leave the item */
        if (cut.factor == 0)
            continue;
        const gs_wide q = cut.factor, wide = q > 0 ? q : -q;
        const struct gs_interval r = gs_form_interval(e, &cut.rest);
        if (cut.gapless) {
            gs_lattice_add(l, q, cut.in);
            rest = cut.rest;
        } else if (apart++ == 0 && l->n == 0 && wide >= r.hi - r.lo + (gs_wide)bytes) {
            clip->lo = gs_greatest(clip->lo, (q > 0 ? q * cut.in.lo : q * cut.in.hi) + r.lo);
            clip->hi = gs_least(clip->hi, (q > 0 ? q * cut.in.hi : q * cut.in.lo) + r.hi + (gs_wide)bytes);
        } else {
            return false;
        }
    }
    if ((apart && n > 1) || !is_of_points(s, &rest, &ids) || !are_independent(e, &ids))
        return false;
    gs_lattice_add_form(e, l, &rest);
    return true;
}

void gs_sure_add(struct gs_sure *s, const struct gs_access *a, struct gs_interval within, struct gs_rangeset *out)
{
    struct gs_eval *e = s->e;
    struct gs_memo m = {.free = true};
    if (here(s)->nothing || !a->whole || a->offset == GS_NO_NODE)
        return;
    const struct gs_form f = gs_eval_value(e, a->offset, &m);
    if (e->levels[e->level].empty)
        return;
    const struct gs_interval in = gs_form_interval(e, &f);
    const gs_wide limit = (gs_wide)1 << 62;
    struct gs_lattice l;
    bool exact;
    if (in.lo >= within.hi || in.hi + a->bytes <= within.lo)
        return;
    if (in.lo < -limit || in.hi > limit || !make_lattice(s, &f, a->bytes, &l, &within))
        return;
    const gs_wide run =
        gs_lattice_run(&l, a->bytes, e->ranges < GS_MANY_RANGES ? GS_MAX_RANGES : GS_MAX_RANGES_THEN, &exact);
    const int n = exact ? gs_lattice_ranges(&l, run, within, out) : 0;
    if (n < 0)
        e->no_memory = true;
    else
        e->ranges += l.n ? (uint32_t)n : 0;
}
