/* SPDX-License-Identifier: MIT */
#include "shim/output/merge.h"

#include "shim/coherence/coherence.h"
#include "shim/output/run_kernel.h"
#include "shim/put/put.h"
#include "shim/report/report.h"
#include "shim/output/scratch.h"
#include "shim/transfer/transfer.h"
#include "shim/memory/image.h"

/* What a place holds of the root, as a buffer: itself, or a copy of an image. */
struct holding {
    cl_mem mem;
    uint64_t begin;
    struct gs_events since; /* what it has to be waited for */
};

/* An image to a buffer without gaps, on the image's own device, or back; after these events, which gain its end. */
static cl_int flatten(struct gs_command *cmd, struct gs_mem *root, unsigned place, cl_mem buffer, bool back,
                      struct gs_events *since)
{
    size_t region[3];
    cl_int err;
    cl_event event;
    gs_image_bytes(root, region);
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_IMAGE_QUEUE, place, &err);
    cl_mem image = gs_replica_at(root, place);
    const struct gs_op op = {.kind = back ? GS_OP_BUFFER_TO_IMAGE : GS_OP_IMAGE_TO_BUFFER,
                             .src = back ? buffer : image,
                             .dst = back ? image : buffer,
                             .region = {region[0], region[1], region[2]}};
    if (!err)
        err = gs_put(queue, &op, GS_VIA_MEMORY, since->n, since->v, &event);
    return err ? err : gs_events_add(since, event);
}

static cl_int keep(struct gs_command *cmd, struct gs_merge *m, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    m->kept = gs_scratch_take(cmd->ctx, 0, m->bytes, &err);
    if (!err && m->root->image)
        return flatten(cmd, m->root, 0, m->kept, false, ready);
    cl_command_queue queue = err ? NULL : gs_queue_behind(cmd->q, GS_COPY_QUEUE, 0, &err);
    const struct gs_op copy = gs_op_copy(gs_replica_at(m->root, 0), m->kept, m->window.begin, 0, m->bytes);
    if (!err)
        err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready)
{
    size_t region[3];
    *m = (struct gs_merge){.root = root, .window = window, .bytes = window.end - window.begin};
    if (root->image)
        m->bytes = gs_image_bytes(root, region);
    cl_int err;
    if (gs_own_kernel(cmd->ctx, 0, GS_OWN_MERGE, &err))
        err = keep(cmd, m, &ready[0]);
    /* What the merge will need once the parts have run. Where home has room for one part only, the others follow it. */
    if (!err)
        err = gs_scratch_reserve(cmd, 0, m->bytes, n_parts, ready);
    for (unsigned p = 0; p < n_parts && !err && root->image; p++)
        err = gs_scratch_reserve(cmd, p, m->bytes, n_parts, ready);
    return err;
}

/* What place p holds once `ran` has ended. */
static cl_int make_linear(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, struct holding *l)
{
    cl_int err = gs_events_share(&l->since, ran);
    l->mem = gs_replica_at(m->root, p);
    l->begin = m->window.begin;
    if (err || !m->root->image)
        return err;
    l->mem = gs_scratch_claim(cmd->ctx, p, m->bytes, &err);
    l->begin = 0;
    return err ? err : flatten(cmd, m->root, p, l->mem, false, &l->since);
}

/* To the first device, and compared there. */
static cl_int merge_part(struct gs_command *cmd, struct gs_merge *m, unsigned p, const struct holding *part,
                         struct holding *home)
{
    cl_int err;
    struct gs_events wait = {0};
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, 0, &err);
    cl_mem scratch = err ? NULL : gs_scratch_claim(cmd->ctx, 0, m->bytes, &err);
    const bool again = !scratch && m->arrived && queue; /* where the part before has been compared */
    if (again)
        err = gs_events_share_all(&wait, &home->since);
    else if (scratch)
        m->arrived = scratch;
    if (!err)
        err = gs_events_share_all(&wait, &part->since);
    const struct gs_op copy = gs_op_copy(part->mem, m->arrived, part->begin, 0, m->bytes);
    if (!err)
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, &home->since);
    if (!err)
        err = gs_run_output_kernel(queue,
                                   GS_OUTPUT_LAUNCH(gs_own_made(cmd->ctx, 0, GS_OWN_MERGE), (m->bytes + 15) / 16,
                                                    GS_ARG(home->mem), GS_ARG(home->begin), GS_ARG(m->arrived),
                                                    GS_ARG(m->kept), GS_ARG(m->bytes)),
                                   &home->since, &home->since);
    gs_events_free(&wait);
    gs_report_moved(GS_PATH_MERGE, m->bytes);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct holding on[GS_MAX_DEVICES] = {0};
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = make_linear(cmd, m, p, ran[p], &on[p]);
    for (unsigned p = 1; p < n_parts && !err; p++)
        err = merge_part(cmd, m, p, &on[p], &on[0]);
    if (!err && m->root->image)
        err = flatten(cmd, m->root, 0, on[0].mem, true, &on[0].since);
    for (unsigned p = 0; p < n_parts; p++) {
        if (!err)
            err = gs_events_share_all(done, &on[p].since);
        gs_events_free(&on[p].since);
    }
    return err;
}
