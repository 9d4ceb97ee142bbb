/* SPDX-License-Identifier: MIT */
/* `gpusparc simulate --generator gcaps`: pinned tasks, and what several published analyses say of them. */
#ifndef GS_CLI_SIMULATE_GCAPS_H
#define GS_CLI_SIMULATE_GCAPS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Do the words choose this generator? */
bool gs_simulate_is_gcaps(int argc, char **argv);

/* The whole command. Ends early, with what it has, when *stop is set. Returns the exit status. */
int gs_simulate_gcaps(int argc, char **argv, const atomic_int *stop);

#endif
