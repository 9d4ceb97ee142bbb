/* SPDX-License-Identifier: MIT */
/* Builds a kernel's access program from clang's tree. */
#include "translator/access_build.h"

const struct gs_access_program *gs_access_build(const struct gs_tree *tree, CXCursor kernel, uint32_t unit,
                                                struct gs_arg_summary *args, uint32_t n_args)
{
    (void)tree, (void)kernel, (void)unit, (void)args, (void)n_args;
    return NULL;
}
