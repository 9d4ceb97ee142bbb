/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc that sees from which memory of the host's the driver is to carry bytes: pinned, which lies
 * within what a buffer was made of (CL_MEM_USE_HOST_PTR, 1 MiB and more), or pageable. The file PAGEABLE has a line for
 * writes and one for reads, of transfers of 16 KiB and more: bytes from or to pinned memory, from or to other memory,
 * and how many of one queue were under way at most, as far as who asked could know. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { LARGE_BYTES = 16 * 1024, PINNED_BYTES = 1 << 20, MOST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct {
    const char *begin;
    size_t bytes;
} pinned[MOST];
static struct {
    cl_event event;
    cl_command_queue queue;
} under_way[MOST];
static unsigned n_pinned, n_under_way;
static struct {
    unsigned long long pinned, pageable;
    unsigned at_once;
} seen[2]; /* of writes and of reads */

static bool is_pinned(const char *at, size_t bytes)
{
    unsigned i = 0;
    while (i < n_pinned && (at < pinned[i].begin || at + bytes > pinned[i].begin + pinned[i].bytes))
        i++;
    return i < n_pinned;
}

static cl_int note(cl_command_queue queue, bool reads, const void *at, size_t bytes, cl_event *event, cl_int err)
{
    unsigned at_once = 0;
    if (err || bytes < LARGE_BYTES)
        return err;
    pthread_mutex_lock(&lock);
    *(is_pinned(at, bytes) ? &seen[reads].pinned : &seen[reads].pageable) += bytes;
    if (event && n_under_way < MOST) {
        under_way[n_under_way].event = *event;
        under_way[n_under_way++].queue = queue;
    }
    for (unsigned i = 0; i < n_under_way; i++)
        at_once += under_way[i].queue == queue;
    seen[reads].at_once = at_once > seen[reads].at_once ? at_once : seen[reads].at_once;
    pthread_mutex_unlock(&lock);
    return err;
}

static void has_ended(cl_event event)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_under_way; i++)
        if (under_way[i].event == event)
            under_way[i--] = under_way[--n_under_way];
    pthread_mutex_unlock(&lock);
}

static cl_mem CL_API_CALL create(cl_context context, cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    pthread_mutex_lock(&lock);
    if (flags & CL_MEM_USE_HOST_PTR && bytes >= PINNED_BYTES && n_pinned < MOST) {
        pinned[n_pinned].begin = ptr;
        pinned[n_pinned++].bytes = bytes;
    }
    pthread_mutex_unlock(&lock);
    return below.clCreateBuffer(context, flags, bytes, ptr, err);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    return note(queue, true, to, bytes, event,
                below.clEnqueueReadBuffer(queue, m, blocking, at, bytes, to, n, wait, event));
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    return note(queue, false, from, bytes, event,
                below.clEnqueueWriteBuffer(queue, m, blocking, at, bytes, from, n, wait, event));
}

static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                    const size_t *there, const size_t *region, size_t row, size_t slice,
                                    size_t host_row, size_t host_slice, void *to, cl_uint n, const cl_event *wait,
                                    cl_event *event)
{
    return note(queue, true, to, region[0] * region[1] * region[2], event,
                below.clEnqueueReadBufferRect(queue, m, blocking, at, there, region, row, slice, host_row, host_slice,
                                              to, n, wait, event));
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                     const size_t *there, const size_t *region, size_t row, size_t slice,
                                     size_t host_row, size_t host_slice, const void *from, cl_uint n,
                                     const cl_event *wait, cl_event *event)
{
    return note(queue, false, from, region[0] * region[1] * region[2], event,
                below.clEnqueueWriteBufferRect(queue, m, blocking, at, there, region, row, slice, host_row, host_slice,
                                               from, n, wait, event));
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    const cl_int err = below.clWaitForEvents(n, events);
    for (cl_uint i = 0; i < n; i++)
        has_ended(events[i]);
    return err;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t room, void *value, size_t *size)
{
    const cl_int err = below.clGetEventInfo(event, what, room, value, size);
    if (!err && value && what == CL_EVENT_COMMAND_EXECUTION_STATUS && *(cl_int *)value <= CL_COMPLETE)
        has_ended(event);
    return err;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("PAGEABLE");
    FILE *f = path && seen->pinned + seen->pageable ? fopen(path, "w") : NULL;
    for (int i = 0; f && i < 2; i++)
        fprintf(f, "%llu %llu %u\n", seen[i].pinned, seen[i].pageable, seen[i].at_once);
    if (f)
        fclose(f);
}

static void layer_start(void)
{
    layer.clCreateBuffer = create;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueReadBufferRect = read_rect;
    layer.clEnqueueWriteBufferRect = write_rect;
    layer.clWaitForEvents = wait_for;
    layer.clGetEventInfo = event_info;
}
