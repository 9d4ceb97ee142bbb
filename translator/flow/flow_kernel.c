/* SPDX-License-Identifier: MIT */
/* What a kernel does to each of its arguments: their declarations, then a walk along the flow of each. */
#include "translator/flow/flow.h"

#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

/* A value that goes through more nodes than this is taken to be used. */
enum { MAX_USES = 1000 };

/* The functions that a kernel reaches through calls, itself among them. */
struct reach {
    struct gs_flow *f;
    bool *in; /* per function */
    uint32_t *v, n;
};

static void reach_from(struct reach *r, uint32_t func)
{
    r->in = gs_need_array(r->f->arena, (size_t)r->f->program->n_funcs + 1, sizeof *r->in);
    r->v = gs_need_array(r->f->arena, (size_t)r->f->program->n_funcs + 1, sizeof *r->v);
    r->v[r->n++] = func;
    r->in[func] = true;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct gs_flow_func *g = &r->f->funcs[r->v[i]];
        for (uint32_t c = 0; c < g->n_calls; c++)
            if (!r->in[g->calls[c]]) {
                r->in[g->calls[c]] = true;
                r->v[r->n++] = g->calls[c];
            }
    }
}

/* clang prints the address space of the parameter itself, which nobody writes. */
static const char *written_type(struct gs_arena *arena, CXType type)
{
    char *s = gs_take_string(arena, clang_getTypeSpelling(type));
    const char *const prefix = "__private ";
    const char *const suffix = "__private";
    if (strncmp(s, prefix, strlen(prefix)) == 0)
        s += strlen(prefix);
    size_t n = strlen(s), k = strlen(suffix);
    if (n > k && strcmp(s + n - k, suffix) == 0)
        s[n - k] = 0;
    return s;
}

static bool is_image(enum CXTypeKind k)
{
    return k >= CXType_OCLImage1dRO && k <= CXType_OCLImage2dArrayMSAADepthRW;
}

/* Does a read_only, write_only or read_write image let the kernel read or write? By the last letters of clang's name.
 */
static void image_access(CXType type, struct gs_arg_summary *a)
{
    static const struct {
        enum CXTypeKind first, last;
        bool read, write;
    } ranges[] = {
        {CXType_OCLImage1dRO, CXType_OCLImage3dRO, true, false},
        {CXType_OCLImage1dWO, CXType_OCLImage3dWO, false, true},
        {CXType_OCLImage1dRW, CXType_OCLImage3dRW, true, true},
    };
    a->may_read = a->may_write = true;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (type.kind >= ranges[i].first && type.kind <= ranges[i].last) {
            a->may_read = ranges[i].read;
            a->may_write = ranges[i].write;
        }
}

static uint32_t size_of(CXType type)
{
    long long n = clang_Type_getSizeOf(type);
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 1;
}

static void declare_pointer(CXType type, struct gs_arg_summary *a)
{
    CXType to = clang_getCanonicalType(clang_getPointeeType(type));
    a->size = size_of(to);
    switch (clang_getAddressSpace(to)) {
    case GS_AS_GLOBAL:
        a->kind = GS_ARG_GLOBAL;
        break;
    case GS_AS_CONSTANT:
        a->kind = GS_ARG_CONSTANT;
        break;
    case GS_AS_LOCAL:
        a->kind = GS_ARG_LOCAL;
        break;
    default:
        a->kind = GS_ARG_OTHER;
        break;
    }
}

static void declare_arg(struct gs_flow *f, CXCursor param, struct gs_arg_summary *a)
{
    CXType type = gs_parameter_type(param);
    a->name = gs_take_string(f->arena, clang_getCursorSpelling(param));
    a->type = written_type(f->arena, clang_getCursorType(param));
    a->read_unknown = a->write_unknown = "";
    a->size = size_of(type);
    if (type.kind == CXType_Pointer) {
        declare_pointer(type, a);
    } else if (is_image(type.kind)) {
        a->kind = GS_ARG_IMAGE;
        image_access(type, a);
    } else if (type.kind == CXType_OCLSampler) {
        a->kind = GS_ARG_SAMPLER;
    } else if (type.kind == CXType_Pipe || type.kind == CXType_OCLEvent || type.kind == CXType_OCLQueue ||
               type.kind == CXType_OCLReserveID || (type.kind == CXType_Record && gs_holds_pointers(type))) {
        a->kind = GS_ARG_OTHER;
    } else {
        a->kind = GS_ARG_VALUE;
    }
}

struct arg_walk {
    struct gs_flow *f;
    const struct reach *reach;
    struct gs_kernel_summary *k;
    struct gs_arg_summary *arg;
    bool plain;       /* loads or stores that are no atomics */
    bool is_volatile; /* some of them are volatile, the first so here: */
    struct gs_site volatile_site;
};

static struct gs_site site_of(struct gs_flow *f, const struct gs_flow_access *a)
{
    return gs_program_site(f->program, a->where, f->program->funcs[a->func].unit);
}

/* `for_atomics`: what forbids a split is that parts would have to see each other's atomics. */
static void refuse(struct gs_kernel_summary *k, bool for_atomics, const char *why, struct gs_site site)
{
    k->only_atomics = k->only_atomics && for_atomics;
    if (k->refusal)
        return;
    k->refusal = why;
    k->refusal_site = site;
}

static void start(struct gs_flow_walk *w, uint32_t node)
{
    w->number++;
    w->n = 0;
    w->queue[w->n++] = node;
    w->seen[node] = w->number;
}

static void come_to(struct gs_flow_walk *w, uint32_t node)
{
    if (w->seen[node] == w->number)
        return;
    w->seen[node] = w->number;
    w->queue[w->n++] = node;
}

bool gs_flow_is_used(struct gs_flow *f, uint32_t node, const bool *in)
{
    struct gs_flow_walk *w = &f->walks[1];
    if (node == GS_UNUSED || node == GS_USED)
        return node == GS_USED;
    start(w, node);
    for (uint32_t i = 0; i < w->n; i++) {
        if (i == MAX_USES)
            return true;
        for (uint32_t u = f->use_row[w->queue[i]]; u < f->use_row[w->queue[i] + 1]; u++) {
            const struct gs_flow_use *use = &f->uses[f->use_at[u]];
            if (!in[use->func])
                continue;
            if (use->to == GS_USED)
                return true;
            come_to(w, use->to);
        }
    }
    return false;
}

/* Whether the atomics are signed matters to minima and maxima alone. */
static bool same_kind(const struct gs_arg_summary *arg, const struct gs_flow_access *a)
{
    const bool order = a->op == GS_ATOMIC_MIN || a->op == GS_ATOMIC_MAX;
    const bool ints = arg->atomic_type < GS_ATOMIC_F32 && a->type < GS_ATOMIC_F32;
    return arg->atomic == a->op && (arg->atomic_type == a->type ||
                                    (ints && !order && gs_atomic_bytes(arg->atomic_type) == gs_atomic_bytes(a->type)));
}

static void meet_atomic(struct arg_walk *w, const struct gs_flow_access *a)
{
    struct gs_arg_summary *arg = w->arg;
    const char *why = NULL;
    arg->may_read = arg->may_write = true;
    if (a->op == GS_ATOMIC_OTHER)
        why = "it uses an atomic on global memory that is no plain sum, minimum, maximum or bit operation";
    else if (gs_flow_is_used(w->f, a->result, w->reach->in))
        why = "it uses the result of an atomic on global memory";
    else if (arg->atomic != GS_ATOMIC_NONE && arg->atomic != GS_ATOMIC_OTHER && !same_kind(arg, a))
        why = "it uses several kinds of atomics on the same buffer";
    if (arg->atomic == GS_ATOMIC_OTHER)
        return;
    if (arg->atomic == GS_ATOMIC_NONE || why) {
        arg->atomic = why ? GS_ATOMIC_OTHER : a->op;
        arg->atomic_type = a->type;
        arg->atomic_site = site_of(w->f, a);
    }
    if (why)
        refuse(w->k, true, why, arg->atomic_site);
}

static void meet(struct arg_walk *w, const struct gs_flow_access *a)
{
    switch (a->what) {
    case GS_FLOW_READ: /* what is read to no effect, as before a compare-and-swap, may be any */
        w->arg->may_read = true;
        if (!gs_flow_is_used(w->f, a->result, w->reach->in))
            return;
        w->plain = true;
        break;
    case GS_FLOW_WRITE:
        w->arg->may_write = true;
        w->plain = true;
        break;
    case GS_FLOW_ATOMIC:
        meet_atomic(w, a);
        return;
    case GS_FLOW_ESCAPE:
        w->arg->escapes = true;
        refuse(w->k, false, "the address of a buffer is stored or used as a number", site_of(w->f, a));
        break;
    }
    if (a->is_volatile && !w->is_volatile) {
        w->is_volatile = true;
        w->volatile_site = site_of(w->f, a);
    }
}

/* Visits all nodes that may hold the argument, and what is done through them in functions that the kernel reaches. */
static void follow(struct arg_walk *w, uint32_t node)
{
    struct gs_flow *f = w->f;
    struct gs_flow_walk *walk = &f->walks[0];
    start(walk, node);
    for (uint32_t i = 0; i < walk->n; i++) {
        const uint32_t at = walk->queue[i];
        for (uint32_t a = f->access_row[at]; a < f->access_row[at + 1]; a++)
            if (w->reach->in[f->accesses[f->access_at[a]].func])
                meet(w, &f->accesses[f->access_at[a]]);
        for (uint32_t e = f->edge_row[at]; e < f->edge_row[at + 1]; e++)
            come_to(walk, f->edges[f->edge_at[e]].to);
    }
}

static void follow_arg(struct gs_flow *f, const struct reach *reach, uint32_t node, bool spins,
                       struct gs_kernel_summary *k, struct gs_arg_summary *a)
{
    struct arg_walk w = {.f = f, .reach = reach, .k = k, .arg = a};
    if (a->kind == GS_ARG_GLOBAL || a->kind == GS_ARG_CONSTANT)
        follow(&w, node);
    a->atomic_mixed = a->atomic != GS_ATOMIC_NONE && w.plain;
    if (a->atomic_mixed)
        refuse(k, true, "it uses atomics and plain accesses on the same buffer", a->atomic_site);
    if (w.is_volatile && spins)
        refuse(k, false, "it may wait for what other work-groups write to a volatile buffer", w.volatile_site);
    if (a->kind == GS_ARG_OTHER)
        refuse(k, false, gs_need(gs_arena_printf(f->arena, "its argument %s is of type %s", a->name, a->type)),
               a->read_site);
}

/* Does the kernel's result hang on the size of its work-groups by what a built-in function says? */
static bool uses_group(struct gs_flow *f, const struct reach *reach)
{
    for (uint32_t i = 0; i < f->n_groups; i++)
        if (reach->in[f->groups[i].func] && gs_flow_is_used(f, f->groups[i].to, reach->in))
            return true;
    return false;
}

/* May anything in the program write what the node stands for? */
static bool is_ever_written(struct gs_flow *f, uint32_t node)
{
    struct gs_flow_walk *walk = &f->walks[0];
    bool written = false;
    start(walk, node);
    for (uint32_t i = 0; i < walk->n && !written; i++) {
        const uint32_t at = walk->queue[i];
        for (uint32_t a = f->access_row[at]; a < f->access_row[at + 1]; a++)
            written |= f->accesses[f->access_at[a]].what != GS_FLOW_READ;
        for (uint32_t e = f->edge_row[at]; e < f->edge_row[at + 1]; e++)
            come_to(walk, f->edges[f->edge_at[e]].to);
    }
    return written;
}

static void look_at_lasting(struct gs_flow *f, const struct reach *reach, struct gs_kernel_summary *k)
{
    for (uint32_t i = 0; i < f->n_lasting; i++) {
        const struct gs_flow_lasting *l = &f->lasting[i];
        if (reach->in[l->func] && (l->foreign || f->kept_pointers || is_ever_written(f, l->node)))
            refuse(k, false, "it uses a variable that lasts from one launch to the next",
                   gs_program_site(f->program, l->where, f->program->funcs[l->func].unit));
    }
}

/* All that is said of a kernel by what its functions do. */
static void summarise(struct gs_flow *f, const struct reach *reach, struct gs_kernel_summary *k)
{
    const struct gs_func *g = &f->program->funcs[reach->v[0]];
    struct gs_arg_summary *args = gs_need_array(f->arena, (size_t)g->n_params + 1, sizeof *args);
    k->name = g->name;
    k->n_args = g->n_params;
    k->args = args;
    memcpy(k->reqd, g->reqd, sizeof k->reqd);
    bool lost = false, spins = false;
    k->only_atomics = true;
    for (uint32_t i = 0; i < reach->n; i++) {
        const struct gs_flow_func *h = &f->funcs[reach->v[i]];
        k->uses_group |= h->uses_group;
        lost |= h->lost;
        if (h->waits)
            k->refusal = NULL; /* the reason that matters most */
        spins |= h->spins;
        if (h->refusal)
            refuse(k, false, h->refusal,
                   gs_program_site(f->program, h->refusal_at, f->program->funcs[reach->v[i]].unit));
    }
    k->only_atomics &= !spins;
    k->uses_group |= uses_group(f, reach);
    look_at_lasting(f, reach, k);
    for (uint32_t i = 0; i < g->n_params; i++) {
        CXCursor param = clang_Cursor_getArgument(g->def, i);
        declare_arg(f, param, &args[i]);
        args[i].read_site = gs_program_site(f->program, param, g->unit);
        k->uses_group |= args[i].kind == GS_ARG_LOCAL;
        follow_arg(f, reach, gs_flow_node(f, param), spins, k, &args[i]);
        args[i].read_site = (struct gs_site){.file = ""};
    }
    for (uint32_t i = 0; i < g->n_params && lost; i++)
        if (args[i].kind == GS_ARG_GLOBAL)
            args[i].may_read = args[i].may_write = args[i].escapes = true;
    k->only_atomics &= k->refusal != NULL;
}

void gs_flow_kernel(struct gs_flow *f, uint32_t func, struct gs_kernel_summary *k)
{
    struct reach reach = {.f = f};
    reach_from(&reach, func);
    summarise(f, &reach, k);
}
