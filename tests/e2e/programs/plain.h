/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share. Each is an ordinary OpenCL application that prints what it computes; the test
 * runs it plain and under gpusparc and compares the two outputs byte for byte. None knows of gpusparc. */
#ifndef GS_TEST_PLAIN_H
#define GS_TEST_PLAIN_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not every program uses all of it. */
#define PLAIN __attribute__((unused)) static

PLAIN cl_platform_id platform;
PLAIN cl_device_id device;
PLAIN cl_context context;
PLAIN cl_command_queue queue;

PLAIN void check(cl_int err, const char *what, int line)
{
    if (err == CL_SUCCESS)
        return;
    printf("line %d: %s: error %d\n", line, what, err);
    exit(1);
}

PLAIN double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* An OpenCL call that returns its error, and one that stores it in `err`. */
#define CL(call) check((call), #call, __LINE__)
#define MADE(lvalue, call) ((lvalue) = (call), check(err, #call, __LINE__))

/* Lets up to eight objects go, in this order. */
#define RELEASE(...)                                                                                                   \
    RELEASE_N(__VA_ARGS__, RELEASE8, RELEASE7, RELEASE6, RELEASE5, RELEASE4, RELEASE3, RELEASE2, RELEASE1)(__VA_ARGS__)
#define RELEASE_N(a, b, c, d, e, f, g, h, n, ...) n
#define RELEASE1(o)                                                                                                    \
    CL(_Generic((o), cl_mem                                                                                            \
                : clReleaseMemObject, cl_kernel                                                                        \
                : clReleaseKernel, cl_program                                                                          \
                : clReleaseProgram, cl_event                                                                           \
                : clReleaseEvent, cl_command_queue                                                                     \
                : clReleaseCommandQueue, cl_context                                                                    \
                : clReleaseContext, cl_sampler                                                                         \
                : clReleaseSampler)(o))
#define RELEASE2(o, ...) (RELEASE1(o), RELEASE1(__VA_ARGS__))
#define RELEASE3(o, ...) (RELEASE1(o), RELEASE2(__VA_ARGS__))
#define RELEASE4(o, ...) (RELEASE1(o), RELEASE3(__VA_ARGS__))
#define RELEASE5(o, ...) (RELEASE1(o), RELEASE4(__VA_ARGS__))
#define RELEASE6(o, ...) (RELEASE1(o), RELEASE5(__VA_ARGS__))
#define RELEASE7(o, ...) (RELEASE1(o), RELEASE6(__VA_ARGS__))
#define RELEASE8(o, ...) (RELEASE1(o), RELEASE7(__VA_ARGS__))

/* The first device, as an application for one GPU would look for it. */
PLAIN void start(cl_command_queue_properties properties)
{
    cl_int err;
    CL(clGetPlatformIDs(1, &platform, NULL));
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS)
        CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    MADE(queue, clCreateCommandQueue(context, device, properties, &err));
}

/* The property of a queue without an order; of one with an order where the device has no others. */
PLAIN cl_command_queue_properties out_of_order(void)
{
    cl_command_queue_properties has = 0;
    CL(clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL));
    return has & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

PLAIN void finish(void)
{
    CL(clReleaseCommandQueue(queue));
    CL(clReleaseContext(context));
}

PLAIN cl_program build(const char *source, const char *options)
{
    cl_int err;
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    err = clBuildProgram(p, 1, &device, options, NULL, NULL);
    if (err) {
        char log[4096] = "";
        clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("%s\n", log);
        check(err, "clBuildProgram", __LINE__);
    }
    return p;
}

PLAIN cl_kernel kernel_of(cl_program p, const char *name)
{
    cl_int err;
    cl_kernel k;
    MADE(k, clCreateKernel(p, name, &err));
    return k;
}

PLAIN cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int err;
    cl_mem m;
    MADE(m, clCreateBuffer(context, flags, bytes, host, &err));
    return m;
}

PLAIN void set_mem(cl_kernel k, cl_uint i, cl_mem m)
{
    CL(clSetKernelArg(k, i, sizeof m, &m));
}

PLAIN void set_uint(cl_kernel k, cl_uint i, cl_uint v)
{
    CL(clSetKernelArg(k, i, sizeof v, &v));
}

PLAIN void launch(cl_command_queue q, cl_kernel k, size_t global, size_t local, cl_uint n_wait, const cl_event *wait,
                  cl_event *event)
{
    CL(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, local ? &local : NULL, n_wait, wait, event));
}

/* Numbers that look random and are the same each time. */
PLAIN uint32_t scramble(uint32_t x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

PLAIN void fill_words(uint32_t *v, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        v[i] = scramble((uint32_t)i * 2654435761u + seed);
}

/* One line for the bytes: FNV-1a of all, and where each sixteenth of them stands, so that a difference has a place. */
PLAIN void show(const char *name, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t whole = 0xcbf29ce484222325u;
    printf("%s %zu:", name, bytes);
    for (size_t s = 0; s < 16; s++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t i = bytes * s / 16; i < bytes * (s + 1) / 16; i++) {
            h = (h ^ p[i]) * 0x100000001b3u;
            whole = (whole ^ p[i]) * 0x100000001b3u;
        }
        printf(" %04x", (unsigned)(h >> 48));
    }
    printf(" %016" PRIx64 "\n", whole);
}

PLAIN void show_buffer(const char *name, cl_command_queue q, cl_mem m, size_t offset, size_t bytes)
{
    void *host = malloc(bytes);
    CL(clEnqueueReadBuffer(q, m, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
    show(name, host, bytes);
    free(host);
}

#endif
