/* SPDX-License-Identifier: MIT */
/* A discrete-event simulator of the task model, exact in integers: fixed priorities, work-conserving, each resource
 * preemptive or not. What the analyses promise is checked against it.
 *
 * At one instant, first everything that ends has ended and everything that becomes ready is ready, then servers are
 * given out, the most urgent task first. Where the model says `chunked` they are given out by the daemon's rules
 * (scheduler/policy.h): chunk by chunk. A piece whose time is 0 needs no server. A task's jobs follow one another: a
 * job that is released before the last one has ended waits for it, and its response time counts from its release. */
#ifndef GS_GEMA_SIM_H
#define GS_GEMA_SIM_H

#include "gema/model.h"

/* One stretch of time for which one piece held one server. */
struct gs_sim_slice {
    size_t task, segment;
    uint64_t job; /* of the task, from 0 */
    int piece;
    enum gs_resource resource;
    int server;
    int64_t begin, end;
};

/* A job from release to end. */
struct gs_sim_job {
    size_t task;
    uint64_t job;
    int64_t release, end;
};

/* What happens in one run. Null functions have the defaults that stand beside them. */
struct gs_sim_setup {
    const int *modes;       /* number of GPUs of each task */
    const int64_t *offsets; /* first release of each task, >= 0; NULL: 0 */
    int64_t horizon;        /* jobs are released before this; the run ends when all have ended */
    void *context;          /* for the functions */
    /* How much later than a period after job `job` the next one is released, >= 0. Default: 0. */
    int64_t (*gap)(void *context, size_t task, uint64_t job);
    /* How long a piece takes, between its segment's best and worst. Default: the worst. */
    int64_t (*time)(void *context, size_t task, uint64_t job, size_t segment, int piece);
    /* Which of n free servers a piece takes that may take any, 0 to n - 1. Default: the first. */
    unsigned (*pick)(void *context, unsigned n);
    /* How long a chunk is that may take 1 to `most` (it gets longer where the segment's `chunks` want it, and up to a
     * hand-over where gs_model_counts_handovers takes it to be so), and how long after its grant it may run, 0 to
     * `most`. Default: the most. */
    int64_t (*chunk)(void *context, int64_t most);
    int64_t (*handover)(void *context, int64_t most);
    /* The last chunk out of a piece would end now, and something more urgent has waited for its server for `waited`:
     * for how much longer it keeps the server. Asked again then. Default: it doesn't. */
    int64_t (*keep)(void *context, size_t task, enum gs_resource resource, int64_t now, int64_t waited);
    /* How much a segment that may pause does until its next pause, 1 to `most`, and how long that is, 0 to `most`.
     * Default: the most. */
    int64_t (*burst)(void *context, int64_t most);
    int64_t (*pause)(void *context, int64_t most);
    /* Told of every stretch, when it ends, and of every job, when it ends. Default: nobody. */
    void (*ran)(void *context, const struct gs_sim_slice *slice);
    void (*ended)(void *context, const struct gs_sim_job *job);
    const bool *stop; /* ends the run early where a function has set it; NULL: never */
};

struct gs_sim_task {
    int64_t response; /* the longest of a job */
    uint64_t jobs, misses;
    const int64_t *segments; /* the longest from ready to end of each segment of its chain */
};

struct gs_sim;

/* NULL: out of memory. The model must be finished and outlive it. One thread at a time. */
struct gs_sim *gs_sim_new(const struct gs_model *model);
void gs_sim_free(struct gs_sim *s);

/* Runs; what it returns, one entry per task, belongs to the simulator and holds until its next run. NULL: out of
 * memory. With GS_PIECES_OWN piece p of any task has GPU p as its own. */
const struct gs_sim_task *gs_sim_run(struct gs_sim *s, const struct gs_sim_setup *setup);

#endif
