/* SPDX-License-Identifier: MIT */
/* The tasks of the config as the daemon sees them: which one an application is, in what order they rank, and how many
 * GPUs each of those present gets. Pure: no sockets, no clock. */
#ifndef GS_SCHEDULER_TASKSET_H
#define GS_SCHEDULER_TASKSET_H

#include <sys/types.h>

#include "common/config.h"
#include "scheduler/demand.h"

/* The first task whose `match` fits the executable's path; null: none. */
const struct gs_config_task *gs_taskset_match(const struct gs_config *config, const char *exe);
const struct gs_config_task *gs_taskset_find(const struct gs_config *config, const char *name);

/* Whom a task belongs to, by its section's `user`; looked up once, for that may take long. */
struct gs_owner {
    enum { GS_OWNER_NONE, GS_OWNER_ONE, GS_OWNER_ALL, GS_OWNER_UNKNOWN } kind; /* UNKNOWN: there is no such user */
    uid_t uid;                                                                 /* of ONE */
};
struct gs_owner gs_taskset_owner(const struct gs_config_task *task);

/* May this user run a task of that owner? Root and the daemon's own user may run all. */
bool gs_taskset_permits(const struct gs_owner *owner, uid_t uid);

/* 1 for the least urgent task of the config, up to the number of tasks: by priority where given, else
 * deadline-monotonic, and the one that stands first in the file before the other. */
int gs_taskset_rank(const struct gs_config *config, const struct gs_config_task *task);

/* One application that runs as a task, for a decision over all of them. */
struct gs_member {
    const struct gs_config_task *task;
    unsigned gpus_max;              /* GPUs in the application's group */
    const struct gs_demand *demand; /* what its jobs have used; null: nothing is known */
    /* The decision: */
    unsigned gpus;
    bool analysed;       /* it has segments, so that it counts */
    bool meets_deadline; /* as far as analysed */
    int64_t response_ns; /* bound of its response time; 0: not analysed */
};

struct gs_decision {
    bool schedulable; /* every member that was analysed meets its deadline */
    bool proven;      /* and these are all, and their bounds are proven for the daemon */
    size_t analysed;  /* how many these are */
    char reason[512]; /* a sentence or two for people */
};

/* Decides how many of the machine's `gpus` each member gets (GPU-SPARC, Algorithm 1, on the tasks that are present). Of
 * one task the members that have joined first come first. 0 or -ENOMEM. Tasks without segments get their mode, or all
 * GPUs, and no promise. */
int gs_taskset_decide(const struct gs_config *config, unsigned gpus, struct gs_member *members, size_t n,
                      struct gs_decision *decision);

#endif
