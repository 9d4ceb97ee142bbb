/* SPDX-License-Identifier: MIT */
/* The C library's random sequences belong to the application: what a driver takes for us comes from another one. Of
 * NVIDIA's libraries that compile (580.159) libnvidia-nvvm, libnvidia-ptxjitcompiler and libnvidia-gpucomp import rand
 * and srand. */
#ifndef GS_SHIM_PROCESS_RANDOM_H
#define GS_SHIM_PROCESS_RANDOM_H

#include <stdbool.h>

/* From now on this thread calls the driver for us alone, or no longer: rand(), random(), drand48() and their like, and
 * what seeds them, go to a sequence of the thread's own. Nests. */
void gs_random_own(bool begins);

#endif
