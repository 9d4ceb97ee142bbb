/* SPDX-License-Identifier: MIT */
#include "shim/record/own_program.h"

#include "shim/process/quiet.h"

cl_program gs_build_own(struct gs_context *ctx, unsigned place, cl_uint n_texts, const char **texts,
                        const char *options, cl_int *err)
{
    cl_program program = gs_real()->clCreateProgramWithSource(ctx->o.handle, n_texts, texts, NULL, err);
    if (*err)
        return NULL;
    gs_quiet(true);
    *err = gs_real()->clBuildProgram(program, 1, &ctx->dev[place], options, NULL, NULL);
    gs_quiet(false);
    if (!*err)
        return program;
    gs_real()->clReleaseProgram(program);
    return NULL;
}
