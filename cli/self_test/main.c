/* SPDX-License-Identifier: MIT */
/* gpusparc-self-test PLATFORM TYPE: an OpenCL application for one device, which `gpusparc devices --check` runs as it
 * is and under the shim. Takes the first device of that type (a number, cl_device_type) of the platform of that name;
 * two kernels, one after the other; what they leave goes to stdout, a failure to stderr, with exit status 1. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/self_test/kernels.h"

enum { N = 1 << 18, LOCAL = 64, PLATFORMS = 32 };

static void check(cl_int err, const char *call)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "%s failed with error %d\n", call, err);
    exit(1);
}

static cl_device_id find_device(const char *platform, cl_device_type type)
{
    cl_platform_id all[PLATFORMS];
    cl_device_id dev = NULL;
    cl_uint n = 0;
    check(clGetPlatformIDs(PLATFORMS, all, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < PLATFORMS && !dev; i++) {
        char name[256] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, platform) == 0)
            check(clGetDeviceIDs(all[i], type, 1, &dev, NULL), "clGetDeviceIDs");
    }
    if (!dev)
        fprintf(stderr, "there is no platform %s\n", platform);
    return dev;
}

static cl_program build(cl_context ctx, cl_device_id dev)
{
    const char *text = gs_self_test_kernels;
    cl_int err;
    cl_program program = clCreateProgramWithSource(ctx, 1, &text, NULL, &err);
    check(err, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &dev, "", NULL, NULL), "clBuildProgram");
    return program;
}

static void launch(cl_command_queue queue, cl_program program, const char *name, cl_mem in, cl_mem out)
{
    const size_t global = N, local = LOCAL;
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    check(err, "clCreateKernel");
    check(clSetKernelArg(kernel, 0, sizeof in, &in), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof out, &out), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    clReleaseKernel(kernel);
}

int main(int argc, char **argv)
{
    static cl_uint data[N];
    cl_int err;
    cl_device_id dev = argc == 3 ? find_device(argv[1], strtoull(argv[2], NULL, 10)) : NULL;
    if (!dev)
        return 1;
    cl_context ctx = clCreateContext(NULL, 1, &dev, NULL, NULL, &err);
    check(err, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(ctx, dev, 0, &err);
    check(err, "clCreateCommandQueue");
    cl_program program = build(ctx, dev);
    for (cl_uint i = 0; i < N; i++)
        data[i] = i;
    cl_mem a = clCreateBuffer(ctx, CL_MEM_READ_WRITE, sizeof data, NULL, &err);
    check(err, "clCreateBuffer");
    cl_mem b = clCreateBuffer(ctx, CL_MEM_READ_WRITE, sizeof data, NULL, &err);
    check(err, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
    launch(queue, program, "scramble", a, b);
    launch(queue, program, "mirror", b, a);
    check(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL), "clEnqueueReadBuffer");
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(ctx);
    return fwrite(data, sizeof data, 1, stdout) == 1 && fflush(stdout) == 0 ? 0 : 1;
}
