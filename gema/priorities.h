/* SPDX-License-Identifier: MIT */
/* Priorities with which all tasks meet their deadlines (Audsley: On priority assignment in fixed priority scheduling,
 * Information Processing Letters 79, 2001; docs/analysis.md, "Priorities"). */
#ifndef GS_GEMA_PRIORITIES_H
#define GS_GEMA_PRIORITIES_H

#include "gema/assign.h"

/* Looks for priorities with which the finished model is schedulable: those that it has, if the policy finds modes with
 * them, or others, with the modes with which the policy comes nearest. 1: the model has them, each task with one mode,
 * and is finished anew; 0: none were found, and the model is as it was, but that doesn't mean that there are none;
 * -EINTR: the same, and `global` gave up; -ENOMEM. By safe or segments. */
int gs_find_priorities(struct gs_model *m, enum gs_analysis analysis, enum gs_policy policy,
                       const struct gs_assign_options *options);

#endif
