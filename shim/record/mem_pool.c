/* SPDX-License-Identifier: MIT */
#include "shim/record/mem_pool.h"

#include <stdlib.h>
#include <string.h>

/* One line of them; and sets that are worth keeping. */
enum { SPARE = GS_LINE / sizeof(void *), FEW_RANGES = 16 };
static _Alignas(GS_LINE) struct gs_mem *_Atomic spare[SPARE];

static size_t bytes_of(unsigned places)
{
    return sizeof(struct gs_mem) + places * sizeof(struct gs_replica);
}

static void free_mem(struct gs_mem *m)
{
    free(m->place[0].valid.v);
    free(m->undefined.v);
    free(m);
}

/* The set is empty from now on. */
static struct gs_rangeset emptied(const struct gs_rangeset *s)
{
    return (struct gs_rangeset){.v = s->v, .cap = s->cap};
}

__attribute__((hot)) struct gs_mem *gs_mem_new(unsigned places)
{
    struct gs_rangeset valid = {0}, undefined = {0};
    struct gs_mem *m = NULL;
    for (unsigned i = 0; i < SPARE && !m; i++)
        if (atomic_load_explicit(&spare[i], memory_order_relaxed))
            m = atomic_exchange(&spare[i], NULL);
    if (m && m->places < places) {
        free_mem(m);
        m = NULL;
    }
    if (m) {
        valid = emptied(&m->place[0].valid);
        undefined = emptied(&m->undefined);
    } else if (!(m = malloc(bytes_of(places)))) {
        return NULL;
    }
    memset(m, 0, bytes_of(places));
    m->places = places;
    m->place = (struct gs_replica *)(m + 1);
    m->place[0].valid = valid;
    m->undefined = undefined;
    return m;
}

__attribute__((hot)) void gs_mem_free(struct gs_mem *m)
{
    struct gs_mem *none = NULL;
    for (unsigned i = 0; i < SPARE && m->undefined.cap <= FEW_RANGES && m->place[0].valid.cap <= FEW_RANGES;
         i++, none = NULL)
        if (!atomic_load_explicit(&spare[i], memory_order_relaxed) &&
            atomic_compare_exchange_strong(&spare[i], &none, m))
            return;
    free_mem(m);
}
