/* SPDX-License-Identifier: MIT */
/* How long something was under way: the time in which at least one of many spans lay, so that what overlaps, on one
 * device or on several, counts once. All zeros: never. Not thread-safe; the owner locks. */
#ifndef GS_SHIM_REPORT_BUSY_H
#define GS_SHIM_REPORT_BUSY_H

#include "common/rangeset.h"

struct gs_busy {
    struct gs_rangeset recent;
    uint64_t settled_ns; /* of spans before settled_until, which are no longer told apart */
    uint64_t settled_until;
};

void gs_busy_add(struct gs_busy *b, uint64_t begin_ns, uint64_t end_ns);
uint64_t gs_busy_ns(const struct gs_busy *b);

#endif
