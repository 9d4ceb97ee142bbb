/* SPDX-License-Identifier: MIT */
/* The files that the user names for our output. One may be that which a standard stream goes to: /dev/stdout, or what
 * the shell has put there. It holds the application's words, and is neither emptied nor written from its beginning. */
#ifndef GS_COMMON_STREAM_H
#define GS_COMMON_STREAM_H

#include <stdio.h>

/* The descriptor, 1 or 2, that has the same file, pipe or terminal open as `path` leads to; 0: neither. */
int gs_stream_of(const char *path);

/* Can it be written, as far as can be told without changing anything? To be asked before the work whose results it is
 * for. 0 or -errno. */
int gs_can_write(const char *path);

/* Closes what was written: 0, or -errno where not all of it could be. fclose() alone says nothing of a write that
 * failed before. To be called right after the last write, since errno is still that one's. */
int gs_close_written(FILE *f);

#endif
