/* SPDX-License-Identifier: MIT */
/* What the atomics that are found in the text are to a kernel: which of its arguments are lists and counters, and
 * whether they are nothing else. */
#include "translator/flow/flow_append.h"

#include "translator/flow/flow_append_state.h"
#include "translator/summary/access_program.h"
#include "translator/parsing/builtins.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_SITES = 64, MAX_DEPTH = 8, MAX_CHAINS = 64 };

/* A place behind one of the kernel's arguments: bytes + scale * by behind its begin, where `by` is another, or none. Or
 * a constant: `bytes`, of no argument. */
struct place {
    uint32_t arg, by;
    uint64_t bytes, scale;
    bool constant;
};

/* How a function is come to from the kernel: by a call in the one above, and so on. */
struct chain {
    uint32_t func;
    CXCursor call;
    const struct chain *up; /* null: it is the kernel */
};

struct chains {
    struct gs_append_search *s;
    struct chain v[MAX_CHAINS];
    unsigned n;
    bool failed;
    /* Whose calls are looked for, and where. */
    uint32_t func;
    const struct chain *up;
};

static uint32_t param_index(const struct gs_func *g, CXCursor param)
{
    for (uint32_t i = 0; i < g->n_params; i++)
        if (clang_equalCursors(clang_Cursor_getArgument(g->def, i), param))
            return i;
    return GS_NO_ARG;
}

static bool calls(const struct gs_flow *f, uint32_t caller, uint32_t func)
{
    for (uint32_t i = 0; i < f->funcs[caller].n_calls; i++)
        if (f->funcs[caller].calls[i] == func)
            return true;
    return false;
}

static bool look_at_call(CXCursor c, void *data)
{
    struct chains *x = data;
    const struct gs_program *p = x->s->f->program;
    if (c.kind != CXCursor_CallExpr)
        return false;
    CXCursor callee = clang_getCursorReferenced(c);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(p, callee, p->funcs[x->up->func].unit) != x->func)
        return false;
    x->failed |= x->n == MAX_CHAINS;
    if (!x->failed)
        x->v[x->n++] = (struct chain){x->func, c, x->up};
    return x->failed;
}

/* All ways to come to a function. */
static struct chains *find_chains(struct gs_append_search *s, uint32_t func, unsigned depth)
{
    const struct gs_program *p = s->f->program;
    struct chains *x = gs_need_array(s->f->arena, 1, sizeof *x);
    *x = (struct chains){.s = s, .func = func, .failed = depth > MAX_DEPTH};
    if (func == s->kernel) {
        x->v[x->n++] = (struct chain){.func = func, .call = clang_getNullCursor()};
        return x;
    }
    for (uint32_t g = 0; g < p->n_funcs && !x->failed; g++) {
        if (!s->in[g] || !p->funcs[g].defined || !calls(s->f, g, func))
            continue;
        const struct chains *above = find_chains(s, g, depth + 1);
        x->failed |= above->failed;
        for (unsigned i = 0; i < above->n && !x->failed; i++) {
            x->up = &above->v[i];
            gs_append_any(p->funcs[g].def, look_at_call, x);
        }
    }
    return x;
}

static struct place resolve(struct gs_append_search *s, const struct chain *at, const struct gs_append_from *from);

/* The same of what a call gives for a parameter. */
static struct place resolve_given(struct gs_append_search *s, const struct chain *at, uint32_t param)
{
    struct gs_append_from from = {.param = clang_getNullCursor(), .by = clang_getNullCursor()};
    CXCursor given = param < gs_n_args(at->call) ? clang_Cursor_getArgument(at->call, param) : clang_getNullCursor();
    if (!clang_Cursor_isNull(given) && gs_is_pointer(gs_flow_type(given))) {
        from = gs_append_param(s, given);
    } else if (!clang_Cursor_isNull(given)) {
        CXCursor name = gs_strip(given);
        uint64_t number;
        if (gs_append_constant(given, &number) && number <= INT32_MAX)
            return (struct place){.arg = GS_NO_ARG, .by = GS_NO_ARG, .bytes = number, .constant = true};
        /* A number, handed on as the very type. */
        if (name.kind == CXCursor_DeclRefExpr && gs_flow_type(given).kind == gs_flow_type(name).kind)
            from.param = clang_getCursorReferenced(name);
    }
    return resolve(s, at->up, &from);
}

/* What a place behind a function's parameter is to the kernel. */
static struct place resolve(struct gs_append_search *s, const struct chain *at, const struct gs_append_from *from)
{
    static const struct place none = {.arg = GS_NO_ARG, .by = GS_NO_ARG};
    struct place place = none;
    if (clang_Cursor_isNull(from->param))
        return none;
    const uint32_t index = param_index(&s->f->program->funcs[at->func], from->param);
    if (index == GS_NO_ARG || !gs_append_is_steady(s, at->func, from->param))
        return none;
    if (at->up)
        place = resolve_given(s, at, index);
    else
        place.arg = index;
    if (place.arg == GS_NO_ARG)
        return place.constant && clang_Cursor_isNull(from->by) ? place : none;
    place.bytes += from->bytes;
    if (clang_Cursor_isNull(from->by))
        return place;
    const struct gs_append_from number = {.param = from->by, .by = clang_getNullCursor()};
    const struct place by = resolve(s, at, &number);
    if (by.arg == GS_NO_ARG || place.by != GS_NO_ARG)
        return none;
    place.by = by.arg;
    place.scale = from->scale;
    return place;
}

/* Are two stores of a site to the same list? */
static bool are_together(const struct gs_append_store *a, const struct gs_append_store *b)
{
    return clang_equalCursors(a->list.param, b->list.param) && a->list.bytes == b->list.bytes &&
           clang_equalCursors(a->list.by, b->list.by) && a->list.scale == b->list.scale &&
           a->shifted_by == b->shifted_by;
}

/* The integer type of one of the kernel's arguments; false: it is none. */
static bool number_type(const struct gs_append_search *s, uint32_t arg, uint8_t *type)
{
    CXCursor param = clang_Cursor_getArgument(s->f->program->funcs[s->kernel].def, arg);
    return gs_append_int_type(gs_flow_type(param), type);
}

/* Do the stores to a list, from byte `begin` behind its begin on, fill all of `whole`, alike? */
static bool is_filled(const struct gs_append_site *site, const struct gs_append_store *a, uint64_t begin,
                      uint64_t whole, struct gs_append *out)
{
    unsigned char stored[GS_APPEND_MOST_BYTES] = {0};
    for (unsigned i = 0; i < site->n_stores; i++) {
        const struct gs_append_store *b = &site->stores[i];
        if (!are_together(a, b))
            continue;
        if (b->unit != a->unit || b->offset - begin + b->bytes > whole || b->limit.is != a->limit.is ||
            !clang_equalCursors(b->limit.param, a->limit.param) || b->limit.more != a->limit.more ||
            b->limit.as != a->limit.as || b->limit.negative != a->limit.negative)
            return false;
        memset(stored + (b->offset - begin), 1, b->bytes);
        if (b->element < out->element)
            out->element = (uint32_t)b->element;
    }
    return !memchr(stored, 0, whole);
}

/* One list of a site, of whose stores the first to it is `first`; false if it isn't stored whole, or not alike. */
static bool make_append(struct gs_append_search *s, const struct gs_append_site *site, const struct chain *at,
                        unsigned first, struct gs_append *out)
{
    static const struct gs_append none;
    const struct gs_append_store *a = &site->stores[first];
    const struct gs_append_from counter = {
        .param = site->counter, .bytes = site->counter_offset, .by = clang_getNullCursor()};
    const struct gs_append_from limit = {.param = a->limit.param, .by = clang_getNullCursor()};
    const uint64_t whole = a->unit * site->step;
    uint64_t begin = a->offset;
    int64_t more = 0;
    uint8_t limit_type = a->limit.type;
    for (unsigned i = 0; i < site->n_stores; i++)
        if (are_together(a, &site->stores[i]) && site->stores[i].offset < begin)
            begin = site->stores[i].offset;
    const struct place counts = resolve(s, at, &counter), list = resolve(s, at, &a->list);
    *out = none;
    out->limit_arg = GS_NO_ARG;
    out->limited = a->limit.is;
    if (a->limit.is && !clang_Cursor_isNull(a->limit.param)) {
        const struct place most = resolve(s, at, &limit);
        if (most.constant ? !gs_append_is_wide(gs_flow_type(a->limit.param)) : most.arg == GS_NO_ARG)
            return false;
        out->limit_arg = most.arg;
        if (most.constant) {
            more = (int64_t)most.bytes;
            limit_type = GS_I64;
        }
    }
    if (counts.arg == GS_NO_ARG || counts.by != GS_NO_ARG || list.arg == GS_NO_ARG || whole > GS_APPEND_MOST_BYTES ||
        counts.bytes > UINT32_MAX || list.bytes + begin > UINT32_MAX || list.scale > UINT32_MAX)
        return false;
    out->list = list.arg;
    out->counter = counts.arg;
    out->counter_offset = (uint32_t)counts.bytes;
    out->begin = (uint32_t)(list.bytes + begin);
    out->begin_arg = list.by;
    out->begin_scale = (uint32_t)list.scale;
    if (list.by != GS_NO_ARG && !number_type(s, list.by, &out->begin_type))
        return false;
    out->shift = (uint32_t)(begin / a->unit);
    out->shifted_by = a->shifted_by;
    out->type = site->type;
    out->step = (uint32_t)site->step;
    out->unit = (uint32_t)a->unit;
    out->element = (uint32_t)a->element;
    out->limit_type = limit_type;
    out->compared_as = a->limit.as;
    out->limit_more = a->limit.more + more;
    out->limit_negative = a->limit.is ? a->limit.negative : INT32_MAX;
    out->site = gs_program_site(s->f->program, site->call, s->f->program->funcs[site->func].unit);
    /* Whether a negative number is below the limit must be known where it is one of a place. */
    if (out->limit_negative == GS_APPEND_UNKNOWN) {
        if (out->shift || out->shifted_by)
            return false;
        out->limit_negative = 0;
    }
    return is_filled(site, a, begin, whole, out);
}

static bool alike(const struct gs_append *a, const struct gs_append *b)
{
    return a->list == b->list && a->counter == b->counter && a->counter_offset == b->counter_offset &&
           a->begin == b->begin && a->begin_arg == b->begin_arg && a->begin_scale == b->begin_scale &&
           a->shift == b->shift && a->shifted_by == b->shifted_by && a->step == b->step && a->unit == b->unit &&
           a->limited == b->limited && a->limit_arg == b->limit_arg && a->limit_type == b->limit_type &&
           a->compared_as == b->compared_as && a->limit_more == b->limit_more &&
           a->limit_negative == b->limit_negative && a->type == b->type;
}

/* May a list end before byte `at` of its argument, at or behind its begin, for all that is known without the arguments?
 */
static bool may_end_before(const struct gs_append *a, uint64_t at)
{
    if (!a->limited || at <= a->begin)
        return a->begin_arg != GS_NO_ARG;
    return a->begin_arg != GS_NO_ARG || a->limit_arg != GS_NO_ARG || a->limit_more <= 0 ||
           a->begin + ((uint64_t)a->limit_more - 1 + a->step) * a->unit <= at;
}

/* May a list be apart from another's counter, or its own, and from another list? */
static bool may_leave_out(const struct gs_append *a, const struct gs_append *b)
{
    return a->list != b->counter || b->counter_offset + sizeof(uint32_t) <= a->begin ||
           may_end_before(a, b->counter_offset);
}

static bool may_be_apart(const struct gs_append *a, const struct gs_append *b)
{
    return a->list != b->list || b->begin_arg != GS_NO_ARG ||
           (a->begin <= b->begin ? may_end_before(a, b->begin) : may_end_before(b, a->begin));
}

/* Takes the lists of a site over. With `again`, they must be those of the counter already: whoever takes a number
 * stores to all of them. */
static bool add_lists(struct gs_append_search *s, const struct gs_append_site *site, const struct chain *at,
                      struct gs_appends *out)
{
    struct gs_append mine[GS_APPEND_STORES];
    unsigned n = 0, of_counter = 0;
    for (unsigned i = 0; i < site->n_stores; i++) {
        bool met = false;
        for (unsigned j = 0; j < i; j++)
            met |= are_together(&site->stores[i], &site->stores[j]);
        if (met)
            continue;
        if (!make_append(s, site, at, i, &mine[n]))
            return false;
        for (unsigned j = 0; j < n; j++)
            if (alike(&mine[j], &mine[n]) || !may_be_apart(&mine[j], &mine[n])) /* by two parameters of a helper */
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
            if (!alike(&out->v[j], &mine[i])) {
                if (!may_be_apart(&out->v[j], &mine[i]))
                    return false;
                continue;
            }
            known = true;
            if (mine[i].element < out->v[j].element)
                out->v[j].element = mine[i].element;
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

/* Is an argument that has lists or counters touched by nothing else? */
static bool is_alone(struct gs_append_search *s, uint32_t arg)
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
            if (!is_known(s, a))
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

static void add_place(struct gs_flow *f, struct gs_appends *out, CXCursor at)
{
    GS_GROW(f->arena, out->places, out->n_places, out->cap_places);
    out->places[out->n_places++] = at;
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
        const struct chains *ways = find_chains(&s, s.sites[i].func, 0);
        good = !ways->failed && ways->n;
        for (unsigned w = 0; w < ways->n && good; w++)
            good = add_lists(&s, &s.sites[i], &ways->v[w], out);
        add_place(f, out, s.sites[i].call);
        for (unsigned k = 0; k < s.sites[i].n_stores; k++)
            add_place(f, out, s.sites[i].stores[k].at);
    }
    for (uint32_t i = 0; i < out->n && good; i++) {
        good = is_alone(&s, out->v[i].list) && is_alone(&s, out->v[i].counter);
        for (uint32_t j = 0; j < out->n && good; j++)
            good = may_leave_out(&out->v[i], &out->v[j]);
    }
    if (!good)
        *out = (struct gs_appends){0};
}

bool gs_append_has(const struct gs_appends *a, CXCursor at)
{
    for (uint32_t i = 0; i < a->n_places; i++)
        if (clang_equalCursors(a->places[i], at))
            return true;
    return false;
}
