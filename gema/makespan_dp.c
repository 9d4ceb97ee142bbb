/* SPDX-License-Identifier: MIT */
/* The dynamic program: longest path over the counts of warps, in the order of the number of executed instructions. */
#include "gema/makespan_layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dp {
    const struct gs_mk_model *m;
    const struct gs_makespan_options *o;
    struct gs_mk_layer *layer; /* layer[p]: states after p executed instructions */
    size_t n_layers;
    size_t memory_bytes, used_bytes;
    uint32_t at_least;
    /* the state that is being expanded */
    size_t p;
    uint32_t parent, cycles;
};

/* One cycle leads from the current state to `next`: keep it if it is reached later than before. */
static int reach(void *context, const struct gs_mk_state *next, unsigned executed)
{
    struct dp *d = context;
    if (gs_mk_stopped(d->o))
        return -EINTR;
    uint32_t bound = gs_mk_bound(d->m, next);
    if (!d->o->exhaustive && (uint64_t)d->cycles + 1 + bound <= d->at_least)
        return 0;
    uint64_t key[GS_MK_MAX_WORDS];
    gs_mk_pack(d->m, next, key);
    struct gs_mk_layer *l = &d->layer[d->p + executed];
    size_t before = gs_mk_layer_bytes(l, d->m);
    bool is_new;
    int64_t i = gs_mk_layer_put(l, d->m, key, &is_new);
    if (i < 0)
        return (int)i;
    d->used_bytes += gs_mk_layer_bytes(l, d->m) - before;
    if (is_new || l->entry[i].cycles < d->cycles + 1)
        l->entry[i] = (struct gs_mk_entry){d->cycles + 1, bound, d->parent, executed};
    return d->used_bytes > d->memory_bytes ? -ENOSPC : 0;
}

static int expand_layer(struct dp *d)
{
    struct gs_mk_layer *l = &d->layer[d->p];
    struct gs_mk_state s;
    d->used_bytes -= gs_mk_layer_bytes(l, d->m);
    gs_mk_layer_close(l);
    d->used_bytes += gs_mk_layer_bytes(l, d->m);
    for (uint32_t i = 0; i < l->n; i++) {
        gs_mk_unpack(d->m, l->keys + (size_t)i * d->m->words, &s);
        d->parent = i;
        d->cycles = l->entry[i].cycles;
        int rc = gs_mk_successors(d->m, &s, reach, d);
        if (rc)
            return rc;
    }
    return 0;
}

/* The keys of the path that ends in the final state. */
static int trace(const struct dp *d, struct gs_mk_path *path)
{
    size_t p = d->n_layers - 1, words = d->m->words;
    uint32_t i = 0, cycles = d->layer[p].entry[0].cycles;
    path->keys = malloc((cycles + 1) * words * sizeof(*path->keys));
    if (!path->keys)
        return -ENOMEM;
    path->n_keys = cycles + 1;
    for (size_t c = path->n_keys; c-- > 0;) {
        const struct gs_mk_entry e = d->layer[p].entry[i];
        memcpy(path->keys + c * words, d->layer[p].keys + i * words, words * sizeof(*path->keys));
        p -= e.back;
        i = e.parent;
    }
    return 0;
}

/* Where memory ran out, or it was stopped: nothing longer than the best hope of a state that was not expanded. */
static uint32_t open_bound(const struct dp *d)
{
    uint32_t best = d->at_least;
    for (size_t p = d->p; p < d->n_layers; p++)
        for (uint32_t i = 0; i < d->layer[p].n; i++) {
            const struct gs_mk_entry *e = &d->layer[p].entry[i];
            if (e->cycles + e->bound > best)
                best = e->cycles + e->bound;
        }
    return best;
}

static int search(struct dp *d, struct gs_mk_dp_result *out)
{
    struct gs_mk_state start = {{d->m->warps}};
    uint64_t key[GS_MK_MAX_WORDS];
    bool is_new;
    gs_mk_pack(d->m, &start, key);
    int64_t first = gs_mk_layer_put(&d->layer[0], d->m, key, &is_new);
    if (first < 0)
        return (int)first;
    d->layer[0].entry[0].bound = gs_mk_bound(d->m, &start);
    d->used_bytes = gs_mk_layer_bytes(&d->layer[0], d->m);
    int rc = 0;
    for (d->p = 0; d->p + 1 < d->n_layers && rc == 0; d->p++) {
        if (d->o->progress)
            d->o->progress(d->o->context, true, d->p, d->n_layers - 1);
        rc = expand_layer(d);
        out->states += d->layer[d->p].n;
        if (rc == -ENOSPC || rc == -E2BIG || rc == -EINTR) {
            out->upper = open_bound(d);
            return 0;
        }
    }
    const struct gs_mk_layer *last = &d->layer[d->n_layers - 1];
    if (rc == 0 && last->n) {
        out->best = last->entry[0].cycles;
        rc = trace(d, &out->path);
    }
    out->upper = out->best;
    return rc;
}

int gs_mk_dynamic_program(const struct gs_mk_model *m, const struct gs_makespan_options *o, uint32_t at_least,
                          size_t memory_bytes, struct gs_mk_dp_result *out)
{
    struct dp d = {.m = m, .o = o, .memory_bytes = memory_bytes, .at_least = at_least};
    *out = (struct gs_mk_dp_result){.best = at_least, .upper = at_least};
    d.n_layers = (size_t)m->n * m->warps + 1;
    d.layer = calloc(d.n_layers, sizeof(*d.layer));
    if (!d.layer)
        return -ENOMEM;
    int rc = search(&d, out);
    for (size_t p = 0; p < d.n_layers; p++)
        gs_mk_layer_free(&d.layer[p]);
    free(d.layer);
    return rc;
}
