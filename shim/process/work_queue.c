/* SPDX-License-Identifier: MIT */
#include "shim/process/work_queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/lock/rank.h"

#include "shim/process/threads.h"
#include "shim/process/process.h"

static struct {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t news;
    struct gs_work *head, **tail;
    bool started, closed; /* closed: the process ends, and whoever has work does it */
} work_list = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .tail = &work_list.head};
GS_RANKED(work_list.lock, GS_RANK_WORK);

/* With the lock held, which is given up meanwhile. */
static void do_first(void)
{
    struct gs_work *work = work_list.head;
    work_list.head = work->next;
    if (!work_list.head)
        work_list.tail = &work_list.head;
    pthread_mutex_unlock(&work_list.lock);
    work->run(work);
    pthread_mutex_lock(&work_list.lock);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&work_list.lock);
    while (!work_list.closed) {
        while (!work_list.head && !work_list.closed)
            pthread_cond_wait(&work_list.news, &work_list.lock);
        if (!gs_threads_enter())
            break;
        if (work_list.head && !work_list.closed)
            do_first();
        gs_threads_leave();
    }
    pthread_mutex_unlock(&work_list.lock);
    return NULL;
}

/* The application's own handlers of exit() may wait for what comes after the work. */
static void finish(void)
{
    if (gs_forked())
        return;
    pthread_mutex_lock(&work_list.lock);
    work_list.closed = true;
    pthread_cond_signal(&work_list.news);
    while (work_list.head)
        do_first();
    pthread_mutex_unlock(&work_list.lock);
}

void gs_work_add(struct gs_work *work)
{
    const bool ends = !gs_threads_enter(); /* a thread would do nothing any more, and `finish` come too late */
    pthread_mutex_lock(&work_list.lock);
    work_list.closed = work_list.closed || ends;
    if (!work_list.started && !work_list.closed) {
        work_list.started = gs_threads_start("gs-later", NULL, serve, NULL);
        if (work_list.started)
            atexit(finish); /* before gs_threads_start's, which was registered earlier */
    }
    const bool taken = work_list.started && !work_list.closed;
    if (taken) {
        work->next = NULL;
        *work_list.tail = work;
        work_list.tail = &work->next;
        pthread_cond_signal(&work_list.news);
    }
    pthread_mutex_unlock(&work_list.lock);
    if (!ends)
        gs_threads_leave();
    if (!taken)
        work->run(work);
}
