/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that gives the driver functions which gpusparc has never heard of, and one of
 * a vendor's that it knows by name alone. */
#include "layer.h"

/* Launches the kernel `times` times. Its parameters lie in all registers there are for them, and on the stack. */
static cl_int CL_API_CALL enqueue_steps(cl_command_queue queue, cl_kernel kernel, size_t global, size_t local,
                                        cl_uint times, cl_uint one, double half, float quarter, cl_uint seven,
                                        cl_event *event)
{
    cl_int err = one == 1 && half == 0.5 && quarter == 0.25f && seven == 7 ? CL_SUCCESS : CL_INVALID_VALUE;
    for (cl_uint i = 0; i < times && !err; i++)
        err = below.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                           i + 1 == times ? event : NULL);
    return err;
}

static cl_int CL_API_CALL set_arg_twice(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    const cl_int err = below.clSetKernelArg(kernel, i, bytes, value);
    return err ? err : below.clSetKernelArg(kernel, i, bytes, value);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, cl_bitfield flags_nv, size_t bytes,
                                        void *host, cl_int *err)
{
    return below.clCreateBuffer(context, flags, bytes, host, err);
}

static void *CL_API_CALL address(cl_platform_id platform, const char *name)
{
    void *p = NULL;
    if (strcmp(name, "clEnqueueStepsTST") == 0)
        *(__typeof__(&enqueue_steps) *)&p = enqueue_steps;
    else if (strcmp(name, "clSetKernelArgTwiceTST") == 0)
        *(__typeof__(&set_arg_twice) *)&p = set_arg_twice;
    else if (strcmp(name, "clCreateBufferNV") == 0)
        *(__typeof__(&create_buffer) *)&p = create_buffer;
    return p ? p : below.clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void layer_start(void)
{
    layer.clGetExtensionFunctionAddressForPlatform = address;
}
