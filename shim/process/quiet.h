/* SPDX-License-Identifier: MIT */
/* What a compiler says by itself while it compiles for us isn't for the application's standard error. */
#ifndef GS_SHIM_PROCESS_QUIET_H
#define GS_SHIM_PROCESS_QUIET_H

#include <stdbool.h>

/* From now on, what this thread writes to standard error by write() goes nowhere; or no longer. Nests. */
void gs_quiet(bool begins);

#endif
