/* SPDX-License-Identifier: MIT */
#include "shim/process/work_queue.h"

#include <pthread.h>
#include <stddef.h>

#include "common/lock/rank.h"

#include "shim/process/threads.h"

static struct {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t news;
    struct gs_work *head, *tail; /* no tail without a head */
    bool started;
} work = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};
GS_RANKED(work.lock, GS_RANK_WORK);

/* Once the end of the process has begun, too. */
static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&work.lock);
        while (!work.head)
            pthread_cond_wait(&work.news, &work.lock);
        struct gs_work *first = work.head;
        work.head = first->next;
        pthread_mutex_unlock(&work.lock);
        const bool inside = gs_threads_enter();
        if (!inside)
            gs_threads_serve_wait();
        first->run(first);
        if (inside)
            gs_threads_leave();
        else
            gs_threads_served();
    }
    return NULL;
}

/* With the lock held. */
static bool is_started(void)
{
    return work.started = work.started || gs_threads_start("gs-carrier", NULL, serve, NULL);
}

bool gs_work_is_done(void)
{
    pthread_mutex_lock(&work.lock);
    const bool started = is_started();
    pthread_mutex_unlock(&work.lock);
    return started;
}

void gs_work_add(struct gs_work *one)
{
    pthread_mutex_lock(&work.lock);
    const bool taken = is_started();
    if (taken) {
        one->next = NULL;
        *(work.head ? &work.tail->next : &work.head) = one;
        work.tail = one;
        pthread_cond_signal(&work.news);
    }
    pthread_mutex_unlock(&work.lock);
    if (!taken)
        one->run(one);
}
