/* SPDX-License-Identifier: MIT */
#include "shim/coherence/prefetch.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = GS_PREFETCH_ITERATIONS, MOST_RANGES = 64, MOST_VAIN = 16 };

struct gs_prefetch *gs_prefetch_new(unsigned places, uint64_t most_bytes)
{
    struct gs_prefetch *p = calloc(1, sizeof *p + (size_t)KEPT * places * sizeof *p->sets);
    if (!p)
        return NULL;
    p->places = places;
    p->most_bytes = most_bytes;
    for (unsigned i = 0; i < KEPT; i++)
        p->iteration[i] = p->sets + (size_t)i * places;
    return p;
}

void gs_prefetch_note(struct gs_prefetch *p, unsigned place, const struct gs_rangeset *need,
                      const struct gs_rangeset *missing)
{
    struct gs_rangeset *fetched = &p->iteration[0][place];
    if (missing->n > MOST_RANGES || gs_rangeset_add_set(fetched, missing) < 0 ||
        (p->brought && gs_rangeset_common_set(&p->iteration[p->expected][place], need, fetched) < 0) ||
        gs_rangeset_bytes(fetched) > p->most_bytes || fetched->n > MOST_RANGES)
        p->unlike = true;
}

static bool is_like_newest(const struct gs_prefetch *p, unsigned iteration)
{
    bool equal = true;
    for (unsigned i = 0; i < p->places && equal; i++) {
        const struct gs_rangeset *s = &p->iteration[0][i], *t = &p->iteration[iteration][i];
        equal = s->n == t->n && (!s->n || memcmp(s->v, t->v, s->n * sizeof *s->v) == 0);
    }
    return equal;
}

static bool is_empty(const struct gs_prefetch *p, unsigned iteration)
{
    unsigned i = 0;
    while (i < p->places && !p->iteration[iteration][i].n)
        i++;
    return i == p->places;
}

static void clear_newest(const struct gs_prefetch *p)
{
    for (unsigned i = 0; i < p->places; i++)
        gs_rangeset_clear(&p->iteration[0][i]);
}

const struct gs_rangeset *gs_prefetch_next(struct gs_prefetch *p)
{
    const bool as_expected = p->expected && !p->unlike && is_like_newest(p, p->expected);
    p->right = as_expected ? p->right + 1 : 0;
    if (p->brought && !as_expected && p->vain < MOST_VAIN)
        p->vain++;
    if (p->unlike)
        clear_newest(p);
    /* What came behind the newest iteration like this one comes again. */
    p->expected = 0;
    for (unsigned i = 1; i < KEPT && !p->expected && !p->unlike; i++)
        p->expected = is_like_newest(p, i) ? i : 0;
    struct gs_rangeset *oldest = p->iteration[KEPT - 1];
    memmove(p->iteration + 1, p->iteration, (KEPT - 1) * sizeof *p->iteration);
    p->iteration[0] = oldest;
    clear_newest(p);
    p->unlike = false;
    p->brought = p->expected && p->right >> p->vain && !is_empty(p, p->expected);
    return gs_prefetched(p);
}
