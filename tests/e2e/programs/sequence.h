/* SPDX-License-Identifier: MIT */
/* A random sequence of commands over several queues, which does and prints the same for the same seed. What must come
 * after what is said by events or by the order of a queue. For programs of several threads, each with one: `w` is a
 * pointer to a structure whose first member is its struct sequence. The file STEPS, if there is one, has a byte more
 * after each command: by that others see that the program goes on. */
#ifndef GS_TESTS_SEQUENCE_H
#define GS_TESTS_SEQUENCE_H

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "plain.h"

enum { QUEUES = 3 };

struct sequence {
    uint32_t state, steps;
    char *text; /* what it has to say, in order */
    size_t length, room;
    cl_command_queue q[QUEUES];
    bool in_order[QUEUES];
    cl_event last;
    unsigned last_q;
    pthread_t thread;
};

static uint32_t pick(void *w, uint32_t n)
{
    struct sequence *s = w;
    s->state = s->state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)scramble(s->state) * n) >> 32);
}

static void say(void *w, const char *what, uint32_t which, const void *data, size_t bytes)
{
    struct sequence *s = w;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    if (s->room - s->length < 128) {
        s->room = s->room * 2 + 4096;
        s->text = realloc(s->text, s->room);
        if (!s->text)
            abort();
    }
    s->length +=
        (size_t)snprintf(s->text + s->length, s->room - s->length, "%s %u %zu %016" PRIx64 "\n", what, which, bytes, h);
}

/* The queue for the next command, and what it must wait for: nothing where the queue's order says it. */
static cl_command_queue next(void *w, cl_uint *n_wait)
{
    struct sequence *s = w;
    const unsigned q = pick(w, 3) ? s->last_q : pick(w, QUEUES);
    *n_wait = !s->last || (q == s->last_q && s->in_order[q] && pick(w, 4)) ? 0 : 1;
    if (q != s->last_q)
        CL(clFlush(s->q[s->last_q]));
    s->last_q = q;
    return s->q[q];
}

static void done(void *w, cl_event e)
{
    struct sequence *s = w;
    const int steps = getenv("STEPS") ? open(getenv("STEPS"), O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (steps >= 0 && (write(steps, ".", 1) != 1 || close(steps) < 0))
        abort();
    if (s->last)
        CL(clReleaseEvent(s->last));
    s->last = e;
}

#endif
