/* SPDX-License-Identifier: MIT */
/* Which bytes of a root the launches behind a split launch will fetch from other places: what they fetched before, as
 * halos. An iteration lasts from one split launch that writes the root to the next. Pure; under the context's lock. */
#ifndef GS_SHIM_COHERENCE_PREFETCH_H
#define GS_SHIM_COHERENCE_PREFETCH_H

#include "shim/memory/bytes.h"

/* For so many places; an iteration of more than most_bytes isn't expected. Freed with its root. Null: no memory. */
struct gs_prefetch *gs_prefetch_new(unsigned places, uint64_t most_bytes);

/* A launch in parts needs bytes in a place, of which `missing` are fetched now. */
void gs_prefetch_note(struct gs_prefetch *p, unsigned place, const struct gs_rangeset *need,
                      const struct gs_rangeset *missing);

/* A split launch writes the root: an iteration ends, the next begins. Returns the bytes that each place will fetch in
 * that, which are to be brought there now and stay until the next call; null: nobody knows, or nothing. Iterations have
 * to recur first: each as the one before, or two or three in turn; twice as often after each time in vain. */
const struct gs_rangeset *gs_prefetch_next(struct gs_prefetch *p);

/* What the last gs_prefetch_next returned. */
static inline const struct gs_rangeset *gs_prefetched(const struct gs_prefetch *p)
{
    return p->brought ? p->iteration[p->expected] : NULL;
}

#endif
