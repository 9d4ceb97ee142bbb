/* SPDX-License-Identifier: MIT */
/* Reads a buffer's bytes into the host's memory from wherever they are valid. With the context's lock held; nothing
 * blocks. */
#ifndef GS_SHIM_TRANSFER_HOST_H
#define GS_SHIM_TRANSFER_HOST_H

#include "shim/command.h"

/* ptr[0 …] = the bytes r of the root. Each read waits for cmd->before; its event goes to `done`, its place to device[].
 */
cl_int gs_host_read(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, void *ptr, struct gs_events *done,
                    unsigned device[], unsigned most);

#endif
