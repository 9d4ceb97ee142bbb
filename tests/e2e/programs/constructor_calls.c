/* SPDX-License-Identifier: MIT */
/* A library that uses OpenCL in its constructor, and isn't linked with it: preloaded behind the shim, its constructor
 * runs before the shim's. Prints the sum of all errors, and a word of the result. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 4096, LAUNCHES = 3 };
static const char *source = "__kernel void k(__global int *a) { a[get_global_id(0)] += 1; }";

__attribute__((constructor)) static void call_first(void)
{
    static int words[ITEMS];
    const size_t global = ITEMS, local = 64;
    cl_platform_id platform;
    cl_device_id device;
    cl_int err[5] = {0}, sum = 0;
    unsetenv("LD_PRELOAD"); /* PoCL starts a linker */
    sum += clGetPlatformIDs(1, &platform, NULL);
    sum += clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &err[0]);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err[1]);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof words, NULL, &err[2]);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err[3]);
    sum += clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "k", &err[4]);
    sum += clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL);
    sum += clSetKernelArg(kernel, 0, sizeof mem, &mem);
    for (int i = 0; i < LAUNCHES; i++)
        sum += clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    sum += clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL);
    sum += clReleaseKernel(kernel) + clReleaseProgram(program) + clReleaseMemObject(mem);
    sum += clReleaseCommandQueue(queue) + clReleaseContext(context);
    for (int i = 0; i < 5; i++)
        sum += err[i];
    printf("first call: %d %d\n", sum, words[ITEMS - 1]);
}
