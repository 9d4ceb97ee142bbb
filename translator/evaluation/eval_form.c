/* SPDX-License-Identifier: MIT */
/* Linear forms over the variables of a launch. */
#include "translator/evaluation/eval_state.h"

#include <string.h>

struct gs_form gs_form_const(int64_t v)
{
    struct gs_form f;
    f.base = v;
    f.n = 0;
    return f;
}

struct gs_form gs_form_var(uint32_t var)
{
    struct gs_form f;
    f.base = 0;
    f.n = 1;
    f.t[0] = (struct gs_term){var, 1};
    return f;
}

bool gs_form_same(const struct gs_form *a, const struct gs_form *b)
{
    if (a->base != b->base || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->t[i].var != b->t[i].var || a->t[i].factor != b->t[i].factor)
            return false;
    return true;
}

struct gs_interval gs_form_interval(const struct gs_eval *e, const struct gs_form *f)
{
    struct gs_interval r = {f->base, f->base};
    for (uint32_t i = 0; i < f->n; i++) {
        const struct gs_interval *v = &e->var[f->t[i].var];
        gs_wide c = f->t[i].factor;
        if (c == 1) {
            r.lo += v->lo;
            r.hi += v->hi;
            continue;
        }
        r.lo += c * (c > 0 ? v->lo : v->hi);
        r.hi += c * (c > 0 ? v->hi : v->lo);
    }
    return r;
}

/* Small enough that sums of products with any variable stay far within a gs_wide. */
static bool is_factor(int64_t factor)
{
    return factor >= -((int64_t)1 << 48) && factor <= (int64_t)1 << 48;
}

static bool push_term(struct gs_form *f, uint32_t var, int64_t factor)
{
    if (factor == 0)
        return true;
    if (f->n == GS_FORM_TERMS || !is_factor(factor))
        return false;
    f->t[f->n++] = (struct gs_term){var, factor};
    return true;
}

static int64_t factor_of(const struct gs_form *f, uint32_t var)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->t[i].var == var)
            return f->t[i].factor;
    return 0;
}

/* Puts `factor` at var, in order; 0 takes the term away. */
static bool set_term(struct gs_form *f, uint32_t var, int64_t factor)
{
    uint32_t i = 0;
    while (i < f->n && f->t[i].var < var)
        i++;
    bool there = i < f->n && f->t[i].var == var;
    if (there && factor) {
        f->t[i].factor = factor;
    } else if (there) {
        memmove(f->t + i, f->t + i + 1, (f->n - i - 1) * sizeof f->t[0]);
        f->n--;
    } else if (factor) {
        if (f->n == GS_FORM_TERMS)
            return false;
        memmove(f->t + i + 1, f->t + i, (f->n - i) * sizeof f->t[0]);
        f->t[i] = (struct gs_term){var, factor};
        f->n++;
    }
    return true;
}

/* item = group * local size + local: of a dimension, either the item alone stands in a form, or the others. */
static bool normalize_dimension(const struct gs_eval *e, struct gs_form *f, unsigned d)
{
    int64_t item = factor_of(f, GS_VAR_ITEM + d), group = factor_of(f, GS_VAR_GROUP + d);
    int64_t local = factor_of(f, GS_VAR_LOCAL + d);
    if (!group && !local)
        return true;
    uint64_t size = e->launch->local[d];
    int64_t product;
    if (size > INT64_MAX || __builtin_mul_overflow(item, (int64_t)size, &product) ||
        __builtin_add_overflow(group, product, &group) || __builtin_add_overflow(local, item, &local))
        return false;
    const bool whole = item != 0;
    item = 0;
    if (local && !__builtin_mul_overflow(local, (int64_t)size, &product) && product == group) {
        item = local;
        group = local = 0;
    }
    if (!whole && !item) /* as it stands already */
        return true;
    return is_factor(group) && is_factor(local) && set_term(f, GS_VAR_ITEM + d, 0) &&
           set_term(f, GS_VAR_GROUP + d, group) && set_term(f, GS_VAR_LOCAL + d, local) &&
           set_term(f, GS_VAR_ITEM + d, item);
}

/* Is `node` the quotient, and its partner the remainder, of operands whose divisor is the constant *w? */
static bool is_quotient(const struct gs_eval *e, uint32_t node, int64_t *w)
{
    const struct gs_node *n = &e->p->nodes[node];
    if (n->op != GS_N_DIV || n->partner == GS_NO_NODE || e->p->nodes[n->partner].op != GS_N_REM ||
        e->p->nodes[n->partner].a != n->a || e->p->nodes[n->partner].b != n->b)
        return false;
    const struct gs_memo *divisor = &e->memo[n->b];
    if (!gs_memo_holds(e, &e->memo[n->a]))
        return false;
    if (e->p->nodes[n->b].op == GS_N_CONST) /* these have no memo */
        *w = e->p->nodes[n->b].imm;
    else if (gs_memo_holds(e, divisor) && divisor->form.n == 0)
        *w = divisor->form.base;
    else
        return false;
    return *w > 0;
}

/* (x / w) * w + x % w is x, also in multiples. */
static bool join_quotient(const struct gs_eval *e, struct gs_form *f)
{
    for (uint32_t i = f->n; i-- > 0 && f->t[i].var >= e->first_node_var;) {
        uint32_t node = f->t[i].var - e->first_node_var;
        int64_t w, c = f->t[i].factor;
        if (!is_quotient(e, node, &w) || c % w != 0)
            continue;
        uint32_t rest = e->first_node_var + e->p->nodes[node].partner;
        if (factor_of(f, rest) != c / w)
            continue;
        struct gs_form x;
        gs_form_copy(&x, &e->memo[e->p->nodes[node].a].form);
        struct gs_interval range = gs_int_range(e->p->nodes[node].type), in = gs_form_interval(e, &x);
        if (in.lo < range.lo || in.hi > range.hi)
            continue;
        struct gs_form without = *f;
        if (!set_term(&without, f->t[i].var, 0) || !set_term(&without, rest, 0))
            return true;
        struct gs_form sum;
        if (gs_form_add(e, &without, c / w, &x, &sum))
            *f = sum;
        return true;
    }
    return true;
}

bool gs_form_add(const struct gs_eval *e, const struct gs_form *a, int64_t factor, const struct gs_form *b,
                 struct gs_form *out)
{
    struct gs_form f;
    f.n = 0;
    int64_t v;
    if (__builtin_mul_overflow(b->base, factor, &v) || __builtin_add_overflow(a->base, v, &f.base))
        return false;
    if (b->n == 0) { /* as it stood, moved */
        v = f.base;
        gs_form_copy(out, a);
        out->base = v;
        return true;
    }
    uint32_t i = 0, j = 0;
    if (a->n == 0) { /* as it stood, scaled */
        for (; j < b->n; j++)
            if (__builtin_mul_overflow(b->t[j].factor, factor, &v) || !push_term(&f, b->t[j].var, v))
                return false;
        gs_form_copy(out, &f);
        return true;
    }
    while (i < a->n || j < b->n) {
        bool take_a = j == b->n || (i < a->n && a->t[i].var <= b->t[j].var);
        bool take_b = i == a->n || (j < b->n && b->t[j].var <= a->t[i].var);
        uint32_t var = take_a ? a->t[i].var : b->t[j].var;
        int64_t c = take_a ? a->t[i++].factor : 0;
        if (take_b && (__builtin_mul_overflow(b->t[j++].factor, factor, &v) || __builtin_add_overflow(c, v, &c)))
            return false;
        if (!push_term(&f, var, c))
            return false;
    }
    uint8_t dims = 0; /* in which a group or local id stands */
    for (i = 0; i < f.n && f.t[i].var < GS_VAR_LOOP; i++)
        if (f.t[i].var >= GS_VAR_GROUP)
            dims |= (uint8_t)(1u << f.t[i].var % 3);
    for (unsigned d = 0; dims >> d; d++)
        if (dims >> d & 1 && !normalize_dimension(e, &f, d))
            return false;
    gs_form_copy(out, &f);
    return f.n < 2 || f.t[f.n - 1].var < e->first_node_var || join_quotient(e, out);
}
