/* SPDX-License-Identifier: MIT */
/* Callbacks come from a thread, some time after the command. */
#include "graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct callback {
    struct callback *next;
    cl_event event;
    cl_int type;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *data;
    unsigned id, left; /* looks */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list; a leaf */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct callback *callbacks;
static bool started;

/* One whose time has come; out of the list. */
static struct callback *take_due(void)
{
    for (struct callback **at = &callbacks; *at; at = &(*at)->next) {
        struct callback *c = *at;
        if (c->left && --c->left)
            continue;
        if (graph_status(c->event) > CL_COMPLETE)
            continue;
        *at = c->next;
        return c;
    }
    return NULL;
}

static void *run(void *nothing)
{
    enum { LOOK_US = 300 };
    pthread_mutex_lock(&lock);
    for (;;) {
        struct callback *c;
        while (!callbacks)
            pthread_cond_wait(&news, &lock);
        while ((c = take_due())) {
            pthread_mutex_unlock(&lock);
            const cl_int status = graph_status(c->event);
            graph_lock();
            c->id = graph_unless_failed(c->event, c->id);
            graph_joined(GRAPH_BELOW, 1, &c->id);
            graph_unlock();
            c->call(c->event, status < 0 ? status : c->type, c->data);
            graph_below.clReleaseEvent(c->event);
            free(c);
            pthread_mutex_lock(&lock);
        }
        pthread_mutex_unlock(&lock);
        usleep(LOOK_US);
        pthread_mutex_lock(&lock);
    }
    return nothing;
}

cl_int graph_call_back(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data,
                       unsigned id)
{
    enum { MOST_LOOKS = 8 };
    static unsigned chance = 1;
    pthread_t thread;
    struct callback *c = calloc(1, sizeof *c), **at = &callbacks;
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    graph_below.clRetainEvent(event);
    *c = (struct callback){.event = event, .type = type, .call = call, .data = data, .id = id};
    pthread_mutex_lock(&lock);
    chance = chance * 1103515245u + 12345u;
    c->left = 1 + (chance >> 16) % MOST_LOOKS;
    while (*at)
        at = &(*at)->next;
    *at = c;
    if (!started && pthread_create(&thread, NULL, run, NULL) == 0)
        started = pthread_detach(thread) == 0;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}
