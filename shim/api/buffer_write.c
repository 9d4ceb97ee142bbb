/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: writing buffers. */
#include "shim/api/home.h"
#include "shim/report/report.h"

/* Writes a few bytes by the driver's own call, holding the link's unit only during the call: the bytes are on their way
 * for no longer than asking for a unit takes. False: nothing was enqueued. */
static bool write_at_once(const struct gs_command *cmd, cl_int *err)
{
    struct gs_queue *q = cmd->q;
    const size_t size = cmd->op.region[0];
    struct gs_job job;
    struct gs_unit u = {0};
    gs_job_enter(cmd->ctx, false, &job);
    gs_queue_lock(q);
    const bool may_go = (!job.transfer_chunk || size <= job.transfer_chunk) && !atomic_load(&cmd->ctx->spread);
    const bool by_unit = may_go && gs_unit_try(&u, GS_RESOURCE_PCI, GS_LENGTH_UNKNOWN);
    if (by_unit) {
        *err = gs_command_pass(cmd);
        gs_timeline_enqueue_untracked(q->timeline); /* the unit is given back before the command ends */
        gs_unit_on(&u, GS_UNIT_SUBMIT);
    }
    pthread_mutex_unlock(&cmd->ctx->lock);
    if (by_unit)
        gs_unit_over(&u);
    return by_unit;
}

/* Hands the write on if the table says so. False: nothing was enqueued. */
static bool goes_as_it_is(const struct gs_command *cmd, struct gs_side side, cl_int *err)
{
    unsigned facts = gs_home_facts(side.m, gs_transfer_is_direct(cmd->op.region[0]));
    if (!cmd->op.blocking && facts & GS_FACT_UNITS && !gs_report_wants_times() && gs_app_is_sole())
        facts |= GS_FACT_SOLE;
    return gs_host_way(facts) == GS_AT_ONCE ? write_at_once(cmd, err) : gs_try_pass(cmd, side, facts, err);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                     cl_bool blocking_write, size_t offset, size_t size,
                                                     const void *ptr, cl_uint num_events_in_wait_list,
                                                     const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_WRITE, .blocking = blocking_write, .dst = buffer, .to = {offset},
                                       .region = {size, 1, 1}, .ptr = (void *)(uintptr_t)ptr);
    cl_int err;
    GS_CALL("clEnqueueWriteBuffer");
    struct gs_mem *m = gs_command_begin_on(&cmd, buffer);
    if (!m || !gs_mem_has(m, offset, size))
        return gs_command_pass(&cmd);
    if (!gs_host_may(m, CL_MAP_WRITE))
        return CL_INVALID_OPERATION;
    const struct gs_side dst = {.m = m, .range = gs_window_range(m, offset, size), .covers = true};
    if (goes_as_it_is(&cmd, dst, &err))
        return err;
    struct gs_home h;
    cl_event own = NULL;
    struct gs_op_run run = {.op = gs_op_write(m->root->o.handle, dst.range.begin, size, cmd.op.ptr)};
    gs_home_begin(&h, &cmd, false);
    h.dst = dst;
    if (gs_write_to_place(&h, &run, &own))
        return gs_home_end_and_wait(&h, CL_SUCCESS, own);
    return gs_home_by_way(&h, &run);
}
