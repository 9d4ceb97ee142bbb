/* SPDX-License-Identifier: MIT */
/* A compiler that compiles for us leaves no trace: its words aren't for the application's standard error, and its
 * random numbers come from no sequence of the application's. Of NVIDIA's libraries that compile (580.159)
 * libnvidia-nvvm, libnvidia-ptxjitcompiler and libnvidia-gpucomp import rand and srand. */
#ifndef GS_SHIM_PROCESS_QUIET_H
#define GS_SHIM_PROCESS_QUIET_H

#include <stdbool.h>

/* From now on this thread calls the driver for us alone, or no longer: what it writes to standard error by write() goes
 * nowhere, and its rand() and srand() go to a sequence of its own. Nests. */
void gs_drop_stderr(bool begins);

#endif
