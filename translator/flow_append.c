/* SPDX-License-Identifier: MIT */
/* What the atomics that are found in the text are to a kernel: which of its arguments are lists and counters, and
 * whether they are nothing else. */
#include "translator/flow_append.h"

#include "translator/flow_append_state.h"
#include "translator/access_program.h"
#include "translator/builtins.h"
#include "translator/flow_tree.h"
#include "translator/flow_type.h"
#include "translator/need.h"

enum { MAX_SITES = 64, MAX_DEPTH = 8 };

struct finding {
    struct gs_append_search *s;
    uint32_t func, param, arg, unit; /* the function around is `func` */
    uint64_t offset;
    bool any, failed, exact;
    unsigned depth;
    uint32_t caller;
};

static uint32_t param_index(const struct gs_func *g, CXCursor param)
{
    for (uint32_t i = 0; i < g->n_params; i++)
        if (clang_equalCursors(clang_Cursor_getArgument(g->def, i), param))
            return i;
    return GS_NO_ARG;
}

static uint32_t resolve(struct gs_append_search *s, uint32_t func, CXCursor param, uint64_t *offset, unsigned depth);

static bool look_at_call(CXCursor c, void *data)
{
    struct finding *x = data;
    uint64_t offset = 0;
    if (c.kind != CXCursor_CallExpr)
        return false;
    CXCursor callee = clang_getCursorReferenced(c);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(x->s->f->program, callee, x->unit) != x->func)
        return false;
    CXCursor given = x->param < gs_n_args(c) ? clang_Cursor_getArgument(c, x->param) : clang_getNullCursor();
    CXCursor param = clang_getNullCursor();
    if (!clang_Cursor_isNull(given) && gs_is_pointer(gs_flow_type(given))) {
        param = gs_append_param(x->s, given, &offset);
    } else if (!clang_Cursor_isNull(given)) {
        CXCursor name = gs_strip(given);
        /* A number, handed on as the very type. */
        if (name.kind == CXCursor_DeclRefExpr && gs_flow_type(given).kind == gs_flow_type(name).kind)
            param = clang_getCursorReferenced(name);
    }
    const uint32_t arg =
        clang_Cursor_isNull(param) ? GS_NO_ARG : resolve(x->s, x->caller, param, &offset, x->depth + 1);
    x->failed |= arg == GS_NO_ARG || (x->any && (arg != x->arg || offset != x->offset));
    x->any = true;
    x->arg = arg;
    x->offset = offset;
    return x->failed;
}

/* The kernel's argument that a function's parameter always is, and the bytes that it lies behind its begin, which are
 * added to *offset. */
static uint32_t resolve(struct gs_append_search *s, uint32_t func, CXCursor param, uint64_t *offset, unsigned depth)
{
    const struct gs_program *p = s->f->program;
    const uint32_t index = param_index(&p->funcs[func], param);
    if (index == GS_NO_ARG || depth > MAX_DEPTH || !gs_append_is_steady(s, func, param))
        return GS_NO_ARG;
    if (func == s->kernel)
        return index;
    struct finding x = {.s = s, .func = func, .param = index, .depth = depth};
    for (uint32_t g = 0; g < p->n_funcs && !x.failed; g++)
        if (s->in[g] && p->funcs[g].defined) {
            x.caller = g;
            x.unit = p->funcs[g].unit;
            gs_append_any(p->funcs[g].def, look_at_call, &x);
        }
    *offset += x.offset;
    return x.any && !x.failed ? x.arg : GS_NO_ARG;
}

/* One list of a site, of whose stores the first to it is `first`; false if it isn't stored whole, or not alike. */
static bool make_append(struct gs_append_search *s, const struct gs_append_site *site, unsigned first,
                        struct gs_append *out)
{
    static const struct gs_append none;
    const struct gs_append_store *a = &site->stores[first];
    uint64_t counter_offset = site->counter_offset, list_offset = 0, limit_offset = 0;
    unsigned char stored[GS_APPEND_MOST_BYTES] = {0};
    const uint64_t whole = a->unit * site->step;
    *out = none;
    out->counter = resolve(s, site->func, site->counter, &counter_offset, 0);
    out->list = resolve(s, site->func, a->list, &list_offset, 0);
    out->limit_arg = GS_NO_ARG;
    out->limited = a->limit.is;
    if (a->limit.is && !clang_Cursor_isNull(a->limit.param)) {
        out->limit_arg = resolve(s, site->func, a->limit.param, &limit_offset, 0);
        if (out->limit_arg == GS_NO_ARG)
            return false;
    }
    if (out->counter == GS_NO_ARG || out->list == GS_NO_ARG || out->counter == out->list || list_offset != 0 ||
        whole > GS_APPEND_MOST_BYTES || counter_offset > UINT32_MAX)
        return false;
    out->counter_offset = (uint32_t)counter_offset;
    out->type = site->type;
    out->step = (uint32_t)site->step;
    out->unit = (uint32_t)a->unit;
    out->limit_type = a->limit.type;
    out->compared_as = a->limit.as;
    out->limit_more = a->limit.more;
    out->site = gs_program_site(s->f->program, site->call, s->f->program->funcs[site->func].unit);
    for (unsigned i = 0; i < site->n_stores; i++) {
        const struct gs_append_store *b = &site->stores[i];
        if (!clang_equalCursors(a->list, b->list))
            continue;
        if (b->unit != a->unit || b->offset + b->bytes > whole || b->limit.is != a->limit.is ||
            !clang_equalCursors(b->limit.param, a->limit.param) || b->limit.more != a->limit.more ||
            b->limit.as != a->limit.as)
            return false;
        memset(stored + b->offset, 1, b->bytes);
    }
    return !memchr(stored, 0, whole);
}

static bool alike(const struct gs_append *a, const struct gs_append *b)
{
    return a->list == b->list && a->counter == b->counter && a->counter_offset == b->counter_offset &&
           a->step == b->step && a->unit == b->unit && a->limited == b->limited && a->limit_arg == b->limit_arg &&
           a->limit_type == b->limit_type && a->compared_as == b->compared_as && a->limit_more == b->limit_more &&
           a->type == b->type;
}

/* Takes the lists of a site over. With `again`, they must be those of the counter already: whoever takes a number
 * stores to all of them. */
static bool add_lists(struct gs_append_search *s, const struct gs_append_site *site, struct gs_appends *out)
{
    struct gs_append mine[GS_APPEND_STORES];
    unsigned n = 0, of_counter = 0;
    for (unsigned i = 0; i < site->n_stores; i++) {
        bool met = false;
        for (unsigned j = 0; j < i; j++)
            met |= clang_equalCursors(site->stores[i].list, site->stores[j].list);
        if (met)
            continue;
        if (!make_append(s, site, i, &mine[n]))
            return false;
        for (unsigned j = 0; j < n; j++)
            if (mine[j].list == mine[n].list) /* by two parameters of a helper */
                return false;
        n++;
    }
    if (!n)
        return false;
    for (uint32_t i = 0; i < out->n; i++)
        of_counter += out->v[i].counter == mine[0].counter && out->v[i].counter_offset == mine[0].counter_offset;
    for (unsigned i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t j = 0; j < out->n; j++) {
            if (alike(&out->v[j], &mine[i]))
                known = true;
            else if (out->v[j].list == mine[i].list || out->v[j].counter == mine[i].list ||
                     out->v[j].list == mine[i].counter)
                return false;
        }
        if (known != (of_counter > 0))
            return false;
        if (!known) {
            GS_GROW(s->f->arena, out->v, out->n, out->cap);
            out->v[out->n++] = mine[i];
        }
    }
    return of_counter == 0 || of_counter == n;
}

/* Is the access one of what is understood? */
static bool is_known(const struct gs_append_search *s, const struct gs_flow_access *a)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        if (a->what == GS_FLOW_ATOMIC && clang_equalCursors(s->sites[i].call, a->where))
            return true;
        for (unsigned k = 0; k < s->sites[i].n_stores && a->what == GS_FLOW_WRITE; k++)
            if (clang_equalCursors(s->sites[i].stores[k].at, a->where))
                return true;
    }
    return false;
}

/* Is an argument, a list or a counter, touched by nothing else? */
static bool is_alone(struct gs_append_search *s, uint32_t arg, enum gs_access_what what)
{
    struct gs_flow *f = s->f;
    struct gs_flow_walk *w = &f->walks[0];
    bool touched = false;
    w->number++;
    w->n = 0;
    w->queue[w->n++] = gs_flow_node(f, clang_Cursor_getArgument(f->program->funcs[s->kernel].def, arg));
    w->seen[w->queue[0]] = w->number;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t at = w->queue[i];
        for (uint32_t k = f->access_row[at]; k < f->access_row[at + 1]; k++) {
            const struct gs_flow_access *a = &f->accesses[f->access_at[k]];
            if (!s->in[a->func])
                continue;
            if (a->what != what || a->is_volatile || !is_known(s, a))
                return false;
            touched = true;
        }
        for (uint32_t e = f->edge_row[at]; e < f->edge_row[at + 1]; e++) {
            const uint32_t to = f->edges[f->edge_at[e]].to;
            if (w->seen[to] != w->number) {
                w->seen[to] = w->number;
                w->queue[w->n++] = to;
            }
        }
    }
    return touched;
}

void gs_append_find(struct gs_flow *f, uint32_t kernel, const bool *in, struct gs_appends *out)
{
    const struct gs_program *p = f->program;
    struct gs_append_search s = {.f = f, .kernel = kernel, .in = in};
    *out = (struct gs_appends){0};
    for (uint32_t i = 0; i < p->n_funcs; i++) {
        struct gs_children k;
        if (!in[i] || !p->funcs[i].defined)
            continue;
        s.func = i;
        s.unit = p->funcs[i].unit;
        gs_children(f->arena, p->funcs[i].def, &k);
        for (unsigned c = 0; c < k.n; c++)
            if (gs_child(&k, c).kind == CXCursor_CompoundStmt)
                gs_append_sites(&s, gs_child(&k, c));
    }
    bool good = s.n_sites > 0 && s.n_sites <= MAX_SITES;
    for (uint32_t i = 0; i < s.n_sites && good; i++) {
        good = add_lists(&s, &s.sites[i], out);
        GS_GROW(f->arena, out->calls, out->n_calls, out->cap_calls);
        out->calls[out->n_calls++] = s.sites[i].call;
    }
    for (uint32_t i = 0; i < out->n && good; i++)
        good = is_alone(&s, out->v[i].list, GS_FLOW_WRITE) && is_alone(&s, out->v[i].counter, GS_FLOW_ATOMIC);
    if (!good)
        *out = (struct gs_appends){0};
}

bool gs_append_takes(const struct gs_appends *a, CXCursor call)
{
    for (uint32_t i = 0; i < a->n_calls; i++)
        if (clang_equalCursors(a->calls[i], call))
            return true;
    return false;
}
