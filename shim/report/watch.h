/* SPDX-License-Identifier: MIT */
/* Sees every command on its way to the driver, whoever enqueues it, and learns from its event's profile when it ran:
 * for --trace and --stats. Where neither is wanted gs_enqueue doesn't ask us. */
#ifndef GS_SHIM_REPORT_WATCH_H
#define GS_SHIM_REPORT_WATCH_H

#include <stdint.h>

#include "common/clock.h"
#include "shim/driver/real.h"
#include "shim/report/label.h"

enum gs_kind { GS_KIND_KERNEL, GS_KIND_UPLOAD, GS_KIND_DOWNLOAD, GS_KIND_PEER, GS_KIND_COPY, GS_KIND_MERGE, GS_KINDS };

enum { GS_RAN_NAME = 256 }; /* bytes; longer names of kernels are cut */

/* A command that has run. Times by CLOCK_MONOTONIC: each device's clock is compared with it as commands go by. */
struct gs_ran {
    struct gs_label label;
    enum gs_kind kind;
    char name[GS_RAN_NAME]; /* of the kernel; or fill, map, copy */
    unsigned device;
    uint64_t bytes, items; /* of a transfer; work-items of a kernel */
    uint64_t job;          /* 0: of none */
    uint64_t asked_ns, start_ns, end_ns;
};

/* A kernel's name, malloc'd. NULL: no memory. */
char *gs_kernel_name(cl_kernel kernel);

/* ---- trace.c: --trace, the timeline of a process in the Chrome trace format; docs/trace.md says what is in it.
 * Nothing there calls OpenCL but for the devices' names. The file is a whole JSON array after each event: an
 * application may end as it likes. ---- */

void gs_trace_command(const struct gs_ran *ran);

/* A job of a scheduled application begins or ends: a mark in the trace, and the number of the commands between. */
void gs_trace_job(bool begin);
uint64_t gs_trace_job_number(void); /* 0: there is none now */

#endif
