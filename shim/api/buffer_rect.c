/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: reading and writing rows of buffers. */
#include "shim/api/buffer.h"
#include "shim/report/report.h"
#include "shim/report/watch.h"

enum { MAY_BE_STAGED = 4096 };

/* Rows of a buffer: what they cover of it, and how they lie there. */
struct rows {
    struct gs_mem *m;
    struct gs_range r;
    const size_t *origin, *host_origin, *region;
    size_t pitch[2], host_pitch[2];
};

/* As a transfer with the host's memory. Null: too few bytes, or none that go so. */
static const struct gs_staged *staged_rows(struct gs_staged *t, const struct rows *rows, bool write, const void *ptr)
{
    return rows->r.end - rows->r.begin >= MAY_BE_STAGED &&
                   gs_staged_rect(t, rows->m, write, rows->origin, rows->host_origin, rows->region, rows->pitch,
                                  rows->host_pitch, ptr)
               ? t
               : NULL;
}

/* Which of the queue's objects it is, if the rows lie inside it. */
static struct gs_mem *mem_of(struct gs_queue *q, cl_mem buffer, const struct rows *rows)
{
    struct gs_mem *m = q ? gs_find(GS_MEM, buffer) : NULL;
    return m && rows->host_origin && gs_inside(m, rows->r.begin, rows->r.end - rows->r.begin) ? m : NULL;
}

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
    struct gs_op op = {.kind = GS_OP_READ_RECT,
                       .blocking = blocking_read,
                       .src = buffer,
                       .from_pitch = {buffer_row_pitch, buffer_slice_pitch},
                       .to_pitch = {host_row_pitch, host_slice_pitch},
                       .ptr = ptr};
    gs_set_box(&op, buffer_offset, host_offset, region);
    struct gs_queue *q = gs_queue_of(command_queue);
    struct rows rows = {.r = gs_rect_range(buffer_offset, region, buffer_row_pitch, buffer_slice_pitch),
                        .origin = buffer_offset,
                        .host_origin = host_offset,
                        .region = region,
                        .pitch = {buffer_row_pitch, buffer_slice_pitch},
                        .host_pitch = {host_row_pitch, host_slice_pitch}};
    struct gs_mem *m = rows.m = mem_of(q, buffer, &rows);
    if (!m || !gs_may_read(m))
        return gs_enqueue(&op, command_queue, num_events_in_wait_list, event_wait_list, event);
    struct gs_staged t;
    const struct gs_command cmd = {.ctx = q->o.ctx, .q = q, .n_wait = num_events_in_wait_list, .wait = event_wait_list};
    const struct gs_side from = {.m = m, .r = gs_window_range(m, rows.r.begin, rows.r.end - rows.r.begin)};
    return gs_home_transfer(&cmd, &op, from, (struct gs_side){0}, staged_rows(&t, &rows, false, ptr), event);
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
    struct gs_op op = {.kind = GS_OP_WRITE_RECT,
                       .blocking = blocking_write,
                       .dst = buffer,
                       .from_pitch = {host_row_pitch, host_slice_pitch},
                       .to_pitch = {buffer_row_pitch, buffer_slice_pitch},
                       .ptr = (void *)(uintptr_t)ptr};
    gs_set_box(&op, host_offset, buffer_offset, region);
    struct gs_queue *q = gs_queue_of(command_queue);
    struct rows rows = {.r = gs_rect_range(buffer_offset, region, buffer_row_pitch, buffer_slice_pitch),
                        .origin = buffer_offset,
                        .host_origin = host_offset,
                        .region = region,
                        .pitch = {buffer_row_pitch, buffer_slice_pitch},
                        .host_pitch = {host_row_pitch, host_slice_pitch}};
    struct gs_mem *m = rows.m = mem_of(q, buffer, &rows);
    if (!m)
        return gs_enqueue(&op, command_queue, num_events_in_wait_list, event_wait_list, event);
    struct gs_staged t;
    const struct gs_command cmd = {.ctx = q->o.ctx, .q = q, .n_wait = num_events_in_wait_list, .wait = event_wait_list};
    /* The bytes between the rows stay: they must be home before. */
    const struct gs_side to = {.m = m, .r = gs_window_range(m, rows.r.begin, rows.r.end - rows.r.begin)};
    return gs_home_transfer(&cmd, &op, (struct gs_side){0}, to,
                            gs_may_write(m) ? staged_rows(&t, &rows, true, ptr) : NULL, event);
}
