/* SPDX-License-Identifier: MIT */
/* What this process is, and what its user has asked of gpusparc. Any thread. */
#ifndef GS_SHIM_PROCESS_PROCESS_H
#define GS_SHIM_PROCESS_PROCESS_H

#include <stdbool.h>

#include "common/settings.h"

/* From the environment, read once. */
const struct gs_settings *gs_settings(void);

/* In a forked child: the parent's objects are none of ours. */
bool gs_forked(void);

/* By the handler of pthread_atfork, in the child. */
void gs_forked_begin(void);

/* The library that has the address is the driver, which our threads call. */
void gs_driver_is_at(void *address);

/* Does the address lie in the driver's library? False before it is known. */
bool gs_is_of_driver(void *address);

#endif
