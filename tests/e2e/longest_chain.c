/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that asks what could run at the same time, by what each command was told to
 * wait for: the commands before it in its queue, and its wait list. If a byte took a unit of time to copy, and nothing
 * else took any, how long would the longest chain be of what waits for each other? For each clFinish the file
 * LONGEST_CHAIN gains a line: that, the bytes that were read from devices, written to devices, and copied, and the
 * length of the longest wait list, since the one before. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { MOST_QUEUES = 256, MOST_EVENTS = 1 << 16 };

static FILE *file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct end {
    void *of;
    uint64_t at;
} queues[MOST_QUEUES], events[MOST_EVENTS];
static uint64_t begin, latest; /* what came before the last clFinish ended by `begin` */
static uint64_t bytes_read, bytes_written, bytes_copied;
static cl_uint longest; /* wait list */

/* When the queue's last command, or the event's, ends. */
static struct end *end_of(struct end *ends, unsigned n, void *of)
{
    unsigned i = (unsigned)(((uintptr_t)of >> 4) * 2654435761u % n);
    for (unsigned tried = 0; ends[i].of && ends[i].of != of; i = (i + 1) % n)
        if (++tried == n)
            abort();
    ends[i].of = of;
    return &ends[i];
}

static cl_int enqueued(cl_int err, cl_command_queue q, uint64_t takes, cl_uint n, const cl_event *wait, cl_event own,
                       int wanted)
{
    if (err)
        return err;
    pthread_mutex_lock(&lock);
    struct end *queue = end_of(queues, MOST_QUEUES, q);
    longest = n > longest ? n : longest;
    uint64_t start = queue->at > begin ? queue->at : begin;
    for (cl_uint i = 0; i < n; i++) {
        const uint64_t end = end_of(events, MOST_EVENTS, wait[i])->at;
        start = end > start ? end : start;
    }
    queue->at = start + takes;
    end_of(events, MOST_EVENTS, own)->at = queue->at;
    latest = queue->at > latest ? queue->at : latest;
    pthread_mutex_unlock(&lock);
    if (!wanted)
        below.clReleaseEvent(own);
    return CL_SUCCESS;
}

#define SEE(name, takes, count, params, ...)                                                                           \
    static cl_int CL_API_CALL see_##name params                                                                        \
    {                                                                                                                  \
        cl_event mine = NULL, *own = e ? e : &mine;                                                                    \
        const uint64_t bytes = (takes);                                                                                \
        const cl_int err = below.name(__VA_ARGS__, n, w, own);                                                         \
        __atomic_fetch_add(count, bytes, __ATOMIC_RELAXED);                                                            \
        return enqueued(err, q, bytes, n, w, *own, e != NULL);                                                         \
    }
#define WAIT cl_uint n, const cl_event *w, cl_event *e
static uint64_t nothing;

SEE(clEnqueueReadBuffer, s, &bytes_read, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, WAIT),
    q, m, b, o, s, p)
SEE(clEnqueueWriteBuffer, s, &bytes_written,
    (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, WAIT), q, m, b, o, s, p)
SEE(clEnqueueCopyBuffer, s, &bytes_copied, (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t p, size_t s, WAIT),
    q, a, b, o, p, s)
SEE(clEnqueueNDRangeKernel, 0, &nothing,
    (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, WAIT), q, k, d, o,
    g, l)

static cl_int CL_API_CALL see_clEnqueueMarkerWithWaitList(cl_command_queue q, WAIT)
{
    cl_event mine = NULL, *own = e ? e : &mine;
    const cl_int err = below.clEnqueueMarkerWithWaitList(q, n, w, own);
    return enqueued(err, q, 0, n, w, *own, e != NULL);
}

static cl_int CL_API_CALL see_clFinish(cl_command_queue q)
{
    const cl_int err = below.clFinish(q);
    pthread_mutex_lock(&lock);
    if (file)
        fprintf(file, "%llu %llu %llu %llu %u\n", (unsigned long long)(latest - begin), (unsigned long long)bytes_read,
                (unsigned long long)bytes_written, (unsigned long long)bytes_copied, longest);
    if (file)
        fflush(file);
    bytes_read = bytes_written = bytes_copied = longest = 0;
    begin = latest;
    pthread_mutex_unlock(&lock);
    return err;
}

#define INSTALL(name) layer.name = see_##name

static void layer_start(void)
{
    const char *path = getenv("LONGEST_CHAIN");
    file = path ? fopen(path, "a") : NULL;
    INSTALL(clEnqueueReadBuffer);
    INSTALL(clEnqueueWriteBuffer);
    INSTALL(clEnqueueCopyBuffer);
    INSTALL(clEnqueueNDRangeKernel);
    INSTALL(clEnqueueMarkerWithWaitList);
    INSTALL(clFinish);
}
