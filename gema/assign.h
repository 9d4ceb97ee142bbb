/* SPDX-License-Identifier: MIT */
/* How many GPUs each task gets: the policies of GPU-SPARC section IV-C and IV-D, and better ones. */
#ifndef GS_GEMA_ASSIGN_H
#define GS_GEMA_ASSIGN_H

#include <stdatomic.h>

#include "gema/analysis.h"

enum gs_policy {
    GS_POLICY_SINGLE, /* one GPU each, or the fewest it has a chain for */
    GS_POLICY_LOCAL,  /* what is shortest for the task alone */
    GS_POLICY_GEMA,   /* Algorithm 1: one task after another to more GPUs, each time the one that lowers max R/D most */
    GS_POLICY_GEMA_PLUS, /* modes that can't meet a deadline are left out first, and tasks may go back to fewer GPUs */
    GS_POLICY_GLOBAL,    /* the optimum: a schedulable choice, if there is one at all */
    GS_POLICIES
};

/* "single", "local", "gema", "gema+", "global" */
extern const char *const gs_policy_names[GS_POLICIES];

struct gs_assign_options {
    bool two_modes;         /* one GPU or all of them, as in the paper; else 1 to m. A fixed mode is kept in any case */
    bool verdict_only;      /* where nothing is schedulable, don't look for the modes that come nearest to it */
    uint64_t max_nodes;     /* `global` gives up after so many, 0: never */
    const atomic_int *stop; /* `global` gives up when it becomes nonzero; may be NULL */
};

/* Chooses modes[i] for each task of the finished model that `a` was made for; they are usable ones in every case, and
 * tasks with a fixed mode have it. 1: schedulable by the analysis; 0: not, and with GS_POLICY_GLOBAL no choice is;
 * -EINTR: `global` gave up, modes are the best it knew; -ENOMEM. */
int gs_assign(struct gs_analyzer *a, enum gs_policy policy, const struct gs_assign_options *options, int *modes);

/* 1 where pruning shows that no choice of modes is schedulable, 0 where it doesn't, or -ENOMEM. */
int gs_refuted(struct gs_analyzer *a, const struct gs_assign_options *options);

#endif
