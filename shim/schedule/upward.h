/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_SCHEDULE_UPWARD_H
#define GS_SHIM_SCHEDULE_UPWARD_H

#include "shim/record/objects.h"

struct gs_schedule_memory {
    /* gs_peer_carries(): how many bytes go by a window in so long; 0: not known. */
    uint64_t (*carries)(const struct gs_context *ctx, uint64_t ns);
};
extern const struct gs_schedule_memory gs_schedule_memory;

struct gs_schedule_choice {
    /* gs_timing_passes(): is the kernel known to be too short at this size? */
    bool (*passes)(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local);
};
extern const struct gs_schedule_choice gs_schedule_choice;

#endif
