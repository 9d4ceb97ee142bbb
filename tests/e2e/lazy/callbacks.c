/* SPDX-License-Identifier: MIT */
#include "lazy.h"

#include <stdlib.h>
#include <time.h>

/* One of the application's callbacks, whose event has come so far. */
struct callback {
    struct callback *next;
    cl_event event; /* retained */
    cl_int status;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *data;
    uint64_t due_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below; a leaf */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static struct callback *first, **last = &first;
static bool started, delivering, over; /* delivering: the thread is within one */

static struct callback *take(bool due_only)
{
    struct callback *c = first;
    if (!c || (due_only && c->due_ns > lazy_now_ns()))
        return NULL;
    first = c->next;
    if (!first)
        last = &first;
    return c;
}

static void deliver(struct callback *c)
{
    lazy_driver_lock();
    lazy_see_all();
    lazy_in_callback++;
    c->call(c->event, c->status, c->data);
    lazy_in_callback--;
    lazy_driver_unlock();
    lazy_below.clReleaseEvent(c->event);
    free(c);
}

static void *serve(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first || over)
            pthread_cond_wait(&news, &lock);
        const uint64_t now = lazy_now_ns(), due = first->due_ns;
        struct callback *c = take(true);
        delivering = c != NULL;
        pthread_mutex_unlock(&lock);
        if (c)
            deliver(c);
        else
            lazy_sleep_us((unsigned)((due - now) / 1000) + 1);
        pthread_mutex_lock(&lock);
        delivering = false;
        pthread_cond_broadcast(&idle);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void lazy_callbacks_end(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1 + lazy.stuck_ms / 1000;
    pthread_mutex_lock(&lock);
    over = true;
    while (delivering && !lazy_in_callback && pthread_cond_timedwait(&idle, &lock, &until) == 0)
        ;
    pthread_mutex_unlock(&lock);
}

void lazy_callbacks_inside(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct callback *c = take(false);
        pthread_mutex_unlock(&lock);
        if (!c)
            return;
        deliver(c);
    }
}

/* From the driver below: on one of its threads, or on one that calls it. */
static void CL_CALLBACK came(cl_event event, cl_int status, void *data)
{
    struct callback *c = data;
    const unsigned most = lazy.inside ? 30 : lazy.late ? lazy.late_ms : 0;
    c->status = status;
    c->next = NULL;
    c->due_ns = lazy_now_ns() + (most ? (uint64_t)lazy_random(most * 1000) * 1000 : 0);
    pthread_mutex_lock(&lock);
    started = started || lazy_thread(serve);
    *last = c;
    last = &c->next;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
}

cl_int lazy_set_callback(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
    struct callback *c = call ? calloc(1, sizeof *c) : NULL;
    if (!c || lazy_below.clRetainEvent(event) != CL_SUCCESS) {
        free(c);
        return lazy_below.clSetEventCallback(event, type, call, data);
    }
    *c = (struct callback){.event = event, .call = call, .data = data};
    const cl_int err = lazy_below.clSetEventCallback(event, type, came, c);
    if (err) {
        lazy_below.clReleaseEvent(event);
        free(c);
    }
    return err;
}
