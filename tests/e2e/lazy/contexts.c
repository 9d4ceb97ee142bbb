/* SPDX-License-Identifier: MIT */
/* A context ends with the last reference to it and to whatever was made in it. The layer keeps one of its own for a
 * while, so that a call that names it afterwards is found out. */
#include "lazy.h"

#include <stdlib.h>

enum { KEPT_NS = 500000000 };

struct context {
    struct context *next;
    cl_context context;
    uint64_t gone_ns; /* 0: it is there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct context *all;

void lazy_context_made(cl_context context)
{
    struct context *c = lazy.poison && lazy_below.clRetainContext(context) == CL_SUCCESS ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return;
    c->context = context;
    pthread_mutex_lock(&lock);
    c->next = all;
    all = c;
    pthread_mutex_unlock(&lock);
}

static bool is_gone(struct context *c)
{
    cl_uint refs = 2;
    if (!c->gone_ns)
        lazy_below.clGetContextInfo(c->context, CL_CONTEXT_REFERENCE_COUNT, sizeof refs, &refs, NULL);
    if (refs == 1)
        c->gone_ns = lazy_now_ns();
    return c->gone_ns;
}

void lazy_context_used(cl_context context, const char *what)
{
    if (!lazy.poison || lazy_own_thread)
        return;
    pthread_mutex_lock(&lock);
    for (struct context *c = all; c; c = c->next)
        if (c->context == context && is_gone(c))
            lazy_report("%s is called with a context that is gone", what);
    pthread_mutex_unlock(&lock);
}

void lazy_contexts_look(void)
{
    pthread_mutex_lock(&lock);
    for (struct context **at = &all; *at;) {
        struct context *c = *at;
        if (!is_gone(c) || lazy_now_ns() - c->gone_ns < KEPT_NS) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        lazy_below.clReleaseContext(c->context);
        free(c);
    }
    pthread_mutex_unlock(&lock);
}
