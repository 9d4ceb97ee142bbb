/* SPDX-License-Identifier: MIT */
/* A growing set of packed states. */
#include "gema/makespan_layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static int rehash(struct gs_mk_layer *l, const struct gs_mk_model *m)
{
    uint32_t n_slots = l->n_slots ? 2 * l->n_slots : 2 * FIRST_ROOM;
    uint32_t *slot = calloc(n_slots, sizeof(*slot));
    if (!slot)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t h = (uint32_t)gs_mk_hash(m, l->keys + (size_t)i * m->words) & (n_slots - 1);
        while (slot[h])
            h = (h + 1) & (n_slots - 1);
        slot[h] = i + 1;
    }
    free(l->slot);
    l->slot = slot;
    l->n_slots = n_slots;
    return 0;
}

static int grow(struct gs_mk_layer *l, const struct gs_mk_model *m)
{
    uint32_t room = l->room ? 2 * l->room : FIRST_ROOM;
    uint64_t *keys = realloc(l->keys, (size_t)room * m->words * sizeof(*keys));
    if (!keys)
        return -ENOMEM;
    l->keys = keys;
    struct gs_mk_entry *entry = realloc(l->entry, room * sizeof(*entry));
    if (!entry)
        return -ENOMEM;
    l->entry = entry;
    l->room = room;
    return 0;
}

int64_t gs_mk_layer_put(struct gs_mk_layer *l, const struct gs_mk_model *m, const uint64_t *key, bool *is_new)
{
    if (l->n >= UINT32_MAX / 4)
        return -E2BIG;
    if (2 * (uint64_t)(l->n + 1) > l->n_slots && rehash(l, m))
        return -ENOMEM;
    if (l->n == l->room && grow(l, m))
        return -ENOMEM;
    size_t key_bytes = m->words * sizeof(*key);
    uint32_t h = (uint32_t)gs_mk_hash(m, key) & (l->n_slots - 1);
    for (; l->slot[h]; h = (h + 1) & (l->n_slots - 1)) {
        uint32_t i = l->slot[h] - 1;
        if (memcmp(l->keys + (size_t)i * m->words, key, key_bytes) == 0) {
            *is_new = false;
            return i;
        }
    }
    memcpy(l->keys + (size_t)l->n * m->words, key, key_bytes);
    l->entry[l->n] = (struct gs_mk_entry){0};
    l->slot[h] = ++l->n;
    *is_new = true;
    return l->n - 1;
}

void gs_mk_layer_close(struct gs_mk_layer *l)
{
    free(l->slot);
    l->slot = NULL;
    l->n_slots = 0;
}

void gs_mk_layer_free(struct gs_mk_layer *l)
{
    free(l->keys);
    free(l->entry);
    free(l->slot);
    memset(l, 0, sizeof(*l));
}

size_t gs_mk_layer_bytes(const struct gs_mk_layer *l, const struct gs_mk_model *m)
{
    return l->room * (m->words * sizeof(*l->keys) + sizeof(*l->entry)) + l->n_slots * sizeof(*l->slot);
}
