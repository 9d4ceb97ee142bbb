/* SPDX-License-Identifier: MIT */
/* Evaluates an access program for one part of a launch. */
#include "translator/summary/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "translator/evaluation/eval_sure.h"

/* Bounds the time of one evaluation whatever the program. */
enum { NODE_BUDGET = 50000 };

static void *take(char **at, size_t n, size_t size)
{
    void *p = *at;
    *at += (n * size + 15) / 16 * 16;
    return p;
}

static size_t sizes(uint32_t n_vars, uint32_t n_nodes)
{
    return (n_vars * sizeof(struct gs_interval) + 15) / 16 * 16 + (n_nodes * sizeof(struct gs_memo) + 15) / 16 * 16 +
           64;
}

/* The intervals of the launch's own variables. */
static void set_variables(struct gs_eval *e)
{
    const struct gs_geometry *g = e->launch;
    for (unsigned d = 0; d < 3; d++) {
        gs_wide local = g->local[d], begin = e->box->begin[d], end = e->box->end[d];
        gs_wide items = end * local < (gs_wide)g->global[d] ? end * local : (gs_wide)g->global[d];
        e->var[GS_VAR_ITEM + d] = (struct gs_interval){begin * local, items - 1};
        e->var[GS_VAR_GROUP + d] = (struct gs_interval){begin, end - 1};
        e->var[GS_VAR_LOCAL + d] = (struct gs_interval){0, local - 1};
        if (begin >= end || items <= begin * local)
            e->levels[0].empty = true;
    }
    for (uint32_t i = 0; i < e->p->n_loops; i++)
        e->var[GS_VAR_LOOP + i] = (struct gs_interval){0, (gs_wide)1 << 62};
    for (uint32_t i = 0; i < e->p->n_nodes; i++) {
        e->var[e->first_node_var + i] = (struct gs_interval){1, 0};
        e->memo[i].serial = 0;
    }
}

static int begin(struct gs_eval *e, const struct gs_access_program *p, const struct gs_geometry *launch,
                 const struct gs_box *box, const struct gs_arg_value *args, void **memory)
{
    uint32_t n_vars = GS_VAR_LOOP + p->n_loops + p->n_nodes;
    *memory = malloc(sizes(n_vars, p->n_nodes));
    e->p = p;
    e->launch = launch;
    e->box = box;
    e->args = args;
    e->n_undo = e->level = e->depth = 0;
    e->ranges = 0;
    e->written = NULL;
    e->no_memory = false;
    e->undo_cap = GS_FIRST_UNDO;
    e->undo = e->first_undo;
    if (!*memory)
        return -ENOMEM;
    char *at = *memory;
    e->var = take(&at, n_vars, sizeof *e->var);
    e->memo = take(&at, e->p->n_nodes, sizeof *e->memo);
    e->first_node_var = GS_VAR_LOOP + e->p->n_loops;
    e->serial = 1;
    e->budget = NODE_BUDGET;
    memset(&e->levels[0], 0, sizeof e->levels[0]);
    e->levels[0].serial = 1;
    set_variables(e);
    return 0;
}

static void end(struct gs_eval *e, void *memory)
{
    if (e->undo != e->first_undo)
        free(e->undo);
    gs_before_free(e->written);
    free(memory);
}

/* Which context each level stands for, from the root. */
struct path {
    uint32_t context[GS_MAX_NESTING + 1];
    uint32_t n;
};

/* What may come to a context: too much is right. */
static void enter_possible(void *ctx, const struct gs_scope *c)
{
    struct gs_eval *e = ctx;
    if (e->levels[e->level].empty || c->kind == GS_C_MAYBE)
        gs_level_enter(e);
    else if (c->kind == GS_C_GUARD)
        gs_guard_enter(e, c->what, c->truth);
    else
        gs_loop_enter(e, c->what, c->truth);
}

/* What surely comes to a context: too little is right. */
static void enter_sure(void *ctx, const struct gs_scope *c)
{
    gs_sure_enter(ctx, c);
}

/* Leaves and enters levels until the current one is that of the context. False where it is nested too deeply. */
static bool go_to(struct gs_eval *e, struct path *at, uint32_t context, void (*enter)(void *, const struct gs_scope *),
                  void *ctx)
{
    uint32_t want[GS_MAX_NESTING + 1], n = 0;
    for (uint32_t c = context; n <= GS_MAX_NESTING; c = e->p->contexts[c].parent) {
        want[n++] = c;
        if (c == 0)
            break;
    }
    if (want[n - 1] != 0)
        return false;
    uint32_t common = 0;
    while (common < n && common < at->n && want[n - 1 - common] == at->context[common])
        common++;
    for (; at->n > common; at->n--)
        gs_level_leave(e);
    for (; at->n < n; at->n++) {
        at->context[at->n] = want[n - 1 - at->n];
        enter(ctx, &e->p->contexts[at->context[at->n]]);
    }
    return true;
}

static void unknown(struct gs_arg_access *out, enum gs_access_kind kind)
{
    if (kind != GS_A_WRITE)
        out->reads_all = true;
    if (kind != GS_A_READ)
        out->writes_unknown = true;
}

/* A sampler may take what is read outside of an image from its edge. */
static void add_edges(struct gs_eval *e, const struct gs_form *f, uint64_t bands, struct gs_rangeset *out)
{
    const struct gs_interval in = gs_form_interval(e, f);
    int err = 0;
    if (in.lo < 0)
        err = gs_rangeset_add(out, (struct gs_range){0, 1});
    if (!err && in.hi >= (gs_wide)bands)
        err = gs_rangeset_add(out, (struct gs_range){bands - 1, bands});
    if (err)
        e->no_memory = true;
}

/* Adds what it reads and the part hasn't written before. */
static bool add_reads(struct gs_eval *e, uint32_t access, const struct gs_form *f, struct gs_rangeset *out)
{
    const struct gs_access *a = &e->p->accesses[access];
    const uint64_t buffer = e->args[a->arg].buffer_bytes;
    struct gs_rangeset reads = {0};
    if (!e->written)
        return gs_set_add(e, f, a->bytes, buffer, out);
    const bool known = gs_set_add(e, f, a->bytes, buffer, &reads);
    if (known && (gs_before_take_off(e->p, e->written, access, &reads) < 0 || gs_rangeset_add_set(out, &reads) < 0))
        e->no_memory = true;
    gs_rangeset_free(&reads);
    return known;
}

static void eval_possible(struct gs_eval *e, uint32_t access, struct gs_arg_access *out)
{
    const struct gs_access *a = &e->p->accesses[access];
    struct gs_memo m = {.free = true};
    uint64_t buffer = e->args[a->arg].buffer_bytes;
    if (e->levels[e->level].empty || buffer == 0)
        return;
    if (a->offset == GS_NO_NODE) {
        unknown(out, (enum gs_access_kind)a->kind);
        return;
    }
    struct gs_form f = gs_eval_value(e, a->offset, &m);
    if (a->kind != GS_A_WRITE && !out->reads_all)
        out->reads_all = !add_reads(e, access, &f, &out->reads);
    if (a->kind != GS_A_WRITE && !out->reads_all && e->args[a->arg].is_image)
        add_edges(e, &f, buffer, &out->reads);
    if (a->kind != GS_A_READ && !out->writes_unknown)
        out->writes_unknown = !gs_set_add(e, &f, a->bytes, buffer, &out->writes);
}

/* What an access surely writes; `wanted`: also kept for the reads behind it. */
static void eval_sure(struct gs_sure *s, uint32_t access, bool wanted, struct gs_arg_access *out)
{
    struct gs_eval *e = s->e;
    const struct gs_access *a = &e->p->accesses[access];
    const gs_wide buffer = e->args[a->arg].buffer_bytes;
    struct gs_written *w = wanted ? calloc(1, sizeof *w) : NULL;
    struct gs_rangeset beyond = {0};
    if (a->kind == GS_A_WRITE)
        gs_sure_add(s, a, (struct gs_interval){0, buffer}, w ? &w->bytes : &out->overwrites);
    if (!out->leaves)
        gs_sure_add(s, a, (struct gs_interval){buffer, (gs_wide)1 << 62}, &beyond);
    out->leaves |= beyond.n != 0;
    gs_rangeset_free(&beyond);
    if (!w)
        return;
    if (gs_rangeset_add_set(&out->overwrites, &w->bytes) < 0)
        e->no_memory = true;
    w->access = access;
    w->next = e->written;
    e->written = w;
}

static void clear(const struct gs_kernel_summary *kernel, struct gs_arg_access *out)
{
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        gs_rangeset_clear(&out[i].reads);
        gs_rangeset_clear(&out[i].writes);
        gs_rangeset_clear(&out[i].overwrites);
        out[i].reads_all = out[i].writes_unknown = out[i].leaves = false;
    }
}

/* What is unknown has no ranges; what is read first is not surely overwritten. */
static int finish(uint32_t n_args, struct gs_arg_access *out)
{
    for (uint32_t i = 0; i < n_args; i++) {
        struct gs_arg_access *o = &out[i];
        if (o->writes_unknown)
            gs_rangeset_clear(&o->writes);
        if (o->reads_all || o->writes_unknown)
            gs_rangeset_clear(&o->overwrites);
        if (o->reads_all)
            gs_rangeset_clear(&o->reads);
        else if (o->overwrites.n && o->reads.n && gs_rangeset_remove_set(&o->overwrites, &o->reads) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Looks at all accesses, in order. */
static void eval_all_sure(struct gs_eval *e, struct gs_arg_access *out)
{
    const struct gs_access_program *p = e->p;
    const bool before_matters = gs_before_matters(p);
    struct path at = {.n = 1};
    struct gs_sure s;
    gs_sure_begin(&s, e);
    at.context[0] = 0;
    for (uint32_t i = 0; i < p->n_accesses && !e->no_memory; i++) {
        const struct gs_access *a = &p->accesses[i];
        const struct gs_arg_value *arg = &e->args[a->arg];
        if (a->kind != GS_A_READ && a->whole && !arg->is_image && arg->buffer_bytes != 0 &&
            go_to(e, &at, a->context, enter_sure, &s))
            eval_sure(&s, i, before_matters && gs_before_wanted(p, i), &out[a->arg]);
    }
    for (; at.n > 1; at.n--)
        gs_level_leave(e);
}

static void eval_all_possible(struct gs_eval *e, struct gs_arg_access *out)
{
    struct path at = {.n = 1};
    at.context[0] = 0;
    for (uint32_t i = 0; i < e->p->n_accesses && !e->no_memory; i++) {
        const struct gs_access *a = &e->p->accesses[i];
        if (go_to(e, &at, a->context, enter_possible, e))
            eval_possible(e, i, &out[a->arg]);
        else
            unknown(&out[a->arg], (enum gs_access_kind)a->kind);
    }
}

static int eval_program(const struct gs_access_program *p, const struct gs_geometry *launch, const struct gs_box *box,
                        const struct gs_arg_value *args, struct gs_arg_access *out)
{
    struct gs_eval e; /* large; what must be set is set in begin() */
    void *memory;
    int err = begin(&e, p, launch, box, args, &memory);
    if (!err) {
        eval_all_sure(&e, out);
        e.budget = NODE_BUDGET;
        e.ranges = 0;
        eval_all_possible(&e, out);
        err = e.no_memory ? -ENOMEM : 0;
    }
    end(&e, memory);
    return err ? err : finish(p->n_args, out);
}

static bool is_sane(const struct gs_geometry *g)
{
    for (unsigned d = 0; d < 3; d++)
        if (g->local[d] == 0 || g->local[d] > UINT32_MAX || g->global[d] > (uint64_t)1 << 60 ||
            g->offset[d] > (uint64_t)1 << 60)
            return false;
    return true;
}

/* What a node divides the ids of a dimension by, or masks them with; 0: it doesn't. */
static uint64_t row_of(struct gs_eval *e, uint32_t node, unsigned dim)
{
    const struct gs_node *n = &e->p->nodes[node];
    struct gs_memo m = {.free = true};
    if (n->op != GS_N_DIV && n->op != GS_N_REM && n->op != GS_N_SHR && n->op != GS_N_AND)
        return 0;
    const struct gs_form x = gs_eval_value(e, n->a, &m), y = gs_eval_value(e, n->b, &m);
    if (x.n != 1 || x.t[0].var != GS_VAR_ITEM + dim || x.t[0].factor != 1 || y.n != 0 || y.base <= 0 ||
        y.base > (int64_t)1 << 40 || (n->op == GS_N_SHR && y.base > 40))
        return 0;
    const int64_t row = n->op == GS_N_SHR ? (int64_t)1 << y.base : n->op == GS_N_AND ? y.base + 1 : y.base;
    return x.base % row == 0 ? (uint64_t)row : 0;
}

uint64_t gs_summary_row(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch,
                        const struct gs_arg_value *args, unsigned dim, uint64_t below)
{
    uint64_t most = 0;
    struct gs_eval e;
    void *memory;
    if (!kernel->access || !is_sane(launch))
        return 0;
    const struct gs_box all = gs_geometry_box(launch);
    const int err = begin(&e, kernel->access, launch, &all, args, &memory);
    for (uint32_t i = 0; i < kernel->access->n_nodes && !err; i++) {
        const uint64_t row = row_of(&e, i, dim);
        if (row < below && row > most)
            most = row;
    }
    end(&e, memory);
    return most;
}

int gs_summary_eval(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch, const struct gs_box *box,
                    const struct gs_arg_value *args, struct gs_arg_access *out)
{
    clear(kernel, out);
    if (kernel->access && is_sane(launch))
        return eval_program(kernel->access, launch, box, args, out);
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        out[i].reads_all = kernel->args[i].may_read;
        out[i].writes_unknown = kernel->args[i].may_write;
    }
    return 0;
}

void gs_arg_access_free(struct gs_arg_access *a)
{
    gs_rangeset_free(&a->reads);
    gs_rangeset_free(&a->writes);
    gs_rangeset_free(&a->overwrites);
}
