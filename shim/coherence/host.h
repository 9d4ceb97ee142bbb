/* SPDX-License-Identifier: MIT */
/* Where a root's bytes are to be read from that the host wants. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_COHERENCE_HOST_H
#define GS_SHIM_COHERENCE_HOST_H

#include "shim/staging/pieces.h"

/* The stretches of the bytes r of a root (of an image: its bands), of which t is all if they were at home, by the
 * places that hold them. `ready` gains what they must come after. */
cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_extents *s, struct gs_events *ready);

#endif
