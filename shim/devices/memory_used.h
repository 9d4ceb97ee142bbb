/* SPDX-License-Identifier: MIT */
/* How many bytes the application's memory objects take on each device, with their replicas, by their sizes. For the
 * daemon's status: who has filled a GPU? */
#ifndef GS_SHIM_DEVICES_MEMORY_USED_H
#define GS_SHIM_DEVICES_MEMORY_USED_H

#include <stdint.h>

/* So many bytes more on a place, or fewer. From any thread. */
void gs_memory_used(unsigned place, int64_t bytes);

/* From now on `tell` hears of each change too, first of what there is already. Once; a change that comes at that very
 * moment may be missed. */
void gs_memory_watch(void (*tell)(unsigned place, int64_t bytes));

#endif
