/* SPDX-License-Identifier: MIT */
#include "shim/memory/coalesce.h"

/* Drivers needn't take rows that reach into the next line of the buffer, counted from its begin. */
static bool lies_in_line(const struct gs_staged *t, size_t pitch)
{
    return pitch >= t->region[0] && t->origin[0] % pitch <= pitch - t->region[0];
}

/* Makes t, of one row, the last row of `rows`. False: it is none. */
static bool add_row(struct gs_staged *rows, const struct gs_staged *t, size_t least)
{
    const size_t begin = rows->origin[0] + rows->origin[1] * rows->row_pitch;
    if (t->region[0] != rows->region[0] || t->region[0] < least)
        return false;
    if (rows->region[1] == 1) {
        const size_t pitch = t->origin[0] - begin;
        if (!lies_in_line(rows, pitch))
            return false;
        rows->row_pitch = rows->host.row = pitch;
        rows->origin[0] = begin % pitch;
        rows->origin[1] = begin / pitch;
    } else if (t->origin[0] != begin + rows->region[1] * rows->row_pitch) {
        return false;
    }
    rows->region[1]++;
    return true;
}

void gs_extents_join(struct gs_extents *s, size_t least)
{
    unsigned last[GS_MAX_DEVICES], n = 0; /* by place: the transfer that its next row may belong to, counted from 1 */
    for (unsigned p = 0; p < GS_MAX_DEVICES; p++)
        last[p] = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const struct gs_staged t = s->v[i];
        if (last[t.place] && add_row(&s->v[last[t.place] - 1], &t, least))
            continue;
        s->v[n] = t;
        last[t.place] = ++n;
    }
    s->n = n;
}
