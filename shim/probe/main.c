/* SPDX-License-Identifier: MIT */
/* gpusparc-peer-probe: can the GPUs named on standard input reach each other's memory through windows? Answers "ok" or
 * "no: why" on standard output, and then what it costs between them, as lines of shim/record/links.h. A process of its
 * own, since drivers have crashed at it. */
#include <stdio.h>
#include <string.h>

#include "shim/probe/meter.h"

enum { MAX_PLATFORMS = 32, WINDOW_BYTES = 32 * 1024 * 1024 };

/* The devices of a platform whose identity is the one asked for, in its order. */
static unsigned find_devices(cl_platform_id platform, const char *wanted, cl_device_id *out)
{
    cl_device_id all[GS_MAX_DEVICES];
    cl_uint n = 0;
    if (gs_real()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, GS_MAX_DEVICES, all, &n) != CL_SUCCESS)
        return 0;
    n = n < GS_MAX_DEVICES ? n : GS_MAX_DEVICES;
    char driver[1024], one[1024];
    unsigned found = 0;
    if (!n || gs_windows_identity(all, 0, driver, sizeof driver) < 0 || strncmp(wanted, driver, strlen(driver)) != 0)
        return 0;
    for (const char *at = wanted + strlen(driver); *at == ' ';) {
        const size_t length = 1 + strcspn(at + 1, " ");
        cl_uint i = 0;
        for (; i < n; i++)
            if (gs_windows_identity(&all[i], 1, one, sizeof one) == 0 && strlen(one) == strlen(driver) + length &&
                strncmp(one + strlen(driver), at, length) == 0)
                break;
        if (i == n || found == GS_MAX_DEVICES)
            return 0;
        out[found++] = all[i];
        at += length;
    }
    return found;
}

/* A tenth of a second: windows if they are open, and the way through pinned memory. */
static void measure(cl_context ctx, const cl_device_id *dev, unsigned n, const struct gs_windows *w)
{
    struct gs_meter m;
    struct gs_links links = {{0, 0}, {0, 0}};
    char text[GS_LINKS_TEXT_BYTES] = "";
    if (gs_meter_make(&m, ctx, dev, n, WINDOW_BYTES / 2) != CL_SUCCESS)
        return;
    if (w->n) {
        m.windows = *w;
        m.way = GS_BY_PEER;
        links.peer = gs_meter_cost(&m);
    }
    m.way = GS_BY_PINNED;
    if (gs_meter_host_memory(&m, false) == CL_SUCCESS)
        links.host = gs_meter_cost(&m);
    fwrite(text, 1, gs_links_print(&links, text), stdout);
}

int main(void)
{
    static const char head[] = "gpusparc-peer 2 ";
    char wanted[1024], why[256] = "the devices are not there";
    size_t bytes = fread(wanted, 1, sizeof wanted - 1, stdin);
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id dev[GS_MAX_DEVICES];
    cl_uint n_platforms = 0;
    unsigned n = 0;
    wanted[bytes] = '\0';
    if (strncmp(wanted, head, sizeof head - 1) == 0 && gs_real()->clGetPlatformIDs)
        gs_real()->clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms);
    for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS && !n; p++)
        n = find_devices(platforms[p], wanted + sizeof head - 1, dev);
    cl_int err = CL_DEVICE_NOT_FOUND;
    cl_context ctx = n ? gs_real()->clCreateContext(NULL, n, dev, NULL, NULL, &err) : NULL;
    struct gs_windows w = {0};
    if (!err && gs_windows_open(&w, ctx, dev, n, WINDOW_BYTES, why, sizeof why) == 0 &&
        gs_windows_try(&w, ctx, dev, why, sizeof why) == 0)
        puts("ok");
    else
        printf("no: %s\n", why);
    fflush(stdout);
    if (!err)
        measure(ctx, dev, n, &w);
    return 0;
}
