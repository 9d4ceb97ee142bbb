/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading and writing rows of buffers. */
#include "shim/api/buffer.h"
#include "shim/report/report.h"
#include "shim/report/watch.h"

enum { MAY_BE_STAGED = 4096 };

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                        cl_bool blocking_read, const size_t *buffer_offset,
                                                        const size_t *host_offset, const size_t *region,
                                                        size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                        size_t host_row_pitch, size_t host_slice_pitch, void *ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueReadBufferRect");
    gs_report_moved(GS_PATH_APP_READ, region ? region[0] * region[1] * region[2] : 0);
    struct gs_queue *q = gs_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, buffer) : NULL;
    const struct gs_range r = gs_rect_range(buffer_offset, region, buffer_row_pitch, buffer_slice_pitch);
    const bool ours = m && host_offset && gs_inside(m, r.begin, r.end - r.begin) && gs_may_read(m);
    const size_t pitches[2] = {buffer_row_pitch, buffer_slice_pitch},
                 host_pitches[2] = {host_row_pitch, host_slice_pitch};
    struct gs_staged t;
    struct gs_home h;
    cl_event own = NULL;
    const bool large = ours && r.end - r.begin >= MAY_BE_STAGED &&
                       gs_staged_rect(&t, m, false, buffer_offset, host_offset, region, pitches, host_pitches, ptr);
    bool by_driver =
        !ours || (!large && !gs_scheduled() && gs_range_at_home(q, m, gs_window_range(m, r.begin, r.end - r.begin)));
    cl_int err = CL_SUCCESS;
    if (!by_driver) {
        gs_home_begin(&h, q, true, num_events_in_wait_list, event_wait_list);
        gs_home_need(&h, m, gs_window_range(m, r.begin, r.end - r.begin));
        err = gs_home_ready(&h);
        if (!err && large && gs_home_beside(&h, m, CL_COMMAND_READ_BUFFER_RECT, blocking_read, &t, &own)) {
            if (h.by_units)
                gs_job_reads();
            return gs_home_wait(gs_home_end(&h, err), blocking_read, own, event);
        }
        by_driver = !err && !h.by_units && !h.extra.n; /* it was home after all */
        if (by_driver)
            gs_home_end(&h, err);
    }
    if (by_driver)
        return gs_real()->clEnqueueReadBufferRect(
            command_queue, buffer, blocking_read, buffer_offset, host_offset, region, buffer_row_pitch,
            buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
    struct gs_op op = {.kind = GS_OP_READ_RECT,
                       .src = buffer,
                       .from_pitch = {buffer_row_pitch, buffer_slice_pitch},
                       .to_pitch = {host_row_pitch, host_slice_pitch},
                       .ptr = ptr};
    gs_set_box(&op, buffer_offset, host_offset, region);
    if (!err)
        err = gs_home_run(&h, command_queue, &op, CL_COMMAND_READ_BUFFER_RECT, event || blocking_read ? &own : NULL);
    if (h.by_units)
        gs_job_reads();
    return gs_home_wait(gs_home_end(&h, err), blocking_read, own, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                                         cl_bool blocking_write, const size_t *buffer_offset,
                                                         const size_t *host_offset, const size_t *region,
                                                         size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                                         size_t host_row_pitch, size_t host_slice_pitch,
                                                         const void *ptr, cl_uint num_events_in_wait_list,
                                                         const cl_event *event_wait_list, cl_event *event)
{
    GS_CALL("clEnqueueWriteBufferRect");
    gs_report_moved(GS_PATH_APP_WRITE, region ? region[0] * region[1] * region[2] : 0);
    struct gs_queue *q = gs_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, buffer) : NULL;
    const struct gs_range r = gs_rect_range(buffer_offset, region, buffer_row_pitch, buffer_slice_pitch);
    if (!m || !host_offset || !gs_inside(m, r.begin, r.end - r.begin))
        return gs_real()->clEnqueueWriteBufferRect(
            command_queue, buffer, blocking_write, buffer_offset, host_offset, region, buffer_row_pitch,
            buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event);
    /* The bytes between the rows stay: they must be home before. */
    const struct gs_range all = gs_window_range(m, r.begin, r.end - r.begin);
    const size_t pitches[2] = {buffer_row_pitch, buffer_slice_pitch},
                 host_pitches[2] = {host_row_pitch, host_slice_pitch};
    struct gs_staged t;
    struct gs_home h;
    cl_event own = NULL;
    gs_home_begin(&h, q, false, num_events_in_wait_list, event_wait_list);
    gs_home_need(&h, m, all);
    cl_int err = gs_home_ready(&h);
    const bool beside = !err && r.end - r.begin >= MAY_BE_STAGED && gs_may_write(m) &&
                        gs_staged_rect(&t, m, true, buffer_offset, host_offset, region, pitches, host_pitches, ptr) &&
                        gs_home_beside(&h, m, CL_COMMAND_WRITE_BUFFER_RECT, blocking_write, &t, &own);
    const bool waits = !err && !beside && blocking_write && !h.by_units;
    if (waits) {
        gs_home_open(&h, m, all);
        err = gs_real()->clEnqueueWriteBufferRect(command_queue, buffer, CL_TRUE, buffer_offset, host_offset, region,
                                                  buffer_row_pitch, buffer_slice_pitch, host_row_pitch,
                                                  host_slice_pitch, ptr, h.n, h.v, event);
        gs_home_close(&h, m, all, err);
        return gs_home_end(&h, err);
    }
    struct gs_op op = {.kind = GS_OP_WRITE_RECT,
                       .dst = buffer,
                       .from_pitch = {host_row_pitch, host_slice_pitch},
                       .to_pitch = {buffer_row_pitch, buffer_slice_pitch},
                       .ptr = (void *)ptr};
    gs_set_box(&op, host_offset, buffer_offset, region);
    if (!err && !beside)
        err = gs_home_run(&h, command_queue, &op, CL_COMMAND_WRITE_BUFFER_RECT, event || blocking_write ? &own : NULL);
    if (!err)
        gs_home_wrote(&h, m, all);
    return gs_home_wait(gs_home_end(&h, err), blocking_write, own, event);
}
