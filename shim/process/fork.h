/* SPDX-License-Identifier: MIT */
#ifndef GS_SHIM_PROCESS_FORK_H
#define GS_SHIM_PROCESS_FORK_H

#include <stdbool.h>

/* In a forked child: the parent's objects are none of ours. */
bool gs_forked(void);

/* By the handler of pthread_atfork, in the child. */
void gs_forked_begin(void);

#endif
