/* SPDX-License-Identifier: MIT */
/* See completion.h, section callbacks.c, for why a thread of ours calls. Callbacks handed over are counted by
 * gs_threads_pending, so exit waits for them. Once the process ends, call() calls the application directly. */
#include "shim/order/completion.h"

#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "shim/process/threads.h"
#include "shim/record/objects.h"

struct callback {
    struct callback *next;
    void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
    void *data;
    cl_event event; /* retained, once the driver has called */
    cl_int status;
    bool running; /* asked for CL_RUNNING in a pooled context, whose commands' events never run */
};

static _Thread_local unsigned depth; /* > 0: in a callback that the driver calls directly */
static struct {
    atomic_bool ever;
    atomic_uint handed, called; /* callbacks handed over, and those that have returned */
    pthread_mutex_t lock;       /* all below. Under it the thread is started */
    pthread_cond_t news;
    struct callback *first, **last;
    bool started, closed; /* closed: the process ends */
} calling = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .last = &calling.first};
GS_RANKED(calling.lock, GS_RANK_CALLBACKS);

bool gs_in_callback(void)
{
    return depth;
}

bool gs_callbacks_used(void)
{
    return atomic_load(&calling.ever);
}

static void deliver(struct callback *c)
{
    c->notify(c->event, c->status, c->data);
    gs_real()->clReleaseEvent(c->event);
    free(c);
    atomic_fetch_add(&calling.called, 1);
}

/* A callback may wait for the thread that waits here: after a second nobody waits for callbacks any more. */
void gs_callbacks_await(void)
{
    enum { TRIES = 20000, PAUSE_US = 50 };
    static atomic_bool in_vain;
    const unsigned upto = atomic_load(&calling.handed);
    if (depth || gs_threads_own() || gs_forked() || atomic_load(&in_vain))
        return;
    for (int i = 0; (int)(upto - atomic_load(&calling.called)) > 0 && i <= TRIES; i++) {
        usleep(PAUSE_US);
        atomic_store(&in_vain, i == TRIES);
    }
}

static struct callback *take_callback(void)
{
    GS_LOCKED(&calling.lock);
    struct callback *c = calling.first;
    if (c && !(calling.first = c->next))
        calling.last = &calling.first;
    return c;
}

/* If the process begins to end meanwhile, its end waits for all callbacks handed over so far. */
static void *serve(void *unused)
{
    struct callback *c;
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&calling.lock);
        while (!calling.first)
            pthread_cond_wait(&calling.news, &calling.lock);
        pthread_mutex_unlock(&calling.lock);
        if (!gs_threads_serve())
            break;
        while ((c = take_callback())) {
            gs_threads_pending_done(); /* before: the callback may end the process */
            deliver(c);
        }
        gs_threads_served();
    }
    pthread_mutex_lock(&calling.lock);
    calling.closed = true;
    pthread_mutex_unlock(&calling.lock);
    while ((c = take_callback())) { /* a handler of exit() may wait for such a callback */
        deliver(c);
        gs_threads_pending_done();
    }
    return NULL;
}

/* False: the thread couldn't be started, has ended, or the process ends. */
static bool hand_over(struct callback *c)
{
    const bool pending = gs_threads_pending();
    pthread_mutex_lock(&calling.lock);
    if (!calling.started && !calling.closed)
        calling.started = gs_threads_start("gs-callbacks", NULL, serve, NULL);
    const bool taken = pending && calling.started && !calling.closed;
    if (taken) {
        c->next = NULL;
        *calling.last = c;
        calling.last = &c->next;
        atomic_fetch_add(&calling.handed, 1);
        pthread_cond_signal(&calling.news);
    }
    pthread_mutex_unlock(&calling.lock);
    if (!taken && pending)
        gs_threads_pending_done();
    return taken;
}

static void CL_CALLBACK call(cl_event event, cl_int status, void *data)
{
    struct callback *c = data;
    c->event = event;
    c->status = c->running && status == CL_COMPLETE ? CL_RUNNING : status;
    if (gs_real()->clRetainEvent(event) == CL_SUCCESS) {
        if (!gs_forked() && hand_over(c))
            return;
        gs_real()->clReleaseEvent(event);
    }
    depth++;
    c->notify(event, c->status, c->data);
    depth--;
    free(c);
}

cl_int gs_callbacks_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    /* Is it of a context of ours, whose lock the application may wait for in its callback? */
    const bool ours = notify && gs_group()->platform && gs_find(GS_CONTEXT, gs_event_context(event));
    struct callback *c = ours ? malloc(sizeof *c) : NULL;
    atomic_store(&calling.ever, true);
    if (!c)
        return gs_real()->clSetEventCallback(event, type, notify, data);
    const struct gs_event *e = gs_find(GS_EVENT, event);
    *c = (struct callback){.notify = notify, .data = data, .running = e && e->pooled && type == CL_RUNNING};
    const cl_int err = gs_real()->clSetEventCallback(event, c->running ? CL_COMPLETE : type, call, c);
    if (err)
        free(c);
    return err;
}
