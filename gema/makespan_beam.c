/* SPDX-License-Identifier: MIT */
/* A beam search for long makespans: what it finds is a legal schedule and so a lower bound of the worst case. */
#include "gema/makespan_layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct beam {
    const struct gs_mk_model *m;
    const struct gs_makespan_options *o;
    struct gs_mk_layer next; /* all successors of this cycle's states */
    uint32_t parent;
    struct gs_mk_layer *kept; /* kept[c]: the best of cycle c; entry.parent is an index of kept[c - 1] */
    size_t n_kept, room;
};

static int reach(void *context, const struct gs_mk_state *next, unsigned executed)
{
    (void)executed;
    struct beam *b = context;
    if (gs_mk_stopped(b->o))
        return -EINTR;
    uint64_t key[GS_MK_MAX_WORDS];
    bool is_new;
    gs_mk_pack(b->m, next, key);
    int64_t i = gs_mk_layer_put(&b->next, b->m, key, &is_new);
    if (i < 0)
        return (int)i;
    if (is_new)
        b->next.entry[i] = (struct gs_mk_entry){.bound = gs_mk_bound(b->m, next), .parent = b->parent};
    return 0;
}

struct ranked {
    uint32_t bound, index;
};

static int by_bound(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct gs_mk_layer *new_kept(struct beam *b)
{
    if (b->n_kept == b->room) {
        size_t room = 2 * b->room + 64;
        struct gs_mk_layer *kept = realloc(b->kept, room * sizeof(*kept));
        if (!kept)
            return NULL;
        b->kept = kept;
        b->room = room;
    }
    b->kept[b->n_kept] = (struct gs_mk_layer){0};
    return &b->kept[b->n_kept++];
}

/* Copies the `width` states of the greatest bounds. */
static int keep_best(struct beam *b, unsigned width)
{
    struct gs_mk_layer *to = new_kept(b);
    uint32_t n = b->next.n < width ? b->next.n : width;
    size_t words = b->m->words;
    struct ranked *order = malloc(b->next.n * sizeof(*order));
    if (!to || !order) {
        free(order);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < b->next.n; i++)
        order[i] = (struct ranked){b->next.entry[i].bound, i};
    if (n < b->next.n)
        qsort(order, b->next.n, sizeof(*order), by_bound);
    to->keys = malloc(n * words * sizeof(*to->keys));
    to->entry = malloc(n * sizeof(*to->entry));
    int rc = to->keys && to->entry ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        memcpy(to->keys + i * words, b->next.keys + order[i].index * words, words * sizeof(*to->keys));
        to->entry[i] = b->next.entry[order[i].index];
    }
    to->n = to->room = n;
    free(order);
    return rc;
}

/* All successors of the last kept cycle. */
static int expand(struct beam *b)
{
    struct gs_mk_state s;
    const struct gs_mk_layer *from = &b->kept[b->n_kept - 1];
    gs_mk_layer_free(&b->next);
    int rc = 0;
    for (uint32_t i = 0; i < from->n && rc == 0; i++) {
        gs_mk_unpack(b->m, from->keys + (size_t)i * b->m->words, &s);
        b->parent = i;
        if (from->entry[i].bound) /* the final state leads nowhere */
            rc = gs_mk_successors(b->m, &s, reach, b);
    }
    return rc;
}

static int start(struct beam *b)
{
    struct gs_mk_state s = {{b->m->warps}};
    b->parent = 0;
    int rc = reach(b, &s, 0);
    return rc ? rc : keep_best(b, 1);
}

/* From the final state, which stands alone in the last cycle, back to the start. */
static int trace(const struct beam *b, struct gs_mk_path *path)
{
    size_t words = b->m->words;
    uint32_t i = 0;
    path->keys = malloc(b->n_kept * words * sizeof(*path->keys));
    if (!path->keys)
        return -ENOMEM;
    path->n_keys = b->n_kept;
    for (size_t c = b->n_kept; c-- > 0;) {
        memcpy(path->keys + c * words, b->kept[c].keys + i * words, words * sizeof(*path->keys));
        i = b->kept[c].entry[i].parent;
    }
    return 0;
}

int gs_mk_beam(const struct gs_mk_model *m, const struct gs_makespan_options *o, unsigned width,
               struct gs_mk_path *path)
{
    struct beam b = {.m = m, .o = o};
    const struct gs_mk_state first = {{m->warps}};
    const uint32_t upper = gs_mk_bound(m, &first);
    int rc = start(&b);
    while (rc == 0) {
        if (o->progress)
            o->progress(o->context, false, b.n_kept - 1, upper);
        rc = expand(&b);
        if (rc || b.next.n == 0)
            break;
        rc = keep_best(&b, width);
    }
    if (rc == 0)
        rc = trace(&b, path);
    for (size_t c = 0; c < b.n_kept; c++)
        gs_mk_layer_free(&b.kept[c]);
    gs_mk_layer_free(&b.next);
    free(b.kept);
    return rc;
}
