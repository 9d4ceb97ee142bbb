/* SPDX-License-Identifier: MIT */
/* A layer of the OpenCL loader between gpusparc and the driver that notes when which thread is in which of the driver's
 * functions: what a job pays, and for what. At the process's end the file TIMELINE gets a line for each call,
 *     C thread begin_ns end_ns function queue detail
 * by CLOCK_MONOTONIC. With TIMELINE_DEVICE set all queues have profiles, which costs, and further lines tell when
 * commands ran, by the device's clock:
 *     D queue queued_ns submit_ns start_ns end_ns function
 * bench/timeline.py shows one job of that. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/layer.h"

enum { MOST_CALLS = 1 << 20, MOST_COMMANDS = 1 << 16, MOST_QUEUES = 64 };

static bool device_times;

static struct call {
    uint64_t begin, end;
    const char *function;
    long thread;
    int queue, detail;
} * calls;
static atomic_uint n_calls;

static struct command {
    cl_event event; /* retained */
    const char *function;
    int queue;
} * commands;
static atomic_uint n_commands;

static cl_command_queue queues[MOST_QUEUES];
static int n_queues;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the queues */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* -1: none. */
static int number_of(cl_command_queue queue)
{
    int i = 0;
    if (!queue)
        return -1;
    pthread_mutex_lock(&lock);
    while (i < n_queues && queues[i] != queue)
        i++;
    if (i == n_queues && n_queues < MOST_QUEUES)
        queues[n_queues++] = queue;
    pthread_mutex_unlock(&lock);
    return i;
}

static void note(uint64_t begin, const char *function, cl_command_queue queue, int detail)
{
    static _Thread_local long thread;
    const uint64_t end = now_ns();
    const unsigned i = atomic_fetch_add(&n_calls, 1);
    if (!thread)
        thread = syscall(SYS_gettid);
    if (i < MOST_CALLS)
        calls[i] = (struct call){begin, end, function, thread, number_of(queue), detail};
}

static void keep(const char *function, cl_command_queue queue, cl_event event)
{
    const unsigned i = atomic_fetch_add(&n_commands, 1);
    if (i < MOST_COMMANDS && below.clRetainEvent(event) == CL_SUCCESS)
        commands[i] = (struct command){event, function, number_of(queue)};
}

/* A call that gives an event: what else it has is `detail`. */
#define COMMAND(name, detail, params, ...)                                                                             \
    static cl_int CL_API_CALL see_##name params                                                                        \
    {                                                                                                                  \
        cl_event own = NULL, *to = e || !device_times ? e : &own;                                                      \
        const uint64_t begin = now_ns();                                                                               \
        const cl_int err = below.name(__VA_ARGS__, n, w, to);                                                          \
        note(begin, #name, q, detail);                                                                                 \
        if (device_times && !err)                                                                                      \
            keep(#name, q, *to);                                                                                       \
        if (own)                                                                                                       \
            below.clReleaseEvent(own);                                                                                 \
        return err;                                                                                                    \
    }
#define CALL(name, queue, detail, params, ...)                                                                         \
    static cl_int CL_API_CALL see_##name params                                                                        \
    {                                                                                                                  \
        const uint64_t begin = now_ns();                                                                               \
        const cl_int err = below.name(__VA_ARGS__);                                                                    \
        note(begin, #name, queue, detail);                                                                             \
        return err;                                                                                                    \
    }
#define WAIT cl_uint n, const cl_event *w, cl_event *e

COMMAND(clEnqueueNDRangeKernel, (int)(g ? g[0] : 0),
        (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, WAIT), q, k, d,
        o, g, l)
COMMAND(clEnqueueReadBuffer, (int)b, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, WAIT), q, m,
        b, o, s, p)
COMMAND(clEnqueueWriteBuffer, (int)b,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, WAIT), q, m, b, o, s, p)
COMMAND(clEnqueueCopyBuffer, (int)s, (cl_command_queue q, cl_mem x, cl_mem y, size_t o, size_t p, size_t s, WAIT), q, x,
        y, o, p, s)

static cl_int CL_API_CALL see_clEnqueueMarkerWithWaitList(cl_command_queue q, WAIT)
{
    const uint64_t begin = now_ns();
    const cl_int err = below.clEnqueueMarkerWithWaitList(q, n, w, e);
    note(begin, "clEnqueueMarkerWithWaitList", q, (int)n);
    return err;
}

static cl_int CL_API_CALL see_clEnqueueBarrierWithWaitList(cl_command_queue q, WAIT)
{
    const uint64_t begin = now_ns();
    const cl_int err = below.clEnqueueBarrierWithWaitList(q, n, w, e);
    note(begin, "clEnqueueBarrierWithWaitList", q, (int)n);
    return err;
}

/* What an event's status was, beside that it was asked for. */
static cl_int CL_API_CALL see_clGetEventInfo(cl_event e, cl_event_info what, size_t size, void *value, size_t *size_ret)
{
    const uint64_t begin = now_ns();
    const cl_int err = below.clGetEventInfo(e, what, size, value, size_ret);
    note(begin, "clGetEventInfo", NULL,
         !err && what == CL_EVENT_COMMAND_EXECUTION_STATUS && value ? *(cl_int *)value : -1);
    return err;
}

static cl_event CL_API_CALL see_clCreateUserEvent(cl_context c, cl_int *err)
{
    const uint64_t begin = now_ns();
    cl_event event = below.clCreateUserEvent(c, err);
    note(begin, "clCreateUserEvent", NULL, 0);
    return event;
}

CALL(clWaitForEvents, NULL, (int)n, (cl_uint n, const cl_event *w), n, w)
CALL(clFlush, q, 0, (cl_command_queue q), q)
CALL(clFinish, q, 0, (cl_command_queue q), q)
CALL(clSetUserEventStatus, NULL, s, (cl_event e, cl_int s), e, s)
CALL(clReleaseEvent, NULL, 0, (cl_event e), e)
CALL(clRetainEvent, NULL, 0, (cl_event e), e)
CALL(clRetainCommandQueue, q, 0, (cl_command_queue q), q)
CALL(clReleaseCommandQueue, q, 0, (cl_command_queue q), q)
CALL(clSetKernelArg, NULL, (int)i, (cl_kernel k, cl_uint i, size_t s, const void *p), k, i, s, p)
CALL(clSetEventCallback, NULL, s,
     (cl_event e, cl_int s, void(CL_CALLBACK *f)(cl_event event, cl_int status, void *data), void *d), e, s, f, d)
CALL(clGetEventProfilingInfo, NULL, 0, (cl_event e, cl_profiling_info what, size_t s, void *v, size_t *r), e, what, s,
     v, r)

/* A call that gives an object. */
#define MAKE(type, name, detail, params, ...)                                                                          \
    static type CL_API_CALL see_##name params                                                                          \
    {                                                                                                                  \
        const uint64_t begin = now_ns();                                                                               \
        type made = below.name(__VA_ARGS__);                                                                           \
        note(begin, #name, NULL, detail);                                                                              \
        return made;                                                                                                   \
    }

MAKE(cl_mem, clCreateBuffer, (int)(s >> 10), (cl_context c, cl_mem_flags f, size_t s, void *p, cl_int *err), c, f, s, p,
     err)
MAKE(cl_mem, clCreateBufferWithProperties, (int)(s >> 10),
     (cl_context c, const cl_mem_properties *l, cl_mem_flags f, size_t s, void *p, cl_int *err), c, l, f, s, p, err)
MAKE(cl_program, clCreateProgramWithSource, (int)n,
     (cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *err), c, n, t, l, err)
MAKE(cl_kernel, clCreateKernel, 0, (cl_program p, const char *name, cl_int *err), p, name, err)
CALL(clBuildProgram, NULL, (int)n,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o,
      void(CL_CALLBACK *f)(cl_program program, void *data), void *data),
     p, n, d, o, f, data)
CALL(clReleaseMemObject, NULL, 0, (cl_mem m), m)
CALL(clReleaseProgram, NULL, 0, (cl_program p), p)
COMMAND(clEnqueueFillBuffer, (int)s, (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t s, WAIT),
        q, m, p, ps, o, s)
COMMAND(clEnqueueUnmapMemObject, 0, (cl_command_queue q, cl_mem m, void *p, WAIT), q, m, p)
COMMAND(clEnqueueCopyBufferRect, (int)(s[0] * s[1] * s[2]),
        (cl_command_queue q, cl_mem x, cl_mem y, const size_t *o, const size_t *p, const size_t *s, size_t xr,
         size_t xs, size_t yr, size_t ys, WAIT),
        q, x, y, o, p, s, xr, xs, yr, ys)
COMMAND(clEnqueueReadBufferRect, (int)(s[0] * s[1] * s[2]),
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *p, const size_t *s, size_t xr,
         size_t xs, size_t yr, size_t ys, void *host, WAIT),
        q, m, b, o, p, s, xr, xs, yr, ys, host)
COMMAND(clEnqueueWriteBufferRect, (int)(s[0] * s[1] * s[2]),
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *p, const size_t *s, size_t xr,
         size_t xs, size_t yr, size_t ys, const void *host, WAIT),
        q, m, b, o, p, s, xr, xs, yr, ys, host)

static void *CL_API_CALL see_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o,
                                                size_t s, WAIT, cl_int *err)
{
    const uint64_t begin = now_ns();
    void *p = below.clEnqueueMapBuffer(q, m, b, f, o, s, n, w, e, err);
    note(begin, "clEnqueueMapBuffer", q, (int)(s >> 10));
    return p;
}

static cl_command_queue CL_API_CALL see_clCreateCommandQueue(cl_context c, cl_device_id d,
                                                             cl_command_queue_properties p, cl_int *err)
{
    const uint64_t begin = now_ns();
    cl_command_queue made = below.clCreateCommandQueue(c, d, device_times ? p | CL_QUEUE_PROFILING_ENABLE : p, err);
    note(begin, "clCreateCommandQueue", made, 0);
    return made;
}

static void write_commands(FILE *f)
{
    static const cl_profiling_info what[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                             CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    const unsigned n = atomic_load(&n_commands) < MOST_COMMANDS ? atomic_load(&n_commands) : MOST_COMMANDS;
    for (unsigned i = 0; i < n; i++) {
        cl_ulong t[4];
        bool all = commands[i].event;
        for (int k = 0; k < 4 && all; k++)
            all = below.clGetEventProfilingInfo(commands[i].event, what[k], sizeof *t, &t[k], NULL) == CL_SUCCESS;
        if (all)
            fprintf(f, "D %d %llu %llu %llu %llu %s\n", commands[i].queue, (unsigned long long)t[0],
                    (unsigned long long)t[1], (unsigned long long)t[2], (unsigned long long)t[3], commands[i].function);
    }
}

static void write_all(void)
{
    const char *path = getenv("TIMELINE");
    FILE *f = path ? fopen(path, "w") : NULL;
    const unsigned n = atomic_load(&n_calls) < MOST_CALLS ? atomic_load(&n_calls) : MOST_CALLS;
    if (!f)
        return;
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "C %ld %llu %llu %s %d %d\n", calls[i].thread, (unsigned long long)calls[i].begin,
                (unsigned long long)calls[i].end, calls[i].function, calls[i].queue, calls[i].detail);
    if (device_times)
        write_commands(f);
    fclose(f);
}

#define INSTALL(name) layer.name = see_##name

static void layer_start(void)
{
    calls = calloc(MOST_CALLS, sizeof *calls);
    commands = calloc(MOST_COMMANDS, sizeof *commands);
    if (!calls || !commands)
        abort();
    device_times = getenv("TIMELINE_DEVICE");
    atexit(write_all);
    INSTALL(clCreateBuffer);
    INSTALL(clCreateBufferWithProperties);
    INSTALL(clCreateProgramWithSource);
    INSTALL(clCreateKernel);
    INSTALL(clBuildProgram);
    INSTALL(clReleaseMemObject);
    INSTALL(clReleaseProgram);
    INSTALL(clEnqueueFillBuffer);
    INSTALL(clEnqueueMapBuffer);
    INSTALL(clEnqueueUnmapMemObject);
    INSTALL(clEnqueueCopyBufferRect);
    INSTALL(clEnqueueReadBufferRect);
    INSTALL(clEnqueueWriteBufferRect);
    INSTALL(clEnqueueNDRangeKernel);
    INSTALL(clEnqueueReadBuffer);
    INSTALL(clEnqueueWriteBuffer);
    INSTALL(clEnqueueCopyBuffer);
    INSTALL(clEnqueueMarkerWithWaitList);
    INSTALL(clEnqueueBarrierWithWaitList);
    INSTALL(clGetEventInfo);
    INSTALL(clCreateUserEvent);
    INSTALL(clWaitForEvents);
    INSTALL(clFlush);
    INSTALL(clFinish);
    INSTALL(clSetUserEventStatus);
    INSTALL(clReleaseEvent);
    INSTALL(clRetainEvent);
    INSTALL(clRetainCommandQueue);
    INSTALL(clReleaseCommandQueue);
    INSTALL(clSetKernelArg);
    INSTALL(clSetEventCallback);
    INSTALL(clGetEventProfilingInfo);
    INSTALL(clCreateCommandQueue);
}
