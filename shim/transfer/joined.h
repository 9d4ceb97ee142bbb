/* SPDX-License-Identifier: MIT */
/* Stretches of a buffer that lie in columns, as few transfers. Pure. */
#ifndef GS_SHIM_TRANSFER_JOINED_H
#define GS_SHIM_TRANSFER_JOINED_H

#include "shim/transfer/host.h"

/* Runs of bytes in rising order, of which those on one place that have one length, of `least` bytes at least, and one
 * distance become the rows of one. Their order changes. */
void gs_stretches_join(struct gs_stretches *s, size_t least);

#endif
