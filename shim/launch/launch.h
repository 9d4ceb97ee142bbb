/* SPDX-License-Identifier: MIT */
/* A kernel launch, and the ways that it may go (route.c): on one device as it is, or, under a daemon's schedule, as
 * one unit or in several chunks of its work-groups; in parts, as its plan says; or both, to compare. With the context's
 * lock held, unless said otherwise; nothing blocks but --verify, and undoing a launch that a device has refused. */
#ifndef GS_SHIM_LAUNCH_LAUNCH_H
#define GS_SHIM_LAUNCH_LAUNCH_H

#include "shim/put/put.h"
#include "shim/choose/timing.h"

/* ---- units.c: a sub-kernel, a box of a launch on one place; under a daemon in chunks of a unit each ---- */

/* A box of a launch on one place. */
struct gs_kernel_run {
    struct gs_kernel *k;
    cl_kernel kernel; /* with its arguments, but for the hidden one */
    unsigned place;
    struct gs_geometry geometry;
    bool null_local;
    const struct gs_kernel_summary *summary; /* with `hidden` the box's begin is the base */
    struct gs_cut cut;
    struct gs_size *size; /* of the launch */
    unsigned factor;      /* by which its chunks are larger than the configured ones */
    bool odd; /* its sizes are no multiples: the last chunk goes first, so that the driver sees it at once */
};

/* Enqueues one chunk, and sets the hidden argument for it. */
cl_int gs_enqueue_chunk(const struct gs_kernel_run *run, unsigned chunk, cl_command_queue queue, cl_uint n_wait,
                        const cl_event *wait, cl_event *event);

/* Cuts the box by the job's kernel_chunk, or larger where chunks are short; a short one not at all if nobody waits. */
void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box);

/* Runs it. With several chunks its kernel is a spare one, taken over whatever comes of it. *end is the caller's. */
cl_int gs_run_kernel(const struct gs_destination *to, const struct gs_kernel_run *run, cl_event *end);

/* ---- route.c: which way a launch goes, by facts about it: a table. docs/commands.md has it in words ---- */

/* What is known when the launch is called for; the facts after GS_LAUNCH_PLANNED, once it is planned. */
enum gs_launch_fact {
    GS_LAUNCH_UNITS = 1 << 0,  /* the application is scheduled */
    GS_LAUNCH_PASSES = 1 << 1, /* it goes as it is, of units as one: facts_of_call in launch.c */
    GS_LAUNCH_PLANNED = 1 << 2,
    GS_LAUNCH_PAYS = 1 << 3, /* there is a plan, and it is worth it */
    GS_LAUNCH_VERIFIED = 1 << 4,
    GS_LAUNCH_AWAY = 1 << 5,    /* its job has another device than home alone, and may have it there */
    GS_LAUNCH_MEASURED = 1 << 6 /* auto mode wants to know what one device takes */
};
enum { GS_LAUNCH_FACTS = 7 };

enum gs_route {
    GS_ROUTE_DRIVER,   /* handed on; of several devices under the context's lock, while all is still at home */
    GS_ROUTE_UNIT,     /* one unit, without a look at what there is to choose, to bring and to note */
    GS_ROUTE_LOOK,     /* it is planned, and goes one of the ways below */
    GS_ROUTE_PARTS,    /* in parts, by the plan */
    GS_ROUTE_VERIFIED, /* in parts, and once more whole */
    GS_ROUTE_AWAY,     /* whole, on another device than home */
    GS_ROUTE_MEASURED, /* whole, on a queue with profiles */
    GS_ROUTE_COUNTED,  /* whole, and what its units take is counted */
    GS_ROUTE_WHOLE,    /* on the first device */
    GS_ROUTES
};

enum gs_route gs_launch_route(unsigned facts);

/* ---- launch.c ---- */

/* A launch while it is carried out. */
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

/* Carries out a launch of the kernel k, as one event; errors are the driver's. Takes the context's lock. */
cl_int gs_launch(const struct gs_command *cmd, struct gs_kernel *k);

/* ---- whole.c ---- */

/* Gives a kernel all arguments, with the replicas of the place, but for the hidden one. */
cl_int gs_launch_args(struct gs_launching *l, cl_kernel kernel, unsigned place);

/* Its work-items and groups, with the work-group size that the kernel demands. Needs no lock. */
void gs_launch_geometry(struct gs_launching *l);

/* May it write what this argument, a memory object, leads to? An address that is stored, or used as a number, may. */
bool gs_launch_may_write(const struct gs_launching *l, cl_uint arg);

/* Is it more than one unit, by what its chunks took before? Needs no lock. */
bool gs_launch_is_long(const struct gs_launching *l);

/* The translated kernel of a launch that isn't split, for several chunks or another device than home; else null. Needs
 * no lock; may wait for the compiler. */
const struct gs_kernel_summary *gs_launch_units(struct gs_launching *l);

/* As one unit on the first device by the application's own kernel: nothing has to come home, nor to be noted. */
cl_int gs_launch_unit(const struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event);

/* On the first device: brings home what the launch uses, and notes its writes. Errors are the driver's. */
cl_int gs_launch_single(struct gs_launching *l, cl_event *event);

/* The same on a queue with profiles, so that auto mode learns how long it takes. */
cl_int gs_launch_measured(struct gs_launching *l, cl_event *event);

/* The same by units: their times are the launch's. */
cl_int gs_launch_counted(struct gs_launching *l, cl_event *event);

/* ---- parts.c: each part gets what it needs and runs; their writes become one memory, and there is one event ---- */

/* Is another thread, without the context's lock, in a call that uses bytes which the launch changes, or changes bytes
 * which it uses? Then the launch runs at home, by the application's queue, as the call's command does. */
bool gs_plan_is_in_use(const struct gs_plan *plan);

/* Runs the plan's parts. With !*went nothing has happened that one device couldn't do over; else the error, if there is
 * one, is the application's, as is *event (NULL: nobody wants it). */
cl_int gs_launch_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

/* ---- verify.c: a split launch runs on one device too, from the same bytes, and what either leaves is compared.
 * Blocks, and takes the memory of what the launch writes three times over on the host. ---- */

/* Whether the host may read and write all that the launch writes. */
bool gs_verify_usable(const struct gs_plan *plan);

/* The application gets one device's result, and the event. *went: see gs_launch_parts. */
cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
