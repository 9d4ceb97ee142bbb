/* SPDX-License-Identifier: MIT */
#include "shim/plan/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cache.h"

char *gs_device_text(cl_device_id dev, cl_device_info what)
{
    size_t n = 0;
    if (gs_real()->clGetDeviceInfo(dev, what, 0, NULL, &n) != CL_SUCCESS)
        return NULL;
    char *s = calloc(1, n + 1);
    if (s)
        gs_real()->clGetDeviceInfo(dev, what, n, s, NULL);
    return s;
}

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

static bool has_print(const char *begin, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (begin[i] > ' ')
            return true;
    return false;
}

void gs_log_line(const char *log, char *line, size_t bytes)
{
    const char *begin = NULL;
    size_t n = 0;
    for (const char *at = log; at && *at;) {
        const size_t len = strcspn(at, "\n"), word = sizeof "error" - 1;
        size_t i = 0;
        while (i < len && strncasecmp(at + i, "error", word) != 0)
            i++;
        if (i < len || (!begin && has_print(at, len)))
            begin = at, n = len;
        if (i < len)
            break;
        at += len + (at[len] == '\n');
    }
    size_t out = 0;
    for (size_t i = 0; i < n && out + 1 < bytes; i++)
        if (out || begin[i] > ' ')
            line[out++] = begin[i] >= ' ' && begin[i] <= '~' ? begin[i] : '?';
    line[out] = '\0';
}

char *gs_cached_text(const char *name)
{
    size_t bytes = 0;
    char *text = gs_cache_read(name, &bytes);
    if (text && bytes && !text[bytes - 1])
        return text;
    free(text);
    return NULL;
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
