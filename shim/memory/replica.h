/* SPDX-License-Identifier: MIT */
/* Replicas: a memory object's copies on the places beside home, and the windows of them. With the context's lock held.
 */
#ifndef GS_SHIM_MEMORY_REPLICA_H
#define GS_SHIM_MEMORY_REPLICA_H

#include "shim/record/objects.h"

/* A window's range in bytes of its root. */
struct gs_range gs_window_range(const struct gs_mem *m, uint64_t offset, uint64_t bytes);

/* The memory object to give to a kernel or a command on a place: m itself at home, else its replica or the same window
 * of it, made now if need be. Null with an error in *err. */
cl_mem gs_replica_of(struct gs_mem *m, unsigned place, cl_int *err);
/* The same of a root, if it is there; else null. */
cl_mem gs_replica_at(const struct gs_mem *root, unsigned place);

/* The bytes of a root that a place needs; `done` hears of the transfers that bring them. */
struct gs_need {
    unsigned place;
    int part; /* of a split launch; -1: of none */
    const struct gs_rangeset *bytes;
    struct gs_events *done;
};

/* Of each place that needs bytes. */
cl_int gs_replicas_make(struct gs_mem *root, const struct gs_need *w, unsigned n);

/* What is enqueued later and touches the place comes after `end`: home after a split whose outputs were merged there,
 * or a place on whose way something is that was given up. */
void gs_busy_until(struct gs_mem *root, unsigned place, cl_event end);

#endif
