/* SPDX-License-Identifier: MIT */
#include "shim/record/own_program.h"

#include <stdio.h>

#include "shim/process/quiet.h"
#include "shim/record/group.h"

cl_program gs_build_own(struct gs_context *ctx, unsigned place, const char *text, const char *options, cl_int *err)
{
    char tail[64] = "";
    const char *texts[] = {text, tail};
    if (gs_group()->pocl)
        snprintf(tail, sizeof tail, "__constant int gs_place = %u;\n", place);
    cl_program program = gs_real()->clCreateProgramWithSource(ctx->o.handle, 2, texts, NULL, err);
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
