/* SPDX-License-Identifier: MIT */
/* Translations on disk, by the hash of what they were made from: files in $XDG_CACHE_HOME/gpusparc, else in
 * ~/.cache/gpusparc. Safe between processes and threads: an entry appears whole or not at all. Nothing here fails in a
 * way that matters: what can't be read isn't there, what can't be written is not kept. The folder has to be the user's
 * own, and nobody else's to write; a name is a hash in hexadecimal, or WORD-HASH, and every entry begins with a header:
 * other files in the folder are neither read nor removed. */
#ifndef GS_COMMON_CACHE_H
#define GS_COMMON_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Is this process gpusparc-compile? That never makes the cache's folder. */
bool gs_later_compiles(void);

/* The entry of that name (malloc'd), with a NUL behind its bytes, or NULL. */
char *gs_cache_read(const char *name, size_t *bytes);

/* Keeps an entry, then removes the least recently used ones until all together are no larger than GPUSPARC_CACHE_SIZE
 * (bytes; with K, M, G as 1024s; 256M where it isn't set; 0: nothing is kept). False: it could not be written. */
bool gs_cache_write(const char *name, const char *text, size_t bytes);

/* For `gpusparc cache`. The folder's path, `bytes` long at most, whether or not it is there; -ENOENT: the environment
 * names none, -ENAMETOOLONG. */
int gs_cache_folder(char *path, size_t bytes);

/* Calls `see` for each entry, with when it was last used, within a minute. 0; -errno where the folder can't be read, or
 * isn't this user's alone to write (-EPERM); 0 entries where it isn't there. */
int gs_cache_each(void (*see)(void *arg, const char *name, time_t used, uint64_t bytes), void *arg);

/* Removes an entry. 0 or -errno. */
int gs_cache_remove(const char *name);

/* A lock for one process at a time among those that use a cache: a descriptor to close; -1: another process has the
 * lock, or there is no cache. */
int gs_cache_lock(void);

/* The limit of all together, in bytes. */
uint64_t gs_cache_limit(void);

#endif
