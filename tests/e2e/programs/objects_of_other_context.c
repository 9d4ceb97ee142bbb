/* SPDX-License-Identifier: MIT */
/* Calls with objects of another context, which have bytes on each of its devices: what they answer, and that nothing
 * comes of them. A second thread uses the objects meanwhile. */
#include <pthread.h>
#include <stdatomic.h>

#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4, ROUNDS = 300 };

static const char source[] = "__kernel void turn(__global const uint *in, __global uint *out)\n"
                             "{ uint i = get_global_id(0); out[i] = in[get_global_size(0) - 1u - i] * 3u + i; }\n";

static uint32_t host[N], got[N];
static cl_context there;
static cl_command_queue theirs;
static cl_mem in, out, image, mine;
static cl_kernel turn;

static void spread(void)
{
    launch(theirs, turn, N, 64, 0, NULL, NULL);
    CL(clFinish(theirs));
}

static void say(const char *what, cl_int err)
{
    if (what)
        printf("%s: %d\n", what, err);
}
#define SAY(call) say(loud ? #call : NULL, call)
#define SAY_MAP(call) (call, say(loud ? #call : NULL, err))

static void calls(bool loud)
{
    const size_t none[3] = {0}, box[3] = {64, 4, 1}, texels[3] = {4, 4, 1};
    const uint32_t zero[4] = {0};
    size_t pitch, slice;
    cl_int err;
    for (cl_bool blocks = CL_FALSE; blocks <= CL_TRUE; blocks++) {
        SAY(clEnqueueReadBuffer(queue, out, blocks, 0, BYTES, got, 0, NULL, NULL));
        SAY(clEnqueueReadBuffer(queue, out, blocks, 0, 64, got, 0, NULL, NULL));
        SAY(clEnqueueWriteBuffer(queue, out, blocks, 0, BYTES, host, 0, NULL, NULL));
        SAY(clEnqueueWriteBuffer(queue, out, blocks, 0, 64, host, 0, NULL, NULL));
        SAY(clEnqueueReadBufferRect(queue, out, blocks, none, none, box, 0, 0, 0, 0, got, 0, NULL, NULL));
        SAY(clEnqueueWriteBufferRect(queue, out, blocks, none, none, box, 0, 0, 0, 0, host, 0, NULL, NULL));
        SAY(clEnqueueReadImage(queue, image, blocks, none, texels, 0, 0, got, 0, NULL, NULL));
        SAY(clEnqueueWriteImage(queue, image, blocks, none, texels, 0, 0, host, 0, NULL, NULL));
        SAY_MAP(clEnqueueMapBuffer(queue, out, blocks, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &err));
        SAY_MAP(clEnqueueMapBuffer(queue, out, blocks, CL_MAP_WRITE, 0, BYTES, 0, NULL, NULL, &err));
        SAY_MAP(clEnqueueMapBuffer(queue, out, blocks, CL_MAP_WRITE_INVALIDATE_REGION, 0, 64, 0, NULL, NULL, &err));
        SAY_MAP(
            clEnqueueMapImage(queue, image, blocks, CL_MAP_WRITE, none, texels, &pitch, &slice, 0, NULL, NULL, &err));
    }
    SAY(clEnqueueFillBuffer(queue, out, zero, 4, 0, BYTES, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer(queue, mine, out, 0, 0, BYTES, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer(queue, out, mine, 0, 0, BYTES, 0, NULL, NULL));
    SAY(clEnqueueCopyBuffer(queue, in, out, 0, 0, BYTES, 0, NULL, NULL));
    SAY(clEnqueueCopyBufferRect(queue, mine, out, none, none, box, 0, 0, 0, 0, 0, NULL, NULL));
    SAY(clEnqueueFillImage(queue, image, zero, none, texels, 0, NULL, NULL));
    SAY(clEnqueueCopyImageToBuffer(queue, image, mine, none, texels, 0, 0, NULL, NULL));
    SAY(clEnqueueCopyBufferToImage(queue, mine, image, 0, none, texels, 0, NULL, NULL));
    SAY(clEnqueueMigrateMemObjects(queue, 1, &out, 0, 0, NULL, NULL));
    SAY(clFinish(queue));
}

static void *others(void *end)
{
    uint32_t words[16];
    cl_int err;
    while (!atomic_load((atomic_bool *)end)) {
        CL(clEnqueueReadBuffer(theirs, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
        void *at = clEnqueueMapBuffer(theirs, out, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &err);
        CL(clEnqueueUnmapMemObject(theirs, out, at, 0, NULL, NULL));
        launch(theirs, turn, N, 64, 0, NULL, NULL);
    }
    return NULL;
}

int main(void)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc plane = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16};
    atomic_bool end = false;
    pthread_t thread;
    cl_int err;
    start(0);
    fill_words(host, N, 3);
    there = context;
    theirs = queue;
    cl_program p = build(source, "");
    turn = kernel_of(p, "turn");
    in = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    out = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    MADE(image, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &plane, host, &err));
    set_mem(turn, 0, in);
    set_mem(turn, 1, out);
    MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    MADE(queue, clCreateCommandQueue(context, device, 0, &err));
    mine = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    spread();
    calls(true);
    show_buffer("after them", theirs, out, 0, BYTES);
    show_buffer("mine", queue, mine, 0, BYTES);
    cl_kernel strange = kernel_of(p, "turn");
    printf("a kernel's: %d\n", clSetKernelArg(strange, 0, sizeof mine, &mine));
    set_mem(strange, 1, out);
    printf("its launch: %d\n", clEnqueueNDRangeKernel(theirs, strange, 1, NULL, &(size_t){N}, NULL, 0, NULL, NULL));
    spread();
    show_buffer("after it", theirs, out, 0, BYTES);
    CL(pthread_create(&thread, NULL, others, &end));
    for (int i = 0; i < ROUNDS; i++)
        calls(false);
    atomic_store(&end, true);
    CL(pthread_join(thread, NULL));
    show_buffer("with others", theirs, out, 0, BYTES);
    RELEASE(strange, turn, p, in, out, image, mine, theirs);
    CL(clReleaseContext(there));
    finish();
    return 0;
}
