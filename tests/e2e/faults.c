/* SPDX-License-Identifier: MIT */
/* A layer of the OpenCL loader below gpusparc that lets calls of the driver fail, as FAULT says:
 *
 *   FUNCTION:N:CODE          the N-th call returns CODE and does nothing
 *
 *   FUNCTION:N:CODE:forever  so do all calls of it from the N-th on
 *
 *   FUNCTION:N:CODE:lost     so do all calls of any function that makes or enqueues something from then on
 *
 *   FUNCTION:N:CODE:gone     so does all that is enqueued on the same device from then on
 *
 *   clCreateBuffer:N:CODE:hollow  the buffers from the N-th on are made, but there is no memory for them: what uses
 * them returns CODE (NVIDIA's driver finds out as late)
 *
 *   clCreateBuffer:N:CODE:small   so are all buffers of at most N bytes: the stand-ins of --memory pooled. FAULT_USED
 * names a file that gets the names of the functions that used one, a line each
 *
 *   FUNCTION:N:CODE:late     the N-th call is accepted, and the command ends with CODE a little after those before it,
 * without having done anything. Those that wait for it, or are behind it in its queue in order until then, fail as soon
 * as it does, whatever else they wait for
 *
 *   any:SEED:CODE:often      so do some of all commands that do something: SEED chooses which. User events that fail,
 * of which PoCL (3.1) survives few, end well below, and what waits for them is carried out, and told of as failed; as a
 * driver doesn't carry it out clFinish waits until it has ended
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

enum { MOST_FUNCTIONS = 256, MOST_DOOMED = 65536, MOST_HOLLOW = 4096, LATE_NS = 3000000, ONE_IN = 60, MOST_OFTEN = 15 };
enum kind { ONCE, FOREVER, LOST, GONE, LATE, OFTEN, HOLLOW, SMALL };

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

/* The commands that fail while they run. In their place is a marker, which ends when they fail; what is asked of its
 * event is answered for them. They are retained for ever, so that their handles stay theirs. And those that may fail
 * by what they wait for: user events without a status (`user`), or others of these. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doomed {
    cl_event event;
    cl_command_queue queue;
    cl_int code; /* 0: not known to fail */
    bool ended, user;
    bool spoilt, held; /* waits for a user event that has failed, or for one that has no status yet; see any_spoilt */
    size_t n_of, *of;
} doomed[MOST_DOOMED];
static size_t n_doomed;
static unsigned n_coming; /* commands that may fail by what they wait for, and are just being enqueued */

/* A command that is about to be enqueued, which may fail by what it waits for. */
struct trail {
    size_t n_of, *of; /* 0: nothing */
    cl_event own;
    bool owns, coming;
};

/* What becomes of a command that is about to be enqueued. */
struct doom {
    cl_int code; /* 0: it is carried out */
    bool own;    /* it fails by itself; else for that which it waits for, or is behind */
};

static cl_int fault_now(int function, int is_command, cl_command_queue queue);
static cl_mem fault_made(cl_mem mem, size_t bytes);
static cl_mem fault_part(cl_mem part, cl_mem buffer);
static void fault_gives(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
static cl_int fault_uses(int function, unsigned n, const cl_mem *mems, cl_kernel kernel);
static struct doom fault_doom(cl_command_queue queue, cl_uint n, const cl_event *wait);
static cl_int fault_dooms(cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait, cl_event *event,
                          struct doom doom);
static void *fault_maps(void *mapped, cl_command_queue queue, cl_mem mem, cl_bool blocking, const cl_event *event,
                        cl_int *err, struct doom doom, struct trail *t);
static void fault_trail(struct trail *t, cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait,
                        cl_event **event);
static cl_int fault_follow(struct trail *t, cl_command_queue queue, cl_bool blocking, const cl_event *event,
                           cl_int err);
static cl_event fault_user(cl_event event);
static cl_int fault_sets(cl_event event, cl_int status);
static cl_int fault_status(cl_event event, cl_event_info what, void *value, cl_int err);
static cl_int fault_waited(cl_uint n, const cl_event *events, cl_int err);
static cl_int fault_finished(cl_int err);
static cl_int fault_calls(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data);

#include "faults.inc"

static cl_device_id device_of(cl_command_queue queue)
{
    cl_device_id device = NULL;
    if (queue)
        below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    return device;
}

static bool is_chosen(unsigned command)
{
    uint64_t x = ((uint64_t)fault.n << 32 | command) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
    return (x >> 32) % ONE_IN == 0;
}

/* The buffers without memory, which are retained for ever, and the kernels that have been given some. Lock. */
static cl_mem hollow[MOST_HOLLOW];
static struct {
    cl_kernel kernel;
    cl_uint index;
} given[MOST_HOLLOW];
static size_t n_hollow, n_given;

static bool is_hollow(cl_mem mem)
{
    for (size_t i = 0; i < n_hollow; i++)
        if (hollow[i] == mem)
            return true;
    return false;
}

static cl_mem fault_made(cl_mem mem, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const bool later = fault.kind == HOLLOW && atomic_load(&calls[fault.function]) >= fault.n,
               small = fault.kind == SMALL && bytes <= fault.n;
    if (mem && (later || small) && n_hollow < MOST_HOLLOW) {
        below.clRetainMemObject(mem);
        hollow[n_hollow++] = mem;
    }
    pthread_mutex_unlock(&lock);
    return mem;
}

/* A sub-buffer is as the buffer is. */
static cl_mem fault_part(cl_mem part, cl_mem buffer)
{
    pthread_mutex_lock(&lock);
    const bool hollow_too = is_hollow(buffer);
    pthread_mutex_unlock(&lock);
    return hollow_too ? fault_made(part, 0) : part;
}

static void fault_gives(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_given; i++)
        if (given[i].kernel == kernel && given[i].index == index)
            given[i--] = given[--n_given];
    if (value && bytes == sizeof(cl_mem) && is_hollow(*(const cl_mem *)value) && n_given < MOST_HOLLOW) {
        given[n_given].kernel = kernel;
        given[n_given++].index = index;
    }
    pthread_mutex_unlock(&lock);
}

static void say_used(const char *name)
{
    const char *path = getenv("FAULT_USED");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s\n", name);
        fclose(f);
    }
}

static cl_int fault_uses(int function, unsigned n, const cl_mem *mems, cl_kernel kernel)
{
    bool any = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n; i++)
        any = any || is_hollow(mems[i]);
    for (size_t i = 0; i < n_given && kernel; i++)
        any = any || given[i].kernel == kernel;
    pthread_mutex_unlock(&lock);
    if (fault.kind == SMALL && strcmp(fault_names[function], "clCreateSubBuffer") == 0) /* its use counts */
        return CL_SUCCESS;
    if (any)
        say_used(fault_names[function]);
    return any ? fault.code : CL_SUCCESS;
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
    if (fault.kind == OFTEN) {
        static atomic_uint commands, chosen;
        const bool does = is_command && enqueues && !strstr(name, "Marker") && !strstr(name, "Barrier");
        if (does && is_chosen(atomic_fetch_add(&commands, 1)) && atomic_fetch_add(&chosen, 1) < MOST_OFTEN)
            late_code = fault.code;
        return CL_SUCCESS;
    }
    if (fault.kind == HOLLOW || fault.kind == SMALL || function != fault.function || call < fault.n ||
        (call > fault.n && fault.kind != FOREVER))
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

static cl_int status_below(cl_event event)
{
    cl_int status = CL_QUEUED;
    below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

static bool in_order(cl_command_queue queue)
{
    cl_command_queue_properties bits = 0;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof bits, &bits, NULL);
    return !(bits & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* The doomed command behind an event, or NULL. With the lock held. */
static struct doomed *find_doomed(cl_event event)
{
    for (size_t i = 0; i < n_doomed; i++)
        if (doomed[i].event == event)
            return &doomed[i];
    return NULL;
}

/* With the lock held, as the next. */
static bool has_ended(struct doomed *d)
{
    if (d->ended || d->user || status_below(d->event) > CL_COMPLETE)
        return d->ended;
    for (size_t i = 0; i < d->n_of && !d->code; i++)
        if (has_ended(&doomed[d->of[i]]) && doomed[d->of[i]].code)
            d->code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    free(d->of);
    d->of = NULL;
    d->n_of = 0;
    return d->ended = true;
}

/* Does it fail, as far as is known? */
static cl_int code_of(cl_event event)
{
    struct doomed *d = find_doomed(event);
    if (d)
        has_ended(d);
    return d ? d->code : CL_SUCCESS;
}

static struct doom fault_doom(cl_command_queue queue, cl_uint n, const cl_event *wait)
{
    struct doom doom = {.code = late_code, .own = late_code};
    late_code = CL_SUCCESS;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n && wait; i++)
        if (code_of(wait[i]))
            doom = (struct doom){CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, false};
    for (size_t i = 0; i < n_doomed && !doom.code; i++)
        if (doomed[i].queue == queue && !has_ended(&doomed[i]) && doomed[i].code && in_order(queue))
            doom = (struct doom){CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, false};
    pthread_mutex_unlock(&lock);
    return doom;
}

/* Ends what stands for a command that fails by itself. */
static void *open_gate(void *gate)
{
    nanosleep(&(struct timespec){0, LATE_NS}, NULL);
    below.clSetUserEventStatus(gate, CL_COMPLETE);
    below.clReleaseEvent(gate);
    return NULL;
}

static cl_event gate_of(cl_command_queue queue)
{
    cl_context context = NULL;
    cl_int err = below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    cl_event gate = err ? NULL : below.clCreateUserEvent(context, &err);
    return err ? NULL : gate;
}

/* What its marker waits for. */
static cl_uint list_of(struct doom doom, cl_uint n, const cl_event *wait, cl_event gate, cl_event *list)
{
    cl_uint kept = 0;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n; i++)
        if (doom.own || code_of(wait[i]))
            list[kept++] = wait[i];
    pthread_mutex_unlock(&lock);
    if (gate)
        list[kept++] = gate;
    return kept;
}

/* The event is taken over. */
static void is_doomed(cl_event event, cl_command_queue queue, cl_int code)
{
    pthread_mutex_lock(&lock);
    if (n_doomed < MOST_DOOMED)
        doomed[n_doomed++] = (struct doomed){.event = event, .queue = queue, .code = code};
    pthread_mutex_unlock(&lock);
}

/* Enqueues what stands for a command that fails. */
static cl_int fault_dooms(cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait, cl_event *event,
                          struct doom doom)
{
    cl_event marker, gate = doom.own ? gate_of(queue) : NULL, *list = malloc((n + 1) * sizeof *list);
    const cl_uint kept = list_of(doom, wait ? n : 0, wait, gate, list);
    const cl_int err = below.clEnqueueMarkerWithWaitList(queue, kept, kept ? list : NULL, &marker);
    pthread_t thread;
    free(list);
    if (gate && pthread_create(&thread, NULL, open_gate, gate) == 0)
        pthread_detach(thread);
    else if (gate)
        open_gate(gate);
    if (err)
        return err;
    is_doomed(marker, queue, doom.code);
    if (event) {
        below.clRetainEvent(marker);
        *event = marker;
    }
    if (!blocking)
        return CL_SUCCESS;
    below.clWaitForEvents(1, &marker);
    return doom.code;
}

/* What of its wait list, or before it in its queue, may make it fail. One that has just failed counts: it hadn't when
 * fault_doom looked. */
static void fault_trail(struct trail *t, cl_command_queue queue, cl_bool blocking, cl_uint n, const cl_event *wait,
                        cl_event **event)
{
    *t = (struct trail){0};
    if (fault.kind != OFTEN)
        return;
    pthread_mutex_lock(&lock);
    t->of = malloc((n + 1) * sizeof *t->of);
    for (cl_uint i = 0; i < n && wait; i++) {
        struct doomed *d = find_doomed(wait[i]);
        if (d && (!has_ended(d) || d->code))
            t->of[t->n_of++] = (size_t)(d - doomed);
    }
    for (size_t i = n_doomed; i-- > 0 && in_order(queue);)
        if (doomed[i].queue == queue) {
            if (!has_ended(&doomed[i]))
                t->of[t->n_of++] = i;
            break;
        }
    t->coming = t->n_of && !blocking;
    n_coming += t->coming;
    pthread_mutex_unlock(&lock);
    t->owns = t->n_of && !*event;
    if (t->owns)
        *event = &t->own;
}

static cl_int fault_follow(struct trail *t, cl_command_queue queue, cl_bool blocking, const cl_event *event, cl_int err)
{
    const bool follows = t->n_of && !err;
    if (!t->of)
        return err;
    if (follows && !t->owns)
        below.clRetainEvent(*event);
    pthread_mutex_lock(&lock);
    n_coming -= t->coming;
    if (follows && n_doomed < MOST_DOOMED)
        doomed[n_doomed++] = (struct doomed){.event = *event, .queue = queue, .n_of = t->n_of, .of = t->of};
    err = follows && blocking ? code_of(*event) : err;
    pthread_mutex_unlock(&lock);
    if (!follows)
        free(t->of);
    return err;
}

/* A map has been enqueued; it fails where it waits for what does, or is behind it. */
static void *fault_maps(void *mapped, cl_command_queue queue, cl_mem mem, cl_bool blocking, const cl_event *event,
                        cl_int *err, struct doom doom, struct trail *t)
{
    const cl_int failed = fault_follow(t, queue, blocking, event, mapped ? CL_SUCCESS : CL_MAP_FAILURE);
    const bool followed = t->n_of; /* then it is known */
    doom.code = doom.code ? doom.code : failed;
    if (!mapped || !doom.code)
        return mapped;
    if (!followed && event && below.clRetainEvent(*event) == CL_SUCCESS)
        is_doomed(*event, queue, doom.code);
    if (!blocking)
        return mapped;
    below.clEnqueueUnmapMemObject(queue, mem, mapped, 0, NULL, NULL);
    if (err)
        *err = doom.code;
    return NULL;
}

static cl_event fault_user(cl_event event)
{
    if (fault.kind != OFTEN || !event)
        return event;
    below.clRetainEvent(event);
    pthread_mutex_lock(&lock);
    if (n_doomed < MOST_DOOMED)
        doomed[n_doomed++] = (struct doomed){.event = event, .user = true};
    pthread_mutex_unlock(&lock);
    return event;
}

static cl_int fault_sets(cl_event event, cl_int status)
{
    pthread_mutex_lock(&lock);
    struct doomed *d = fault.kind == OFTEN ? find_doomed(event) : NULL;
    const bool again = d && d->ended;
    if (d && !again)
        *d = (struct doomed){.event = event, .code = status < 0 ? status : CL_SUCCESS, .ended = true};
    pthread_mutex_unlock(&lock);
    if (d && !again && status < 0) /* what is behind it begins late, and writes where the host no longer expects it */
        nanosleep(&(struct timespec){0, LATE_NS}, NULL);
    return again ? CL_INVALID_OPERATION : below.clSetUserEventStatus(event, d ? CL_COMPLETE : status);
}

static cl_int fault_status(cl_event event, cl_event_info what, void *value, cl_int err)
{
    pthread_mutex_lock(&lock);
    if (!err && value && what == CL_EVENT_COMMAND_EXECUTION_STATUS && *(cl_int *)value == CL_COMPLETE)
        *(cl_int *)value = code_of(event);
    pthread_mutex_unlock(&lock);
    return err;
}

static cl_int fault_waited(cl_uint n, const cl_event *events, cl_int err)
{
    bool any = false;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n && !err; i++)
        any = any || code_of(events[i]);
    pthread_mutex_unlock(&lock);
    return any ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : err;
}

/* Is anything being carried out that waits for a user event that has failed? Not while it waits for one without status,
 * which may be that of who asks. What it waits for comes before it. */
static bool any_spoilt(void)
{
    pthread_mutex_lock(&lock);
    bool any = n_coming > 0;
    for (size_t i = 0; i < n_doomed; i++) {
        struct doomed *d = &doomed[i];
        d->held = d->user && !d->ended;
        for (size_t k = 0; k < d->n_of; k++) {
            const struct doomed *of = &doomed[d->of[k]];
            d->spoilt = d->spoilt || of->spoilt || (of->ended && of->code);
            d->held = d->held || (of->held && !of->ended);
        }
        any = (d->spoilt && !d->held && !has_ended(d)) || any;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

static cl_int fault_finished(cl_int err)
{
    while (any_spoilt())
        nanosleep(&(struct timespec){0, 200000}, NULL);
    return err;
}

/* A callback that is told of the failure, not of the end of what stands in its place. */
struct told {
    void(CL_CALLBACK *call)(cl_event event, cl_int status, void *data);
    void *data;
    cl_event event;
};

static void *tell(void *arg)
{
    struct told *t = arg;
    pthread_mutex_lock(&lock);
    const cl_int code = code_of(t->event);
    pthread_mutex_unlock(&lock);
    t->call(t->event, code, t->data);
    free(t);
    return NULL;
}

/* By a thread of its own: a driver's, which calls this, may be the one that others wait for. */
static void CL_CALLBACK tell_later(cl_event event, cl_int status, void *data)
{
    pthread_t thread;
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
        *t = (struct told){call, data, event};
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
    fault.kind = strcmp(kind, "forever") == 0  ? FOREVER
                 : strcmp(kind, "lost") == 0   ? LOST
                 : strcmp(kind, "gone") == 0   ? GONE
                 : strcmp(kind, "late") == 0   ? LATE
                 : strcmp(kind, "often") == 0  ? OFTEN
                 : strcmp(kind, "hollow") == 0 ? HOLLOW
                 : strcmp(kind, "small") == 0  ? SMALL
                                               : ONCE;
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++)
        if (strcmp(fault_names[i], name) == 0)
            fault.function = (int)i;
}

static void layer_start(void)
{
    read_fault(getenv("FAULT"));
    fault_install(&layer);
    atexit(write_counts);
}
