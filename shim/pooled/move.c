/* SPDX-License-Identifier: MIT */
/* Reads, writes, copies and fills of pooled buffers, each piece where it is, all pieces at once. */
#include "shim/pooled/store.h"

/* Many extents are few bytes each: the driver takes them at once, the ring as a piece each. */
cl_int gs_pool_carry(struct gs_context *ctx, const struct gs_extents *s)
{
    enum { MOST_STRETCHES = 64 };
    cl_int err = CL_SUCCESS;
    if (ctx->pool->carries && s->n && s->n <= MOST_STRETCHES)
        return gs_pool_transfer_error(gs_staging_carry(ctx, s->v, s->n, NULL));
    for (unsigned i = 0; i < s->n && !err; i++)
        err = gs_pool_begin(ctx, s->v[i].place, &s->v[i].op);
    return err;
}

/* Into the host's memory, of bytes of a root that begin at `at`. */
struct reading {
    char *to;
    uint64_t at;
    struct gs_extents extents;
};

static cl_int read_range(struct gs_pool_window *w, struct gs_range r, void *reading)
{
    struct reading *by = reading;
    const struct gs_op read =
        gs_op_read(w->mem, r.begin - w->range.begin, r.end - r.begin, by->to + (r.begin - by->at));
    const struct gs_op_run t = {.op = read, .place = w->device};
    return gs_extents_add(&by->extents, &t);
}

cl_int gs_pool_read(struct gs_pool_root *r, struct gs_range bytes, char *to)
{
    struct gs_rangeset missing = {0}, here = {0};
    struct reading reading = {to, bytes.begin, {0}};
    cl_int err = gs_pool_error(gs_rangeset_missing(&r->valid, bytes, &missing));
    err = err ? err : gs_pool_from_windows(r, GS_POOL_ALL_DEVICES, &missing, read_range, &reading);
    err = err ? err : gs_pool_carry(r->ctx, &reading.extents);
    err = err ? err : gs_pool_error(gs_rangeset_common(&r->valid, bytes, &here));
    for (size_t i = 0; i < here.n && !err; i++)
        memmove(to + (here.v[i].begin - bytes.begin), r->host.base + here.v[i].begin, here.v[i].end - here.v[i].begin);
    gs_extents_free(&reading.extents);
    gs_rangeset_free(&missing);
    gs_rangeset_free(&here);
    return err;
}

/* Copies bytes from a window to another window of the same device, if there is one; takes these off `left`. */
static cl_int copy_near(struct gs_pool_root *from, struct gs_rangeset *left, struct gs_pool_root *to, uint64_t shift)
{
    struct gs_rangeset here = {0};
    cl_int err = CL_SUCCESS;
    for (struct gs_pool_window *w = from->windows; w && left->n && !err; w = w->next) {
        gs_rangeset_clear(&here);
        err = gs_pool_error(gs_rangeset_common_set(left, &w->valid, &here));
        for (size_t i = 0; i < here.n && !err; i++) {
            struct gs_range there = {here.v[i].begin + shift, here.v[i].end + shift};
            struct gs_pool_window *v = gs_pool_window_of(to, w->device, there);
            if (!v)
                continue;
            const struct gs_op op = gs_op_copy(w->mem, v->mem, here.v[i].begin - w->range.begin,
                                               there.begin - v->range.begin, there.end - there.begin);
            err = gs_pool_begin(to->ctx, w->device, &op);
            if (!err)
                err = gs_pool_wrote(v, &GS_ONE_RANGE(there));
            if (!err)
                err = gs_pool_error(gs_rangeset_remove(left, here.v[i]));
        }
    }
    gs_rangeset_free(&here);
    return err;
}

cl_int gs_pool_copy(struct gs_pool_root *from, struct gs_range bytes, struct gs_pool_root *to, uint64_t at)
{
    struct gs_rangeset left = {0};
    const uint64_t shift = at - bytes.begin; /* wraps where it is negative */
    cl_int err = gs_pool_error(gs_rangeset_add(&left, bytes));
    if (!err && from->ctx == to->ctx)
        err = copy_near(from, &left, to, shift);
    for (size_t i = 0; i < left.n && !err; i++) {
        struct gs_range there = {left.v[i].begin + shift, left.v[i].end + shift};
        err = gs_pool_require_host(from, left.v[i]);
        if (!err)
            memmove(to->host.base + there.begin, from->host.base + left.v[i].begin, there.end - there.begin);
        if (!err)
            err = gs_pool_wrote_host(to, &GS_ONE_RANGE(there));
    }
    gs_rangeset_free(&left);
    return err;
}

static cl_int put_range(struct gs_pool_window *w, struct gs_range r, const char *from, size_t pattern_bytes,
                        struct gs_extents *extents)
{
    const uint64_t at = r.begin - w->range.begin, n = r.end - r.begin;
    const struct gs_op fill = gs_op_fill(w->mem, at, n, from, pattern_bytes);
    const struct gs_op_run write = {.op = gs_op_write(w->mem, at, n, from), .place = w->device};
    const cl_int err = pattern_bytes ? gs_pool_begin(w->root->ctx, w->device, &fill) : gs_extents_add(extents, &write);
    return err ? err : gs_pool_wrote(w, &GS_ONE_RANGE(r));
}

static void put_host(char *to, uint64_t n, const char *from, size_t pattern_bytes)
{
    const uint64_t piece = pattern_bytes ? pattern_bytes : n;
    for (uint64_t at = 0; at < n; at += piece)
        memmove(to + at, from, piece);
}

cl_int gs_pool_put(struct gs_pool_root *r, struct gs_range bytes, const char *from, size_t pattern_bytes)
{
    struct gs_rangeset left = {0}, here = {0};
    struct gs_extents extents = {0};
    const size_t moves = pattern_bytes ? 0 : 1;                      /* of each byte a byte of `from` */
    const bool whole = pattern_bytes && bytes.begin % pattern_bytes; /* of a sub-buffer; drivers wouldn't fill so */
    cl_int err = gs_pool_error(gs_rangeset_add(&left, bytes));
    for (struct gs_pool_window *w = whole ? NULL : r->windows; w && left.n && !err; w = w->next) {
        gs_rangeset_clear(&here);
        err = gs_pool_error(gs_rangeset_common(&left, w->range, &here));
        for (size_t i = 0; i < here.n && !err; i++)
            err = put_range(w, here.v[i], from + moves * (here.v[i].begin - bytes.begin), pattern_bytes, &extents);
        if (!err)
            err = gs_pool_error(gs_rangeset_remove_set(&left, &here));
    }
    err = err ? err : gs_pool_carry(r->ctx, &extents);
    for (size_t i = 0; i < left.n && !err; i++)
        put_host(r->host.base + left.v[i].begin, left.v[i].end - left.v[i].begin,
                 from + moves * (left.v[i].begin - bytes.begin), pattern_bytes);
    if (!err)
        err = gs_pool_wrote_host(r, &left);
    gs_extents_free(&extents);
    gs_rangeset_free(&left);
    gs_rangeset_free(&here);
    return err;
}
