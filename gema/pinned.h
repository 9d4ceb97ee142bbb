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

/* What gives the GPU out, and what that costs. */
enum gs_pinned_kind {
    GS_PINNED_PREEMPTED, /* by priority, at once, at no cost */
    GS_PINNED_CHUNKED,   /* by priority, in chunks; theorem 8's rules */
    GS_PINNED_UPDATED,   /* by priority, at once; the run list is updated at both ends of a GPU segment */
    GS_PINNED_SLICED,    /* contexts take turns */
    GS_PINNED_LOCKED     /* whoever has the lock, for Gm and Ge; its CPU part is above all others' */
};

struct gs_pinned_scheduler {
    enum gs_pinned_kind kind;
    int64_t chunk_ns, handover_ns; /* chunked; GS_PINNED_WHOLE_SEGMENT: the segment is one chunk */
    int depth;
    int64_t epsilon_ns; /* updated */
    bool busy;          /* updated: the CPU waits for the GPU busily */
    bool mutex;         /* updated: one update at a time; no row's analysis holds with it, see docs/compare.md */
    int64_t slice_ns, switch_ns;
    bool fifo; /* locked: first come, first served, and not by priority */
};

#define GS_PINNED_WHOLE_SEGMENT (INT64_MAX / 4)

enum gs_pinned_analysis {
    GS_PINNED_CHUNKS,      /* theorem 11: the daemon's chunks, with other priorities where they help */
    GS_PINNED_AT,          /* chunks with hand-overs as long as GCAPS's epsilon */
    GS_PINNED_WHOLE,       /* theorem 11: by priority, whole GPU segments */
    GS_PINNED_QUEUES,      /* theorem 11: preemptible queues with more commands out */
    GS_PINNED_IDEAL,       /* theorem 11: preemption that costs nothing, with other priorities where they help */
    GS_PINNED_GCAPS,       /* self-suspending, with separate GPU priorities where they help */
    GS_PINNED_GCAPS_BUSY,  /* busy-waiting, likewise */
    GS_PINNED_ROBIN,       /* time slices in turns, self-suspending */
    GS_PINNED_MPCP,        /* self-suspending */
    GS_PINNED_FMLP,        /* self-suspending */
    GS_PINNED_NOT_REFUTED, /* no simulated job misses with preemption that costs nothing, or `ideal` has priorities:
                            * not an analysis, the ceiling */
    GS_PINNED_ANALYSES
};

const char *gs_pinned_name(enum gs_pinned_analysis a);

/* The scheduler that the row is about. */
struct gs_pinned_scheduler gs_pinned_scheduler_of(enum gs_pinned_analysis a, const struct gs_pinned_costs *c);

/* What a set is accepted with. */
struct gs_pinned_answer {
    int64_t response[GS_PINNED_MAX_TASKS]; /* bounds; where it is ranked only the periods are */
    bool ranked;
    bool everywhere;               /* on the CPUs as well, and not on the GPU alone */
    int rank[GS_PINNED_MAX_TASKS]; /* the more urgent the less */
};

/* answer: unspecified where the set isn't accepted; NULL: nobody wants to know. */
bool gs_pinned_schedulable(const struct gs_pinned_set *set, enum gs_pinned_analysis a, const struct gs_pinned_costs *c,
                           struct gs_pinned_answer *answer);

/* The analyses: response times with CPU priorities in the set's order. rank: on the GPU; NULL: the set's order. False:
 * some task misses. */
typedef bool gs_pinned_bound(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                             int64_t *response);
/* Other priorities, on the GPU alone or everywhere, with which all meet their deadlines; false: none was found. */
typedef bool gs_pinned_assignment(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, int *rank);

gs_pinned_bound gs_pinned_gcaps; /* section 6.3; with ranks jitters are of D and not of R (section 6.4) */
gs_pinned_assignment gs_pinned_gcaps_order;
gs_pinned_bound gs_pinned_robin, gs_pinned_mpcp, gs_pinned_fmlp; /* they take no ranks */
gs_pinned_bound gs_pinned_safe;                                  /* Theorem 11; no ranks either */
gs_pinned_assignment gs_pinned_safe_order;                       /* everywhere */

/* One run of all tasks, released at the offsets and then each period until the horizon. */
struct gs_pinned_walk {
    const int64_t *offsets;
    int64_t horizon;
    const int *rank;          /* of the tasks on the GPU, NULL: the set's order */
    struct gs_random *random; /* of times up to the worst, of lengths of chunks; NULL: the worst and the longest */
    int64_t *response;        /* the longest so far of each task, NULL: nobody wants to know */
};

/* Does a job miss its deadline? The run ends with that. */
bool gs_pinned_misses(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s,
                      const struct gs_pinned_walk *w);

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
