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
