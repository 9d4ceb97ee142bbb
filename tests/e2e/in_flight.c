/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that counts, for each device, the non-blocking reads that have been enqueued
 * and not yet been waited for. In the end the file IN_FLIGHT has one line: the most of the first device's, of the
 * second's, and of the lesser of the two at one time; how many reads there were of each; and how many writes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { DEVICES = 2, MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static cl_device_id devices[DEVICES];
static unsigned now[DEVICES], most[DEVICES], all[DEVICES], writes[DEVICES], together;
static struct {
    cl_event event;
    unsigned device;
} read_of[MOST];

/* In the order in which they are met: DEVICES, there are more. */
static unsigned device_of(cl_command_queue q)
{
    cl_device_id dev = NULL;
    unsigned i = 0;
    below.clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, sizeof dev, &dev, NULL);
    while (i < DEVICES && devices[i] && devices[i] != dev)
        i++;
    if (i < DEVICES)
        devices[i] = dev;
    return i;
}

static void enqueued(cl_event event, unsigned device)
{
    unsigned i = 0;
    while (i < MOST && read_of[i].event)
        i++;
    if (i == MOST)
        return;
    read_of[i].event = event;
    read_of[i].device = device;
    now[device]++;
    all[device]++;
    most[device] = now[device] > most[device] ? now[device] : most[device];
    const unsigned lesser = now[0] < now[1] ? now[0] : now[1];
    together = lesser > together ? lesser : together;
}

static cl_int CL_API_CALL count_read(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes,
                                     void *p, cl_uint n, const cl_event *wait, cl_event *event)
{
    const cl_int err = below.clEnqueueReadBuffer(q, m, blocking, offset, bytes, p, n, wait, event);
    pthread_mutex_lock(&lock);
    const unsigned device = device_of(q);
    if (!err && !blocking && event && device < DEVICES)
        enqueued(*event, device);
    pthread_mutex_unlock(&lock);
    return err;
}

static cl_int CL_API_CALL count_write(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes,
                                      const void *p, cl_uint n, const cl_event *wait, cl_event *event)
{
    pthread_mutex_lock(&lock);
    const unsigned device = device_of(q);
    if (!blocking && device < DEVICES)
        writes[device]++;
    pthread_mutex_unlock(&lock);
    return below.clEnqueueWriteBuffer(q, m, blocking, offset, bytes, p, n, wait, event);
}

static cl_int CL_API_CALL count_wait(cl_uint n, const cl_event *events)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST; i++)
        for (cl_uint k = 0; k < n; k++)
            if (read_of[i].event && read_of[i].event == events[k]) {
                read_of[i].event = NULL;
                now[read_of[i].device]--;
            }
    pthread_mutex_unlock(&lock);
    return below.clWaitForEvents(n, events);
}

static void write_down(void)
{
    FILE *f = getenv("IN_FLIGHT") ? fopen(getenv("IN_FLIGHT"), "w") : NULL;
    if (f)
        fprintf(f, "%u %u together %u of %u %u writes %u %u\n", most[0], most[1], together, all[0], all[1], writes[0],
                writes[1]);
    if (f)
        fclose(f);
}

static void layer_start(void)
{
    layer.clEnqueueReadBuffer = count_read;
    layer.clEnqueueWriteBuffer = count_write;
    layer.clWaitForEvents = count_wait;
    atexit(write_down);
}
