/* SPDX-License-Identifier: MIT */
/* Threads for work that takes long, so that the daemon's own passes on grants meanwhile: one analyses sets of tasks,
 * and one for each file empties that. */
#ifndef GS_SCHEDULER_WORKER_H
#define GS_SCHEDULER_WORKER_H

#include <pthread.h>

#include "scheduler/decider.h"

struct gs_worker;

/* Starts a thread that runs with ordinary priority and takes no signals. 0 or an errno. */
int gs_worker_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* Starts the thread that analyses, with ordinary priority. Null: no thread or no memory. */
struct gs_worker *gs_worker_start(void);
/* Ends the thread after its question, if it has one. */
void gs_worker_end(struct gs_worker *w);

/* Readable when an answer is there. */
int gs_worker_fd(const struct gs_worker *w);
/* Gives one question at a time; the next after the answer was taken. */
void gs_worker_give(struct gs_worker *w, struct gs_question *q);
struct gs_question *gs_worker_take(struct gs_worker *w); /* null: none is answered */

/* Empties the file and closes it, later: a file mapped 60,000 times takes some ms. */
void gs_worker_empty(int fd);
/* How many files are still to be emptied. */
unsigned gs_worker_emptying(void);

#endif
