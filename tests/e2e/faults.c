/* SPDX-License-Identifier: MIT */
/* A layer of the OpenCL loader below gpusparc that lets calls of the driver fail, as FAULT says:
 *
 *   FUNCTION:N:CODE          the N-th call returns CODE and does nothing
 *   FUNCTION:N:CODE:forever  so do all calls of it from the N-th on
 *   FUNCTION:N:CODE:lost     so do all calls of any function that makes or enqueues something from then on
 *   FUNCTION:N:CODE:gone     so does all that is enqueued on the same device from then on
 *   FUNCTION:N:CODE:late     the N-th call is accepted, and the command ends with CODE a little later, without having
 * done anything, as do those that wait for it and those behind it in its queue until then
 *
 * FAULT_COUNTS names a file that gets `FUNCTION COUNT` lines at the end of the process: what there is to fail. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layer.h"

enum { MOST_FUNCTIONS = 256, MOST_DOOMED = 65536, LATE_NS = 3000000 };
enum kind { ONCE, FOREVER, LOST, GONE, LATE };

static struct _cl_icd_dispatch below;
static atomic_uint calls[MOST_FUNCTIONS];
static atomic_bool lost;
static _Atomic(cl_device_id) gone;
static struct {
    int function; /* -1: none */
    unsigned n;
    cl_int code;
    enum kind kind;
} fault = {.function = -1};
static _Thread_local cl_int late_code; /* of the command that is about to be enqueued */

/* The commands that fail while they run. In their place is a marker; what is asked of its event is answered for them.
 * They are retained for ever, so that their handles stay theirs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doomed {
    cl_event event;
    cl_command_queue queue;
    cl_int code;
    uint64_t when; /* it will have failed, by now_ns() */
} doomed[MOST_DOOMED];
static size_t n_doomed;

static cl_int fault_now(int function, int is_command, cl_command_queue queue);
static cl_int fault_doom(cl_command_queue queue, cl_uint n, const cl_event *wait);
static cl_int fault_dooms(cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait, cl_event *event,
                          cl_int code);
static cl_int fault_status(cl_event event, cl_event_info what, void *value, cl_int err);
static cl_int fault_waited(cl_uint n, const cl_event *events, cl_int err);
static cl_int fault_finished(cl_command_queue queue, cl_int err);
static cl_int fault_calls(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data);

#include "faults.inc"

static cl_device_id device_of(cl_command_queue queue)
{
    cl_device_id device = NULL;
    if (queue)
        below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    return device;
}

/* `queue`: that of the call, or null. */
static cl_int fault_now(int function, int is_command, cl_command_queue queue)
{
    const unsigned call = atomic_fetch_add(&calls[function], 1) + 1;
    const char *name = fault_names[function];
    late_code = CL_SUCCESS;
    const bool enqueues =
        strncmp(name, "clEnqueue", 9) == 0 || strcmp(name, "clFinish") == 0 || strcmp(name, "clFlush") == 0;
    if (atomic_load(&lost) && (enqueues || strncmp(name, "clCreate", 8) == 0))
        return fault.code;
    if (atomic_load(&gone) && enqueues && device_of(queue) == atomic_load(&gone))
        return fault.code;
    if (function != fault.function || call < fault.n || (call > fault.n && fault.kind != FOREVER))
        return CL_SUCCESS;
    if (fault.kind == LATE) {
        late_code = is_command ? fault.code : CL_SUCCESS;
        return CL_SUCCESS;
    }
    if (fault.kind == LOST)
        atomic_store(&lost, 1);
    if (fault.kind == GONE)
        atomic_store(&gone, device_of(queue));
    return fault.code;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t when)
{
    const uint64_t now = now_ns();
    if (when > now)
        nanosleep(&(struct timespec){0, (long)(when - now)}, NULL);
}

/* The doomed command behind an event, or NULL. With the lock held. */
static const struct doomed *find_doomed(cl_event event)
{
    for (size_t i = 0; i < n_doomed; i++)
        if (doomed[i].event == event)
            return &doomed[i];
    return NULL;
}

/* Will the command that is about to be enqueued fail while it runs? Its status then, or 0. */
static cl_int fault_doom(cl_command_queue queue, cl_uint n, const cl_event *wait)
{
    cl_int code = late_code;
    const uint64_t now = now_ns();
    late_code = CL_SUCCESS;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n && wait && !code; i++)
        if (find_doomed(wait[i]))
            code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    for (size_t i = 0; i < n_doomed && !code; i++)
        if (doomed[i].queue == queue && doomed[i].when > now)
            code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Enqueues what stands for a command that fails. */
static cl_int fault_dooms(cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait, cl_event *event,
                          cl_int code)
{
    cl_event marker;
    cl_int err = below.clEnqueueMarkerWithWaitList(queue, n, wait, &marker);
    if (err)
        return err;
    const uint64_t when = now_ns() + LATE_NS;
    pthread_mutex_lock(&lock);
    if (n_doomed < MOST_DOOMED)
        doomed[n_doomed++] = (struct doomed){marker, queue, code, when};
    pthread_mutex_unlock(&lock);
    if (event) {
        below.clRetainEvent(marker);
        *event = marker;
    }
    if (!blocking)
        return CL_SUCCESS;
    sleep_until(when);
    return code;
}

static cl_int fault_status(cl_event event, cl_event_info what, void *value, cl_int err)
{
    pthread_mutex_lock(&lock);
    const struct doomed *d = err || !value || what != CL_EVENT_COMMAND_EXECUTION_STATUS ? NULL : find_doomed(event);
    if (d)
        *(cl_int *)value = d->when > now_ns() ? CL_SUBMITTED : d->code;
    pthread_mutex_unlock(&lock);
    return err;
}

static cl_int fault_waited(cl_uint n, const cl_event *events, cl_int err)
{
    uint64_t when = 0;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n && !err; i++) {
        const struct doomed *d = find_doomed(events[i]);
        if (d && d->when > when)
            when = d->when;
    }
    pthread_mutex_unlock(&lock);
    sleep_until(when);
    return when ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : err;
}

static cl_int fault_finished(cl_command_queue queue, cl_int err)
{
    uint64_t when = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_doomed; i++)
        if (doomed[i].queue == queue && doomed[i].when > when)
            when = doomed[i].when;
    pthread_mutex_unlock(&lock);
    sleep_until(when);
    return err;
}

/* A callback that is told of the failure, not of the end of what stands in its place. */
struct told {
    void(CL_CALLBACK *call)(cl_event event, cl_int status, void *data);
    void *data;
    struct doomed of;
};

static void *tell(void *arg)
{
    struct told *t = arg;
    sleep_until(t->of.when);
    t->call(t->of.event, t->of.code, t->data);
    free(t);
    return NULL;
}

/* By a thread of its own: a driver's, which calls this, may be the one that others wait for. */
static void CL_CALLBACK tell_later(cl_event event, cl_int status, void *data)
{
    pthread_t thread;
    (void)event;
    (void)status;
    if (pthread_create(&thread, NULL, tell, data) == 0)
        pthread_detach(thread);
    else
        tell(data);
}

static cl_int fault_calls(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
    struct told *t = call && type == CL_COMPLETE ? calloc(1, sizeof *t) : NULL;
    pthread_mutex_lock(&lock);
    const struct doomed *d = t ? find_doomed(event) : NULL;
    if (d)
        *t = (struct told){call, data, *d};
    pthread_mutex_unlock(&lock);
    const cl_int err =
        d ? below.clSetEventCallback(event, type, tell_later, t) : below.clSetEventCallback(event, type, call, data);
    if (err || !d)
        free(t);
    return err;
}

static void write_counts(void)
{
    const char *path = getenv("FAULT_COUNTS");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; f && i < sizeof fault_names / sizeof *fault_names; i++)
        if (calls[i])
            fprintf(f, "%s %u\n", fault_names[i], calls[i]);
    if (f)
        fclose(f);
}

static void read_fault(const char *text)
{
    char name[64], kind[16] = "";
    int code;
    if (!text || sscanf(text, "%63[^:]:%u:%d:%15s", name, &fault.n, &code, kind) < 3)
        return;
    fault.code = code;
    fault.kind = strcmp(kind, "forever") == 0 ? FOREVER
                 : strcmp(kind, "lost") == 0  ? LOST
                 : strcmp(kind, "gone") == 0  ? GONE
                 : strcmp(kind, "late") == 0  ? LATE
                                              : ONCE;
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++)
        if (strcmp(fault_names[i], name) == 0)
            fault.function = (int)i;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch table;
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &table);
    if (err)
        return err;
    read_fault(getenv("FAULT"));
    fault_install(&table);
    atexit(write_counts);
    return CL_SUCCESS;
}
