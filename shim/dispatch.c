/* SPDX-License-Identifier: MIT */
#include "shim/dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "shim/batch.h"
#include "shim/beside.h"
#include "shim/client.h"
#include "shim/command.h"
#include "shim/ends.h"
#include "shim/watch.h"

enum { GS_AWAITED = 4 };

struct gs_held {
    struct gs_held *next; /* in its resource's list */
    atomic_int refs;      /* the thread that serves it, and each unit under way */
    atomic_int status;    /* CL_COMPLETE, or the first error of a unit */
    unsigned resource;
    cl_event ready;          /* the commands before have ended */
    cl_event open;           /* the gate: a user event */
    cl_event first;          /* unit 0 */
    cl_event end;            /* of several units: a user event */
    struct gs_event *record; /* what is known of `end`: its times */
    struct gs_units units;
    cl_command_queue home; /* where the gate is */
    struct gs_label label; /* of whoever asked for it */
    unsigned next_unit;
    atomic_uint running[GS_UNIT_QUEUES]; /* of the units behind the first, by queue */
    cl_event last[GS_UNIT_QUEUES];       /* of each queue's units; or null; owned. open_lock */
    atomic_uint_fast64_t took_ns;        /* of several units: those that have ended */
    /* Of one that comes right after another in its queue, see gs_let_go(). */
    unsigned call;              /* the application's, counted for the queue */
    struct gs_drained *drained; /* of the application's queue, if it is in order; or null */
    bool may_chain;             /* the queue is in order, and there is nothing else to wait for */
    bool chained;
    struct unit *taken; /* the first unit was granted before it was enqueued, and needs no gate; or null */
    /* open_lock: */
    struct gs_held *older, *newer; /* in the list of all that are under way */
    struct gs_held *follower;      /* to be served after it */
    bool served;                   /* its last unit is on its way */
    /* Of a single unit, which commands that come right after it in the queue may join: */
    struct gs_batch batch;
    cl_event tail;       /* the event of the last of those that have joined and have one, or null; owned */
    bool loose;          /* others have joined since, which have none */
    bool closing;        /* somebody enqueues a marker behind those */
    bool closed;         /* no more may join */
    bool joining;        /* one is about to be enqueued */
    uint64_t joined_ns;  /* when the last has come */
    uint64_t granted_ns; /* 0: not yet */
    /* The units under way, as far as there is room. */
    const void *awaited[GS_AWAITED];
};

/* No more join a unit that none has joined for so long. */
enum { QUIET_NS = 30 * 1000 };

/* One granted unit that is under way. */
struct unit {
    struct gs_held *held;
    struct gs_grant grant;
    atomic_uint *running;  /* of its queue; or null */
    cl_command_queue home; /* of a unit that others may join, until it has been sent off; or null. Retained */
    bool waited;           /* what it took was waited for; else no more is known than that it took no longer */
};

/* The commands that could run now, by what they need; each list has a thread, started on first need. */
static struct lane {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t news;
    struct gs_held *head, **tail;
    bool started;
} lanes[GS_MAX_RESOURCES];
static pthread_once_t lanes_once = PTHREAD_ONCE_INIT;

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;     /* one has been served, or has joined, or is closed */
static struct gs_held *newest, *oldest;

static _Thread_local bool own_thread; /* it serves a lane, and nothing else */

/* The process must not end while a thread of ours is inside the driver. Once it does a thread that serves a lane sleeps
 * for ever; another, which may be the one that ends the process, goes on. True: enter must be followed by leave. */
static bool enter(void)
{
    const bool in = gs_beside_serve();
    while (!in && own_thread)
        pause();
    return in;
}

static void leave(bool in)
{
    if (in)
        gs_beside_served();
}

static void set_up(void)
{
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++) {
        pthread_mutex_init(&lanes[r].lock, NULL);
        pthread_cond_init(&lanes[r].news, NULL);
        lanes[r].tail = &lanes[r].head;
    }
    gs_beside_register();
}

/* ---- the end of units ---- */

struct gs_spent *gs_spent_new(void)
{
    struct gs_spent *s = calloc(1, sizeof *s);
    if (s)
        atomic_init(&s->refs, 1);
    return s;
}

void gs_spent_drop(struct gs_spent *s)
{
    if (s && atomic_fetch_sub(&s->refs, 1) == 1)
        free(s);
}

/* Returns how long it took. */
static uint64_t add_spent(const struct unit *u)
{
    static atomic_uint_fast64_t last_end[GS_MAX_RESOURCES];
    const struct gs_units *units = &u->held->units;
    const uint64_t now = gs_now_ns(), before = atomic_exchange(&last_end[u->held->resource], now);
    const uint64_t begin = before > u->grant.begin_ns ? before : u->grant.begin_ns;
    const uint64_t took = now > begin ? now - begin : 0;
    if (units->spent)
        atomic_fetch_add(
            units->kernel ? &units->spent->kernel_ns[units->place] : &units->spent->other_ns[u->held->resource], took);
    return took;
}

void gs_record_times(struct gs_event *record, cl_event event, int64_t offset_ns)
{
    static const cl_profiling_info what[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                             CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_ulong t[4];
    for (int i = 0; i < 4; i++)
        if (gs_real()->clGetEventProfilingInfo(event, what[i], sizeof *t, &t[i], NULL) != CL_SUCCESS)
            return;
    for (int i = 0; i < 4; i++)
        t[i] += (cl_ulong)offset_ns;
    pthread_mutex_lock(&record->times_lock);
    for (int i = 0; i < 4; i++)
        if (!record->has_times || (i == 3 ? t[i] > record->times[i] : t[i] < record->times[i]))
            record->times[i] = t[i];
    record->has_times = true;
    pthread_mutex_unlock(&record->times_lock);
}

static void unlist(struct gs_held *h)
{
    pthread_mutex_lock(&open_lock);
    if (h->newer)
        h->newer->older = h->older;
    else if (newest == h)
        newest = h->older;
    if (h->older)
        h->older->newer = h->newer;
    else if (oldest == h)
        oldest = h->newer;
    pthread_mutex_unlock(&open_lock);
}

static void release_event(cl_event event)
{
    if (event)
        gs_real()->clReleaseEvent(event);
}

struct gs_drained {
    atomic_int refs;
    atomic_uint call;
};

void gs_drained_drop(struct gs_drained *d)
{
    if (d && atomic_fetch_sub(&d->refs, 1) == 1)
        free(d);
}

static void has_drained(struct gs_drained *d, unsigned call)
{
    unsigned known = atomic_load(&d->call);
    while ((int)(call - known) > 0 && !atomic_compare_exchange_weak(&d->call, &known, call))
        ;
}

/* Has all that came before this call ended, as far as is known? */
static bool is_drained(const struct gs_queue *q, unsigned call)
{
    return call - (q->drained ? atomic_load(&q->drained->call) : 0) <= 1;
}

/* Null: no memory. */
static struct gs_drained *drained_of(struct gs_queue *q)
{
    if (!q->drained && (q->drained = calloc(1, sizeof *q->drained)))
        atomic_init(&q->drained->refs, 1);
    return q->drained;
}

/* The last of those who use it: the command has ended. */
static void drop(struct gs_held *h)
{
    if (atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    unlist(h);
    if (h->drained && h->first)
        has_drained(h->drained, h->call);
    gs_drained_drop(h->drained);
    if (h->units.n > 1 && h->units.kind && atomic_load(&h->status) == CL_COMPLETE && h->first)
        gs_chunk_learn(h->units.kind, h->units.factor, h->units.n, atomic_load(&h->took_ns));
    gs_spent_drop(h->units.spent);
    if (h->end) {
        if (h->first)
            gs_real()->clSetUserEventStatus(h->end, atomic_load(&h->status));
        gs_drop(&h->record->o); /* first: while it is known, the handle must not become another event's */
        gs_real()->clReleaseEvent(h->end);
    }
    if (h->loose)
        gs_job_loose(-1);
    release_event(h->first);
    release_event(h->tail);
    for (unsigned i = 0; i < GS_UNIT_QUEUES; i++)
        release_event(h->last[i]);
    release_event(h->ready);
    release_event(h->open);
    free(h);
}

static void fail(struct gs_held *h, cl_int status)
{
    int none = CL_COMPLETE;
    atomic_compare_exchange_strong(&h->status, &none, status);
}

/* Of short commands that had all ended when somebody looked, no more is known than that they took no longer. */
static void learn(const struct unit *u, uint64_t took_ns)
{
    const struct gs_batch *b = &u->held->batch;
    if (u->waited || !b->expected_ns || took_ns < b->expected_ns)
        gs_batch_learn(b, took_ns);
}

static void replace_awaited(struct gs_held *h, const struct unit *before, const struct unit *after)
{
    unsigned i = 0;
    pthread_mutex_lock(&open_lock);
    while (i < GS_AWAITED && h->awaited[i] != before)
        i++;
    if (i < GS_AWAITED)
        h->awaited[i] = after;
    pthread_mutex_unlock(&open_lock);
}

static void unit_ended(cl_event event, cl_int status, void *data)
{
    struct unit *u = data;
    if (u->running)
        atomic_fetch_sub(u->running, 1);
    if (u->held->units.n == 1)
        gs_job_ended(event);
    if (status < 0)
        fail(u->held, status);
    else if (u->held->end)
        gs_record_times(u->held->record, event, 0);
    replace_awaited(u->held, u, NULL);
    gs_unit_give(&u->grant);
    const uint64_t took = add_spent(u);
    if (u->held->units.n == 1)
        learn(u, took);
    else
        atomic_fetch_add(&u->held->took_ns, took);
    drop(u->held);
    free(u);
}

/* Its last event is that of `marker` from now on, or all of it has ended. */
static void is_tied(struct gs_held *h, cl_event marker)
{
    cl_event old = NULL;
    pthread_mutex_lock(&open_lock);
    if (marker) {
        old = h->tail;
        h->tail = marker;
    }
    h->loose = h->closing = false;
    gs_job_loose(-1);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&open_lock);
    release_event(old);
}

/* No more join it: where its last commands have no event a marker tells of their end, which has to stand right behind
 * them. So whatever else is enqueued there comes after this. Held. */
static void close_unit(struct gs_held *h)
{
    cl_event marker = NULL;
    pthread_mutex_lock(&open_lock);
    while (h->joining || h->closing)
        pthread_cond_wait(&changed, &open_lock);
    h->closed = true;
    h->closing = h->loose;
    const bool loose = h->loose;
    cl_event last = h->tail ? h->tail : h->first;
    pthread_mutex_unlock(&open_lock);
    if (!loose)
        return;
    if (gs_real()->clEnqueueMarkerWithWaitList(h->home, 0, NULL, &marker) == CL_SUCCESS)
        gs_job_replace(last, marker);
    else
        gs_real()->clFinish(h->home);
    is_tied(h, marker);
}

/* The last command of a unit, once no more join it: sends it off then. */
static cl_event last_of(void *data)
{
    struct unit *u = data;
    struct gs_held *h = u->held;
    const uint64_t now = gs_now_ns();
    pthread_mutex_lock(&open_lock);
    const bool over = !h->joining && (h->closed || now > h->joined_ns + QUIET_NS);
    pthread_mutex_unlock(&open_lock);
    if (!over)
        return NULL;
    close_unit(h);
    cl_event last = h->tail ? h->tail : h->first;
    gs_real()->clRetainEvent(last);
    gs_real()->clFlush(u->home);
    gs_real()->clReleaseCommandQueue(u->home);
    u->home = NULL;
    u->waited = gs_event_status(last) > CL_COMPLETE;
    return last;
}

static void await_unit(struct unit *u, cl_event event)
{
    if (gs_await_end(event, unit_ended, u))
        return;
    gs_real()->clFlush(u->held->home);
    unit_ended(event, gs_real()->clWaitForEvents(1, &event) == CL_SUCCESS ? CL_COMPLETE : CL_OUT_OF_RESOURCES, u);
}

/* The first is on its way, and more may join it. False: there is no memory, and no more may. */
static bool await_more(struct unit *u)
{
    if (gs_real()->clRetainCommandQueue(u->held->home) == CL_SUCCESS) {
        u->home = u->held->home;
        if (gs_await_last(last_of, unit_ended, u))
            return true;
        gs_real()->clReleaseCommandQueue(u->home);
        u->home = NULL;
    }
    return false;
}

/* Sees to it that the unit is given back when the device is done. `event` is the held command's first unit where that
 * may be joined. */
static void watch(struct gs_held *h, struct unit *u, atomic_uint *running, cl_event event)
{
    atomic_fetch_add(&h->refs, 1);
    if (running)
        atomic_fetch_add(running, 1);
    *u = (struct unit){.held = h, .grant = u->grant, .running = running};
    pthread_mutex_lock(&open_lock);
    const bool more = h->units.n == 1 && (!h->closed || h->tail || h->joining || h->loose);
    h->granted_ns = u->grant.begin_ns;
    pthread_mutex_unlock(&open_lock);
    replace_awaited(h, NULL, u);
    if (more && await_more(u))
        return;
    if (more)
        close_unit(h);
    u->waited = true;
    await_unit(u, more && h->tail ? h->tail : event);
}

/* ---- the threads ---- */

static bool run_first(struct gs_held *h, struct unit *u)
{
    gs_unit_take(h->resource, &u->grant);
    bool in = enter();
    const cl_int err = gs_real()->clSetUserEventStatus(h->open, CL_COMPLETE);
    watch(h, u, NULL, h->first);
    leave(in);
    return err == CL_SUCCESS;
}

/* A chunk whose last work-groups run leaves part of a GPU idle, and one of small work-groups never fills it: the next
 * one, in another queue, does. */
static unsigned emptiest_queue(struct gs_held *h)
{
    unsigned best = 0;
    for (unsigned i = 1; i < GS_UNIT_QUEUES && h->units.queue[i]; i++)
        if (atomic_load(&h->running[i]) < atomic_load(&h->running[best]))
            best = i;
    return best;
}

static bool run_next(struct gs_held *h, unsigned i, struct unit *u)
{
    cl_event event;
    bool in = enter();
    if (i == 1 && h->units.first_alone)
        gs_real()->clWaitForEvents(1, &h->first);
    leave(in);
    gs_unit_take(h->resource, &u->grant);
    in = enter();
    gs_label_back(h->label);
    const unsigned to = emptiest_queue(h);
    const cl_int err = h->units.enqueue(h->units.work, i, h->units.queue[to], 0, NULL, &event);
    if (!err) {
        gs_real()->clRetainEvent(event);
        pthread_mutex_lock(&open_lock);
        cl_event before = h->last[to];
        h->last[to] = event;
        pthread_mutex_unlock(&open_lock);
        release_event(before);
        watch(h, u, &h->running[to], event);
        gs_real()->clFlush(h->units.queue[to]);
        gs_real()->clReleaseEvent(event);
    } else {
        gs_unit_give(&u->grant);
        fail(h, err);
        free(u);
    }
    leave(in);
    return !err;
}

/* The queues of a command, to be let go when it may be no more. */
struct queues {
    cl_command_queue home, unit[GS_UNIT_QUEUES];
};

static struct queues queues_of(const struct gs_held *h)
{
    struct queues q = {.home = h->home};
    memcpy(q.unit, h->units.queue, sizeof q.unit);
    return q;
}

/* Not from a callback: a driver may wait for a queue's commands when it is released for the last time. */
static void release_queues(const struct queues *q)
{
    gs_real()->clReleaseCommandQueue(q->home);
    for (unsigned i = 0; i < GS_UNIT_QUEUES; i++)
        if (q->unit[i])
            gs_real()->clReleaseCommandQueue(q->unit[i]);
}

static void serve(struct gs_held *h);

/* Its turn comes when its resource's thread gets to it. */
static void push(struct gs_held *h)
{
    struct lane *l = &lanes[h->resource];
    h->next = NULL;
    pthread_mutex_lock(&l->lock);
    const bool started = l->started;
    if (started) {
        *l->tail = h;
        l->tail = &h->next;
        pthread_cond_signal(&l->news);
    }
    pthread_mutex_unlock(&l->lock);
    if (!started)
        serve(h);
}

static void has_served(struct gs_held *h)
{
    pthread_mutex_lock(&open_lock);
    h->served = true;
    h->closed = h->closed || atomic_load(&h->status) != CL_COMPLETE;
    struct gs_held *follower = h->follower;
    h->follower = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&open_lock);
    if (follower)
        push(follower);
}

static void could_run(cl_event event, cl_int status, void *data);

/* Its first unit stands in its queue behind what the others have to wait for. */
static bool rest_waits(struct gs_held *h)
{
    const cl_int status = h->chained ? gs_event_status(h->ready) : CL_COMPLETE;
    h->chained = false;
    if (status < 0)
        fail(h, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    if (status <= CL_COMPLETE || gs_await_end(h->ready, could_run, h))
        return status > CL_COMPLETE;
    gs_real()->clWaitForEvents(1, &h->ready);
    return false;
}

static void serve(struct gs_held *h)
{
    const struct queues queues = queues_of(h);
    bool runs = true;
    while (h->next_unit < h->units.n && runs && atomic_load(&h->status) == CL_COMPLETE) {
        if (h->next_unit == 1 && rest_waits(h))
            return;
        if (atomic_load(&h->status) != CL_COMPLETE)
            break;
        struct unit *u = malloc(sizeof *u);
        if (!u)
            fail(h, CL_OUT_OF_HOST_MEMORY);
        else
            runs = h->next_unit ? run_next(h, h->next_unit, u) : run_first(h, u);
        h->next_unit++;
    }
    has_served(h);
    bool in = enter();
    if (atomic_load(&h->status) != CL_COMPLETE && h->open)
        gs_real()->clSetUserEventStatus(h->open, atomic_load(&h->status)); /* fails where it is open already */
    if (h->units.free)
        h->units.free(h->units.work);
    drop(h);
    release_queues(&queues);
    leave(in);
}

static void *run_lane(void *arg)
{
    struct lane *l = arg;
    own_thread = true;
    for (;;) {
        pthread_mutex_lock(&l->lock);
        while (!l->head)
            pthread_cond_wait(&l->news, &l->lock);
        struct gs_held *h = l->head;
        l->head = h->next;
        if (!l->head)
            l->tail = &l->head;
        pthread_mutex_unlock(&l->lock);
        serve(h);
    }
    return NULL;
}

static bool start(struct lane *l)
{
    return l->started = l->started || gs_beside_start(NULL, run_lane, l);
}

static _Thread_local bool fails_here; /* what has failed is ended by this very thread */

/* The commands before have ended (or one of them failed: then so does this one). */
static void could_run(cl_event event, cl_int status, void *data)
{
    struct gs_held *h = data;
    (void)event;
    if (status < 0)
        fail(h, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    if (status < 0 && fails_here)
        serve(h);
    else
        push(h);
}

/* ---- holding back ---- */

cl_int gs_ended_event(struct gs_context *ctx)
{
    cl_int err = CL_SUCCESS;
    if (ctx->ended)
        return err;
    ctx->ended = gs_real()->clCreateUserEvent(ctx->o.handle, &err);
    return err ? err : gs_real()->clSetUserEventStatus(ctx->ended, CL_COMPLETE);
}

static cl_int add_end(struct gs_held *h, struct gs_context *ctx)
{
    cl_int err;
    h->end = gs_real()->clCreateUserEvent(ctx->o.handle, &err);
    if (err)
        return err;
    h->record = calloc(1, sizeof *h->record);
    if (!h->record)
        return CL_OUT_OF_HOST_MEMORY;
    h->record->user = true;
    pthread_mutex_init(&h->record->times_lock, NULL);
    gs_insert(&h->record->o, GS_EVENT, h->end, ctx);
    return CL_SUCCESS;
}

/* All of them or none. */
static cl_int retain_queues(const struct gs_held *h)
{
    struct queues kept = {.home = h->home};
    cl_int err = gs_real()->clRetainCommandQueue(h->home);
    if (err)
        return err;
    for (unsigned i = 0; i < GS_UNIT_QUEUES && h->units.queue[i] && !err; i++)
        if ((err = gs_real()->clRetainCommandQueue(h->units.queue[i])) == CL_SUCCESS)
            kept.unit[i] = h->units.queue[i];
    if (err)
        release_queues(&kept);
    return err;
}

/* The marker that tells when it could run. */
static cl_int mark(struct gs_held *h, struct gs_queue *q, cl_uint n_wait, const cl_event *wait)
{
    /* In an in-order queue a marker comes after all commands before it, whatever its wait list. */
    if (!n_wait && h->home == q->o.handle && q->out_of_order) {
        const cl_int err = gs_ended_event(q->o.ctx);
        if (err)
            return err;
        n_wait = 1;
        wait = &q->o.ctx->ended;
    }
    return gs_real()->clEnqueueMarkerWithWaitList(h->home, n_wait, n_wait ? wait : NULL, &h->ready);
}

static cl_int make(struct gs_held *h, struct gs_queue *q, bool marked, cl_uint n_wait, const cl_event *wait)
{
    cl_int err = marked ? mark(h, q, n_wait, wait) : CL_SUCCESS;
    if (!err && !h->taken)
        h->open = gs_real()->clCreateUserEvent(q->o.ctx->o.handle, &err);
    if (!err && h->units.n > 1)
        err = add_end(h, q->o.ctx);
    return err ? err : retain_queues(h);
}

/* The unit that was granted beforehand isn't used. */
static void give_untaken(struct gs_held *h)
{
    if (h->taken)
        gs_unit_give(&h->taken->grant);
    free(h->taken);
    h->taken = NULL;
}

/* Where it could not be made. */
static void unmake(struct gs_held *h)
{
    if (h->record)
        gs_drop(&h->record->o);
    release_event(h->end);
    release_event(h->open);
    release_event(h->ready);
    give_untaken(h);
    gs_spent_drop(h->units.spent);
    free(h);
}

/* The last of those under way in a queue. With open_lock held. */
static struct gs_held *last_in(cl_command_queue queue)
{
    struct gs_held *h = newest;
    while (h && h->home != queue)
        h = h->older;
    return h;
}

bool gs_is_last_held(cl_command_queue queue, cl_event event)
{
    pthread_mutex_lock(&open_lock);
    const struct gs_held *h = last_in(queue);
    const bool is = h && (event == h->first || event == h->end || event == h->tail);
    pthread_mutex_unlock(&open_lock);
    return is;
}

static bool waits_for_others(cl_command_queue queue, cl_uint n_wait, const cl_event *wait)
{
    for (cl_uint i = 0; i < n_wait; i++)
        if (gs_event_status(wait[i]) != CL_COMPLETE && !gs_is_last_held(queue, wait[i]))
            return true;
    return false;
}

/* With open_lock held. False: the last of those who used it has let it go, and is about to take it off the list. */
static bool hold(struct gs_held *h)
{
    int refs = atomic_load(&h->refs);
    while (refs && !atomic_compare_exchange_weak(&h->refs, &refs, refs + 1))
        ;
    return refs;
}

/* Comes it right after this one, on the same resource? With open_lock held. */
static bool is_next(const struct gs_held *before, unsigned resource, unsigned call)
{
    return before && before->resource == resource && call - before->call <= 1;
}

/* Becomes part of the unit of the command before it, if that may be. It is granted already, or stands behind the gate
 * that will be opened when it is. */
static struct gs_held *join(cl_command_queue queue, unsigned resource, unsigned call, uint64_t kind)
{
    const uint64_t now = gs_now_ns();
    /* A unit of its own would stand behind a gate, which NVIDIA's driver is slow with. */
    const bool own_out = gs_unit_own_out(resource);
    pthread_mutex_lock(&open_lock);
    struct gs_held *h = last_in(queue);
    const uint64_t most_ns = own_out && h && h->granted_ns ? GS_BATCH_ALONE_NS : GS_BATCH_NS;
    const bool may = is_next(h, resource, call) && h->units.n == 1 && !h->closed &&
                     (!h->granted_ns || now < h->granted_ns + most_ns) &&
                     gs_batch_add(&h->batch, kind, most_ns, &h->closed) && hold(h);
    if (may) {
        h->joining = true;
        h->joined_ns = now;
        h->call = call;
    }
    pthread_mutex_unlock(&open_lock);
    return may ? h : NULL;
}

/* The one that has joined is enqueued, as `event`, which is taken over, or without one; or the driver has refused it.
 */
static void joined(struct gs_held *h, bool enqueued, cl_event event)
{
    cl_event old = NULL;
    pthread_mutex_lock(&open_lock);
    h->joining = false;
    if (enqueued && h->loose != !event)
        gs_job_loose(event ? -1 : 1);
    if (enqueued)
        h->loose = !event;
    if (event) {
        old = h->tail;
        h->tail = event;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&open_lock);
    release_event(old);
    drop(h);
}

/* Units whose ends have not been seen yet, though they may have come: they are looked at now. Those that need
 * `resource`, or those in `queue`. */
static void look_at_ends(unsigned resource, cl_command_queue queue)
{
    enum { MOST = 4, LOOKED_AT = 16 }; /* what is under way is among the oldest: the others stand behind gates */
    const void *units[MOST];
    unsigned n = 0, seen = 0;
    pthread_mutex_lock(&open_lock);
    for (struct gs_held *h = oldest; h && n < MOST && seen < LOOKED_AT; h = h->newer, seen++)
        if (h->awaited[0] && h->units.n == 1 && (queue ? h->home == queue : h->resource == resource))
            units[n++] = h->awaited[0];
    pthread_mutex_unlock(&open_lock);
    while (n)
        gs_ends_now(units[--n]);
}

static bool try_unit(struct gs_held *h)
{
    if (gs_unit_try(h->resource, &h->taken->grant))
        return true;
    look_at_ends(h->resource, NULL);
    return gs_unit_try(h->resource, &h->taken->grant);
}

/* Takes the first unit beforehand, where the command could run now and the unit is there. It stands behind nothing but
 * units of ours that are running. Returns whether there is need for a marker that tells when it could run. */
static bool take_now(struct gs_held *h, const struct gs_queue *q)
{
    pthread_mutex_lock(&open_lock);
    const struct gs_held *before = h->may_chain ? last_in(h->home) : NULL;
    /* A call may consist of several commands, or another thread's has come meanwhile: nothing waits behind a gate. */
    const bool idle = h->may_chain && h->home == q->o.handle && is_drained(q, h->call) && (!before || before->served);
    h->chained = !idle && is_next(before, h->resource, h->call);
    const bool behind_served = h->chained && before->served;
    pthread_mutex_unlock(&open_lock);
    if ((idle || behind_served) && (h->taken = calloc(1, sizeof *h->taken)) && !try_unit(h)) {
        free(h->taken);
        h->taken = NULL;
    }
    return !idle && (!h->chained || h->units.n > 1);
}

cl_int gs_hold_back(struct gs_queue *q, cl_command_queue queue, unsigned resource, cl_uint n_wait, const cl_event *wait,
                    const struct gs_units *units, struct gs_held **held, cl_event *gate)
{
    static const struct gs_units one = {.n = 1};
    pthread_once(&lanes_once, set_up);
    const unsigned call = atomic_load(&q->calls);
    const bool may_chain = !(queue == q->o.handle && q->out_of_order) && !waits_for_others(queue, n_wait, wait);
    units = units ? units : &one;
    *gate = NULL;
    *held = may_chain && queue == q->o.handle && units->n == 1 && units->kind ? join(queue, resource, call, units->kind)
                                                                              : NULL;
    if (*held)
        return CL_SUCCESS;
    gs_queue_close(queue);
    struct gs_held *h = calloc(1, sizeof *h);
    if (!h)
        return CL_OUT_OF_HOST_MEMORY;
    atomic_init(&h->refs, 1);
    h->units = *units;
    if (h->units.spent)
        atomic_fetch_add(&h->units.spent->refs, 1);
    h->closed = true;
    if (h->units.n == 1)
        gs_batch_add(&h->batch, h->units.kind, GS_BATCH_NS, &h->closed);
    h->closed |= queue != q->o.handle;
    h->home = queue;
    h->resource = resource;
    h->call = call;
    h->may_chain = may_chain;
    const bool marked = take_now(h, q);
    const cl_int err = make(h, q, marked, n_wait, wait);
    if (err) {
        unmake(h);
        return err;
    }
    if (queue == q->o.handle && !q->out_of_order && (h->drained = drained_of(q)))
        atomic_fetch_add(&h->drained->refs, 1);
    h->label = gs_label_now();
    *held = h;
    *gate = h->open;
    return CL_SUCCESS;
}

void gs_hold_drop(struct gs_held *h)
{
    if (h->joining) {
        joined(h, false, NULL);
        return;
    }
    const struct queues queues = queues_of(h);
    give_untaken(h);
    drop(h);
    release_queues(&queues);
}

/* All that this call and those before it have enqueued there has ended. */
static void close_ended(cl_command_queue queue, unsigned call)
{
    pthread_mutex_lock(&open_lock);
    struct gs_held *h = last_in(queue);
    if (h && h->units.n == 1 && !h->joining && !h->loose && (int)(h->call - call) <= 0)
        h->closed = true;
    pthread_mutex_unlock(&open_lock);
}

void gs_queue_drained(struct gs_queue *q, unsigned call)
{
    pthread_mutex_lock(&q->o.ctx->lock);
    struct gs_drained *d = drained_of(q);
    if (d)
        has_drained(d, call);
    pthread_mutex_unlock(&q->o.ctx->lock);
    close_ended(q->o.handle, call);
    look_at_ends(0, q->o.handle);
}

void gs_queue_close(cl_command_queue queue)
{
    if (!gs_job_is_loose())
        return;
    pthread_mutex_lock(&open_lock);
    struct gs_held *h = last_in(queue);
    const bool open = h && h->units.n == 1 && (h->loose || h->joining) && hold(h);
    pthread_mutex_unlock(&open_lock);
    if (!open)
        return;
    close_unit(h);
    drop(h);
}

/* Waits for the last units of a command of several, once they are on their way, and sees to their ends: the thread that
 * looks for ends comes later, and a wait for the event that it then completes would come later still. */
static void await_units(struct gs_held *h)
{
    cl_event last[GS_UNIT_QUEUES + 1];
    const void *units[GS_AWAITED];
    cl_uint n = 0;
    pthread_mutex_lock(&open_lock);
    while (!h->served)
        pthread_cond_wait(&changed, &open_lock);
    last[n++] = h->first;
    for (unsigned i = 0; i < GS_UNIT_QUEUES; i++)
        if (h->last[i])
            last[n++] = h->last[i];
    pthread_mutex_unlock(&open_lock);
    if (atomic_load(&h->status) == CL_COMPLETE)
        gs_real()->clWaitForEvents(n, last); /* as long as it is held they are */
    pthread_mutex_lock(&open_lock);
    memcpy(units, h->awaited, sizeof units);
    pthread_mutex_unlock(&open_lock);
    for (unsigned i = 0; i < GS_AWAITED; i++)
        if (units[i])
            gs_ends_now(units[i]);
}

bool gs_queue_await(struct gs_queue *q, bool of_several)
{
    cl_event last = NULL;
    pthread_mutex_lock(&q->o.ctx->lock); /* who changes what comes last has it */
    const unsigned call = atomic_load(&q->calls);
    pthread_mutex_lock(&open_lock);
    struct gs_held *h = last_in(q->o.handle);
    const bool idle = is_drained(q, call) && (!h || h->served);
    const bool known = !idle && h && (h->end || !of_several) && call - h->call <= 1 && hold(h);
    pthread_mutex_unlock(&open_lock);
    if (known && !h->end)
        close_unit(h); /* so that its last event stays the last */
    if (known)
        gs_real()->clRetainEvent(last = h->end ? h->end : h->tail ? h->tail : h->first);
    pthread_mutex_unlock(&q->o.ctx->lock);
    if (!known)
        return idle;
    if (h->end)
        await_units(h);
    drop(h);
    gs_real()->clFlush(q->o.handle);
    gs_real()->clWaitForEvents(1, &last); /* however it ends */
    gs_real()->clReleaseEvent(last);
    gs_queue_drained(q, call);
    return true;
}

/* Puts it into the list. What comes right after another of the same queue and resource needs not wait for that one's
 * end to ask for its first unit, which the driver won't begin before: so that this is queued when the other's last one
 * ends. True: the other's end of service sees to it. */
static bool enlist(struct gs_held *h)
{
    pthread_mutex_lock(&open_lock);
    struct gs_held *before = last_in(h->home);
    const bool follows = h->chained && before && !h->taken && !before->served && !before->follower;
    if (before)
        before->closed = true;
    if (follows)
        before->follower = h;
    h->older = newest;
    if (newest)
        newest->newer = h;
    else
        oldest = h;
    newest = h;
    pthread_mutex_unlock(&open_lock);
    return follows;
}

/* Its unit is granted: there is nothing to wait for but its end. */
static void run_taken(struct gs_held *h)
{
    struct unit *u = h->taken;
    h->taken = NULL;
    h->next_unit = 1;
    watch(h, u, NULL, h->first);
    if (h->units.n > 1)
        push(h);
    else
        serve(h);
}

static void give_over(struct gs_held *h)
{
    struct lane *l = &lanes[h->resource];
    pthread_mutex_lock(&l->lock);
    const bool started = start(l);
    pthread_mutex_unlock(&l->lock);
    if (!started) /* a process without room for a thread: no schedule, then */
        gs_debug("no thread could be started to schedule commands");
    if (enlist(h))
        return;
    if (h->taken)
        run_taken(h);
    else if (h->chained || !h->ready || !started)
        push(h);
    else if (!gs_await_end(h->ready, could_run, h))
        could_run(h->ready, CL_COMPLETE, h);
}

bool gs_wants_event(const struct gs_held *h)
{
    return !h->joining || h->closed;
}

/* One that has joined another's unit needs nothing of its own, unless it is the last: that one tells of the unit's end,
 * or the marker that comes in its place. They are sent off by whoever comes next, or looks. */
static void let_go_joined(struct gs_held *h, cl_event event, cl_event *end)
{
    cl_command_queue home = h->home;
    const bool last = h->closed;
    if (end)
        gs_real()->clRetainEvent(*end = event);
    if (last) /* it may have ended before this returns */
        gs_real()->clRetainCommandQueue(home);
    if (event)
        gs_job_replace(h->tail ? h->tail : h->first, event);
    joined(h, true, event);
    if (last) {
        gs_real()->clFlush(home);
        gs_real()->clReleaseCommandQueue(home);
    }
}

void gs_let_go(struct gs_held *h, cl_event first, cl_event *end)
{
    cl_command_queue home = h->home;
    if (h->joining) {
        let_go_joined(h, first, end);
        return;
    }
    const bool sends = h->closed || !h->taken;
    cl_event own = h->end ? h->end : first;
    if (end)
        gs_real()->clRetainEvent(*end = own);
    gs_job_add(own);
    gs_real()->clRetainCommandQueue(home);
    h->first = first;
    h->joined_ns = gs_now_ns();
    give_over(h);
    if (sends)
        gs_real()->clFlush(home);
    gs_real()->clReleaseCommandQueue(home);
}

cl_int gs_run_units(struct gs_queue *q, cl_command_queue queue, unsigned resource, cl_uint n_wait, const cl_event *wait,
                    const struct gs_units *units, cl_event *end)
{
    struct gs_held *held;
    cl_event gate, first;
    wait = n_wait ? wait : NULL;
    cl_int err = gs_hold_back(q, queue, resource, n_wait, wait, units, &held, &gate);
    if (err)
        return err;
    err = units->enqueue(units->work, 0, queue, gate ? 1 : n_wait, gate ? &gate : wait, &first);
    if (err)
        gs_hold_drop(held);
    else
        gs_let_go(held, first, end);
    return err;
}

void gs_held_fail(void)
{
    fails_here = true;
    gs_ends_failures();
    fails_here = false;
}
