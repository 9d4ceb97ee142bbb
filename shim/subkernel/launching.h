/* SPDX-License-Identifier: MIT */
/* A launch while it is being carried out. With the context's lock held. */
#ifndef GS_SHIM_SUBKERNEL_LAUNCHING_H
#define GS_SHIM_SUBKERNEL_LAUNCHING_H

#include "common/lock/locked.h"
#include "shim/plan/plan.h"
#include "shim/put/put.h"
#include "shim/choose/timing.h"

struct gs_launching {
    struct gs_command cmd;
    struct gs_kernel *k;
    struct gs_mem **mems; /* by argument */
    const struct gs_kernel_summary *summary;
    struct gs_geometry geometry;
    bool null_local;
    struct gs_timing *timing; /* of auto mode, or NULL */
    struct gs_timing *cuts;   /* by what it is known where to cut: the same, or that of multi mode; or NULL */
    struct gs_trial trial;    /* of a split that auto mode has chosen, or multi mode may measure */
    struct gs_putting put;    /* of a scheduled application: for whom what belongs to it is enqueued */
    struct gs_job job;        /* where it may run; how it is cut if the application is scheduled */
    bool by_units;            /* it is */
    struct gs_size *size;     /* null: the driver refuses it, or there was no memory */
    const struct gs_kernel_summary *of_units; /* by which it may be cut, or run elsewhere than at home; or null */
};

/* All arguments, with the replicas of the place, but for the hidden one. */
cl_int gs_launch_args(struct gs_launching *l, cl_kernel kernel, unsigned place);

#endif
