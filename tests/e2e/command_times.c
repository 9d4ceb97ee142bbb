/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that sees when each command ran which moves bytes or runs a kernel, by the
 * driver's own profile, and when memory with contents was made: a line "KIND BEGIN END FUNCTION" by CLOCK_MONOTONIC, in
 * nanoseconds, in the file COMMAND_TIMES. KIND: link (between the host and a device), gpu (a kernel), any (within or
 * between devices). PoCL's profiles are by CLOCK_MONOTONIC_RAW. After every few commands it waits for an answer of the
 * daemon, which so writes down all units, however late it is. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/client/client.h"
#include "layer.h"

static int file = -1;

struct command {
    const char *kind, *function;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void say(const char *kind, uint64_t begin, uint64_t end, const char *function)
{
    char line[128];
    const int n = snprintf(line, sizeof line, "%s %llu %llu %s\n", kind, (unsigned long long)begin,
                           (unsigned long long)end, function);
    if (file >= 0 && write(file, line, (size_t)n) != n)
        abort();
}

static uint64_t profiled(cl_event event, cl_profiling_info what)
{
    cl_ulong ns = 0;
    if (below.clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL) != CL_SUCCESS)
        abort();
    return ns;
}

static void CL_CALLBACK has_run(cl_event event, cl_int status, void *data)
{
    enum { MOMENT_NS = 1000 };
    const struct command *c = data;
    if (status < 0) /* what has failed hasn't run */
        return;
    const uint64_t begin = profiled(event, CL_PROFILING_COMMAND_START), end = profiled(event, CL_PROFILING_COMMAND_END);
    uint64_t now, raw;
    do { /* at one time */
        now = now_ns();
        raw = clock_ns(CLOCK_MONOTONIC_RAW);
    } while (now_ns() > now + MOMENT_NS);
    if (end > raw)
        abort(); /* by another clock */
    say(c->kind, now - (raw - begin), now - (raw - end), c->function);
}

/* The daemon keeps the last 1,024 units of an application until it writes them down. */
static void let_daemon_follow(void)
{
    enum { COMMANDS = 8, PATIENCE_MS = 100000 };
    static atomic_uint seen;
    char *text = NULL;
    if (atomic_fetch_add(&seen, 1) % COMMANDS == 0)
        gs_client_ask(NULL, GS_MSG_STATUS, NULL, PATIENCE_MS, &text);
    free(text);
}

/* The command has been enqueued as *own, which is nobody's if the caller wanted no event. */
static void seen(const struct command *c, cl_int err, cl_event *own, const cl_event *wanted)
{
    if (err)
        return;
    if (below.clSetEventCallback(*own, CL_COMPLETE, has_run, (void *)(uintptr_t)c) != CL_SUCCESS)
        abort();
    if (!wanted)
        below.clReleaseEvent(*own);
    let_daemon_follow();
}

#define SEE(what, name, params, ...)                                                                                   \
    static cl_int CL_API_CALL see_##name params                                                                        \
    {                                                                                                                  \
        static const struct command command = {what, #name};                                                           \
        cl_event mine = NULL, *own = e ? e : &mine;                                                                    \
        const cl_int err = below.name(__VA_ARGS__, n, w, own);                                                         \
        seen(&command, err, own, e);                                                                                   \
        return err;                                                                                                    \
    }
#define WAIT cl_uint n, const cl_event *w, cl_event *e

SEE("link", clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, WAIT), q, m, b,
    o, s, p)
SEE("link", clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, WAIT), q,
    m, b, o, s, p)
SEE("link", clEnqueueReadBufferRect,
    (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t br, size_t bs,
     size_t hr, size_t hs, void *p, WAIT),
    q, m, b, o, h, r, br, bs, hr, hs, p)
SEE("link", clEnqueueWriteBufferRect,
    (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t br, size_t bs,
     size_t hr, size_t hs, const void *p, WAIT),
    q, m, b, o, h, r, br, bs, hr, hs, p)
SEE("link", clEnqueueReadImage,
    (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, void *p, WAIT), q,
    m, b, o, r, rp, sp, p)
SEE("link", clEnqueueWriteImage,
    (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, const void *p,
     WAIT),
    q, m, b, o, r, rp, sp, p)
SEE("any", clEnqueueCopyBuffer, (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t p, size_t s, WAIT), q, a, b,
    o, p, s)
SEE("any", clEnqueueCopyBufferRect,
    (cl_command_queue q, cl_mem a, cl_mem b, const size_t *o, const size_t *p, const size_t *r, size_t ar, size_t as,
     size_t br, size_t bs, WAIT),
    q, a, b, o, p, r, ar, as, br, bs)
SEE("any", clEnqueueFillBuffer, (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t s, WAIT), q,
    m, p, ps, o, s)
SEE("any", clEnqueueCopyImage,
    (cl_command_queue q, cl_mem a, cl_mem b, const size_t *o, const size_t *p, const size_t *r, WAIT), q, a, b, o, p, r)
SEE("any", clEnqueueFillImage, (cl_command_queue q, cl_mem m, const void *p, const size_t *o, const size_t *r, WAIT), q,
    m, p, o, r)
SEE("any", clEnqueueCopyImageToBuffer,
    (cl_command_queue q, cl_mem a, cl_mem b, const size_t *o, const size_t *r, size_t s, WAIT), q, a, b, o, r, s)
SEE("any", clEnqueueCopyBufferToImage,
    (cl_command_queue q, cl_mem a, cl_mem b, size_t s, const size_t *o, const size_t *r, WAIT), q, a, b, s, o, r)
SEE("any", clEnqueueMigrateMemObjects, (cl_command_queue q, cl_uint k, const cl_mem *m, cl_mem_migration_flags f, WAIT),
    q, k, m, f)
SEE("gpu", clEnqueueNDRangeKernel,
    (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, WAIT), q, k, d, o,
    g, l)
SEE("gpu", clEnqueueTask, (cl_command_queue q, cl_kernel k, WAIT), q, k)

/* A read of no bytes, which PoCL takes, moves nothing. */
static cl_int CL_API_CALL see_read(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, WAIT)
{
    return s ? see_clEnqueueReadBuffer(q, m, b, o, s, p, n, w, e)
             : below.clEnqueueReadBuffer(q, m, b, o, s, p, n, w, e);
}

/* What lies in the host's memory moves nowhere when it is mapped; gpusparc pins its own such memory by that. */
static int is_of_host(cl_mem m)
{
    cl_mem_flags flags = 0;
    return below.clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL) == CL_SUCCESS &&
           (flags & CL_MEM_ALLOC_HOST_PTR);
}

static cl_int CL_API_CALL see_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *p, WAIT)
{
    static const struct command command = {"link", "clEnqueueUnmapMemObject"};
    cl_event mine = NULL, *own = e ? e : &mine;
    if (is_of_host(m))
        return below.clEnqueueUnmapMemObject(q, m, p, n, w, e);
    const cl_int err = below.clEnqueueUnmapMemObject(q, m, p, n, w, own);
    seen(&command, err, own, e);
    return err;
}

static void *CL_API_CALL see_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o,
                                                size_t s, WAIT, cl_int *err)
{
    static const struct command command = {"link", "clEnqueueMapBuffer"};
    cl_event mine = NULL, *own = e ? e : &mine;
    if (is_of_host(m))
        return below.clEnqueueMapBuffer(q, m, b, f, o, s, n, w, e, err);
    void *p = below.clEnqueueMapBuffer(q, m, b, f, o, s, n, w, own, err);
    seen(&command, p ? CL_SUCCESS : CL_INVALID_VALUE, own, e);
    return p;
}

static void *CL_API_CALL see_clEnqueueMapImage(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, const size_t *o,
                                               const size_t *r, size_t *rp, size_t *sp, WAIT, cl_int *err)
{
    static const struct command command = {"link", "clEnqueueMapImage"};
    cl_event mine = NULL, *own = e ? e : &mine;
    void *p = below.clEnqueueMapImage(q, m, b, f, o, r, rp, sp, n, w, own, err);
    seen(&command, p ? CL_SUCCESS : CL_INVALID_VALUE, own, e);
    return p;
}

#define MAKE(name, flags, params, ...)                                                                                 \
    static cl_mem CL_API_CALL see_##name params                                                                        \
    {                                                                                                                  \
        const uint64_t begin = now_ns();                                                                               \
        cl_mem m = below.name(__VA_ARGS__);                                                                            \
        if (m && ((flags)&CL_MEM_COPY_HOST_PTR))                                                                       \
            say("link", begin, now_ns(), #name);                                                                       \
        return m;                                                                                                      \
    }
MAKE(clCreateBuffer, f, (cl_context c, cl_mem_flags f, size_t s, void *p, cl_int *err), c, f, s, p, err)
MAKE(clCreateImage, f,
     (cl_context c, cl_mem_flags f, const cl_image_format *i, const cl_image_desc *d, void *p, cl_int *err), c, f, i, d,
     p, err)
MAKE(clCreateImage2D, f,
     (cl_context c, cl_mem_flags f, const cl_image_format *i, size_t x, size_t y, size_t r, void *p, cl_int *err), c, f,
     i, x, y, r, p, err)

static cl_command_queue CL_API_CALL see_clCreateCommandQueue(cl_context c, cl_device_id d,
                                                             cl_command_queue_properties p, cl_int *err)
{
    return below.clCreateCommandQueue(c, d, p | CL_QUEUE_PROFILING_ENABLE, err);
}

static cl_command_queue CL_API_CALL see_clCreateCommandQueueWithProperties(cl_context c, cl_device_id d,
                                                                           const cl_queue_properties *p, cl_int *err)
{
    cl_queue_properties all[16] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE};
    for (unsigned n = 2; p && *p && n + 2 < 16; p += 2) {
        if (p[0] == CL_QUEUE_PROPERTIES) {
            all[1] |= p[1];
            continue;
        }
        all[n++] = p[0];
        all[n++] = p[1];
    }
    return below.clCreateCommandQueueWithProperties(c, d, all, err);
}

#define INSTALL(name) layer.name = see_##name

static void layer_start(void)
{
    const char *path = getenv("COMMAND_TIMES");
    file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    INSTALL(clCreateCommandQueue);
    INSTALL(clCreateCommandQueueWithProperties);
    layer.clEnqueueReadBuffer = see_read;
    INSTALL(clEnqueueWriteBuffer);
    INSTALL(clEnqueueReadBufferRect);
    INSTALL(clEnqueueWriteBufferRect);
    INSTALL(clEnqueueReadImage);
    INSTALL(clEnqueueWriteImage);
    INSTALL(clEnqueueCopyBuffer);
    INSTALL(clEnqueueCopyBufferRect);
    INSTALL(clEnqueueFillBuffer);
    INSTALL(clEnqueueCopyImage);
    INSTALL(clEnqueueFillImage);
    INSTALL(clEnqueueCopyImageToBuffer);
    INSTALL(clEnqueueCopyBufferToImage);
    INSTALL(clEnqueueMigrateMemObjects);
    INSTALL(clEnqueueUnmapMemObject);
    INSTALL(clEnqueueNDRangeKernel);
    INSTALL(clEnqueueTask);
    INSTALL(clEnqueueMapBuffer);
    INSTALL(clEnqueueMapImage);
    INSTALL(clCreateBuffer);
    INSTALL(clCreateImage);
    INSTALL(clCreateImage2D);
}
