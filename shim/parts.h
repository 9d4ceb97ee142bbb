/* SPDX-License-Identifier: MIT */
/* Carries out a launch in parts, as its plan says: brings each part what it needs, runs them, puts their writes
 * together, and gives back one event. With the context's lock held; nothing blocks but what undoes a launch that a
 * device has refused. */
#ifndef GS_SHIM_PARTS_H
#define GS_SHIM_PARTS_H

#include "shim/plan.h"
#include "shim/put.h"
#include "shim/timing.h"
#include "shim/units.h"

/* A launch while it is being carried out. */
struct gs_launching {
    struct gs_command cmd;
    struct gs_kernel *k;
    cl_uint dims;
    const size_t *offset, *global, *local; /* as the application gave them */
    struct gs_mem **mems;                  /* by argument */
    const struct gs_kernel_summary *summary;
    struct gs_geometry geometry;
    bool null_local;
    struct gs_timing *timing;                 /* of auto mode, or NULL */
    uint64_t numbers;                         /* where there is one: a hash of its arguments by value */
    struct gs_trial trial;                    /* of a split that auto mode has chosen */
    struct gs_putting put;                    /* of a scheduled application: for whom what belongs to it is enqueued */
    struct gs_job job;                        /* where it may run; how it is cut if the application is scheduled */
    bool by_units;                            /* it is */
    bool may_try;                             /* it could be split only on trial, and may be: shim/contest.h */
    const struct gs_kernel_summary *of_units; /* by which it may be cut, or run elsewhere than at home; or null */
};

/* All arguments, with the replicas of the place, but for the hidden one. */
cl_int gs_launch_args(struct gs_launching *l, cl_kernel kernel, unsigned place);

/* Is another thread in a call that reads or writes bytes which the launch itself doesn't touch, but what puts its parts
 * together may? Reductions and lists overwrite replicas, merges would take what the host writes for a part's, and
 * --verify puts all bytes back. */
bool gs_is_disturbed(const struct gs_plan *plan);

/* Runs the plan's parts. With !*went nothing has happened that one device couldn't do over; else the error, if there is
 * one, is the application's, as is *event (NULL: nobody wants it). */
cl_int gs_launch_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
