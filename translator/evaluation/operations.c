/* SPDX-License-Identifier: MIT */
/* How much a launch computes: its work program is run for a few of its work-items, on numbers. What isn't known makes
 * the answer smaller. */
#include <stdlib.h>
#include <string.h>

#include <stdbool.h>

#include "translator/summary/access_program.h"

enum { SAMPLES = 8, MOST_DEPTH = 500 };

struct number {
    enum { UNSEEN, PENDING, KNOWN, UNKNOWN } state;
    int64_t v; /* wrapped to the node's type; of one of 64 bits without a sign: its bits */
};

struct sample {
    const struct gs_access_program *p;
    const struct gs_geometry *launch;
    const struct gs_arg_value *args;
    uint64_t item[3];       /* without the launch's offset */
    struct number *numbers; /* of the nodes */
    unsigned depth;
};

static struct number known(int64_t v)
{
    return (struct number){KNOWN, v};
}

static int64_t wrap(int64_t v, uint8_t type)
{
    const unsigned unused = 64 - gs_int_bits(type);
    const uint64_t up = (uint64_t)v << unused;
    return gs_int_signed(type) ? (int64_t)up >> unused : (int64_t)(up >> unused);
}

static bool is_less(int64_t a, int64_t b, uint8_t type)
{
    return gs_int_signed(type) ? a < b : (uint64_t)a < (uint64_t)b;
}

static double to_double(int64_t v, uint8_t type)
{
    return gs_int_signed(type) ? (double)v : (double)(uint64_t)v;
}

static struct number number_of(struct sample *s, uint32_t node);

/* How often a loop's body runs; false: that isn't known. */
static bool find_trips(struct sample *s, uint32_t loop, double *trips)
{
    const struct gs_loop *l = &s->p->loops[loop];
    if (l->cmp == GS_LOOP_UNBOUNDED)
        return false;
    const struct number init = number_of(s, l->init), step = number_of(s, l->step), limit = number_of(s, l->limit);
    if (init.state != KNOWN || step.state != KNOWN || limit.state != KNOWN || !step.v)
        return false;
    const uint8_t step_type = s->p->nodes[l->step].type;
    const double from = to_double(wrap(init.v, l->cmp_type), l->cmp_type), by = to_double(step.v, step_type);
    double way = to_double(wrap(limit.v, l->cmp_type), l->cmp_type) - from;
    if ((l->cmp == GS_LOOP_LT || l->cmp == GS_LOOP_LE) && by < 0)
        return false;
    if ((l->cmp == GS_LOOP_GT || l->cmp == GS_LOOP_GE) && by > 0)
        return false;
    if (l->cmp == GS_LOOP_LE || l->cmp == GS_LOOP_GE)
        way += by > 0 ? 1 : -1;
    const double n = way / by, least = l->tested_after ? 1 : 0;
    if (l->cmp == GS_LOOP_NE && n < 0)
        return false;
    *trips = n <= least ? least : (double)(uint64_t)(n < 1e18 ? n : 1e18) + (n < 1e18 && n > (double)(uint64_t)n);
    return true;
}

static struct number geometry(const struct sample *s, const struct gs_node *n)
{
    const struct gs_geometry *g = s->launch;
    const uint64_t local = g->local[n->dim] ? g->local[n->dim] : 1, item = s->item[n->dim], global = g->global[n->dim];
    const uint64_t first = item / local * local;
    switch (n->op) {
    case GS_N_GLOBAL_ID:
        return known((int64_t)(item + g->offset[n->dim]));
    case GS_N_GROUP_ID:
        return known((int64_t)(item / local));
    case GS_N_LOCAL_ID:
        return known((int64_t)(item % local));
    case GS_N_GLOBAL_SIZE:
        return known((int64_t)global);
    case GS_N_LOCAL_SIZE:
        return known((int64_t)(global - first < local ? global - first : local));
    case GS_N_ENQUEUED_LOCAL_SIZE:
        return known((int64_t)local);
    case GS_N_NUM_GROUPS:
        return known((int64_t)((global + local - 1) / local));
    case GS_N_GLOBAL_OFFSET:
        return known((int64_t)g->offset[n->dim]);
    default:
        return known(g->dims);
    }
}

static struct number argument(const struct sample *s, const struct gs_node *n)
{
    const struct gs_arg_value *a = &s->args[n->a];
    const size_t bytes = gs_int_bits(n->type) / 8, at = (size_t)n->imm;
    uint64_t raw = 0;
    if (!a->bytes || a->size < bytes || at > a->size - bytes)
        return (struct number){UNKNOWN, 0};
    memcpy(&raw, (const char *)a->bytes + at, bytes);
    return known((int64_t)raw);
}

/* The iteration in the middle of the loop, so that what depends on it is as long as on the average; and the end. */
static struct number induction(struct sample *s, const struct gs_node *n)
{
    const struct number from = number_of(s, n->a), by = number_of(s, n->b);
    double trips;
    if (from.state != KNOWN || by.state != KNOWN || !find_trips(s, n->c, &trips))
        return (struct number){UNKNOWN, 0};
    const uint64_t k = (uint64_t)(n->op == GS_N_IV_EXIT ? trips : trips > 1 ? (trips - 1) / 2 : 0);
    return known((int64_t)((uint64_t)from.v + (uint64_t)by.v * k));
}

static struct number divide(const struct gs_node *n, int64_t a, int64_t b)
{
    if (!b || (a == INT64_MIN && b == -1))
        return (struct number){UNKNOWN, 0};
    if (gs_int_signed(n->type))
        return known(n->op == GS_N_DIV ? a / b : a % b);
    return known((int64_t)(n->op == GS_N_DIV ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b));
}

static struct number binary(const struct sample *s, const struct gs_node *n, int64_t a, int64_t b)
{
    const uint8_t of = s->p->nodes[n->a].type;
    const unsigned shift = (unsigned)b & (gs_int_bits(n->type) - 1);
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (n->op) {
    case GS_N_ADD:
        return known((int64_t)(x + y));
    case GS_N_SUB:
        return known((int64_t)(x - y));
    case GS_N_MUL:
    case GS_N_MUL24:
        return known((int64_t)(x * y));
    case GS_N_DIV:
    case GS_N_REM:
        return divide(n, a, b);
    case GS_N_SHL:
        return known((int64_t)(x << shift));
    case GS_N_SHR:
        return known(gs_int_signed(n->type) ? a >> shift : (int64_t)(x >> shift));
    case GS_N_AND:
        return known(a & b);
    case GS_N_OR:
        return known(a | b);
    case GS_N_XOR:
        return known(a ^ b);
    case GS_N_MIN:
        return known(is_less(a, b, n->type) ? a : b);
    case GS_N_MAX:
        return known(is_less(a, b, n->type) ? b : a);
    case GS_N_EQ:
        return known(a == b);
    case GS_N_LT:
        return known(is_less(a, b, of));
    case GS_N_LE:
        return known(!is_less(b, a, of));
    default:
        return (struct number){UNKNOWN, 0};
    }
}

/* One side may be enough. */
static struct number logical(struct sample *s, const struct gs_node *n)
{
    const bool decides = n->op == GS_N_LOR;
    const struct number a = number_of(s, n->a), b = number_of(s, n->b);
    if ((a.state == KNOWN && (a.v != 0) == decides) || (b.state == KNOWN && (b.v != 0) == decides))
        return known(decides);
    return a.state == KNOWN && b.state == KNOWN ? known(!decides) : (struct number){UNKNOWN, 0};
}

static struct number compute(struct sample *s, const struct gs_node *n)
{
    struct number a, b;
    switch (n->op) {
    case GS_N_CONST:
        return known(n->imm);
    case GS_N_ARG:
        return argument(s, n);
    case GS_N_OPAQUE:
    case GS_N_LOAD:
        return (struct number){UNKNOWN, 0};
    case GS_N_IV:
    case GS_N_IV_EXIT:
        return induction(s, n);
    case GS_N_LAND:
    case GS_N_LOR:
        return logical(s, n);
    case GS_N_SELECT:
        a = number_of(s, n->a);
        return a.state == KNOWN ? number_of(s, a.v ? n->b : n->c) : a;
    default:
        break;
    }
    if (n->op < GS_N_ADD)
        return geometry(s, n);
    a = number_of(s, n->a);
    if (a.state != KNOWN)
        return a;
    if (n->op == GS_N_NOT)
        return known(~a.v);
    if (n->op == GS_N_CAST)
        return known(a.v);
    if (n->op == GS_N_LNOT)
        return known(!a.v);
    b = number_of(s, n->b);
    return b.state == KNOWN ? binary(s, n, a.v, b.v) : b;
}

static struct number number_of(struct sample *s, uint32_t node)
{
    struct number *m = &s->numbers[node];
    if (m->state == KNOWN || m->state == UNKNOWN)
        return *m;
    if (m->state == PENDING || s->depth >= MOST_DEPTH) /* a loop's limit that depends on the loop itself */
        return (struct number){UNKNOWN, 0};
    m->state = PENDING;
    s->depth++;
    const struct number n = compute(s, &s->p->nodes[node]);
    s->depth--;
    *m = n.state == KNOWN ? known(wrap(n.v, s->p->nodes[node].type)) : (struct number){UNKNOWN, 0};
    return *m;
}

/* Is it the loop's own condition, which stands before its body? */
static bool is_of_loop(const struct gs_access_program *p, const struct gs_scope *guard)
{
    const struct gs_scope *c = &p->contexts[guard->parent];
    if (c->kind == GS_C_MAYBE)
        c = &p->contexts[c->parent];
    return c->kind == GS_C_LOOP && guard->truth && p->loops[c->what].condition == guard->what;
}

/* How often a context is passed for each time that its parent is. */
static double times_of(struct sample *s, const struct gs_scope *c)
{
    double trips = 1;
    struct number n;
    switch (c->kind) {
    case GS_C_GUARD:
        n = number_of(s, c->what);
        if (n.state != KNOWN)
            return is_of_loop(s->p, c);
        return (n.v != 0) == c->truth;
    case GS_C_LOOP:
        if (!find_trips(s, c->what, &trips))
            return 1;
        if (s->p->loops[c->what].condition != GS_NO_NODE && trips > 1 &&
            number_of(s, s->p->loops[c->what].condition).state != KNOWN)
            trips = 1; /* something else may end it */
        return c->truth ? trips : trips + 1;
    default:
        return 1;
    }
}

static double operations_of_item(struct sample *s, double *times)
{
    const struct gs_access_program *p = s->p;
    double sum = 0;
    memset(s->numbers, 0, p->n_nodes * sizeof *s->numbers);
    for (uint32_t i = 0; i < p->n_contexts; i++) {
        const struct gs_scope *c = &p->contexts[i], *parent = &p->contexts[c->parent];
        if (!i)
            times[i] = 1;
        else if (c->kind == GS_C_MAYBE && parent->kind == GS_C_LOOP) /* it may be left: one pass */
            times[i] = times[c->parent] > 0 ? times[parent->parent] : 0;
        else
            times[i] = times[c->parent] > 0 ? times[c->parent] * times_of(s, c) : 0;
        sum += times[i] * c->operations;
    }
    return sum;
}

double gs_summary_operations(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch,
                             const struct gs_arg_value *args)
{
    static const unsigned spread[3] = {1, 3, 5};
    const struct gs_access_program *p = kernel->work;
    if (!p)
        return 0;
    struct sample s = {.p = p, .launch = launch, .args = args, .numbers = calloc(p->n_nodes + 1, sizeof *s.numbers)};
    double *times = calloc(p->n_contexts, sizeof *times), sum = 0, items = 1;
    for (unsigned d = 0; d < 3; d++)
        items *= (double)launch->global[d];
    for (unsigned i = 0; i < SAMPLES && s.numbers && times; i++) {
        for (unsigned d = 0; d < 3; d++)
            s.item[d] = (uint64_t)((double)launch->global[d] * (i * spread[d] % SAMPLES + 0.5) / (double)SAMPLES);
        sum += operations_of_item(&s, times);
    }
    free(s.numbers);
    free(times);
    return sum / (double)SAMPLES * items;
}
