/* SPDX-License-Identifier: MIT */
/* Devices that work in the host's memory: every place of a buffer is the same bytes, so nothing is ever moved or
 * merged. */
#ifndef GS_SHIM_MEMORY_SHARED_H
#define GS_SHIM_MEMORY_SHARED_H

#include "shim/record/objects.h"

/* For a new buffer, before anything uses it: makes its bytes one for all places if the devices can; root->shared is
 * then set. In auto mode and on PoCL this is put off until a launch with the buffer is planned, and short launches
 * never are: to ask for the address takes 60 us there for each new buffer. With the context's lock held. */
void gs_share(struct gs_mem *root);

/* The same, before a launch with the buffer is planned. Doesn't wait. */
void gs_share_now(struct gs_mem *root);

/* The memory object by which another device reaches the shared bytes. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err);

#endif
