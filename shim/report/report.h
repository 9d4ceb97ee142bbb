/* SPDX-License-Identifier: MIT */
/* Counts what happens, for --stats and --trace. Calls no OpenCL. */
#ifndef GS_SHIM_REPORT_REPORT_H
#define GS_SHIM_REPORT_REPORT_H

#include <stdio.h>

#include "common/reasons.h"
#include "shim/record/objects.h"
#include "shim/report/watch.h"

/* ---- busy.c: the time in which at least one of many spans lay: overlapping spans, on one device or several, count
 * once. The owner locks ---- */

/* All zeros: no spans. */
struct gs_busy {
    struct gs_rangeset recent;
    uint64_t settled_ns; /* the time of all spans before settled_until */
    uint64_t settled_until;
};

void gs_busy_add(struct gs_busy *b, uint64_t begin_ns, uint64_t end_ns);
uint64_t gs_busy_ns(const struct gs_busy *b);

/* ---- report.c ---- */

/* The paths of bytes. GS_PATH_APP_WRITE and _READ: between the application and a device, as asked; GS_PATH_DIRECT and
 * GS_PATH_STAGED count the same bytes again, by the way that they went. */
enum gs_path {
    GS_PATH_APP_WRITE,
    GS_PATH_APP_READ,
    GS_PATH_DIRECT,
    GS_PATH_STAGED,
    GS_PATH_COPY,
    GS_PATH_HOST,
    GS_PATH_PINNED,
    GS_PATH_PEER,
    GS_PATH_MERGE,
    GS_PATH_REDUCE,
    GS_PATHS
};

/* What else is counted, behind the paths: bytes of pooled memory (docs/memory.md) evicted to the host, and brought to a
 * device; images refused there; programs compiled for this process by earlier ones, and to be compiled for later. */
enum gs_counter { GS_POOL_EVICTED = GS_PATHS, GS_POOL_BROUGHT, GS_POOL_REFUSED, GS_LATER_FOUND, GS_LATER_WISHED };
enum { GS_COUNTED = GS_LATER_WISHED + 1 };

/* Counts one transfer or event, and its bytes; of a path, or an enum gs_counter. Any thread. */
__attribute__((cold)) void gs_report_bytes(unsigned what, uint64_t bytes);
static inline void gs_report_moved(unsigned what, uint64_t bytes)
{
    if (gs_settings()->stats)
        gs_report_bytes(what, bytes);
}

/* So many programs more, or fewer. Any thread. */
void gs_report_later(enum gs_counter what, int more);

/* A device's memory objects, or windows of pooled memory, have so many bytes now, of the `space`. Any thread. */
void gs_report_holds(unsigned device, uint64_t bytes, uint64_t space);

/* Of launches, by what is said of them; count 0: nothing. */
enum { GS_REPORT_COUNTS = 8 };
struct gs_report_count {
    char text[256];
    uint64_t count;
};

struct gs_kernel_stats {
    char *name;
    uint64_t launches, split, verified, wrong;
    uint64_t left_for_now; /* launches left on one device for now by auto mode */
    unsigned most_parts, last_dim;
    struct gs_report_count reason[GS_REPORT_COUNTS], way[GS_REPORT_COUNTS]; /* way: of shim/launch/route.c */
    bool chosen;                                                            /* auto mode has chosen for a launch */
    uint64_t single_ns, split_ns;                                           /* the last prediction; 0: none */
    bool unplanned;                                                         /* the prediction has no transfers */
    uint64_t busy_ns[GS_MAX_DEVICES];                                       /* device time of all commands */
    uint64_t shortest_ns, longest_ns; /* of one command: a launch, or a part of a launch */
    struct gs_kernel_stats *next;
};

/* A kernel's counters, by name; live as long as the process. Beyond 4,096 names all others share one. */
struct gs_kernel_stats *gs_report_kernel(const char *name);

/* Counts one launch: split into n parts along a dimension, or not split, and why. `way`: the launch's, a constant;
 * null: none of the table's. */
void gs_report_split(struct gs_kernel_stats *k, unsigned parts, unsigned dim, const char *way);
void gs_report_single(struct gs_kernel_stats *k, const char *reason, enum gs_left left, const char *way);

/* Auto mode's prediction for the last launch; 0: unknown. `unplanned`: the split's without transfers. */
void gs_report_choice(struct gs_kernel_stats *k, uint64_t single_ns, uint64_t split_ns, bool unplanned);

/* Are times wanted, for --stats or --trace? If so, all queues have profiles. */
static inline bool gs_report_wants_times(void)
{
    return gs_settings()->stats || gs_settings()->trace;
}

/* A command has run: adds the time to those of kernel and path. */
void gs_report_command(const struct gs_ran *ran);

/* A launch was checked by --verify: right, or different from one device's. */
void gs_report_verified(struct gs_kernel_stats *k, bool right);

/* ---- report_print.c: what --stats prints; with report.c's lock, if it can be had at the process's end ---- */

/* Phases of the application's work: between its memory and the devices, and on the devices. */
enum gs_phase { GS_PHASE_WRITE, GS_PHASE_KERNEL, GS_PHASE_MERGE, GS_PHASE_READ, GS_PHASES };

struct gs_report {
    struct gs_kernel_stats *kernels;
    struct gs_busy busy[GS_PATHS], phases[GS_PHASES];
    atomic_uint_fast64_t moved[GS_COUNTED], moves[GS_COUNTED];             /* bytes, and number of transfers */
    atomic_uint_fast64_t most_held[GS_MAX_DEVICES], space[GS_MAX_DEVICES]; /* see gs_report_holds */
};

/* The time of the device that was busy longest with the kernel. */
uint64_t gs_report_kernel_ns(const struct gs_kernel_stats *k);

/* As lines of text, with 48 characters of a kernel's name at most. */
void gs_report_print(FILE *f, const struct gs_report *r);

void gs_report_print_json(FILE *f, const struct gs_report *r);

/* ---- Files of --stats and --trace, written by an application's processes: all of one `gpusparc run`, which has
 * emptied the file, or without the launcher all that live at the same time ---- */

/* Opens an ordinary file, made if need be, for reading and writing; never as one of the standard descriptors 0 to 2.
 * -errno; -ENOTSUP: not an ordinary file. */
int gs_report_open(const char *path);

/* Joins the processes that write the file together. Without the launcher the first one empties it. 0 or -errno. */
int gs_report_join(int fd);

#endif
