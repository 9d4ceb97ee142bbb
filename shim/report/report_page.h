/* SPDX-License-Identifier: MIT */
/* What report.c has counted, and the page that --stats=FILE.html shows it on. */
#ifndef GS_SHIM_REPORT_REPORT_PAGE_H
#define GS_SHIM_REPORT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/settings.h"

enum { GS_REPORT_REASONS = 8, GS_REPORT_REASON_BYTES = 256 };

struct gs_kernel_stats {
    char *name;
    uint64_t launches, split, compared, verified, wrong;
    uint64_t later;           /* launches that auto mode left on one device for now */
    uint64_t tried, repeated; /* splits on trial that have ended; of these, done over */
    unsigned most_parts, last_dim;
    struct {
        char text[GS_REPORT_REASON_BYTES];
        bool chosen; /* by auto mode */
        uint64_t count;
    } reason[GS_REPORT_REASONS];
    unsigned n_reasons;
    bool splittable;                    /* a kernel of that name, as the translator says; else ... */
    char never[GS_REPORT_REASON_BYTES]; /* ... why not, or "": it hasn't said */
    bool chosen;                        /* by auto mode: */
    uint64_t single_ns, split_ns;       /* its last prediction, or 0 */
    bool unplanned;                     /* which has no transfers */
    uint64_t busy_ns[GS_MAX_DEVICES];   /* device time of its commands */
    uint64_t shortest_ns, longest_ns;   /* of one of them: a launch, or a part of one */
    struct gs_kernel_stats *next;
};

/* A line of the other tables: bytes by a path, or (moves 0, bytes 0) the time of a phase. */
struct gs_report_line {
    const char *name;
    uint64_t bytes, moves, ns;
};

struct gs_report_lines {
    const struct gs_report_line *v;
    unsigned n;
};

/* The page of a process: its kernels, the paths that bytes took (those without moves aren't shown), and its phases. No
 * OpenCL calls: the process ends. */
void gs_report_write_page(FILE *f, const struct gs_kernel_stats *kernels, unsigned devices,
                          const struct gs_report_lines *paths, const struct gs_report_lines *phases);

#endif
