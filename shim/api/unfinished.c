/* SPDX-License-Identifier: MIT */
#include "shim/api/unfinished.h"

#include <sched.h>
#include <stdlib.h>

#include "shim/process/threads.h"
#include "shim/driver/enqueue.h"
#include "shim/order/callbacks.h"

enum { MOST_QUEUES = 64 };

struct unended {
    cl_command_queue queue[MOST_QUEUES]; /* retained */
    unsigned n;
    atomic_bool begun; /* the thread is inside, or won't be */
    atomic_bool done;  /* or begun, by a thread before */
};

/* Not where a command may wait for the application, which won't come any more. */
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

void gs_unfinished_await(struct gs_context *contexts)
{
    static struct unended unended; /* the process ends once */
    if (!contexts || !gs_group()->pocl || gs_in_callback() || atomic_exchange(&unended.done, true))
        return;
    for (struct gs_context *c = contexts; c; c = c->next)
        add_queues(&unended, c);
    if (unended.n && gs_threads_start("gs-unended", NULL, finish, &unended))
        while (!atomic_load(&unended.begun))
            sched_yield();
}
