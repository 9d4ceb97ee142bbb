/* SPDX-License-Identifier: MIT */
#include "shim/report/watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/lock/rank.h"

#include "shim/record/driver.h"
#include "shim/record/objects.h"
#include "shim/record/upward.h"
#include "shim/report/label.h"
#include "shim/report/report.h"
#include "shim/report/trace.h"
#include "enqueues.inc"

/* A command under way. */
struct watch {
    struct gs_ran ran;
    uint64_t returned_ns; /* from the call that enqueued it */
    bool waits;           /* for events */
    cl_event event;       /* owned */
};

/* ---- clocks ---- */

struct clock {
    bool known;
    int64_t offset_ns;
};

static struct {
    struct _cl_icd_dispatch below; /* the driver's own functions */
    pthread_mutex_t clock_lock;    /* the clocks */
    struct clock clocks[GS_MAX_DEVICES];
    atomic_uint under_way; /* commands */
    pthread_once_t once;
    uint64_t since_ns;
} watched = {.clock_lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};
GS_RANKED(watched.clock_lock, GS_RANK_TRACE_CLOCK);

/* What to add to a device's timer to get CLOCK_MONOTONIC. A command is queued while the call that enqueues it runs, so
 * each one says between which bounds that lies: what is assumed stays until it is outside them, and then moves as far
 * as it must. So it follows a timer that drifts, and no command seems to begin before it was asked for. */

/* The first guess: the driver's own comparison, or that the timer is CLOCK_MONOTONIC itself. */
static int64_t first_guess(unsigned device)
{
    cl_ulong device_ns, host_ns;
    const uint64_t before = gs_now_ns();
    if (!gs_driver_has(gs_group()->dev[device], "clGetDeviceAndHostTimer") ||
        watched.below.clGetDeviceAndHostTimer(gs_group()->dev[device], &device_ns, &host_ns) != CL_SUCCESS)
        return 0;
    return (int64_t)(before / 2 + gs_now_ns() / 2) - (int64_t)device_ns;
}

static void know_clock(unsigned device)
{
    pthread_mutex_lock(&watched.clock_lock);
    const bool known = watched.clocks[device].known;
    pthread_mutex_unlock(&watched.clock_lock);
    const int64_t guess = known ? 0 : first_guess(device);
    pthread_mutex_lock(&watched.clock_lock);
    if (!watched.clocks[device].known)
        watched.clocks[device].offset_ns = guess;
    watched.clocks[device].known = true;
    pthread_mutex_unlock(&watched.clock_lock);
}

/* The bounds by a command's profile: it began after it was asked for and ended before we heard of it; and it was queued
 * within the call, which says more, unless the driver's time of that is by another clock: then it contradicts. Of one
 * behind a user event NVIDIA's driver says that it was queued when that is set: of those that wait it says nothing. */
static void bound_offset(const struct watch *w, uint64_t queued, uint64_t start, uint64_t end, int64_t *low,
                         int64_t *high)
{
    const int64_t closer_low = (int64_t)(w->ran.asked_ns - queued), closer_high = (int64_t)(w->returned_ns - queued);
    *low = (int64_t)(w->ran.asked_ns - start);
    *high = (int64_t)(gs_now_ns() - end);
    if (w->waits || !queued || queued > start || closer_low > *high || closer_high < *low)
        return;
    *low = closer_low > *low ? closer_low : *low;
    *high = closer_high < *high ? closer_high : *high;
}

static int64_t clock_offset(unsigned device, int64_t low, int64_t high)
{
    pthread_mutex_lock(&watched.clock_lock);
    int64_t *offset = &watched.clocks[device].offset_ns;
    if (*offset < low)
        *offset = low;
    else if (*offset > high)
        *offset = high;
    const int64_t result = *offset;
    pthread_mutex_unlock(&watched.clock_lock);
    return result;
}

/* ---- commands under way ---- */

/* Before the end of the process the driver's thread may still be telling us of commands that have run. Waits as long as
 * it does, without calling it, though not for ever: other threads may go on enqueueing. */
static void hear_out(void)
{
    enum { PATIENCE_MS = 100, MOST_MS = 2000 };
    unsigned left = atomic_load(&watched.under_way);
    for (int quiet = 0, all = 0; left && quiet < PATIENCE_MS && all < MOST_MS && !gs_forked(); quiet++, all++) {
        const struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
        const unsigned now = atomic_load(&watched.under_way);
        if (now != left)
            quiet = 0;
        left = now;
    }
}

static void register_end(void)
{
    atexit(hear_out);
}

static bool profile(const struct watch *w, cl_profiling_info what, cl_ulong *value)
{
    return watched.below.clGetEventProfilingInfo(w->event, what, sizeof *value, value, NULL) == CL_SUCCESS;
}

static void tell_times(struct watch *w)
{
    cl_ulong queued, start, end;
    if (!profile(w, CL_PROFILING_COMMAND_QUEUED, &queued) || !profile(w, CL_PROFILING_COMMAND_START, &start) ||
        !profile(w, CL_PROFILING_COMMAND_END, &end) || end < start)
        return;
    int64_t low, high;
    bound_offset(w, queued, start, end, &low, &high);
    const int64_t offset = clock_offset(w->ran.device, low, high);
    w->ran.start_ns = start + (uint64_t)offset;
    w->ran.end_ns = end + (uint64_t)offset;
    gs_report_ran(&w->ran);
    if (gs_trace_on())
        gs_trace_ran(&w->ran);
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *data)
{
    struct watch *w = data;
    (void)event;
    if (status == CL_COMPLETE && !gs_forked())
        tell_times(w);
    watched.below.clReleaseEvent(w->event);
    free(w);
    atomic_fetch_sub(&watched.under_way, 1);
}

/* The place in the group of the queue's device; -1: it isn't of the group. */
static int place_of(cl_command_queue queue)
{
    cl_device_id dev = NULL;
    const struct gs_group *g = gs_group();
    if (!g->n || watched.below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof dev, &dev, NULL) != CL_SUCCESS)
        return -1;
    for (unsigned i = 0; i < g->n; i++)
        if (g->dev[i] == dev)
            return (int)i;
    return dev && dev == g->parent ? 0 : -1;
}

/* A command that is being enqueued. */
struct sight {
    struct watch *w; /* null: it isn't watched */
    cl_event own;    /* where the caller wants no event */
    cl_event *event; /* what to give to the driver */
};

/* Returns the event to give to the driver. `name`: of what is no kernel and no plain transfer. */
static cl_event *begin_watch(struct sight *s, cl_command_queue queue, enum gs_kind kind, const char *name,
                             cl_uint n_wait, cl_event *event)
{
    *s = (struct sight){.event = event};
    const int place = gs_forked() ? -1 : place_of(queue);
    s->w = place < 0 ? NULL : calloc(1, sizeof *s->w);
    if (!s->w)
        return event;
    if (!event)
        s->event = &s->own;
    s->w->waits = n_wait;
    pthread_once(&watched.once, register_end);
    know_clock((unsigned)place);
    const struct gs_label label = gs_label_now();
    if (kind == GS_KIND_KERNEL && (label.purpose == GS_FOR_MERGE || label.purpose == GS_FOR_REDUCTION))
        kind = GS_KIND_MERGE;
    if (kind == GS_KIND_KERNEL && label.purpose == GS_FOR_PACKING)
        kind = GS_KIND_COPY;
    if (kind == GS_KIND_COPY && label.way == GS_WAY_PEER)
        kind = GS_KIND_PEER;
    s->w->ran = (struct gs_ran){
        .label = label, .kind = kind, .device = (unsigned)place, .job = gs_trace_job_number(), .asked_ns = gs_now_ns()};
    snprintf(s->w->ran.name, sizeof s->w->ran.name, "%s", name);
    return s->event;
}

static cl_int seen(struct sight *s, cl_int err, uint64_t bytes)
{
    struct watch *w = s->w;
    if (!w)
        return err;
    w->returned_ns = gs_now_ns();
    w->ran.bytes = bytes;
    if (err || (s->event != &s->own && watched.below.clRetainEvent(*s->event) != CL_SUCCESS)) {
        free(w);
        return err;
    }
    w->event = *s->event;
    atomic_fetch_add(&watched.under_way, 1);
    if (watched.below.clSetEventCallback(w->event, CL_COMPLETE, ended, w) != CL_SUCCESS) {
        watched.below.clReleaseEvent(w->event);
        free(w);
        atomic_fetch_sub(&watched.under_way, 1);
    }
    return err;
}

/* Whole, or cut where it is longer than what we keep of it. */
static void read_name(cl_kernel kernel, char name[GS_RAN_NAME])
{
    size_t n = 0;
    char *whole = NULL;
    if (watched.below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, GS_RAN_NAME, name, NULL) == CL_SUCCESS ||
        watched.below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &n) != CL_SUCCESS ||
        !(whole = malloc(n)))
        return;
    if (watched.below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, n, whole, NULL) == CL_SUCCESS)
        snprintf(name, GS_RAN_NAME, "%s", whole);
    free(whole);
}

static void see_kernel(struct sight *s, cl_kernel kernel, cl_uint dims, const size_t *global)
{
    if (!s->w)
        return;
    read_name(kernel, s->w->ran.name);
    s->w->ran.items = 1;
    for (cl_uint d = 0; global && dims <= 3 && d < dims; d++) /* more: the driver refuses it, and reads none */
        s->w->ran.items *= global[d];
}

static uint64_t volume(const size_t region[3])
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t texels(const struct sight *s, cl_mem image, const size_t region[3])
{
    size_t element = 0;
    if (s->w)
        watched.below.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    return volume(region) * element;
}

/* ---- the driver's functions, as everyone above sees them ---- */

static cl_int CL_API_CALL see_clEnqueueNDRangeKernel(GS_PARAMETERS_clEnqueueNDRangeKernel)
{
    struct sight s;
    event = begin_watch(&s, command_queue, GS_KIND_KERNEL, "", num_events_in_wait_list, event);
    see_kernel(&s, kernel, work_dim, global_work_size);
    return seen(&s, watched.below.clEnqueueNDRangeKernel(GS_ARGUMENTS_clEnqueueNDRangeKernel), 0);
}

static cl_int CL_API_CALL see_clEnqueueTask(GS_PARAMETERS_clEnqueueTask)
{
    struct sight s;
    event = begin_watch(&s, command_queue, GS_KIND_KERNEL, "", num_events_in_wait_list, event);
    see_kernel(&s, kernel, 0, NULL);
    return seen(&s, watched.below.clEnqueueTask(GS_ARGUMENTS_clEnqueueTask), 0);
}

/* Transfers: their kind, their name, their bytes. */
#define TRANSFERS(SEE)                                                                                                 \
    SEE(clEnqueueReadBuffer, GS_KIND_DOWNLOAD, "", size)                                                               \
    SEE(clEnqueueWriteBuffer, GS_KIND_UPLOAD, "", size)                                                                \
    SEE(clEnqueueReadBufferRect, GS_KIND_DOWNLOAD, "", volume(region))                                                 \
    SEE(clEnqueueWriteBufferRect, GS_KIND_UPLOAD, "", volume(region))                                                  \
    SEE(clEnqueueCopyBuffer, GS_KIND_COPY, "", size)                                                                   \
    SEE(clEnqueueCopyBufferRect, GS_KIND_COPY, "", volume(region))                                                     \
    SEE(clEnqueueFillBuffer, GS_KIND_COPY, "fill", size)                                                               \
    SEE(clEnqueueReadImage, GS_KIND_DOWNLOAD, "", texels(&s, image, region))                                           \
    SEE(clEnqueueWriteImage, GS_KIND_UPLOAD, "", texels(&s, image, region))                                            \
    SEE(clEnqueueCopyImage, GS_KIND_COPY, "", texels(&s, src_image, region))                                           \
    SEE(clEnqueueFillImage, GS_KIND_COPY, "fill", texels(&s, image, region))                                           \
    SEE(clEnqueueCopyImageToBuffer, GS_KIND_COPY, "", texels(&s, src_image, region))                                   \
    SEE(clEnqueueCopyBufferToImage, GS_KIND_COPY, "", texels(&s, dst_image, region))                                   \
    SEE(clEnqueueUnmapMemObject, GS_KIND_UPLOAD, "unmap", 0)

#define SEE_TRANSFER(entry, kind, name, bytes)                                                                         \
    static cl_int CL_API_CALL see_##entry(GS_PARAMETERS_##entry)                                                       \
    {                                                                                                                  \
        struct sight s;                                                                                                \
        event = begin_watch(&s, command_queue, kind, name, num_events_in_wait_list, event);                            \
        return seen(&s, watched.below.entry(GS_ARGUMENTS_##entry), bytes);                                             \
    }
TRANSFERS(SEE_TRANSFER)
#undef SEE_TRANSFER

static void *CL_API_CALL see_clEnqueueMapBuffer(GS_PARAMETERS_clEnqueueMapBuffer)
{
    struct sight s;
    cl_int err, *const errcode = errcode_ret;
    event = begin_watch(&s, command_queue, GS_KIND_DOWNLOAD, "map", num_events_in_wait_list, event);
    errcode_ret = &err;
    void *ptr = watched.below.clEnqueueMapBuffer(GS_ARGUMENTS_clEnqueueMapBuffer);
    gs_set_error(errcode, seen(&s, err, size));
    return ptr;
}

static void *CL_API_CALL see_clEnqueueMapImage(GS_PARAMETERS_clEnqueueMapImage)
{
    struct sight s;
    cl_int err, *const errcode = errcode_ret;
    event = begin_watch(&s, command_queue, GS_KIND_DOWNLOAD, "map", num_events_in_wait_list, event);
    errcode_ret = &err;
    void *ptr = watched.below.clEnqueueMapImage(GS_ARGUMENTS_clEnqueueMapImage);
    gs_set_error(errcode, seen(&s, err, err ? 0 : texels(&s, image, region)));
    return ptr;
}

uint64_t gs_watch_since_ns(void)
{
    return watched.since_ns;
}

/* Puts the watch before the driver's functions, if anything is to be watched. */
static void install(struct _cl_icd_dispatch *table)
{
    if (!gs_report_wants_times())
        return;
    watched.below = *table;
    watched.since_ns = gs_now_ns();
    if (!watched.below.clSetEventCallback || !watched.below.clGetEventProfilingInfo)
        return;
#define SEE(entry) table->entry = table->entry ? see_##entry : NULL;
#define SEE_TRANSFER(entry, kind, name, bytes) SEE(entry)
    TRANSFERS(SEE_TRANSFER)
    SEE(clEnqueueNDRangeKernel)
    SEE(clEnqueueTask)
    SEE(clEnqueueMapBuffer)
    SEE(clEnqueueMapImage)
#undef SEE_TRANSFER
#undef SEE
}

const struct gs_above_driver gs_above_driver = {.loaded = install};
