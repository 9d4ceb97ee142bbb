/* SPDX-License-Identifier: MIT */
#include "shim/merge.h"

#include "shim/merge_kernels.h"
#include "shim/report.h"
#include "shim/transfer/transfer.h"

static cl_mem make_scratch(struct gs_context *ctx, uint64_t bytes, cl_int *err)
{
    return gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, err);
}

/* An image to a buffer without gaps, on the image's own device; or back. */
static cl_int flatten(struct gs_command *cmd, struct gs_mem *root, unsigned place, cl_mem buffer, bool back,
                      const struct gs_events *wait, struct gs_events *done)
{
    static const size_t origin[3];
    size_t region[3];
    cl_int err;
    cl_event event;
    gs_image_bytes(root, region);
    cl_command_queue queue = gs_image_queue(cmd->q, place, &err);
    if (err)
        return err;
    if (back)
        err = gs_real()->clEnqueueCopyBufferToImage(queue, buffer, root->place[place].mem, 0, origin, region, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    else
        err = gs_real()->clEnqueueCopyImageToBuffer(queue, root->place[place].mem, buffer, origin, region, 0, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     const struct gs_events *ready, struct gs_events *done)
{
    size_t region[3];
    cl_int err = gs_merge_kernels_make(cmd->ctx);
    if (err)
        return err;
    *m = (struct gs_merge){.root = root, .window = window, .bytes = window.end - window.begin};
    if (root->is_image)
        m->bytes = gs_image_bytes(root, region);
    m->kept = make_scratch(cmd->ctx, m->bytes, &err);
    if (err)
        return err;
    if (root->is_image)
        return flatten(cmd, root, 0, m->kept, false, ready, done);
    return gs_transfer_buffer(cmd, root->place[0].mem, 0, m->kept, 0, window.begin, 0, m->bytes, ready, done);
}

/* Brings what part p holds to a scratch buffer on the first device. */
static cl_int fetch_part(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, cl_mem scratch,
                         struct gs_events *done)
{
    struct gs_events wait = {0}, flat = {0};
    cl_mem source_mem = m->root->place[p].mem, linear = NULL;
    uint64_t source_offset = m->window.begin;
    cl_int err = gs_events_share(&wait, ran);
    if (!err && m->root->is_image) {
        linear = make_scratch(cmd->ctx, m->bytes, &err);
        if (!err)
            err = flatten(cmd, m->root, p, linear, false, &wait, &flat);
        source_mem = linear;
        source_offset = 0;
    }
    if (!err)
        err = gs_transfer_buffer(cmd, source_mem, p, scratch, 0, source_offset, 0, m->bytes, flat.n ? &flat : &wait,
                                 done);
    if (linear)
        gs_real()->clReleaseMemObject(linear);
    gs_events_free(&wait);
    gs_events_free(&flat);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct gs_events home = {0};
    cl_mem dst = m->root->place[0].mem, linear = NULL;
    uint64_t begin = m->window.begin;
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, 0, &err);
    if (!err)
        err = gs_events_share(&home, ran[0]);
    if (!err && m->root->is_image) {
        linear = make_scratch(cmd->ctx, m->bytes, &err);
        if (!err)
            err = flatten(cmd, m->root, 0, linear, false, &home, &home);
        dst = linear;
        begin = 0;
    }
    for (unsigned p = 1; p < n_parts && !err; p++) {
        cl_mem scratch = make_scratch(cmd->ctx, m->bytes, &err);
        if (err)
            break;
        err = fetch_part(cmd, m, p, ran[p], scratch, &home);
        if (!err)
            err = gs_enqueue_merge(cmd->ctx, queue, dst, begin, scratch, m->kept, m->bytes, &home, &home);
        gs_real()->clReleaseMemObject(scratch);
        gs_report_moved(GS_PATH_MERGE, m->bytes);
    }
    if (!err && linear)
        err = flatten(cmd, m->root, 0, linear, true, &home, &home);
    if (linear)
        gs_real()->clReleaseMemObject(linear);
    for (cl_uint i = 0; i < home.n && !err; i++)
        err = gs_events_share(done, home.v[i]);
    gs_events_free(&home);
    return err;
}

void gs_merge_free(struct gs_merge *m)
{
    if (m->kept)
        gs_real()->clReleaseMemObject(m->kept);
    m->kept = NULL;
}
