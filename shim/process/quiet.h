/* SPDX-License-Identifier: MIT */
/* A compiler that compiles for us leaves no trace: its words aren't for the application's standard error, and its
 * random numbers come from no sequence of the application's (random.h). */
#ifndef GS_SHIM_PROCESS_QUIET_H
#define GS_SHIM_PROCESS_QUIET_H

#include <stdbool.h>

/* From now on, what this thread writes to standard error by write() goes nowhere, and gs_random_own
 * holds; or no longer. Nests. */
void gs_quiet(bool begins);

#endif
