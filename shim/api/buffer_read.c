/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading buffers. */
#include "shim/api/home.h"
#include "shim/choose/timing.h"

/* Of bytes of an object of ours, which the driver would take. */
static cl_int read_bytes(struct gs_command *cmd, struct gs_mem *m)
{
    const struct gs_op *op = &cmd->op;
    const struct gs_side src = {.m = m, .range = gs_window_range(m, op->from[0], op->region[0])};
    const bool sound = gs_list_is_valid(cmd->n_wait, cmd->wait);
    cl_int err;
    if (sound && gs_try_pass_read(cmd, src, &err))
        return err;
    gs_queue_close(cmd->queue);
    const struct gs_op_run run = {.op = gs_op_read(m->root->o.handle, src.range.begin, op->region[0], op->ptr)};
    if (sound)
        return gs_read_from_places(cmd, src, &run);
    if (cmd->n_wait && cmd->wait)
        return gs_home_transfer(cmd, src, (struct gs_side){0}, NULL);
    return gs_command_pass(cmd);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                    cl_bool blocking_read, size_t offset, size_t size, void *ptr,
                                                    cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                    cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_READ, .blocking = blocking_read, .src = buffer, .from = {offset},
                                       .region = {size, 1, 1}, .ptr = ptr);
    GS_CALL("clEnqueueReadBuffer");
    struct gs_mem *m = gs_command_begin_on(&cmd, buffer);
    struct gs_queue *q = cmd.q;
    if (m && !gs_host_may(m, CL_MAP_READ))
        return CL_INVALID_OPERATION;
    /* On a queue in order, what was launched before has run when this returns. */
    const bool tells = blocking_read && q && !q->out_of_order;
    struct gs_stretch before;
    gs_timing_before_wait(tells ? q : NULL, &before);
    /* The driver knows what is wrong with a call that we can't serve. */
    const bool known = m && ptr && gs_mem_has(m, offset, size);
    if (!known)
        gs_queue_close(command_queue);
    const cl_int err = known ? read_bytes(&cmd, m) : gs_command_pass(&cmd);
    if (blocking_read)
        gs_timing_after_wait(&before, err);
    return err;
}
