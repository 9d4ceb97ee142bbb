/* SPDX-License-Identifier: MIT */
/* What would have to change for a task set to become schedulable, or how much it may still grow. */
#ifndef GS_GEMA_ADVICE_H
#define GS_GEMA_ADVICE_H

#include "gema/assign.h"

/* The task set becomes schedulable where all of the task's segments on the resource take at most `factor` of their
 * time. */
struct gs_advice {
    size_t task;
    enum gs_resource resource;
    double factor; /* of 1/1000 steps, below 1 */
};

/* A question: this task set, policy and analysis. */
struct gs_question {
    const struct gs_model *model;
    enum gs_policy policy;
    enum gs_analysis analysis;
    struct gs_assign_options options;
};

/* Of more tasks a policy takes too long to be asked for each of them. */
enum { GS_FEW_TASKS = 16 };

/* The single changes of one task on one resource that make an unschedulable set schedulable, the smallest change first;
 * of more than GS_FEW_TASKS tasks those that do with these modes. Fills at most `max` of advice[]; returns how many, or
 * -ENOMEM. */
int gs_advise(const struct gs_question *q, const int *modes, struct gs_advice *advice, int max);

/* The largest factor, in 1/1000 steps, by which all times may be multiplied and the set is schedulable; 0: none.
 * GS_MOST_HEADROOM: that or more. Or -ENOMEM. modes: with these it is schedulable as it is; NULL: it isn't. */
enum { GS_MOST_HEADROOM = 8 };
double gs_headroom(const struct gs_question *q, const int *modes);

#endif
