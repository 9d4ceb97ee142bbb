/* SPDX-License-Identifier: MIT */
/* Task sets of another kind than GPU-SPARC's, and analyses that others have published for them: each task is pinned to
 * a CPU, all share one GPU, and priorities are rate monotonic (GCAPS: Wang, Liu, Wong, Kim, ECRTS 2024, sections 3, 6
 * and 7.1). docs/compare.md says of each analysis where it is from. */
#ifndef GS_GEMA_PINNED_H
#define GS_GEMA_PINNED_H

#include <stdatomic.h>

#include "gema/generate.h"

enum { GS_PINNED_MAX_TASKS = 64, GS_PINNED_MAX_SEGMENTS = 8, GS_PINNED_MAX_CPUS = 16 };

/* A job executes cpu[0], then for each j of n: a GPU segment, which takes misc[j] of the CPU (copies, launches) and
 * pure[j] of the GPU, and cpu[j + 1]. Deadlines are periods. */
struct gs_pinned_task {
    int cpu_id;
    bool best_effort; /* below all others, without a deadline */
    int64_t period_ns;
    int n; /* GPU segments */
    int64_t cpu[GS_PINNED_MAX_SEGMENTS + 1], misc[GS_PINNED_MAX_SEGMENTS], pure[GS_PINNED_MAX_SEGMENTS];
};

/* The most urgent task first, those of best effort last. */
struct gs_pinned_set {
    int cpus;
    size_t n;
    struct gs_pinned_task tasks[GS_PINNED_MAX_TASKS];
};

/* What random sets are like: ranges, uniform between. */
struct gs_pinned_shape {
    int cpus;
    int tasks[2];          /* of each CPU, by UUniFast; then they are spread anew, worst fit decreasing */
    int total;             /* 0, or so many tasks in all, each of a utilization of its own: task_utilization */
    double utilization[2]; /* of each CPU, CPU and GPU time together */
    double task_utilization[2];
    double gpu_tasks[2]; /* probability that a task uses the GPU */
    double period_ms[2];
    int segments[2];
    double gpu_to_cpu[2], misc[2]; /* G / C, Gm / G */
    double best_effort;            /* so much of all tasks */
};

/* Table 3 of the paper. */
void gs_pinned_default(struct gs_pinned_shape *s);
void gs_pinned_generate(const struct gs_pinned_shape *s, struct gs_random *r, struct gs_pinned_set *set);
/* Sorts as the set says: after tasks were filled in. */
void gs_pinned_sort(struct gs_pinned_set *set);

/* What a scheduler costs, for the analyses below. */
struct gs_pinned_costs {
    int64_t epsilon_ns;  /* GCAPS: to update the runlist, and the switch */
    int64_t slice_ns;    /* round robin: of a context's turn */
    int64_t switch_ns;   /* and between two */
    int64_t chunk_ns;    /* the longest chunk or command */
    int64_t handover_ns; /* the server idles between two holders */
    int depth, queued;   /* chunks out at once, and commands in a queue that knows no better */
};

void gs_pinned_costs_default(struct gs_pinned_costs *c);

enum gs_pinned_analysis {
    GS_PINNED_CHUNKS,       /* theorem 11: the daemon's chunks */
    GS_PINNED_CHUNKS_ORDER, /* with separate GPU priorities where they help; the daemon has none */
    GS_PINNED_CHUNKS_AT,    /* the same with hand-overs as long as GCAPS's epsilon */
    GS_PINNED_WHOLE,        /* theorem 11: by priority, whole GPU segments */
    GS_PINNED_QUEUES,       /* theorem 11: preemptible queues with more commands out */
    GS_PINNED_IDEAL,        /* theorem 11: preemption that costs nothing */
    GS_PINNED_GCAPS,        /* self-suspending, with separate GPU priorities where they help */
    GS_PINNED_GCAPS_BUSY,   /* busy-waiting, likewise */
    GS_PINNED_ROBIN,        /* time slices in turns, self-suspending */
    GS_PINNED_MPCP,         /* self-suspending */
    GS_PINNED_FMLP,         /* self-suspending */
    GS_PINNED_NOT_REFUTED,  /* no simulated job misses with preemption that costs nothing: not an analysis, the ceiling
                             */
    GS_PINNED_ANALYSES
};

extern const char *const gs_pinned_names[GS_PINNED_ANALYSES];

bool gs_pinned_schedulable(const struct gs_pinned_set *set, enum gs_pinned_analysis a, const struct gs_pinned_costs *c);

/* GCAPS, section 6.3: response times with CPU priorities in the set's order. The more urgent on the GPU the less
 * rank[i]; rank NULL: the set's order, and jitters of what R says (section 6.4: of D). False: some task misses. */
bool gs_pinned_gcaps(const struct gs_pinned_set *set, bool busy, int64_t epsilon, const int *rank, int64_t *response);

/* Theorem 11 on pinned CPUs. `held`: for so long lower priorities may hold the GPU when a segment asks for it; -1: a
 * whole segment of theirs; 0: it is preempted at once. False: some task misses. */
bool gs_pinned_safe(const struct gs_pinned_set *set, int64_t held, int64_t handover, int64_t *response);

/* The same where each task may have a priority of its own on the GPU: is there an order with which all meet their
 * deadlines? rank[i] is less for a more urgent one there. */
bool gs_pinned_has_order(const struct gs_pinned_set *set, int64_t held, int64_t handover, int *rank);

/* One run of all tasks with worst-case times, released at the offsets and then each period, preempted at once: does a
 * job miss its deadline? The run ends with that. rank: of the tasks on the GPU, NULL: the set's order. response[i]: the
 * longest so far of task i, NULL: nobody wants to know. */
bool gs_pinned_misses(const struct gs_pinned_set *set, const int64_t *offsets, int64_t horizon, const int *rank,
                      int64_t *response);

/* The sweeps of the paper's figure 8: everything as in table 3, but for one thing that varies. */
enum gs_pinned_sweep {
    GS_PINNED_BY_TASKS,       /* (a) tasks in all */
    GS_PINNED_BY_UTILIZATION, /* (b) of each CPU */
    GS_PINNED_BY_CPUS,        /* (c) */
    GS_PINNED_BY_GPU_TASKS,   /* (d) part of the tasks that uses the GPU */
    GS_PINNED_BY_GPU_TIME,    /* (e) G / C */
    GS_PINNED_BY_BEST_EFFORT, /* (f) part of the tasks that is of best effort */
    GS_PINNED_SWEEPS
};

extern const char *const gs_pinned_abscissas[GS_PINNED_SWEEPS]; /* what they vary, in words */

enum { GS_PINNED_MAX_POINTS = 12 };

struct gs_pinned_curve {
    int points;
    double x[GS_PINNED_MAX_POINTS];
    uint64_t sets[GS_PINNED_MAX_POINTS]; /* less than were asked for where it was stopped */
    uint64_t schedulable[GS_PINNED_MAX_POINTS][GS_PINNED_ANALYSES];
};

/* Judges `sets` random sets for each point by every analysis; set k of a point is made from (seed, k). */
void gs_pinned_run(enum gs_pinned_sweep sweep, uint64_t sets, uint64_t seed, const struct gs_pinned_costs *costs,
                   const atomic_int *stop, struct gs_pinned_curve *curve);

#endif
