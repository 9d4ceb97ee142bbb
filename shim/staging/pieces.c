/* SPDX-License-Identifier: MIT */
/* See staging.h, section pieces.c. */
#include "shim/staging/staging.h"

#include "common/memory.h"

/* Do rows follow each other without gaps? */
static bool is_dense(const size_t pitch[2], const size_t region[3])
{
    return region[1] * region[2] == 1 ||
           (pitch[0] == region[0] && (region[2] == 1 || pitch[1] == pitch[0] * region[1]));
}

static size_t offset_of(const size_t origin[3], const size_t pitch[2])
{
    return origin[0] + origin[1] * pitch[0] + origin[2] * pitch[1];
}

bool gs_staged_rect(struct gs_op_run *t, const struct gs_op *rows)
{
    const size_t least_row = gs_settings()->transfer == GS_TRANSFER_PINNED ? 1 : 256;
    struct gs_op op = *rows;
    if (!op.ptr || op.no_from || op.no_to || op.no_region || !gs_op_find_pitches(&op))
        return false;
    op.blocking = CL_FALSE;
    const size_t from = offset_of(op.from, op.from_pitch), to = offset_of(op.to, op.to_pitch);
    const size_t bytes = op.region[0] * op.region[1] * op.region[2];
    if (is_dense(op.from_pitch, op.region) && is_dense(op.to_pitch, op.region))
        op = op.dst ? gs_op_write(op.dst, to, bytes, (char *)op.ptr + from)
                    : gs_op_read(op.src, from, bytes, (char *)op.ptr + to);
    *t = (struct gs_op_run){.op = op};
    return op.region[0] >= least_row;
}

uint64_t gs_staged_bytes(const struct gs_op_run *t)
{
    return (uint64_t)t->op.region[0] * t->op.region[1] * t->op.region[2] * gs_op_element(&t->op);
}

struct gs_rows gs_staged_host(const struct gs_op_run *t)
{
    const struct gs_op *op = &t->op;
    const size_t *pitch = op->dst ? op->from_pitch : op->to_pitch;
    struct gs_rows rows = {.at = op->ptr, .row = pitch[0] ? pitch[0] : op->region[0] * gs_op_element(op)};
    rows.slice = pitch[1] ? pitch[1] : rows.row * op->region[1];
    if (op->kind == GS_OP_READ_RECT || op->kind == GS_OP_WRITE_RECT)
        rows.at += offset_of(op->dst ? op->from : op->to, pitch);
    return rows;
}

cl_int gs_extents_add(struct gs_extents *s, const struct gs_op_run *t)
{
    struct gs_op_run *v = gs_grown(s->v, s->n, &s->cap, sizeof *v);
    if (!v)
        return CL_OUT_OF_HOST_MEMORY;
    s->v = v;
    s->v[s->n++] = *t;
    return CL_SUCCESS;
}

void gs_extents_free(struct gs_extents *s)
{
    free(s->v);
    *s = (struct gs_extents){0};
}

/* ---- pieces ---- */

void gs_pieces_begin(struct gs_pieces *turns, struct gs_op_run *v, unsigned n, size_t most)
{
    enum {
        LEAST = 1024 * 1024,
        MANY = 32 /* the link is idle before the first, and nothing is copied during the last */
    };
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all += gs_staged_bytes(&v[i]);
    const size_t share = (size_t)(all / MANY), bytes = gs_least(share > LEAST ? share : LEAST, most);
    *turns = (struct gs_pieces){.v = v, .n = n};
    for (unsigned i = 0; i < n; i++) {
        struct gs_op_run *t = &v[i];
        const size_t *region = t->op.region, element = gs_op_element(&t->op);
        const struct gs_box whole = {{0, 0, 0}, {region[0], region[1], region[2]}};
        gs_cut_make(&t->cut, &whole, bytes > element ? bytes / element : 1, false); /* chunks may be smaller */
        turns->pieces += t->cut.n;
        t->gone = 0;
        const struct gs_op_run first = {.op = gs_op_piece(&t->op, &t->cut, 0)};
        const size_t piece = (size_t)gs_staged_bytes(&first);
        turns->most_bytes = piece > turns->most_bytes ? piece : turns->most_bytes;
    }
}

struct gs_op_run gs_pieces_take(struct gs_pieces *turns)
{
    do
        turns->at = (turns->at + 1) % turns->n;
    while (turns->v[turns->at].gone == turns->v[turns->at].cut.n);
    struct gs_op_run *t = &turns->v[turns->at];
    return (struct gs_op_run){.op = gs_op_piece(&t->op, &t->cut, t->gone++), .place = t->place, .fresh = t->fresh};
}
