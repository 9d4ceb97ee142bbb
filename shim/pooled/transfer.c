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

static struct gs_range span_of(const struct rows *r, const size_t region[3])
{
    return (struct gs_range){r->begin, row_at(r, region[1] - 1, region[2] - 1) + region[0]};
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

static cl_int check_rect(struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst)
{
    cl_int err = CL_SUCCESS;
    if (op->no_from || op->no_to || op->no_region || !gs_op_find_pitches(op))
        return CL_INVALID_VALUE;
    const struct rows from = rows_of(op->from, op->from_pitch), to = rows_of(op->to, op->to_pitch);
    if ((src && span_of(&from, op->region).end > src->size) || (dst && span_of(&to, op->region).end > dst->size))
        return CL_INVALID_VALUE;
    if (src && dst && src->root == dst->root) {
        struct rows a = from, b = to;
        a.begin += src->origin;
        b.begin += dst->origin;
        if (src == dst && (a.row != b.row || a.slice != b.slice))
            err = CL_INVALID_VALUE;
        else if (a.row == b.row && a.slice == b.slice && overlap(&a, &b, op->region))
            err = CL_MEM_COPY_OVERLAP;
    }
    return err;
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

static bool leaves(const struct gs_mem *m, size_t at, size_t bytes)
{
    return at > m->size || bytes > m->size - at;
}

static cl_int check_linear(const struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst)
{
    const size_t bytes = op->region[0], p = op->pattern_bytes;
    if (!bytes && (op->kind == GS_OP_COPY || op->kind == GS_OP_MAP_BUFFER))
        return CL_INVALID_VALUE;
    if ((src && leaves(src, op->from[0], bytes)) || (dst && leaves(dst, op->to[0], bytes)))
        return CL_INVALID_VALUE;
    if (op->kind == GS_OP_FILL &&
        (!op->pattern || !p || p > GS_OP_PATTERN_BYTES || (p & (p - 1)) || bytes % p || op->to[0] % p))
        return CL_INVALID_VALUE;
    if (op->kind == GS_OP_COPY && src->root == dst->root) {
        const uint64_t a = src->origin + op->from[0], b = dst->origin + op->to[0];
        return a < b + bytes && b < a + bytes ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
    }
    return CL_SUCCESS;
}

cl_int gs_pool_check(struct gs_op *op, bool as_bytes, const struct gs_context *ctx, const struct gs_mem *src,
                     const struct gs_mem *dst)
{
    const bool rect = op->kind >= GS_OP_READ_RECT && op->kind <= GS_OP_COPY_RECT;
    const bool of_image = (src && src->image) || (dst && dst->image);
    if (of_image && !as_bytes)
        return CL_INVALID_MEM_OBJECT;
    if ((src && src->o.ctx != ctx) || (dst && dst->o.ctx != ctx))
        return CL_INVALID_CONTEXT;
    if (gs_op_is_by_host(op) && !op->ptr)
        return CL_INVALID_VALUE;
    if (is_barred(op, src, dst))
        return CL_INVALID_OPERATION;
    if (as_bytes)
        return CL_SUCCESS;
    return rect ? check_rect(op, src, dst) : check_linear(op, src, dst);
}

static struct gs_range range_in(const struct gs_mem *m, size_t at, size_t bytes)
{
    return (struct gs_range){m->origin + at, m->origin + at + bytes};
}

static cl_int linear(const struct gs_pool_command *c)
{
    const struct gs_op *op = &c->op;
    const size_t bytes = op->region[0];
    struct gs_pool_root *from = c->src ? c->src->root->pool : NULL, *to = c->dst ? c->dst->root->pool : NULL;
    const struct gs_range src = c->src ? range_in(c->src, op->from[0], bytes) : (struct gs_range){0, 0};
    struct gs_range dst = c->dst ? range_in(c->dst, op->to[0], bytes) : (struct gs_range){0, 0};
    if (!bytes)
        return CL_SUCCESS;
    switch (op->kind) {
    case GS_OP_READ:
        return gs_pool_read(from, src, op->ptr);
    case GS_OP_WRITE:
        memmove(to->host.base + dst.begin, op->ptr, bytes);
        return gs_pool_wrote_host(to, &GS_ONE_RANGE(dst));
    case GS_OP_COPY:
        return gs_pool_copy(from, src, to, dst.begin);
    default:
        return gs_pool_fill(to, dst, c->pattern, op->pattern_bytes);
    }
}

/* An image's bytes are valid all or none. */
static struct gs_range whole_of(const struct gs_pool_root *r, struct gs_range bytes)
{
    return r->image ? (struct gs_range){0, r->size} : bytes;
}

/* By way of the host's copy of all that lies between the first row and the last. */
static cl_int rect(const struct gs_pool_command *c)
{
    const struct gs_op *op = &c->op;
    struct rows from = rows_of(op->from, op->from_pitch), to = rows_of(op->to, op->to_pitch);
    struct gs_rangeset wrote = {0};
    const char *a = op->ptr;
    char *b = op->ptr;
    cl_int err = CL_SUCCESS;
    if (c->src) {
        from.begin += c->src->origin;
        a = c->src->root->pool->host.base;
        err = gs_pool_require_host(c->src->root->pool, whole_of(c->src->root->pool, span_of(&from, op->region)));
    }
    if (c->dst) {
        struct gs_pool_root *r = c->dst->root->pool;
        to.begin += c->dst->origin;
        b = r->host.base;
        if (!err && r->image && (uint64_t)op->region[0] * op->region[1] * op->region[2] < r->size)
            err = gs_pool_require_host(r, whole_of(r, (struct gs_range){0, 0}));
    }
    for (size_t z = 0; z < op->region[2] && !err; z++)
        for (size_t y = 0; y < op->region[1] && !err; y++) {
            const size_t at = row_at(&to, y, z);
            memmove(b + at, a + row_at(&from, y, z), op->region[0]);
            if (c->dst &&
                gs_rangeset_add(&wrote, whole_of(c->dst->root->pool, (struct gs_range){at, at + op->region[0]})) < 0)
                err = CL_OUT_OF_HOST_MEMORY;
        }
    if (!err && c->dst)
        err = gs_pool_wrote_host(c->dst->root->pool, &wrote);
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
        mapped = whole_of(c->src->root->pool, range_in(c->src, op->from[0], op->region[0]));
        if (!(op->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)) {
            const cl_int err = gs_pool_require_host(c->src->root->pool, mapped);
            if (err || !(op->map_flags & CL_MAP_WRITE))
                return err;
        }
        /* What windows hold of it must not be put over what the host writes, and the host's pages must stay. */
        return gs_pool_wrote_host(c->src->root->pool, &GS_ONE_RANGE(mapped));
    case GS_OP_UNMAP:
        if (mapped.end > mapped.begin) {
            mapped = whole_of(c->dst->root->pool, mapped);
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
