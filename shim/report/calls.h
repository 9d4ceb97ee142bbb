/* SPDX-License-Identifier: MIT */
/* Host time by call of the application, for --stats: of those that may block, build or copy (GS_CALL in label.h). */
#ifndef GS_SHIM_REPORT_CALLS_H
#define GS_SHIM_REPORT_CALLS_H

#include <stdint.h>

enum { GS_CALLS_MOST = 32 };

struct gs_call_times {
    const char *name;
    uint64_t calls, ns, shortest_ns, longest_ns;
};

/* A call has returned. The name lives as long as the process, and is at the same place each time. */
void gs_calls_add(const char *name, uint64_t ns);

/* What there has been, the longest in all first. Returns how many. */
unsigned gs_calls_list(struct gs_call_times list[GS_CALLS_MOST]);

#endif
