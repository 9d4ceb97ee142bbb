/* SPDX-License-Identifier: MIT */
/* growth ROUNDS [PHASE]: an application that runs for long. Each phase, or this one, does the same thing ROUNDS times,
 * three times over, and says on stderr by how many bytes of the heap a round of the last third has grown, after its
 * name. What it computes goes to stdout. */
#include <malloc.h>

#include "plain.h"

enum { N = 16384 };

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint i = get_global_id(0); out[i] = in[i] * 5u + k + (uint)get_group_id(0); }\n"
                             "__kernel void some(__global uint *v, __global const uint *at, uint k)\n"
                             "{ uint i = get_global_id(0); v[at[i] % 16384u] = i + k; }\n"
                             "__kernel void count(__global const uint *in, __global uint *out)\n"
                             "{ atomic_add(&out[in[get_global_id(0)] % 64u], 1u); }\n"
                             "__kernel void flip(__read_only image2d_t in, __write_only image2d_t out, sampler_t s)\n"
                             "{ int x = get_global_id(0), y = get_global_id(1);\n"
                             "  write_imageui(out, (int2)(x, y), read_imageui(in, s, (int2)(127 - x, y))); }\n";

static uint32_t host[N];
static cl_program program;
static cl_kernel step, some, count, flip;
static cl_mem a, b, c, at;

static void run_step(cl_command_queue q, cl_kernel k, cl_mem in, cl_mem out, cl_uint by, cl_event *event)
{
    SET(k, in, out, by);
    launch(q, k, N, 64, 0, NULL, event);
}

static void launches(cl_uint r)
{
    cl_event e;
    run_step(queue, step, r % 2 ? b : a, r % 2 ? a : b, r, &e);
    if (r % 8 == 0)
        CL(clWaitForEvents(1, &e));
    CL(clReleaseEvent(e));
}

static void sizes(cl_uint r)
{
    SET(step, a, b, r);
    launch(queue, step, 64 * (1 + r % (N / 64)), 64, 0, NULL, NULL);
    CL(clFinish(queue));
}

static void merges(cl_uint r)
{
    run_step(queue, some, c, at, r, NULL);
    CL(clFinish(queue));
}

static void reductions(cl_uint r)
{
    SET(count, at, c);
    launch(queue, count, N, 64, 0, NULL, NULL);
    if (r % 2)
        CL(clFinish(queue));
}

/* Each leaves bytes on other devices and asks for pieces of them. */
static void transfers(cl_uint r)
{
    uint32_t *p, word = r;
    cl_event e, copied;
    run_step(queue, step, a, b, r, &e);
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, r % N * 4, 4, &word, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, b, c, r % 64 * 4, 0, 4000, 1, &e, &copied));
    RELEASE(e, copied);
    CL(clEnqueueFillBuffer(queue, c, &word, 4, 4000, 800, 0, NULL, NULL));
    p = map_now(b, CL_MAP_READ | CL_MAP_WRITE, 0, 4096);
    p[r % 1024] += 1;
    unmap(b, p);
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
}

static void buffers(cl_uint r)
{
    cl_mem m = buffer_of(host, sizeof host), n = buffer(0, sizeof host, NULL), s = sub_buffer(n, 0, 0, sizeof host / 2);
    run_step(queue, step, m, n, r, NULL);
    SET(step, m, s);
    launch(queue, step, N / 2, 64, 0, NULL, NULL);
    RELEASE(n, m, s);
    CL(clFinish(queue));
}

static void images(cl_uint r)
{
    const size_t zero[3] = {0}, all[3] = {128, 128, 1}, line[3] = {128, 1, 1}, local[2] = {16, 4};
    const cl_uint colour[4] = {r, 1, 2, 3};
    cl_int err;
    cl_sampler sampler;
    cl_event e;
    size_t pitch;
    cl_mem in = new_image(CL_MEM_OBJECT_IMAGE2D, all, CL_MEM_COPY_HOST_PTR, CL_UNSIGNED_INT8, host),
           out = new_image(CL_MEM_OBJECT_IMAGE2D, all, 0, CL_UNSIGNED_INT8, NULL);
    MADE(sampler, clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err));
    SET(flip, in, out);
    CL(clSetKernelArg(flip, 2, sizeof sampler, &sampler));
    CL(clEnqueueWriteImage(queue, in, CL_FALSE, zero, line, 0, 0, host, 0, NULL, NULL));
    CL(clEnqueueNDRangeKernel(queue, flip, 2, NULL, all, local, 0, NULL, &e));
    CL(clEnqueueCopyImageToBuffer(queue, out, a, zero, all, 0, 1, &e, NULL));
    CL(clEnqueueCopyImage(queue, out, in, zero, zero, line, 0, NULL, NULL));
    CL(clEnqueueFillImage(queue, out, colour, zero, line, 0, NULL, NULL));
    void *p;
    MADE(p, clEnqueueMapImage(queue, out, CL_TRUE, CL_MAP_READ, zero, all, &pitch, NULL, 0, NULL, NULL, &err));
    unmap(out, p);
    CL(clEnqueueReadImage(queue, in, CL_TRUE, zero, all, 0, 0, host, 0, NULL, NULL));
    RELEASE(e, sampler, in, out);
}

static void rectangles(cl_uint r)
{
    const size_t zero[3] = {0}, to[3] = {16, r % 64, 0}, part[3] = {64, 32, 1};
    run_step(queue, step, a, b, r, NULL);
    CL(clEnqueueCopyBufferRect(queue, b, c, to, zero, part, 256, 0, 256, 0, 0, NULL, NULL));
    CL(clEnqueueWriteBufferRect(queue, b, CL_FALSE, to, zero, part, 256, 0, 256, 0, host, 0, NULL, NULL));
    CL(clEnqueueReadBufferRect(queue, c, CL_TRUE, zero, to, part, 256, 0, 256, 0, host, 0, NULL, NULL));
}

static void CL_CALLBACK release(cl_event e, cl_int status, void *unused)
{
    clReleaseEvent(e);
}

static void callbacks(cl_uint r)
{
    cl_event e, all;
    cl_int status;
    cl_ulong end;
    run_step(queue, step, a, b, r, &e);
    CL(clEnqueueBarrierWithWaitList(queue, 1, &e, NULL));
    CL(clEnqueueMarkerWithWaitList(queue, 1, &e, &all));
    CL(clSetEventCallback(e, CL_COMPLETE, release, NULL));
    CL(clRetainEvent(all));
    CL(clSetEventCallback(all, CL_COMPLETE, release, NULL));
    CL(clFlush(queue));
    CL(clWaitForEvents(1, &all));
    CL(clGetEventInfo(all, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    clGetEventProfilingInfo(all, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    CL(clReleaseEvent(all));
}

/* Calls that are refused. */
static void refusals(cl_uint unused)
{
    const size_t none = 0, global = N, odd = 48;
    cl_int err;
    cl_mem made = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, NULL, &err);
    set_mem(step, 0, a);
    if (made || clEnqueueNDRangeKernel(queue, step, 1, NULL, &global, &odd, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueNDRangeKernel(queue, step, 4, NULL, &global, &odd, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueReadBuffer(queue, a, CL_TRUE, sizeof host, 64, host, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueCopyBuffer(queue, a, a, 0, 2, 64, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueFillBuffer(queue, a, &none, 3, 0, 6, 0, NULL, NULL) == CL_SUCCESS ||
        clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, sizeof host, 64, 0, NULL, NULL, &err))
        exit(1);
}

/* The application's own memory, and properties that are asked for. */
static void host_memory(cl_uint r)
{
    static uint32_t own[N] __attribute__((aligned(4096)));
    char name[64];
    cl_int err;
    cl_mem m = buffer(CL_MEM_USE_HOST_PTR, sizeof own, own), n = buffer(CL_MEM_ALLOC_HOST_PTR, sizeof own, NULL);
    void *p;
    run_step(queue, step, m, n, r, NULL);
    MADE(p, clEnqueueMapBuffer(queue, n, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4096, 0, NULL, NULL, &err));
    unmap(n, p);
    CL(clEnqueueMigrateMemObjects(queue, 1, &n, 0, 0, NULL, NULL));
    CL(clGetKernelInfo(step, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    RELEASE(m, n);
    CL(clFinish(queue));
}

static void queues(cl_uint r)
{
    cl_event e;
    cl_command_queue q = new_queue(r % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    run_step(q, step, a, b, r, NULL);
    CL(clEnqueueMarkerWithWaitList(q, 0, NULL, &e));
    CL(clReleaseCommandQueue(q));
    wait_for(e);
}

static void user_events(cl_uint r)
{
    cl_event e;
    cl_event user = new_user_event();
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof host, host, 1, &user, &e));
    end_user_event(user);
    run_step(queue, step, a, b, r, NULL);
    wait_for(e);
    CL(clFinish(queue));
}

static void kernels(cl_uint r)
{
    cl_kernel k = kernel_of(program, "advance");
    run_step(queue, k, a, b, r, NULL);
    CL(clReleaseKernel(k));
    CL(clFinish(queue));
}

static void programs(cl_uint r)
{
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    run_step(queue, k, a, b, r, NULL);
    RELEASE(k, p);
    CL(clFinish(queue));
}

static void contexts(cl_uint r)
{
    cl_context old = context;
    cl_command_queue before = queue;
    context = new_context();
    queue = new_queue(0);
    cl_mem m = buffer_of(host, sizeof host), n = buffer(0, sizeof host, NULL);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    run_step(queue, k, m, n, r, NULL);
    CL(clFinish(queue));
    RELEASE(k, p, m, n);
    finish();
    context = old;
    queue = before;
}

static const struct {
    const char *name;
    void (*round)(cl_uint r);
    unsigned part; /* one in so many of the rounds: it is slow */
} phases[] = {
    {"launches", launches, 1},       {"sizes", sizes, 1},
    {"merges", merges, 2},           {"reductions", reductions, 2},
    {"transfers", transfers, 4},     {"buffers", buffers, 2},
    {"images", images, 1},           {"rectangles", rectangles, 4},
    {"callbacks", callbacks, 4},     {"refusals", refusals, 2},
    {"host memory", host_memory, 4}, {"queues", queues, 4},
    {"user events", user_events, 2}, {"kernels", kernels, 2},
    {"programs", programs, 40},      {"contexts", contexts, 40},
};

/* Of the heap, once it stays as it is: a command's objects are let go by other threads a moment after its end. */
static size_t heap_bytes(void)
{
    const struct timespec look = {.tv_nsec = 10 * 1000 * 1000};
    size_t bytes = mallinfo2().uordblks;
    for (int same = 0, looks = 0; same < 5 && looks < 200; looks++) {
        nanosleep(&look, NULL);
        const size_t now = mallinfo2().uordblks;
        same = now == bytes ? same + 1 : 0;
        bytes = now;
    }
    return bytes;
}

int main(int argc, char **argv)
{
    const cl_uint rounds = argc > 1 ? (cl_uint)atoi(argv[1]) : 400;
    start(0);
    fill_words(host, N, 5);
    program = build(source, "");
    step = kernel_of(program, "advance");
    some = kernel_of(program, "some");
    count = kernel_of(program, "count");
    flip = kernel_of(program, "flip");
    a = buffer_of(host, sizeof host);
    b = buffer_of(host, sizeof host);
    c = buffer_of(host, sizeof host);
    at = buffer_of(host, sizeof host);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (argc > 2 && strcmp(argv[2], phases[i].name) != 0)
            continue;
        const cl_uint n = rounds / phases[i].part ? rounds / phases[i].part : 1;
        size_t before = 0;
        for (cl_uint r = 0; r < 3 * n; r++) {
            if (r == 2 * n) {
                CL(clFinish(queue));
                before = heap_bytes();
            }
            phases[i].round(r);
        }
        CL(clFinish(queue));
        fprintf(stderr, "%s %.1f\n", phases[i].name, ((double)heap_bytes() - (double)before) / n);
        show_buffer(phases[i].name, queue, b, 0, sizeof host);
    }
    RELEASE(a, b, c, at, step, some, count, flip);
    return FINISH(program);
}
