/* SPDX-License-Identifier: MIT */
/* What an application on the devices of several hosts tells `gpusparc run --hosts`, which watches over the servers and
 * names the kernel where one is lost. */
#ifndef GS_SHIM_DEVICES_REMOTE_H
#define GS_SHIM_DEVICES_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/driver/real.h"

enum { GS_REMOTE_STATE_BYTES = 128, GS_REMOTE_FEW_BYTES = 32 * 1024 };

/* The kernel that is launched now. Does nothing for a group of this machine's own devices. */
void gs_remote_note(const char *kernel);

/* Do so many bytes go from the one device to the other without this machine: between two of one server's, or of two
 * servers that reach each other (GPUSPARC_REMOTE_DIRECT)? Few don't: the two servers' way is one more to wait for. */
bool gs_remote_is_direct(cl_device_id from, cl_device_id to, uint64_t bytes);

/* Where to read what goes so, instead of memory of ours, and then to write it from, on the other device: the engine's
 * edit "direct". It is no memory, but stands for some in the one server. */
static inline char *gs_remote_kept(const char *memory)
{
    return (char *)((uintptr_t)memory | (uintptr_t)1 << (8 * sizeof(uintptr_t) - 1));
}

#endif
