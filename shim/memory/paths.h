/* SPDX-License-Identifier: MIT */
/* What this room keeps of a context: what bytes travel by. All is made on first need, with the context's lock held. */
#ifndef GS_SHIM_MEMORY_PATHS_H
#define GS_SHIM_MEMORY_PATHS_H

#include "shim/record/objects.h"

struct gs_paths {
    struct gs_scratch *scratch;
    uint64_t scratch_most;                   /* bytes of it that are kept; 0: not known yet */
    struct gs_pinned *pinned, *pinned_small; /* between devices, much or little at a time */
    struct gs_peer *peer;
    struct gs_staging *staging;
    struct gs_strided *strided;
    uint64_t between_devices;       /* bytes that went from device to device so far */
    cl_command_queue sharing_queue; /* by which buffers in the host's memory are looked at */
};

void gs_scratch_free(struct gs_context *ctx);
void gs_peer_free(struct gs_peer *p);
void gs_staging_free(struct gs_staging *s);
void gs_strided_free(struct gs_strided *s);

#endif
