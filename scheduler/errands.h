/* SPDX-License-Identifier: MIT */
/* Threads that do for users what may take the kernel long, or for ever, so that the daemon's own passes on grants. A
 * user has one thread at a time, and nobody else's errands wait for it; only where more users than GS_ERRAND_THREADS
 * have something to be done do some of them share one. */
#ifndef GS_SCHEDULER_ERRANDS_H
#define GS_SCHEDULER_ERRANDS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    GS_ERRAND_THREADS = 64, /* for users whom the config names, and as many for others */
    GS_ERRANDS_OF_ONE = 64  /* of one thread; who has more to be done, or is stuck, is refused */
};

/* The first member of what is to be done. */
struct gs_errand {
    struct gs_errand *next;
    struct gs_errander *by;
    void (*run)(struct gs_errand *errand); /* on the thread */
};

/* For whom. */
struct gs_errand_of {
    uid_t uid;
    bool named;   /* the config names this user */
    bool must;    /* not refused */
    int priority; /* of SCHED_FIFO, that the thread has meanwhile at least; 0: none */
};

/* All but `asked`, `done` and `wake` are the daemon's thread's. No lock, as with the worker. */
struct gs_errander {
    struct gs_errands *all;
    _Atomic(struct gs_errand *) asked; /* the last one; each has the one before */
    int wake;                          /* counts what is asked */
    pthread_t thread;
    uid_t uid;        /* whose errands it has, if there are any */
    unsigned waiting; /* asked, and not taken yet */
    int priority;
};

/* Lives as long as the process: who is stuck in the kernel can't be waited for. */
struct gs_errands {
    _Atomic(struct gs_errand *) done;
    struct gs_errand *taken; /* of these, in their order, and not given out yet */
    int done_fd;
    struct gs_errander thread[2][GS_ERRAND_THREADS];
    unsigned threads[2];
};

/* Once, before the others. The descriptor from which gs_errands_take has something to take for each event; -errno. */
int gs_errands_start(struct gs_errands *all);

/* Has it done, some time, after what the user's thread has been asked before. False: refused, or no thread. */
bool gs_errands_ask(struct gs_errands *all, struct gs_errand *errand, const struct gs_errand_of *whom);

/* One that is done. Null: there is none. */
struct gs_errand *gs_errands_take(struct gs_errands *all);

#endif
