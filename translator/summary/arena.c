/* SPDX-License-Identifier: MIT */
/* Memory that is given back all at once. */
#include "translator/summary/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 10 };

struct gs_arena_block {
    struct gs_arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void gs_arena_free(struct gs_arena *a)
{
    for (struct gs_arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
}

void *gs_arena_alloc(struct gs_arena *a, size_t n, size_t size)
{
    size_t bytes, align = alignof(max_align_t);
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + align - 1) / align * align;
    struct gs_arena_block *b = a->blocks;
    if (!b || b->size - b->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = calloc(1, sizeof *b + room);
        if (!b)
            return NULL;
        b->size = room;
        b->next = a->blocks;
        a->blocks = b;
    }
    void *p = b->bytes + b->used;
    b->used += bytes;
    return p;
}

char *gs_arena_copy(struct gs_arena *a, const char *bytes, size_t n)
{
    char *p = n < SIZE_MAX ? gs_arena_alloc(a, n + 1, 1) : NULL;
    if (p && n > 0)
        memcpy(p, bytes, n);
    return p;
}

char *gs_arena_string(struct gs_arena *a, const char *s)
{
    return gs_arena_copy(a, s, strlen(s));
}

char *gs_arena_printf(struct gs_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n >= 0 ? gs_arena_alloc(a, (size_t)n + 1, 1) : NULL;
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}
