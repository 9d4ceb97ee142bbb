/* SPDX-License-Identifier: MIT */
/* Decisions about sets of tasks: each is made once for equal sets, and by somebody else where the caller has a thread
 * for it. Not thread-safe but for gs_question_answer, which touches its question alone. */
#ifndef GS_SCHEDULER_DECIDER_H
#define GS_SCHEDULER_DECIDER_H

#include "scheduler/taskset.h"

/* A set that is to be decided on. It stays as it is until it is answered. */
struct gs_question;
void gs_question_answer(struct gs_question *q);

struct gs_decider;

/* `hand_out` has gs_question_answer called, and then gs_decider_take from the decider's thread; one at a time. Null:
 * the decider answers by itself, at once. Null: out of memory. */
struct gs_decider *gs_decider_new(void (*hand_out)(void *ctx, struct gs_question *q), void *ctx);
void gs_decider_free(struct gs_decider *d); /* nobody may be answering a question */

/* The config that all sets from now on are of; the decider frees the one before when nothing needs it. */
void gs_decider_configure(struct gs_decider *d, const struct gs_config *config, unsigned gpus);
void gs_decider_retire(struct gs_decider *d, struct gs_config *old);

/* Decides as gs_taskset_decide. 0; -EAGAIN: not known yet, ask again when gs_decider_take has been called; -ENOMEM. */
int gs_decider_ask(struct gs_decider *d, struct gs_member *members, size_t n, struct gs_decision *decision);
bool gs_decider_waits(const struct gs_decider *d); /* a question is handed out */
void gs_decider_take(struct gs_decider *d, struct gs_question *q);

/* How many sets have been analysed. */
uint64_t gs_decider_analysed(const struct gs_decider *d);

#endif
