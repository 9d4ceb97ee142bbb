/* SPDX-License-Identifier: MIT */
#include "bench/application.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "__kernel void add(__global const int *in, __global int *out, int n, int m)\n"
                             "{\n"
                             "    out[get_global_id(0)] = in[get_global_id(0)] * m + n;\n"
                             "}\n";

void bench_check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, err);
    exit(1);
}

static void load(struct bench_api *api, const char *library)
{
    static const char *const names[] = {
        "clGetPlatformIDs",
        "clGetDeviceIDs",
        "clCreateContext",
        "clCreateCommandQueue",
        "clCreateProgramWithSource",
        "clBuildProgram",
        "clCreateKernel",
        "clCreateBuffer",
        "clSetKernelArg",
        "clEnqueueNDRangeKernel",
        "clEnqueueWriteBuffer",
        "clEnqueueReadBuffer",
        "clFinish",
        "clFlush",
        "clWaitForEvents",
        "clReleaseEvent",
        "clReleaseMemObject",
        "clEnqueueCopyBuffer",
        "clEnqueueFillBuffer",
        "clEnqueueMapBuffer",
        "clEnqueueUnmapMemObject",
        "clEnqueueMarkerWithWaitList",
        "clReleaseKernel",
        "clGetEventInfo",
        "rand",
    };
    _Static_assert(sizeof names / sizeof *names == sizeof *api / sizeof(void *), "a name for each function");
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = lib ? dlsym(lib, names[i]) : NULL;
        if (!f) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        memcpy((char *)api + i * sizeof f, &f, sizeof f);
    }
}

void bench_start(struct bench_application *a, const char *library, cl_uint devices, size_t items, size_t bytes)
{
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device[BENCH_MOST_DEVICES];
    cl_int err;
    load(&a->api, library);
    bench_check(a->api.get_platforms(1, &platform, NULL), "clGetPlatformIDs");
    bench_check(
        a->api.get_devices(platform, devices > 1 ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_DEFAULT, devices, device, NULL),
        "clGetDeviceIDs");
    a->context = a->api.create_context(NULL, devices, device, NULL, NULL, &err);
    bench_check(err, "clCreateContext");
    a->device = device[0];
    a->queue = a->api.create_queue(a->context, device[0], 0, &err);
    bench_check(err, "clCreateCommandQueue");
    a->other = a->api.create_queue(a->context, device[0], 0, &err);
    bench_check(err, "clCreateCommandQueue");
    a->program = a->api.create_program(a->context, 1, &text, NULL, &err);
    bench_check(err, "clCreateProgramWithSource");
    bench_check(a->api.build(a->program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    a->kernel = a->api.create_kernel(a->program, "add", &err);
    bench_check(err, "clCreateKernel");
    a->in = a->api.create_buffer(a->context, CL_MEM_READ_ONLY, items * sizeof(cl_int), NULL, &err);
    bench_check(err, "clCreateBuffer");
    a->out = a->api.create_buffer(a->context, CL_MEM_WRITE_ONLY, items * sizeof(cl_int), NULL, &err);
    bench_check(err, "clCreateBuffer");
    a->large = a->api.create_buffer(a->context, CL_MEM_READ_WRITE, bytes, NULL, &err);
    bench_check(err, "clCreateBuffer");
    void *zeros = calloc(items, sizeof(cl_int));
    if (!zeros)
        exit(1);
    bench_check(a->api.write(a->queue, a->in, CL_TRUE, 0, items * sizeof(cl_int), zeros, 0, NULL, NULL),
                "clEnqueueWriteBuffer");
    free(zeros);
    bench_check(a->api.set_arg(a->kernel, 0, sizeof a->in, &a->in), "clSetKernelArg");
    bench_check(a->api.set_arg(a->kernel, 1, sizeof a->out, &a->out), "clSetKernelArg");
    const cl_int n = 0;
    bench_check(a->api.set_arg(a->kernel, 3, sizeof n, &n), "clSetKernelArg");
}

void bench_use_profiles(struct bench_application *a)
{
    const size_t local = BENCH_LOCAL;
    const cl_int n = 0;
    cl_int err;
    cl_command_queue queue = a->api.create_queue(a->context, a->device, CL_QUEUE_PROFILING_ENABLE, &err);
    bench_check(err, "clCreateCommandQueue");
    bench_check(a->api.set_arg(a->kernel, 2, sizeof n, &n), "clSetKernelArg");
    bench_check(a->api.launch(queue, a->kernel, 1, NULL, &local, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    bench_check(a->api.finish(queue), "clFinish");
}
