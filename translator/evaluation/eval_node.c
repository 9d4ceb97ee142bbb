/* SPDX-License-Identifier: MIT */
/* Values of nodes as forms. */
#include "translator/evaluation/eval_state.h"

#include <string.h>

struct gs_interval gs_int_range(uint8_t type)
{
    unsigned bits = gs_int_bits(type);
    if (gs_int_signed(type))
        return (struct gs_interval){-((gs_wide)1 << (bits - 1)), ((gs_wide)1 << (bits - 1)) - 1};
    return (struct gs_interval){0, ((gs_wide)1 << bits) - 1};
}

static bool within(struct gs_interval a, struct gs_interval b)
{
    return a.lo >= b.lo && a.hi <= b.hi;
}

static gs_wide least(gs_wide a, gs_wide b)
{
    return a < b ? a : b;
}

static gs_wide greatest(gs_wide a, gs_wide b)
{
    return a > b ? a : b;
}

static bool is_single(struct gs_interval v)
{
    return v.lo == v.hi && v.lo >= INT64_MIN && v.hi <= INT64_MAX;
}

/* The node's own variable, known to lie in `in` (and in what was known of it before). */
static struct gs_form own_variable(struct gs_eval *e, uint32_t node, struct gs_interval in, struct gs_memo *m)
{
    struct gs_interval range = gs_int_range(e->p->nodes[node].type);
    if (!within(in, range))
        in = range;
    m->free = false;
    m->lossy = true;
    if (is_single(in))
        return gs_form_const((int64_t)in.lo);
    uint32_t var = e->first_node_var + node;
    gs_var_narrow(e, var, in);
    return gs_form_var(var);
}

/* The same of a value that lies in one of two intervals of the type's. */
static struct gs_form either(struct gs_eval *e, uint32_t node, struct gs_interval a, struct gs_interval b,
                             struct gs_memo *m)
{
    const struct gs_interval low = a.lo <= b.lo ? a : b, high = a.lo <= b.lo ? b : a;
    const struct gs_interval all = {low.lo, greatest(low.hi, high.hi)};
    m->around = low.hi + 1 < high.lo && within(all, gs_int_range(e->p->nodes[node].type));
    m->gap = (struct gs_interval){low.hi + 1, high.lo - 1};
    return own_variable(e, node, all, m);
}

static struct gs_form any_value(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    return own_variable(e, node, gs_int_range(e->p->nodes[node].type), m);
}

/* The interval of a node's value, and whether that is a single number. */
static struct gs_interval value_interval(struct gs_eval *e, uint32_t node, struct gs_form *f, struct gs_memo *m)
{
    gs_eval_value_to(e, node, m, f);
    if (f->n)
        m->free = false;
    return gs_form_interval(e, f);
}

/* Is it the induction variable that bounds its loop? Then it has been proved not to wrap while the loop runs, though
 * the box of its form, which has the last iteration of one work-item beside the first value of another, may say less.
 * That is of the variable that begins at init's value: its form must not be one that is merely congruent to it. */
static bool never_wraps(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    if (n->op != GS_N_IV)
        return false;
    const struct gs_loop *l = &e->p->loops[n->c];
    if (l->cmp == GS_LOOP_UNBOUNDED || l->init != n->a || l->step != n->b || l->type != n->type || l->tested_after)
        return false;
    const struct gs_form lazy = gs_eval_lazy(e, l->init, m), value = gs_eval_value(e, l->init, m);
    return gs_form_same(&lazy, &value) && gs_loop_bound(e, n->c, m).bounded;
}

static bool fits(int64_t v, uint8_t type)
{
    const unsigned bits = gs_int_bits(type);
    if (bits == 64)
        return gs_int_signed(type) || v >= 0;
    const int64_t half = (int64_t)1 << (bits - 1);
    return gs_int_signed(type) ? v >= -half && v < half : v >= 0 && v < 2 * half;
}

void gs_eval_value_to(struct gs_eval *e, uint32_t node, struct gs_memo *m, struct gs_form *out)
{
    gs_eval_lazy_to(e, node, m, out);
    if (out->n == 0 && fits(out->base, e->p->nodes[node].type))
        return;
    if (out->n == 1 && out->t[0].var == e->first_node_var + node)
        return;
    struct gs_interval in = gs_form_interval(e, out);
    if (out->n)
        m->free = false;
    if (within(in, gs_int_range(e->p->nodes[node].type)) || never_wraps(e, node, m))
        return;
    struct gs_form any = any_value(e, node, m);
    gs_form_copy(out, &any);
}

static struct gs_form eval_arg(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    const struct gs_arg_value *a = &e->args[n->a];
    size_t bytes = gs_int_bits(n->type) / 8, at = (size_t)n->imm;
    if (!a->bytes || a->size < bytes || at > a->size - bytes)
        return any_value(e, node, m);
    uint64_t raw = 0;
    memcpy(&raw, (const char *)a->bytes + at, bytes); /* OpenCL devices here are little-endian, as the host is */
    unsigned unused = 64 - gs_int_bits(n->type);
    if (gs_int_signed(n->type))
        return gs_form_const((int64_t)(raw << unused) >> unused);
    if (raw > INT64_MAX)
        return any_value(e, node, m);
    return gs_form_const((int64_t)raw);
}

static struct gs_form eval_local_size(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    unsigned d = e->p->nodes[node].dim;
    uint64_t local = e->launch->local[d];
    if (local <= 1 || e->launch->global[d] % local == 0)
        return gs_form_const((int64_t)local);
    return own_variable(e, node, (struct gs_interval){1, local}, m);
}

static struct gs_form eval_geometry(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    const struct gs_geometry *g = e->launch;
    uint64_t local = g->local[n->dim] ? g->local[n->dim] : 1;
    struct gs_form f;
    switch (n->op) {
    case GS_N_GLOBAL_ID:
        f = gs_form_var(GS_VAR_ITEM + n->dim);
        f.base = (int64_t)g->offset[n->dim];
        return f;
    case GS_N_GROUP_ID:
        return gs_form_var(GS_VAR_GROUP + (uint32_t)n->dim);
    case GS_N_LOCAL_ID:
        return gs_form_var(GS_VAR_LOCAL + (uint32_t)n->dim);
    case GS_N_GLOBAL_SIZE:
        return gs_form_const((int64_t)g->global[n->dim]);
    case GS_N_LOCAL_SIZE:
        return eval_local_size(e, node, m);
    case GS_N_ENQUEUED_LOCAL_SIZE:
        return gs_form_const((int64_t)local);
    case GS_N_NUM_GROUPS:
        return gs_form_const((int64_t)(g->global[n->dim] / local + (g->global[n->dim] % local != 0)));
    case GS_N_GLOBAL_OFFSET:
        return gs_form_const((int64_t)g->offset[n->dim]);
    default:
        return gs_form_const((int64_t)g->dims);
    }
}

static struct gs_form eval_sum(struct gs_eval *e, uint32_t node, int64_t factor, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a = gs_eval_lazy(e, n->a, m), b = gs_eval_lazy(e, n->b, m), f;
    if (gs_form_add(e, &a, factor, &b, &f))
        return f;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    if (factor > 0)
        return own_variable(e, node, (struct gs_interval){x.lo + y.lo, x.hi + y.hi}, m);
    return own_variable(e, node, (struct gs_interval){x.lo - y.hi, x.hi - y.lo}, m);
}

static bool scale(const struct gs_eval *e, const struct gs_form *f, int64_t factor, struct gs_form *out)
{
    struct gs_form zero = gs_form_const(0);
    return gs_form_add(e, &zero, factor, f, out);
}

/* The least interval around the products. False where they don't fit. */
static bool multiply(struct gs_interval x, struct gs_interval y, struct gs_interval *out)
{
    gs_wide p[4];
    if (__builtin_mul_overflow(x.lo, y.lo, &p[0]) || __builtin_mul_overflow(x.lo, y.hi, &p[1]) ||
        __builtin_mul_overflow(x.hi, y.lo, &p[2]) || __builtin_mul_overflow(x.hi, y.hi, &p[3]))
        return false;
    *out = (struct gs_interval){least(least(p[0], p[1]), least(p[2], p[3])),
                                greatest(greatest(p[0], p[1]), greatest(p[2], p[3]))};
    return true;
}

static struct gs_form eval_product(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a = gs_eval_lazy(e, n->a, m), b = gs_eval_lazy(e, n->b, m), f;
    if (b.n == 0 && scale(e, &a, b.base, &f))
        return f;
    if (a.n == 0 && scale(e, &b, a.base, &f))
        return f;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m), xy;
    m->lossy = true; /* deeper, one factor may be a single number */
    if (is_single(y) && scale(e, &a, (int64_t)y.lo, &f))
        return f;
    if (is_single(x) && scale(e, &b, (int64_t)x.lo, &f))
        return f;
    return multiply(x, y, &xy) ? own_variable(e, node, xy, m) : any_value(e, node, m);
}

static struct gs_form eval_mul24(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_interval allowed = {0, (1 << 24) - 1};
    if (gs_int_signed(n->type))
        allowed = (struct gs_interval){-(1 << 23), (1 << 23) - 1};
    struct gs_form f;
    if (within(value_interval(e, n->a, &f, m), allowed) && within(value_interval(e, n->b, &f, m), allowed))
        return eval_product(e, node, m);
    return any_value(e, node, m);
}

/* Splits x, whose values are x, into multiples of w and a rest: true where the rest lies in [0, w). */
static bool split_multiples(const struct gs_eval *e, const struct gs_form *x, int64_t w, struct gs_form *quotient,
                            struct gs_form *rest)
{
    int64_t base = x->base % w < 0 ? x->base % w + w : x->base % w;
    *quotient = gs_form_const((x->base - base) / w);
    *rest = gs_form_const(base);
    for (uint32_t i = 0; i < x->n; i++) {
        struct gs_form *to = x->t[i].factor % w == 0 ? quotient : rest;
        int64_t factor = to == quotient ? x->t[i].factor / w : x->t[i].factor;
        to->t[to->n++] = (struct gs_term){x->t[i].var, factor};
    }
    struct gs_interval in = gs_form_interval(e, rest);
    return in.lo >= 0 && in.hi < w;
}

/* x floor-divided by w > 0, given the form of the value x; and the remainder of that. */
static struct gs_form floor_divide(struct gs_eval *e, uint32_t node, const struct gs_form *x, int64_t w, bool want_rest,
                                   struct gs_memo *m)
{
    struct gs_form quotient, rest;
    struct gs_interval in = gs_form_interval(e, x);
    m->free = false;
    if (split_multiples(e, x, w, &quotient, &rest))
        return want_rest ? rest : quotient;
    m->lossy = true;
    gs_wide lo = in.lo >= 0 ? in.lo / w : -((-in.lo + w - 1) / w),
            hi = in.hi >= 0 ? in.hi / w : -((-in.hi + w - 1) / w);
    if (!want_rest)
        return own_variable(e, node, (struct gs_interval){lo, hi}, m);
    if (lo == hi && lo >= INT64_MIN / w && lo <= INT64_MAX / w) { /* all in one multiple of w */
        struct gs_form f = *x;
        if (!__builtin_sub_overflow(f.base, (int64_t)lo * w, &f.base))
            return f;
    }
    if (lo + 1 == hi) /* from one multiple into the next */
        return either(e, node, (struct gs_interval){in.lo - lo * w, w - 1}, (struct gs_interval){0, in.hi - hi * w}, m);
    return own_variable(e, node, (struct gs_interval){0, w - 1}, m);
}

/* C's division, which rounds toward 0. */
static struct gs_form divide_intervals(struct gs_eval *e, uint32_t node, struct gs_interval x, struct gs_interval y,
                                       struct gs_memo *m)
{
    if (y.lo <= 0 && y.hi >= 0)
        return any_value(e, node, m);
    gs_wide q[4] = {x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi};
    gs_wide lo = least(least(q[0], q[1]), least(q[2], q[3])), hi = greatest(greatest(q[0], q[1]), greatest(q[2], q[3]));
    return own_variable(e, node, (struct gs_interval){lo, hi}, m);
}

static struct gs_form eval_divide(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    bool rest = n->op == GS_N_REM;
    struct gs_form a, b;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    if (x.lo >= 0 && is_single(y) && y.lo > 0)
        return floor_divide(e, node, &a, (int64_t)y.lo, rest, m);
    m->lossy = true;
    if (!rest)
        return divide_intervals(e, node, x, y, m);
    if (y.lo <= 0 && y.hi >= 0)
        return any_value(e, node, m);
    gs_wide most = greatest(y.hi > 0 ? y.hi : -y.hi, y.lo > 0 ? y.lo : -y.lo) - 1;
    if (is_single(y) && gs_int_signed(n->type) && x.lo >= -most && x.hi <= most)
        return a;
    return own_variable(e, node,
                        (struct gs_interval){x.lo < 0 ? -least(-x.lo, most) : 0, x.hi > 0 ? least(x.hi, most) : 0}, m);
}

static struct gs_form eval_shift_left(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a = gs_eval_lazy(e, n->a, m), b, f;
    struct gs_interval y = value_interval(e, n->b, &b, m);
    gs_wide bits = gs_int_bits(n->type);
    if (is_single(y) && y.lo >= 0 && y.lo < least(bits, 48) && scale(e, &a, (int64_t)1 << (int)y.lo, &f))
        return f;
    struct gs_interval x = value_interval(e, n->a, &a, m);
    m->lossy = true;
    if (x.lo < 0 || y.lo < 0 || y.hi >= bits || x.hi > (gs_wide)1 << 62)
        return any_value(e, node, m);
    return own_variable(e, node, (struct gs_interval){x.lo << (int)y.lo, x.hi << (int)y.hi}, m);
}

static struct gs_form eval_shift_right(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a, b;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    gs_wide bits = gs_int_bits(n->type);
    if (is_single(y) && y.lo >= 0 && y.lo < least(bits, 62))
        return floor_divide(e, node, &a, (int64_t)1 << (int)y.lo, false, m);
    m->lossy = true;
    if (y.lo < 0 || y.hi >= bits)
        y = (struct gs_interval){0, bits - 1};
    if (x.lo >= 0)
        return own_variable(e, node, (struct gs_interval){x.lo >> (int)y.hi, x.hi >> (int)y.lo}, m);
    return own_variable(e, node, (struct gs_interval){x.lo, greatest(x.hi, 0)}, m);
}

/* x & w, w a constant. Modulo 2^k, any form that is congruent to x does. */
static bool and_constant(struct gs_eval *e, uint32_t node, uint32_t x, int64_t w, struct gs_form *out,
                         struct gs_memo *m)
{
    if (w >= 0 && (w & (w + 1)) == 0 && w < INT64_MAX) {
        struct gs_form f = gs_eval_lazy(e, x, m);
        *out = floor_divide(e, node, &f, w + 1, true, m);
        return true;
    }
    int64_t down = w > INT64_MIN ? -w : 0; /* of the kind x & ~15: rounds down */
    struct gs_form f;
    struct gs_interval in = value_interval(e, x, &f, m);
    if (w < 0 && down > 0 && (down & (down - 1)) == 0 && in.lo >= 0) {
        *out = own_variable(e, node, (struct gs_interval){in.lo - in.lo % down, in.hi - in.hi % down}, m);
        return true;
    }
    return false;
}

static struct gs_form eval_and(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a = gs_eval_lazy(e, n->a, m), b = gs_eval_lazy(e, n->b, m), f;
    if (b.n == 0 && and_constant(e, node, n->a, b.base, &f, m))
        return f;
    if (a.n == 0 && and_constant(e, node, n->b, a.base, &f, m))
        return f;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    m->lossy = true;
    if (x.lo < 0 && y.lo < 0)
        return any_value(e, node, m);
    gs_wide hi = x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : least(x.hi, y.hi);
    return own_variable(e, node, (struct gs_interval){0, hi}, m);
}

/* The largest power of 2, up to 2^40, that divides all values of the form. */
static int64_t alignment(const struct gs_form *f)
{
    uint64_t bits = (uint64_t)1 << 40 | (uint64_t)f->base;
    for (uint32_t i = 0; i < f->n; i++)
        bits |= (uint64_t)f->t[i].factor;
    return (int64_t)(bits & (0 - bits));
}

/* x | y and x ^ y: a sum where no bit is set in both. */
static struct gs_form eval_or(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a, b, f;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    m->free = false;
    if (((y.lo >= 0 && y.hi < alignment(&a)) || (x.lo >= 0 && x.hi < alignment(&b))) && gs_form_add(e, &a, 1, &b, &f))
        return f;
    m->lossy = true;
    if (x.lo < 0 || y.lo < 0)
        return any_value(e, node, m);
    gs_wide all = 1;
    while (all <= x.hi || all <= y.hi)
        all *= 2;
    gs_wide lo = n->op == GS_N_OR ? greatest(x.lo, y.lo) : 0;
    return own_variable(e, node, (struct gs_interval){lo, all - 1}, m);
}

static struct gs_form eval_extreme(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a, b, d;
    struct gs_interval x = value_interval(e, n->a, &a, m), y = value_interval(e, n->b, &b, m);
    struct gs_interval diff = {x.lo - y.hi, x.hi - y.lo};
    if (gs_form_add(e, &a, -1, &b, &d)) {
        struct gs_interval in = gs_form_interval(e, &d);
        diff = (struct gs_interval){greatest(diff.lo, in.lo), least(diff.hi, in.hi)};
    }
    bool min = n->op == GS_N_MIN;
    if (a.n || b.n)
        m->free = false;
    if (diff.hi <= 0)
        return min ? a : b;
    if (diff.lo >= 0)
        return min ? b : a;
    if (min)
        return own_variable(e, node, (struct gs_interval){least(x.lo, y.lo), least(x.hi, y.hi)}, m);
    return own_variable(e, node, (struct gs_interval){greatest(x.lo, y.lo), greatest(x.hi, y.hi)}, m);
}

/* To a narrower or equally wide type the lazy form is congruent still; to a wider one only the value itself is. */
static struct gs_form eval_cast(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    if (gs_int_bits(n->type) <= gs_int_bits(e->p->nodes[n->a].type))
        return gs_eval_lazy(e, n->a, m);
    return gs_eval_value(e, n->a, m);
}

/* The value of one side of a selection, where its condition is as that side needs it. False where it never is. */
static bool eval_side(struct gs_eval *e, uint32_t condition, bool truth, uint32_t side, struct gs_form *f,
                      struct gs_interval *in)
{
    struct gs_memo m = {.free = true};
    gs_guard_enter(e, condition, truth);
    bool possible = !e->levels[e->level].empty;
    if (possible) {
        gs_eval_value_to(e, side, &m, f);
        *in = gs_form_interval(e, f);
    }
    gs_level_leave(e);
    return possible;
}

/* Do all terms of f belong to variables that mean the same outside of the side that f was found in? */
static bool is_plain(const struct gs_eval *e, const struct gs_form *f)
{
    return f->n == 0 || f->t[f->n - 1].var < e->first_node_var;
}

static struct gs_form eval_select(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    enum gs_truth t = gs_eval_truth(e, n->a, m);
    if (t != GS_MAYBE)
        return gs_eval_lazy(e, t == GS_TRUE ? n->b : n->c, m);
    m->free = false;
    m->lossy = true;
    if (e->level + 2 >= GS_LEVELS)
        return any_value(e, node, m);
    struct gs_form f[2];
    struct gs_interval in[2];
    bool yes = eval_side(e, n->a, true, n->b, &f[0], &in[0]), no = eval_side(e, n->a, false, n->c, &f[1], &in[1]);
    if (yes != no) {
        unsigned i = no;
        return is_plain(e, &f[i]) ? f[i] : own_variable(e, node, in[i], m);
    }
    if (!yes)
        return any_value(e, node, m);
    if (gs_form_same(&f[0], &f[1]) && is_plain(e, &f[0]))
        return f[0];
    return either(e, node, in[0], in[1], m);
}

static struct gs_form eval_truth_value(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    enum gs_truth t = gs_eval_truth(e, node, m);
    if (t != GS_MAYBE)
        return gs_form_const(t == GS_TRUE);
    return own_variable(e, node, (struct gs_interval){0, 1}, m);
}

static struct gs_form eval_iv(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form init = gs_eval_lazy(e, n->a, m), step, f;
    struct gs_interval by = value_interval(e, n->b, &step, m);
    struct gs_form k = gs_form_var(GS_VAR_LOOP + n->c);
    if (is_single(by) && gs_form_add(e, &init, (int64_t)by.lo, &k, &f))
        return f;
    const struct gs_loop *l = &e->p->loops[n->c];
    if (l->cmp == GS_LOOP_UNBOUNDED || l->init != n->a || l->step != n->b || l->tested_after)
        return any_value(e, node, m);
    struct gs_loop_bound b = gs_loop_bound(e, n->c, m);
    return b.bounded ? own_variable(e, node, b.after, m) : any_value(e, node, m); /* in the body, a guard narrows it */
}

/* Is what bounds the loop its whole condition, so that it ends there and nowhere before? */
static bool ends_at_bound(const struct gs_eval *e, const struct gs_loop *l)
{
    uint32_t node = l->condition;
    while (node != GS_NO_NODE && e->p->nodes[node].op == GS_N_LNOT)
        node = e->p->nodes[node].a;
    return node != GS_NO_NODE && !l->tested_after && e->p->nodes[node].op != GS_N_LAND &&
           e->p->nodes[node].op != GS_N_LOR;
}

static struct gs_form eval_iv_exit(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_loop_bound b = gs_loop_bound(e, n->c, m);
    struct gs_form f;
    struct gs_interval init = value_interval(e, n->a, &f, m), step = value_interval(e, n->b, &f, m), way;
    const gs_wide limit = (gs_wide)1 << 100;
    if (!b.bounded || !multiply(step, (struct gs_interval){0, b.last + 2}, &way)) /* a test may step too */
        return any_value(e, node, m);
    if (way.lo < -limit || way.hi > limit)
        return any_value(e, node, m);
    struct gs_interval in = {init.lo + way.lo, init.hi + way.hi};
    const struct gs_loop *l = &e->p->loops[n->c];
    if (n->dim == GS_EXIT_PLAIN && b.exact && is_single(step) && ends_at_bound(e, l)) { /* after so many steps */
        const struct gs_form before = gs_eval_lazy(e, n->a, m), one = gs_form_const(1);
        const gs_wide by = step.lo * (b.last + 1);
        if (by >= INT64_MIN && by <= INT64_MAX && gs_form_add(e, &before, (int64_t)by, &one, &f))
            return f;
    }
    if (l->init == n->a && l->step == n->b && !l->tested_after && n->dim != GS_EXIT_STEPPED)
        in = (struct gs_interval){greatest(in.lo, b.after.lo), least(in.hi, b.after.hi)};
    return own_variable(e, node, in, m);
}

static struct gs_form eval_not(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_form a = gs_eval_lazy(e, n->a, m), one = gs_form_const(-1), f;
    return gs_form_add(e, &one, -1, &a, &f) ? f : any_value(e, node, m);
}

static struct gs_form eval_op(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    switch (e->p->nodes[node].op) {
    case GS_N_CONST:
        return gs_form_const(e->p->nodes[node].imm);
    case GS_N_ARG:
        return eval_arg(e, node, m);
    case GS_N_OPAQUE:
    case GS_N_LOAD:
        return any_value(e, node, m);
    case GS_N_IV:
        return eval_iv(e, node, m);
    case GS_N_IV_EXIT:
        return eval_iv_exit(e, node, m);
    case GS_N_ADD:
        return eval_sum(e, node, 1, m);
    case GS_N_SUB:
        return eval_sum(e, node, -1, m);
    case GS_N_MUL:
        return eval_product(e, node, m);
    case GS_N_MUL24:
        return eval_mul24(e, node, m);
    case GS_N_DIV:
    case GS_N_REM:
        return eval_divide(e, node, m);
    case GS_N_SHL:
        return eval_shift_left(e, node, m);
    case GS_N_SHR:
        return eval_shift_right(e, node, m);
    case GS_N_AND:
        return eval_and(e, node, m);
    case GS_N_OR:
    case GS_N_XOR:
        return eval_or(e, node, m);
    case GS_N_MIN:
    case GS_N_MAX:
        return eval_extreme(e, node, m);
    case GS_N_NOT:
        return eval_not(e, node, m);
    case GS_N_CAST:
        return eval_cast(e, node, m);
    case GS_N_SELECT:
        return eval_select(e, node, m);
    case GS_N_EQ:
    case GS_N_LT:
    case GS_N_LE:
    case GS_N_LAND:
    case GS_N_LOR:
    case GS_N_LNOT:
        return eval_truth_value(e, node, m);
    default:
        return eval_geometry(e, node, m);
    }
}

void gs_eval_lazy_to(struct gs_eval *e, uint32_t node, struct gs_memo *m, struct gs_form *out)
{
    const struct gs_node *n = &e->p->nodes[node];
    if (n->op == GS_N_CONST) {
        out->base = n->imm;
        out->n = 0;
        return;
    }
    struct gs_memo *known = &e->memo[node];
    bool here = known->serial && known->level == e->level && known->serial == e->levels[e->level].serial;
    if (here || (gs_memo_holds(e, known) && !known->lossy)) {
        m->free &= known->free;
        m->lossy |= known->lossy;
        gs_form_copy(out, &known->form);
        return;
    }
    if (e->depth >= GS_MAX_DEPTH || e->budget == 0) {
        struct gs_form any = any_value(e, node, m);
        gs_form_copy(out, &any);
        return;
    }
    e->depth++;
    e->budget--;
    struct gs_memo own;
    own.free = true;
    own.lossy = own.around = false;
    struct gs_form f = eval_op(e, node, &own);
    e->depth--;
    known->level = e->level;
    known->serial = e->levels[e->level].serial;
    known->free = own.free;
    known->lossy = own.lossy;
    known->around = own.around;
    if (own.around)
        known->gap = own.gap;
    gs_form_copy(&known->form, &f);
    gs_form_copy(out, &f);
    m->free &= own.free;
    m->lossy |= own.lossy;
}
