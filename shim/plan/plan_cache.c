/* SPDX-License-Identifier: MIT */
/* See plan.h, section plan_cache.c. */
#include "shim/plan/plan.h"

enum { PLANS = 16 };

/* All that a plan is made from, as bytes: whatever gs_plan_make reads must be here. */
struct key {
    unsigned char *bytes; /* owned */
    size_t n, cap;
    bool failed;
};

struct gs_plan_cache {
    struct entry {
        struct key key;
        struct gs_plan plan;
        uint64_t used; /* 0: the place is free */
    } of[PLANS];
    struct key wanted;
    uint64_t uses;
    const struct gs_kernel_summary *kernel; /* the kernel that `seen` and `values` are for */
    struct gs_seen *seen;                   /* owned, as what follows */
    struct gs_arg_value *values;            /* by argument */
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

/* Whatever of a memory object a plan depends on: which arguments lead to the same, but not which object it is. */
static void add_mem(struct key *k, struct gs_mem *const *mems, uint32_t i)
{
    const struct gs_mem *m = mems[i], *root = m->root;
    uint32_t first = 0; /* argument that leads to the same root */
    while (first < i && !(mems[first] && mems[first]->root == root))
        first++;
    add_number(k, first);
    add_number(k, m->origin);
    add_number(k, m->size);
    add_number(k, root->size);
    add_number(k, root->image ? root->image->band_bytes : 0);
    const bool is[] = {
        m->image, root->image, m->home_only, root->home_only, root->shared, root->is_svm, root->mappings.writes > 0};
    add(k, is, sizeof is);
}

static void add_arg(struct key *k, const struct gs_plan_input *in, uint32_t i, bool seen)
{
    const struct gs_arg *a = &in->args[i];
    const bool is_object = in->mems[i];
    const bool is[] = {is_object, a->is_mem, a->is_svm, a->bytes};
    add_number(k, a->size);
    add(k, is, sizeof is);
    if (is_object)
        add_mem(k, in->mems, i);
    else if (a->bytes && !(seen && in->kernel->args[i].kind == GS_ARG_VALUE))
        add(k, a->bytes, a->size);
}

static void forget_kernel(struct gs_plan_cache *c)
{
    gs_seen_free(c->seen);
    free(c->values);
    c->kernel = NULL;
}

/* Adds only what a plan can see of arguments passed by value: gs_seen. (Not in the key: may_race and most_offset, the
 * same for all of the process.) */
static void add_args(struct gs_plan_cache *c, const struct gs_plan_input *in)
{
    const uint32_t n_args = in->kernel->n_args;
    size_t n = 0;
    if (c->kernel != in->kernel) {
        forget_kernel(c);
        c->seen = gs_seen_new(in->kernel);
        c->values = calloc(n_args + 1, sizeof *c->values);
        c->kernel = c->seen && c->values ? in->kernel : NULL;
    }
    for (uint32_t i = 0; c->kernel && i < n_args; i++)
        c->values[i] = (struct gs_arg_value){.bytes = in->args[i].bytes, .size = in->args[i].size};
    const int64_t *seen = c->kernel ? gs_seen_values(c->seen, c->values, &n) : NULL;
    add_number(&c->wanted, seen ? n + 1 : 0);
    if (seen)
        add(&c->wanted, seen, n * sizeof *seen);
    for (uint32_t i = 0; i < n_args; i++)
        add_arg(&c->wanted, in, i, seen);
}

static bool make_key(struct gs_plan_cache *c, const struct gs_plan_input *in)
{
    const struct gs_geometry *g = in->launch;
    struct key *k = &c->wanted;
    k->n = 0;
    k->failed = false;
    add_number(k, (uintptr_t)in->kernel);
    const unsigned numbers[] = {in->n_parts, g->dims, in->kernel->reorders, g->null_local, in->may_reorder, in->exact};
    add(k, numbers, sizeof numbers);
    add(k, g->offset, sizeof g->offset);
    add(k, g->global, sizeof g->global);
    add(k, g->local, sizeof g->local);
    if (in->cut) {
        add_number(k, in->cut_dim);
        add(k, in->cut, in->n_parts * sizeof *in->cut);
    }
    add_args(c, in);
    return !k->failed;
}

const struct gs_plan *gs_plan_cached(struct gs_plan_cache **cache, const struct gs_plan_input *in)
{
    if (!*cache)
        *cache = calloc(1, sizeof **cache);
    struct gs_plan_cache *c = *cache;
    if (!c || !make_key(c, in))
        return NULL;
    c->uses++;
    struct entry *oldest = &c->of[0];
    for (struct entry *e = c->of; e < c->of + PLANS; e++) {
        if (e->used && e->key.n == c->wanted.n && memcmp(e->key.bytes, c->wanted.bytes, e->key.n) == 0) {
            e->used = c->uses;
            for (size_t u = 0; u < e->plan.n_uses; u++)
                e->plan.uses[u].root = in->mems[e->plan.uses[u].arg]->root;
            return &e->plan;
        }
        oldest = e->used < oldest->used ? e : oldest;
    }
    if (oldest->used)
        gs_plan_free(&oldest->plan);
    oldest->used = 0;
    if (gs_plan_make(&oldest->plan, in) < 0)
        return NULL;
    const struct key old = oldest->key;
    oldest->key = c->wanted;
    c->wanted = old;
    oldest->used = c->uses;
    return &oldest->plan;
}

void gs_plan_cache_free(struct gs_plan_cache *c)
{
    if (!c)
        return;
    for (struct entry *e = c->of; e < c->of + PLANS; e++) {
        if (e->used)
            gs_plan_free(&e->plan);
        free(e->key.bytes);
    }
    free(c->wanted.bytes);
    forget_kernel(c);
    free(c);
}
