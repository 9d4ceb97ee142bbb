/* SPDX-License-Identifier: MIT */
#include "shim/pooled/commands.h"
#include "shim/pooled/store.h"

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

/* Of one buffer: have rectangles of equal pitches common bytes? (Specification, appendix "CL_MEM_COPY_OVERLAP".) */
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
    const bool maps = op->kind == GS_OP_MAP_BUFFER;
    const cl_map_flags access = maps ? op->map_flags : src ? CL_MAP_READ : CL_MAP_WRITE;
    return (maps || gs_op_crosses_host(op)) && !gs_host_may(src ? src : dst, access);
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

/* CL_MEM_COPY_OVERLAP if both ranges lie in one object and overlap. */
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
    if (gs_op_crosses_host(op) && !op->ptr)
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

/* All between the first row of a rectangle and the last. */
static struct gs_range hull_of(const struct gs_mem *m, const struct rows *r, const size_t n[3])
{
    return gs_pool_range(m, r->begin, row_at(r, n[1] - 1, n[2] - 1) + n[0] - r->begin);
}

/* By way of the host's copy of all that lies between the first row and the last. Where rows lie near each other that is
 * all written, as one transfer of so many bytes takes less time than one for each row. */
static cl_int rect_by_host(const struct gs_pool_command *c, const struct gs_op *op)
{
    enum { NEAR = 64 * 1024 };
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

/* Has the window all bytes of the range that any place has? */
static cl_int has_all(const struct gs_pool_window *w, struct gs_range range, bool *all)
{
    struct gs_rangeset lacking = {0};
    const cl_int err = gs_pool_error(gs_rangeset_missing(&w->valid, range, &lacking));
    *all = !err && !gs_rangeset_overlap(&lacking, &w->root->valid);
    for (const struct gs_pool_window *v = w->root->windows; v && *all; v = v->next)
        *all = !gs_rangeset_overlap(&lacking, &v->valid);
    gs_rangeset_free(&lacking);
    return err;
}

/* Finds a window that holds the range, with all of its bytes that any place has: *found, or null. *of_part: no window
 * holds the range but some meet it, so windows for parts are worth looking for. */
static cl_int find_window(const struct gs_pool_root *r, struct gs_range range, struct gs_pool_window **found,
                          bool *of_part)
{
    bool holds = false, meets = false, all = false;
    cl_int err = CL_SUCCESS;
    struct gs_pool_window *w = r->image ? NULL : r->windows;
    for (; w && !err && !all; w = all ? w : w->next) {
        const bool whole = w->range.begin <= range.begin && range.end <= w->range.end;
        holds = holds || whole;
        meets = meets || gs_ranges_overlap(w->range, range);
        err = whole ? has_all(w, range, &all) : CL_SUCCESS;
    }
    *found = w;
    *of_part = meets && !holds;
    return err;
}

/* Where a rectangle that begins at a byte of a window is to be cut: drivers needn't take rows that reach into the next
 * line, and NVIDIA's refuses those of which the last line isn't whole (docs/drivers.md). False: nowhere. */
static bool find_cut(const size_t n[3], const size_t pitch[2], uint64_t at, uint64_t bytes, unsigned *dim, size_t *end)
{
    const bool solid = n[2] > 1;
    const uint64_t line = pitch[0], in_slice = solid ? at % pitch[1] : at,
                   last = solid ? (at / pitch[1] + n[2]) * pitch[1] : (at / line + n[1]) * line;
    const size_t columns = line - in_slice % line, lines = solid ? (pitch[1] - in_slice + line - 1) / line : n[1];
    if (n[1] * n[2] == 1)
        return false;
    *dim = n[0] > columns ? 0 : solid && n[1] <= lines ? 2 : 1;
    *end = n[0] > columns ? columns : n[1] > lines ? lines : n[*dim] - 1;
    return n[0] > columns || n[1] > lines || last > bytes;
}

static cl_int by_window(const struct gs_pool_window *w, const struct gs_op *rows, uint64_t at, struct gs_extents *s)
{
    struct gs_op op = *rows;
    const bool solid = op.region[2] > 1;
    size_t *pitch = op.src ? op.from_pitch : op.to_pitch, *origin = op.src ? op.from : op.to;
    const uint64_t in_slice = solid ? at % pitch[1] : at;
    struct gs_op_run t = {0};
    *(op.src ? &op.src : &op.dst) = w->mem;
    origin[0] = in_slice % pitch[0];
    origin[1] = in_slice / pitch[0];
    origin[2] = solid ? at / pitch[1] : 0;
    pitch[1] = solid ? pitch[1] : 0;
    gs_staged_rect(&t, &op);
    t.place = w->device;
    return gs_extents_add(s, &t);
}

/* Between the application's memory and a buffer: what lies within a window that has all between the first row and the
 * last goes to the driver's command for rectangles. What is written is valid there with all that lies between, so that
 * no place's rest has gaps. Where windows meet it is halved. */
static cl_int rect(const struct gs_pool_command *c, const struct gs_op *op, struct gs_extents *s)
{
    const struct gs_mem *m = c->src ? c->src : c->dst;
    const size_t *pitch = c->src ? op->from_pitch : op->to_pitch;
    const struct rows rows = rows_of(c->src ? op->from : op->to, pitch);
    struct gs_range hull = hull_of(m, &rows, op->region);
    struct gs_box box[2] = {{.end = {op->region[0], op->region[1], op->region[2]}}};
    unsigned dim = op->region[2] > 1 ? 2 : 1;
    size_t end = op->region[dim] / 2;
    struct gs_pool_window *w;
    bool of_part;
    cl_int err = find_window(root_of(m), hull, &w, &of_part);
    if (!err && w && !find_cut(op->region, pitch, hull.begin - w->range.begin, w->bytes, &dim, &end)) {
        err = by_window(w, op, hull.begin - w->range.begin, s);
        return err || c->src ? err : gs_pool_wrote(w, &GS_ONE_RANGE(hull));
    }
    if (!err && !w && (!of_part || !end))
        return rect_by_host(c, op);
    box[1] = box[0];
    box[0].end[dim] = box[1].begin[dim] = end;
    for (unsigned i = 0; i < 2 && !err; i++) {
        const struct gs_op part = gs_op_part(op, &box[i]);
        err = rect(c, &part, s);
    }
    return err;
}

cl_int gs_pool_transfer(const struct gs_pool_command *c)
{
    const struct gs_op *op = &c->op;
    const size_t bytes = op->region[0];
    struct gs_pool_root *from = root_of(c->src), *to = root_of(c->dst);
    struct gs_range src = c->src ? gs_pool_range(c->src, op->from[0], bytes) : (struct gs_range){0, 0};
    const struct gs_range dst = c->dst ? gs_pool_range(c->dst, op->to[0], bytes) : (struct gs_range){0, 0};
    struct gs_extents s = {0};
    cl_int err = CL_SUCCESS;
    if (!bytes && op->kind != GS_OP_UNMAP)
        return CL_SUCCESS;
    switch (op->kind) {
    case GS_OP_READ:
        return gs_pool_read(from, src, op->ptr);
    case GS_OP_WRITE:
        return gs_pool_put(to, dst, op->ptr, 0);
    case GS_OP_COPY:
        return gs_pool_copy(from, src, to, dst.begin);
    case GS_OP_FILL:
        return gs_pool_put(to, dst, c->pattern, op->pattern_bytes);
    case GS_OP_FILL_IMAGE:
        return gs_pool_fill_image(to, op, c->pattern);
    case GS_OP_COPY_RECT:
        return rect_by_host(c, op);
    case GS_OP_MAP_BUFFER:
        if (!(op->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)) {
            err = gs_pool_require_host(from, src);
            if (err || !(op->map_flags & CL_MAP_WRITE))
                return err;
        }
        /* windows' bytes must not overwrite what the host writes, and the host's pages must stay */
        return gs_pool_wrote_host(from, &GS_ONE_RANGE(src));
    case GS_OP_UNMAP:
        if (c->taken->write)
            err = gs_pool_wrote_host(to, &GS_ONE_RANGE(c->taken->range));
        return err ? err : gs_pool_map_end(to);
    default: /* rectangles of the application's memory */
        err = rect(c, op, &s);
        err = err ? err : gs_pool_carry(c->q->o.ctx, &s);
        gs_extents_free(&s);
        return err;
    }
}
