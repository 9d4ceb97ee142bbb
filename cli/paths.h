/* SPDX-License-Identifier: MIT */
/* Where the parts of gpusparc lie: beside this program, in the build tree as where it is installed. */
#ifndef GS_CLI_PATHS_H
#define GS_CLI_PATHS_H

#include <stddef.h>

/* The absolute path of lib/gpusparc/NAME, or of bin/NAME. 0, or -errno with as much of the path as is known. */
int gs_library_path(const char *name, char *path, size_t bytes);
int gs_program_path(const char *name, char *path, size_t bytes);

/* Takes out of this process's environment what puts the shim into the application of a gpusparc run: the servers of
 * --hosts are for all of this machine's devices. */
void gs_forget_run(void);

#endif
