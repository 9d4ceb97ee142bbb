/* SPDX-License-Identifier: MIT */
#include "shim/staging/staging.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/put/put.h"
#include "shim/events/gates.h"
#include "shim/order/completion.h"
#include "shim/process/threads.h"
#include "shim/report/report.h"

/* ---- pinned memory ---- */

enum { HUGE_PAGE = 2 * 1024 * 1024, MAKERS = 4 };

/* Makes all pages before they are needed: for 64 MiB of a virtual machine one thread took 70 ms. */
static void make_pages(char *begin, size_t bytes)
{
    struct gs_pool *pool = bytes < MAKERS * HUGE_PAGE ? NULL : gs_pool_start(MAKERS - 1);
    struct gs_copy_job job = {{begin, bytes, bytes}, {begin, bytes, bytes}, {bytes, 1, 1}, .fresh = true};
    if (!pool) {
        gs_populate_make(begin, bytes);
        return;
    }
    gs_pool_submit(pool, &job);
    GS_MAY_WAIT("the pages of pinned memory", 1 * GS_S);
    gs_pool_wait(pool, &job);
    gs_pool_stop(pool);
}

/* The pages are huge ones where the system has them, and exist before the driver pins them: pinning 64 MiB then takes
 * 3.4 ms with the driver's lock held, on an H200's host. The driver's own memory takes 28 to 40 ms. */
cl_int gs_pinned_memory_add(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes)
{
    char *begin = m->base + m->bytes;
    cl_int err = CL_SUCCESS;
    if (gs_group()->type & CL_DEVICE_TYPE_GPU && !gs_group()->remote) {
        gs_populate_prepare(begin, bytes);
        make_pages(begin, bytes);
        m->buffer[m->n] =
            gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, begin, &err);
        m->n += !err;
    }
    if (err)
        gs_debug("no pinned memory of %zu bytes could be had (error %d)", bytes, err);
    else
        m->bytes += bytes;
    return err;
}

cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, size_t most,
                             bool shown)
{
    *m = (struct gs_pinned_memory){.map_bytes = most + HUGE_PAGE};
    m->map = mmap(NULL, m->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->map == MAP_FAILED)
        return CL_OUT_OF_HOST_MEMORY;
    m->base = (char *)m->map + (HUGE_PAGE - (uintptr_t)m->map % HUGE_PAGE) % HUGE_PAGE;
    if (!shown)
        madvise(m->map, m->map_bytes, MADV_DONTFORK); /* no device writes to a child's copy */
    const cl_int err = gs_pinned_memory_add(m, ctx, bytes);
    if (err)
        gs_pinned_memory_free(m);
    return err;
}

void gs_pinned_memory_free(struct gs_pinned_memory *m)
{
    while (m->n > 0)
        gs_release_now(m->buffer[--m->n]);
    if (m->base)
        munmap(m->map, m->map_bytes);
    *m = (struct gs_pinned_memory){0};
}

/* ---- the ring ---- */

struct gs_staging {
    uint64_t seen; /* bytes of large transfers so far. The context's lock */
    /* Once RING_MADE, all below exists; until then only the thread that makes the ring touches it. */
    _Atomic(enum ring_state{RING_UNTRIED, RING_BEING_MADE, RING_MADE, RING_FAILED}) state;
    struct gs_pool *pool;
    pthread_mutex_t busy; /* all below; never waited for with the context's lock held */
    /* [1] with profiles; by place, the last one the parent's; nothing else is enqueued there */
    cl_command_queue queue[2][GS_MAX_DEVICES + 1];
    struct gs_ring ring;
    struct {
        struct gs_op_run piece;
        struct gs_copy_job job; /* before the slot's first use all zeros: nothing to wait for */
    } slot[GS_RING_SLOTS];
};

/* ---- the ring, and which transfers it takes ---- */

enum {
    LEAST_BYTES = 4 * 1024 * 1024,  /* an H200: written in 0.31 ms instead of 0.51, and read in 0.23 instead of 0.44 */
    LARGE_BYTES = 12 * 1024 * 1024, /* a transfer this large gains by the ring as much as the ring costs */
    LEAST_FORCED = 4096,
    WORTH_BYTES = 64 * 1024 * 1024 /* about so many bytes pay for making a ring, of which smaller transfers gain half as
                                      much; a transfer as large waits for the ring */
};

/* Makes the queues of all places. */
static bool make_queues(struct gs_staging *s, const struct gs_context *ctx, bool timed)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i <= GS_MAX_DEVICES && !err; i++) {
        const cl_device_id device = i == GS_MAX_DEVICES ? gs_group()->parent : i < ctx->n ? ctx->dev[i] : NULL;
        if (device && !s->queue[timed][i])
            s->queue[timed][i] =
                gs_real()->clCreateCommandQueue(ctx->o.handle, device, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &err);
    }
    return err == CL_SUCCESS;
}

static void make(struct gs_context *ctx)
{
    struct gs_staging *s = ctx->staging;
    cpu_set_t set; /* threads started here inherit the affinity of the application's */
    const long cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    s->pool = gs_pool_start(cores >= 24 ? 12 : cores > 3 ? (unsigned)cores / 2 : 1);
    s->ring.slot_bytes = GS_SLOT_BYTES;
    const bool made =
        s->pool && make_queues(s, ctx, false) && gs_ring_add_slots(&s->ring, ctx, GS_RING_SLOTS) == CL_SUCCESS;
    atomic_store(&s->state, made ? RING_MADE : RING_FAILED);
}

void gs_staging_free(struct gs_staging *s)
{
    if (!s)
        return;
    gs_pool_stop(s->pool);
    pthread_mutex_destroy(&s->busy);
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1); i++)
        GS_RELEASE(CommandQueue, s->queue[i % 2][i / 2]);
    gs_ring_free(&s->ring);
    free(s);
}

/* Did the application get this memory by mapping a buffer, so that it is pinned already? */
static bool is_pinned(const struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    for (const struct gs_mem *m = ctx->mems; m; m = m->next)
        for (const struct gs_mapping *map = m->flags & CL_MEM_USE_HOST_PTR ? NULL : m->mappings.newest; map;
             map = map->next)
            if ((const char *)ptr >= (const char *)map->ptr &&
                (const char *)ptr + bytes <= (const char *)map->ptr + (map->range.end - map->range.begin))
                return true;
    return false;
}

static void *make_beside(void *arg)
{
    struct gs_context *ctx = arg;
    cl_context handle = ctx->o.handle;
    if (!gs_threads_enter())
        return NULL;
    make(ctx);
    gs_drop(&ctx->o);
    gs_real()->clReleaseContext(handle);
    gs_threads_leave();
    return NULL;
}

/* Begins to make the ring in a thread: 64 MiB made and pinned take an H200's host 6 to 18 ms. */
static void begin_to_make(struct gs_context *ctx)
{
    if (gs_real()->clRetainContext(ctx->o.handle) != CL_SUCCESS)
        return;
    gs_hold(&ctx->o);
    atomic_store(&ctx->staging->state, RING_BEING_MADE);
    if (!gs_threads_start("gs-ring", NULL, make_beside, ctx))
        make_beside(ctx);
}

/* Is the ring made, or can it be made now? Transfers that come while a thread makes the ring go without. */
static bool is_there(struct gs_context *ctx, uint64_t bytes)
{
    if (!ctx->staging) {
        ctx->staging = calloc(1, sizeof *ctx->staging);
        if (!ctx->staging)
            return false;
        pthread_mutex_init(&ctx->staging->busy, NULL);
        gs_rank_lock(&ctx->staging->busy, GS_RANK_STAGING_SLOTS);
    }
    struct gs_staging *s = ctx->staging;
    s->seen += bytes < LARGE_BYTES ? bytes / 2 : bytes;
    const bool forced = gs_settings()->transfer == GS_TRANSFER_PINNED, now = forced || bytes >= WORTH_BYTES;
    if (atomic_load(&s->state) == RING_UNTRIED && !gs_in_callback() && (now || s->seen >= WORTH_BYTES))
        (now ? make : begin_to_make)(ctx);
    return atomic_load(&s->state) == RING_MADE;
}

bool gs_staging_may_fill(struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool forced = path == GS_TRANSFER_PINNED;
    const uint64_t least = forced ? LEAST_FORCED : LEAST_BYTES;
    return bytes >= least && ptr && path != GS_TRANSFER_PLAIN && (!gs_group()->shared_memory || forced) &&
           !gs_group()->remote && !is_pinned(ctx, ptr, bytes) && is_there(ctx, bytes);
}

bool gs_staging_may_carry(struct gs_context *ctx, const void *ptr, uint64_t bytes)
{
    return gs_staging_may_fill(ctx, ptr, bytes) && !atomic_load(&ctx->user_events);
}

bool gs_staging_is_ready(const struct gs_events *before, uint64_t bytes)
{
    /* The driver takes 100 to 150 ns for a KiB. Usually only the last slots of the write before are ahead, a
     * millisecond of the link. A longer wait would be for a kernel. */
    const uint64_t worth_ns = bytes / 1024 * 30, most_ns = 1500 * 1000;
    GS_MAY_WAIT("what a large transfer comes after", 1500 * GS_US);
    return gs_events_ended_by(before, gs_now_ns() + (worth_ns < most_ns ? worth_ns : most_ns));
}

bool gs_staging_queue_idle(struct gs_queue *q, const struct gs_events *before, uint64_t bytes)
{
    cl_event marker;
    if (gs_enqueue_marker(q->o.handle, before->n, before->v, &marker) != CL_SUCCESS)
        return false;
    gs_real()->clFlush(q->o.handle);
    const bool idle = gs_staging_is_ready(&(const struct gs_events){.v = &marker, .n = 1}, bytes);
    gs_real()->clReleaseEvent(marker);
    return idle;
}

bool gs_staging_enter(struct gs_context *ctx, bool wait)
{
    return wait ? pthread_mutex_lock(&ctx->staging->busy) == 0 : pthread_mutex_trylock(&ctx->staging->busy) == 0;
}

void gs_staging_leave(struct gs_context *ctx)
{
    pthread_mutex_unlock(&ctx->staging->busy);
}

/* ---- a transfer ---- */

/* Pieces on the link at a time under a daemon: one is carried and one waits. More would stand behind gates, at 14 us
 * each (an H200). While nobody else wants the link twice as many are granted at once. */
enum { ON_LINK_BY_UNITS = 2, ON_LINK_ALONE = 4 };

cl_int gs_staged_note(struct gs_command *cmd, unsigned place, cl_event event)
{
    struct gs_events *e = &cmd->ended;
    cl_uint known = 0, last = 0;
    for (cl_uint i = 0; i < e->n; i++) {
        known += cmd->at[i] == place;
        last = cmd->at[i] == place ? i : last;
    }
    if (known == 2) {
        gs_event_replace(&e->v[last], event);
        return CL_SUCCESS;
    }
    gs_command_ends_at(cmd, place);
    return gs_events_add(e, event);
}

/* A call's transfers while they are carried. */
struct carriage {
    const struct gs_context *ctx;
    struct gs_staging *s;
    struct gs_pieces turns;
    struct gs_command *cmd; /* or null */
    bool in, timed;         /* in: to the devices */
    size_t on_link;         /* so many pieces are on their way at a time; other slots are being filled or drained */
};

/* Waits until the device is done with a slot. That takes NVIDIA's driver (580.159) 4 us, even after the event's end. */
static cl_int await_slot(struct gs_staging *s, size_t slot)
{
    struct gs_events *use = &s->ring.use[slot];
    const bool by_units = gs_put_now();
    cl_int err = CL_SUCCESS;
    if (!by_units)
        gs_events_drop_complete(use, false);
    if (!use->n)
        return CL_SUCCESS;
    err = gs_real()->clWaitForEvents(use->n, use->v);
    if (!err && by_units)
        gs_units_look(GS_RESOURCE_PCI, NULL);
    gs_events_drop_complete(use, true);
    return err;
}

/* Has the pool copy the piece between the host's memory and the slot. */
static void copy(const struct carriage *c, unsigned slot)
{
    const struct gs_op_run *p = &c->s->slot[slot].piece;
    const size_t *region = p->op.region, row = region[0] * gs_op_element(&p->op);
    const struct gs_rows there = {gs_ring_memory(&c->s->ring, slot), row, row * region[1]}, host = gs_staged_host(p);
    c->s->slot[slot].job = (struct gs_copy_job){.dst = c->in ? there : host,
                                                .src = c->in ? host : there,
                                                .region = {row, region[1], region[2]},
                                                .fresh = p->fresh};
    gs_pool_submit(c->s->pool, &c->s->slot[slot].job);
}

/* Enqueues the piece between device and slot. PoCL wants images on the sub-devices' parent. */
static cl_int send(const struct carriage *c, unsigned slot)
{
    const struct gs_op_run *p = &c->s->slot[slot].piece;
    struct gs_op op = p->op;
    gs_op_by_slot(&op, c->in, &(struct gs_slot){.ptr = gs_ring_memory(&c->s->ring, slot)});
    const unsigned queue = gs_op_is_of_image(&op) && gs_group()->parent ? GS_MAX_DEVICES : p->place;
    cl_event event;
    const cl_int err = gs_put(c->s->queue[c->timed][queue], &op, GS_VIA_HOST, 0, NULL, &event);
    if (err)
        return err;
    gs_ring_give(&c->s->ring, slot, event);
    if (c->cmd)
        return gs_staged_note(c->cmd, p->place, event);
    gs_real()->clReleaseEvent(event);
    return CL_SUCCESS;
}

/* Begins with the next piece, in a slot that threads and device are done with: the threads fill it, or the device. */
static cl_int begin_piece(struct carriage *c, unsigned slot)
{
    gs_pool_wait(c->s->pool, &c->s->slot[slot].job);
    const cl_int err = await_slot(c->s, slot);
    if (err)
        return err;
    c->s->slot[slot].piece = gs_pieces_take(&c->turns);
    if (!c->in)
        return send(c, slot);
    copy(c, slot);
    return CL_SUCCESS;
}

/* Goes on with piece i, once its slot is full. */
static cl_int end_piece(const struct carriage *c, size_t i)
{
    const unsigned slot = i % GS_RING_SLOTS;
    cl_int err = CL_SUCCESS;
    if (c->in) {
        gs_pool_wait(c->s->pool, &c->s->slot[slot].job);
        if (i >= c->on_link && gs_put_now())
            err = await_slot(c->s, (i - c->on_link) % GS_RING_SLOTS);
        return err ? err : send(c, slot);
    }
    err = await_slot(c->s, slot);
    if (!err)
        copy(c, slot);
    return err;
}

/* How many pieces to begin before piece i goes on. Out: at first two for each piece that has come: asking takes as long
 * as half a piece's way, and the copying threads get work sooner. */
static size_t most_begun(const struct carriage *c, size_t i)
{
    return gs_least(c->turns.pieces, c->in ? i + GS_RING_SLOTS - c->on_link : gs_least(i + c->on_link, 2 * i + 2));
}

static cl_int carry_pieces(struct carriage *c)
{
    size_t begun = 0;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->turns.pieces && !err; i++) {
        for (; begun < most_begun(c, i) && !err; begun++)
            err = begin_piece(c, begun % GS_RING_SLOTS);
        err = err ? err : end_piece(c, i);
    }
    for (size_t i = 0; i < GS_RING_SLOTS; i++)
        gs_pool_wait(c->s->pool, &c->s->slot[i].job);
    return err;
}

/* Only for reads of one run of bytes: are pages at the target yet to be made? */
static bool is_fresh(const struct gs_op_run *t)
{
    return !t->op.dst && t->op.region[1] * t->op.region[2] == 1 &&
           gs_populate_prepare(gs_staged_host(t).at, gs_staged_bytes(t));
}

/* PoCL (3.1) shows a command's end before it drops the command's references, so an application that asks for a
 * reference count would see one too many. clFinish returns after the drop. */
static void let_go_of_objects(const struct gs_staging *s)
{
    for (unsigned i = 0; i < 2 * (GS_MAX_DEVICES + 1) && gs_group()->pocl; i++)
        if (s->queue[i % 2][i / 2])
            gs_real()->clFinish(s->queue[i % 2][i / 2]);
}

cl_int gs_staging_carry(struct gs_context *ctx, struct gs_op_run *v, unsigned n, struct gs_command *cmd)
{
    struct carriage c = {.ctx = ctx, .s = ctx->staging, .cmd = cmd, .in = v->op.dst};
    c.timed =
        ((cmd && cmd->q->profiling) || gs_report_wants_times()) && !gs_in_callback() && make_queues(c.s, ctx, true);
    gs_pieces_begin(&c.turns, v, n, (size_t)gs_put_most(GS_SLOT_BYTES, GS_VIA_HOST));
    if (gs_put_now())
        c.on_link = gs_unit_is_alone(GS_RESOURCE_PCI) ? ON_LINK_ALONE : ON_LINK_BY_UNITS;
    else
        c.on_link = c.turns.most_bytes < GS_SLOT_BYTES || n > 1 ? GS_RING_SLOTS / 2 : GS_RING_SLOTS / 4;
    for (unsigned i = 0; i < n; i++)
        v[i].fresh = is_fresh(&v[i]);
    GS_LABEL(way, GS_WAY_STAGED);
    cl_int err = carry_pieces(&c);
    for (size_t i = 0; i < GS_RING_SLOTS && (err || !cmd); i++) {
        const cl_int end = await_slot(c.s, i);
        err = err ? err : end;
    }
    if (err)
        gs_debug("a transfer through the pinned ring failed (error %d)", err);
    let_go_of_objects(c.s);
    return err;
}

cl_int gs_staging_fill(struct gs_context *ctx, cl_mem mem, void *ptr, uint64_t bytes)
{
    struct gs_op_run run = {.op = gs_op_write(mem, 0, bytes, ptr)};
    gs_report_moved(GS_PATH_APP_WRITE, bytes);
    gs_staging_enter(ctx, true);
    const cl_int err = gs_staging_carry(ctx, &run, 1, NULL);
    gs_staging_leave(ctx);
    return err;
}
