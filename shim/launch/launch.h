/* SPDX-License-Identifier: MIT */
/* A kernel launch, from its call to its event. route.c chooses the way: unchanged on one device; as one unit or in
 * several chunks of work-groups under a daemon; in parts, by a plan; or both whole and in parts, to compare. Calls hold
 * the context's lock unless said otherwise. Nothing blocks but --verify, and undoing a refused launch. */
#ifndef GS_SHIM_LAUNCH_LAUNCH_H
#define GS_SHIM_LAUNCH_LAUNCH_H

#include "shim/put/put.h"
#include "shim/choose/timing.h"

/* ---- units.c: a box of a launch on one place; under a daemon in chunks, one unit each ---- */

/* A box of work-groups of one launch, on one place. */
struct gs_kernel_run {
    struct gs_kernel *k;
    cl_kernel kernel; /* has all arguments but the hidden one */
    unsigned place;
    struct gs_geometry geometry;
    const struct gs_kernel_summary *summary; /* with `hidden` set, the box's begin is the base */
    struct gs_cut cut;
    struct gs_size *size; /* the launch's size record */
    unsigned factor;      /* a chunk has so many times the configured work-groups */
    bool odd;             /* of no whole work-groups: the last chunk goes first, so that the driver objects at once */
    cl_sampler *samplers; /* of chunks enqueued later, by argument: kept; or null */
    uint64_t shift[GS_SHIFTS]; /* by argument: of a pointer to a range */
};

/* Cuts the box into chunks of the job's kernel_chunk, or of a multiple where such chunks were short. A short box stays
 * whole while no other application waits for the device. */
void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box);

/* Runs all chunks of the box, by units if this thread enqueues for a command that goes by units. If there are several,
 * run->kernel is a spare kernel, the units' even on an error. The caller releases *end. *to: queues and wait list. */
cl_int gs_run_kernel(const struct gs_units *to, const struct gs_kernel_run *run, cl_event *end);

/* ---- route.c: a table from facts about a launch to a way; docs/commands.md explains the ways ---- */

/* Facts before GS_LAUNCH_PLANNED are known at the call, the others once the launch is planned. */
enum gs_launch_fact {
    GS_LAUNCH_UNITS = 1 << 0,  /* the application is scheduled */
    GS_LAUNCH_PASSES = 1 << 1, /* the launch can go unchanged, under a daemon as one unit: facts_of_call in launch.c */
    GS_LAUNCH_PLANNED = 1 << 2,
    GS_LAUNCH_PAYS = 1 << 3, /* there is a plan, and the split is worth its price */
    GS_LAUNCH_VERIFIED = 1 << 4,
    GS_LAUNCH_AWAY = 1 << 5,    /* the job has another device than home, and the launch may run there */
    GS_LAUNCH_MEASURED = 1 << 6 /* auto mode wants to know what one device takes */
};
enum { GS_LAUNCH_FACTS = 7 };

enum gs_route {
    GS_ROUTE_DRIVER,   /* unchanged; with several devices under the context's lock, while all bytes are at home */
    GS_ROUTE_UNIT,     /* one unit: nothing to choose, bring home or note */
    GS_ROUTE_LOOK,     /* the launch is planned, and then goes a way from below */
    GS_ROUTE_PARTS,    /* in parts, by the plan */
    GS_ROUTE_VERIFIED, /* in parts, and once more whole */
    GS_ROUTE_AWAY,     /* whole, on another device than home */
    GS_ROUTE_MEASURED, /* whole, in a queue with profiles */
    GS_ROUTE_COUNTED,  /* whole, and the time that its units take is counted */
    GS_ROUTE_WHOLE,    /* on the first device */
    GS_ROUTES
};

enum gs_route gs_launch_route(unsigned facts);
/* For --stats, by which each launch is looked at: of those that follow GS_ROUTE_LOOK. */
const char *gs_route_name(enum gs_route route);

/* ---- launch.c ---- */

/* A launch while it is carried out. */
struct gs_launching {
    struct gs_command cmd;
    struct gs_kernel *k;
    struct gs_mem **mems; /* by argument */
    const struct gs_kernel_summary *summary;
    struct gs_geometry geometry;
    bool is_long;                 /* gs_launch_is_long */
    struct gs_size *size;         /* null: the driver refuses the launch, or there was no memory */
    struct {                      /* for auto mode to choose, and for multi mode to cut well and measure */
        struct gs_timing *timing; /* of auto mode, or NULL */
        struct gs_timing *cuts;   /* times that say where to cut: `timing`, or multi mode's; or NULL */
        struct gs_trial trial;    /* of a split that auto mode has chosen, or multi mode may measure */
    } choice;
    struct gs_job job;             /* cmd.units. Without, too: place, n: the devices on which the launch may run */
    struct {                       /* of a split, by part */
        struct gs_kernel_run *run; /* spare kernels are ours until they are enqueued */
        struct gs_events ready[GS_MAX_DEVICES];
        cl_event ran[GS_MAX_DEVICES];
    } part;
    const struct gs_kernel_summary *translated; /* by units, for chunks or for another device than home; or null */
};

/* Carries out a launch of the kernel k, with one event. Takes the context's lock. Errors are the driver's. */
cl_int gs_launch(const struct gs_command *cmd, struct gs_kernel *k);

/* ---- whole.c ---- */

/* Gives a kernel all arguments, with the replicas of the place, but for the hidden one. Sets run->shift. */
cl_int gs_launch_args(struct gs_launching *l, struct gs_kernel_run *run);

/* May the launch write to the memory object in this argument, directly or by an address that the kernel stores? */
bool gs_launch_may_write(const struct gs_launching *l, cl_uint arg);

/* Is the launch more than one unit, by the time that its chunks took before? Not without units. Needs no lock. */
bool gs_launch_is_long(const struct gs_launching *l);

/* The translation's summary for a launch that isn't split, for several chunks or another device than home; else null.
 * Needs no lock; may wait for the compiler. */
const struct gs_kernel_summary *gs_launch_translation(struct gs_launching *l);

/* One unit on the first device, with the application's own kernel. No bytes may have to come home or be noted. */
cl_int gs_launch_unit(const struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event);

/* Runs the launch whole on the first device: brings its bytes home, and notes its writes. Errors are the driver's. */
cl_int gs_launch_single(struct gs_launching *l, cl_event *event);

/* gs_launch_single in a queue with profiles, so that auto mode learns the launch's time. */
cl_int gs_launch_measured(struct gs_launching *l, cl_event *event);

/* gs_launch_single by units, the sum of whose times auto mode learns. */
cl_int gs_launch_counted(struct gs_launching *l, cl_event *event);

/* ---- parts.c: each part gets its bytes and runs; the parts' writes become one memory, and there is one event ---- */

/* Is a call without the context's lock reading bytes that the launch changes, or changing bytes that the launch uses?
 * Then the launch must run at home, in the application's queue, where the call's command is too. */
bool gs_plan_is_in_use(const struct gs_plan *plan);

/* Is what the parts write put together at home, by comparison or (reduced_too) by a reduction? */
bool gs_plan_is_joined(const struct gs_plan *plan, bool reduced_too);

/* Runs the plan's parts. *went false: nothing has happened, and one device can do the whole launch instead. Else the
 * returned error and *event are the application's (event may be NULL). */
cl_int gs_launch_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

/* ---- verify.c: runs a split launch on one device too, from the same bytes, and compares the results. Blocks. Takes
 * host memory of three to six times what the launch writes. ---- */

/* May the host read and write all bytes that the launch writes? */
bool gs_verify_usable(const struct gs_plan *plan);

/* The application gets one device's result and event. For *went see gs_launch_parts. */
cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went);

#endif
