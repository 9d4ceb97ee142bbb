/* SPDX-License-Identifier: MIT */
#include "shim/plan/compiler.h"

#include <stdlib.h>
#include <string.h>

char *gs_build_log(cl_program program, cl_device_id dev)
{
    size_t n = 0;
    char *log = NULL;
    if (gs_real()->clGetProgramBuildInfo(program, dev, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) == CL_SUCCESS && n)
        log = calloc(1, n + 1);
    if (log)
        gs_real()->clGetProgramBuildInfo(program, dev, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    return log;
}

void gs_log_line(const char *log, char *line, size_t bytes)
{
    const char *at = log ? strcasestr(log, "error") : NULL;
    size_t n = 0;
    while (at && at > log && at[-1] != '\n')
        at--;
    at = at ? at : log ? log : "";
    at += strspn(at, " \t\r\n");
    for (; *at && *at != '\n' && n + 1 < bytes; at++)
        line[n++] = *at >= ' ' && *at <= '~' ? *at : '?';
    line[n] = '\0';
}

void gs_compiler_hash(const struct gs_context *ctx, struct gs_hash *h)
{
    static const cl_device_info of_device[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                               CL_DEVICE_OPENCL_C_VERSION};
    char platform[256] = "";
    gs_real()->clGetPlatformInfo(gs_group()->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL);
    gs_hash_add_text(h, platform);
    for (unsigned d = 0; d < ctx->n; d++)
        for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++) {
            char *s = gs_device_text(ctx->dev[d], of_device[i]);
            gs_hash_add_text(h, s);
            free(s);
        }
}
