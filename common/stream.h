/* SPDX-License-Identifier: MIT */
/* A file that the user names for our own output may be the one that a standard stream goes to: /dev/stdout, or what the
 * shell has put there. It holds the application's words, and is neither emptied nor written from its beginning. */
#ifndef GS_COMMON_STREAM_H
#define GS_COMMON_STREAM_H

/* The descriptor, 1 or 2, that has the same file, pipe or terminal open as `path` leads to; 0: neither. */
int gs_stream_of(const char *path);

#endif
