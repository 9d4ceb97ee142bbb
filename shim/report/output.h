/* SPDX-License-Identifier: MIT */
/* The files that --stats and --trace write from inside an application, which may be several processes: those of one
 * `gpusparc run`, which has emptied the file, or without it those that live at the same time. */
#ifndef GS_SHIM_REPORT_OUTPUT_H
#define GS_SHIM_REPORT_OUTPUT_H

#include <stdbool.h>

/* Opens an ordinary file, made where it isn't there, for reading and writing. The descriptor is none of those that an
 * application takes for its standard streams. -errno; -ENOTSUP: it is no ordinary file. */
int gs_report_open(const char *path);

/* Is this process the first? The file is then empty, and is this process's until it ends. Else (false) another writes
 * it or has written it, in this run. -errno. */
int gs_report_is_first(int fd);

/* Joins those who write the file together. Without the launcher, the first empties it. 0 or -errno. */
int gs_report_join(int fd);

#endif
