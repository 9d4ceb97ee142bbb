/* SPDX-License-Identifier: MIT */
/* The schedulability experiments of GPU-SPARC section IV-D: how many generated sets each policy makes schedulable. The
 * same seed gives the same figures on any number of threads. */
#ifndef GS_GEMA_EXPERIMENT_H
#define GS_GEMA_EXPERIMENT_H

#include "gema/assign.h"
#include "gema/generate.h"

enum { GS_EXPERIMENT_MAX_POINTS = 256 };

/* What the abscissa is: Figure 7's total GPU utilization, or Figure 8's probability of dependent kernels. */
enum gs_abscissa { GS_BY_UTILIZATION, GS_BY_DEPENDENCY };

struct gs_experiment {
    struct gs_generator generator; /* its `dependent` is set by GS_BY_DEPENDENCY */
    enum gs_abscissa abscissa;
    enum gs_analysis analysis;
    bool two_modes;
    bool any_priorities; /* those by deadline, or others where they don't do (gema/priorities.h) */
    bool policies[GS_POLICIES];
    int points; /* bins of utilization over 0 .. max_utilization, or probabilities over 0 .. 1 */
    double max_utilization;
    double utilization; /* GS_BY_DEPENDENCY: of the sets looked at, +- half of `band` */
    double band;
    uint64_t seed, sets; /* so many sets, over all points */
    int threads;
    uint64_t max_nodes; /* of `global` for one set */
    const atomic_int *stop;
    /* Told now and then, from the calling thread, how many sets are done; may be NULL. */
    void (*progress)(void *context, uint64_t done);
    void *context;
};

struct gs_point {
    double x; /* middle of the bin, or the probability */
    uint64_t sets, schedulable[GS_POLICIES];
    uint64_t undecided; /* sets for which `global` gave up */
};

struct gs_experiment_result {
    struct gs_point points[GS_EXPERIMENT_MAX_POINTS];
    uint64_t sets;
};

/* Figure 7 of the paper with the defaults of its section IV-D, on all cores. */
void gs_experiment_default(struct gs_experiment *e);

/* Runs; stopped early it has what was done. 0, -ENOMEM, -EAGAIN: no thread could be started. */
int gs_experiment_run(const struct gs_experiment *e, struct gs_experiment_result *result);

#endif
