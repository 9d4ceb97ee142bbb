/* SPDX-License-Identifier: MIT */
/* stand_ins: calls each entry point that takes a memory object with a buffer, those for images too, and kernels' for
 * shared virtual memory, and prints what it answers. */
#include "plain.h"

enum { BYTES = 8192 };
static const size_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, rows[3] = {64, 4, 1};
static const cl_image_format format = {CL_R, CL_FLOAT};
static cl_int err;

#define SAY(name, call) printf(#name " %d\n", (int)(call))
/* Of those that make something, which is let go. */
#define MAKES(name, call)                                                                                              \
    do {                                                                                                               \
        cl_mem made_##name = (call);                                                                                   \
        SAY(name, err);                                                                                                \
        if (made_##name)                                                                                               \
            clReleaseMemObject(made_##name);                                                                           \
    } while (0)

static void CL_CALLBACK nothing(void *mems)
{
}

static void CL_CALLBACK gone(cl_mem mem, void *unused)
{
}

static void make(cl_mem m)
{
    const cl_buffer_region region = {0, 4096};
    const cl_image_desc from_buffer = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64, .mem_object = m};
    MAKES(clCreateBuffer, clCreateBuffer(context, 0, BYTES, NULL, &err));
    MAKES(clCreateBufferWithProperties, clCreateBufferWithProperties(context, NULL, 0, BYTES, NULL, &err));
    MAKES(clCreateSubBuffer, clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    MAKES(clCreateImage, clCreateImage(context, 0, &format, &from_buffer, NULL, &err));
    MAKES(clCreateImageWithProperties,
          clCreateImageWithProperties(context, NULL, 0, &format, &from_buffer, NULL, &err));
    MAKES(clCreateImage2D, clCreateImage2D(context, 0, &format, 8, 8, 0, NULL, &err));
    MAKES(clCreateImage3D, clCreateImage3D(context, 0, &format, 8, 8, 8, 0, 0, NULL, &err));
    MAKES(clCreatePipe, clCreatePipe(context, 0, 4, 16, NULL, &err));
}

static void ask(cl_mem m)
{
    size_t bytes = 0;
    SAY(clRetainMemObject, clRetainMemObject(m));
    SAY(clReleaseMemObject, clReleaseMemObject(m));
    SAY(clGetMemObjectInfo, clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    printf("%zu bytes\n", bytes);
    SAY(clGetImageInfo, clGetImageInfo(m, CL_IMAGE_WIDTH, sizeof bytes, &bytes, NULL));
    SAY(clGetPipeInfo, clGetPipeInfo(m, CL_PIPE_PACKET_SIZE, sizeof bytes, &bytes, NULL));
    SAY(clSetMemObjectDestructorCallback, clSetMemObjectDestructorCallback(m, gone, NULL));
}

static void move(cl_mem m, cl_mem n)
{
    char host[BYTES] = {0};
    const cl_uint number = 7;
    void *p;
    SAY(clEnqueueFillBuffer, clEnqueueFillBuffer(queue, m, &number, 4, 0, BYTES, 0, NULL, NULL));
    SAY(clEnqueueWriteBuffer, clEnqueueWriteBuffer(queue, m, CL_TRUE, 64, 64, host, 0, NULL, NULL));
    SAY(clEnqueueReadBuffer, clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer, clEnqueueCopyBuffer(queue, m, n, 0, 64, 4096, 0, NULL, NULL));
    SAY(clEnqueueReadBufferRect,
        clEnqueueReadBufferRect(queue, m, CL_TRUE, zero, zero, rows, 128, 0, 64, 0, host, 0, NULL, NULL));
    SAY(clEnqueueWriteBufferRect,
        clEnqueueWriteBufferRect(queue, n, CL_TRUE, zero, zero, rows, 128, 0, 64, 0, host, 0, NULL, NULL));
    SAY(clEnqueueCopyBufferRect, clEnqueueCopyBufferRect(queue, m, n, zero, zero, rows, 128, 0, 128, 0, 0, NULL, NULL));
    p = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE, 128, 64, 0, NULL, NULL, &err);
    SAY(clEnqueueMapBuffer, err);
    SAY(clEnqueueUnmapMemObject, clEnqueueUnmapMemObject(queue, m, p, 0, NULL, NULL));
    SAY(clEnqueueMigrateMemObjects, clEnqueueMigrateMemObjects(queue, 1, &m, 0, 0, NULL, NULL));
}

static void images(cl_mem m, cl_mem n)
{
    char host[64] = {0};
    size_t pitch;
    SAY(clEnqueueReadImage, clEnqueueReadImage(queue, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL));
    SAY(clEnqueueWriteImage, clEnqueueWriteImage(queue, m, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL));
    SAY(clEnqueueFillImage, clEnqueueFillImage(queue, m, host, zero, one, 0, NULL, NULL));
    SAY(clEnqueueCopyImage, clEnqueueCopyImage(queue, m, n, zero, zero, one, 0, NULL, NULL));
    SAY(clEnqueueCopyImageToBuffer, clEnqueueCopyImageToBuffer(queue, m, n, zero, one, 0, 0, NULL, NULL));
    SAY(clEnqueueCopyBufferToImage, clEnqueueCopyBufferToImage(queue, m, n, 0, zero, one, 0, NULL, NULL));
    clEnqueueMapImage(queue, m, CL_TRUE, CL_MAP_READ, zero, one, &pitch, NULL, 0, NULL, NULL, &err);
    SAY(clEnqueueMapImage, err);
}

static void run(cl_mem m, cl_mem n)
{
    cl_program p = build("__kernel void add(__global uint *a, __global const uint *b)\n"
                         "{ size_t i = get_global_id(0); a[i] += b[i]; }\n"
                         "__kernel void once(__global uint *a, __global const uint *b) { a[0] += b[1]; }\n",
                         "");
    cl_kernel add = kernel_of(p, "add"), once = kernel_of(p, "once");
    const size_t items = BYTES / 4;
    cl_mem list[1] = {m};
    const void *places[1] = {list};
    SAY(clSetKernelArg, clSetKernelArg(add, 0, sizeof m, &m));
    set_mem(add, 1, n);
    SET(once, m, n);
    SAY(clEnqueueNDRangeKernel, clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL));
    SAY(clEnqueueTask, clEnqueueTask(queue, once, 0, NULL, NULL));
    SAY(clEnqueueNativeKernel,
        clEnqueueNativeKernel(queue, nothing, list, sizeof list, 1, list, places, 0, NULL, NULL));
    CL(clFinish(queue));
    SAY(clSetKernelArgSVMPointer, clSetKernelArgSVMPointer(add, 0, list));
    SAY(clSetKernelExecInfo, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list));
    RELEASE(add, once, p);
}

int main(void)
{
    start(0);
    cl_mem m = buffer(CL_MEM_READ_WRITE, BYTES, NULL), n = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    make(m);
    ask(m);
    CL(clEnqueueFillBuffer(queue, n, &(cl_uint){5}, 4, 0, BYTES, 0, NULL, NULL));
    move(m, n);
    images(m, n);
    run(m, n);
    show_buffer("m", queue, m, 0, BYTES);
    show_buffer("n", queue, n, 0, BYTES);
    return FINISH(m, n);
}
