/* SPDX-License-Identifier: MIT */
/* Sets arguments to what they are, and to what they are not. Before each step it asks for the platform's profile, and
 * prints how often the driver is to hear of one in it: at most, and at least. */
#include "plain.h"

static const char source[] = "__kernel void add(__global uint *a, uint n, ulong m)\n"
                             "{ a[get_global_id(0)] += n + (uint)m; }\n";

static void step(unsigned least, unsigned most)
{
    char text[64];
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
    printf("%u %u\n", least, most);
}

static void set_ulong(cl_kernel k, cl_uint i, cl_ulong v)
{
    CL(clSetKernelArg(k, i, sizeof v, &v));
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem a = buffer(CL_MEM_READ_WRITE, 4096, NULL), b;
    const cl_uint five = 5;
    step(3, 3);
    set_mem(k, 0, a);
    set_uint(k, 1, 5);
    set_ulong(k, 2, 1);
    step(0, 2); /* neither the buffer nor the number has changed */
    set_mem(k, 0, a);
    set_uint(k, 1, 5);
    step(2, 2); /* another number; and back */
    set_uint(k, 1, 6);
    set_uint(k, 1, 5);
    step(1, 1); /* of eight bytes that are no memory object it isn't known what they are */
    set_ulong(k, 2, 1);
    step(1, 1); /* there is a new object: its handle might have been this one's */
    b = buffer(CL_MEM_READ_WRITE, 4096, NULL);
    set_mem(k, 0, a);
    step(0, 1);
    set_mem(k, 0, a);
    step(1, 1); /* one has gone: might it be this one, the driver would say so */
    CL(clReleaseMemObject(b));
    set_mem(k, 0, a);
    step(1, 1); /* the driver says what is wrong with it */
    if (clSetKernelArg(k, 7, sizeof five, &five) != CL_INVALID_ARG_INDEX)
        puts("no error");
    step(2, 2); /* not the same once its size is another one */
    CL(clSetKernelArg(k, 1, 2, &five));
    set_uint(k, 1, 5);
    step(0, 1);
    set_mem(k, 0, a);
    step(2, 2); /* by an extension's function */
    void *address = clGetExtensionFunctionAddressForPlatform(platform, "clSetKernelArgMemPointerINTEL");
    cl_int(CL_API_CALL * set)(cl_kernel, cl_uint, const void *) = NULL;
    memcpy(&set, &address, sizeof set);
    if (set)
        set(k, 0, &a);
    set_mem(k, 0, a);
    step(0, 0);
    CL(clReleaseMemObject(a));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
