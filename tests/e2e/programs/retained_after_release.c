/* SPDX-License-Identifier: MIT */
/* retained_after_release [buffers]: objects that are retained again after their last release, while others keep them:
 * the buffer of a sub-buffer or an image, the context of a queue, and the queue of an event, which the application has
 * from the queries. What it then does with them has the bytes that plain calls have. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] =
    "__kernel void turn(__global const uint *in, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] = in[get_global_size(0) - 1u - i] * 3u + i; }\n"
    "__kernel void slow(__global const uint *in, __global uint *out)\n"
    "{ uint i = get_global_id(0), v = in[get_global_size(0) - 1u - i];\n"
    "  for (uint k = 0; k < 500; k++) v = v * 3u + i; out[i] = v; }\n"
    "__kernel void bump(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 7u + i; }\n";

static uint32_t host[N], got[N];
static cl_kernel turn, bump, slow;

static cl_mem parent_of(cl_mem m)
{
    cl_mem parent = NULL;
    CL(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    return parent;
}

static void references(const char *what, cl_mem m)
{
    cl_uint n = 0;
    CL(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof n, &n, NULL));
    printf("%s: %u references\n", what, n);
}

/* Splits a launch that writes m, and reads its old bytes behind a write that waits for the application. */
static void use(const char *what, cl_mem m)
{
    cl_int err;
    cl_event go;
    cl_command_queue other;
    cl_mem in = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    set_mem(bump, 0, in);
    launch(queue, bump, N, 64, 0, NULL, NULL);
    set_mem(turn, 0, in);
    set_mem(turn, 1, m);
    launch(queue, turn, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    MADE(other, clCreateCommandQueue(context, device, 0, &err));
    MADE(go, clCreateUserEvent(context, &err));
    CL(clEnqueueWriteBuffer(other, m, CL_FALSE, 0, BYTES, host, 1, &go, NULL));
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    show(what, got, BYTES);
    CL(clSetUserEventStatus(go, CL_COMPLETE));
    CL(clFinish(other));
    show_buffer("written", queue, m, 0, BYTES);
    set_mem(bump, 0, m);
    launch(queue, bump, N, 64, 0, NULL, NULL);
    show_buffer("stepped", queue, m, 0, BYTES);
    RELEASE(go, other, in);
}

static cl_mem window(cl_mem m)
{
    cl_int err;
    MADE(m, clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, BYTES}, &err));
    return m;
}

static void CL_CALLBACK is_gone(cl_mem m, void *gone)
{
    (void)m;
    atomic_fetch_add((atomic_uint *)gone, 1);
}

static void buffers(void)
{
    static atomic_uint gone;
    cl_mem whole = buffer(CL_MEM_READ_WRITE, BYTES, NULL), part = window(whole);
    CL(clSetMemObjectDestructorCallback(whole, is_gone, &gone));
    for (int i = 0; i < 3; i++) {
        CL(clReleaseMemObject(whole));
        use("a sub-buffer", part);
        printf("the same %d\n", parent_of(part) == whole);
        CL(clRetainMemObject(whole));
        references("a buffer", whole);
        use("a buffer", whole);
    }
    CL(clReleaseMemObject(part));
    use("a buffer alone", whole);
    printf("gone: %u\n", atomic_load(&gone));
    CL(clReleaseMemObject(whole));
    while (!atomic_load(&gone)) /* the driver lets go of each reference */
        usleep(100);
}

static void images(void)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_int err;
    cl_mem whole = buffer(CL_MEM_READ_WRITE, BYTES, NULL), image;
    const cl_image_desc line = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = N / 4, .buffer = whole};
    MADE(image, clCreateImage(context, 0, &format, &line, NULL, &err));
    for (int i = 0; i < 3; i++) {
        CL(clReleaseMemObject(whole));
        printf("the same %d\n", parent_of(image) == whole);
        CL(clRetainMemObject(whole));
        use("an image's buffer", whole);
    }
    RELEASE(image, whole);
}

static void contexts(void)
{
    cl_mem whole = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    for (int i = 0; i < 2; i++) {
        cl_context of = NULL;
        CL(clReleaseContext(context));
        use("a context let go", whole);
        CL(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of, &of, NULL));
        printf("the same %d\n", of == context);
        CL(clRetainContext(of));
        use("a context retained", whole);
    }
    CL(clReleaseMemObject(whole));
}

/* Launches in turn on it and another one, which markers and barriers tie together. It was let go while its launch ran,
 * or after that had ended. */
static void queues(bool ended)
{
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host),
                   buffer(CL_MEM_READ_WRITE, BYTES, NULL)};
    cl_command_queue both[2] = {new_queue(0), new_queue(0)}, of = NULL;
    cl_event last, done;
    set_mem(slow, 0, m[0]);
    set_mem(slow, 1, m[1]);
    launch(both[0], slow, N, 64, 0, NULL, &last);
    if (ended)
        CL(clFinish(both[0]));
    CL(clReleaseCommandQueue(both[0]));
    CL(clGetEventInfo(last, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
    printf("the same %d\n", of == both[0]);
    CL(clRetainCommandQueue(of));
    for (int i = 0; i < 12; i++) {
        set_mem(slow, 0, m[i % 2]);
        set_mem(slow, 1, m[(i + 1) % 2]);
        launch(both[i % 2], slow, N, 64, 0, NULL, NULL);
        CL(clEnqueueMarkerWithWaitList(both[i % 2], 0, NULL, &done));
        CL(clFlush(both[i % 2]));
        CL(clEnqueueBarrierWithWaitList(both[(i + 1) % 2], 1, &done, NULL));
        RELEASE(done);
    }
    show_buffer("a queue retained", both[0], m[0], 0, BYTES);
    show_buffer("the other one", both[1], m[1], 0, BYTES);
    RELEASE(last, both[0], both[1], m[0], m[1]);
}

int main(int argc, char **argv)
{
    start(0);
    fill_words(host, N, 3);
    cl_program p = build(source, "");
    turn = kernel_of(p, "turn");
    bump = kernel_of(p, "bump");
    slow = kernel_of(p, "slow");
    queues(false);
    queues(true);
    buffers();
    if (argc < 2) { /* pooled memory has no images of buffers */
        images();
        contexts();
    }
    RELEASE(turn, bump, slow, p);
    finish();
    return 0;
}
