/* SPDX-License-Identifier: MIT */
/* Runs a program from inside an application that must not notice: it gets no SIGCHLD, its wait() finds no child, and
 * none of its descriptors, signal handlers or variables meant for gpusparc reach the program. */
#ifndef GS_TRANSLATOR_SPAWN_H
#define GS_TRANSLATOR_SPAWN_H

#include <stddef.h>

/* Runs `path` without arguments, `input` as its standard input, its error output thrown away, and waits for its end.
 * *output (malloc'd) takes what it writes. 0; -ETIME: killed after `timeout_ms`; -EPIPE: could not be started or
 * failed, *how says which; -ENOMEM. */
int gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, char **output, size_t *output_bytes,
             const char **how);

#endif
