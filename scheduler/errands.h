/* SPDX-License-Identifier: MIT */
/* Threads that do for users what may take the kernel long, or for ever, so that the daemon's own passes on grants. A
 * user has one thread at a time, whose errands keep no other user's waiting. Only if more users than GS_ERRAND_THREADS
 * have errands do some share a thread. */
#ifndef GS_SCHEDULER_ERRANDS_H
#define GS_SCHEDULER_ERRANDS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    GS_ERRAND_THREADS = 64, /* for users whom the config names, and as many for others */
    GS_ERRANDS_OF_ONE = 64  /* of one thread; further errands, or those of a stuck thread, are refused */
};

/* The first member of an errand. */
struct gs_errand {
    struct gs_errand *next;
    struct gs_errander *by;
    void (*run)(struct gs_errand *errand); /* on the thread */
};

/* Whose errand it is. */
struct gs_errand_of {
    uid_t uid;
    bool named;   /* the config names this user */
    bool must;    /* not refused */
    int priority; /* the thread's SCHED_FIFO priority meanwhile, at least; 0: none */
};

/* All but `asked`, `done` and `wake` belong to the daemon's thread. No lock, as with the worker. */
struct gs_errander {
    struct gs_errands *all;
    _Atomic(struct gs_errand *) asked; /* the last one; each points to the one before */
    int wake;                          /* counts errands asked for */
    pthread_t thread;
    uid_t uid;        /* the user, while it has errands */
    unsigned waiting; /* asked for, not taken yet */
    int priority;
};

/* Lives as long as the process: a thread stuck in the kernel can't be waited for. */
struct gs_errands {
    _Atomic(struct gs_errand *) done;
    struct gs_errand *taken; /* of `done`, in order, not given out yet */
    int done_fd;
    struct gs_errander thread[2][GS_ERRAND_THREADS];
    unsigned threads[2];
};

/* Once, before the others. Returns a descriptor that is readable when gs_errands_take has an errand; -errno. */
int gs_errands_start(struct gs_errands *all);

/* Has an errand done, after the user's earlier ones. False: refused, or no thread. */
bool gs_errands_ask(struct gs_errands *all, struct gs_errand *errand, const struct gs_errand_of *whom);

/* An errand that is done. Null: none. */
struct gs_errand *gs_errands_take(struct gs_errands *all);

#endif
