/* SPDX-License-Identifier: MIT */
/* Specification, section 5.2.2: writing buffers. */
#include "shim/api/buffer.h"
#include "shim/report/report.h"
#include "shim/memory/staging.h"
#include "shim/report/watch.h"

/* Gives the context's lock back while the bytes are on their way, and says twice that they are home's: before, so that
 * nobody brings older ones there; and after, so that what somebody fetched from there meanwhile, for other bytes' sake,
 * doesn't count. Without a marker, the ring has been entered. */
static cl_int write_staged(struct gs_home *h, struct gs_mem *m, size_t offset, size_t size, const void *ptr,
                           cl_event marker, cl_event *own)
{
    static const struct gs_events none;
    const cl_command_queue queue = h->cmd.q->o.handle;
    const struct gs_staged run = gs_staged_run(m->o.handle, 0, true, offset, size, (void *)(uintptr_t)ptr);
    gs_home_wrote(h, m, gs_window_range(m, offset, size));
    return gs_write_staged(h, m->root, &run, 1, &queue, marker, &none, own);
}

/* A blocking write by the driver's own way, which is faster than a non-blocking one and a wait. Where the bytes lie is
 * said twice, as above. */
static cl_int write_blocking(struct gs_home *h, struct gs_mem *m, size_t offset, size_t size, const void *ptr,
                             cl_event *event)
{
    struct gs_context *ctx = h->cmd.ctx;
    gs_home_wrote(h, m, gs_window_range(m, offset, size));
    m->root->host_writes++;
    pthread_mutex_unlock(&ctx->lock);
    cl_int err = gs_real()->clEnqueueWriteBuffer(h->cmd.q->o.handle, m->o.handle, CL_TRUE, offset, size, ptr, h->n,
                                                 h->n ? h->v : NULL, event);
    pthread_mutex_lock(&ctx->lock);
    m->root->host_writes--;
    if (!err)
        gs_home_wrote(h, m, gs_window_range(m, offset, size));
    return gs_home_end(h, err);
}

/* Which way a write goes. HERE: behind the marker if there is one; else the ring has been entered. */
static enum gs_staging_way write_way(struct gs_home *h, struct gs_mem *m, bool blocking, const void *ptr, size_t size,
                                     cl_event *marker)
{
    struct gs_queue *q = h->cmd.q;
    if (!gs_may_write(m) || !h->n != !h->v)
        return GS_NOT_STAGED;
    const enum gs_staging_way way = gs_staging_way(q, ptr, size, blocking || gs_home_may_carry(h));
    if (way != GS_STAGED_HERE)
        return way;
    if (blocking)
        return gs_mark_before(h, marker) == CL_SUCCESS ? way : GS_NOT_STAGED;
    if (gs_staging_flows(q, size) && gs_staging_enter(q->o.ctx, false))
        return way;
    /* Where another thread has the ring, the other one; or the driver's own way. */
    return gs_staging_way(q, ptr, size, false);
}

static bool write_beside(struct gs_home *h, struct gs_mem *m, bool waits, size_t offset, size_t size, const void *ptr,
                         cl_event *own)
{
    const struct gs_staged run = gs_staged_run(m->o.handle, 0, true, offset, size, (void *)(uintptr_t)ptr);
    return gs_carry_beside(h->cmd.q, m, CL_COMMAND_WRITE_BUFFER, waits, &run, 1, h->n, h->v, own) == CL_SUCCESS;
}

/* Writes that nothing is to be noted of, as long as no launch is split: *err is what the driver says. False: one has
 * been. */
static bool pass_write(cl_command_queue queue, struct gs_mem *m, size_t offset, size_t size, const void *ptr,
                       cl_uint n_wait, const cl_event *wait, cl_event *event, cl_int *err)
{
    struct gs_context *ctx = m->o.ctx;
    if (atomic_load(&ctx->divided))
        return false;
    pthread_mutex_lock(&ctx->lock);
    const bool passes = !atomic_load(&ctx->divided);
    if (passes)
        *err = gs_real()->clEnqueueWriteBuffer(queue, m->o.handle, CL_FALSE, offset, size, ptr, n_wait, wait, event);
    pthread_mutex_unlock(&ctx->lock);
    return passes;
}

/* A split doesn't wait for a call that blocks; if one begins meanwhile the write is noted after all. */
static bool pass_blocking_write(cl_command_queue queue, struct gs_mem *m, size_t offset, size_t size, const void *ptr,
                                cl_uint n_wait, const cl_event *wait, cl_event *event, cl_int *err)
{
    struct gs_context *ctx = m->o.ctx;
    atomic_fetch_add(&m->root->host_writes, 1); /* before it looks, as who divides looks at this after */
    const bool passes = !atomic_load(&ctx->divided);
    if (passes)
        *err = gs_real()->clEnqueueWriteBuffer(queue, m->o.handle, CL_TRUE, offset, size, ptr, n_wait, wait, event);
    if (passes && !*err && atomic_load(&ctx->divided)) {
        pthread_mutex_lock(&ctx->lock);
        gs_note_write(m->root, 0, gs_window_range(m, offset, size));
        pthread_mutex_unlock(&ctx->lock);
    }
    atomic_fetch_sub(&m->root->host_writes, 1);
    return passes;
}

/* A few bytes by an application that is connected alone: the driver takes them in the call, and for so long the unit of
 * the link is had. They are on their way for no longer than it takes to ask for one. False: they aren't to be written
 * so. */
static bool write_at_once(struct gs_queue *q, struct gs_mem *m, size_t offset, size_t size, const void *ptr,
                          cl_uint n_wait, const cl_event *wait, cl_event *event, cl_int *err)
{
    struct gs_job job;
    struct gs_unit u = {0};
    if (gs_fast_path_cares(~(unsigned)GS_CARE_DAEMON) || !gs_is_plain(m, offset, size) || !gs_unit_is_sole())
        return false;
    gs_job_enter_quickly(q->o.ctx, &job);
    pthread_mutex_lock(&q->o.ctx->lock);
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    const bool may_go = (!job.transfer_chunk || size <= job.transfer_chunk) && !atomic_load(&q->o.ctx->divided);
    const bool alone =
        may_go && gs_alone_begin(q, NULL, 0, NULL, NULL) && gs_alone_moves(t, q->o.handle, false, n_wait);
    const bool by_unit = !alone && may_go && gs_unit_try(&u, GS_RESOURCE_PCI, GS_LENGTH_UNKNOWN);
    if (alone || by_unit)
        *err =
            gs_real()->clEnqueueWriteBuffer(q->o.handle, m->o.handle, CL_FALSE, offset, size, ptr, n_wait, wait, event);
    if (alone) {
        gs_alone_enqueued(t, event, *err);
        gs_fast_path_end(t);
    }
    if (by_unit) {
        atomic_fetch_add(&q->calls, 1); /* no unit tells of it */
        gs_unit_to(&u, GS_UNIT_SUBMITTED);
    }
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (by_unit)
        gs_unit_over(&u);
    gs_job_tell();
    return alone || by_unit;
}

static GS_COLD cl_int write_carefully(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                      size_t offset, size_t size, const void *ptr, cl_uint num_events_in_wait_list,
                                      const cl_event *event_wait_list, cl_event *event)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    if (!blocking_write && gs_alone_for(t, command_queue, buffer, false, offset, size) &&
        gs_alone_moves(t, command_queue, false, num_events_in_wait_list)) {
        const cl_int err = gs_fast_path.write(command_queue, buffer, CL_FALSE, offset, size, ptr,
                                              num_events_in_wait_list, event_wait_list, event);
        gs_alone_enqueued(t, event, err);
        gs_fast_path_end(t);
        return err;
    }
    gs_fast_path_look();
    GS_CALL("clEnqueueWriteBuffer");
    struct gs_queue *q = gs_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, buffer) : NULL;
    gs_report_moved(GS_PATH_APP_WRITE, size);
    if (!m || !gs_inside(m, offset, size))
        return gs_real()->clEnqueueWriteBuffer(command_queue, buffer, blocking_write, offset, size, ptr,
                                               num_events_in_wait_list, event_wait_list, event);
    cl_int passed;
    if (gs_is_small(m, size) &&
        (blocking_write ? pass_blocking_write : pass_write)(command_queue, m, offset, size, ptr,
                                                            num_events_in_wait_list, event_wait_list, event, &passed))
        return passed;
    if (!blocking_write &&
        write_at_once(q, m, offset, size, ptr, num_events_in_wait_list, event_wait_list, event, &passed))
        return passed;
    struct gs_home h;
    cl_event own = NULL;
    const bool alone = gs_home_await_before(q, blocking_write, num_events_in_wait_list, event_wait_list);
    gs_home_begin(&h, q, false, num_events_in_wait_list, event_wait_list);
    h.alone = alone;
    if (gs_write_elsewhere(&h, m, offset, size, ptr, blocking_write, &own))
        return gs_home_wait(gs_home_end(&h, CL_SUCCESS), blocking_write, own, event);
    gs_home_claim(&h, m);
    enum gs_staging_way way = GS_NOT_STAGED;
    cl_event marker = NULL;
    cl_int err = gs_home_ready(&h);
    const struct gs_op op = {
        .kind = GS_OP_WRITE, .dst = buffer, .to = {offset}, .region = {size, 1, 1}, .ptr = (void *)ptr};
    if (!err)
        way = write_way(&h, m, blocking_write, ptr, size, &marker);
    if (!err && way == GS_STAGED_HERE)
        err = write_staged(&h, m, offset, size, ptr, marker, &own);
    else if (!err && way == GS_STAGED_BESIDE && write_beside(&h, m, blocking_write, offset, size, ptr, &own))
        err = CL_SUCCESS;
    else if (!err && h.by_units)
        err = gs_home_run(&h, command_queue, &op, CL_COMMAND_WRITE_BUFFER, event || blocking_write ? &own : NULL);
    else if (!err && blocking_write && ptr && gs_may_write(m) && !num_events_in_wait_list == !event_wait_list)
        return write_blocking(&h, m, offset, size, ptr, event);
    else if (!err)
        err = gs_real()->clEnqueueWriteBuffer(command_queue, buffer, CL_FALSE, offset, size, ptr, h.n, h.v,
                                              event || blocking_write ? &own : NULL);
    if (!err)
        gs_home_wrote(&h, m, gs_window_range(m, offset, size));
    return gs_home_end_and_wait(&h, err, blocking_write, own, event);
}

GS_FAST_PATH CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                                  cl_bool blocking_write, size_t offset, size_t size,
                                                                  const void *ptr, cl_uint num_events_in_wait_list,
                                                                  const cl_event *event_wait_list, cl_event *event)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    struct gs_mem *m = gs_fast_path_may(t) ? gs_find_newest(GS_MEM, buffer) : NULL;
    cl_int err;
    if (!m || !gs_is_plain(m, offset, size))
        return write_carefully(command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list,
                               event_wait_list, event);
    if (blocking_write) {
        gs_fast_path_count(t, GS_FAST_PATH_BLOCKS);
        if (pass_blocking_write(command_queue, m, offset, size, ptr, num_events_in_wait_list, event_wait_list, event,
                                &err))
            return err;
    } else if (gs_fast_path_begin(t)) {
        err = gs_fast_path.write(command_queue, buffer, CL_FALSE, offset, size, ptr, num_events_in_wait_list,
                                 event_wait_list, event);
        gs_fast_path_end(t);
        return err;
    }
    return write_carefully(command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list,
                           event_wait_list, event);
}
