/* SPDX-License-Identifier: MIT */
#include "shim/plan/plan_cache.h"

#include <stdlib.h>
#include <string.h>

enum { PLANS = 4 };

/* All that a plan is made from, as bytes. */
struct key {
    unsigned char *bytes; /* owned */
    size_t n, cap;
    bool failed;
};

struct gs_plan_cache {
    struct {
        struct key key;
        struct gs_plan plan;
        uint64_t used; /* 0: the place is free */
    } of[PLANS];
    struct key wanted;
    uint64_t uses;
    const struct gs_kernel_summary *kernel; /* that `matters` is about */
    bool *matters;                          /* by argument: can its value change the plan? Owned */
};

static void add(struct key *k, const void *bytes, size_t n)
{
    if (!k->failed && k->n + n > k->cap) {
        const size_t cap = 2 * (k->n + n) + 256;
        unsigned char *grown = realloc(k->bytes, cap);
        k->failed = !grown;
        if (grown) {
            k->bytes = grown;
            k->cap = cap;
        }
    }
    if (k->failed || !n)
        return;
    memcpy(k->bytes + k->n, bytes, n);
    k->n += n;
}

static void add_number(struct key *k, uint64_t x)
{
    add(k, &x, sizeof x);
}

/* Whatever of a memory object a plan depends on. It may be another one at an old one's address. */
static void add_mem(struct key *k, const struct gs_mem *m)
{
    const struct gs_mem *root = m->root;
    add_number(k, (uintptr_t)root);
    add_number(k, m->origin);
    add_number(k, m->size);
    add_number(k, root->size);
    add_number(k, root->image ? root->image->band_bytes : 0);
    add_number(
        k, (uint64_t)((m->image != NULL) | (root->image != NULL) << 1 | m->home_only << 2 | root->home_only << 3) |
               (uint64_t)root->shared << 4 | (uint64_t)(root->write_mappings > 0) << 5 | (uint64_t)root->is_svm << 6);
}

static void add_arg(struct key *k, const struct gs_arg *a, const struct gs_mem *m, bool matters)
{
    add_number(k, a->size << 4 | (uint64_t)(m != NULL) << 3 | (uint64_t)a->is_mem << 2 | (uint64_t)a->is_svm << 1 |
                      a->has_value);
    if (m)
        add_mem(k, m);
    else if (a->has_value && matters)
        add(k, a->bytes, a->size);
}

static bool find_what_matters(struct gs_plan_cache *c, const struct gs_kernel_summary *kernel)
{
    if (c->kernel == kernel)
        return true;
    free(c->matters);
    c->matters = calloc(kernel->n_args + 1, sizeof *c->matters);
    for (uint32_t i = 0; c->matters && i < kernel->n_args; i++)
        c->matters[i] = kernel->args[i].kind != GS_ARG_VALUE || gs_summary_needs_value(kernel, i);
    c->kernel = c->matters ? kernel : NULL;
    return c->matters;
}

static bool make_key(struct gs_plan_cache *c, const struct gs_plan_input *in)
{
    const struct gs_geometry *g = in->launch;
    struct key *k = &c->wanted;
    k->n = 0;
    k->failed = !find_what_matters(c, in->kernel);
    add_number(k, (uintptr_t)in->kernel);
    add_number(k, (uint64_t)in->n_parts << 32 | g->dims << 8 | (uint64_t)in->all_parts << 4 |
                      (uint64_t)in->relaxed << 3 | (uint64_t)in->may_try << 2 | (uint64_t)in->null_local << 1 |
                      in->may_reorder);
    add(k, g->offset, sizeof g->offset);
    add(k, g->global, sizeof g->global);
    add(k, g->local, sizeof g->local);
    if (in->cut) {
        add_number(k, in->cut_dim);
        add(k, in->cut, in->n_parts * sizeof *in->cut);
    }
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        add_arg(k, &in->args[i], in->mems[i], !k->failed && c->matters[i]);
    return !k->failed;
}

static bool equal(const struct key *a, const struct key *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

const struct gs_plan *gs_plan_cached(struct gs_plan_cache **cache, const struct gs_plan_input *in)
{
    if (!*cache)
        *cache = calloc(1, sizeof **cache);
    struct gs_plan_cache *c = *cache;
    unsigned oldest = 0;
    if (!c)
        return NULL;
    if (!make_key(c, in))
        return NULL;
    c->uses++;
    for (unsigned i = 0; i < PLANS; i++) {
        if (c->of[i].used && equal(&c->of[i].key, &c->wanted)) {
            c->of[i].used = c->uses;
            return &c->of[i].plan;
        }
        if (c->of[i].used < c->of[oldest].used)
            oldest = i;
    }
    if (c->of[oldest].used)
        gs_plan_free(&c->of[oldest].plan);
    c->of[oldest].used = 0;
    if (gs_plan_make(&c->of[oldest].plan, in) < 0)
        return NULL;
    const struct key old = c->of[oldest].key;
    c->of[oldest].key = c->wanted;
    c->of[oldest].used = c->uses;
    c->wanted = old;
    return &c->of[oldest].plan;
}

void gs_plan_cache_free(struct gs_plan_cache *c)
{
    for (unsigned i = 0; c && i < PLANS; i++) {
        if (c->of[i].used)
            gs_plan_free(&c->of[i].plan);
        free(c->of[i].key.bytes);
    }
    if (c) {
        free(c->wanted.bytes);
        free(c->matters);
    }
    free(c);
}
