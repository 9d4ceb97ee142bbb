/* SPDX-License-Identifier: MIT */
/* Devices, clocks, programs. */
#include "scheduler/probes/probe.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"

extern const char gs_probe_clock_cl[];

/* cl_khr_kernel_clock, which is younger than some systems' headers. */
#ifndef CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR
#define CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR 0x1076
#define CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR (1 << 0)
#define CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR (1 << 1)
#endif

enum { MAX_DEVICES = 64, MAX_PLATFORMS = 16 };

bool probe_ok(cl_int rc, const char *what)
{
    if (rc == CL_SUCCESS)
        return true;
    gs_error("the device refused to %s (OpenCL error %d)", what, rc);
    return false;
}

/* All devices, GPUs before others. */
static unsigned list_devices(cl_device_id *id)
{
    cl_platform_id platform[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    unsigned n = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platform, &n_platforms) != CL_SUCCESS)
        return 0;
    n_platforms = n_platforms < MAX_PLATFORMS ? n_platforms : MAX_PLATFORMS;
    const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR};
    for (int t = 0; t < 2; t++)
        for (cl_uint p = 0; p < n_platforms && n < MAX_DEVICES; p++) {
            cl_uint found = 0;
            if (clGetDeviceIDs(platform[p], types[t], MAX_DEVICES - n, id + n, &found) == CL_SUCCESS)
                n += found < MAX_DEVICES - n ? found : MAX_DEVICES - n;
        }
    return n;
}

static void text_info(cl_device_id id, cl_device_info what, char *out, size_t size)
{
    out[0] = '\0';
    clGetDeviceInfo(id, what, size - 1, out, NULL);
    out[size - 1] = '\0';
}

bool probe_reset(struct probe_device *d)
{
    cl_int rc;
    if (d->queue)
        clReleaseCommandQueue(d->queue);
    if (d->context)
        clReleaseContext(d->context);
    d->queue = NULL;
    d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &rc);
    if (!probe_ok(rc, "make a context"))
        return false;
    d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &rc);
    return probe_ok(rc, "make a queue");
}

bool probe_open(struct probe_device *d, unsigned index)
{
    cl_device_id id[MAX_DEVICES];
    unsigned n = list_devices(id);
    memset(d, 0, sizeof(*d));
    if (index >= n) {
        gs_error("there is no device %u: OpenCL shows %u of them", index, n);
        return false;
    }
    cl_platform_id platform;
    cl_device_type type = 0;
    d->index = index;
    d->id = id[index];
    text_info(d->id, CL_DEVICE_NAME, d->name, sizeof(d->name));
    text_info(d->id, CL_DRIVER_VERSION, d->driver, sizeof(d->driver));
    text_info(d->id, CL_DEVICE_EXTENSIONS, d->extensions, sizeof(d->extensions));
    clGetDeviceInfo(d->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(d->platform) - 1, d->platform, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(d->compute_units), &d->compute_units, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(d->frequency_mhz), &d->frequency_mhz, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(d->max_group), &d->max_group, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    d->is_cpu = type & CL_DEVICE_TYPE_CPU;
    d->is_nvidia = strstr(d->platform, "NVIDIA") != NULL;
    d->is_pocl = strstr(d->platform, "Portable Computing Language") != NULL;
    if (strstr(d->extensions, "cl_khr_kernel_clock"))
        clGetDeviceInfo(d->id, CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, sizeof(d->clocks), &d->clocks, NULL);
    return probe_reset(d);
}

void probe_close(struct probe_device *d)
{
    if (d->queue)
        clReleaseCommandQueue(d->queue);
    if (d->context)
        clReleaseContext(d->context);
    d->queue = NULL;
    d->context = NULL;
}

enum probe_clock probe_clock_of(const struct probe_device *d, bool across_groups)
{
    if (d->is_nvidia)
        return across_groups ? PROBE_CLOCK_PTX_GLOBAL : PROBE_CLOCK_PTX_SM;
    if (!across_groups && d->clocks & CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR)
        return PROBE_CLOCK_KHR_GROUP;
    if (d->clocks & CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR)
        return PROBE_CLOCK_KHR_DEVICE;
    return d->is_pocl ? PROBE_CLOCK_POCL : PROBE_CLOCK_NONE;
}

const char *probe_clock_name(enum probe_clock clock)
{
    static const char *const names[] = {"none",
                                        "cl_khr_kernel_clock, device",
                                        "cl_khr_kernel_clock, work-group",
                                        "PTX %clock64",
                                        "PTX %globaltimer",
                                        "processor cycle counter"};
    return names[clock];
}

bool probe_need_clock(const struct probe_device *d, bool across_groups, const char *otherwise, enum probe_clock *clock)
{
    *clock = probe_clock_of(d, across_groups);
    if (*clock != PROBE_CLOCK_NONE)
        return true;
    gs_error("%s has no clock that %s of a kernel can compare (cl_khr_kernel_clock, or PTX on NVIDIA)%s", d->name,
             across_groups ? "the groups" : "the warps", otherwise);
    return false;
}

bool probe_warps_fit(const struct probe_device *d, unsigned warps)
{
    enum { WARP = 32 };
    if ((size_t)warps * WARP <= d->max_group)
        return true;
    gs_error("%s takes groups of %zu work-items at most, which is %zu warps, not %u", d->name, d->max_group,
             d->max_group / WARP, warps);
    return false;
}

cl_program probe_build(const struct probe_device *d, const char *text, enum probe_clock clock, const char *options)
{
    const char *texts[] = {gs_probe_clock_cl, text};
    bool khr = clock == PROBE_CLOCK_KHR_DEVICE || clock == PROBE_CLOCK_KHR_GROUP;
    cl_int rc;
    char all[300];
    cl_program p = clCreateProgramWithSource(d->context, 2, texts, NULL, &rc);
    if (!probe_ok(rc, "take a program"))
        return NULL;
    /* The extension's functions are OpenCL C 3.0's. */
    snprintf(all, sizeof(all), "-DPROBE_CLOCK=%d %s %s %s", (int)clock, khr ? "-cl-std=CL3.0" : "",
             d->is_nvidia ? "-DPROBE_NVIDIA" : "", options);
    if (clBuildProgram(p, 1, &d->id, all, NULL, NULL) == CL_SUCCESS)
        return p;
    size_t n = 0;
    clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(1, n + 1);
    if (log)
        clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    gs_error("the device's compiler refused the probe's kernels: %.3000s", log ? log : "");
    free(log);
    clReleaseProgram(p);
    return NULL;
}

cl_kernel probe_kernel(cl_program program, const char *name)
{
    cl_int rc;
    cl_kernel k = program ? clCreateKernel(program, name, &rc) : NULL;
    return program && probe_ok(rc, "make a kernel") ? k : NULL;
}

cl_mem probe_buffer(const struct probe_device *d, size_t bytes)
{
    cl_int rc;
    cl_mem m = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &rc);
    return probe_ok(rc, "give memory") ? m : NULL;
}

void probe_drop_buffers(cl_mem *buffers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
        buffers[i] = NULL;
    }
}

void probe_drop_kernels(cl_kernel *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (kernels[i])
            clReleaseKernel(kernels[i]);
        kernels[i] = NULL;
    }
}

void probe_drop_program(cl_program *program)
{
    if (*program)
        clReleaseProgram(*program);
    *program = NULL;
}
