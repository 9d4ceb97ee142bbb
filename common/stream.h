/* SPDX-License-Identifier: MIT */
/* Files that the user names for our output. Such a file may be open as a standard stream too (/dev/stdout, or by the
 * shell): it has the application's words, and is neither emptied nor written from its beginning. */
#ifndef GS_COMMON_STREAM_H
#define GS_COMMON_STREAM_H

#include <stdio.h>

/* The descriptor, 1 or 2, that has the same file, pipe or terminal open as `path` leads to; 0: neither. */
int gs_stream_of(const char *path);

/* Can the file be written, as far as can be told without a change? Ask before the work whose results it is for. 0 or
 * -errno. */
int gs_can_write(const char *path);

/* Closes a file; -errno: not everything was written. (fclose() alone says nothing of an earlier failed write.) Call it
 * right after the last write, while errno is still that write's. */
int gs_close_written(FILE *f);

#endif
