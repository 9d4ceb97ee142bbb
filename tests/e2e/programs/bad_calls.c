/* SPDX-License-Identifier: MIT */
/* bad_calls: one wrong thing after the other; what each call answers, and that nothing of it was done. Not a kernel of
 * NULL, nor a launch whose wait list is NULL, where PoCL 3.1 crashes. Events of NULL it takes of launches alone. */
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

/* Commands that wait for what can't be waited for: for an event and for none, for none alone, or for another context's.
 */
static void each_command(cl_uint n_wait, const cl_event *wait)
{
    static uint32_t host[N];
    const size_t none[3] = {0, 0, 0}, below[3] = {0, 8, 0}, some[3] = {16, 2, 1};
    cl_mem image = new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){16, 16, 1}, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL),
           other = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    SAY(clEnqueueNDRangeKernel(queue, free_size, 1, NULL, &n, &of_64, n_wait, wait, NULL));
    SAY(clEnqueueTask(queue, free_size, n_wait, wait, NULL));
    launch(queue, free_size, N, 64, 0, NULL, NULL); /* so that not all is at home */
    SAY(clEnqueueNDRangeKernel(queue, free_size, 1, NULL, &n, &of_64, n_wait, wait, NULL));
    launch(queue, free_size, N, 64, 0, NULL, NULL);
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, BYTES, host, n_wait, wait, NULL));
    SAY(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, BYTES, host, n_wait, wait, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, 64, host, n_wait, wait, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 64, host, n_wait, wait, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, none, none, some, 0, 0, 0, 0, host, n_wait, wait, NULL));
    SAY(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, none, none, some, 0, 0, 0, 0, host, n_wait, wait, NULL));
    SAY(clEnqueueCopyBuffer(queue, mem, other, 0, 0, BYTES, n_wait, wait, NULL));
    SAY(clEnqueueCopyBufferRect(queue, mem, other, none, none, some, 0, 0, 0, 0, n_wait, wait, NULL));
    SAY(clEnqueueFillBuffer(queue, mem, host, 4, 0, 64, n_wait, wait, NULL));
    SAY_MADE(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, n_wait, wait, NULL, &err));
    SAY(clEnqueueMigrateMemObjects(queue, 1, &mem, 0, n_wait, wait, NULL));
    SAY(clEnqueueMarkerWithWaitList(queue, n_wait, wait, NULL));
    SAY(clEnqueueBarrierWithWaitList(queue, n_wait, wait, NULL));
    SAY(clEnqueueReadImage(queue, image, CL_TRUE, none, some, 0, 0, host, n_wait, wait, NULL));
    SAY(clEnqueueWriteImage(queue, image, CL_TRUE, none, some, 0, 0, host, n_wait, wait, NULL));
    SAY(clEnqueueCopyImage(queue, image, image, none, below, some, n_wait, wait, NULL));
    SAY(clEnqueueCopyImageToBuffer(queue, image, other, none, some, 0, n_wait, wait, NULL));
    SAY(clEnqueueCopyBufferToImage(queue, other, image, 0, none, some, n_wait, wait, NULL));
    SAY(clEnqueueFillImage(queue, image, host, none, some, n_wait, wait, NULL));
    SAY(clWaitForEvents(n_wait, wait));
    show_buffer("after each command", queue, mem, 0, BYTES);
    RELEASE(other, image);
}

static cl_event ended_event_of(cl_context other)
{
    cl_event ended;
    cl_int err;
    MADE(ended, clCreateUserEvent(other, &err));
    CL(clSetUserEventStatus(ended, CL_COMPLETE));
    return ended;
}

static cl_context another_context(void)
{
    cl_context other = new_context();
    return other;
}

/* Calls that block, with an event of another context: none of the bytes that the launch before has left is lost. */
static void of_another_context(void)
{
    static uint32_t host[N];
    const size_t none[3] = {0, 0, 0}, rows[3] = {BYTES / 4, 4, 1};
    const cl_context other = another_context();
    const cl_event foreign = ended_event_of(other);
    launch(queue, free_size, N, 64, 0, NULL, NULL);
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, &foreign, NULL));
    show_buffer("not written", queue, mem, 0, BYTES);
    launch(queue, free_size, N, 64, 0, NULL, NULL);
    SAY(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, none, none, rows, 0, 0, 0, 0, host, 1, &foreign, NULL));
    show_buffer("no rows written", queue, mem, 0, BYTES);
    launch(queue, free_size, N, 64, 0, NULL, NULL);
    SAY_MADE(
        clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, BYTES, 1, &foreign, NULL, &err));
    show_buffer("not mapped", queue, mem, 0, BYTES);
    each_command(1, &foreign);
    RELEASE(foreign, other);
}

int main(void)
{
    static uint32_t host[N];
    cl_event waited[2] = {NULL, NULL};
    start(0);
    program = build(source, "");
    required = kernel_of(program, "required");
    free_size = kernel_of(program, "free_size");
    unset = kernel_of(program, "free_size");
    mem = buffer_of(host, sizeof host);
    set_mem(required, 0, mem);
    set_mem(free_size, 0, mem);
    launches();
    show_buffer("after launches", queue, mem, 0, BYTES);
    transfers();
    objects();
    each_command(1, waited);
    launch(queue, free_size, N, 64, 0, NULL, &waited[0]);
    each_command(2, waited);
    of_another_context();
    show_buffer("at the end", queue, mem, 0, BYTES);
    return 0;
}
