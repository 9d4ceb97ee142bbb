/* SPDX-License-Identifier: MIT */
/* Devices that work in the host's memory: every place of a buffer is the same bytes, so nothing is ever moved or
 * merged. */
#ifndef GS_SHIM_MEMORY_SHARED_H
#define GS_SHIM_MEMORY_SHARED_H

#include "shim/record/objects.h"

/* For a new buffer, before anything uses it: makes its bytes one for all places if the devices can; root->shared is
 * then set. In auto mode and on PoCL that is put off until a launch with it is planned, which short ones never are: to
 * be told the address takes 60 us there, each time that an application makes a buffer. With the context's lock held. */
void gs_share(struct gs_mem *root);

/* The same, before a launch is planned that uses it. Doesn't wait. */
void gs_share_now(struct gs_mem *root);

/* The memory object by which another device reaches the shared bytes. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err);

#endif
