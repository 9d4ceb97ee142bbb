/* SPDX-License-Identifier: MIT */
/* Stretches of a buffer that lie in columns, as few transfers. Pure. */
#ifndef GS_SHIM_MEMORY_COALESCE_H
#define GS_SHIM_MEMORY_COALESCE_H

#include "shim/memory/host.h"

/* Runs of bytes in rising order, of which those on one place that have one length, of `least` bytes at least, and one
 * distance become the rows of one. Their order changes. */
void gs_extents_join(struct gs_extents *s, size_t least);

#endif
