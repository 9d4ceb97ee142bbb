/* SPDX-License-Identifier: MIT */
/* The layer: what isn't written by gen.py, and what its wrappers call. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../layer.h"
#include "graph.h"

struct _cl_icd_dispatch graph_below;

/* ---- what has been enqueued and hasn't ended, since it waits for a user event ---- */

struct pending {
    struct pending *next;
    cl_event event; /* retained */
    cl_command_queue queue;
    bool barrier;
};
static struct pending *pending;

static bool is_in_order(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    graph_below.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

static bool is_barrier(const char *name)
{
    return strstr(name, "Barrier") || strcmp(name, "clEnqueueWaitForEvents") == 0;
}

/* Has all ended that the driver may let the command come after? PoCL's markers and barriers in a queue without an order
 * come after all that is there, whatever their wait list. */
static bool is_ready(const char *name, cl_command_queue queue, cl_uint n, const cl_event *wait)
{
    const bool all = is_in_order(queue) || is_barrier(name) || strstr(name, "Marker");
    bool ready = strcmp(name, "clEnqueueNativeKernel") != 0; /* that may do anything */
    for (struct pending **at = &pending; *at;) {
        struct pending *p = *at;
        if (graph_status(p->event) <= CL_COMPLETE) {
            *at = p->next;
            graph_below.clReleaseEvent(p->event);
            free(p);
            continue;
        }
        ready = ready && !(p->queue == queue && (all || p->barrier));
        at = &p->next;
    }
    for (cl_uint i = 0; i < n && ready; i++)
        ready = graph_status(wait[i]) <= CL_COMPLETE;
    return ready;
}

static void put_pending(const char *name, cl_command_queue queue, cl_event event)
{
    struct pending *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = (struct pending){pending, event, queue, is_barrier(name)};
    graph_below.clRetainEvent(event);
    pending = p;
}

/* ---- commands ---- */

struct enqueue {
    const char *name;
    cl_command_queue queue;
    cl_uint n;
    const cl_event *wait;
    bool blocking, ready, alone; /* alone: nothing else is under way */
    cl_event mine, *wanted, *given;
};

static void enqueue_begin(struct enqueue *e, const char *name, cl_command_queue queue, bool blocking, cl_uint n,
                          const cl_event *wait, cl_event *event)
{
    *e = (struct enqueue){name, queue, n, wait, blocking, .wanted = event};
    e->given = event ? event : &e->mine;
    graph_lock();
    e->ready = is_ready(name, queue, wait ? n : 0, wait);
    e->alone = e->ready && !pending;
}

static void wait_for(cl_event event)
{
    graph_below.clWaitForEvents(1, &event);
}

/* Its number, or 0. What it touches is to follow, then enqueue_end. */
static unsigned enqueue_said(struct enqueue *e, cl_int err)
{
    if (err)
        return 0;
    const unsigned id = graph_command(GRAPH_BELOW, e->name, e->queue, e->n, e->wait);
    graph_event(GRAPH_BELOW, *e->given, id);
    if (e->ready)
        wait_for(*e->given);
    else
        put_pending(e->name, e->queue, *e->given);
    graph_say(" |");
    return id;
}

static cl_int enqueue_end(struct enqueue *e, cl_int err, unsigned id, const struct graph_touched *t)
{
    for (unsigned i = 0; !err && t && i < t->n; i++)
        graph_say_bytes(&t->v[i]);
    if (!err)
        graph_say("\n");
    if (!err && t && t->n == 2) /* the first is read, the other written */
        graph_moved(id, graph_call, e->ready, &t->v[0], &t->v[1]);
    cl_event event = err ? NULL : *e->given;
    graph_unlock();
    if (!err && e->blocking) {
        wait_for(event);
        graph_lock();
        id = graph_unless_failed(event, id);
        graph_joined(GRAPH_BELOW, 1, &id);
        graph_unlock();
        if (graph_status(event) < 0)
            err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    if (event && (!e->wanted || err)) {
        graph_below.clReleaseEvent(event);
        if (e->wanted)
            *e->wanted = NULL;
    }
    return err;
}

/* ---- what each command touches: touch_NAME takes its arguments ---- */

#define Q cl_command_queue q
#define REST cl_uint n, const cl_event *w, cl_event *e
#define UNUSED(...) (void)(sizeof((const void *[]){__VA_ARGS__}))

static void touch_clEnqueueReadBuffer(struct graph_touched *t, Q, cl_mem m, cl_bool b, size_t at, size_t bytes, void *p,
                                      REST)
{
    (void)b, (void)n, UNUSED(q, w, e);
    graph_buffer(t, 'r', m, at, bytes);
    graph_host(t, 'w', p, bytes);
}

static void touch_clEnqueueWriteBuffer(struct graph_touched *t, Q, cl_mem m, cl_bool b, size_t at, size_t bytes,
                                       const void *p, REST)
{
    (void)b, (void)n, UNUSED(q, w, e);
    graph_host(t, 'r', p, bytes);
    graph_buffer(t, 'w', m, at, bytes);
}

static void touch_clEnqueueReadBufferRect(struct graph_touched *t, Q, cl_mem m, cl_bool b, const size_t *o,
                                          const size_t *h, const size_t *r, size_t br, size_t bs, size_t hr, size_t hs,
                                          void *p, REST)
{
    (void)b, (void)n, UNUSED(q, w, e);
    graph_rect(t, 'r', m, NULL, o, r, br, bs);
    graph_rect(t, 'w', NULL, p, h, r, hr, hs);
}

static void touch_clEnqueueWriteBufferRect(struct graph_touched *t, Q, cl_mem m, cl_bool b, const size_t *o,
                                           const size_t *h, const size_t *r, size_t br, size_t bs, size_t hr, size_t hs,
                                           const void *p, REST)
{
    (void)b, (void)n, UNUSED(q, w, e);
    graph_rect(t, 'r', NULL, p, h, r, hr, hs);
    graph_rect(t, 'w', m, NULL, o, r, br, bs);
}

static void touch_clEnqueueCopyBuffer(struct graph_touched *t, Q, cl_mem a, cl_mem b, size_t from, size_t to,
                                      size_t bytes, REST)
{
    (void)n, UNUSED(q, w, e);
    graph_buffer(t, 'r', a, from, bytes);
    graph_buffer(t, 'w', b, to, bytes);
}

static void touch_clEnqueueCopyBufferRect(struct graph_touched *t, Q, cl_mem a, cl_mem b, const size_t *from,
                                          const size_t *to, const size_t *r, size_t ar, size_t as, size_t br, size_t bs,
                                          REST)
{
    (void)n, UNUSED(q, w, e);
    graph_rect(t, 'r', a, NULL, from, r, ar, as);
    graph_rect(t, 'w', b, NULL, to, r, br, bs);
}

static void touch_clEnqueueFillBuffer(struct graph_touched *t, Q, cl_mem m, const void *p, size_t one, size_t at,
                                      size_t bytes, REST)
{
    (void)n, (void)one, UNUSED(q, p, w, e);
    graph_buffer(t, 'w', m, at, bytes);
}

static void touch_clEnqueueReadImage(struct graph_touched *t, Q, cl_mem m, cl_bool b, const size_t *o, const size_t *r,
                                     size_t row, size_t slice, void *p, REST)
{
    (void)b, (void)n, (void)row, (void)slice, UNUSED(q, w, e);
    graph_image(t, 'r', m, o, r);
    graph_host(t, 'w', p, row || slice ? 0 : graph_image_bytes(m, r));
}

static void touch_clEnqueueWriteImage(struct graph_touched *t, Q, cl_mem m, cl_bool b, const size_t *o, const size_t *r,
                                      size_t row, size_t slice, const void *p, REST)
{
    (void)b, (void)n, (void)row, (void)slice, UNUSED(q, w, e);
    graph_host(t, 'r', p, row || slice ? 0 : graph_image_bytes(m, r));
    graph_image(t, 'w', m, o, r);
}

static void touch_clEnqueueCopyImage(struct graph_touched *t, Q, cl_mem a, cl_mem b, const size_t *from,
                                     const size_t *to, const size_t *r, REST)
{
    (void)n, UNUSED(q, w, e);
    graph_image(t, 'r', a, from, r);
    graph_image(t, 'w', b, to, r);
}

static void touch_clEnqueueFillImage(struct graph_touched *t, Q, cl_mem m, const void *p, const size_t *o,
                                     const size_t *r, REST)
{
    (void)n, UNUSED(q, p, w, e);
    graph_image(t, 'w', m, o, r);
}

static void touch_clEnqueueCopyImageToBuffer(struct graph_touched *t, Q, cl_mem a, cl_mem b, const size_t *from,
                                             const size_t *r, size_t to, REST)
{
    (void)n, UNUSED(q, w, e);
    graph_image(t, 'r', a, from, r);
    graph_buffer(t, 'w', b, to, graph_image_bytes(a, r));
}

static void touch_clEnqueueCopyBufferToImage(struct graph_touched *t, Q, cl_mem a, cl_mem b, size_t from,
                                             const size_t *to, const size_t *r, REST)
{
    (void)n, UNUSED(q, w, e);
    graph_buffer(t, 'r', a, from, graph_image_bytes(b, r));
    graph_image(t, 'w', b, to, r);
}

static void touch_clEnqueueUnmapMemObject(struct graph_touched *t, Q, cl_mem m, void *p, REST)
{
    (void)n, UNUSED(q, w, e);
    graph_unmap(t, m, p);
}

/* Maps are asked about after the call, since it gives the address. */
static void mapped_clEnqueueMapBuffer(struct graph_touched *t, const void *ptr, Q, cl_mem m, cl_bool b,
                                      cl_map_flags flags, size_t at, size_t bytes, REST, cl_int *err)
{
    struct graph_touched own = {0};
    (void)b, (void)n, UNUSED(q, w, e, err);
    graph_buffer(&own, 'r', m, at, bytes);
    if (own.n)
        graph_map(t, m, flags, ptr, own.v);
}

static void mapped_clEnqueueMapImage(struct graph_touched *t, const void *ptr, Q, cl_mem m, cl_bool b,
                                     cl_map_flags flags, const size_t *o, const size_t *r, size_t *row, size_t *slice,
                                     REST, cl_int *err)
{
    struct graph_touched own = {0};
    (void)b, (void)n, UNUSED(q, row, slice, w, e, err);
    graph_image(&own, 'r', m, o, r);
    if (own.n)
        graph_map(t, m, flags, ptr, own.v);
}

/* ---- the functions with something of their own ---- */

static cl_int CL_API_CALL below_clEnqueueWriteBuffer(Q, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                                     const void *p, REST)
{
    struct enqueue begun;
    struct graph_touched t = {0};
    enqueue_begin(&begun, "clEnqueueWriteBuffer", q, blocking, n, w, e);
    unsigned char *was = graph_call && begun.alone ? graph_held(m, at, bytes, q) : NULL;
    graph_host(&t, 'r', p, bytes);
    if (!was)
        graph_buffer(&t, graph_call ? 'u' : 'w', m, at, bytes);
    const cl_int err = graph_below.clEnqueueWriteBuffer(q, m, CL_FALSE, at, bytes, p, n, w, begun.given);
    const unsigned id = enqueue_said(&begun, err);
    if (was && !err) {
        struct graph_touched to = {0};
        graph_say_written(m, at, bytes, was, p, graph_call_writes);
        graph_buffer(&to, 'w', m, at, bytes);
        if (t.n && to.n)
            graph_moved(id, graph_call, begun.ready, t.v, to.v);
    }
    free(was);
    return enqueue_end(&begun, err, id, &t);
}

static cl_int CL_API_CALL below_clFinish(cl_command_queue queue)
{
    cl_uint n;
    graph_lock();
    unsigned *ids = graph_queue_ids(GRAPH_BELOW, queue, &n);
    graph_unlock();
    const cl_int err = graph_below.clFinish(queue);
    graph_lock();
    graph_joined(GRAPH_BELOW, n, ids);
    graph_unlock();
    free(ids);
    return err;
}

static unsigned *ids_of(enum graph_level level, cl_uint n, const cl_event *events)
{
    unsigned *ids = calloc(n + 1, sizeof *ids);
    if (!ids)
        abort();
    graph_lock();
    for (cl_uint i = 0; events && i < n; i++)
        ids[i] = graph_event_id(level, events[i]);
    graph_unlock();
    return ids;
}

static void joined(enum graph_level level, cl_uint n, unsigned *ids)
{
    graph_lock();
    graph_joined(level, n, ids);
    graph_unlock();
    free(ids);
}

static void joined_events(enum graph_level level, cl_uint n, const cl_event *events, unsigned *ids)
{
    for (cl_uint i = 0; i < n; i++)
        ids[i] = graph_unless_failed(events[i], ids[i]);
    joined(level, n, ids);
}

static cl_int CL_API_CALL below_clWaitForEvents(cl_uint n, const cl_event *events)
{
    enum { LATE_US = 200 }; /* other threads call meanwhile */
    unsigned *ids = ids_of(GRAPH_BELOW, n, events);
    const cl_int err = graph_below.clWaitForEvents(n, events);
    usleep(LATE_US);
    joined_events(GRAPH_BELOW, err == CL_SUCCESS || err == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? n : 0, events,
                  ids);
    return err;
}

/* Does the asker get to see that it has ended? Of one that has failed it does, and learns nothing of others by it. */
static bool shows(cl_event event)
{
    enum { TIMES = 20, AGE_NS = 1000000000 };
    uint64_t age;
    graph_lock();
    const unsigned id = graph_event_id(GRAPH_BELOW, event);
    if (!graph_seen(id) && (graph_asked(id, &age) > TIMES || age > AGE_NS)) {
        const unsigned ended = graph_unless_failed(event, id);
        graph_joined(GRAPH_BELOW, 1, &ended);
    }
    const bool shown = graph_seen(id);
    graph_unlock();
    return shown;
}

static cl_int CL_API_CALL below_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value,
                                               size_t *bytes)
{
    const cl_int err = graph_below.clGetEventInfo(event, what, room, value, bytes);
    if (err || what != CL_EVENT_COMMAND_EXECUTION_STATUS || !value)
        return err;
    cl_int *status = value;
    cl_command_type type = 0;
    graph_below.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (type != CL_COMMAND_USER && *status == CL_COMPLETE && !shows(event))
        *status = CL_SUBMITTED;
    return err;
}

static cl_int CL_API_CALL below_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room,
                                                        void *value, size_t *bytes)
{
    graph_lock();
    const bool seen = graph_seen(graph_event_id(GRAPH_BELOW, event));
    graph_unlock();
    return seen ? graph_below.clGetEventProfilingInfo(event, what, room, value, bytes)
                : CL_PROFILING_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL below_clSetEventCallback(cl_event event, cl_int type,
                                                   void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
    cl_int status;
    const cl_int err =
        graph_below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (err || !call || type < CL_COMPLETE || type > CL_SUBMITTED)
        return graph_below.clSetEventCallback(event, type, call, data);
    graph_lock();
    const unsigned id = graph_event_id(GRAPH_BELOW, event);
    graph_unlock();
    return graph_call_back(event, type, call, data, id);
}

static cl_event CL_API_CALL below_clCreateUserEvent(cl_context context, cl_int *err)
{
    graph_lock();
    cl_event event = graph_below.clCreateUserEvent(context, err);
    if (event)
        graph_user_event(GRAPH_BELOW, event);
    graph_unlock();
    return event;
}

static cl_int CL_API_CALL below_clSetUserEventStatus(cl_event event, cl_int status)
{
    graph_lock();
    graph_set(GRAPH_BELOW, event, status);
    graph_unlock();
    return graph_below.clSetUserEventStatus(event, status);
}

static cl_int CL_API_CALL below_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    const cl_int err = graph_below.clSetKernelArg(kernel, index, bytes, value);
    graph_lock();
    if (!err)
        graph_kernel_argument(kernel, index, bytes, value);
    graph_unlock();
    return err;
}

static cl_kernel CL_API_CALL below_clCreateKernel(cl_program program, const char *name, cl_int *err)
{
    cl_kernel kernel = graph_below.clCreateKernel(program, name, err);
    graph_lock();
    if (kernel)
        graph_kernel_made(kernel, NULL);
    graph_unlock();
    return kernel;
}

static cl_kernel CL_API_CALL below_clCloneKernel(cl_kernel like, cl_int *err)
{
    cl_kernel kernel = graph_below.clCloneKernel(like, err);
    graph_lock();
    if (kernel)
        graph_kernel_made(kernel, like);
    graph_unlock();
    return kernel;
}

static cl_mem CL_API_CALL below_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                                  const void *info, cl_int *err)
{
    cl_mem mem = graph_below.clCreateSubBuffer(parent, flags, type, info, err);
    graph_lock();
    if (mem)
        graph_memory_made(mem, parent, ((const cl_buffer_region *)info)->origin);
    graph_unlock();
    return mem;
}

static cl_int CL_API_CALL below_clReleaseMemObject(cl_mem mem)
{
    graph_lock(); /* flow.c may be about to use it */
    const cl_int err = graph_below.clReleaseMemObject(mem);
    graph_unlock();
    return err;
}

/* A launch: what it writes is seen by what has changed, where nothing else is under way. */
static cl_int launch(struct enqueue *e, cl_kernel kernel, cl_int (*call)(struct enqueue *e, const void *),
                     const void *data)
{
    char function[96] = "clEnqueue", name[64] = "?";
    graph_lock(); /* till all is said */
    struct graph_snapshot *snapshot = e->alone ? graph_before(kernel, e->queue) : NULL;
    graph_below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    strcat(strcat(function, "Kernel="), name);
    const cl_int err = call(e, data);
    e->name = function;
    const unsigned before = graph_call, of = graph_kernel_call(kernel);
    graph_call = of;
    const unsigned id = enqueue_said(e, err);
    graph_call = before;
    if (!err)
        graph_after(kernel, e->queue, snapshot);
    const cl_int result = enqueue_end(e, err, id, NULL);
    if (!err)
        graph_launched(id, of, strncmp(name, "gs_", 3) != 0, e->queue);
    graph_unlock();
    return result;
}

struct range {
    cl_kernel kernel;
    cl_uint dim;
    const size_t *offset, *global, *local;
};

static cl_int call_range(struct enqueue *e, const void *data)
{
    const struct range *r = data;
    return graph_below.clEnqueueNDRangeKernel(e->queue, r->kernel, r->dim, r->offset, r->global, r->local, e->n,
                                              e->wait, e->given);
}

static cl_int CL_API_CALL below_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim,
                                                       const size_t *offset, const size_t *global, const size_t *local,
                                                       cl_uint n, const cl_event *wait, cl_event *event)
{
    const struct range range = {kernel, dim, offset, global, local};
    struct enqueue e;
    enqueue_begin(&e, "clEnqueueNDRangeKernel", queue, false, n, wait, event);
    return launch(&e, kernel, call_range, &range);
}

static cl_int call_task(struct enqueue *e, const void *data)
{
    return graph_below.clEnqueueTask(e->queue, (cl_kernel)(uintptr_t)data, e->n, e->wait, e->given);
}

static cl_int CL_API_CALL below_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event *wait,
                                              cl_event *event)
{
    struct enqueue e;
    enqueue_begin(&e, "clEnqueueTask", queue, false, n, wait, event);
    return launch(&e, kernel, call_task, kernel);
}

/* ---- above: the application's calls ---- */

static struct _cl_icd_dispatch above;

/* `slot`: where the function's address is kept. */
static void look_up(void *slot, const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f)
        abort();
    memcpy(slot, &f, sizeof f);
}
#define NEXT(name) (look_up(&above.name, #name), above.name)

struct call {
    unsigned before, id;
    bool before_writes, blocking;
    cl_event *event;
};

static void call_begin(struct call *c, const char *name, cl_command_queue queue, cl_kernel kernel, bool blocking,
                       const struct graph_touched *t, cl_uint n, const cl_event *wait, cl_event *event)
{
    char function[96] = "clEnqueue", own[64] = "?";
    *c = (struct call){.before = graph_call, .before_writes = graph_call_writes, .blocking = blocking, .event = event};
    if (!graph_below.clFinish) /* before the loader has come upon the layer nothing can be enqueued */
        return;
    if (kernel) {
        graph_below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof own, own, NULL);
        name = strcat(strcat(function, "Kernel="), own);
    }
    graph_lock();
    graph_call = c->id = graph_command(GRAPH_ABOVE, name, queue, wait ? n : 0, wait);
    graph_call_writes = !strncmp(name, "clEnqueueWrite", 14) || !strncmp(name, "clEnqueueUnmap", 14);
    graph_say(" |");
    for (unsigned i = 0; i < t->n; i++)
        graph_say_bytes(&t->v[i]);
    graph_say("\n");
    graph_unlock();
}

static void call_end(struct call *c, cl_int err)
{
    graph_call = c->before;
    graph_call_writes = c->before_writes;
    if (!c->id)
        return;
    graph_lock();
    if (err) {
        graph_refused(c->id);
        graph_unlock();
        return;
    }
    if (c->event)
        graph_event(GRAPH_ABOVE, *c->event, c->id);
    if (c->blocking)
        graph_joined(GRAPH_ABOVE, 1, &c->id);
    graph_unlock();
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
    cl_uint n = 0;
    graph_lock();
    unsigned *ids = graph_below.clFinish ? graph_queue_ids(GRAPH_ABOVE, queue, &n) : NULL;
    graph_unlock();
    const cl_int err = NEXT(clFinish)(queue);
    joined(GRAPH_ABOVE, n, ids);
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint n, const cl_event *events)
{
    unsigned *ids = ids_of(GRAPH_ABOVE, n, events);
    const cl_int err = NEXT(clWaitForEvents)(n, events);
    joined_events(GRAPH_ABOVE, err == CL_SUCCESS || err == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? n : 0, events,
                  ids);
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value,
                                               size_t *bytes)
{
    const cl_int err = NEXT(clGetEventInfo)(event, what, room, value, bytes);
    if (!err && what == CL_EVENT_COMMAND_EXECUTION_STATUS && value && *(const cl_int *)value <= CL_COMPLETE)
        joined_events(GRAPH_ABOVE, 1, &event, ids_of(GRAPH_ABOVE, 1, &event));
    return err;
}

struct told {
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *data;
};

static void CL_CALLBACK tell(cl_event event, cl_int status, void *data)
{
    struct told t = *(struct told *)data;
    free(data);
    if (status <= CL_COMPLETE)
        joined_events(GRAPH_ABOVE, 1, &event, ids_of(GRAPH_ABOVE, 1, &event));
    const unsigned before = graph_call;
    graph_call = 0;
    t.call(event, status, t.data);
    graph_call = before;
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int type,
                                                   void(CL_CALLBACK *told)(cl_event, cl_int, void *), void *data)
{
    struct told *t = malloc(sizeof *t);
    if (!told || !t) {
        free(t);
        return NEXT(clSetEventCallback)(event, type, told, data);
    }
    *t = (struct told){told, data};
    const cl_int err = NEXT(clSetEventCallback)(event, type, tell, t);
    if (err)
        free(t);
    return err;
}

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *err)
{
    cl_event event = NEXT(clCreateUserEvent)(context, err);
    graph_lock();
    if (event)
        graph_user_event(GRAPH_ABOVE, event);
    graph_unlock();
    return event;
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status)
{
    graph_lock();
    graph_set(GRAPH_ABOVE, event, status);
    graph_unlock();
    return NEXT(clSetUserEventStatus)(event, status);
}

#include "graph.inc"

static void layer_start(void)
{
    graph_below = below;
    graph_start();
    graph_install(&layer);
}
