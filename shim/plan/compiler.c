/* SPDX-License-Identifier: MIT */
#include "shim/plan/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache.h"
#include "shim/plan/kinds.h"

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

void gs_refused_name(struct gs_program *p, char name[GS_REFUSED_NAME_BYTES])
{
    char hex[GS_HASH_HEX_BYTES];
    struct gs_hash h;
    const uint64_t id = gs_program_id_locked(p);
    gs_hash_begin(&h);
    gs_compiler_hash(p->o.ctx, &h);
    for (uint32_t i = 0; i < p->summary->n_units; i++)
        gs_hash_add_text(&h, p->summary->units[i]);
    gs_hash_add_text(&h, p->summary->headers);
    gs_hash_add(&h, &id, sizeof id);
    gs_hash_end_hex(&h, hex);
    snprintf(name, GS_REFUSED_NAME_BYTES, "refused-%s", hex);
}

/* Another try is as good as this one. */
static bool is_final(cl_int err)
{
    return err == CL_BUILD_PROGRAM_FAILURE || err == CL_COMPILE_PROGRAM_FAILURE || err == CL_LINK_PROGRAM_FAILURE;
}

cl_int gs_refused_before(const char *name)
{
    char *text = gs_cached_text(name);
    const cl_int err = text ? (cl_int)strtol(text, NULL, 10) : CL_SUCCESS;
    free(text);
    return is_final(err) ? err : CL_SUCCESS;
}

void gs_refused_keep(const char *name, cl_int err)
{
    char text[16];
    if (is_final(err))
        gs_cache_write(name, text, (size_t)snprintf(text, sizeof text, "%d\n", err) + 1);
}
