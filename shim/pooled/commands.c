/* SPDX-License-Identifier: MIT */
#include "shim/pooled/commands.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/pooled/store.h"
#include "shim/process/threads.h"
#include "shim/put/put.h"

/* Commands of the application that have not ended. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the list, in whatever way */
    struct gs_pool_command *first, **last;
    bool started; /* the thread that carries them out */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &list.first};
GS_RANKED(list.lock, GS_RANK_POOL_COMMANDS);

/* Releases the command's objects before anybody hears of its end: the application may then build the launch's program
 * anew, or needs the room for another object. */
static void let_go(struct gs_pool_command *c)
{
    if (c->launch)
        gs_pool_launch_free(c->launch);
    if (c->src)
        gs_drop(&c->src->o);
    if (c->dst)
        gs_drop(&c->dst->o);
    c->launch = NULL;
    c->src = c->dst = NULL;
}

static void free_command(struct gs_pool_command *c)
{
    const cl_command_queue queue = c->q->o.handle;
    let_go(c);
    free(c->taken);
    gs_events_free(&c->wait);
    if (c->event) {
        gs_real()->clReleaseEvent(c->event->o.handle);
        gs_drop(&c->event->o);
    }
    gs_drop(&c->q->o);
    gs_real()->clReleaseCommandQueue(queue);
    free(c);
}

static bool is_transfer(const struct gs_op *op)
{
    return op->kind > GS_OP_NATIVE && op->kind != GS_OP_MARKER && op->kind != GS_OP_BARRIER &&
           op->kind != GS_OP_MIGRATE;
}

static bool is_copy(const struct gs_op *op)
{
    return op->kind == GS_OP_COPY || op->kind == GS_OP_COPY_RECT || op->kind == GS_OP_COPY_IMAGE ||
           op->kind == GS_OP_IMAGE_TO_BUFFER || op->kind == GS_OP_BUFFER_TO_IMAGE;
}

/* Must the second come after the first, of the same queue? */
static bool precedes(const struct gs_pool_command *a, const struct gs_pool_command *b)
{
    const bool all = (b->op.kind == GS_OP_BARRIER || b->op.kind == GS_OP_MARKER) && !b->wait.n;
    return a->q == b->q && (!a->q->out_of_order || a->op.kind == GS_OP_BARRIER || all);
}

/* 1: not yet; 0: may begin; negative: a command or event before has failed. A launch may begin behind `running`. */
static cl_int state_of(const struct gs_pool_command *c, const struct gs_pool_command *running)
{
    cl_int failed = c->behind_failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : 0;
    for (const struct gs_pool_command *a = list.first; a != c; a = a->next)
        if (precedes(a, c) && !(a == running && c->launch))
            return 1;
    for (cl_uint i = 0; i < c->wait.n; i++) {
        const cl_int status = gs_event_status(c->wait.v[i]);
        if (status > CL_COMPLETE)
            return 1;
        failed = status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : failed;
    }
    return failed;
}

/* What the commands that surely follow at once overwrite unread: of the same queue, in order, and waiting for nothing
 * else. Who reads it elsewhere meanwhile has nothing that orders the two. With the store locked. */
static cl_int foresee(const void *command)
{
    enum { MOST = 8 };
    const struct gs_pool_command *c = command;
    unsigned n = 0;
    cl_int err = CL_SUCCESS;
    gs_pool_forecast_clear();
    if (c->q->out_of_order)
        return err;
    GS_LOCKED(&list.lock);
    for (const struct gs_pool_command *a = c->next; a && !err && n < MOST; a = a->next) {
        if (a->q != c->q)
            continue;
        if (a->wait.n)
            break;
        n++;
        if (a->launch)
            err = gs_pool_launch_forecast(a->launch);
        else if (a->src) /* it may read all of it */
            err = gs_pool_error(gs_rangeset_add(&a->src->root->pool->wanted, (struct gs_range){0, a->src->root->size}));
    }
    return err;
}

/* Large transfers of memory that isn't pinned go through the ring, which is entered before the store is locked.
 * *carries: the application's memory does, too. */
static bool enter_ring(const struct gs_pool_command *c, bool *carries)
{
    struct gs_context *ctx = c->q->o.ctx;
    const bool spills = atomic_load(&ctx->pool->spills);
    struct gs_op_run t;
    *carries = gs_op_crosses_host(&c->op) && !(c->src ? c->src : c->dst)->image && gs_staged_rect(&t, &c->op);
    if (!*carries && !spills)
        return false;
    pthread_mutex_lock(&ctx->lock);
    *carries = *carries && gs_staging_may_fill(ctx, gs_staged_host(&t).at, gs_staged_bytes(&t));
    const bool may = *carries || (spills && gs_staging_may_fill(ctx, ctx->pool, GS_POOL_PIECE));
    pthread_mutex_unlock(&ctx->lock);
    return may && gs_staging_enter(ctx, true);
}

static cl_int lose(struct gs_pool_command *c, cl_int err)
{
    if (err) {
        gs_error("pooled memory: %s failed (error %d): what the buffers of its context hold is lost",
                 c->launch ? gs_pool_launch_name(c->launch) : "a command", err);
        atomic_store(&c->q->o.ctx->pool->failed, err);
    }
    return err;
}

/* Does the host get the bytes of a device by it? */
static bool is_read(const struct gs_op *op)
{
    return op->kind == GS_OP_READ || op->kind == GS_OP_READ_RECT || op->kind == GS_OP_MAP_BUFFER;
}

/* Carries a command out; a launch but for its end. */
static cl_int carry_out(struct gs_pool_command *c)
{
    struct gs_context *ctx = c->q->o.ctx;
    struct gs_command cmd = {.q = c->q, .ctx = ctx};
    struct gs_job job;
    cl_int err = CL_SUCCESS;
    if (atomic_load(&ctx->pool->failed))
        return CL_OUT_OF_RESOURCES;
    const bool reads = is_read(&c->op) || c->op.kind == GS_OP_UNMAP;
    if (c->by_units)
        cmd.units = gs_job_enter(ctx, reads, &job);
    gs_set_unit_owner(&cmd);
    bool carries;
    const bool by_ring = enter_ring(c, &carries);
    gs_pool_lock();
    ctx->pool->by_ring = by_ring;
    ctx->pool->carries = by_ring && carries;
    if (c->launch)
        err = gs_pool_launch_begin(c->launch, foresee, c);
    else if (is_transfer(&c->op))
        err = gs_pool_transfer(c);
    const cl_int settled = gs_pool_await();
    ctx->pool->by_ring = ctx->pool->carries = false;
    gs_pool_unlock();
    if (by_ring)
        gs_staging_leave(ctx);
    gs_set_unit_owner(NULL);
    if (c->by_units && is_read(&c->op))
        gs_job_reads();
    return lose(c, err ? err : settled);
}

/* The queue's oldest command that has not ended; or null. With the lock held. */
static const struct gs_pool_command *first_of(const struct gs_queue *q)
{
    const struct gs_pool_command *c = list.first;
    while (c && c->q != q)
        c = c->next;
    return c;
}

static void finish(struct gs_pool_command *c)
{
    struct gs_pool_command **at = &list.first;
    pthread_mutex_lock(&list.lock);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (list.last == &c->next)
        list.last = at;
    c->done = true;
    const bool awaited = c->op.blocking;
    if (awaited || !first_of(c->q)) /* nobody else waits */
        pthread_cond_broadcast(&list.changed);
    pthread_mutex_unlock(&list.lock);
    if (!awaited)
        free_command(c);
}

/* A map has failed: its unmap, if enqueued already, fails as well, and must not put the mapping back. */
static void tell_unmap(const struct gs_mapping *map)
{
    GS_LOCKED(&list.lock);
    for (struct gs_pool_command *a = list.first; a; a = a->next)
        a->of_none |= a->taken == map;
}

/* A map or unmap has failed: undoes the mapping, or keeps it mapped. */
static void undo_mapping(struct gs_pool_command *c)
{
    struct gs_mem *m = c->taken ? c->dst : c->mapped ? c->src : NULL;
    if (!m)
        return;
    GS_LOCKED(&m->o.ctx->lock);
    if (c->taken && !c->of_none) {
        c->taken->next = m->mappings.newest;
        m->mappings.newest = c->taken;
        c->taken = NULL;
    } else if (c->taken || gs_mapping_take(m, c->mapped)) {
        if (!c->taken)
            free(c->mapped);
        atomic_fetch_sub(&m->root->pool->maps, 1);
    } else
        tell_unmap(c->mapped);
}

/* The command's event ends before its queue does: who has waited for the queue finds it complete. */
static void tell(struct gs_pool_command *c)
{
    struct gs_event *e = c->event;
    let_go(c);
    if (e) {
        pthread_mutex_lock(&e->times_lock);
        memcpy(e->times, c->times, sizeof c->times);
        e->times[3] = gs_now_ns();
        e->has_times = true;
        pthread_mutex_unlock(&e->times_lock);
        gs_real()->clSetUserEventStatus(e->o.handle, c->err ? c->err : CL_COMPLETE);
    }
    finish(c);
    gs_threads_served();
}

/* Begins a command. True: a launch, which runs now. */
static bool begin(struct gs_pool_command *c, cl_int state)
{
    c->times[2] = gs_now_ns();
    c->err = state ? state : carry_out(c);
    if (state) {
        undo_mapping(c);
        GS_LOCKED(&list.lock); /* commands already enqueued behind it fail, too; commands enqueued later don't */
        for (struct gs_pool_command *a = c->next; a; a = a->next)
            a->behind_failed |= precedes(c, a);
    }
    if (!c->err && c->launch)
        return true;
    tell(c);
    return false;
}

static void end(struct gs_pool_command *c)
{
    gs_pool_lock();
    const cl_int err = gs_pool_launch_end(c->launch);
    gs_pool_unlock();
    if (err)
        c->err = lose(c, err);
    tell(c);
}

/* The next command that may begin. Waits for one unless a launch runs; polls, since the command may wait for an event
 * of the application's, whose end nobody tells. */
static struct gs_pool_command *next(const struct gs_pool_command *running, cl_int *state)
{
    GS_LOCKED(&list.lock);
    for (;;) {
        for (struct gs_pool_command *c = list.first; c; c = c->next)
            if (c != running && (*state = state_of(c, running)) <= 0)
                return c;
        if (running)
            return NULL;
        if (!list.first) {
            pthread_cond_wait(&list.changed, &list.lock);
            continue;
        }
        const struct timespec until = gs_timespec(gs_clock_ns(CLOCK_REALTIME) + 200000);
        pthread_cond_timedwait(&list.changed, &list.lock, &until);
    }
}

/* The thread. A launch whose bytes are all there is enqueued while the one before still runs, so that the device
 * doesn't wait for this thread. Nothing else begins while a launch runs. */
static void *work(void *unused)
{
    struct gs_pool_command *running = NULL;
    for (cl_int state;;) {
        struct gs_pool_command *c = next(running, &state), *before = running;
        if (before && !(c && !state && c->launch && gs_pool_launch_is_ready(c->launch) && gs_threads_serve())) {
            end(before);
            running = NULL;
            continue;
        }
        if (!before)
            gs_threads_serve_wait();
        running = begin(c, state) ? c : NULL;
        if (before)
            end(before);
        if (before && running) {
            running->times[2] = gs_now_ns();
            if (atomic_load(&running->q->o.ctx->pool->failed)) /* the bytes that it read were lost */
                running->err = CL_OUT_OF_RESOURCES;
        }
    }
    return unused;
}

static cl_int await(struct gs_pool_command *c)
{
    pthread_mutex_lock(&list.lock);
    while (!c->done)
        pthread_cond_wait(&list.changed, &list.lock);
    pthread_mutex_unlock(&list.lock);
    const cl_int err = c->err;
    free_command(c);
    return err;
}

cl_int gs_pool_finish(cl_command_queue queue)
{
    const struct gs_queue *q = gs_find(GS_QUEUE, queue);
    gs_threads_open_again();
    GS_LOCKED(&list.lock);
    while (first_of(q))
        pthread_cond_wait(&list.changed, &list.lock);
    return q && atomic_load(&q->o.ctx->pool->failed) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int take_event(struct gs_pool_command *c, const struct gs_op *op, cl_event *event)
{
    const cl_command_queue queue = c->q->o.handle;
    const struct gs_event all = {.pooled = queue, .profiled = c->q->profiling, .command = gs_op_command_type(op)};
    cl_int err;
    c->event = gs_event_new(c->q->o.ctx, &all, &err);
    if (err)
        return err;
    gs_hold(&c->event->o);
    gs_real()->clRetainCommandQueue(queue); /* until the event goes, as the driver's events do */
    *event = c->event->o.handle;
    gs_real()->clRetainEvent(*event);
    return CL_SUCCESS;
}

static cl_int take_wait(struct gs_pool_command *c, cl_uint n, const cl_event *wait)
{
    cl_int err = gs_list_is_valid(n, wait) ? CL_SUCCESS : CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < n && !err; i++) {
        err = gs_events_share(&c->wait, wait[i]);
        if (!err && gs_event_context(wait[i]) != c->q->o.ctx->o.handle)
            err = CL_INVALID_CONTEXT;
    }
    return err == CL_INVALID_EVENT ? CL_INVALID_EVENT_WAIT_LIST : err;
}

/* Makes a map's mapping; takes an unmap's out of the list. */
static cl_int take_mapping(struct gs_pool_command *c)
{
    struct gs_mem *m = c->op.kind == GS_OP_MAP_BUFFER ? c->src : c->dst;
    const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    GS_LOCKED(&m->o.ctx->lock);
    if (c->op.kind == GS_OP_MAP_BUFFER) {
        struct gs_mapping *map = calloc(1, sizeof *map);
        if (!map)
            return CL_OUT_OF_HOST_MEMORY;
        *map = (struct gs_mapping){.ptr = m->root->pool->host.base + m->origin + c->op.from[0],
                                   .range = gs_pool_range(m, c->op.from[0], c->op.region[0]),
                                   .write = c->op.map_flags & writes,
                                   .ours = true,
                                   .next = m->mappings.newest};
        m->mappings.newest = map;
        atomic_fetch_add(&m->root->pool->maps, 1);
        *c->op.mapped = c->op.ptr = map->ptr;
        c->mapped = map;
        return CL_SUCCESS;
    }
    c->taken = gs_mapping_at(m, c->op.ptr);
    return c->taken && gs_mapping_take(m, c->taken) ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int check_migration(const struct gs_op *op, const struct gs_context *ctx)
{
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if (!op->n_mems || !op->mems || op->migration_flags & ~known)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < op->n_mems; i++) {
        const struct gs_mem *m = gs_find(GS_MEM, op->mems[i]);
        if (!m)
            return CL_INVALID_MEM_OBJECT;
        if (m->o.ctx != ctx)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

/* All that a command needs when its call has returned. */
static cl_int take(struct gs_pool_command *c, const struct gs_op *op)
{
    struct gs_context *ctx = c->q->o.ctx;
    cl_int err = CL_SUCCESS;
    c->op = *op;
    if (op->kind == GS_OP_LAUNCH) {
        struct gs_kernel *k = gs_find(GS_KERNEL, op->kernel);
        if (!k)
            return CL_INVALID_KERNEL;
        if (k->o.ctx != ctx)
            return CL_INVALID_CONTEXT;
        c->launch = gs_pool_launch_make(k, op, &err);
        /* no work-items: nothing to do since OpenCL 2.1, the version of clCloneKernel; an error before */
        const bool nothing = err == CL_INVALID_GLOBAL_WORK_SIZE && gs_driver_has(gs_group()->dev[0], "clCloneKernel");
        return nothing ? CL_SUCCESS : err;
    }
    if (op->kind == GS_OP_MIGRATE)
        return check_migration(op, ctx);
    if (!is_transfer(op))
        return op->kind == GS_OP_MARKER || op->kind == GS_OP_BARRIER ? CL_SUCCESS : CL_INVALID_OPERATION;
    c->src = gs_find_hold(GS_MEM, op->src);
    c->dst = gs_find_hold(GS_MEM, op->dst);
    if (is_copy(op) ? !c->src || !c->dst : !c->src && !c->dst)
        err = CL_INVALID_MEM_OBJECT;
    if (!err && gs_op_is_of_image(op))
        err = gs_pool_image_op(&c->op, c->src, c->dst);
    if (!err && op->kind != GS_OP_UNMAP)
        err = gs_pool_check(&c->op, gs_op_is_of_image(op), ctx, c->src, c->dst);
    if (!err && (op->kind == GS_OP_FILL || op->kind == GS_OP_FILL_IMAGE))
        memcpy(c->pattern, op->pattern, c->op.pattern_bytes);
    if (!err && (c->op.kind == GS_OP_MAP_BUFFER || op->kind == GS_OP_UNMAP))
        err = take_mapping(c);
    return err;
}

static cl_int submit(struct gs_pool_command *c)
{
    gs_threads_open_again();
    GS_LOCKED(&list.lock);
    if (!list.started && !(list.started = gs_threads_start("gs-pool", NULL, work, NULL)))
        return CL_OUT_OF_RESOURCES;
    c->times[1] = gs_now_ns();
    *list.last = c;
    list.last = &c->next;
    pthread_cond_broadcast(&list.changed);
    return CL_SUCCESS;
}

bool gs_pool_takes(cl_command_queue queue)
{
    const struct gs_queue *q = gs_find(GS_QUEUE, queue);
    return q && q->o.ctx->pooled;
}

cl_int gs_pool_enqueue(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event)
{
    struct gs_pool_command *c = calloc(1, sizeof *c);
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    c->times[0] = gs_now_ns();
    c->q = gs_find_hold(GS_QUEUE, queue);
    gs_real()->clRetainCommandQueue(queue);
    c->by_units = gs_scheduled();
    /* PoCL takes an address of no events of launches, though of no other command. */
    cl_int err = take_wait(c, n_wait, op->kind == GS_OP_LAUNCH && !n_wait && gs_group()->pocl ? NULL : wait);
    if (!err && atomic_load(&c->q->o.ctx->pool->failed))
        err = CL_OUT_OF_RESOURCES;
    if (!err)
        err = take(c, op);
    cl_event made = NULL;
    if (!err && event)
        err = take_event(c, op, &made);
    if (!err)
        err = submit(c);
    if (err) {
        undo_mapping(c);
        free_command(c);
    } else if (op->blocking) {
        err = await(c);
        gs_wait_ended();
    }
    if (err && made)
        gs_release_event(made);
    else if (!err && event)
        *event = made;
    return err;
}
