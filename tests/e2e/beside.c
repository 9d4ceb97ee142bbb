/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc that counts on how many devices transfers run at the same time, over a driver that is as slow
 * as it may be: one that has been enqueued runs until somebody waits, for whatever. At the end BESIDE_REPORT (a file)
 * has the number of waits with transfers under way, and of those with transfers of two devices or more. A transfer has
 * 4 KiB at least. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { SMALL_BYTES = 4096, MOST = 16 };

static struct _cl_icd_dispatch below;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_device_id busy[MOST];
static unsigned n_busy, waits, beside;

static void begins(cl_command_queue queue, size_t bytes)
{
    cl_device_id device = NULL;
    unsigned i = 0;
    if (bytes < SMALL_BYTES)
        return;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    pthread_mutex_lock(&lock);
    while (i < n_busy && busy[i] != device)
        i++;
    if (i == n_busy && n_busy < MOST)
        busy[n_busy++] = device;
    pthread_mutex_unlock(&lock);
}

static void ends(void)
{
    pthread_mutex_lock(&lock);
    waits += n_busy > 0;
    beside += n_busy > 1;
    n_busy = 0;
    pthread_mutex_unlock(&lock);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    begins(queue, bytes);
    if (blocking)
        ends();
    return below.clEnqueueReadBuffer(queue, m, blocking, at, bytes, to, n, wait, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    begins(queue, bytes);
    if (blocking)
        ends();
    return below.clEnqueueWriteBuffer(queue, m, blocking, at, bytes, from, n, wait, event);
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    ends();
    return below.clWaitForEvents(n, events);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    ends();
    return below.clFinish(queue);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("BESIDE_REPORT");
    FILE *f = path && waits ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%u %u\n", waits, beside);
    fclose(f);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch own;
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &own);
    own.clEnqueueReadBuffer = read_buffer;
    own.clEnqueueWriteBuffer = write_buffer;
    own.clWaitForEvents = wait_for;
    own.clFinish = finish;
    return err;
}
