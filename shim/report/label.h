/* SPDX-License-Identifier: MIT */
/* What this thread is about: what the commands are for that it enqueues, and which call of the application it is in.
 * For --trace and --stats. */
#ifndef GS_SHIM_REPORT_LABEL_H
#define GS_SHIM_REPORT_LABEL_H

#include <stdint.h>

#include "common/clock.h"

/* What commands are enqueued for, where the application didn't ask for them itself. */
enum gs_purpose { GS_FOR_APP, GS_FOR_MERGE, GS_FOR_REDUCTION, GS_FOR_VERIFY };

/* How a transfer goes: DIRECT is the driver's own way between the application's memory and a device, STAGED the same
 * through our pinned ring; PINNED and PEER are between two devices. */
enum gs_way { GS_WAY_DIRECT, GS_WAY_STAGED, GS_WAY_PINNED, GS_WAY_PEER };

/* What is known of the commands that this thread enqueues from now on. */
struct gs_label {
    enum gs_purpose purpose;
    enum gs_way way;
    int part; /* of a split launch, counted from 0; -1: of none */
};

extern _Thread_local struct gs_label gs_label;

/* Sets one of them until the block ends that it stands in. Use: GS_LABEL(part, 1); */
static inline void gs_label_end(const struct gs_label *before)
{
    gs_label = *before;
}
#define GS_LABEL(field, value)                                                                                         \
    const struct gs_label gs_label_ __attribute__((cleanup(gs_label_end))) = gs_label;                                 \
    gs_label.field = (value)

/* A call of the application that may block. Use: GS_CALL("clFinish"); it ends with the block that it stands in, and
 * leaves errno as it was. */
struct gs_call {
    const char *name;
    int errno_before;
    uint64_t begin_ns;
};
struct gs_call gs_call_begin(const char *name);
void gs_call_end(const struct gs_call *call);
#define GS_CALL(name) const struct gs_call gs_call_ __attribute__((cleanup(gs_call_end))) = gs_call_begin(name)

#endif
