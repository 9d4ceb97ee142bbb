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
                             "{ atomic_add(&out[in[get_global_id(0)] % 64u], 1u); }\n";

static uint32_t host[N];
static cl_program program;
static cl_kernel step, some, count;
static cl_mem a, b, c, at;

static void run_step(cl_command_queue q, cl_kernel k, cl_mem in, cl_mem out, cl_uint by, cl_event *event)
{
    set_mem(k, 0, in);
    set_mem(k, 1, out);
    set_uint(k, 2, by);
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
    set_mem(step, 0, a);
    set_mem(step, 1, b);
    set_uint(step, 2, r);
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
    set_mem(count, 0, at);
    set_mem(count, 1, c);
    launch(queue, count, N, 64, 0, NULL, NULL);
    if (r % 2)
        CL(clFinish(queue));
}

/* Each leaves bytes on other devices and asks for pieces of them. */
static void transfers(cl_uint r)
{
    uint32_t *p, word = r;
    cl_int err;
    cl_event e, copied;
    run_step(queue, step, a, b, r, &e);
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, r % N * 4, 4, &word, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, b, c, r % 64 * 4, 0, 4000, 1, &e, &copied));
    CL(clReleaseEvent(e));
    CL(clReleaseEvent(copied));
    CL(clEnqueueFillBuffer(queue, c, &word, 4, 4000, 800, 0, NULL, NULL));
    MADE(p, clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 4096, 0, NULL, NULL, &err));
    p[r % 1024] += 1;
    CL(clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
}

static void buffers(cl_uint r)
{
    const cl_buffer_region region = {0, sizeof host / 2};
    cl_int err;
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host), n = buffer(0, sizeof host, NULL), s;
    MADE(s, clCreateSubBuffer(n, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    run_step(queue, step, m, n, r, NULL);
    set_mem(step, 0, m);
    set_mem(step, 1, s);
    launch(queue, step, N / 2, 64, 0, NULL, NULL);
    CL(clReleaseMemObject(n));
    CL(clReleaseMemObject(m));
    CL(clReleaseMemObject(s));
    CL(clFinish(queue));
}

static void queues(cl_uint r)
{
    cl_int err;
    cl_command_queue q;
    cl_event e;
    MADE(q, clCreateCommandQueue(context, device, r % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &err));
    run_step(q, step, a, b, r, NULL);
    CL(clEnqueueMarkerWithWaitList(q, 0, NULL, &e));
    CL(clReleaseCommandQueue(q));
    CL(clWaitForEvents(1, &e));
    CL(clReleaseEvent(e));
}

static void user_events(cl_uint r)
{
    cl_int err;
    cl_event user, e;
    MADE(user, clCreateUserEvent(context, &err));
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof host, host, 1, &user, &e));
    CL(clSetUserEventStatus(user, CL_COMPLETE));
    CL(clReleaseEvent(user));
    run_step(queue, step, a, b, r, NULL);
    CL(clWaitForEvents(1, &e));
    CL(clReleaseEvent(e));
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
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    CL(clFinish(queue));
}

static void contexts(cl_uint r)
{
    cl_int err;
    cl_context old = context;
    cl_command_queue before = queue;
    MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    MADE(queue, clCreateCommandQueue(context, device, 0, &err));
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host), n = buffer(0, sizeof host, NULL);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    run_step(queue, k, m, n, r, NULL);
    CL(clFinish(queue));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    CL(clReleaseMemObject(m));
    CL(clReleaseMemObject(n));
    finish();
    context = old;
    queue = before;
}

static const struct {
    const char *name;
    void (*round)(cl_uint r);
    unsigned part; /* one in so many of the rounds: it is slow */
} phases[] = {
    {"launches", launches, 1},   {"sizes", sizes, 1},
    {"merges", merges, 2},       {"reductions", reductions, 2},
    {"transfers", transfers, 4}, {"buffers", buffers, 2},
    {"queues", queues, 4},       {"user events", user_events, 2},
    {"kernels", kernels, 2},     {"programs", programs, 40},
    {"contexts", contexts, 40},
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
    a = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    b = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    c = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    at = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
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
    CL(clReleaseMemObject(a));
    CL(clReleaseMemObject(b));
    CL(clReleaseMemObject(c));
    CL(clReleaseMemObject(at));
    CL(clReleaseKernel(step));
    CL(clReleaseKernel(some));
    CL(clReleaseKernel(count));
    CL(clReleaseProgram(program));
    finish();
    return 0;
}
