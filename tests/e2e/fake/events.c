/* SPDX-License-Identifier: MIT */
/* Events, the user's too, and callbacks. */
#include "fake.h"

#include <pthread.h>

struct callback {
    cl_event event;
    void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
    void *data;
};

static void *call_back(void *callback)
{
    struct callback *c = callback;
    fake_sleep_until_end(c->event);
    c->notify(c->event, CL_COMPLETE, c->data);
    clReleaseEvent(c->event);
    free(c);
    return NULL;
}

cl_int clSetEventCallback(cl_event e, cl_int status, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    pthread_t thread;
    struct callback *c = fake.item_ns > 0 && status == CL_COMPLETE ? malloc(sizeof *c) : NULL;
    if (!c)
        return CL_OUT_OF_RESOURCES;
    *c = (struct callback){e, notify, data};
    clRetainEvent(e);
    if (pthread_create(&thread, NULL, call_back, c) != 0)
        abort();
    pthread_detach(thread);
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    fake_say("clWaitForEvents", NULL);
    for (cl_uint i = 0; i < n; i++)
        fake_sleep_until_end(events[i]);
    return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event e)
{
    atomic_fetch_add(&e->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1)
        free(e);
    return CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_int set = atomic_load(&e->status);
    const cl_int status = fake.item_ns > 0 && set >= 0 && fake_now_ns() < atomic_load(&e->end_ns) ? CL_RUNNING : set;
    fake_say("clGetEventInfo", NULL);
    if (what == CL_EVENT_COMMAND_QUEUE)
        return answer(&e->queue, sizeof e->queue, room, out, bytes_ret);
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? answer(&status, sizeof status, room, out, bytes_ret)
                                                     : CL_INVALID_VALUE;
}

cl_event clCreateUserEvent(cl_context c, cl_int *err)
{
    cl_event e = fake_make(sizeof *e, err);
    if (e) {
        atomic_init(&e->refs, 1);
        atomic_init(&e->status, CL_SUBMITTED);
        atomic_init(&e->end_ns, OPEN_NS);
    }
    fake_say("clCreateUserEvent", NULL);
    return e;
}

cl_int clSetUserEventStatus(cl_event e, cl_int status)
{
    fake_say("clSetUserEventStatus", NULL);
    fake_lock_time();
    atomic_store(&e->status, status);
    atomic_store(&e->end_ns, fake_now_ns());
    fake_find_ends();
    fake_unlock_time();
    return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (!e->profiling || (fake.item_ns > 0 && atomic_load(&e->end_ns) > fake_now_ns()))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_ulong ns = what == CL_PROFILING_COMMAND_END ? atomic_load(&e->end_ns) : e->begin_ns;
    return answer(&ns, sizeof ns, room, out, bytes_ret);
}
