/* SPDX-License-Identifier: MIT */
/* Devices that work in the host's memory: every place of a buffer is the same bytes, so nothing is ever moved or
 * merged. */
#ifndef GS_SHIM_TRANSFER_SHARED_H
#define GS_SHIM_TRANSFER_SHARED_H

#include "shim/objects.h"

/* For a new buffer, before anything uses it: makes its bytes one for all places if the devices can; root->base is then
 * set. */
void gs_share(struct gs_mem *root);

/* The memory object by which another device reaches the shared bytes. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err);

#endif
