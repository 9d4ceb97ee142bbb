/* SPDX-License-Identifier: MIT */
/* Runs a program from inside an application that must not notice: it gets no SIGCHLD, its wait() finds no child, and
 * none of its descriptors, signal handlers or variables meant for gpusparc reach the program. */
#ifndef GS_COMMON_SPAWN_H
#define GS_COMMON_SPAWN_H

#include <stddef.h>
#include <stdint.h>

/* Runs `path` without arguments, `input` as its standard input, its error output thrown away, and waits for its end.
 * Its address space is limited to memory_bytes, unless that is 0. *output (malloc'd) takes what it writes. 0; -ETIME:
 * killed after `timeout_ms`; -EPIPE: could not be started or failed, *how says which; -ENOMEM. */
int gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes, char **output,
             size_t *output_bytes, const char **how);

/* Starts `path` for what is to be done once the application has ended, and doesn't wait for it: nobody's child, in a
 * session of its own, known to ps as `name`, with no terminal and no descriptor of the application's. Of the variables
 * it has those by which the same devices and the same translation are found, and `more`, of which the last is null. It
 * may compute for limit_ms. What can't be started isn't. */
void gs_spawn_beyond(const char *path, const char *name, int limit_ms, const char *const *more);

#endif
