/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "shim/pooled/commands.h"
#include "shim/pooled/store.h"
#include "shim/put/op.h"

/* Rows of a rectangle: where each begins, in bytes. */
struct rows {
    size_t begin, row, slice;
};

/* Of a command whose pitches are there: gs_op_find_pitches, or those of images. */
static struct rows rows_of(const size_t at[3], const size_t pitch[2])
{
    return (struct rows){at[0] + at[1] * pitch[0] + at[2] * pitch[1], pitch[0], pitch[1]};
}

static size_t row_at(const struct rows *r, size_t y, size_t z)
{
    return r->begin + y * r->row + z * r->slice;
}

/* Of one buffer: have the rectangles bytes in common? (Specification, appendix "CL_MEM_COPY_OVERLAP".) Both have the
 * same pitches. */
static bool overlap(const struct rows *a, const struct rows *b, const size_t region[3])
{
    const size_t apart = a->begin < b->begin ? b->begin - a->begin : a->begin - b->begin;
    for (size_t z = 0; z < region[2]; z++) /* rows y and slices z further on, or one row back */
        for (int y = -(int)region[1] + 1; y < (int)region[1]; y++) {
            const int64_t at = (int64_t)(z * a->slice) + (int64_t)y * (int64_t)a->row;
            if (at - (int64_t)region[0] < (int64_t)apart && (int64_t)apart < at + (int64_t)region[0])
                return true;
        }
    return false;
}

static bool is_barred(const struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst)
{
    switch (op->kind) {
    case GS_OP_READ:
    case GS_OP_READ_RECT:
        return !gs_host_may(src, CL_MAP_READ);
    case GS_OP_WRITE:
    case GS_OP_WRITE_RECT:
        return !gs_host_may(dst, CL_MAP_WRITE);
    case GS_OP_MAP_BUFFER:
        return !gs_host_may(src, op->map_flags);
    default:
        return false;
    }
}

/* Does a region end behind the buffer? What is given may be any number. */
static bool leaves(const struct gs_mem *m, const size_t at[3], const size_t pitch[2], const size_t region[3])
{
    size_t end = region[0], bytes;
    for (int d = 0; d < 3; d++)
        if (at[d] > m->size || region[d] > m->size ||
            __builtin_mul_overflow(at[d] + (d ? region[d] - 1 : 0), d ? pitch[d - 1] : 1, &bytes) ||
            __builtin_add_overflow(end, bytes, &end))
            return true;
    return end > m->size;
}

/* Of one object. */
static cl_int check_overlap(const struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst)
{
    struct rows a = rows_of(op->from, op->from_pitch), b = rows_of(op->to, op->to_pitch);
    const bool same = a.row == b.row && a.slice == b.slice;
    a.begin += src->origin;
    b.begin += dst->origin;
    if (same)
        return overlap(&a, &b, op->region) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
    return src == dst ? CL_INVALID_VALUE : CL_SUCCESS;
}

static bool is_pattern(const struct gs_op *op)
{
    const size_t p = op->pattern_bytes;
    return op->pattern && p && p <= GS_OP_PATTERN_BYTES && !(p & (p - 1)) && op->region[0] % p == 0 &&
           op->to[0] % p == 0;
}

cl_int gs_pool_check(struct gs_op *op, bool as_bytes, const struct gs_context *ctx, const struct gs_mem *src,
                     const struct gs_mem *dst)
{
    const bool of_image = (src && src->image) || (dst && dst->image);
    const bool may_be_none = op->kind == GS_OP_READ || op->kind == GS_OP_WRITE || op->kind == GS_OP_FILL;
    if (of_image && !as_bytes)
        return CL_INVALID_MEM_OBJECT;
    if ((src && src->o.ctx != ctx) || (dst && dst->o.ctx != ctx))
        return CL_INVALID_CONTEXT;
    if (gs_op_is_by_host(op) && !op->ptr)
        return CL_INVALID_VALUE;
    if (is_barred(op, src, dst))
        return CL_INVALID_OPERATION;
    if (op->kind == GS_OP_FILL_IMAGE)
        return CL_SUCCESS;
    if (!as_bytes &&
        (op->no_from || op->no_to || op->no_region || (!gs_op_find_pitches(op) && !(may_be_none && !op->region[0])) ||
         (op->kind == GS_OP_FILL && !is_pattern(op))))
        return CL_INVALID_VALUE;
    if ((src && leaves(src, op->from, op->from_pitch, op->region)) ||
        (dst && leaves(dst, op->to, op->to_pitch, op->region)))
        return CL_INVALID_VALUE;
    return src && dst && src->root == dst->root ? check_overlap(op, src, dst) : CL_SUCCESS;
}

struct gs_range gs_pool_range(const struct gs_mem *m, size_t at, size_t bytes)
{
    const struct gs_range all = {0, m->size}, range = {m->origin + at, m->origin + at + bytes};
    return m->image ? all : range;
}

static struct gs_pool_root *root_of(const struct gs_mem *m)
{
    return m ? m->root->pool : NULL;
}

static cl_int linear(const struct gs_pool_command *c)
{
    const struct gs_op *op = &c->op;
    const size_t bytes = op->region[0];
    struct gs_pool_root *from = root_of(c->src), *to = root_of(c->dst);
    const struct gs_range src = c->src ? gs_pool_range(c->src, op->from[0], bytes) : (struct gs_range){0, 0};
    struct gs_range dst = c->dst ? gs_pool_range(c->dst, op->to[0], bytes) : (struct gs_range){0, 0};
    if (!bytes)
        return CL_SUCCESS;
    switch (op->kind) {
    case GS_OP_READ:
        return gs_pool_read(from, src, op->ptr, c->by_ring);
    case GS_OP_WRITE:
        return gs_pool_put(to, dst, op->ptr, 0, c->by_ring);
    case GS_OP_COPY:
        return gs_pool_copy(from, src, to, dst.begin);
    default:
        return gs_pool_put(to, dst, c->pattern, op->pattern_bytes, false);
    }
}

/* All between the first row of a rectangle and the last. */
static struct gs_range hull_of(const struct gs_mem *m, const struct rows *r, const size_t n[3])
{
    return gs_pool_range(m, r->begin, row_at(r, n[1] - 1, n[2] - 1) + n[0] - r->begin);
}

/* By way of the host's copy of all that lies between the first row and the last. Where rows lie near each other that is
 * all written, as one transfer of so many bytes takes less time than one for each row. */
static cl_int rect(const struct gs_pool_command *c)
{
    enum { NEAR = 64 * 1024 };
    const struct gs_op *op = &c->op;
    const size_t *n = op->region;
    const struct rows from = rows_of(op->from, op->from_pitch), to = rows_of(op->to, op->to_pitch);
    struct gs_pool_root *src = root_of(c->src), *dst = root_of(c->dst);
    const char *a = src ? src->host.base + c->src->origin : op->ptr;
    char *b = dst ? dst->host.base + c->dst->origin : op->ptr;
    const uint64_t rows = (uint64_t)n[1] * n[2];
    const struct gs_range all = dst ? hull_of(c->dst, &to, n) : (struct gs_range){0, 0};
    const bool together = dst && (dst->image || (all.end - all.begin) / rows <= NEAR);
    struct gs_rangeset wrote = {0};
    cl_int err = src ? gs_pool_require_host(src, hull_of(c->src, &from, n)) : CL_SUCCESS;
    if (!err && together && rows * n[0] < all.end - all.begin)
        err = gs_pool_require_host(dst, all);
    if (!err && together)
        err = gs_pool_error(gs_rangeset_add(&wrote, all));
    for (size_t z = 0; z < n[2] && !err; z++)
        for (size_t y = 0; y < n[1] && !err; y++) {
            const size_t at = row_at(&to, y, z);
            memmove(b + at, a + row_at(&from, y, z), n[0]);
            if (dst && !together)
                err = gs_pool_error(gs_rangeset_add(&wrote, gs_pool_range(c->dst, at, n[0])));
        }
    if (!err && dst)
        err = gs_pool_wrote_host(dst, &wrote);
    gs_rangeset_free(&wrote);
    return err;
}

cl_int gs_pool_transfer(const struct gs_pool_command *c)
{
    const struct gs_op *op = &c->op;
    struct gs_range mapped = c->mapped;
    switch (op->kind) {
    case GS_OP_READ_RECT:
    case GS_OP_WRITE_RECT:
    case GS_OP_COPY_RECT:
        return rect(c);
    case GS_OP_MAP_BUFFER:
        mapped = gs_pool_range(c->src, op->from[0], op->region[0]);
        if (!(op->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)) {
            const cl_int err = gs_pool_require_host(c->src->root->pool, mapped);
            if (err || !(op->map_flags & CL_MAP_WRITE))
                return err;
        }
        /* What windows hold of it must not be put over what the host writes, and the host's pages must stay. */
        return gs_pool_wrote_host(c->src->root->pool, &GS_ONE_RANGE(mapped));
    case GS_OP_UNMAP:
        if (mapped.end > mapped.begin) {
            const cl_int err = gs_pool_wrote_host(c->dst->root->pool, &GS_ONE_RANGE(mapped));
            if (err)
                return err;
        }
        return gs_pool_map_end(c->dst->root->pool);
    case GS_OP_FILL_IMAGE:
        return gs_pool_fill_image(c->dst->root->pool, op, c->pattern);
    default:
        return linear(c);
    }
}
