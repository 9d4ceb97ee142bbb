/* SPDX-License-Identifier: MIT */
/* Builds a kernel's access program from clang's tree: the beginning and the end of the analysis. */
#include "translator/access/access_build_state.h"

#include <stdlib.h>
#include <string.h>

/* Bounds the time that a kernel may take, whatever it calls. */
enum { MAX_STEPS = 400000, MAX_DEPTH = 600 };

struct gs_site gs_site_of(struct gs_builder *b, CXCursor at)
{
    if (clang_Cursor_isNull(at))
        at = b->frame->function;
    return b->tree->site(b->tree->ctx, at, b->frame->unit);
}

void gs_give_up(struct gs_builder *b, CXCursor at, const char *why)
{
    if (b->failed)
        return;
    b->failed = why;
    b->failed_site = gs_site_of(b, at);
}

bool gs_step(struct gs_builder *b, CXCursor at)
{
    if (!b->failed && ++b->steps > MAX_STEPS)
        gs_give_up(b, at, "the kernel is too large for the analysis");
    return !b->failed;
}

void *gs_grow(struct gs_builder *b, void *old, uint32_t n, uint32_t *cap, size_t size)
{
    uint32_t more = n ? n * 2 : 32;
    void *v = gs_arena_alloc(&b->arena, more, size);
    if (!v) { /* nothing can be put anywhere: end here, as a crash of the translator costs a split and nothing else */
        abort();
    }
    if (n)
        memcpy(v, old, n * size);
    *cap = more;
    return v;
}

static enum CXChildVisitResult count_kid(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)c, (void)parent;
    ++*(uint32_t *)data;
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult add_kid(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct gs_kids *k = data;
    k->v[k->n++] = c;
    return CXChildVisit_Continue;
}

struct gs_kids gs_kids(struct gs_builder *b, CXCursor c)
{
    uint32_t n = 0;
    struct gs_kids k = {0};
    clang_visitChildren(c, count_kid, &n);
    if (n == 0)
        return k;
    k.v = gs_arena_alloc(&b->arena, n, sizeof *k.v);
    if (!k.v)
        abort();
    clang_visitChildren(c, add_kid, &k);
    return k;
}

static void *builder_alloc(struct gs_builder *b, size_t n, size_t size)
{
    void *p = gs_arena_alloc(&b->arena, n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* ---- what is found ---- */

void gs_escape(struct gs_builder *b, const struct gs_value *v)
{
    for (; v && v->kind == GS_V_POINTER; v = v->otherwise) {
        if (v->place.base == GS_B_ARG || v->place.base == GS_B_IMAGE)
            b->escapes[v->place.index] = true;
        if (v->place.base == GS_B_OBJECT)
            b->objects[v->place.index].exposed = true;
        for (uint32_t i = 0; i < b->n_args && v->place.base == GS_B_UNKNOWN; i++)
            b->escapes[i] = true;
    }
}

void gs_lost_pointer(struct gs_builder *b, CXCursor at)
{
    gs_give_up(b, at, "it uses a pointer that can't be followed");
    b->lost = true;
}

void gs_record(struct gs_builder *b, enum gs_access_kind kind, const struct gs_place *p, uint32_t bytes, bool whole,
               CXCursor at)
{
    if (b->dead)
        return;
    if (bytes == 0) {
        gs_give_up(b, at, "it uses memory of a type whose size is not known");
        return;
    }
    for (uint32_t i = b->n_accesses; i-- > 0 && b->n_accesses - i < 64;) {
        const struct gs_access *a = &b->accesses[i];
        if (a->context == b->context && a->kind == kind && a->arg == p->index && a->offset == p->offset &&
            a->bytes == bytes && a->whole == whole)
            return;
    }
    if (b->n_accesses >= GS_MAX_ACCESSES) {
        gs_give_up(b, at, "the kernel is too large for the analysis");
        return;
    }
    if (b->n_accesses == b->accesses_cap) {
        uint32_t cap = 0;
        b->access_sites = gs_grow(b, b->access_sites, b->n_accesses, &cap, sizeof *b->access_sites);
        b->accesses = gs_grow(b, b->accesses, b->n_accesses, &b->accesses_cap, sizeof *b->accesses);
    }
    b->access_sites[b->n_accesses] = gs_site_of(b, at);
    b->accesses[b->n_accesses] = (struct gs_access){.kind = (uint8_t)kind,
                                                    .whole = whole,
                                                    .context = b->context,
                                                    .arg = p->index,
                                                    .offset = p->offset,
                                                    .bytes = bytes,
                                                    .line = b->access_sites[b->n_accesses].line};
    b->n_accesses++;
}

/* ---- which accesses have no bounds ---- */

/* A leaf of the expression that can be anything, where nothing above it keeps it in bounds. A guard that speaks of it
 * is taken to: the evaluation knows better, this is for messages. */
static uint32_t find_unbounded(struct gs_builder *b, uint32_t node, uint32_t context);

/* Expressions share their parts: each is looked at once in a search. */
static bool visit(struct gs_builder *b, uint32_t *marks, uint32_t node)
{
    if (marks[node] == b->search)
        return false;
    marks[node] = b->search;
    return true;
}

static bool mentions(struct gs_builder *b, uint32_t node, uint32_t what)
{
    if (node == what)
        return true;
    const struct gs_node *n = &b->nodes[node];
    const unsigned used = n->op == GS_N_LOAD ? 0 : gs_node_operands(n->op);
    if (used == 0 || !visit(b, b->mentioned, node))
        return false;
    return mentions(b, n->a, what) || (used > 1 && mentions(b, n->b, what)) || (used > 2 && mentions(b, n->c, what));
}

static bool is_guarded(struct gs_builder *b, uint32_t node, uint32_t context)
{
    b->search++;
    for (uint32_t c = context; c; c = b->contexts[c].parent)
        if (b->contexts[c].kind == GS_C_GUARD && mentions(b, b->contexts[c].what, node))
            return true;
    return false;
}

static uint32_t either(struct gs_builder *b, uint32_t x, uint32_t y, uint32_t context)
{
    uint32_t found = find_unbounded(b, x, context);
    return found != GS_NO_NODE ? found : find_unbounded(b, y, context);
}

static uint32_t find_unbounded(struct gs_builder *b, uint32_t node, uint32_t context)
{
    const struct gs_node *n = &b->nodes[node];
    int64_t v;
    if (b->looked[node] == b->access_search) /* and nothing found */
        return GS_NO_NODE;
    b->looked[node] = b->access_search;
    switch (n->op) {
    case GS_N_OPAQUE:
    case GS_N_LOAD:
        return gs_int_bits(n->type) <= 16 || is_guarded(b, node, context) ? GS_NO_NODE : node;
    case GS_N_IV:
    case GS_N_IV_EXIT:
        return find_unbounded(b, n->a, context);
    case GS_N_CAST:
        if (gs_int_bits(n->type) <= 16)
            return GS_NO_NODE;
        return find_unbounded(b, n->a, context);
    case GS_N_NOT:
        return find_unbounded(b, n->a, context);
    case GS_N_SELECT: { /* what its condition speaks of is taken to be kept in bounds by it */
        uint32_t x = either(b, n->b, n->c, context);
        b->search++;
        return x != GS_NO_NODE && mentions(b, n->a, x) ? GS_NO_NODE : x;
    }
    case GS_N_REM:
        return find_unbounded(b, n->b, context);
    case GS_N_AND:
        if (gs_node_is_const(b, n->a, &v) || gs_node_is_const(b, n->b, &v))
            return GS_NO_NODE;
        return either(b, n->a, n->b, context);
    case GS_N_SHR:
        return gs_node_is_const(b, n->b, &v) && v >= 16 ? GS_NO_NODE : find_unbounded(b, n->a, context);
    case GS_N_MIN:
    case GS_N_MAX: {
        uint32_t x = find_unbounded(b, n->a, context), y = find_unbounded(b, n->b, context);
        bool clamps = !gs_int_signed(n->type) || b->nodes[n->a].op == GS_N_MAX || b->nodes[n->a].op == GS_N_MIN;
        return x != GS_NO_NODE && (y != GS_NO_NODE || !clamps) ? x : GS_NO_NODE;
    }
    default:
        if (n->op < GS_N_ADD || n->op >= GS_N_EQ)
            return GS_NO_NODE;
        return either(b, n->a, n->b, context);
    }
}

static void say_unknown(struct gs_builder *b, uint32_t access)
{
    const struct gs_access *a = &b->accesses[access];
    b->access_search = access + 1;
    uint32_t leaf = find_unbounded(b, a->offset, a->context);
    if (leaf == GS_NO_NODE)
        return;
    struct gs_arg_summary *arg = &b->args[a->arg];
    const char *why = b->origins[leaf].why ? b->origins[leaf].why : "its value is not known";
    const char *text = gs_arena_printf(b->tree->arena, "the index is not known before the kernel runs: %s", why);
    if (a->kind != GS_A_WRITE && !*arg->read_unknown) {
        arg->read_unknown = text;
        arg->read_site = b->access_sites[access];
    }
    if (a->kind != GS_A_READ && !*arg->write_unknown) {
        arg->write_unknown = text;
        arg->write_site = b->access_sites[access];
    }
    if (!arg->read_unknown || !arg->write_unknown)
        abort();
}

/* ---- into the summary ---- */

struct renumbering {
    uint32_t *nodes, *contexts, *loops; /* new number, or GS_NO_NODE */
    bool changed;
};

static void keep_node(const struct gs_builder *b, struct renumbering *r, uint32_t node)
{
    if (r->nodes[node] != GS_NO_NODE)
        return;
    r->nodes[node] = 0;
    r->changed = true;
    const struct gs_node *n = &b->nodes[node];
    const unsigned used = gs_node_operands(n->op);
    const uint32_t of[3] = {n->a, n->b, n->c};
    for (unsigned i = 0; i < used; i++)
        keep_node(b, r, of[i]);
    if (n->op == GS_N_IV || n->op == GS_N_IV_EXIT)
        r->loops[n->c] = 0;
}

/* And what it stands in. */
static void keep_context(const struct gs_builder *b, struct renumbering *r, uint32_t c)
{
    for (; r->contexts[c] == GS_NO_NODE; c = b->contexts[c].parent) {
        r->contexts[c] = 0;
        if (b->contexts[c].kind == GS_C_GUARD)
            keep_node(b, r, b->contexts[c].what);
        if (b->contexts[c].kind == GS_C_LOOP)
            r->loops[b->contexts[c].what] = 0;
    }
}

static void keep_needed(const struct gs_builder *b, struct renumbering *r)
{
    for (uint32_t i = 0; i < b->n_accesses; i++) {
        keep_node(b, r, b->accesses[i].offset);
        keep_context(b, r, b->accesses[i].context);
    }
    r->contexts[0] = 0;
    do {
        r->changed = false;
        for (uint32_t i = 0; i < b->n_loops; i++) {
            const struct gs_loop *l = &b->loops[i];
            if (r->loops[i] == GS_NO_NODE)
                continue;
            if (l->condition != GS_NO_NODE)
                keep_node(b, r, l->condition);
            if (l->cmp == GS_LOOP_UNBOUNDED)
                continue;
            keep_node(b, r, l->init);
            keep_node(b, r, l->step);
            keep_node(b, r, l->limit);
        }
    } while (r->changed);
}

static uint32_t number(uint32_t *map, uint32_t n)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; i++)
        if (map[i] != GS_NO_NODE)
            map[i] = next++;
    return next;
}

static uint32_t *new_map(struct gs_builder *b, uint32_t n)
{
    uint32_t *map = gs_arena_alloc(&b->arena, n ? n : 1, sizeof *map);
    if (!map)
        abort();
    memset(map, 0xff, n * sizeof *map);
    return map;
}

static struct gs_node renumbered_node(const struct gs_node *n, const struct renumbering *r)
{
    struct gs_node m = *n;
    const unsigned used = gs_node_operands(n->op);
    m.a = used > 0 ? r->nodes[n->a] : n->op == GS_N_ARG ? n->a : 0;
    m.b = used > 1 ? r->nodes[n->b] : 0;
    m.c = used > 2                                    ? r->nodes[n->c]
          : n->op == GS_N_IV || n->op == GS_N_IV_EXIT ? r->loops[n->c]
          : n->op == GS_N_LOAD                        ? n->c
                                                      : 0;
    m.partner = n->partner == GS_NO_NODE ? GS_NO_NODE : r->nodes[n->partner];
    return m;
}

static int by_context(const void *x, const void *y)
{
    const struct gs_access *a = x, *b = y;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return a->arg != b->arg ? (a->arg < b->arg ? -1 : 1) : (int)a->kind - (int)b->kind;
}

static void * final(struct gs_builder *b, uint32_t n, size_t size)
{
    void *p = gs_arena_alloc(b->tree->arena, n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

static const struct gs_access_program *finish_program(struct gs_builder *b)
{
    struct renumbering r = {new_map(b, b->n_nodes), new_map(b, b->n_contexts), new_map(b, b->n_loops), false};
    keep_needed(b, &r);
    struct gs_access_program *p = final(b, 1, sizeof *p);
    p->n_args = b->n_args;
    p->n_nodes = number(r.nodes, b->n_nodes);
    p->n_contexts = number(r.contexts, b->n_contexts);
    p->n_loops = number(r.loops, b->n_loops);
    p->n_accesses = b->n_accesses;
    struct gs_node *nodes = final(b, p->n_nodes, sizeof *nodes);
    struct gs_loop *loops = final(b, p->n_loops, sizeof *loops);
    struct gs_scope *contexts = final(b, p->n_contexts, sizeof *contexts);
    struct gs_access *accesses = final(b, p->n_accesses, sizeof *accesses);
    for (uint32_t i = 0; i < b->n_nodes; i++)
        if (r.nodes[i] != GS_NO_NODE)
            nodes[r.nodes[i]] = renumbered_node(&b->nodes[i], &r);
    for (uint32_t i = 0; i < b->n_loops; i++) {
        if (r.loops[i] == GS_NO_NODE)
            continue;
        struct gs_loop l = b->loops[i];
        bool bounded = l.cmp != GS_LOOP_UNBOUNDED;
        l.init = bounded ? r.nodes[l.init] : 0;
        l.step = bounded ? r.nodes[l.step] : 0;
        l.limit = bounded ? r.nodes[l.limit] : 0;
        l.condition = l.condition == GS_NO_NODE ? GS_NO_NODE : r.nodes[l.condition];
        loops[r.loops[i]] = l;
    }
    for (uint32_t i = 0; i < b->n_contexts; i++) {
        if (r.contexts[i] == GS_NO_NODE)
            continue;
        struct gs_scope c = b->contexts[i];
        c.parent = i ? r.contexts[c.parent] : 0;
        c.what = c.kind == GS_C_GUARD ? r.nodes[c.what] : c.kind == GS_C_LOOP ? r.loops[c.what] : 0;
        contexts[r.contexts[i]] = c;
    }
    for (uint32_t i = 0; i < p->n_accesses; i++) {
        accesses[i] = b->accesses[i];
        accesses[i].context = r.contexts[accesses[i].context];
        accesses[i].offset = r.nodes[accesses[i].offset];
    }
    qsort(accesses, p->n_accesses, sizeof *accesses, by_context);
    p->nodes = nodes;
    p->loops = loops;
    p->contexts = contexts;
    p->accesses = accesses;
    return p;
}

static bool is_buffer(const struct gs_arg_summary *a)
{
    return a->kind == GS_ARG_GLOBAL || a->kind == GS_ARG_CONSTANT;
}

/* What each argument's flags come to, now that all accesses are known. */
static void finish_args(struct gs_builder *b)
{
    b->mentioned = builder_alloc(b, b->n_nodes, sizeof *b->mentioned);
    b->looked = builder_alloc(b, b->n_nodes, sizeof *b->looked);
    for (uint32_t i = 0; i < b->n_args; i++) {
        struct gs_arg_summary *a = &b->args[i];
        if (a->kind == GS_ARG_IMAGE)
            a->read_unknown = a->write_unknown = "";
        if (!is_buffer(a))
            continue;
        a->may_read = a->may_write = false;
        a->escapes = b->escapes[i];
        a->read_unknown = a->write_unknown = "";
        if (!b->atomics[i]) {
            a->atomic = GS_ATOMIC_NONE;
            a->atomic_mixed = false;
        }
    }
    for (uint32_t i = 0; i < b->n_accesses; i++) {
        struct gs_arg_summary *a = &b->args[b->accesses[i].arg];
        a->may_read |= b->accesses[i].kind != GS_A_WRITE;
        a->may_write |= b->accesses[i].kind != GS_A_READ;
    }
    for (uint32_t i = 0; i < b->n_accesses; i++)
        say_unknown(b, i);
}

static void fail_args(struct gs_builder *b)
{
    for (uint32_t i = 0; i < b->n_args; i++) {
        struct gs_arg_summary *a = &b->args[i];
        if (!is_buffer(a))
            continue;
        a->escapes |= b->lost && a->kind == GS_ARG_GLOBAL;
        a->read_unknown = a->write_unknown = b->failed;
        a->read_site = a->write_site = b->failed_site;
    }
}

/* The images that the kernel has been seen to use; before that, nothing is assumed of them. */
static void bind_args(struct gs_builder *b, CXCursor kernel)
{
    for (uint32_t i = 0; i < b->n_args; i++) {
        CXCursor parameter = clang_Cursor_getArgument(kernel, i);
        struct gs_type t = gs_type_of_cursor(parameter);
        uint32_t zero = gs_node_const(b, GS_I64, 0);
        struct gs_place place = {GS_B_FIXED, i, zero};
        switch (b->args[i].kind) {
        case GS_ARG_IMAGE:
            place.base = GS_B_IMAGE;
            gs_variable_add(b, parameter, place);
            continue;
        case GS_ARG_SAMPLER:
        case GS_ARG_OTHER:
            gs_variable_add(b, parameter, place);
            continue;
        default:
            break;
        }
        if (t.class == GS_T_ARRAY) { /* clang calls a pointer so that was written as an array */
            place.base = b->args[i].kind == GS_ARG_LOCAL ? GS_B_LOCAL : GS_B_ARG;
            gs_variable_add(b, parameter, place);
            continue;
        }
        uint32_t object = gs_private_new(b, t.size);
        gs_variable_add(b, parameter, gs_private_place(b, object));
        if (b->args[i].kind == GS_ARG_VALUE) {
            b->objects[object].arg = (int32_t)i;
            continue;
        }
        place.base = GS_B_ARG;
        if (b->args[i].kind == GS_ARG_LOCAL)
            place = (struct gs_place){GS_B_LOCAL, 0, zero};
        struct gs_value v = gs_pointer(place), to = gs_pointer(gs_private_place(b, object));
        gs_store(b, &to, &t, &v, parameter);
    }
}

const struct gs_access_program *gs_access_build(const struct gs_tree *tree, CXCursor kernel, uint32_t unit,
                                                struct gs_arg_summary *args, uint32_t n_args)
{
    struct gs_builder b = {.tree = tree, .args = args, .n_args = n_args};
    struct gs_frame frame = {.function = kernel, .unit = unit};
    b.frame = &frame;
    b.buckets = builder_alloc(&b, GS_NODE_BUCKETS, sizeof *b.buckets);
    b.atomics = builder_alloc(&b, n_args, sizeof *b.atomics);
    b.escapes = builder_alloc(&b, n_args, sizeof *b.escapes);
    gs_scope_push(&b, GS_C_ROOT, 0, true);
    bind_args(&b, kernel);
    frame.mark = b.n_trail;
    struct gs_kids k = gs_kids(&b, kernel);
    for (uint32_t i = 0; i < k.n && !b.failed; i++)
        if (k.v[i].kind == CXCursor_CompoundStmt)
            gs_exec(&b, k.v[i]);
    const struct gs_access_program *p = NULL;
    if (b.failed) {
        fail_args(&b);
    } else {
        finish_args(&b);
        p = finish_program(&b);
    }
    gs_arena_free(&b.arena);
    return p;
}
