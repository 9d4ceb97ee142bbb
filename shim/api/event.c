/* SPDX-License-Identifier: MIT */
/* Specification, section 5.11 to 5.14: events and profiles. An event that stands for several commands is a marker in
 * the application's queue; its type and times are put together from the commands' own. */
#include "shim/api/home.h"
#include "shim/choose/timing.h"
#include "shim/process/threads.h"
#include "shim/report/report.h"
#include "shim/order/completion.h"

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    return gs_release_event(event);
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size,
                                               void *param_value, size_t *param_value_size_ret)
{
    const struct gs_event *e = gs_find(GS_EVENT, event);
    gs_time_look();
    if (e && e->pooled && param_name == CL_EVENT_COMMAND_QUEUE)
        return gs_query_value(&e->pooled, sizeof e->pooled, param_value_size, param_value, param_value_size_ret);
    if (e && !e->user && param_name == CL_EVENT_COMMAND_TYPE)
        return gs_query_value(&e->command, sizeof e->command, param_value_size, param_value, param_value_size_ret);
    return gs_real()->clGetEventInfo(event, param_name, param_value_size, param_value, param_value_size_ret);
}

/* Of a record of ours: CL_PROFILING_COMMAND_COMPLETE is as ..._END. */
static cl_int recorded_time(struct gs_event *e, cl_profiling_info what, cl_ulong *t)
{
    const cl_uint at = what - CL_PROFILING_COMMAND_QUEUED;
    GS_LOCKED(&e->times_lock);
    *t = e->times[at < 3 ? at : 3];
    return e->has_times ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE;
}

/* A profiling time of one part, by its own device's clock. */
static cl_int time_of(const struct gs_event *e, unsigned part, cl_profiling_info what, cl_ulong *t)
{
    struct gs_event *of = e->part[part].of;
    return of ? recorded_time(of, what, t)
              : gs_real()->clGetEventProfilingInfo(e->part[part].event, what, sizeof *t, t, NULL);
}

/* The earliest of the beginnings, or the latest of the ends, by the first device's clock. *value is the marker's own
 * time: the marker is enqueued within the application's call, the pieces of a carried transfer are enqueued later.
 * NVIDIA's markers behind another device's commands have none. */
static cl_int span(const struct gs_event *e, cl_profiling_info what, cl_ulong *value)
{
    const bool latest = what == CL_PROFILING_COMMAND_END || what == CL_PROFILING_COMMAND_COMPLETE;
    bool has = what == CL_PROFILING_COMMAND_QUEUED && *value;
    for (unsigned i = 0; i < e->n; i++) {
        cl_ulong t;
        cl_int err = time_of(e, i, what, &t);
        if (err)
            return err;
        t += gs_group()->clock_ns[e->part[i].device];
        if (!has || (latest ? t > *value : t < *value))
            *value = t;
        has = true;
    }
    return CL_SUCCESS;
}

/* The queue that the event's command is of, held, as another thread may release it meanwhile; NULL: none of ours. */
static struct gs_queue *hold_queue_of(cl_event event)
{
    cl_command_queue handle = NULL;
    const cl_int err = gs_real()->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle, NULL);
    return err ? NULL : gs_find_hold(GS_QUEUE, handle);
}

/* With --stats the driver's queues have profiles that the application hasn't asked for. */
static bool wanted_profiles(cl_event event)
{
    struct gs_queue *q = gs_group()->platform ? hold_queue_of(event) : NULL;
    const bool wanted = !q || q->profiling;
    if (q)
        gs_drop(&q->o);
    return wanted;
}

/* Of a command in a pooled context, all of which are ours. */
static cl_int pooled_time(struct gs_event *e, cl_profiling_info what, size_t space, void *value, size_t *size_ret)
{
    cl_ulong t;
    const cl_int err = e->profiled ? recorded_time(e, what, &t) : CL_PROFILING_INFO_NOT_AVAILABLE;
    if (!err && what - CL_PROFILING_COMMAND_QUEUED > CL_PROFILING_COMMAND_COMPLETE - CL_PROFILING_COMMAND_QUEUED)
        return CL_INVALID_VALUE;
    return err ? err : gs_query_value(&t, sizeof t, space, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
                                                        size_t param_value_size, void *param_value,
                                                        size_t *param_value_size_ret)
{
    struct gs_event *e = gs_find(GS_EVENT, event);
    cl_ulong value = 0;
    gs_time_look();
    if (e && e->pooled)
        return pooled_time(e, param_name, param_value_size, param_value, param_value_size_ret);
    if (gs_report_wants_times() && !wanted_profiles(event))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    cl_int err =
        gs_real()->clGetEventProfilingInfo(event, param_name, param_value_size, param_value, param_value_size_ret);
    if (err || !e || e->user || !e->n)
        return err;
    if (param_name == CL_PROFILING_COMMAND_QUEUED)
        err = gs_real()->clGetEventProfilingInfo(event, param_name, sizeof value, &value, NULL);
    if (err || span(e, param_name, &value) != CL_SUCCESS)
        return err; /* the marker's own times, then */
    return gs_query_value(&value, sizeof value, param_value_size, param_value, param_value_size_ret);
}

/* Commands that wait for a user event without a status may run after commands that are enqueued later, so the order of
 * calls couldn't say which bytes are valid where. So all bytes go home before, and stay there until then. */
cl_int gs_come_home(struct gs_context *c, int user_events)
{
    struct gs_events done = {0};
    cl_int err = CL_SUCCESS;
    pthread_mutex_lock(&c->lock);
    if (c->queues) {
        for (struct gs_queue *q = c->queues; q; q = q->next)
            gs_carry_mark(q);
        struct gs_command cmd = {.ctx = c, .q = c->queues};
        struct gs_job job;
        if (gs_scheduled())
            cmd.units = gs_job_now(&job);
        const struct gs_command *before = gs_set_unit_owner(&cmd);
        err = gs_gather_all(&cmd, &done);
        if (done.n)
            gs_events_free(&c->kept->at_home);
        for (struct gs_queue *q = c->queues; q && !err; q = q->next) {
            cl_event barrier;
            gs_queue_close(q->o.handle);
            if (done.n)
                err = gs_enqueue(&(struct gs_op){.kind = GS_OP_BARRIER}, q->o.handle, done.n, done.v, &barrier);
            if (done.n && !err)
                err = gs_events_add(&c->kept->at_home, barrier);
            gs_timeline_enqueue_untracked(q->timeline); /* what comes next waits for the barrier as well */
            gs_real()->clFlush(q->o.handle);
        }
        gs_command_flush(c->queues);
        gs_command_end(&cmd);
        gs_set_unit_owner(before);
    }
    if (!err)
        atomic_fetch_add(&c->user_events, user_events);
    pthread_mutex_unlock(&c->lock);
    gs_events_free(&done);
    return err;
}

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    cl_event event = gs_real()->clCreateUserEvent(context, errcode_ret);
    const bool counts = event && c && (gs_handles_commands(c) || !gs_settings()->no_daemon);
    struct gs_event *e = counts ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return event;
    const bool moves = gs_handles_commands(c);
    const cl_int err = moves ? gs_come_home(c, 1) : CL_SUCCESS;
    if (!moves) /* a daemon may come first: no unit may be kept for commands that wait for this event */
        atomic_fetch_add(&c->user_events, 1);
    if (err) {
        free(e);
        gs_real()->clReleaseEvent(event);
        gs_set_error(errcode_ret, err == CL_OUT_OF_HOST_MEMORY ? err : CL_OUT_OF_RESOURCES);
        return NULL;
    }
    e->user = e->pending = true;
    gs_insert(&e->o, GS_EVENT, event, c);
    return event;
}

/* PoCL (3.1) looks at a failed command again when the last command before it ends, and holds no reference. The
 * application holds one only until it hears of the failure, and nobody tells it of transfers home. */
static void await_home(struct gs_context *c)
{
    pthread_mutex_lock(&c->lock);
    struct gs_events at_home = c->kept->at_home;
    c->kept->at_home = (struct gs_events){0};
    pthread_mutex_unlock(&c->lock);
    gs_events_wait(&at_home);
    gs_events_free(&at_home);
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status)
{
    struct gs_event *e = gs_find(GS_EVENT, event);
    if (e && e->pooled)
        return CL_INVALID_EVENT;
    if (e && execution_status < 0 && gs_group()->pocl)
        await_home(e->o.ctx);
    if (e && execution_status < 0)
        atomic_store(&e->o.ctx->user_event_failed, true);
    cl_int err = gs_real()->clSetUserEventStatus(event, execution_status);
    if (!err && e && atomic_exchange(&e->pending, false))
        atomic_fetch_sub(&e->o.ctx->user_events, 1);
    return err;
}

void gs_await_parts(cl_event event)
{
    struct gs_event *e = gs_find_hold(GS_EVENT, event);
    for (unsigned i = 0; e && i < e->n; i++)
        gs_real()->clWaitForEvents(1, &e->part[i].event);
    if (e)
        gs_drop(&e->o);
}

/* Pooled memory's events are user events to the driver; of a failure NVIDIA's clWaitForEvents says nothing (580). */
static bool has_failed_pooled(cl_event event)
{
    const struct gs_event *e = gs_find(GS_EVENT, event);
    return e && e->pooled && gs_event_status(event) < 0;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event *event_list)
{
    GS_CALL("clWaitForEvents");
    gs_threads_open_again();
    cl_int err = gs_real()->clWaitForEvents(num_events, event_list);
    for (cl_uint i = 0; !err && gs_settings()->pooled && i < num_events; i++)
        if (has_failed_pooled(event_list[i]))
            err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    for (cl_uint i = 0; err == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && i < num_events; i++)
        gs_await_parts(event_list[i]);
    gs_timing_waited();
    gs_wait_ended();
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(
    cl_event event, cl_int command_exec_callback_type,
    void(CL_CALLBACK *pfn_notify)(cl_event event, cl_int event_command_status, void *user_data), void *user_data)
{
    gs_time_look();
    return gs_callbacks_set(event, command_exec_callback_type, pfn_notify, user_data);
}
