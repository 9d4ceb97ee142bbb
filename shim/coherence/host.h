/* SPDX-License-Identifier: MIT */
/* Reads a root's bytes into the host's memory from wherever they are valid, and says where what the host writes is
 * wanted. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_COHERENCE_HOST_H
#define GS_SHIM_COHERENCE_HOST_H

#include "shim/staging/pieces.h"

/* The stretches of the bytes r of a root (of an image: its bands), of which t is all if they were at home, by the
 * places that hold them. `ready` gains what they must come after. */
cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_extents *s, struct gs_events *ready);

/* The bytes r of a buffer that the host is to write, of which t is all if they went home: a stretch that one place
 * alone has required since the host last wrote it goes there; the rest goes home. None: all goes home. Whatever is
 * required from now on is for the next time. */
cl_int gs_host_targets(struct gs_mem *root, struct gs_range r, const struct gs_staged *t, struct gs_extents *s);

#endif
