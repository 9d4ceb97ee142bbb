/* SPDX-License-Identifier: MIT */
/* Counts what happens, for --stats and --trace. Nothing here calls OpenCL but the callback that reads a profile. */
#ifndef GS_SHIM_REPORT_REPORT_H
#define GS_SHIM_REPORT_REPORT_H

#include <stdio.h>

#include "common/reasons.h"
#include "shim/record/objects.h"
#include "shim/report/watch.h"

/* ---- busy.c: how long something was under way: the time in which at least one of many spans lay, so that what
 * overlaps, on one device or on several, counts once. Not thread-safe; the owner locks ---- */

/* All zeros: never. */
struct gs_busy {
    struct gs_rangeset recent;
    uint64_t settled_ns; /* of spans before settled_until, which are no longer told apart */
    uint64_t settled_until;
};

void gs_busy_add(struct gs_busy *b, uint64_t begin_ns, uint64_t end_ns);
uint64_t gs_busy_ns(const struct gs_busy *b);

/* ---- report.c ---- */

/* How bytes travelled. GS_PATH_APP: between the application and a device, as the application asked; GS_PATH_DIRECT and
 * GS_PATH_STAGED: the same bytes again, by the way in which they went. */
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
    GS_PATHS,
    /* What isn't on a path: bytes of pooled memory (docs/memory.md) that went to the host for a window that was given
     * up, and that were brought to a device; an image of a kind that it doesn't have, which was refused. */
    GS_POOL_EVICTED = GS_PATHS,
    GS_POOL_BROUGHT,
    GS_POOL_REFUSED,
    /* Programs that earlier processes had compiled for this one, and that are to be compiled for later ones. */
    GS_LATER_FOUND,
    GS_LATER_WISHED,
    GS_COUNTED
};

/* Counts one transfer or event, and its bytes. From any thread. */
__attribute__((cold)) void gs_report_bytes(enum gs_path path, uint64_t bytes);
static inline void gs_report_moved(enum gs_path path, uint64_t bytes)
{
    if (gs_settings()->stats)
        gs_report_bytes(path, bytes);
}

/* So many programs more, or fewer. From any thread. */
void gs_report_later(enum gs_path what, int more);

/* A device's windows of pooled memory have so many bytes now, of the `room` for them. From any thread. */
void gs_report_pool_holds(unsigned device, uint64_t bytes, uint64_t room);

enum { GS_REPORT_REASONS = 8, GS_REPORT_REASON_BYTES = 256 };

struct gs_kernel_stats {
    char *name;
    uint64_t launches, split, verified, wrong;
    uint64_t later; /* launches that auto mode left on one device for now */
    unsigned most_parts, last_dim;
    struct {
        char text[GS_REPORT_REASON_BYTES];
        uint64_t count;
    } reason[GS_REPORT_REASONS];
    unsigned n_reasons;
    bool chosen;                      /* by auto mode: */
    uint64_t single_ns, split_ns;     /* its last prediction, or 0 */
    bool unplanned;                   /* which has no transfers */
    uint64_t busy_ns[GS_MAX_DEVICES]; /* device time of its commands */
    uint64_t shortest_ns, longest_ns; /* of one of them: a launch, or a part of one */
    struct gs_kernel_stats *next;
};

/* The counters of a kernel, by name; they live as long as the process. Beyond 4,096 names all others share one. */
struct gs_kernel_stats *gs_report_kernel(const char *name);

/* One launch that was split into n parts along a dimension, or that was not and why. */
void gs_report_split(struct gs_kernel_stats *k, unsigned parts, unsigned dim);
void gs_report_single(struct gs_kernel_stats *k, const char *reason, enum gs_left left);

/* What auto mode expected of the last launch; 0: it wasn't known. `unplanned`: of a split without its transfers. */
void gs_report_choice(struct gs_kernel_stats *k, uint64_t single_ns, uint64_t split_ns, bool unplanned);

/* Whether times are wanted, for --stats or --trace: all queues then have profiles. */
static inline bool gs_report_wants_times(void)
{
    return gs_settings()->stats || gs_settings()->trace;
}

/* A command has run: adds its time to those of its kernel and of its path. */
void gs_report_command(const struct gs_ran *ran);

/* A launch whose result differed from one device's (--verify), or that was checked and right. */
void gs_report_verified(struct gs_kernel_stats *k, bool right);

/* ---- report_print.c: what --stats prints of what has been counted ---- */

/* Between the application and the devices, and on these. */
enum gs_phase { GS_PHASE_WRITE, GS_PHASE_KERNEL, GS_PHASE_MERGE, GS_PHASE_READ, GS_PHASES };

struct gs_report {
    struct gs_kernel_stats *kernels;
    struct gs_busy busy[GS_PATHS], phases[GS_PHASES];
    atomic_uint_fast64_t moved[GS_COUNTED], moves[GS_COUNTED];            /* bytes, and times that some were */
    atomic_uint_fast64_t most_held[GS_MAX_DEVICES], room[GS_MAX_DEVICES]; /* of pooled memory */
};

/* How long the device was busy with the kernel that was so the longest. */
uint64_t gs_report_kernel_ns(const struct gs_kernel_stats *k);

/* As lines of text; of a kernel's name 48 characters at most. */
void gs_report_print(FILE *f, const struct gs_report *r);

void gs_report_print_json(FILE *f, const struct gs_report *r);

/* ---- The files that --stats and --trace write from inside an application, which may be several processes:
 * those of one `gpusparc run`, which has emptied the file, or without it those that live at the same time ---- */

/* Opens an ordinary file, made where it isn't there, for reading and writing. The descriptor is none of those that an
 * application takes for its standard streams. -errno; -ENOTSUP: it is no ordinary file. */
int gs_report_open(const char *path);

/* Joins those who write the file together. Without the launcher, the first empties it. 0 or -errno. */
int gs_report_join(int fd);

#endif
