/* SPDX-License-Identifier: MIT */
/* Kernel launches on pooled memory. */
#ifndef GS_SHIM_POOLED_LAUNCH_H
#define GS_SHIM_POOLED_LAUNCH_H

#include "shim/driver/enqueue.h"
#include "shim/record/objects.h"

struct gs_pool_launch;

/* A launch of the kernel with its arguments as they are now: cut into turns that fit. NULL with an error in *err; that
 * is CL_MEM_OBJECT_ALLOCATION_FAILURE where it fits no device. Translates the kernel's program on first need. */
struct gs_pool_launch *gs_pool_launch_make(struct gs_kernel *k, const struct gs_op *op, cl_int *err);
void gs_pool_launch_free(struct gs_pool_launch *l);

/* Notes at the roots what the launch overwrites unread, and what it reads. Launches are told in the order in which they
 * come after the current command. With the store locked. */
cl_int gs_pool_launch_forecast(const struct gs_pool_launch *l);

/* Carries the launch out but for the end of its last round of turns, which is waited for by gs_pool_launch_end; with an
 * error there is none. Before each round foresee(of) notes the commands after the launch. With the store locked. */
cl_int gs_pool_launch_begin(struct gs_pool_launch *l, cl_int (*foresee)(const void *), const void *of);
cl_int gs_pool_launch_end(struct gs_pool_launch *l);
/* Is it one round of which nothing has to be brought or made? Then it may begin behind another's last round. Likewise.
 */
bool gs_pool_launch_is_ready(const struct gs_pool_launch *l);
/* Its kernel's, for a message. */
const char *gs_pool_launch_name(const struct gs_pool_launch *l);

#endif
