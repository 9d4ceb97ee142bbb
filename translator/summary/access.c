/* SPDX-License-Identifier: MIT */
/* The text form of access programs:
 *   n_args n_nodes n_loops n_contexts n_accesses, then one line for each node, loop, context and access. */
#include "translator/summary/access.h"

#include "translator/summary/access_program.h"

/* A reference to a node is written as its number plus one, none as 0. */
static void put_ref(struct gs_writer *w, uint32_t node)
{
    gs_put_u64(w, node == GS_NO_NODE ? 0 : (uint64_t)node + 1);
}

static uint32_t get_ref(struct gs_reader *r, uint32_t below)
{
    uint64_t n = gs_get_below(r, (uint64_t)below + 1);
    return n ? (uint32_t)(n - 1) : GS_NO_NODE;
}

static void put_node(struct gs_writer *w, const struct gs_node *n)
{
    gs_put_u64(w, n->op);
    gs_put_u64(w, n->type);
    gs_put_u64(w, n->dim);
    gs_put_u64(w, n->a);
    gs_put_u64(w, n->b);
    gs_put_u64(w, n->c);
    gs_put_i64(w, n->imm);
    put_ref(w, n->partner);
    gs_put_line(w);
}

static void get_node(struct gs_reader *r, struct gs_node *n, uint32_t index, const struct gs_access_program *p)
{
    n->op = (uint8_t)gs_get_below(r, GS_N_OPS);
    n->type = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    n->dim = (uint8_t)gs_get_below(r, 3);
    unsigned used = gs_node_operands(n->op);
    uint32_t limit_a = used >= 1 ? index : n->op == GS_N_ARG ? p->n_args : 1;
    n->a = (uint32_t)gs_get_below(r, limit_a);
    n->b = (uint32_t)gs_get_below(r, used >= 2 ? index : 1);
    bool iv = n->op == GS_N_IV || n->op == GS_N_IV_EXIT;
    n->c = (uint32_t)gs_get_below(r, used >= 3 ? index : iv ? p->n_loops : n->op == GS_N_LOAD ? p->n_args : 1);
    n->imm = gs_get_i64(r);
    if (n->op == GS_N_ARG && (n->imm < 0 || n->imm > (1 << 20)))
        gs_get_fail(r, "an argument's field lies outside of it");
    n->partner = get_ref(r, p->n_nodes);
}

static void put_loop(struct gs_writer *w, const struct gs_loop *l)
{
    gs_put_u64(w, l->cmp);
    gs_put_u64(w, l->type);
    gs_put_u64(w, l->cmp_type);
    gs_put_u64(w, l->tested_after);
    gs_put_u64(w, l->init);
    gs_put_u64(w, l->step);
    gs_put_u64(w, l->limit);
    put_ref(w, l->condition);
    gs_put_line(w);
}

static void get_loop(struct gs_reader *r, struct gs_loop *l, uint32_t n_nodes)
{
    l->cmp = (uint8_t)gs_get_below(r, GS_N_LOOP_CMPS);
    l->type = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    l->cmp_type = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    l->tested_after = gs_get_bool(r);
    uint32_t limit = l->cmp == GS_LOOP_UNBOUNDED ? 1 : n_nodes;
    l->init = (uint32_t)gs_get_below(r, limit);
    l->step = (uint32_t)gs_get_below(r, limit);
    l->limit = (uint32_t)gs_get_below(r, limit);
    l->condition = get_ref(r, n_nodes);
}

static void put_context(struct gs_writer *w, const struct gs_scope *c)
{
    gs_put_u64(w, c->kind);
    gs_put_u64(w, c->truth);
    gs_put_u64(w, c->parent);
    gs_put_u64(w, c->what);
    gs_put_line(w);
}

static void get_context(struct gs_reader *r, struct gs_scope *c, uint32_t index, const struct gs_access_program *p)
{
    c->kind = (uint8_t)gs_get_below(r, GS_N_C);
    c->truth = gs_get_bool(r);
    c->parent = (uint32_t)gs_get_below(r, index ? index : 1);
    uint32_t limit = c->kind == GS_C_GUARD ? p->n_nodes : c->kind == GS_C_LOOP ? p->n_loops : 1;
    c->what = (uint32_t)gs_get_below(r, limit);
    if ((c->kind == GS_C_ROOT) != (index == 0))
        gs_get_fail(r, "an access program has its root elsewhere than at its begin");
}

static void put_access(struct gs_writer *w, const struct gs_access *a)
{
    gs_put_u64(w, a->kind);
    gs_put_u64(w, a->whole);
    gs_put_u64(w, a->context);
    gs_put_u64(w, a->arg);
    put_ref(w, a->offset);
    gs_put_u64(w, a->bytes);
    gs_put_u64(w, a->line);
    gs_put_line(w);
}

static void get_access(struct gs_reader *r, struct gs_access *a, uint32_t least_context,
                       const struct gs_access_program *p)
{
    a->kind = (uint8_t)gs_get_below(r, GS_N_A);
    a->whole = gs_get_bool(r);
    a->context = (uint32_t)gs_get_below(r, p->n_contexts);
    a->arg = (uint32_t)gs_get_below(r, p->n_args);
    a->offset = get_ref(r, p->n_nodes);
    a->bytes = (uint32_t)gs_get_below(r, UINT32_MAX);
    a->line = (uint32_t)gs_get_below(r, UINT32_MAX);
    if (a->context < least_context)
        gs_get_fail(r, "the accesses of a program are out of order");
}

void gs_access_write(struct gs_writer *w, const struct gs_access_program *a)
{
    gs_put_u64(w, a->n_args);
    gs_put_u64(w, a->n_nodes);
    gs_put_u64(w, a->n_loops);
    gs_put_u64(w, a->n_contexts);
    gs_put_u64(w, a->n_accesses);
    gs_put_line(w);
    for (uint32_t i = 0; i < a->n_nodes; i++)
        put_node(w, &a->nodes[i]);
    for (uint32_t i = 0; i < a->n_loops; i++)
        put_loop(w, &a->loops[i]);
    for (uint32_t i = 0; i < a->n_contexts; i++)
        put_context(w, &a->contexts[i]);
    for (uint32_t i = 0; i < a->n_accesses; i++)
        put_access(w, &a->accesses[i]);
}

const struct gs_access_program *gs_access_parse(struct gs_reader *r, uint32_t n_args)
{
    struct gs_access_program *p = gs_get_alloc(r, 1, sizeof *p);
    if (!p)
        return NULL;
    p->n_args = (uint32_t)gs_get_below(r, (uint64_t)n_args + 1);
    p->n_nodes = (uint32_t)gs_get_below(r, GS_MAX_NODES + 1);
    p->n_loops = (uint32_t)gs_get_below(r, GS_MAX_LOOPS + 1);
    p->n_contexts = (uint32_t)gs_get_below(r, GS_MAX_CONTEXTS + 1);
    p->n_accesses = (uint32_t)gs_get_below(r, GS_MAX_ACCESSES + 1);
    if (p->n_args != n_args || p->n_contexts == 0)
        gs_get_fail(r, "an access program doesn't fit its kernel");
    struct gs_node *nodes = gs_get_alloc(r, p->n_nodes, sizeof *nodes);
    struct gs_loop *loops = gs_get_alloc(r, p->n_loops, sizeof *loops);
    struct gs_scope *contexts = gs_get_alloc(r, p->n_contexts, sizeof *contexts);
    struct gs_access *accesses = gs_get_alloc(r, p->n_accesses, sizeof *accesses);
    for (uint32_t i = 0; i < p->n_nodes && !r->why; i++)
        get_node(r, &nodes[i], i, p);
    for (uint32_t i = 0; i < p->n_loops && !r->why; i++)
        get_loop(r, &loops[i], p->n_nodes);
    for (uint32_t i = 0; i < p->n_contexts && !r->why; i++)
        get_context(r, &contexts[i], i, p);
    for (uint32_t i = 0; i < p->n_accesses && !r->why; i++)
        get_access(r, &accesses[i], i ? accesses[i - 1].context : 0, p);
    p->nodes = nodes;
    p->loops = loops;
    p->contexts = contexts;
    p->accesses = accesses;
    return r->why ? NULL : p;
}
