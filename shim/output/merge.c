/* SPDX-License-Identifier: MIT */
#include "shim/output/merge.h"

#include "shim/memory/coherence.h"
#include "shim/output/merge_kernels.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"
#include "shim/output/sparse.h"
#include "shim/memory/transfer.h"

/* An image to a buffer without gaps, on the image's own device; or back. */
static cl_int flatten(struct gs_command *cmd, struct gs_mem *root, unsigned place, cl_mem buffer, bool back,
                      const struct gs_events *wait, struct gs_events *done)
{
    size_t region[3];
    cl_int err;
    cl_event event;
    gs_image_bytes(root, region);
    cl_command_queue queue = gs_image_queue(cmd->q, place, &err);
    cl_mem image = root->place[place].mem;
    const struct gs_op op = {.kind = back ? GS_OP_BUFFER_TO_IMAGE : GS_OP_IMAGE_TO_BUFFER,
                             .src = back ? buffer : image,
                             .dst = back ? image : buffer,
                             .region = {region[0], region[1], region[2]}};
    if (!err)
        err = gs_put(queue, &op, GS_VIA_MEMORY, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

static cl_int keep_on(struct gs_command *cmd, struct gs_merge *m, unsigned place, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    m->kept[place] = gs_scratch_take(cmd->ctx, place, m->bytes, &err);
    if (!err && m->root->is_image)
        return flatten(cmd, m->root, place, m->kept[place], false, ready, ready);
    cl_command_queue queue = err ? NULL : gs_copy_queue(cmd->q, place, &err);
    const struct gs_op copy = gs_op_copy(m->root->place[place].mem, m->kept[place], m->window.begin, 0, m->bytes);
    if (!err)
        err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

/* What the merge will need once the parts have run. Where home has room for one part only, the others follow it. */
static cl_int reserve(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_events *ready)
{
    cl_int err =
        m->by_blocks ? gs_sparse_reserve(cmd, m, n_parts, ready) : gs_scratch_reserve(cmd, 0, m->bytes, n_parts, ready);
    for (unsigned p = 0; p < n_parts && !err && m->root->is_image; p++)
        err = gs_scratch_reserve(cmd, p, m->bytes, n_parts, ready);
    return err;
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready)
{
    size_t region[3];
    *m = (struct gs_merge){.root = root, .window = window, .bytes = window.end - window.begin};
    if (root->is_image)
        m->bytes = gs_image_bytes(root, region);
    m->by_blocks = gs_sparse_worth(root, m->bytes);
    m->everywhere = m->by_blocks && root->merged;
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < (m->by_blocks ? n_parts : 1) && !err; p++) {
        err = gs_merge_kernels_make(cmd->ctx, p);
        if (!err)
            err = keep_on(cmd, m, p, &ready[p]);
    }
    return err ? err : reserve(cmd, m, n_parts, ready);
}

/* What place p holds once `ran` has ended. */
static cl_int make_linear(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, struct gs_holding *l)
{
    cl_int err = gs_events_share(&l->since, ran);
    l->mem = m->root->place[p].mem;
    l->begin = m->window.begin;
    if (err || !m->root->is_image)
        return err;
    l->mem = gs_scratch_claim(cmd->ctx, p, m->bytes, &err);
    l->begin = 0;
    return err ? err : flatten(cmd, m->root, p, l->mem, false, &l->since, &l->since);
}

/* Whole: to the first device, and compared there. */
static cl_int merge_whole(struct gs_command *cmd, struct gs_merge *m, unsigned p, const struct gs_holding *part,
                          struct gs_holding *home)
{
    cl_int err;
    struct gs_events wait = {0};
    cl_command_queue queue = gs_copy_queue(cmd->q, 0, &err);
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
    const struct gs_merge_bytes bytes = {home->mem, m->arrived, m->kept[0], home->begin, m->bytes};
    if (!err)
        err =
            gs_enqueue_merge(queue, gs_output_kernel(cmd->ctx, 0, GS_OUTPUT_MERGE), &bytes, &home->since, &home->since);
    gs_events_free(&wait);
    gs_report_moved(GS_PATH_MERGE, m->bytes);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct gs_holding on[GS_MAX_DEVICES] = {0};
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = make_linear(cmd, m, p, ran[p], &on[p]);
    if (!err && m->by_blocks && !gs_sparse_merge(cmd, m, n_parts, on))
        m->by_blocks = m->everywhere = false;
    for (unsigned p = 1; p < n_parts && !err && !m->by_blocks; p++)
        err = merge_whole(cmd, m, p, &on[p], &on[0]);
    for (unsigned p = 0; p < (m->everywhere ? n_parts : 1) && !err && m->root->is_image; p++)
        err = flatten(cmd, m->root, p, on[p].mem, true, &on[p].since, &on[p].since);
    for (unsigned p = 0; p < n_parts; p++) {
        if (!err)
            err = gs_events_share_all(done, &on[p].since);
        gs_events_free(&on[p].since);
    }
    return err;
}

int gs_merge_record(const struct gs_merge *m, unsigned n_parts)
{
    int err = gs_wrote_range(m->root, 0, m->window);
    for (unsigned p = 1; p < n_parts && !err && m->everywhere; p++)
        err = gs_rangeset_add(&m->root->place[p].valid, m->window);
    m->root->merged = true;
    return err;
}
