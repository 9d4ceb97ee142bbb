/* SPDX-License-Identifier: MIT */
/* Task sets for tests: from a config text, or random and small. */
#ifndef GS_TESTS_GEMA_SETS_H
#define GS_TESTS_GEMA_SETS_H

#include "gema/model.h"

/* The task set of a config text; the test fails if there is a mistake in it. */
struct gs_model set_from(const char *text);

struct rng {
    uint64_t state;
};

/* 0 .. n-1 */
unsigned rnd(struct rng *r, unsigned n);

/* The seed from argv[1] or, without one, `otherwise`; printed. */
struct rng seed_from(int argc, char **argv, uint64_t otherwise);

/* What random sets look like. */
struct set_shape {
    unsigned max_tasks, max_segments, max_time, max_period;
    unsigned max_servers; /* of each kind: 1 .. */
    bool varying;         /* best times below worst ones */
    bool crowded;         /* all tasks mostly on one resource, at least three of them */
    bool woven;           /* all chains to and fro between the same two resources, in short segments */
};

/* A small random set; half of them have few idle servers, so that things happen. */
struct gs_model random_set(struct rng *r, const struct set_shape *shape);

/* Grants the set's link, GPUs or both in chunks of random lengths, some of unknown length, as the daemon does. */
void make_chunked(struct rng *r, struct gs_model *m);

/* Says of the applications below all tasks, where the set is chunked, that they keep servers: they are of one user or
 * two. Makes periods longer, so that deadlines are still met. */
void make_liars(struct rng *r, struct gs_model *m);

/* Random usable modes. */
void random_modes(struct rng *r, const struct gs_model *m, int *modes);

/* Prints the set as a config text, for whoever has to find out what went wrong. */
void print_set(const struct gs_model *m, const int *modes);

#endif
