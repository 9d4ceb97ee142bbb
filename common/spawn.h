/* SPDX-License-Identifier: MIT */
/* Runs a program from inside an application that must not notice: the application gets no SIGCHLD, and its wait() finds
 * no child. None of its descriptors, signal handlers, or variables for gpusparc reach the program. */
#ifndef GS_COMMON_SPAWN_H
#define GS_COMMON_SPAWN_H

#include <stddef.h>
#include <stdint.h>

/* Runs `path` without arguments, `input` as its standard input, its error output thrown away, and waits for its end.
 * Its address space is limited to memory_bytes, unless that is 0. *output (malloc'd) takes what it writes. 0; -ETIME:
 * killed after `timeout_ms`; -EPIPE: could not be started or failed, *how says which; -ENOMEM. */
int gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes, char **output,
             size_t *output_bytes, const char **how);

/* Starts `path` for work after the application's end, and doesn't wait: nobody's child, in its own session, shown by ps
 * as `name`, without terminal or the application's descriptors. The program gets the variables that lead to the same
 * devices and the same translation, and `more` (ended by null). It may compute for limit_ms. Errors are ignored. */
void gs_spawn_beyond(const char *path, const char *name, int limit_ms, const char *const *more);

#endif
