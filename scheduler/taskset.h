/* SPDX-License-Identifier: MIT */
/* The config's tasks: which one an application is, how they rank, and how many GPUs each present one gets. Pure: no
 * sockets, no clock. */
#ifndef GS_SCHEDULER_TASKSET_H
#define GS_SCHEDULER_TASKSET_H

#include <sys/types.h>

#include "common/config.h"
#include "scheduler/demand.h"

/* The first task whose `match` fits the executable's path; null: none. */
const struct gs_config_task *gs_taskset_match(const struct gs_config *config, const char *exe);
const struct gs_config_task *gs_taskset_find(const struct gs_config *config, const char *name);

/* A task's owner, by its section's `user`; looked up once, since that may take long. */
struct gs_owner {
    enum { GS_OWNER_NONE, GS_OWNER_ONE, GS_OWNER_ALL, GS_OWNER_UNKNOWN } kind; /* UNKNOWN: there is no such user */
    uid_t uid;                                                                 /* of ONE */
};
struct gs_owner gs_taskset_owner(const struct gs_config_task *task);

/* May this user run a task of that owner? Root and the daemon's own user may run all. */
bool gs_taskset_permits(const struct gs_owner *owner, uid_t uid);

/* The rank: 1 for the config's least urgent task, up to the number of tasks. By priority if given, else
 * deadline-monotonic; among equals the first in the file is the more urgent. */
int gs_taskset_rank(const struct gs_config *config, const struct gs_config_task *task);

/* An application that runs as a task, for a decision over all. */
struct gs_member {
    const struct gs_config_task *task;
    unsigned gpus_max;              /* GPUs in the application's group */
    const struct gs_demand *demand; /* its jobs' use of the resources; null: unknown */
    /* The decision: */
    unsigned gpus;
    bool analysed;       /* it has segments, and so counts */
    bool meets_deadline; /* as far as analysed */
    int64_t response_ns; /* bound of its response time; 0: not analysed */
};

struct gs_decision {
    bool schedulable; /* every analysed member meets its deadline */
    bool proven;      /* all members were analysed, and their bounds are proven for the daemon */
    size_t analysed;  /* analysed members */
    char reason[512]; /* a sentence or two for people */
};

/* Decides how many of the machine's `gpus` each member gets (GPU-SPARC, Algorithm 1, on the present tasks). Members of
 * one task in the order of joining. 0 or -ENOMEM. Tasks without segments get their mode, or all GPUs, and no
 * promise. */
int gs_taskset_decide(const struct gs_config *config, unsigned gpus, struct gs_member *members, size_t n,
                      struct gs_decision *decision);

#endif
