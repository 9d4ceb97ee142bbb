/* SPDX-License-Identifier: MIT */
/* The commands, and how long each takes. */
#include "fake.h"

#include <unistd.h>

enum { KERNEL_NS = 2000 }; /* by its profile, where no time passes */

/* A command has been enqueued, and has ended; or will, where time passes. */
static cl_int command(const char *call, cl_command_queue queue, cl_ulong took_ns, cl_uint n, const cl_event *wait,
                      cl_event *event)
{
    fake_say(call, queue);
    if (atomic_load_explicit(&fake.apart, memory_order_relaxed))
        _exit(70);
    fake_evict();
    if (!event && !(fake.item_ns > 0))
        return CL_SUCCESS;
    cl_event e = calloc(1, sizeof *e);
    if (!e)
        return CL_OUT_OF_HOST_MEMORY;
    atomic_init(&e->refs, 1);
    e->queue = queue;
    e->profiling = queue->profiling;
    e->took_ns = took_ns;
    e->begin_ns = fake_now_ns();
    atomic_init(&e->end_ns, e->begin_ns + took_ns);
    e->kernel = strcmp(call, "clEnqueueNDRangeKernel") == 0;
    if (fake.item_ns > 0 && !fake_take_time(e, queue, n, wait))
        abort();
    if (strstr(call, "blocking"))
        fake_sleep_until_end(e);
    if (event)
        *event = e;
    else
        clReleaseEvent(e);
    return CL_SUCCESS;
}

/* So many times as long as the first device its next kernel takes. */
static double times_of(cl_device_id d)
{
    double times = 1;
    char *end = NULL;
    if (!d->slower)
        return 1;
    times = strtod(d->slower, &end);
    if (*end == 'x' && ++d->kernels >= strtoul(end + 1, &end, 10) && *end == ',') {
        d->slower = end + 1;
        d->kernels = 0;
    }
    return times;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint n, const cl_event *wait, cl_event *event)
{
    cl_ulong items = fake.rounds_arg ? k->rounds : 1;
    for (cl_uint d = 0; d < dims; d++)
        items *= global[d];
    const double waves = (double)((items + fake.wave - 1) / fake.wave * fake.wave),
                 took_ns = fake.item_ns * times_of(q->device) * waves;
    char box[128] = "";
    for (cl_uint d = 0, at = 0; d < dims; d++)
        at += (cl_uint)snprintf(box + at, sizeof box - at, " %zu %zu", offset ? offset[d] : 0, global[d]);
    if (fake.unlike && fake.log)
        fprintf(fake.log, "work %d %llu %.0f%s\n", (int)(q->device - fake.devices), (unsigned long long)items, took_ns,
                box);
    return command("clEnqueueNDRangeKernel", q, fake.item_ns > 0 ? (cl_ulong)took_ns : KERNEL_NS, n, wait, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes,
                            const void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    memcpy(m->bytes + offset, ptr, bytes);
    return command(blocking ? "clEnqueueWriteBuffer blocking" : "clEnqueueWriteBuffer", q, 1, n, wait, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes, void *ptr,
                           cl_uint n, const cl_event *wait, cl_event *event)
{
    memcpy(ptr, m->bytes + offset, bytes);
    return command(blocking ? "clEnqueueReadBuffer blocking" : "clEnqueueReadBuffer", q,
                   q->device == &fake.devices[1] ? fake.read_ns : 1, n, wait, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem src, cl_mem dst, size_t from, size_t to, size_t bytes, cl_uint n,
                           const cl_event *wait, cl_event *event)
{
    memmove(dst->bytes + to, src->bytes + from, bytes);
    return command("clEnqueueCopyBuffer", q, 1, n, wait, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem m, const void *pattern, size_t each, size_t offset, size_t bytes,
                           cl_uint n, const cl_event *wait, cl_event *event)
{
    for (size_t i = 0; i < bytes; i += each)
        memcpy(m->bytes + offset + i, pattern, each);
    return command("clEnqueueFillBuffer", q, 1, n, wait, event);
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint n, const cl_event *wait, cl_event *event, cl_int *err)
{
    char call[64];
    snprintf(call, sizeof call, "clEnqueueMapBuffer %zu%s", bytes, blocking && fake.item_ns > 0 ? " blocking" : "");
    *err = command(call, q, 1, n, wait, event);
    return m->bytes + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *ptr, cl_uint n, const cl_event *wait,
                               cl_event *event)
{
    return command("clEnqueueUnmapMemObject", q, 1, n, wait, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *wait, cl_event *event)
{
    return command("clEnqueueMarkerWithWaitList", q, fake.marker_ns, n, wait, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n, const cl_event *wait, cl_event *event)
{
    return command("clEnqueueBarrierWithWaitList", q, 1, n, wait, event);
}
