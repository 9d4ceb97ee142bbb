/* SPDX-License-Identifier: MIT */
/* Programs that a command starts and listens to. */
#ifndef GS_CLI_CHILD_H
#define GS_CLI_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Starts argv[0], looked for on the PATH where it has no slash, in a process group of its own: Ctrl-C reaches only us,
 * and what the program starts ends with the group. No standard input; what it prints goes to the files `out` and `err`,
 * which are made or emptied. 0, or -errno. */
int gs_child_start(char *const argv[], const char *out, const char *err, pid_t *pid);

/* The last line of the file that isn't empty: what a program that failed has said. Empty: there is none. */
void gs_last_line(const char *path, char *line, size_t bytes);

#endif
