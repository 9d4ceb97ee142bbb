/* SPDX-License-Identifier: MIT */
#include "shim/later.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "shim/dispatch.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct gs_work *head, **tail = &head;
static bool started;

static void do_it(struct gs_work *work)
{
    gs_driver_enter();
    work->run(work);
    gs_driver_leave();
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!head)
            pthread_cond_wait(&news, &lock);
        struct gs_work *work = head;
        head = work->next;
        if (!head)
            tail = &head;
        pthread_mutex_unlock(&lock);
        do_it(work);
    }
    return NULL;
}

/* The application's signals are for its own threads. With the lock held. */
static bool start(void)
{
    sigset_t all, old;
    pthread_t thread;
    if (started)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    started = pthread_create(&thread, NULL, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

void gs_later(struct gs_work *work)
{
    pthread_mutex_lock(&lock);
    const bool taken = start();
    if (taken) {
        work->next = NULL;
        *tail = work;
        tail = &work->next;
        pthread_cond_signal(&news);
    }
    pthread_mutex_unlock(&lock);
    if (!taken)
        do_it(work);
}
