/* SPDX-License-Identifier: MIT */
/* What a device says that it is: what the system's is, to an application that didn't ask for a GPU; a GPU to one that
 * did; never both. */
#include "plain.h"

static cl_device_type type_of(cl_device_id d)
{
    cl_device_type type = 0;
    CL(clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof type, &type, NULL));
    return type & ~(cl_device_type)CL_DEVICE_TYPE_DEFAULT;
}

int main(void)
{
    cl_uint n;
    cl_int err;
    CL(clGetPlatformIDs(1, &platform, NULL));
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 0, NULL, &n); /* only looks how many there are */
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    printf("of all: %x\n", (unsigned)type_of(device));
    CL(clGetDeviceIDs(platform, type_of(device), 1, &device, NULL));
    printf("of its own: %x\n", (unsigned)type_of(device));
    const cl_context_properties of[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    MADE(context, clCreateContextFromType(of, type_of(device), NULL, NULL, &err));
    CL(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL));
    printf("of a context: %x\n", (unsigned)type_of(device));
    queue = new_queue(0);
    cl_kernel k =
        kernel_of(build("__kernel void set(__global uint *v) { v[get_global_id(0)] = get_group_id(0); }", ""), "set");
    cl_mem m = buffer(CL_MEM_READ_WRITE, 4096 * 4, NULL);
    set_mem(k, 0, m);
    launch(queue, k, 4096, 64, 0, NULL, NULL);
    show_buffer("groups", queue, m, 0, 4096 * 4);
    finish();
    err = clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
    printf("a GPU is one: %d\n", err == CL_DEVICE_NOT_FOUND || (!err && type_of(device) == CL_DEVICE_TYPE_GPU));
    return 0;
}
