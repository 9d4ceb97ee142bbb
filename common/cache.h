/* SPDX-License-Identifier: MIT */
/* Translations on disk, by the hash of what they were made from: files in $XDG_CACHE_HOME/gpusparc, else in
 * ~/.cache/gpusparc. Safe between processes and threads: an entry appears whole or not at all. Nothing here fails in a
 * way that matters: what can't be read isn't there, what can't be written is not kept. */
#ifndef GS_COMMON_CACHE_H
#define GS_COMMON_CACHE_H

#include <stddef.h>

/* The entry of that name (malloc'd), or NULL. */
char *gs_cache_read(const char *name, size_t *bytes);

/* Keeps an entry, then removes the least recently used ones until all together are no larger than GPUSPARC_CACHE_SIZE
 * (bytes; with K, M, G as 1024s; 256M where it isn't set; 0: nothing is kept). */
void gs_cache_write(const char *name, const char *text, size_t bytes);

#endif
