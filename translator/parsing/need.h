/* SPDX-License-Identifier: MIT */
/* Memory inside gpusparc-translate, where a lack of it ends the process (the caller then runs on one device). */
#ifndef GS_TRANSLATOR_PARSING_NEED_H
#define GS_TRANSLATOR_PARSING_NEED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "translator/summary/arena.h"

enum { GS_EXIT_NO_MEMORY = 3 };

static inline void *gs_need(void *p)
{
    if (!p)
        exit(GS_EXIT_NO_MEMORY);
    return p;
}

static inline void *gs_need_array(struct gs_arena *a, size_t n, size_t size)
{
    return gs_need(gs_arena_alloc(a, n, size));
}

/* Makes room for one more element behind the n of v, an array in the arena with room for cap. */
#define GS_GROW(arena, v, n, cap)                                                                                      \
    do {                                                                                                               \
        if ((n) == (cap)) {                                                                                            \
            void *grown_ = gs_need_array((arena), (cap) ? 2 * (size_t)(cap) : 16, sizeof *(v));                        \
            if ((n) > 0)                                                                                               \
                memcpy(grown_, (v), (n) * sizeof *(v));                                                                \
            (v) = grown_;                                                                                              \
            (cap) = (cap) ? 2 * (cap) : 16;                                                                            \
        }                                                                                                              \
    } while (0)

#endif
