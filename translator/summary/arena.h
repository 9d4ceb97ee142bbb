/* SPDX-License-Identifier: MIT */
/* Memory that is given back all at once: everything of one summary lies in one arena. Not thread-safe. */
#ifndef GS_TRANSLATOR_SUMMARY_ARENA_H
#define GS_TRANSLATOR_SUMMARY_ARENA_H

#include <stddef.h>

struct gs_arena_block;
struct gs_arena {
    struct gs_arena_block *blocks; /* owned; an arena that is all zeros is empty */
};

void gs_arena_free(struct gs_arena *a);

/* Zeroed memory for `n` elements of `size` bytes, aligned for any type. NULL where there is none. */
void *gs_arena_alloc(struct gs_arena *a, size_t n, size_t size);

/* A copy of the bytes with a 0 behind them. */
char *gs_arena_copy(struct gs_arena *a, const char *bytes, size_t n);
char *gs_arena_string(struct gs_arena *a, const char *s);
char *gs_arena_printf(struct gs_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
