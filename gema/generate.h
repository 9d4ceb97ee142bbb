/* SPDX-License-Identifier: MIT */
/* Random task sets of GPU-SPARC section IV-D. */
#ifndef GS_GEMA_GENERATE_H
#define GS_GEMA_GENERATE_H

#include "gema/model.h"

/* xoshiro256**; seeded from one number, so that a set can be made again from (seed, index). */
struct gs_random {
    uint64_t s[4];
};

void gs_random_seed(struct gs_random *r, uint64_t seed, uint64_t index);
uint64_t gs_random_next(struct gs_random *r);
/* Uniform in [low, high]. */
int64_t gs_random_between(struct gs_random *r, int64_t low, int64_t high);
/* Uniform in [0, 1). */
double gs_random_unit(struct gs_random *r);

/* What the paper leaves open has defaults that docs/analysis.md, "Generated task sets", explains. Factors are those of
 * all m GPUs against one; n GPUs take 1 + (factor - 1)(n - 1)/(m - 1). [0] without, [1] with a dependency between
 * kernels. */
struct gs_generator {
    int cpus, links, gpus;
    enum gs_pieces pieces;
    double gpu_share[2]; /* of a task's time on the GPU, uniform between */
    double upload[2], download[2];
    double merge;     /* CPU time of merging, as a part of the single-GPU download, with all GPUs */
    double imbalance; /* a piece on n GPUs takes C/n times this */
    double dependent; /* probability that a task has dependent kernels, P_D */
    double best;      /* shortest time over longest, of every segment */
    int kernels;      /* fixed number of {CPU PCI GPU PCI}; 0: uniform in 1..5 */
};

void gs_generator_default(struct gs_generator *g);

/* An unfinished model of the generator's machine. */
void gs_generate_begin(const struct gs_generator *g, struct gs_model *m);

/* Adds one random task (not in priority order: gs_model_finish does that). 0 or -ENOMEM. */
int gs_generate_task(const struct gs_generator *g, struct gs_random *r, struct gs_model *m);

/* Sum over tasks of single-GPU time on the GPUs over period. */
double gs_gpu_utilization(const struct gs_model *m);

#endif
