/* SPDX-License-Identifier: MIT */
#include "scheduler/errands.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler/worker.h"

static void push(_Atomic(struct gs_errand *) *list, struct gs_errand *e)
{
    e->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &e->next, e))
        ;
}

/* All, the first one first. */
static struct gs_errand *take_all(_Atomic(struct gs_errand *) *list)
{
    struct gs_errand *first = NULL;
    for (struct gs_errand *next, *e = atomic_exchange(list, NULL); e; e = next) {
        next = e->next;
        e->next = first;
        first = e;
    }
    return first;
}

/* ---- the threads ---- */

static void *do_errands(void *arg)
{
    struct gs_errander *self = arg;
    eventfd_t n;
    while (eventfd_read(self->wake, &n) == 0)
        for (struct gs_errand *next, *e = take_all(&self->asked); e; e = next) {
            next = e->next;
            e->run(e);
            push(&self->all->done, e);
            eventfd_write(self->all->done_fd, 1);
        }
    return NULL;
}

/* ---- the daemon's side ---- */

int gs_errands_start(struct gs_errands *all)
{
    all->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    return all->done_fd < 0 ? -errno : all->done_fd;
}

static bool start_thread(struct gs_errands *all, bool named)
{
    struct gs_errander *t = &all->thread[named][all->threads[named]];
    *t = (struct gs_errander){.all = all, .wake = eventfd(0, EFD_CLOEXEC)};
    if (t->wake >= 0 && gs_worker_thread(&t->thread, do_errands, t) == 0) {
        pthread_detach(t->thread);
        all->threads[named]++;
        return true;
    }
    if (t->wake >= 0)
        close(t->wake);
    return false;
}

/* The user's own, if it has something to do; else one that hasn't, or a new one; else another user's. */
static struct gs_errander *find_thread(struct gs_errands *all, const struct gs_errand_of *whom)
{
    struct gs_errander *of = all->thread[whom->named], *idle = NULL;
    unsigned *const n = &all->threads[whom->named];
    for (unsigned i = 0; i < *n; i++) {
        if (of[i].waiting && of[i].uid == whom->uid)
            return &of[i];
        if (!of[i].waiting)
            idle = &of[i];
    }
    if (!idle && *n < GS_ERRAND_THREADS && start_thread(all, whom->named))
        idle = &of[*n - 1];
    if (idle)
        idle->uid = whom->uid;
    return idle || *n == 0 ? idle : &of[whom->uid % *n];
}

static void have_priority(struct gs_errander *t, int priority)
{
    if (t->waiting ? t->priority >= priority : t->priority == priority)
        return;
    const struct sched_param p = {.sched_priority = priority};
    if (pthread_setschedparam(t->thread, priority ? SCHED_FIFO : SCHED_OTHER, &p) == 0)
        t->priority = priority;
}

bool gs_errands_ask(struct gs_errands *all, struct gs_errand *errand, const struct gs_errand_of *whom)
{
    struct gs_errander *t = find_thread(all, whom);
    if (!t || (t->waiting >= GS_ERRANDS_OF_ONE && !whom->must))
        return false;
    have_priority(t, whom->priority);
    t->waiting++;
    errand->by = t;
    push(&t->asked, errand);
    eventfd_write(t->wake, 1);
    return true;
}

struct gs_errand *gs_errands_take(struct gs_errands *all)
{
    eventfd_t n;
    if (eventfd_read(all->done_fd, &n) < 0)
        return NULL;
    if (!all->taken)
        all->taken = take_all(&all->done);
    struct gs_errand *first = all->taken;
    if (first) {
        all->taken = first->next;
        first->by->waiting--;
    }
    return first;
}
