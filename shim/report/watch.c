/* SPDX-License-Identifier: MIT */
#include "shim/report/watch.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "shim/driver/upward.h"
#include "shim/report/report.h"

/* A command under way. */
struct watch {
    struct gs_ran ran;
    uint64_t returned_ns; /* from the call that enqueued it */
    bool waits;           /* for events */
    cl_event event;       /* owned */
};

/* ---- clocks ---- */

static struct {
    pthread_mutex_t clock_lock; /* the next */
    int64_t offset_ns[GS_MAX_DEVICES];
    atomic_uint under_way; /* commands */
    atomic_bool hears_out; /* hear_out is registered for the end of the process */
} watched = {.clock_lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(watched.clock_lock, GS_RANK_TRACE_CLOCK);

/* The offset from a device's timer to CLOCK_MONOTONIC. A command is queued during the call that enqueues it, so each
 * command gives two bounds. The offset stays while within the bounds, and else moves to the nearest one. So the offset
 * follows a drifting timer, and no command seems to begin before its call. */

/* The offset's bounds by a command's profile: the command began after the call's begin, and ended before we heard of
 * the end. The time of queueing lies within the call, which says more, unless the driver uses another clock for that.
 * (NVIDIA's driver counts a command behind a user event as queued when the event is set, so that time isn't used for
 * commands that wait.) */
static int64_t clock_offset(const struct watch *w, uint64_t queued, uint64_t start, uint64_t end)
{
    const int64_t closer_low = (int64_t)(w->ran.asked_ns - queued), closer_high = (int64_t)(w->returned_ns - queued);
    int64_t low = (int64_t)(w->ran.asked_ns - start), high = (int64_t)(gs_now_ns() - end);
    if (!w->waits && queued && queued <= start && closer_low <= high && closer_high >= low) {
        low = closer_low > low ? closer_low : low;
        high = closer_high < high ? closer_high : high;
    }
    GS_LOCKED(&watched.clock_lock);
    int64_t *offset = &watched.offset_ns[w->ran.device];
    if (*offset < low)
        *offset = low;
    else if (*offset > high)
        *offset = high;
    return *offset;
}

/* ---- commands under way ---- */

/* Before the process ends, the driver's thread may still be telling us of commands that have run: waits as long as it
 * does, but not for ever, since other threads may go on enqueueing. Doesn't call the driver. */
static void hear_out(void)
{
    enum { PATIENCE_MS = 100, MOST_MS = 2000 };
    unsigned left = atomic_load(&watched.under_way);
    for (int quiet = 0, all = 0; left && quiet < PATIENCE_MS && all < MOST_MS && !gs_forked(); quiet++, all++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        const unsigned now = atomic_load(&watched.under_way);
        if (now != left)
            quiet = 0;
        left = now;
    }
}

static bool profile(const struct watch *w, cl_profiling_info what, cl_ulong *value)
{
    return gs_real()->clGetEventProfilingInfo(w->event, what, sizeof *value, value, NULL) == CL_SUCCESS;
}

static void tell_times(struct watch *w)
{
    cl_ulong queued, start, end;
    if (!profile(w, CL_PROFILING_COMMAND_QUEUED, &queued) || !profile(w, CL_PROFILING_COMMAND_START, &start) ||
        !profile(w, CL_PROFILING_COMMAND_END, &end) || end < start)
        return;
    const int64_t offset = clock_offset(w, queued, start, end);
    w->ran.start_ns = start + (uint64_t)offset;
    w->ran.end_ns = end + (uint64_t)offset;
    gs_report_command(&w->ran);
    if (gs_settings()->trace)
        gs_trace_command(&w->ran);
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *data)
{
    struct watch *w = data;
    (void)event;
    if (status == CL_COMPLETE && !gs_forked())
        tell_times(w);
    gs_real()->clReleaseEvent(w->event);
    free(w);
    atomic_fetch_sub(&watched.under_way, 1);
}

int gs_queue_place(cl_command_queue queue)
{
    cl_device_id dev = NULL;
    const struct gs_group *g = gs_group();
    if (!g->n || gs_real()->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof dev, &dev, NULL) != CL_SUCCESS)
        return -1;
    for (unsigned i = 0; i < g->n; i++)
        if (g->dev[i] == dev)
            return (int)i;
    return dev && dev == g->parent ? 0 : -1;
}

/* ---- commands on their way ---- */

/* A command's kind for --stats and --trace; commands without a name aren't watched. */
static const struct {
    enum gs_kind kind;
    const char *name; /* for what is neither a kernel nor a plain transfer; else "" */
} kinds[GS_OP_KINDS] = {
    [GS_OP_READ] = {GS_KIND_DOWNLOAD, ""},
    [GS_OP_WRITE] = {GS_KIND_UPLOAD, ""},
    [GS_OP_COPY] = {GS_KIND_COPY, ""},
    [GS_OP_FILL] = {GS_KIND_COPY, "fill"},
    [GS_OP_READ_RECT] = {GS_KIND_DOWNLOAD, ""},
    [GS_OP_WRITE_RECT] = {GS_KIND_UPLOAD, ""},
    [GS_OP_COPY_RECT] = {GS_KIND_COPY, ""},
    [GS_OP_READ_IMAGE] = {GS_KIND_DOWNLOAD, ""},
    [GS_OP_WRITE_IMAGE] = {GS_KIND_UPLOAD, ""},
    [GS_OP_COPY_IMAGE] = {GS_KIND_COPY, ""},
    [GS_OP_FILL_IMAGE] = {GS_KIND_COPY, "fill"},
    [GS_OP_IMAGE_TO_BUFFER] = {GS_KIND_COPY, ""},
    [GS_OP_BUFFER_TO_IMAGE] = {GS_KIND_COPY, ""},
    [GS_OP_MAP_BUFFER] = {GS_KIND_DOWNLOAD, "map"},
    [GS_OP_MAP_IMAGE] = {GS_KIND_DOWNLOAD, "map"},
    [GS_OP_UNMAP] = {GS_KIND_UPLOAD, "unmap"},
    [GS_OP_LAUNCH] = {GS_KIND_KERNEL, ""},
};

static enum gs_kind kind_of(const struct gs_op *op)
{
    const enum gs_kind kind = kinds[op->kind].kind;
    if (kind == GS_KIND_KERNEL && (gs_label.purpose == GS_FOR_MERGE || gs_label.purpose == GS_FOR_REDUCTION))
        return GS_KIND_MERGE;
    const bool moves = kind == GS_KIND_COPY || kind == GS_KIND_KERNEL;
    return moves && gs_label.way == GS_WAY_PEER ? GS_KIND_PEER : kind;
}

char *gs_kernel_name(cl_kernel kernel)
{
    size_t n = 0;
    gs_real()->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &n);
    char *name = calloc(1, n + 1);
    if (name)
        gs_real()->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, n, name, NULL);
    return name;
}

static uint64_t bytes_of(const struct gs_op *op)
{
    const size_t *region = op->region;
    const cl_mem image = op->kind == GS_OP_BUFFER_TO_IMAGE || !op->src ? op->dst : op->src;
    size_t element = 1;
    if (gs_op_is_of_image(op))
        gs_real()->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    return op->no_region ? 0 : (uint64_t)region[0] * region[1] * region[2] * element;
}

void gs_report_transfer(const struct gs_op *op)
{
    if (gs_group()->n) /* else gs_real() may lack clGetImageInfo */
        gs_report_bytes(op->src ? GS_PATH_APP_READ : GS_PATH_APP_WRITE, bytes_of(op));
}

/* NULL: it isn't watched. */
static struct watch *begin_watch(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait)
{
    const bool can = kinds[op->kind].name && gs_real()->clSetEventCallback && gs_real()->clGetEventProfilingInfo;
    const int place = !can || gs_forked() ? -1 : gs_queue_place(queue);
    struct watch *w = place < 0 ? NULL : calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->waits = n_wait;
    if (!atomic_exchange(&watched.hears_out, true))
        atexit(hear_out);
    w->ran = (struct gs_ran){.label = gs_label,
                             .kind = kind_of(op),
                             .device = (unsigned)place,
                             .job = gs_trace_job_number(),
                             .asked_ns = gs_now_ns()};
    snprintf(w->ran.name, sizeof w->ran.name, "%s", kinds[op->kind].name);
    if (kinds[op->kind].kind == GS_KIND_KERNEL) {
        char *name = gs_kernel_name(op->kernel);
        snprintf(w->ran.name, sizeof w->ran.name, "%s", name ? name : "");
        free(name);
        w->ran.items = 1;
        for (cl_uint d = 0; op->global && op->dims <= 3 && d < op->dims; d++) /* else the driver refuses it */
            w->ran.items *= op->global[d];
    }
    return w;
}

/* The command is enqueued, with this event, which is taken over. */
static void await_end(struct watch *w, const struct gs_op *op, cl_event event)
{
    w->returned_ns = gs_now_ns();
    if (kinds[op->kind].kind != GS_KIND_KERNEL)
        w->ran.bytes = bytes_of(op);
    else if (w->ran.kind == GS_KIND_PEER)
        w->ran.bytes = w->ran.items * GS_PACK_ITEM_BYTES;
    w->event = event;
    atomic_fetch_add(&watched.under_way, 1);
    if (gs_real()->clSetEventCallback(event, CL_COMPLETE, ended, w) == CL_SUCCESS)
        return;
    gs_real()->clReleaseEvent(event);
    free(w);
    atomic_fetch_sub(&watched.under_way, 1);
}

static cl_int enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event)
{
    cl_event own;
    struct watch *w = begin_watch(op, queue, n_wait);
    const cl_int err = gs_enqueue_real(op, queue, n_wait, wait, w && !event ? &own : event);
    if (w && !err && (!event || gs_real()->clRetainEvent(*event) == CL_SUCCESS))
        await_end(w, op, event ? *event : own);
    else
        free(w);
    return err;
}

const struct gs_above_driver gs_above_driver = {.enqueue = enqueue};
