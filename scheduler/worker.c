/* SPDX-License-Identifier: MIT */
#include "scheduler/worker.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* No lock: a thread of ordinary priority that has one may be kept from the processor for long, and the daemon's with
 * it.
 */
struct gs_worker {
    pthread_t thread;
    _Atomic(struct gs_question *) question, answered;
    atomic_bool end;
    int give_fd, take_fd; /* counters of what was given and answered */
};

static void *work(void *arg)
{
    struct gs_worker *w = arg;
    eventfd_t n;
    while (eventfd_read(w->give_fd, &n) == 0 && !atomic_load(&w->end)) {
        struct gs_question *q = atomic_exchange(&w->question, NULL);
        if (!q)
            continue;
        gs_question_answer(q);
        atomic_store(&w->answered, q);
        eventfd_write(w->take_fd, 1);
    }
    return NULL;
}

/* The daemon's own thread takes the signals, and has the priority. */
int gs_worker_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, old;
    const struct sched_param plain = {0};
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    pthread_attr_setschedparam(&attr, &plain);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(thread, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return err;
}

static void free_worker(struct gs_worker *w)
{
    if (w->give_fd >= 0)
        close(w->give_fd);
    if (w->take_fd >= 0)
        close(w->take_fd);
    free(w);
}

struct gs_worker *gs_worker_start(void)
{
    struct gs_worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->give_fd = eventfd(0, EFD_CLOEXEC);
    w->take_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->give_fd >= 0 && w->take_fd >= 0 && gs_worker_thread(&w->thread, work, w) == 0)
        return w;
    free_worker(w);
    return NULL;
}

void gs_worker_end(struct gs_worker *w)
{
    if (!w)
        return;
    atomic_store(&w->end, true);
    eventfd_write(w->give_fd, 1);
    pthread_join(w->thread, NULL);
    free_worker(w);
}

int gs_worker_fd(const struct gs_worker *w)
{
    return w->take_fd;
}

void gs_worker_give(struct gs_worker *w, struct gs_question *q)
{
    atomic_store(&w->question, q);
    eventfd_write(w->give_fd, 1);
}

struct gs_question *gs_worker_take(struct gs_worker *w)
{
    eventfd_t n;
    eventfd_read(w->take_fd, &n);
    return atomic_exchange(&w->answered, NULL);
}

/* ---- files that others may have mapped ---- */

static atomic_uint emptying;

static void *empty(void *arg)
{
    const int fd = (int)(intptr_t)arg;
    if (ftruncate(fd, 0) < 0) {
        /* It stays for as long as somebody has it. */
    }
    close(fd);
    atomic_fetch_sub(&emptying, 1);
    return NULL;
}

void gs_worker_empty(int fd)
{
    pthread_t thread;
    atomic_fetch_add(&emptying, 1);
    if (gs_worker_thread(&thread, empty, (void *)(intptr_t)fd) == 0)
        pthread_detach(thread);
    else
        empty((void *)(intptr_t)fd);
}

unsigned gs_worker_emptying(void)
{
    return atomic_load(&emptying);
}
