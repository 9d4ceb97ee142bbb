/* SPDX-License-Identifier: MIT */
#include "shim/memory/transfer.h"

#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "shim/memory/peer.h"
#include "shim/memory/pinned.h"
#include "shim/memory/strided.h"

/* Pinning 64 MiB takes some ms: not for so few bytes, for which a small ring does. */
static bool is_little(const struct gs_context *ctx)
{
    enum { LITTLE = 1024 * 1024 };
    return gs_settings()->transfer == GS_TRANSFER_AUTO && ctx->between_devices < LITTLE;
}

/* Between devices that share the host's memory the driver's own copy is the shortest way. Between others it is slow,
 * and not to be relied on: by NVIDIA's (580.159) random sequences of commands found old bytes (stress 9400 300 4 i; in
 * docs/coherence.md). */
static bool is_through_host(const struct gs_context *ctx)
{
    return !ctx->shared_memory || gs_settings()->transfer == GS_TRANSFER_PINNED;
}

/* The way of so many bytes through the host's memory; null: there is none, or the driver's own copy is shorter. */
static const struct gs_passage *through_host(struct gs_command *cmd, uint64_t bytes)
{
    return is_through_host(cmd->ctx) ? gs_pinned_passage_for(cmd, bytes, is_little(cmd->ctx)) : NULL;
}

/* To open the windows takes about half a second of a core, and what is enqueued meanwhile waits: only for who moves
 * enough. In auto mode the choice asks for them; all the same they are opened when they would have spared 40 ms. */
static const uint64_t peer_from_bytes = 1024 * 1024, peer_from_bytes_auto = (uint64_t)2 << 30;

static bool is_worth_windows(const struct gs_context *ctx)
{
    return ctx->between_devices >= (gs_settings()->mode == GS_MODE_AUTO ? peer_from_bytes_auto : peer_from_bytes);
}

bool gs_transfer_by_window(struct gs_command *cmd, uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    cmd->ctx->between_devices += bytes;
    if (cmd->ctx->shared_memory || gs_group()->remote || (path != GS_TRANSFER_AUTO && path != GS_TRANSFER_PEER))
        return false;
    if (path == GS_TRANSFER_AUTO && !is_worth_windows(cmd->ctx))
        return gs_peer_open(cmd->ctx);
    return gs_peer_ready(cmd->ctx);
}

/* The memory that pieces go through, or null: the driver's own copy. Of what is within a place there is none. */
static const struct gs_passage *passage_of(struct gs_command *cmd, uint64_t bytes, bool by_host)
{
    if (gs_transfer_by_window(cmd, bytes))
        return &gs_peer_passage;
    return by_host ? through_host(cmd, bytes) : NULL;
}

static uint64_t bytes_of(const struct gs_sends *sends)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sends->n; i++)
        bytes += gs_rect_bytes(&sends->v[i].rect) * sends->v[i].n;
    return bytes;
}

/* One of one taker. */
static cl_int add_run(struct gs_sends *sends, cl_mem src, unsigned from, cl_mem dst, unsigned to, uint64_t src_offset,
                      uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait, struct gs_events *done)
{
    const struct gs_send send = {.from = from,
                                 .mem = src,
                                 .rect = gs_one_row((struct gs_range){src_offset, src_offset + bytes}),
                                 .to_begin = dst_offset,
                                 .n = 1,
                                 .to = {{.place = to, .part = -1, .mem = dst, .done = done}}};
    cl_int err = gs_sends_add(sends, &send) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (!err)
        err = gs_events_share_all(&sends->v[sends->n - 1].wait, wait);
    return err;
}

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

/* What is packed is memory of ours, so that the host is never kept out. */
static cl_int copy_packed(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                          uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                          struct gs_events *done)
{
    struct gs_sends sends = {0};
    const struct gs_passage *passage = through_host(cmd, bytes);
    if (!passage)
        return copy_directly(cmd, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
    cl_int err = add_run(&sends, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
    if (!err)
        err = gs_sends_carry(cmd, NULL, &sends, passage, true);
    gs_sends_free(&sends);
    return err;
}

/* Where there is no memory to pack rows in: one by one. */
static cl_int copy_rows(struct gs_command *cmd, const struct gs_mem *root, const struct gs_send *send,
                        struct gs_taker *to)
{
    gs_packed_copy *copy = gs_host_is_barred(root) ? copy_directly : copy_packed;
    struct gs_events rows = {0};
    cl_int err = CL_SUCCESS;
    for (uint64_t i = 0; i < send->rect.rows && !err; i++) {
        const struct gs_range row = gs_rect_row(&send->rect, i);
        err = copy(cmd, send->mem, send->from, to->mem, to->place, row.begin, row.begin, row.end - row.begin,
                   &send->wait, &rows);
    }
    cl_command_queue queue = err ? NULL : gs_copy_queue(cmd->q, to->place, &err);
    if (!err)
        err = gs_real()->clEnqueueMarkerWithWaitList(queue, rows.n, rows.v, &to->arrived);
    if (err) /* what has been enqueued arrives all the same */
        gs_events_wait(&rows);
    gs_events_free(&rows);
    return err;
}

/* One to one of its takers, where its pieces go through no memory that both reach. */
static cl_int copy_to(struct gs_command *cmd, struct gs_mem *root, const struct gs_send *send, struct gs_taker *to)
{
    const struct gs_label before = gs_label_taker(to);
    const struct gs_rect *r = &send->rect;
    struct gs_events end = {0};
    cl_int err;
    if (r->rows > 1 && !gs_strided_has_room(cmd, send->from, to->place)) {
        err = copy_rows(cmd, root, send, to);
    } else if (r->rows > 1) {
        gs_label_way(through_host(cmd, gs_rect_bytes(r)) ? GS_WAY_PINNED : GS_WAY_DIRECT);
        err = gs_strided_copy(cmd, send, to, copy_packed);
    } else {
        err = copy_directly(cmd, send->mem, send->from, to->mem, to->place, r->begin, send->to_begin, r->width,
                            &send->wait, &end);
        to->arrived = err ? NULL : end.v[0]; /* it is ours */
        end.n = 0;
    }
    gs_events_free(&end);
    gs_label_back(before);
    return err ? err : gs_sends_end(root, send, to);
}

static bool is_carried(const struct gs_passage *passage, const struct gs_send *send)
{
    return passage && (!passage->by_host || gs_pinned_takes(&send->rect));
}

/* All that `passage` doesn't carry. */
static cl_int copy_rest(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends,
                        const struct gs_passage *passage)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < sends->n && !err; i++) {
        struct gs_send *send = &sends->v[i];
        if (is_carried(passage, send))
            continue;
        for (unsigned t = 0; t < send->n && !err; t++)
            err = copy_to(cmd, root, send, &send->to[t]);
        send->at = gs_rect_bytes(&send->rect);
    }
    return err;
}

static bool has_rows(const struct gs_sends *sends)
{
    bool any = false;
    for (size_t i = 0; i < sends->n; i++)
        any = any || sends->v[i].rect.rows > 1;
    return any;
}

static void report(const struct gs_sends *sends, const struct gs_passage *passage, enum gs_path of_rows)
{
    for (size_t i = 0; i < sends->n; i++)
        for (unsigned t = 0; t < sends->v[i].n; t++)
            gs_report_moved(passage                     ? passage->path
                            : sends->v[i].rect.rows > 1 ? of_rows
                                                        : GS_PATH_COPY,
                            gs_rect_bytes(&sends->v[i].rect));
}

static cl_int carry(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends, bool by_host, bool apart)
{
    const uint64_t bytes = bytes_of(sends);
    if (!bytes)
        return CL_SUCCESS;
    const bool within = sends->v[0].from == sends->v[0].to[0].place;
    const struct gs_passage *passage = within ? NULL : passage_of(cmd, bytes, by_host);
    /* Only rows ask what else there is: it might have to be made. */
    report(sends, passage, !passage && has_rows(sends) && through_host(cmd, bytes) ? GS_PATH_PINNED : GS_PATH_COPY);
    const cl_int err = copy_rest(cmd, root, sends, passage);
    return err || !passage ? err : gs_sends_carry(cmd, root, sends, passage, apart);
}

cl_int gs_transfer_buffer(struct gs_command *cmd, cl_mem src, unsigned from, cl_mem dst, unsigned to,
                          uint64_t src_offset, uint64_t dst_offset, uint64_t bytes, const struct gs_events *wait,
                          struct gs_events *done)
{
    struct gs_sends sends = {0};
    cl_int err = add_run(&sends, src, from, dst, to, src_offset, dst_offset, bytes, wait, done);
    if (!err)
        err = carry(cmd, NULL, &sends, true, false);
    if (err)
        gs_sends_leave(cmd->ctx, NULL, &sends);
    gs_sends_free(&sends);
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

static cl_int copy_image(struct gs_command *cmd, struct gs_mem *root, const struct gs_send *send,
                         const struct gs_taker *to, struct gs_events *end)
{
    const uint64_t bytes = send->rect.width;
    size_t origin[3], region[3];
    gs_image_box(root, gs_rect_hull(&send->rect), origin, region);
    if (!gs_host_is_barred(root) && is_through_host(cmd->ctx) && gs_pinned_ready(cmd)) {
        gs_report_moved(GS_PATH_PINNED, bytes);
        const struct gs_label before = gs_label_way(GS_WAY_PINNED);
        const cl_int err = gs_pinned_copy_image(cmd, send->mem, send->from, to->mem, to->place, origin, region,
                                                bytes / region[1] / region[2], &send->wait, end);
        gs_label_back(before);
        return err;
    }
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_image_queue(cmd->q, to->place, &err);
    gs_report_moved(GS_PATH_COPY, bytes);
    const struct gs_op op = {.kind = GS_OP_COPY_IMAGE,
                             .src = send->mem,
                             .dst = to->mem,
                             .from = {origin[0], origin[1], origin[2]},
                             .to = {origin[0], origin[1], origin[2]},
                             .region = {region[0], region[1], region[2]}};
    if (!err)
        err = gs_put(queue, &op, GS_VIA_HOST, send->wait.n, send->wait.v, &event);
    return err ? err : gs_events_add(end, event);
}

static cl_int carry_images(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < sends->n; i++) {
        struct gs_send *send = &sends->v[i];
        for (unsigned t = 0; t < send->n && !err; t++) {
            struct gs_taker *to = &send->to[t];
            struct gs_events end = {0};
            const struct gs_label before = gs_label_taker(to);
            err = copy_image(cmd, root, send, to, &end);
            gs_label_back(before);
            if (end.n && gs_real()->clRetainEvent(end.v[0]) == CL_SUCCESS)
                to->arrived = end.v[0];
            if (!err && end.n)
                err = to->arrived ? gs_sends_end(root, send, to) : CL_OUT_OF_RESOURCES;
            gs_events_free(&end);
        }
    }
    return err;
}

/* Everything that was enqueued earlier, and the last transfer into the source before these: the same command may have
 * asked for that one a moment ago. And those that bring these very bytes there: where one fails, this one must. */
static cl_int wait_for_source(const struct gs_command *cmd, const struct gs_replica *src, struct gs_send *send)
{
    const struct gs_range r = gs_rect_hull(&send->rect);
    cl_int err = gs_events_share_all(&send->wait, &cmd->before);
    for (size_t i = 0; i < src->n_arrivals && !err; i++) {
        const struct gs_arrival *a = &src->arrivals[i];
        const struct gs_range brought = gs_rect_hull(&a->rect);
        if (a->event != src->ready && brought.begin < r.end && r.begin < brought.end)
            err = gs_events_share(&send->wait, a->event);
    }
    return err || !src->ready ? err : gs_events_share(&send->wait, src->ready);
}

/* Rows that no kernel can pack travel one by one. */
static int take_apart(struct gs_command *cmd, struct gs_sends *sends)
{
    int err = 0;
    for (size_t i = 0, n = sends->n; i < n && !err; i++) {
        struct gs_send send = sends->v[i];
        const struct gs_rect r = send.rect;
        if (r.rows == 1 || gs_strided_ready(cmd->ctx, send.from, send.to[0].place))
            continue;
        sends->v[i].rect = gs_one_row(gs_rect_row(&r, 0));
        for (uint64_t row = 1; row < r.rows && !err; row++) {
            send.rect = gs_one_row(gs_rect_row(&r, row));
            err = gs_sends_add(sends, &send);
        }
    }
    return err;
}

cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends)
{
    cl_int err = take_apart(cmd, sends) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    gs_sends_join(sends);
    for (size_t i = 0; i < sends->n && !err; i++) {
        struct gs_send *send = &sends->v[i];
        send->mem = root->place[send->from].mem;
        send->to_begin = send->rect.begin;
        for (unsigned t = 0; t < send->n; t++)
            send->to[t].mem = root->place[send->to[t].place].mem;
        err = wait_for_source(cmd, &root->place[send->from], send);
    }
    if (!err)
        err = root->is_image ? carry_images(cmd, root, sends) : carry(cmd, root, sends, !gs_host_is_barred(root), true);
    if (err)
        gs_sends_leave(cmd->ctx, root, sends);
    return err;
}
