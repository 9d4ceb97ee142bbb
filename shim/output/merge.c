/* SPDX-License-Identifier: MIT */
#include "shim/output/output.h"

#include "shim/coherence/coherence.h"
#include "shim/report/report.h"
#include "shim/transfer/transfer.h"

enum { MERGE_BYTES = 16 /* that gs_merge compares at a time */ };

static uint64_t bytes_of(const struct gs_merge *m)
{
    return m->window.end - m->window.begin;
}

static cl_int keep(struct gs_command *cmd, struct gs_merge *m, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    m->kept = gs_scratch_take(cmd, bytes_of(m), 0, NULL, &err);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    const struct gs_op copy = gs_op_copy(gs_replica_at(m->root, 0), m->kept, m->window.begin, 0, bytes_of(m));
    if (!err)
        err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready)
{
    *m = (struct gs_merge){.root = root, .window = window};
    cl_int err;
    if (gs_own_kernel(cmd->ctx, GS_OWN_MERGE, &err))
        err = keep(cmd, m, &ready[0]);
    /* What the merge will need once the parts have run. Where home has room for one part only, the others follow it. */
    if (!err)
        m->arrived[1] = gs_scratch_take(cmd, bytes_of(m), n_parts, ready, &err);
    return err;
}

/* To the first device, and compared there, after `home`, which gains the end. Where home has no more memory the bytes
 * come to where those of the part before have been compared. */
static cl_int merge_part(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, struct gs_events *home)
{
    cl_int err;
    struct gs_events wait = {0};
    const uint64_t bytes = bytes_of(m);
    cl_mem mem = gs_replica_at(m->root, 0), own = p == 1 ? m->arrived[1] : gs_scratch_take(cmd, bytes, 0, NULL, &err);
    m->arrived[p] = own ? own : m->arrived[p - 1];
    err = own ? CL_SUCCESS : gs_events_share_all(&wait, home);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (!err)
        err = gs_events_share(&wait, ran);
    const struct gs_op copy = gs_op_copy(gs_replica_at(m->root, p), m->arrived[p], m->window.begin, 0, bytes);
    if (!err)
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, home);
    if (!err)
        err = gs_run_output_kernel(
            queue,
            GS_OUTPUT_LAUNCH(cmd->ctx->own.kernel[GS_OWN_MERGE], (bytes + MERGE_BYTES - 1) / MERGE_BYTES, GS_ARG(mem),
                             GS_ARG(m->window.begin), GS_ARG(m->arrived[p]), GS_ARG(m->kept), GS_ARG(bytes)),
            home, home);
    gs_events_free(&wait);
    gs_report_moved(GS_PATH_MERGE, bytes);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct gs_events home = {0};
    cl_int err = gs_events_share(&home, ran[0]);
    for (unsigned p = 1; p < n_parts && !err; p++)
        err = merge_part(cmd, m, p, ran[p], &home);
    if (!err)
        err = gs_events_share_all(done, &home);
    gs_events_free(&home);
    return err;
}
