/* SPDX-License-Identifier: MIT */
/* Kernels that must not be split, and what makes them so: atomics whose value counts, printf, native kernels, a pointer
 * in shared virtual memory. */
#include "plain.h"

enum { N = 8192 };

static const char source[] =
    "__kernel void ticket(__global uint *v, __global uint *next)\n"
    "{ uint t = atomic_add(next, 1u); v[t] = t * 2u; }\n"
    "__kernel void talk(__global uint *v) { uint i = get_global_id(0); v[i] = i; if (i == 5u) printf(\"item "
    "%u\\n\", i); }\n"
    "__kernel void chained(__global uint *v, __global volatile uint *flag)\n"
    "{ uint i = get_global_id(0); v[i] = i + *flag; if (i == 0) atomic_xchg(flag, 9u); }\n"
    "__kernel void total(__global const uint *v, __global uint *sum) { atomic_add(sum, v[get_global_id(0)]); }\n"
    "__kernel void informed(__global uint *v) { v[get_global_id(0)] += 5u; }\n"
    "__kernel void numbered(__global uint *v)\n"
    "{ uint i = get_global_id(0); *(__global uint *)((size_t)v + i * 4) = i * 7u; }\n"
    "__kernel void after(__global uint *v) { v[get_global_id(0)] += 3u; }\n";

static uint32_t host[N];

static void CL_CALLBACK native(void *args)
{
    uint32_t *v = *(uint32_t **)args;
    for (int i = 0; i < N; i++)
        v[i] ^= 0x0f0f0f0f;
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel ticket = kernel_of(p, "ticket"), talk = kernel_of(p, "talk"), total = kernel_of(p, "total"),
              after = kernel_of(p, "after");
    fill_words(host, N, 61);
    cl_mem v = buffer_of(host, sizeof host), one = buffer(CL_MEM_READ_WRITE, 4, NULL);
    const cl_uint zero = 0;
    set_mem(after, 0, v);
    launch(queue, after, N, 64, 0, NULL, NULL);
    CL(clEnqueueFillBuffer(queue, one, &zero, 4, 0, 4, 0, NULL, NULL));
    SET(total, v, one);
    launch(queue, total, N, 64, 0, NULL, NULL);
    launch(queue, total, N, 64, 0, NULL, NULL);
    show_buffer("total", queue, one, 0, 4);
    CL(clEnqueueFillBuffer(queue, one, &zero, 4, 0, 4, 0, NULL, NULL));
    SET(ticket, v, one);
    launch(queue, after, N, 64, 0, NULL, NULL);
    launch(queue, ticket, N, 64, 0, NULL, NULL);
    show_buffer("tickets", queue, v, 0, sizeof host);
    launch(queue, after, N, 64, 0, NULL, NULL);
    cl_device_exec_capabilities can = 0;
    CL(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
    if (can & CL_EXEC_NATIVE_KERNEL) {
        void *args[1] = {v};
        const void *where = &args[0];
        CL(clEnqueueNativeKernel(queue, native, args, sizeof args, 1, &v, &where, 0, NULL, NULL));
        launch(queue, after, N, 64, 0, NULL, NULL);
        show_buffer("native", queue, v, 0, sizeof host);
    }
    /* Of what is written through an address that is a number nobody knows where it is. */
    cl_kernel numbered = kernel_of(p, "numbered");
    set_mem(numbered, 0, v);
    launch(queue, numbered, N, 64, 0, NULL, NULL);
    launch(queue, after, N, 64, 0, NULL, NULL);
    show_buffer("numbered", queue, v, 0, sizeof host);
    CL(clReleaseKernel(numbered));
    /* One that has been told of shared memory, which its buffers may lead to. */
    void *block = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    cl_kernel informed = kernel_of(p, "informed");
    if (block)
        clSetKernelExecInfo(informed, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof block, &block);
    set_mem(informed, 0, v);
    launch(queue, informed, N, 64, 0, NULL, NULL);
    show_buffer("informed", queue, v, 0, sizeof host);
    CL(clReleaseKernel(informed));
    if (block)
        clSVMFree(context, block);
    set_mem(talk, 0, v);
    fflush(stdout);
    launch(queue, talk, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    show_buffer("talk", queue, v, 0, sizeof host);
    return FINISH(ticket, talk, total, after, v, one, p);
}
