/* SPDX-License-Identifier: MIT */
/* Builds a kernel's access program from clang's tree. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_ACCESS_ACCESS_BUILD_H
#define GS_TRANSLATOR_ACCESS_ACCESS_BUILD_H

#include <clang-c/Index.h>

#include "translator/summary/access.h"
#include "translator/summary/summary.h"

/* The parsed program, as far as the analysis needs it. */
struct gs_tree {
    struct gs_arena *arena; /* all strings and programs of the summary */
    /* The definition of the function that a call refers to, in whichever unit it lies (*unit is set then), or the null
     * cursor where the program has none (a built-in function). `ctx` is the caller's own. */
    CXCursor (*definition)(void *ctx, CXCursor callee, uint32_t *unit);
    void *ctx;
    /* A place in the application's source, through macro expansions to where the user reads it. */
    struct gs_site (*site)(void *ctx, CXCursor cursor, uint32_t unit);
};

/* `args` comes filled from the declarations, with may_read, may_write, atomics and escapes as a conservative guess; the
 * analysis may narrow them and fills read_unknown, write_unknown and their sites. Returns NULL
 * where nothing is known. */
const struct gs_access_program *gs_access_build(const struct gs_tree *tree, CXCursor kernel, uint32_t unit,
                                                struct gs_arg_summary *args, uint32_t n_args);

#endif
