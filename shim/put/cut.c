/* SPDX-License-Identifier: MIT */
#include "shim/put/cut.h"

/* ---- boxes ---- */

enum { GRAIN_FIRST = 64, GRAIN_OTHER = 16 };

static uint64_t length(const struct gs_box *b, unsigned d)
{
    return b->end[d] - b->begin[d];
}

void gs_cut_make(struct gs_cut *cut, const struct gs_box *box, uint64_t most, bool items)
{
    uint64_t inner = 1, n = 1;
    unsigned d = 0;
    *cut = (struct gs_cut){.whole = *box, .dim = 2, .step = length(box, 2), .count = {1, 1, 1}, .n = 1};
    while (d < 3 && length(box, d) <= most / inner)
        inner *= length(box, d++);
    if (d == 3 || !most)
        return;
    const uint64_t grain = !items ? 1 : d == 0 ? GRAIN_FIRST : GRAIN_OTHER;
    uint64_t step = most / inner;
    if (step > grain)
        step -= step % grain;
    for (unsigned k = d; k < 3; k++) {
        cut->count[k] = k == d ? (length(box, k) - 1) / step + 1 : length(box, k);
        if (cut->count[k] > UINT32_MAX / n)
            return;
        n *= cut->count[k];
    }
    cut->dim = d;
    cut->step = step;
    cut->n = (unsigned)n;
}

void gs_cut_box(const struct gs_cut *cut, unsigned i, struct gs_box *box)
{
    *box = cut->whole;
    if (cut->n == 1)
        return;
    uint64_t rest = i;
    for (unsigned d = cut->dim; d < 3; d++) {
        const uint64_t at = rest % cut->count[d], step = d == cut->dim ? cut->step : 1;
        rest /= cut->count[d];
        box->begin[d] = cut->whole.begin[d] + at * step;
        if (box->begin[d] + step < box->end[d])
            box->end[d] = box->begin[d] + step;
    }
}

/* ---- what may be cut ---- */

struct gs_geometry gs_op_geometry(const struct gs_op *op)
{
    struct gs_geometry g = {op->dims, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, !op->local};
    for (unsigned d = 0; d < op->dims; d++) {
        g.offset[d] = op->offset ? op->offset[d] : 0;
        g.global[d] = op->global[d];
        g.local[d] = op->local && op->local[d] ? op->local[d] : 1;
    }
    return g;
}

/* Would the driver take these pitches for `rows` rows of `row` bytes? */
static bool right_pitches(const size_t pitch[2], size_t row, size_t rows)
{
    const size_t used = pitch[0] ? pitch[0] : row;
    return used >= row && (!pitch[1] || (pitch[1] / rows >= used && pitch[1] % used == 0));
}

/* The bytes of one element of the region; 0: the operation must not be cut. */
static size_t element_of(const struct gs_op *op)
{
    if (!op->region[0] || !op->region[1] || !op->region[2])
        return 0;
    switch (op->kind) {
    case GS_OP_READ:
    case GS_OP_WRITE:
        return op->ptr ? 1 : 0;
    case GS_OP_COPY:
        return op->src != op->dst || op->from[0] + op->region[0] <= op->to[0] ||
               op->to[0] + op->region[0] <= op->from[0];
    case GS_OP_FILL:
        return op->pattern_bytes && op->to[0] % op->pattern_bytes == 0 && op->region[0] % op->pattern_bytes == 0;
    case GS_OP_READ_RECT:
    case GS_OP_WRITE_RECT:
    case GS_OP_COPY_RECT:
        return (op->kind == GS_OP_COPY_RECT ? op->src != op->dst : op->ptr != NULL) &&
               right_pitches(op->from_pitch, op->region[0], op->region[1]) &&
               right_pitches(op->to_pitch, op->region[0], op->region[1]);
    default:
        if (!op->texel) /* unknown: the driver looks for the fault */
            return 0;
        if (gs_op_crosses_host(op))
            return op->ptr && right_pitches(op->src ? op->to_pitch : op->from_pitch, op->region[0] * op->texel,
                                            op->region[1])
                       ? op->texel
                       : 0;
        return op->src != op->dst ? op->texel : 0;
    }
}

void gs_op_cut(const struct gs_op *op, uint64_t chunk, struct gs_cut *cut)
{
    const struct gs_box whole = {{0, 0, 0}, {op->region[0], op->region[1], op->region[2]}};
    const size_t element = chunk && !op->whole ? element_of(op) : 0;
    if (!element) {
        *cut = (struct gs_cut){.whole = whole, .n = 1};
        return;
    }
    /* Whole elements, and of a fill whole patterns. */
    const uint64_t grain = op->kind == GS_OP_FILL ? op->pattern_bytes : 1, most = chunk / element / grain * grain;
    gs_cut_make(cut, &whole, most ? most : grain, false);
}

/* ---- one piece ---- */

/* Puts in the pitches that zeros stand for. */
static void fill_pitches(size_t pitch[2], const size_t region[3])
{
    pitch[0] = pitch[0] ? pitch[0] : region[0];
    pitch[1] = pitch[1] ? pitch[1] : pitch[0] * region[1];
}

/* For a copy between an image and memory (the host's or a buffer's): the piece's offset in that memory, in bytes. */
static size_t place_in_memory(const struct gs_op *op, const struct gs_box *piece, const size_t pitch[2])
{
    const size_t texel = op->texel, row = pitch[0] ? pitch[0] : op->region[0] * texel,
                 slice = pitch[1] ? pitch[1] : row * op->region[1];
    return (size_t)piece->begin[2] * slice + (size_t)piece->begin[1] * row + (size_t)piece->begin[0] * texel;
}

static void move_by(size_t at[3], const struct gs_box *piece)
{
    for (int d = 0; d < 3; d++)
        at[d] += (size_t)piece->begin[d];
}

bool gs_op_find_pitches(struct gs_op *op)
{
    if (!op->region[0] || !op->region[1] || !op->region[2] ||
        !right_pitches(op->from_pitch, op->region[0], op->region[1]) ||
        !right_pitches(op->to_pitch, op->region[0], op->region[1]))
        return false;
    fill_pitches(op->from_pitch, op->region);
    fill_pitches(op->to_pitch, op->region);
    return true;
}

struct gs_op gs_op_piece(const struct gs_op *whole, const struct gs_cut *cut, unsigned i)
{
    struct gs_box piece;
    gs_cut_box(cut, i, &piece);
    return cut->n == 1 ? *whole : gs_op_part(whole, &piece);
}

struct gs_op gs_op_part(const struct gs_op *whole, const struct gs_box *piece)
{
    static const size_t dense[2];
    struct gs_op op = *whole;
    for (int d = 0; d < 3; d++)
        op.region[d] = (size_t)(piece->end[d] - piece->begin[d]);
    switch (op.kind) {
    case GS_OP_READ:
    case GS_OP_WRITE:
        op.ptr = (char *)op.ptr + piece->begin[0];
        break;
    case GS_OP_READ_RECT:
    case GS_OP_WRITE_RECT:
    case GS_OP_COPY_RECT:
        fill_pitches(op.from_pitch, whole->region);
        fill_pitches(op.to_pitch, whole->region);
        break;
    case GS_OP_READ_IMAGE:
    case GS_OP_WRITE_IMAGE:
        op.ptr = (char *)op.ptr + place_in_memory(whole, piece, op.src ? op.to_pitch : op.from_pitch);
        break;
    case GS_OP_IMAGE_TO_BUFFER:
        op.to[0] += place_in_memory(whole, piece, dense);
        move_by(op.from, piece);
        return op;
    case GS_OP_BUFFER_TO_IMAGE:
        op.from[0] += place_in_memory(whole, piece, dense);
        move_by(op.to, piece);
        return op;
    default:
        break;
    }
    move_by(op.from, piece);
    move_by(op.to, piece);
    return op;
}

/* A copy between two objects becomes one between an object and the host's memory. */
static enum gs_op_kind kind_by_host(enum gs_op_kind kind, bool writes)
{
    switch (kind) {
    case GS_OP_COPY:
        return writes ? GS_OP_WRITE : GS_OP_READ;
    case GS_OP_COPY_RECT:
        return writes ? GS_OP_WRITE_RECT : GS_OP_READ_RECT;
    case GS_OP_COPY_IMAGE:
        return writes ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE;
    default:
        return kind;
    }
}

void gs_op_by_slot(struct gs_op *op, bool arrives, const struct gs_slot *slot)
{
    size_t *origin = arrives ? op->from : op->to, *pitch = arrives ? op->from_pitch : op->to_pitch;
    *(arrives ? &op->src : &op->dst) = slot->mem;
    op->ptr = slot->ptr;
    origin[0] = slot->at;
    origin[1] = origin[2] = 0;
    pitch[0] = slot->mem ? op->region[0] : 0;
    pitch[1] = 0;
    if (slot->ptr)
        op->kind = kind_by_host(op->kind, arrives);
}
