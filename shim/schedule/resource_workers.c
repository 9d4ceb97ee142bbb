/* SPDX-License-Identifier: MIT */
/* See deferred.h, section resource_workers.c. */
#include "shim/schedule/deferred.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/order/completion.h"

/* Commands that could run now, one list for each resource, with a thread, which is started before a daemon is joined;
 * or on first need, without a daemon. */
struct worker {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t news;
    struct gs_deferred *head, **tail;
    /* A call has asked for the first unit of `asker`, and waits, or is about to give the worker that command. A request
     * that the call leaves open serves the next unit that the worker takes, of whichever command: so no grant is wasted
     * while the worker waits for another. */
    const struct gs_deferred *asker;
    struct gs_request asked;
    atomic_bool started; /* also without the lock */
};
static struct {
    struct worker of[GS_MAX_RESOURCES];
    pthread_once_t once;
} workers = {.once = PTHREAD_ONCE_INIT};

static _Thread_local bool serves; /* the thread is a worker */

/* The process must not end while a thread of ours is in the driver. Once it ends, a worker sleeps here; another thread,
 * perhaps the one that ends the process, goes on. True: leave_driver(true) must follow. */
static bool enter_driver(void)
{
    if (!serves)
        return gs_threads_serve();
    gs_threads_serve_wait();
    return true;
}

static void leave_driver(bool in)
{
    if (in)
        gs_threads_served();
}

static void set_up(void)
{
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++) {
        pthread_mutex_init(&workers.of[r].lock, NULL);
        gs_rank_lock(&workers.of[r].lock, GS_RANK_WORKER);
        pthread_cond_init(&workers.of[r].news, NULL);
        workers.of[r].tail = &workers.of[r].head;
    }
    gs_threads_register();
}

/* The open request that a call has left, if any. With the worker's lock held. */
static struct gs_request take_asked(struct worker *l)
{
    const struct gs_request asked = l->asked;
    l->asked.open = false;
    return asked;
}

static void take_unit(struct gs_unit *u, unsigned resource)
{
    struct worker *l = &workers.of[resource];
    pthread_mutex_lock(&l->lock);
    while (l->asker)
        pthread_cond_wait(&l->news, &l->lock);
    struct gs_request asked = take_asked(l);
    pthread_mutex_unlock(&l->lock);
    gs_unit_take(u, resource, &asked);
}

static bool run_first(struct gs_deferred *h)
{
    take_unit(h->unit, h->units.resource);
    gs_unit_on(h->unit, GS_UNIT_SUBMIT);
    bool in = enter_driver();
    const cl_int err = gs_event_end(h->open, CL_COMPLETE);
    gs_unit_watch(h, h->unit, h->first);
    leave_driver(in);
    return err == CL_SUCCESS;
}

/* Takes the unit queues in turns: a chunk leaves part of a GPU idle while its last work-groups run, and the next chunk,
 * in another queue, fills that part. (On an H200 a launch of work-groups of 64 took 14 % longer in chunks by one queue,
 * 0.1 % by two.) Grants stay as many. */
static cl_command_queue queue_of(const struct gs_deferred *h, unsigned i)
{
    cl_command_queue queue = h->units.more[i % GS_UNIT_QUEUES];
    return queue ? queue : h->units.more[0];
}

/* Tries a refused unit twice: after the first unit, only the command's event can tell the application of an error. */
static cl_int enqueue_unit(const struct gs_deferred *h, unsigned i, cl_command_queue queue, cl_event *event)
{
    GS_NOTE("enqueue %p %d", (const void *)&h->unit[i], h->ready ? (int)gs_event_status(h->ready) : CL_COMPLETE);
    const cl_int err = h->units.enqueue(h->units.work, i, queue, 0, NULL, event);
    return err ? h->units.enqueue(h->units.work, i, queue, 0, NULL, event) : err;
}

/* Enqueues unit i, which is granted. */
static bool enqueue_next(struct gs_deferred *h, unsigned i)
{
    struct gs_unit *u = &h->unit[i];
    cl_event event;
    gs_label = h->label;
    gs_unit_on(u, GS_UNIT_SUBMIT);
    cl_command_queue queue = queue_of(h, i);
    const cl_int err = enqueue_unit(h, i, queue, &event);
    if (!err) {
        gs_unit_watch(h, u, event);
        gs_real()->clFlush(queue);
        gs_real()->clReleaseEvent(event);
    } else {
        gs_unit_on(u, GS_UNIT_FAILS);
        gs_deferred_set_error(h, err);
    }
    return !err;
}

static bool run_next(struct gs_deferred *h, unsigned i)
{
    bool in = enter_driver();
    if (i == 1 && h->units.kernel && gs_group()->pocl) /* which may compile within the first chunk: docs/drivers.md */
        gs_real()->clWaitForEvents(1, &h->first);
    leave_driver(in);
    take_unit(&h->unit[i], h->units.resource);
    in = enter_driver();
    const bool runs = enqueue_next(h, i);
    leave_driver(in);
    return runs;
}

static void serve(struct gs_deferred *h);

/* Puts the command at the end of its worker's list. Without a worker the command goes now, in this thread. */
static void push(struct gs_deferred *h)
{
    struct worker *l = &workers.of[h->units.resource];
    h->next = NULL;
    pthread_mutex_lock(&l->lock);
    const bool listed = l->started;
    if (listed) {
        *l->tail = h;
        l->tail = &h->next;
        l->asker = l->asker == h ? NULL : l->asker;
        pthread_cond_signal(&l->news);
    }
    pthread_mutex_unlock(&l->lock);
    if (!listed)
        serve(h);
}

/* `ready` has this status. If a command before has failed, this command fails. */
static void note_ready(struct gs_deferred *h, cl_int status)
{
    GS_NOTE("behind %p %d", (void *)h, status);
    if (status < 0)
        gs_deferred_set_error(h, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

static void could_run(cl_event event, cl_int status, void *data)
{
    (void)event;
    note_ready(data, status);
    push(data);
}

/* Must the command's next unit wait for the commands before? Then could_run goes on with the command. */
static bool awaits_ready(struct gs_deferred *h)
{
    if (h->next_unit != h->ready_at)
        return false;
    h->ready_at = h->units.n;
    const cl_int status = gs_event_status(h->ready);
    if (status > CL_COMPLETE && gs_await_end(h->ready, NULL, NULL, could_run, h))
        return true;
    if (status > CL_COMPLETE && h->next_unit) /* no memory. (Behind its gate the first unit is in its place.) */
        gs_real()->clWaitForEvents(1, &h->ready);
    note_ready(h, status);
    return false;
}

/* All commands before in the queue are served: begins the command, now or when `ready` ends. */
static void stand_first(struct gs_deferred *h)
{
    if (!awaits_ready(h))
        push(h);
}

static void has_served(struct gs_deferred *h)
{
    pthread_mutex_lock(&gs_deferred_list.lock);
    gs_deferred_to(h, GS_SERVED);
    if (atomic_load(&h->status) != CL_COMPLETE)
        gs_share_on(h, GS_SHARE_CLOSE);
    struct gs_deferred *follower = h->follower;
    h->follower = NULL;
    gs_deferred_fail_with(h, follower);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (!follower)
        return;
    bool in = enter_driver();
    stand_first(follower);
    leave_driver(in);
}

static void serve(struct gs_deferred *h)
{
    bool runs = atomic_load(&h->status) == CL_COMPLETE;
    for (; h->next_unit < h->units.n && runs; h->next_unit++) {
        if (awaits_ready(h))
            return;
        runs = atomic_load(&h->status) == CL_COMPLETE && (h->next_unit ? run_next(h, h->next_unit) : run_first(h));
    }
    has_served(h);
    bool in = enter_driver();
    /* Both come before the command's end: whoever sees the end may free the memory, or make a sub-buffer over one that
     * is held here. */
    if (atomic_load(&h->status) != CL_COMPLETE && h->open && gs_event_status(h->open) != CL_COMPLETE)
        gs_event_end(h->open, atomic_load(&h->status));
    if (h->units.free)
        h->units.free(h->units.work);
    gs_deferred_done(h);
    gs_deferred_finish(h);
    leave_driver(in);
}

static void *run_worker(void *arg)
{
    struct worker *l = arg;
    serves = true;
    for (;;) {
        pthread_mutex_lock(&l->lock);
        while (!l->head && (l->asker || !l->asked.open))
            pthread_cond_wait(&l->news, &l->lock);
        struct gs_deferred *h = l->head;
        struct gs_request unused = {0};
        if (!h)
            unused = take_asked(l);
        else if (!(l->head = h->next))
            l->tail = &l->head;
        pthread_mutex_unlock(&l->lock);
        if (h)
            serve(h);
        else
            gs_unit_drop_request(&unused);
    }
    return NULL;
}

void gs_workers_set_up(void)
{
    pthread_once(&workers.once, set_up);
}

/* With the worker's lock held. */
static bool start(struct worker *l)
{
    return l->started = l->started || gs_threads_start("gs-worker", NULL, run_worker, l);
}

bool gs_workers_start(void)
{
    bool all = true;
    gs_workers_set_up();
    for (unsigned r = 0; r <= gs_group()->n && all; r++) { /* the link, and each place's */
        struct worker *l = &workers.of[r ? gs_resource_of(r - 1) : GS_RESOURCE_PCI];
        GS_LOCKED(&l->lock);
        all = start(l);
    }
    return all;
}

bool gs_worker_request(struct gs_deferred *h, uint64_t ns)
{
    struct worker *l = &workers.of[h->units.resource];
    pthread_mutex_lock(&l->lock);
    const bool asks = start(l) && !l->asker && !l->asked.open;
    if (asks)
        l->asker = h;
    pthread_mutex_unlock(&l->lock);
    if (!asks)
        return false;
    struct gs_request request;
    const bool granted = gs_unit_try_wait(h->unit, h->units.resource, ns, &request);
    pthread_mutex_lock(&l->lock);
    l->asked = request;
    pthread_mutex_unlock(&l->lock);
    if (!request.open)
        gs_worker_undo(h);
    return granted;
}

void gs_worker_undo(const struct gs_deferred *h)
{
    struct worker *l = &workers.of[h->units.resource];
    GS_LOCKED(&l->lock);
    if (l->asker == h) {
        l->asker = NULL;
        pthread_cond_signal(&l->news);
    }
}

/* Begins a command whose first unit is granted and enqueued. */
static void run_taken(struct gs_deferred *h)
{
    gs_unit_on(h->unit, GS_UNIT_SUBMIT);
    gs_unit_watch(h, h->unit, h->first);
    h->next_unit = 1;
    if (h->next_unit < h->units.n) {
        gs_real()->clFlush(h->units.queue); /* the first unit may begin */
        push(h);
    } else {
        serve(h);
    }
}

void gs_worker_take(struct gs_deferred *h)
{
    struct worker *l = &workers.of[h->units.resource];
    pthread_mutex_lock(&l->lock);
    const bool started = start(l);
    pthread_mutex_unlock(&l->lock);
    if (!started) { /* no thread can be had: commands go without a schedule, and wait within the queue */
        gs_debug("no thread could be started to schedule commands");
        h->ready_at = h->ready_at ? h->ready_at : 1;
    }
    struct gs_deferred *before = h->before;
    h->before = NULL;
    const bool follows = gs_deferred_insert(h);
    if (before)
        gs_deferred_drop(before);
    if (follows)
        return;
    if (gs_is_taken(h))
        run_taken(h);
    else
        stand_first(h);
}
