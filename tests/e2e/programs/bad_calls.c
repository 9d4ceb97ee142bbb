/* SPDX-License-Identifier: MIT */
/* bad_calls: one wrong thing after the other; what each call answers, and that nothing of it was done. Not a kernel of
 * NULL, nor a wait list of NULL, where PoCL 3.1 crashes; nor an event of NULL, which it takes now and then. */
#include "plain.h"

enum { N = 1 << 12, BYTES = N * 4 };

static const char source[] =
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void required(__global uint *v) {\n"
    "  uint i = get_global_id(0) + get_global_size(0) * get_global_id(1); v[i % 4096] = v[i % 4096] * 3u + i; }\n"
    "__kernel void free_size(__global uint *v) { v[get_global_id(0)] += 1u; }\n";

/* The call, and what it answers. */
#define SAY(call) printf("%s: %d\n", #call, (call))
#define SAY_MADE(call)                                                                                                 \
    do {                                                                                                               \
        cl_int err = 12345;                                                                                            \
        const bool made = (call) != NULL;                                                                              \
        printf("%s: %d%s\n", #call, err, made ? ", made" : "");                                                        \
    } while (0)

static cl_program program;
static cl_kernel required, free_size, unset;
static cl_mem mem;
static const size_t n = N, n_odd = 777, nought, n2[2] = {N / 64, 64};
static const size_t of_64 = 64, of_32 = 32, of_7 = 7, huge = (size_t)1 << 40, at_5 = 5;
static const size_t of_64x1[2] = {64, 1}, of_32x2[2] = {32, 2};

static cl_int launched(cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local)
{
    return clEnqueueNDRangeKernel(queue, k, dims, offset, global, local, 0, NULL, NULL);
}

static void launches(void)
{
    cl_event none = NULL;
    SAY(launched(required, 1, NULL, &n, NULL));
    SAY(launched(required, 2, NULL, n2, NULL));
    SAY(launched(required, 1, NULL, &n, &of_32));
    SAY(launched(required, 2, NULL, n2, of_32x2));
    SAY(launched(required, 1, NULL, &n_odd, &of_64));
    SAY(launched(required, 1, NULL, &n, &of_64));
    SAY(launched(required, 2, NULL, n2, of_64x1));
    SAY(launched(required, 1, &at_5, &n, &of_64));
    SAY(launched(required, 0, NULL, &n, NULL));
    SAY(launched(required, 4, NULL, &n, NULL));
    SAY(launched(required, 1, NULL, NULL, NULL));
    SAY(launched(free_size, 1, NULL, &n, &huge));
    SAY(launched(free_size, 1, NULL, &n, &of_7));
    SAY(launched(free_size, 1, NULL, &nought, NULL));
    SAY(launched(unset, 1, NULL, &n, &of_64));
    SAY(clEnqueueNDRangeKernel(NULL, free_size, 1, NULL, &n, NULL, 0, NULL, NULL));
    SAY(clEnqueueNDRangeKernel(queue, free_size, 1, NULL, &n, NULL, 0, &none, NULL));
}

static void transfers(void)
{
    static char host[BYTES];
    const size_t origin[3] = {0, 0, 0}, empty[3] = {0, 1, 1}, rows[3] = {8, 2, 1};
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, BYTES - 4, 8, host, 0, NULL, NULL));
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, NULL, 0, NULL, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, BYTES, 4, host, 0, NULL, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, SIZE_MAX, 4, host, 0, NULL, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, origin, origin, empty, 0, 0, 0, 0, host, 0, NULL, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, origin, origin, rows, 8, 0, 4, 0, host, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer(queue, mem, mem, 0, 4, 64, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer(queue, mem, mem, 0, BYTES - 4, 64, 0, NULL, NULL));
    SAY(clEnqueueFillBuffer(queue, mem, host, 3, 0, 12, 0, NULL, NULL));
    SAY(clEnqueueFillBuffer(queue, mem, host, 4, 2, 12, 0, NULL, NULL));
    SAY(clEnqueueFillBuffer(queue, mem, host, 4, 0, BYTES + 4, 0, NULL, NULL));
    SAY_MADE(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, BYTES, 4, 0, NULL, NULL, &err));
    SAY(clEnqueueUnmapMemObject(queue, mem, host, 0, NULL, NULL));
    SAY(clEnqueueMigrateMemObjects(queue, 0, NULL, 0, 0, NULL, NULL));
}

static void objects(void)
{
    static char host[64];
    cl_event none = NULL;
    const cl_buffer_region crooked = {1, 1}, outside = {0, BYTES + 4096};
    SAY(clSetKernelArg(free_size, 0, 4, &n));
    SAY(clSetKernelArg(free_size, 5, sizeof mem, &mem));
    SAY_MADE(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY, 16, NULL, &err));
    SAY_MADE(clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &err));
    SAY_MADE(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 16, NULL, &err));
    SAY_MADE(clCreateBuffer(context, CL_MEM_READ_WRITE, 16, host, &err));
    SAY_MADE(clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &crooked, &err));
    SAY_MADE(clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &outside, &err));
    SAY_MADE(clCreateKernel(program, "nosuch", &err));
    SAY(clReleaseMemObject(NULL));
    SAY(clGetMemObjectInfo(mem, CL_MEM_SIZE, 1, host, NULL));
    SAY(clGetKernelWorkGroupInfo(required, device, 0x9999, 8, host, NULL));
    SAY(clEnqueueBarrierWithWaitList(queue, 1, NULL, NULL));
    SAY(clEnqueueMarkerWithWaitList(queue, 0, &none, NULL));
    SAY(clWaitForEvents(0, NULL));
    SAY(clWaitForEvents(1, &none));
    SAY(clSetEventCallback(NULL, CL_COMPLETE, NULL, NULL));
    SAY(clSetUserEventStatus(NULL, CL_COMPLETE));
    SAY(clBuildProgram(program, 1, &device, "", NULL, NULL)); /* it has kernels */
    SAY(clFlush(NULL));
    SAY(clFinish(NULL));
}

int main(void)
{
    static uint32_t host[N];
    start(0);
    program = build(source, "");
    required = kernel_of(program, "required");
    free_size = kernel_of(program, "free_size");
    unset = kernel_of(program, "free_size");
    mem = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    set_mem(required, 0, mem);
    set_mem(free_size, 0, mem);
    launches();
    show_buffer("after launches", queue, mem, 0, BYTES);
    transfers();
    objects();
    launch(queue, free_size, N, 64, 0, NULL, NULL);
    show_buffer("at the end", queue, mem, 0, BYTES);
    return 0;
}
