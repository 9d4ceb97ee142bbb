/* SPDX-License-Identifier: MIT */
/* What a task's jobs have used, where that is more than its segments say: a bound holds for segments that are no longer
 * than the config's, so the analysis counts with the longer ones from then on. Pure: no clock, no sockets. */
#ifndef GS_SCHEDULER_DEMAND_H
#define GS_SCHEDULER_DEMAND_H

#include "common/wire.h"
#include "gema/model.h"

struct gs_demand {
    /* By the number of the job's GPUs and resource, PCI and GPU: the longest that a job has kept the link, or one of
     * its GPUs. */
    int64_t seen_ns[GS_MAX_GPUS + 1][GS_RESOURCES];
    int64_t counted_ns[GS_MAX_GPUS + 1][GS_RESOURCES]; /* what the analysis takes; 0: the segments */
};

/* The sum of the task's segments on a resource; 0: it has none, or no chain for this many GPUs. */
int64_t gs_demand_said(const struct gs_config_task *task, unsigned gpus, enum gs_resource resource);

/* A job has kept a resource for so long. True: by more than was counted with, and a thousandth of the deadline; then a
 * thirty-second more is, so that this is true a limited number of times, whatever a client says. */
bool gs_demand_add(struct gs_demand *d, const struct gs_config_task *task, unsigned gpus, enum gs_resource resource,
                   int64_t ns);

/* Makes it the most of both. */
void gs_demand_join(struct gs_demand *d, const struct gs_demand *other);

/* Makes the segments of the model's task as long as is counted with. 0 or -ENOMEM. */
int gs_demand_apply(const struct gs_demand *d, struct gs_task *task, unsigned gpus);

#endif
