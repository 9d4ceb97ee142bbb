/* SPDX-License-Identifier: MIT */
#include "shim/put/op.h"

/* ---- what may be cut ---- */

struct shape {
    cl_mem_object_type type;
    size_t texel, size[3];
};

static bool shape_of(cl_mem image, struct shape *s)
{
    static const cl_image_info what[] = {CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH,
                                         CL_IMAGE_ARRAY_SIZE};
    size_t v[5] = {0};
    if (gs_real()->clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof s->type, &s->type, NULL) != CL_SUCCESS)
        return false;
    for (int i = 0; i < 5; i++)
        if (gs_real()->clGetImageInfo(image, what[i], sizeof v[i], &v[i], NULL) != CL_SUCCESS)
            return false;
    s->texel = v[0];
    s->size[0] = v[1];
    s->size[1] = s->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? v[4] : v[2] ? v[2] : 1;
    s->size[2] = s->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? v[4] : v[3] ? v[3] : 1;
    return s->texel != 0;
}

static bool lies_inside(const size_t origin[3], const size_t region[3], const size_t size[3])
{
    for (int d = 0; d < 3; d++)
        if (origin[d] > size[d] || region[d] > size[d] - origin[d])
            return false;
    return true;
}

static uint64_t volume(const size_t region[3])
{
    return (uint64_t)region[0] * region[1] * region[2];
}

/* Would the driver take these pitches for rows of so many bytes? */
static bool right_pitches(const size_t pitch[2], size_t row, size_t rows)
{
    const size_t used = pitch[0] ? pitch[0] : row;
    return used >= row && (!pitch[1] || (pitch[1] / rows >= used && pitch[1] % used == 0));
}

/* Of an image command: is the image what it reads? */
static bool is_of_source(const struct gs_op *op)
{
    return op->kind == GS_OP_READ_IMAGE || op->kind == GS_OP_COPY_IMAGE || op->kind == GS_OP_IMAGE_TO_BUFFER;
}

static bool image_may_be_cut(const struct gs_op *op, const struct shape *s)
{
    const bool reads = op->kind == GS_OP_READ_IMAGE, by_host = gs_op_is_by_host(op), of_src = is_of_source(op);
    const size_t *pitch = reads ? op->to_pitch : op->from_pitch;
    struct shape other;
    if (!lies_inside(of_src ? op->from : op->to, op->region, s->size) || (by_host && !op->ptr))
        return false;
    if (op->kind == GS_OP_COPY_IMAGE)
        return op->src != op->dst && shape_of(op->dst, &other) && other.texel == s->texel &&
               lies_inside(op->to, op->region, other.size);
    if (!by_host || (!pitch[0] && !pitch[1]))
        return true;
    /* Drivers don't agree on which of the two pitches lies between the layers of a 1D image array. */
    return s->type != CL_MEM_OBJECT_IMAGE1D_ARRAY && right_pitches(pitch, op->region[0] * s->texel, op->region[1]);
}

static bool buffer_holds(cl_mem buffer, uint64_t offset, uint64_t bytes)
{
    size_t size = 0;
    return gs_real()->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) == CL_SUCCESS &&
           offset <= size && bytes <= size - offset;
}

/* The bytes of one element of its region; 0: it isn't to be cut. */
static size_t element_of(const struct gs_op *op)
{
    struct shape s;
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
        if (!shape_of(is_of_source(op) ? op->src : op->dst, &s) || !image_may_be_cut(op, &s) ||
            (op->kind == GS_OP_IMAGE_TO_BUFFER && !buffer_holds(op->dst, op->to[0], volume(op->region) * s.texel)) ||
            (op->kind == GS_OP_BUFFER_TO_IMAGE && !buffer_holds(op->src, op->from[0], volume(op->region) * s.texel)))
            return 0;
        return s.texel;
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

/* What a zero stands for. */
static void fill_pitches(size_t pitch[2], const size_t region[3])
{
    pitch[0] = pitch[0] ? pitch[0] : region[0];
    pitch[1] = pitch[1] ? pitch[1] : pitch[0] * region[1];
}

static size_t texel_of(cl_mem image)
{
    size_t texel = 0;
    gs_real()->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof texel, &texel, NULL);
    return texel;
}

/* Between an image and memory, the host's or a buffer's: where in that memory the piece begins, in bytes. */
static size_t place_in_memory(const struct gs_op *op, const struct gs_box *piece, cl_mem image, const size_t pitch[2])
{
    const size_t texel = texel_of(image), row = pitch[0] ? pitch[0] : op->region[0] * texel,
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

struct gs_op gs_op_part(const struct gs_op *whole, const struct gs_box *box)
{
    static const size_t dense[2];
    struct gs_op op = *whole;
    const struct gs_box piece = *box;
    for (int d = 0; d < 3; d++)
        op.region[d] = (size_t)(piece.end[d] - piece.begin[d]);
    switch (op.kind) {
    case GS_OP_READ:
    case GS_OP_WRITE:
        op.ptr = (char *)op.ptr + piece.begin[0];
        break;
    case GS_OP_READ_RECT:
    case GS_OP_WRITE_RECT:
    case GS_OP_COPY_RECT:
        fill_pitches(op.from_pitch, whole->region);
        fill_pitches(op.to_pitch, whole->region);
        break;
    case GS_OP_READ_IMAGE:
        op.ptr = (char *)op.ptr + place_in_memory(whole, &piece, op.src, op.to_pitch);
        break;
    case GS_OP_WRITE_IMAGE:
        op.ptr = (char *)op.ptr + place_in_memory(whole, &piece, op.dst, op.from_pitch);
        break;
    case GS_OP_IMAGE_TO_BUFFER:
        op.to[0] += place_in_memory(whole, &piece, op.src, dense);
        move_by(op.from, &piece);
        return op;
    case GS_OP_BUFFER_TO_IMAGE:
        op.from[0] += place_in_memory(whole, &piece, op.dst, dense);
        move_by(op.to, &piece);
        return op;
    default:
        break;
    }
    move_by(op.from, &piece);
    move_by(op.to, &piece);
    return op;
}
