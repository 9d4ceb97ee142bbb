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

/* The driver is about to be loaded. */
void gs_driver_comes(void);

/* Does the address lie in what has been loaded since: the driver, and what it brings along? */
bool gs_is_of_driver(const void *address);

#endif
