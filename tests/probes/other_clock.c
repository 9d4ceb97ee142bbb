/* SPDX-License-Identifier: MIT */
/* Preloaded: PoCL as a device of another vendor, for the probes' clocks. FAKE_CLOCKS is what cl_khr_kernel_clock offers
 * on it (CL_DEVICE_KERNEL_CLOCK_SCOPE_...): 1 for the device, 2 for a work-group, 0: it hasn't the extension. The
 * extension's functions are there for programs of OpenCL C 3.0 alone, as its text demands. */
#include "../e2e/opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLOCK_CAPABILITIES = 0x1076, MAX_STRINGS = 16 };

static unsigned clocks(void)
{
    const char *v = getenv("FAKE_CLOCKS");
    return v ? (unsigned)atoi(v) : 0;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *out, size_t *size)
{
    cl_int (*real)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetPlatformInfo");
    if (what == CL_PLATFORM_NAME)
        return answer("Another vendor", sizeof("Another vendor"), room, out, size);
    return real(platform, what, room, out, size);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *size)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    char all[8192] = "";
    cl_bitfield scopes = clocks();
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    if (what == CLOCK_CAPABILITIES)
        return scopes ? answer(&scopes, sizeof(scopes), room, out, size) : CL_INVALID_VALUE;
    if (what != CL_DEVICE_EXTENSIONS || !scopes)
        return real(device, what, room, out, size);
    cl_int rc = real(device, what, sizeof(all) - 30, all, NULL);
    strcat(all, " cl_khr_kernel_clock");
    return rc ? rc : answer(all, strlen(all) + 1, room, out, size);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                     cl_int *rc)
{
    cl_program (*real)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    const char *all[MAX_STRINGS];
    char functions[400] = "#if __OPENCL_C_VERSION__ >= 300\n";
    const char *const body = "(void) { return __builtin_readcyclecounter(); }\n";
    *(void **)&real = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    if (lengths || n >= MAX_STRINGS)
        return real(context, n, texts, lengths, rc);
    if (clocks() & 1)
        strcat(strcat(functions, "ulong clock_read_device"), body);
    if (clocks() & 2)
        strcat(strcat(functions, "ulong clock_read_work_group"), body);
    strcat(functions, "#endif\n");
    all[0] = functions;
    memcpy(all + 1, texts, n * sizeof(*texts));
    return real(context, n + 1, all, NULL, rc);
}
