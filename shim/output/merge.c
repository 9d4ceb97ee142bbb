/* SPDX-License-Identifier: MIT */
#include "shim/output/merge.h"

#include "shim/coherence/coherence.h"
#include "shim/output/run_kernel.h"
#include "shim/put/put.h"
#include "shim/report/report.h"
#include "shim/output/scratch.h"
#include "shim/transfer/transfer.h"
#include "shim/memory/image.h"

/* An image is merged in pieces, so that all but one of the buffers that it takes are of one piece. */
enum { PIECE_BYTES = 64 * 1024 * 1024, MERGE_BYTES = 16 /* that gs_merge compares at a time */ };

/* What a place holds of the root, as a buffer: itself, or a copy of a piece of an image. */
struct holding {
    cl_mem mem;
    uint64_t begin;
    cl_mem arrived;         /* scratch memory of home's: where the part's bytes come to, to be compared */
    bool follows;           /* home had no more memory: that is the part's before it */
    struct gs_events since; /* what it has to be waited for */
};

/* What of the root from byte `begin` on is merged next: of a buffer all; of an image, laid out without gaps, as many
 * bands as fit, or rows of one slice, in multiples of 16: each piece but the last then ends at a multiple of
 * MERGE_BYTES. */
static struct gs_range piece_at(const struct gs_merge *m, uint64_t begin)
{
    const struct gs_image *image = m->root->image;
    uint64_t end = m->window.end;
    if (!image)
        return m->window;
    uint64_t unit = image->band_bytes;
    if (unit > PIECE_BYTES / MERGE_BYTES && image->band_dim == 2 && unit % MERGE_BYTES == 0) {
        size_t region[3];
        gs_image_bytes(m->root, region);
        end = (begin / unit + 1) * unit;
        unit /= region[1];
    }
    const uint64_t most = PIECE_BYTES / MERGE_BYTES / unit * unit * MERGE_BYTES;
    return (struct gs_range){begin, most && most < end - begin ? begin + most : end};
}

/* A piece of an image to a buffer without gaps, on the image's own device, or back; after these events, which gain its
 * end. */
static cl_int flatten(struct gs_command *cmd, const struct gs_merge *m, unsigned place, struct gs_range piece,
                      const struct gs_op *copy, struct gs_events *since)
{
    cl_int err;
    cl_event event;
    struct gs_op op = *copy;
    const bool back = op.kind == GS_OP_BUFFER_TO_IMAGE;
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_IMAGE_QUEUE, place, &err);
    *(back ? &op.dst : &op.src) = gs_replica_at(m->root, place);
    gs_image_box(m->root, piece, back ? op.to : op.from, op.region);
    if (!err)
        err = gs_put(queue, &op, GS_VIA_MEMORY, since->n, since->v, &event);
    return err ? err : gs_events_add(since, event);
}

static struct gs_op to_buffer(cl_mem buffer)
{
    return (struct gs_op){.kind = GS_OP_IMAGE_TO_BUFFER, .dst = buffer};
}

static struct gs_op to_image(cl_mem buffer)
{
    return (struct gs_op){.kind = GS_OP_BUFFER_TO_IMAGE, .src = buffer};
}

static cl_int keep(struct gs_command *cmd, struct gs_merge *m, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    m->kept = gs_scratch_take(cmd->ctx, 0, m->bytes, &err);
    const struct gs_op flat = to_buffer(m->kept);
    if (!err && m->root->image)
        return flatten(cmd, m, 0, m->window, &flat, ready);
    cl_command_queue queue = err ? NULL : gs_queue_behind(cmd->q, GS_COPY_QUEUE, 0, &err);
    const struct gs_op copy = gs_op_copy(gs_replica_at(m->root, 0), m->kept, m->window.begin, 0, m->bytes);
    if (!err)
        err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

static uint64_t piece_bytes(const struct gs_merge *m)
{
    const struct gs_range first = piece_at(m, m->window.begin);
    return first.end - first.begin;
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready)
{
    *m = (struct gs_merge){.root = root, .window = root->image ? (struct gs_range){0, root->size} : window};
    m->bytes = m->window.end - m->window.begin;
    cl_int err;
    if (gs_own_kernel(cmd->ctx, 0, GS_OWN_MERGE, &err))
        err = keep(cmd, m, &ready[0]);
    /* What the merge will need once the parts have run. Where home has room for one part only, the others follow it. */
    if (!err)
        err = gs_scratch_reserve(cmd, 0, piece_bytes(m), n_parts, ready);
    for (unsigned p = 0; p < n_parts && !err && root->image; p++)
        err = gs_scratch_reserve(cmd, p, piece_bytes(m), n_parts, ready);
    return err;
}

/* What place p holds, once `ran` has ended, and where it comes to. */
static cl_int hold(struct gs_command *cmd, const struct gs_merge *m, unsigned p, cl_event ran, struct holding *on)
{
    struct holding *l = &on[p];
    cl_int err = gs_events_share(&l->since, ran);
    l->mem = gs_replica_at(m->root, p);
    l->begin = m->window.begin;
    if (!err && m->root->image) {
        l->mem = gs_scratch_claim(cmd->ctx, p, piece_bytes(m), &err);
        l->begin = 0;
    }
    if (err || !p)
        return err;
    l->arrived = gs_scratch_claim(cmd->ctx, 0, piece_bytes(m), &err);
    l->follows = !l->arrived && p > 1;
    if (!l->follows)
        return err;
    l->arrived = on[p - 1].arrived;
    return CL_SUCCESS;
}

/* To the first device, and compared there. */
static cl_int merge_part(struct gs_command *cmd, const struct gs_merge *m, unsigned p, struct gs_range piece,
                         const struct holding *part, struct holding *home)
{
    cl_int err;
    struct gs_events wait = {0};
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, 0, &err);
    const uint64_t bytes = piece.end - piece.begin, kept_begin = piece.begin - m->window.begin;
    if (!err && part->follows) /* where the part before has been compared */
        err = gs_events_share_all(&wait, &home->since);
    if (!err)
        err = gs_events_share_all(&wait, &part->since);
    const struct gs_op copy = gs_op_copy(part->mem, part->arrived, part->begin, 0, bytes);
    if (!err)
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, &home->since);
    if (!err)
        err = gs_run_output_kernel(queue,
                                   GS_OUTPUT_LAUNCH(gs_own_made(cmd->ctx, 0, GS_OWN_MERGE),
                                                    (bytes + MERGE_BYTES - 1) / MERGE_BYTES, GS_ARG(home->mem),
                                                    GS_ARG(home->begin), GS_ARG(part->arrived), GS_ARG(m->kept),
                                                    GS_ARG(kept_begin), GS_ARG(bytes)),
                                   &home->since, &home->since);
    gs_events_free(&wait);
    gs_report_moved(GS_PATH_MERGE, bytes);
    return err;
}

/* The next piece comes to the same buffers: on every place after the last of home's commands, which comes after all
 * the others. */
static cl_int follow(struct holding *on, unsigned n_parts)
{
    struct gs_events last = {0};
    cl_int err = gs_events_share(&last, on[0].since.v[on[0].since.n - 1]);
    for (unsigned p = 0; p < n_parts && !err; p++) {
        gs_events_free(&on[p].since);
        err = gs_events_share_all(&on[p].since, &last);
    }
    gs_events_free(&last);
    return err;
}

static cl_int merge_piece(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_range piece,
                          struct holding *on)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n_parts && !err && m->root->image; p++) {
        const struct gs_op flat = to_buffer(on[p].mem);
        err = flatten(cmd, m, p, piece, &flat, &on[p].since);
    }
    for (unsigned p = 1; p < n_parts && !err; p++)
        err = merge_part(cmd, m, p, piece, &on[p], &on[0]);
    const struct gs_op back = to_image(on[0].mem);
    if (!err && m->root->image)
        err = flatten(cmd, m, 0, piece, &back, &on[0].since);
    return err || piece.end == m->window.end ? err : follow(on, n_parts);
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct holding on[GS_MAX_DEVICES] = {0};
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = hold(cmd, m, p, ran[p], on);
    for (uint64_t begin = m->window.begin; begin < m->window.end && !err;) {
        const struct gs_range piece = piece_at(m, begin);
        err = merge_piece(cmd, m, n_parts, piece, on);
        begin = piece.end;
    }
    for (unsigned p = 0; p < n_parts; p++) {
        if (!err)
            err = gs_events_share_all(done, &on[p].since);
        gs_events_free(&on[p].since);
    }
    return err;
}
