/* SPDX-License-Identifier: MIT */
#include "shim/transfer/transfer.h"

#include <stdlib.h>

#include "shim/put.h"
#include "shim/report.h"
#include "shim/transfer/peer.h"
#include "shim/transfer/pinned.h"
#include "shim/transfer/strided.h"

/* The driver's own copy: on devices that share the host's memory it is a memcpy. */
static cl_int copy_directly(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                            uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                            struct gs_events *done)
{
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(cmd->q, to, &err);
    if (!err)
        err = gs_put_copy(queue, from == to ? GS_VIA_MEMORY : GS_VIA_HOST, src, dst, src_offset, dst_offset, bytes,
                          wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

/* Between devices that share the host's memory the driver's own copy is the shortest way. */
static bool through_host(struct gs_command *cmd)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    if (path == GS_TRANSFER_PLAIN || (cmd->ctx->shared_memory && path != GS_TRANSFER_PINNED))
        return false;
    return gs_pinned_ready(cmd);
}

/* To open the windows takes about half a second of a core: only for who moves enough. */
enum { PEER_FROM_BYTES = 1024 * 1024 };

bool gs_transfer_by_window(struct gs_command *cmd, uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    cmd->ctx->between_devices += bytes;
    if (cmd->ctx->shared_memory || (path != GS_TRANSFER_AUTO && path != GS_TRANSFER_PEER))
        return false;
    if (path == GS_TRANSFER_AUTO && cmd->ctx->between_devices < PEER_FROM_BYTES)
        return false;
    return gs_peer_ready(cmd->ctx);
}

/* The driver refuses the host's calls on the application's own object, so the pinned way is closed. */
static bool host_kept_out(const struct gs_mem *root)
{
    return root->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS);
}

static cl_int move(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to, uint64_t src_offset,
                   uint64_t dst_offset, uint64_t bytes, bool by_host, const struct gs_events *wait,
                   struct gs_events *done)
{
    if (!bytes)
        return CL_SUCCESS;
    if (from != to && gs_transfer_by_window(cmd, bytes)) {
        gs_report_moved(GS_PATH_PEER, bytes);
        const struct gs_label before = gs_label_way(GS_WAY_PEER);
        const cl_int err = gs_peer_copy(cmd, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
        gs_label_back(before);
        return err;
    }
    if (from == to || !by_host || !through_host(cmd)) {
        gs_report_moved(GS_PATH_COPY, bytes);
        return copy_directly(cmd, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
    }
    gs_report_moved(GS_PATH_PINNED, bytes);
    const struct gs_label before = gs_label_way(GS_WAY_PINNED);
    const cl_int err = gs_pinned_copy(cmd, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
    gs_label_back(before);
    return err;
}

cl_int gs_transfer_buffer(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                          uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                          struct gs_events *done)
{
    return move(cmd, src, from, dst, to, src_offset, dst_offset, bytes, true, wait, done);
}

static enum gs_path path_between(struct gs_command *cmd, unsigned from, unsigned to, uint64_t bytes)
{
    if (from != to && gs_transfer_by_window(cmd, bytes))
        return GS_PATH_PEER;
    return from == to || !through_host(cmd) ? GS_PATH_COPY : GS_PATH_PINNED;
}

/* What is packed is memory of ours, so that the host is never kept out. */
static cl_int move_rect(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                        const struct gs_rect *r, const struct gs_events *wait, struct gs_events *done)
{
    const enum gs_path path = path_between(cmd, from, to, gs_rect_bytes(r));
    gs_packed_copy *const copy = path == GS_PATH_PEER ? NULL : path == GS_PATH_COPY ? copy_directly : gs_pinned_copy;
    gs_report_moved(path, gs_rect_bytes(r));
    const struct gs_label before = gs_label_way(path == GS_PATH_PEER     ? GS_WAY_PEER
                                                : path == GS_PATH_PINNED ? GS_WAY_PINNED
                                                                         : GS_WAY_DIRECT);
    const cl_int err = gs_strided_copy(cmd, src, from, dst, to, r, copy, wait, done);
    gs_label_back(before);
    return err;
}

uint64_t gs_image_layout(cl_mem handle, const cl_image_desc *d, size_t region[3])
{
    size_t element = 0;
    gs_real()->clGetImageInfo(handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    region[0] = d->image_width;
    region[1] = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? d->image_array_size : d->image_height;
    region[2] = d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? d->image_array_size : d->image_depth;
    for (int i = 0; i < 3; i++)
        region[i] = region[i] ? region[i] : 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE1D)
        region[1] = region[2] = 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE2D || d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        region[2] = 1;
    return (uint64_t)region[0] * region[1] * region[2] * element;
}

uint64_t gs_image_bytes(const struct gs_mem *root, size_t region[3])
{
    return gs_image_layout(root->o.handle, &root->desc, region);
}

unsigned gs_image_band_dim(cl_mem_object_type type)
{
    switch (type) {
    case CL_MEM_OBJECT_IMAGE3D:
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return 2;
    case CL_MEM_OBJECT_IMAGE2D:
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return 1;
    default:
        return 0;
    }
}

void gs_image_box(const struct gs_mem *root, struct gs_range r, size_t origin[3], size_t region[3])
{
    gs_image_bytes(root, region);
    origin[0] = origin[1] = origin[2] = 0;
    origin[root->band_dim] = (size_t)(r.begin / root->band_bytes);
    region[root->band_dim] = (size_t)((r.end - r.begin) / root->band_bytes);
}

struct gs_range gs_image_range(const struct gs_mem *m, const size_t *origin, const size_t *region, bool *covers)
{
    const struct gs_mem *root = m->root;
    size_t all[3];
    *covers = false;
    if (!root->is_image || m != root || !origin || !region)
        return (struct gs_range){m->origin, m->origin + m->size};
    gs_image_bytes(root, all);
    *covers = true;
    for (unsigned d = 0; d < 3; d++) {
        if (!region[d] || origin[d] > all[d] || region[d] > all[d] - origin[d]) {
            *covers = false; /* the driver will refuse it */
            return (struct gs_range){0, root->size};
        }
        *covers = *covers && (d == root->band_dim || region[d] == all[d]);
    }
    const uint64_t begin = origin[root->band_dim] * root->band_bytes;
    return (struct gs_range){begin, begin + region[root->band_dim] * root->band_bytes};
}

static cl_int transfer_image(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to, struct gs_range r,
                             const struct gs_events *wait, struct gs_events *done)
{
    size_t origin[3], region[3];
    const uint64_t bytes = r.end - r.begin;
    gs_image_box(root, r, origin, region);
    cl_mem src = root->place[from].mem, dst = root->place[to].mem;
    if (!host_kept_out(root) && through_host(cmd)) {
        gs_report_moved(GS_PATH_PINNED, bytes);
        const struct gs_label before = gs_label_way(GS_WAY_PINNED);
        const cl_int err =
            gs_pinned_copy_image(cmd, src, from, dst, to, origin, region, bytes / region[1] / region[2], wait, done);
        gs_label_back(before);
        return err;
    }
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_image_queue(cmd->q, to, &err);
    gs_report_moved(GS_PATH_COPY, bytes);
    const struct gs_op op = {.kind = GS_OP_COPY_IMAGE,
                             .src = src,
                             .dst = dst,
                             .from = {origin[0], origin[1], origin[2]},
                             .to = {origin[0], origin[1], origin[2]},
                             .region = {region[0], region[1], region[2]}};
    if (!err)
        err = gs_put(queue, &op, GS_VIA_HOST, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

/* Everything that was enqueued earlier, and the last transfer into the source: the same command may have asked for that
 * one a moment ago, when another of its parts needed the bytes there. And those that bring these very bytes there:
 * where one fails, this one must. */
static cl_int wait_for_source(const struct gs_command *cmd, const struct gs_replica *src, struct gs_range r,
                              struct gs_events *wait)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < cmd->before.n && !err; i++)
        err = gs_events_share(wait, cmd->before.v[i]);
    for (size_t i = 0; i < src->n_arrivals && !err; i++) {
        const struct gs_arrival *a = &src->arrivals[i];
        const struct gs_range brought = gs_rect_hull(&a->rect);
        if (a->event != src->ready && brought.begin < r.end && r.begin < brought.end)
            err = gs_events_share(wait, a->event);
    }
    return err || !src->ready ? err : gs_events_share(wait, src->ready);
}

/* Remembers what a transfer brings until it is known to have ended well; retains its event. */
static cl_int expect_rect(struct gs_replica *place, const struct gs_rect *r, cl_event event)
{
    if (place->n_arrivals == place->arrivals_cap) {
        const size_t cap = place->arrivals_cap ? 2 * place->arrivals_cap : 4;
        struct gs_arrival *v = realloc(place->arrivals, cap * sizeof *v);
        if (!v)
            return CL_OUT_OF_HOST_MEMORY;
        place->arrivals = v;
        place->arrivals_cap = cap;
    }
    cl_int err = gs_real()->clRetainEvent(event);
    if (!err)
        place->arrivals[place->n_arrivals++] = (struct gs_arrival){event, *r};
    return err;
}

/* Not what the place has had before: that stays valid whatever becomes of the transfer. Of a rectangle it has had
 * nothing. */
static cl_int expect(struct gs_replica *place, const struct gs_rect *r, cl_event event)
{
    struct gs_rangeset brought = {0};
    if (r->rows > 1)
        return expect_rect(place, r, event);
    cl_int err = gs_rangeset_missing(&place->valid, gs_rect_hull(r), &brought) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    for (size_t i = 0; i < brought.n && !err; i++) {
        const struct gs_rect one = gs_one_row(brought.v[i]);
        err = expect_rect(place, &one, event);
    }
    gs_rangeset_free(&brought);
    return err;
}

/* Bytes of a buffer. */
static cl_int transfer_bytes(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to,
                             const struct gs_rect *r, const struct gs_events *wait, struct gs_events *done)
{
    cl_mem src = root->place[from].mem, dst = root->place[to].mem;
    if (r->rows > 1)
        return move_rect(cmd, src, from, dst, to, r, wait, done);
    return move(cmd, src, from, dst, to, r->begin, r->begin, r->width, !host_kept_out(root), wait, done);
}

static cl_int transfer_rows(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to,
                            const struct gs_rect *r, struct gs_events *done)
{
    cl_int err = CL_SUCCESS;
    for (uint64_t i = 0; i < r->rows && !err; i++) {
        const struct gs_rect row = gs_one_row(gs_rect_row(r, i));
        err = gs_transfer(cmd, root, from, to, &row, done);
    }
    return err;
}

cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, unsigned from, unsigned to, const struct gs_rect *r,
                   struct gs_events *done)
{
    const struct gs_range hull = gs_rect_hull(r);
    struct gs_events wait = {0};
    if (r->rows > 1 && !gs_strided_ready(cmd->ctx, from, to))
        return transfer_rows(cmd, root, from, to, r, done);
    cl_int err = wait_for_source(cmd, &root->place[from], hull, &wait);
    if (!err)
        err = root->is_image ? transfer_image(cmd, root, from, to, hull, &wait, done)
                             : transfer_bytes(cmd, root, from, to, r, &wait, done);
    gs_events_free(&wait);
    struct gs_replica *dst = &root->place[to];
    if (!err && done->n) {
        if (dst->ready)
            gs_real()->clReleaseEvent(dst->ready);
        dst->ready = done->v[done->n - 1];
        err = gs_real()->clRetainEvent(dst->ready);
        if (err)
            dst->ready = NULL;
        else
            err = expect(dst, r, dst->ready);
    }
    return err;
}
