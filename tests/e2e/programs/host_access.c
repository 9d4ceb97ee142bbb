/* SPDX-License-Identifier: MIT */
/* Buffers that the host may only read, only write, or not touch at all: kernels use them as others, the host's calls
 * are refused as the driver refuses them. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] =
    "__kernel void set(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = i * k + (uint)get_group_id(0); }\n"
    "__kernel void pass(__global const uint *in, __global uint *out)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0); out[(i * 5u) % n] = in[n - 1u - i] + 1u; }\n";

int main(void)
{
    static uint32_t host[N];
    const cl_mem_flags flags[] = {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS};
    const uint32_t pattern = 7;
    const size_t zero[3] = {0}, region[3] = {64, 1, 1};
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel set = kernel_of(p, "set"), pass = kernel_of(p, "pass");
    cl_mem out = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    for (int i = 0; i < 3; i++) {
        cl_mem m = buffer(CL_MEM_READ_WRITE | flags[i], BYTES, NULL);
        cl_mem_flags got = 0;
        CL(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof got, &got, NULL));
        printf("flags %x\n", (unsigned)got);
        set_mem(set, 0, m);
        set_uint(set, 1, (cl_uint)i + 3);
        launch(queue, set, N, 64, 0, NULL, NULL);
        set_mem(pass, 0, m);
        set_mem(pass, 1, out);
        launch(queue, pass, N, 64, 0, NULL, NULL);
        show_buffer("passed", queue, out, 0, BYTES);
        launch(queue, set, N, 64, 0, NULL, NULL);
        printf("read %d\n", clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        printf("read rectangle %d\n",
               clEnqueueReadBufferRect(queue, m, CL_TRUE, zero, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL));
        printf("write %d\n", clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, 4096, host, 0, NULL, NULL));
        void *v = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &err);
        printf("map to read %d\n", err);
        if (!err)
            CL(clEnqueueUnmapMemObject(queue, m, v, 0, NULL, NULL));
        v = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &err);
        printf("map to write %d\n", err);
        if (!err)
            CL(clEnqueueUnmapMemObject(queue, m, v, 0, NULL, NULL));
        CL(clEnqueueFillBuffer(queue, m, &pattern, 4, 256, 512, 0, NULL, NULL));
        launch(queue, pass, N, 64, 0, NULL, NULL);
        CL(clEnqueueCopyBuffer(queue, m, out, 0, BYTES / 2, BYTES / 2, 0, NULL, NULL));
        show_buffer("copied", queue, out, 0, BYTES);
        CL(clReleaseMemObject(m));
    }
    CL(clReleaseMemObject(out));
    CL(clReleaseKernel(set));
    CL(clReleaseKernel(pass));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
