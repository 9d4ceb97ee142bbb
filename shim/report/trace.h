/* SPDX-License-Identifier: MIT */
/* --trace: the timeline of a process in the Chrome trace format; docs/trace.md says what is in it. Nothing here calls
 * OpenCL but for the devices' names. The file is a whole JSON array after each event: an application may end as it
 * likes. */
#ifndef GS_SHIM_REPORT_TRACE_H
#define GS_SHIM_REPORT_TRACE_H

#include "shim/report/watch.h"

void gs_trace_command(const struct gs_ran *ran);

/* A call of this thread that took from begin_ns to end_ns. */
void gs_trace_call(const char *name, uint64_t begin_ns, uint64_t end_ns);

/* A job of a scheduled application begins or ends: a mark in the trace, and the number of the commands between. */
void gs_trace_job(bool begin);
uint64_t gs_trace_job_number(void); /* 0: there is none now */

#endif
