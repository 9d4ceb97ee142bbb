/* SPDX-License-Identifier: MIT */
/* dlopened_opencl LIBRARY HOW: an application that opens the OpenCL library at run time, as hashcat and Python's ctypes
 * do. HOW: `local` or `global` for the way dlopen takes it, `extension` to get every function through
 * clGetExtensionFunctionAddressForPlatform where that gives one, `symbol` to look in what is loaded already. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 14 };

static void *library;
static cl_platform_id platform;
static void *(*extension)(cl_platform_id, const char *);

static void *function(const char *name)
{
    void *f = extension ? extension(platform, name) : NULL;
    if (!f)
        f = dlsym(library, name);
    if (!f) {
        printf("no %s\n", name);
        exit(1);
    }
    return f;
}

#define F(name) ((__extension__(__typeof__(&name)) function(#name)))

static void check(cl_int err, int line)
{
    if (err)
        printf("line %d: error %d\n", line, err);
    if (err)
        exit(1);
}
#define CL(call) check((call), __LINE__)

int main(int argc, char **argv)
{
    static const char source[] = "__kernel void opened(__global uint *v) { uint i = get_global_id(0);\n"
                                 "  v[i] = i * 3u + (uint)get_group_id(0); }";
    static cl_uint host[N];
    const char *text = source, *how = argc > 2 ? argv[2] : "local";
    cl_int err;
    cl_device_id device;
    if (strcmp(how, "symbol") == 0)
        library = RTLD_DEFAULT;
    else
        library = dlopen(argc > 1 ? argv[1] : "libOpenCL.so.1",
                         RTLD_NOW | (strcmp(how, "global") ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!library && strcmp(how, "symbol") != 0) {
        printf("%s\n", dlerror());
        return 1;
    }
    CL(F(clGetPlatformIDs)(1, &platform, NULL));
    if (strcmp(how, "extension") == 0)
        extension = F(clGetExtensionFunctionAddressForPlatform);
    if (F(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS)
        CL(F(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context c = F(clCreateContext)(NULL, 1, &device, NULL, NULL, &err);
    CL(err);
    cl_command_queue q = F(clCreateCommandQueue)(c, device, 0, &err);
    CL(err);
    cl_program p = F(clCreateProgramWithSource)(c, 1, &text, NULL, &err);
    CL(F(clBuildProgram)(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = F(clCreateKernel)(p, "opened", &err);
    CL(err);
    cl_mem m = F(clCreateBuffer)(c, CL_MEM_READ_WRITE, sizeof host, NULL, &err);
    CL(F(clSetKernelArg)(k, 0, sizeof m, &m));
    const size_t global = N, local = 64;
    CL(F(clEnqueueNDRangeKernel)(q, k, 1, NULL, &global, &local, 0, NULL, NULL));
    CL(F(clEnqueueReadBuffer)(q, m, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    unsigned long sum = 0;
    for (unsigned i = 0; i < N; i++)
        sum = sum * 31 + host[i];
    printf("%lx\n", sum);
    CL(F(clReleaseMemObject)(m));
    CL(F(clReleaseKernel)(k));
    CL(F(clReleaseProgram)(p));
    CL(F(clReleaseCommandQueue)(q));
    CL(F(clReleaseContext)(c));
    return 0;
}
