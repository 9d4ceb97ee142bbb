/* SPDX-License-Identifier: MIT */
/* Threads for what takes long, so that the daemon's own passes on grants meanwhile: one that analyses sets of tasks,
 * and one for each file that is emptied. */
#ifndef GS_SCHEDULER_WORKER_H
#define GS_SCHEDULER_WORKER_H

#include <pthread.h>

#include "scheduler/decider.h"

struct gs_worker;

/* A thread that runs as an ordinary process does, and takes no signals. 0 or an errno. */
int gs_worker_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* It runs as an ordinary process does, whatever the daemon's priority. Null: no thread or no memory. */
struct gs_worker *gs_worker_start(void);
/* Ends with the question that it has, if it has one. */
void gs_worker_end(struct gs_worker *w);

/* Readable when an answer is there. */
int gs_worker_fd(const struct gs_worker *w);
/* One at a time: give, and give again after the answer has been taken. */
void gs_worker_give(struct gs_worker *w, struct gs_question *q);
struct gs_question *gs_worker_take(struct gs_worker *w); /* null: none is answered */

/* Empties the file and closes it, some time: who has mapped it 60,000 times makes that last for some ms. */
void gs_worker_empty(int fd);
/* So many are still to be emptied. */
unsigned gs_worker_emptying(void);

#endif
