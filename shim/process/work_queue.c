/* SPDX-License-Identifier: MIT */
#include "shim/process/work_queue.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/lock/rank.h"

#include "shim/process/threads.h"
#include "shim/process/process.h"

struct work_list {
    const char *name;
    pthread_cond_t news;
    struct gs_work *head, *tail; /* no tail without a head */
    bool started;
    bool serves; /* once the end of the process has begun, too: threads inside the driver wait for what it does */
};

static struct {
    pthread_mutex_t lock; /* all below */
    bool closed;          /* the process ends, and whoever has work does it, but for what a list serves */
    struct work_list of[GS_WORK_THREADS];
} work = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .of = {[GS_WORK_LATER] = {"gs-later", PTHREAD_COND_INITIALIZER, NULL, NULL, false, false},
                 [GS_WORK_CARRIER] = {"gs-carrier", PTHREAD_COND_INITIALIZER, NULL, NULL, false, true}}};
GS_RANKED(work.lock, GS_RANK_WORK);

static bool is_closed(const struct work_list *list)
{
    return work.closed && !list->serves;
}

/* With the lock held, which is given up meanwhile. */
static void do_first(struct work_list *list)
{
    struct gs_work *first = list->head;
    list->head = first->next;
    pthread_mutex_unlock(&work.lock);
    first->run(first);
    pthread_mutex_lock(&work.lock);
}

static void *serve(void *arg)
{
    struct work_list *list = arg;
    pthread_mutex_lock(&work.lock);
    while (!is_closed(list)) {
        while (!list->head && !is_closed(list))
            pthread_cond_wait(&list->news, &work.lock);
        const bool inside = gs_threads_enter();
        if (!inside) {
            if (!list->serves)
                break;
            pthread_mutex_unlock(&work.lock);
            gs_threads_serve_wait();
            pthread_mutex_lock(&work.lock);
        }
        if (list->head && !is_closed(list))
            do_first(list);
        if (inside)
            gs_threads_leave();
        else
            gs_threads_served();
    }
    pthread_mutex_unlock(&work.lock);
    return NULL;
}

/* The application's own handlers of exit() may wait for what comes after the work. */
static void finish(void)
{
    if (gs_forked())
        return;
    pthread_mutex_lock(&work.lock);
    work.closed = true;
    for (int i = 0; i < GS_WORK_THREADS; i++) {
        pthread_cond_signal(&work.of[i].news);
        while (work.of[i].head && is_closed(&work.of[i]))
            do_first(&work.of[i]);
    }
    pthread_mutex_unlock(&work.lock);
}

/* With the lock held. */
static bool is_started(struct work_list *list)
{
    static bool registered;
    if (is_closed(list) || list->started)
        return !is_closed(list);
    list->started = gs_threads_start(list->name, NULL, serve, list);
    if (list->started && !registered)
        registered = atexit(finish) == 0; /* before gs_threads_start's, which was registered earlier */
    return list->started;
}

bool gs_work_is_done(enum gs_work_thread thread)
{
    pthread_mutex_lock(&work.lock);
    const bool started = is_started(&work.of[thread]);
    pthread_mutex_unlock(&work.lock);
    return started;
}

void gs_work_add(enum gs_work_thread thread, struct gs_work *one)
{
    struct work_list *list = &work.of[thread];
    const bool ends = !gs_threads_enter(); /* a thread would do nothing any more, and `finish` come too late */
    pthread_mutex_lock(&work.lock);
    work.closed = work.closed || ends;
    const bool taken = is_started(list);
    if (taken) {
        one->next = NULL;
        *(list->head ? &list->tail->next : &list->head) = one;
        list->tail = one;
        pthread_cond_signal(&list->news);
    }
    pthread_mutex_unlock(&work.lock);
    if (!ends)
        gs_threads_leave();
    if (!taken)
        one->run(one);
}
