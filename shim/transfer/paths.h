/* SPDX-License-Identifier: MIT */
/* What this room knows of a context. */
#ifndef GS_SHIM_TRANSFER_PATHS_H
#define GS_SHIM_TRANSFER_PATHS_H

#include "shim/record/objects.h"

/* What bytes of a context travel by; each is made on first need. */
struct gs_paths {
    struct gs_pinned *pinned, *pinned_small; /* between devices, much or little at a time */
    struct gs_peer *peer;
    uint64_t between_devices; /* bytes that went from device to device so far */
};

void gs_peer_free(struct gs_peer *p);

#endif
