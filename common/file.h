/* SPDX-License-Identifier: MIT */
/* Files that somebody names. What has no end, as /dev/zero, or is larger than anything of its kind, is refused. */
#ifndef GS_COMMON_FILE_H
#define GS_COMMON_FILE_H

#include <stddef.h>

/* Sizes that are allowed. */
#define GS_FILE_TEXT ((size_t)16 << 20)   /* configs, programs, profiles: written by hand, or as small */
#define GS_FILE_RESULT ((size_t)64 << 20) /* of benchmarks and analyses */
#define GS_FILE_TRACE ((size_t)1 << 30)

/* The whole of a file or a pipe, with a 0 behind it, for the caller to free. 0; -EFBIG: it has more than `most` bytes;
 * -ENOMEM, or what open and read give. */
int gs_read_file(const char *path, size_t most, char **text, size_t *bytes);
/* The same of a regular file only, or of /dev/null, which is opened without waiting: -ENOTSUP for all else. For whoever
 * must not hang. */
int gs_read_regular_file(const char *path, size_t most, char **text, size_t *bytes);

#endif
