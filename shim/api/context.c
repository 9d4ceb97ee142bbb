/* SPDX-License-Identifier: MIT */
/* Specification, section 4.4: contexts. The driver's is made over all devices of the group. */
#include <sched.h>

#include "shim/api/api.h"
#include "shim/transfer/transfer.h"
#include "shim/pooled/pooled.h"
#include "shim/choose/timing.h"
#include "shim/process/upward.h"
#include "shim/order/completion.h"
#include "shim/process/threads.h"

#include "common/lock/rank.h"

static struct {
    pthread_mutex_t lock;
    struct gs_context *first; /* of all of ours */
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(contexts.lock, GS_RANK_CONTEXTS);

void gs_give_up(const char *reason)
{
    atomic_store(&gs_process.given_up, reason);
    GS_LOCKED(&contexts.lock);
    for (struct gs_context *c = contexts.first; c; c = c->next)
        gs_come_home(c, 0);
}

void gs_give_up_context(struct gs_context *c, const char *reason)
{
    atomic_store(&c->given_up, reason);
    gs_come_home(c, 0);
}

static void touch_queues(struct gs_context *c)
{
    GS_LOCKED(&c->lock);
    for (struct gs_queue *q = c->queues; q; q = q->next) {
        gs_queue_close(q->o.handle);
        gs_timeline_enqueue_untracked(q->timeline);
    }
}

void gs_touch_given_up(void)
{
    GS_LOCKED(&contexts.lock);
    for (struct gs_context *c = contexts.first; c; c = c->next)
        if (gs_given_up(c))
            touch_queues(c);
}

/* ---- the end of a process that has commands under way ---- */

enum { MOST_QUEUES = 64 };

struct unended {
    cl_command_queue queue[MOST_QUEUES]; /* retained */
    unsigned n;
    atomic_bool begun;   /* the thread has entered the driver, or won't: gs_threads_finish() counts it from now on */
    atomic_bool claimed; /* a thread waits, or has waited: once per process */
};

/* Leaves out contexts in which a command may wait for the application, which has ended. */
static void add_queues(struct unended *u, struct gs_context *ctx)
{
    if (ctx->pooled || atomic_load(&ctx->user_events) || pthread_mutex_trylock(&ctx->lock) != 0)
        return;
    for (struct gs_queue *q = ctx->queues; q && u->n < MOST_QUEUES; q = q->next)
        if (gs_real()->clRetainCommandQueue(q->o.handle) == CL_SUCCESS)
            u->queue[u->n++] = q->o.handle;
    pthread_mutex_unlock(&ctx->lock);
}

/* Not by clFinish, which doesn't end while another thread of the application launches again and again. */
static void await(cl_command_queue queue)
{
    cl_event end;
    if (gs_enqueue_marker(queue, 0, NULL, &end) != CL_SUCCESS) {
        gs_real()->clFinish(queue);
        return;
    }
    gs_real()->clFlush(queue);
    gs_real()->clWaitForEvents(1, &end);
    gs_real()->clReleaseEvent(end);
}

static void *finish(void *arg)
{
    struct unended *u = arg;
    const unsigned n = u->n;
    const bool inside = gs_threads_enter();
    atomic_store(&u->begun, true);
    for (unsigned i = 0; i < n && inside; i++) {
        await(u->queue[i]);
        gs_real()->clReleaseCommandQueue(u->queue[i]);
    }
    if (inside)
        gs_threads_leave();
    return NULL;
}

/* The application has ended, and no handler of exit() has run yet. PoCL compiles a kernel for a launch's sizes in a
 * thread of its own when the launch begins; exit() takes LLVM apart under that thread, and the process crashed, more
 * often the longer its end took. So a thread of ours waits for all commands in these contexts, and gs_threads_finish()
 * waits for that thread, within its patience. For PoCL only. With contexts.lock held. */
static void await_unfinished(struct gs_context *first)
{
    static struct unended unended; /* the process ends once */
    if (!first || !gs_group()->pocl || gs_in_callback() || atomic_exchange(&unended.claimed, true))
        return;
    for (struct gs_context *c = first; c; c = c->next)
        add_queues(&unended, c);
    if (unended.n && gs_threads_start("gs-unended", NULL, finish, &unended))
        while (!atomic_load(&unended.begun))
            sched_yield();
}

/* Waits for the commands that the application has left in its queues, where the driver needs the wait. */
static void end_contexts(void)
{
    if (gs_forked() || pthread_mutex_trylock(&contexts.lock) != 0)
        return;
    await_unfinished(contexts.first);
    pthread_mutex_unlock(&contexts.lock);
    gs_timing_after_wait(&(struct gs_stretch){0}, CL_SUCCESS); /* learns from measurements that have ended */
}

const struct gs_above_process gs_above_process = {.leave = end_contexts};

void gs_context_list_update(struct gs_context *c)
{
    struct gs_context **at = &contexts.first;
    GS_LOCKED(&contexts.lock);
    const bool used = atomic_load(&c->o.refs) > 0 || atomic_load(&c->n_queues) > 0;
    while (*at && *at != c)
        at = &(*at)->next;
    if (!*at && used) {
        c->next = NULL;
        *at = c;
    } else if (*at && !used) {
        *at = c->next;
    }
}

static void track(cl_context handle, const struct gs_group *g, unsigned n)
{
    struct gs_context *c = gs_new_lines(sizeof *c);
    if (!c)
        return;
    c->n = n;
    memcpy(c->dev, g->dev, n * sizeof *c->dev);
    const enum gs_transfer_path path = gs_settings()->transfer;
    c->pooled = gs_settings()->pooled;
    c->followed =
        !c->pooled && (n > 1 || path == GS_TRANSFER_PINNED || (path != GS_TRANSFER_PLAIN && !g->shared_memory));
    c->pool = c->pooled ? gs_pool_queues_new() : NULL;
    c->kept = calloc(1, sizeof *c->kept);
    c->ends = calloc(1, sizeof *c->ends);
    if (!c->kept || !c->ends || gs_paths_make(c) < 0 || (c->pooled && !c->pool)) {
        free(c->kept);
        free(c->ends);
        free(c->paths);
        free(c->pool);
        free(c);
        return;
    }
    pthread_mutex_init(&c->lock, NULL);
    gs_rank_lock(&c->lock, GS_RANK_CONTEXT);
    gs_insert(&c->o, GS_CONTEXT, handle, NULL);
    c->o.ctx = c;
    gs_context_list_update(c);
}

/* Pooled memory lies on all of the group's devices. */
static unsigned devices_of_context(const struct gs_group *g)
{
    if (gs_settings()->pooled)
        return g->n;
    return gs_svm_alone(g) ? 1 : gs_short_runs_devices(g);
}

static bool only_group_device(const struct gs_group *g, cl_uint num_devices, const cl_device_id *devices)
{
    if (!g->platform || !num_devices || !devices || gs_forked())
        return false;
    for (cl_uint i = 0; i < num_devices; i++)
        if (devices[i] != g->dev[0])
            return false;
    return true;
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContext(
    const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    GS_CALL("clCreateContext");
    const struct gs_group *g = gs_group();
    if (!gs_real()->clCreateContext)
        return gs_refuse(errcode_ret, CL_INVALID_PLATFORM);
    if (only_group_device(g, num_devices, devices)) {
        /* A daemon hears of this process before the context is made, which takes a GPU's driver 0.1 s: the
         * units of an application that was sole have ended by then. */
        if (g->type & CL_DEVICE_TYPE_GPU)
            gs_scheduled();
        /* Sharing with a graphics API may fit the first device alone. */
        for (unsigned n = devices_of_context(g);; n = 1) {
            cl_int err;
            const uint64_t begin_ns = gs_now_ns();
            cl_device_id list[GS_MAX_DEVICES + 1];
            memcpy(list, g->dev, n * sizeof *list);
            list[n] = g->parent;
            cl_context handle =
                gs_real()->clCreateContext(properties, n + (g->parent ? 1 : 0), list, pfn_notify, user_data, &err);
            if (!err) {
                gs_short_runs_made(n, gs_now_ns() - begin_ns);
                track(handle, g, n);
            }
            if (!err || n == 1 || gs_settings()->pooled) {
                gs_set_error(errcode_ret, err);
                return handle;
            }
        }
    }
    return gs_real()->clCreateContext(properties, num_devices, devices, pfn_notify, user_data, errcode_ret);
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContextFromType(
    const cl_context_properties *properties, cl_device_type device_type,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data, cl_int *errcode_ret)
{
    GS_CALL("clCreateContextFromType");
    enum { MOST = 64 };
    const struct gs_group *g = gs_group();
    cl_platform_id platform = NULL;
    for (const cl_context_properties *p = properties; p && *p; p += 2)
        if (*p == CL_CONTEXT_PLATFORM)
            platform = (cl_platform_id)p[1];
    cl_device_id list[MOST];
    cl_uint n = 0;
    if (!platform && gs_real()->clGetPlatformIDs)
        gs_real()->clGetPlatformIDs(1, &platform, NULL);
    if (g->platform && platform == g->platform && !gs_forked() &&
        clGetDeviceIDs(platform, device_type, MOST, list, &n) == CL_SUCCESS && n)
        return clCreateContext(properties, n < MOST ? n : MOST, list, pfn_notify, user_data, errcode_ret);
    if (!gs_real()->clCreateContextFromType)
        return gs_refuse(errcode_ret, CL_INVALID_PLATFORM);
    return gs_real()->clCreateContextFromType(properties, device_type, pfn_notify, user_data, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    struct gs_object *last = gs_release(GS_CONTEXT, context);
    if (last)
        gs_context_list_update((struct gs_context *)last);
    return gs_released(last, gs_real()->clReleaseContext(context));
}

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    const struct gs_context *c = gs_find(GS_CONTEXT, context);
    const cl_uint one = 1;
    if (c && param_name == CL_CONTEXT_NUM_DEVICES)
        return gs_query_value(&one, sizeof one, param_value_size, param_value, param_value_size_ret);
    if (c && param_name == CL_CONTEXT_DEVICES)
        return gs_query_value(c->dev, sizeof *c->dev, param_value_size, param_value, param_value_size_ret);
    return gs_real()->clGetContextInfo(context, param_name, param_value_size, param_value, param_value_size_ret);
}
