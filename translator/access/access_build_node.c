/* SPDX-License-Identifier: MIT */
/* Nodes and contexts of an access program while it is built. */
#include "translator/access/access_build_state.h"
#include "translator/summary/access_fold.h"

#include <stdlib.h>

enum { MAX_NODE_DEPTH = 100 };

static uint32_t hash_node(const struct gs_node *n)
{
    uint64_t h = n->op * 0x9E3779B97F4A7C15u + n->type * 31u + n->dim * 7u;
    h = (h ^ n->a) * 0xBF58476D1CE4E5B9u;
    h = (h ^ n->b) * 0x94D049BB133111EBu;
    h = (h ^ n->c ^ (uint64_t)n->imm) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 40) % GS_NODE_BUCKETS;
}

static bool same_node(const struct gs_node *x, const struct gs_node *y)
{
    return x->op == y->op && x->type == y->type && x->dim == y->dim && x->a == y->a && x->b == y->b && x->c == y->c &&
           x->imm == y->imm;
}

static uint32_t append(struct gs_builder *b, const struct gs_node *n)
{
    uint32_t cap = b->nodes_cap;
    if (b->n_nodes == cap) {
        uint32_t same = cap;
        b->nodes = gs_grow(b, b->nodes, b->n_nodes, &cap, sizeof *b->nodes);
        cap = same;
        b->origins = gs_grow(b, b->origins, b->n_nodes, &cap, sizeof *b->origins);
        cap = same;
        b->node_depth = gs_grow(b, b->node_depth, b->n_nodes, &cap, sizeof *b->node_depth);
        b->nodes_cap = cap;
    }
    b->nodes[b->n_nodes] = *n;
    b->origins[b->n_nodes] = (struct gs_origin){NULL, {0}};
    b->node_depth[b->n_nodes] = 0;
    return b->n_nodes++;
}

/* The remainder and the quotient of the same operands know each other. */
static void find_partner(struct gs_builder *b, uint32_t node)
{
    struct gs_node *n = &b->nodes[node];
    if (n->op != GS_N_DIV && n->op != GS_N_REM)
        return;
    struct gs_node other = *n;
    other.op = n->op == GS_N_DIV ? GS_N_REM : GS_N_DIV;
    for (uint32_t i = 0; i < node; i++)
        if (same_node(&b->nodes[i], &other)) {
            n->partner = i;
            b->nodes[i].partner = node;
        }
}

static uint32_t intern(struct gs_builder *b, struct gs_node n, CXCursor at)
{
    n.partner = GS_NO_NODE;
    uint32_t *bucket = &b->buckets[hash_node(&n)];
    const bool own = n.op == GS_N_OPAQUE || n.op == GS_N_LOAD; /* never the same as another, and with an origin */
    if (!own) {
        unsigned looked = 0; /* a full bucket costs a node that is there twice, not time */
        for (uint32_t i = *bucket; i && looked < 64; i = (uint32_t)b->origins[i - 1].site.unit, looked++)
            if (same_node(&b->nodes[i - 1], &n))
                return i - 1;
    }
    if (b->n_nodes >= GS_MAX_NODES - 1) {
        gs_give_up(b, at, "the kernel computes too much for the analysis");
        return 0;
    }
    unsigned depth = 0, used = gs_node_operands(n.op);
    const uint32_t of[3] = {n.a, n.b, n.c};
    for (unsigned i = 0; i < used; i++)
        depth = b->node_depth[of[i]] >= depth ? b->node_depth[of[i]] + 1u : depth;
    if (depth > MAX_NODE_DEPTH)
        return gs_node_opaque(b, n.type, at, "the expression is too long for the analysis");
    uint32_t id = append(b, &n);
    b->node_depth[id] = (uint8_t)depth;
    if (!own) { /* the others' field chains the bucket */
        b->origins[id].site.unit = *bucket;
        *bucket = id + 1;
        find_partner(b, id);
    }
    return id;
}

uint32_t gs_node_const(struct gs_builder *b, uint8_t type, int64_t v)
{
    return intern(b, (struct gs_node){.op = GS_N_CONST, .type = type, .imm = gs_int_wrap(type, v)},
                  clang_getNullCursor());
}

bool gs_node_is_const(const struct gs_builder *b, uint32_t node, int64_t *v)
{
    if (b->nodes[node].op != GS_N_CONST)
        return false;
    *v = b->nodes[node].imm;
    return true;
}

/* What needs no node: operands that are neutral, or decide alone. GS_NO_NODE otherwise. */
static uint32_t simplify(struct gs_builder *b, uint8_t op, uint8_t type, uint32_t x, uint32_t y)
{
    int64_t c = 0, d = 0;
    bool cx = gs_node_is_const(b, x, &c), cy = gs_node_is_const(b, y, &d);
    if (cx && cy) {
        int64_t v;
        return gs_int_fold(op, type, b->nodes[x].type, c, d, &v) ? gs_node_const(b, type, v) : GS_NO_NODE;
    }
    switch (op) {
    case GS_N_ADD:
        return cx && c == 0 ? y : cy && d == 0 ? x : GS_NO_NODE;
    case GS_N_SUB:
    case GS_N_SHL:
    case GS_N_SHR:
        return cy && d == 0 ? x : GS_NO_NODE;
    case GS_N_MUL:
        return cx && c == 1 ? y : cy && d == 1 ? x : GS_NO_NODE;
    case GS_N_DIV:
        return cy && d == 1 ? x : GS_NO_NODE;
    case GS_N_LAND:
        if ((cx && !c) || (cy && !d))
            return gs_node_const(b, type, 0);
        return cx && c == 1 ? y : cy && d == 1 ? x : GS_NO_NODE;
    case GS_N_LOR:
        if ((cx && c) || (cy && d))
            return gs_node_const(b, type, 1);
        return cx ? y : cy ? x : GS_NO_NODE;
    case GS_N_MIN:
    case GS_N_MAX:
        return x == y ? x : GS_NO_NODE;
    default:
        return GS_NO_NODE;
    }
}

/* c ? x : y where that is a minimum or maximum: of a < b ? a : b and its like. */
static uint32_t find_extreme(struct gs_builder *b, uint8_t type, uint32_t c, uint32_t x, uint32_t y)
{
    const struct gs_node *n = &b->nodes[c];
    if ((n->op != GS_N_LT && n->op != GS_N_LE) || b->nodes[n->a].type != type)
        return GS_NO_NODE;
    uint32_t lesser = n->a, larger = n->b;
    if (x == lesser && y == larger)
        return gs_node(b, GS_N_MIN, type, x, y, 0);
    if (x == larger && y == lesser)
        return gs_node(b, GS_N_MAX, type, x, y, 0);
    return GS_NO_NODE;
}

/* (x * c) * d is x * (c * d), wrapped or not. */
static uint32_t join_factors(struct gs_builder *b, uint8_t type, uint32_t x, uint32_t y)
{
    int64_t c, d;
    if (!gs_node_is_const(b, y, &d)) {
        uint32_t swapped = x;
        x = y;
        y = swapped;
        if (!gs_node_is_const(b, y, &d))
            return GS_NO_NODE;
    }
    const struct gs_node n = b->nodes[x];
    if (n.op != GS_N_MUL || n.type != type)
        return GS_NO_NODE;
    uint32_t other = n.a, factor = n.b;
    if (!gs_node_is_const(b, factor, &c)) {
        other = n.b;
        factor = n.a;
    }
    if (!gs_node_is_const(b, factor, &c))
        return GS_NO_NODE;
    uint32_t product = gs_node_const(b, type, (int64_t)((uint64_t)c * (uint64_t)d));
    return gs_node(b, GS_N_MUL, type, other, product, 0);
}

uint32_t gs_node(struct gs_builder *b, uint8_t op, uint8_t type, uint32_t x, uint32_t y, uint32_t z)
{
    int64_t v;
    if (op == GS_N_SELECT) {
        if (gs_node_is_const(b, x, &v))
            return v ? y : z;
        if (y == z)
            return y;
        uint32_t extreme = find_extreme(b, type, x, y, z);
        if (extreme != GS_NO_NODE)
            return extreme;
        return intern(b, (struct gs_node){.op = op, .type = type, .a = x, .b = y, .c = z}, clang_getNullCursor());
    }
    unsigned used = gs_node_operands(op);
    if (used == 1) {
        bool known = gs_node_is_const(b, x, &v);
        if (known && op == GS_N_LNOT)
            return gs_node_const(b, type, !v);
        if (known && op == GS_N_NOT)
            return gs_node_const(b, type, ~v);
        return intern(b, (struct gs_node){.op = op, .type = type, .a = x}, clang_getNullCursor());
    }
    uint32_t simple = simplify(b, op, type, x, y);
    if (simple == GS_NO_NODE && op == GS_N_MUL)
        simple = join_factors(b, type, x, y);
    if (simple != GS_NO_NODE && b->nodes[simple].type == type)
        return simple;
    return intern(b, (struct gs_node){.op = op, .type = type, .a = x, .b = y}, clang_getNullCursor());
}

uint32_t gs_node_geometry(struct gs_builder *b, uint8_t op, uint8_t type, unsigned dim)
{
    return intern(b, (struct gs_node){.op = op, .type = type, .dim = (uint8_t)dim}, clang_getNullCursor());
}

uint32_t gs_node_arg(struct gs_builder *b, uint8_t type, uint32_t arg, uint32_t offset)
{
    return intern(b, (struct gs_node){.op = GS_N_ARG, .type = type, .a = arg, .imm = offset}, clang_getNullCursor());
}

uint32_t gs_node_iv(struct gs_builder *b, uint8_t op, uint8_t type, uint32_t init, uint32_t step, uint32_t loop)
{
    struct gs_node n = {.op = op, .type = type, .a = init, .b = step, .c = loop};
    if (op == GS_N_IV_EXIT) /* two that are equal otherwise may have left the loop at different places */
        n.imm = b->n_nodes;
    return intern(b, n, clang_getNullCursor());
}

static uint32_t any_node(struct gs_builder *b, const struct gs_node *n, CXCursor at, const char *why)
{
    uint32_t id = intern(b, *n, at);
    if (b->nodes[id].op == n->op) {
        b->origins[id].why = why;
        b->origins[id].site = gs_site_of(b, at);
    }
    return id;
}

uint32_t gs_node_opaque(struct gs_builder *b, uint8_t type, CXCursor at, const char *why)
{
    return any_node(b, &(struct gs_node){.op = GS_N_OPAQUE, .type = type}, at, why);
}

uint32_t gs_node_load(struct gs_builder *b, uint8_t type, uint32_t arg, uint32_t offset, CXCursor at)
{
    const char *why = gs_arena_printf(b->tree->arena, "it is loaded from %s", b->args[arg].name);
    return any_node(b, &(struct gs_node){.op = GS_N_LOAD, .type = type, .a = offset, .c = arg}, at, why);
}

uint32_t gs_node_cast(struct gs_builder *b, uint8_t type, uint32_t x)
{
    const struct gs_node *n = &b->nodes[x];
    int64_t v;
    if (n->type == type)
        return x;
    if (gs_node_is_const(b, x, &v) && !(n->type == GS_U64 && v < 0))
        return gs_node_const(b, type, v);
    return gs_node(b, GS_N_CAST, type, x, 0, 0);
}

uint32_t gs_node_not(struct gs_builder *b, uint32_t x)
{
    const struct gs_node *n = &b->nodes[x];
    if (n->op == GS_N_LNOT && (b->nodes[n->a].op >= GS_N_EQ))
        return n->a;
    return gs_node(b, GS_N_LNOT, GS_I32, x, 0, 0);
}

uint32_t gs_scope_push(struct gs_builder *b, enum gs_scope_kind kind, uint32_t what, bool truth)
{
    int64_t v;
    if (kind == GS_C_GUARD && gs_node_is_const(b, what, &v) && (v != 0) == truth)
        return b->context;
    uint32_t nesting = b->n_contexts ? b->nesting[b->context] + 1 : 0;
    if (b->n_contexts >= GS_MAX_CONTEXTS || nesting >= GS_MAX_NESTING) {
        gs_give_up(b, clang_getNullCursor(), "its control flow is too deeply nested for the analysis");
        return b->context;
    }
    if (b->n_contexts == b->contexts_cap) {
        uint32_t cap = b->contexts_cap;
        b->contexts = gs_grow(b, b->contexts, b->n_contexts, &cap, sizeof *b->contexts);
        cap = b->contexts_cap;
        b->nesting = gs_grow(b, b->nesting, b->n_contexts, &cap, sizeof *b->nesting);
        b->contexts_cap = cap;
    }
    b->contexts[b->n_contexts] =
        (struct gs_scope){.kind = (uint8_t)kind, .truth = truth, .parent = b->context, .what = what};
    b->nesting[b->n_contexts] = nesting;
    return b->context = b->n_contexts++;
}

uint32_t gs_path_condition(struct gs_builder *b, uint32_t from, uint32_t to, CXCursor at)
{
    uint32_t all = gs_node_const(b, GS_I32, 1);
    for (uint32_t c = from; c != to && c != 0; c = b->contexts[c].parent) {
        const struct gs_scope *k = &b->contexts[c];
        if (k->kind != GS_C_GUARD)
            return gs_node_opaque(b, GS_I32, at, "it depends on what a loop does");
        uint32_t one = k->what;
        if (!k->truth)
            one = gs_node_not(b, one);
        else if (b->nodes[one].op < GS_N_EQ)
            one = gs_node_not(b, gs_node_not(b, one));
        all = gs_node(b, GS_N_LAND, GS_I32, one, all, 0);
    }
    return all;
}
