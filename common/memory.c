/* SPDX-License-Identifier: MIT */
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* Not inlined: compilers make a calloc of the two. */
static __attribute__((noinline)) void *allocate(size_t size)
{
    return malloc(size);
}

void *gs_zeroed(size_t size)
{
    void *p = allocate(size);
    return p ? memset(p, 0, size) : NULL;
}

void *gs_grown(void *v, size_t n, size_t *cap, size_t element_bytes)
{
    enum { FIRST = 8 };
    const size_t more = *cap ? 2 * *cap : FIRST;
    if (n < *cap)
        return v;
    void *grown = realloc(v, more * element_bytes);
    if (grown)
        *cap = more;
    return grown;
}
