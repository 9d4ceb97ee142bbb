/* SPDX-License-Identifier: MIT */
#include "bench/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *application = "";

void plain_check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: error %d\n", application, what, err);
    exit(1);
}

struct plain plain_open(const char *name, const char *source)
{
    struct plain p;
    cl_platform_id platform;
    cl_device_id device;
    cl_int err;
    application = name;
    plain_check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    plain_check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    p.context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    plain_check(err, "clCreateContext");
    p.queue = clCreateCommandQueueWithProperties(p.context, device, NULL, &err);
    plain_check(err, "clCreateCommandQueueWithProperties");
    p.program = clCreateProgramWithSource(p.context, 1, &source, NULL, &err);
    plain_check(err, "clCreateProgramWithSource");
    plain_check(clBuildProgram(p.program, 1, &device, "", NULL, NULL), "clBuildProgram");
    return p;
}

cl_kernel plain_kernel(const struct plain *p, const char *name)
{
    cl_int err;
    cl_kernel k = clCreateKernel(p->program, name, &err);
    plain_check(err, "clCreateKernel");
    return k;
}

cl_mem plain_buffer(const struct plain *p, size_t bytes)
{
    cl_int err;
    cl_mem m = clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes, NULL, &err);
    plain_check(err, "clCreateBuffer");
    return m;
}

double plain_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int plain_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
