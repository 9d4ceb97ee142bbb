/* SPDX-License-Identifier: MIT */
#include "shim/report/report.h"

/* So many gaps are remembered. Spans come roughly in the order of their ends, so later ones seldom lie before the older
 * half of the gaps; parts that do aren't counted. */
enum { MOST_GAPS = 4096 };

void gs_busy_add(struct gs_busy *b, uint64_t begin_ns, uint64_t end_ns)
{
    const uint64_t begin = begin_ns > b->settled_until ? begin_ns : b->settled_until;
    struct gs_rangeset *r = &b->recent;
    gs_rangeset_add(r, (struct gs_range){begin, end_ns});
    if (r->n < MOST_GAPS)
        return;
    b->settled_until = r->v[r->n / 2].begin;
    for (size_t i = 0; i < r->n / 2; i++)
        b->settled_ns += r->v[i].end - r->v[i].begin;
    gs_rangeset_remove(r, (struct gs_range){0, b->settled_until});
}

uint64_t gs_busy_ns(const struct gs_busy *b)
{
    return b->settled_ns + gs_rangeset_bytes(&b->recent);
}
