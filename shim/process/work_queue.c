/* SPDX-License-Identifier: MIT */
#include "shim/process/work_queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/lock/rank.h"

#include "shim/process/threads.h"
#include "shim/process/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
GS_RANKED(lock, GS_RANK_WORK);
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct gs_work *head, **tail = &head;
static bool started, closed; /* closed: the process ends, and whoever has work does it */

/* With the lock held, which is given up meanwhile. */
static void do_first(void)
{
    struct gs_work *work = head;
    head = work->next;
    if (!head)
        tail = &head;
    pthread_mutex_unlock(&lock);
    work->run(work);
    pthread_mutex_lock(&lock);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!closed) {
        while (!head && !closed)
            pthread_cond_wait(&news, &lock);
        if (!gs_threads_enter())
            break;
        if (head && !closed)
            do_first();
        gs_threads_leave();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* The application's own handlers of exit() may wait for what comes after the work. */
static void finish(void)
{
    if (gs_forked())
        return;
    pthread_mutex_lock(&lock);
    closed = true;
    pthread_cond_signal(&news);
    while (head)
        do_first();
    pthread_mutex_unlock(&lock);
}

void gs_work_add(struct gs_work *work)
{
    const bool ends = !gs_threads_enter(); /* a thread would do nothing any more, and `finish` come too late */
    pthread_mutex_lock(&lock);
    closed = closed || ends;
    if (!started && !closed) {
        started = gs_threads_start("gs-later", NULL, serve, NULL);
        if (started)
            atexit(finish); /* before gs_threads_start's, which was registered earlier */
    }
    const bool taken = started && !closed;
    if (taken) {
        work->next = NULL;
        *tail = work;
        tail = &work->next;
        pthread_cond_signal(&news);
    }
    pthread_mutex_unlock(&lock);
    if (!ends)
        gs_threads_leave();
    if (!taken)
        work->run(work);
}
