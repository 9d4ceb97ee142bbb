/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc that counts what runs at the same time, over a driver that is as slow as it may be: transfers
 * that have been enqueued run until somebody waits for one, and launches until somebody waits for one. At the end
 * OVERLAP_REPORT (a file) has the number of waits with transfers under way; of those with transfers of two devices or
 * more; of those with transfers of one device both ways; the number of waits for launches while a transfer to the
 * device is under way; and the number of launches enqueued while one is under way that nobody has waited for. A
 * transfer has 4 KiB at least.
 * With OVERLAP_HOLD copies and writes are held until somebody waits for a command of their queue, while what other
 * queues have begins at once: who counts on an order between queues finds other bytes. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

enum { SMALL_BYTES = 4096, MOST = 16 };
enum { TO_HOST = 1, TO_DEVICE = 2, LAUNCH = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_device_id device[MOST];
static unsigned busy[MOST], waits, beside, both_ways, ahead, behind, launched;

/* What is held: the queue, and the user event that it waits for. */
enum { MOST_HELD = 4096 };
static struct {
    cl_command_queue queue;
    cl_event gate;
} held[MOST_HELD];
static unsigned n_held;
static bool holds;

/* The wait list of a command that is to be held. Null: it is full, or nothing is held. */
static cl_event hold(cl_command_queue queue)
{
    cl_context context = NULL;
    cl_event gate = NULL;
    pthread_mutex_lock(&lock);
    if (holds && n_held < MOST_HELD) {
        below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
        gate = below.clCreateUserEvent(context, NULL);
        held[n_held].queue = queue;
        held[n_held++].gate = gate;
    }
    pthread_mutex_unlock(&lock);
    return gate;
}

static void let_go(cl_command_queue queue)
{
    unsigned left = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_held; i++) {
        if (held[i].queue != queue) {
            held[left++] = held[i];
            continue;
        }
        below.clSetUserEventStatus(held[i].gate, CL_COMPLETE);
        below.clReleaseEvent(held[i].gate);
    }
    n_held = left;
    pthread_mutex_unlock(&lock);
}

static void begins(cl_command_queue queue, unsigned what)
{
    cl_device_id of = NULL;
    unsigned i = 0;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof of, &of, NULL);
    pthread_mutex_lock(&lock);
    while (i + 1 < MOST && device[i] && device[i] != of)
        i++;
    device[i] = of;
    behind += what == LAUNCH && launched;
    launched += what == LAUNCH;
    busy[i] |= what;
    pthread_mutex_unlock(&lock);
}

static void transfers_end(void)
{
    unsigned devices = 0;
    bool both = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST; i++) {
        devices += (busy[i] & (TO_HOST | TO_DEVICE)) != 0;
        both = both || (busy[i] & TO_HOST && busy[i] & TO_DEVICE);
        busy[i] &= LAUNCH;
    }
    waits += devices > 0;
    beside += devices > 1;
    both_ways += both;
    pthread_mutex_unlock(&lock);
}

static void launches_end(void)
{
    bool to_busy = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST; i++) {
        to_busy = to_busy || (busy[i] & TO_DEVICE && busy[i] & LAUNCH);
        busy[i] &= ~(unsigned)LAUNCH;
    }
    ahead += to_busy;
    launched -= launched > 0;
    pthread_mutex_unlock(&lock);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    if (bytes >= SMALL_BYTES) {
        begins(queue, TO_HOST);
        if (blocking)
            transfers_end();
    }
    if (blocking)
        let_go(queue);
    return below.clEnqueueReadBuffer(queue, m, blocking, at, bytes, to, n, wait, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    if (bytes >= SMALL_BYTES) {
        begins(queue, TO_DEVICE);
        if (blocking)
            transfers_end();
    }
    if (blocking)
        let_go(queue);
    const cl_event gate = blocking || n ? NULL : hold(queue);
    return below.clEnqueueWriteBuffer(queue, m, blocking, at, bytes, from, gate ? 1 : n, gate ? &gate : wait, event);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t there,
                                      size_t bytes, cl_uint n, const cl_event *wait, cl_event *event)
{
    const cl_event gate = n ? NULL : hold(queue);
    return below.clEnqueueCopyBuffer(queue, from, to, at, there, bytes, gate ? 1 : n, gate ? &gate : wait, event);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    begins(queue, LAUNCH);
    return below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    for (cl_uint i = 0; i < n; i++) {
        cl_command_type type = 0;
        below.clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
        if (type == CL_COMMAND_NDRANGE_KERNEL)
            launches_end();
        else
            transfers_end();
        cl_command_queue queue = NULL;
        below.clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue, NULL);
        let_go(queue);
    }
    return below.clWaitForEvents(n, events);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    launches_end();
    transfers_end();
    let_go(queue);
    return below.clFinish(queue);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("OVERLAP_REPORT");
    FILE *f = path && waits ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%u %u %u %u %u\n", waits, beside, both_ways, ahead, behind);
    fclose(f);
}

static void layer_start(void)
{
    holds = getenv("OVERLAP_HOLD") != NULL;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueCopyBuffer = copy_buffer;
    layer.clEnqueueNDRangeKernel = launch;
    layer.clWaitForEvents = wait_for;
    layer.clFinish = finish;
}
