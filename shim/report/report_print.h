/* SPDX-License-Identifier: MIT */
/* What --stats prints of what has been counted. */
#ifndef GS_SHIM_REPORT_REPORT_PRINT_H
#define GS_SHIM_REPORT_REPORT_PRINT_H

#include <stdio.h>

#include "shim/report/busy.h"
#include "shim/report/report.h"

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

#endif
