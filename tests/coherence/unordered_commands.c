/* SPDX-License-Identifier: MIT */
/* An OpenCL application whose commands are unordered where the standard lets them be: they touch different bytes of one
 * buffer, from two queues, two threads or the host. On one device each case is right; what a split moves behind the
 * application's back must not show. Prints a line per case; exits 0 if all are right. usage: unordered_commands
 * [ROUNDS] */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call, __LINE__)

/* N: words in each half of the buffer. Places are counted from FIRST, so that no byte of theirs is that of an empty
 * buffer. */
enum { N = 1 << 19, FIRST = 0x5a5a5a5a };
static const size_t half_bytes = N * sizeof(cl_uint), all_bytes = 2 * N * sizeof(cl_uint);
static const size_t items = N, both_items = 2 * N, group = 64;

/* plain: where it writes can be told beforehand. scattered: it can't. alone: the atomic's value is used, so it stays on
 * one device. */
static const char source[] =
    "uint work(uint x) { for (int k = 0; k < 60; k++) x = x * 1664525u + 1013904223u; return x | 1; }\n"
    "__kernel void plain(__global uint *b, uint n) { b[get_global_id(0)] = work(get_global_id(0) + n); }\n"
    "__kernel void scattered(__global uint *b, __global const uint *at, uint base)\n"
    "{ b[base + at[get_global_id(0)]] = work(get_global_id(0)); }\n"
    "__kernel void alone(__global uint *b, __global uint *ticket, uint base)\n"
    "{ uint t = atomic_inc(ticket); b[base + t] = work(t) & b[base + t]; }\n"
    "__kernel void value(__global uint *b) { b[get_global_id(0)] = VALUE; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue q1, q2;
static cl_program program;
static cl_kernel plain, scattered, alone;
static cl_mem buffer, places, ticket;
static cl_uint *seen, *old, *fresh;

static void check(cl_int err, const char *call, int line)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "unordered_commands: line %d: %s: error %d\n", line, call, err);
    exit(1);
}

static cl_uint work(cl_uint x)
{
    for (int k = 0; k < 60; k++)
        x = x * 1664525u + 1013904223u;
    return x | 1;
}

static void start(void)
{
    const char *text = source;
    cl_platform_id platform;
    cl_int err;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    CHECK(err);
    q1 = clCreateCommandQueue(context, device, 0, &err);
    q2 = clCreateCommandQueue(context, device, 0, &err);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    CHECK(clBuildProgram(program, 0, NULL, "-DVALUE=1", NULL, NULL));
    plain = clCreateKernel(program, "plain", &err);
    scattered = clCreateKernel(program, "scattered", &err);
    alone = clCreateKernel(program, "alone", &err);
    CHECK(err);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, all_bytes, NULL, &err);
    places = clCreateBuffer(context, CL_MEM_READ_ONLY, half_bytes, NULL, &err);
    ticket = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &err);
    CHECK(err);
    seen = malloc(all_bytes);
    old = malloc(all_bytes);
    fresh = malloc(half_bytes);
    for (cl_uint i = 0; i < 2 * N; i++)
        old[i] = FIRST + i % N;
    CHECK(clEnqueueWriteBuffer(q1, places, CL_TRUE, 0, half_bytes, old, 0, NULL, NULL));
}

/* New values for a half of the buffer, which no kernel makes: they are even. All their bytes change from round to
 * round: e2e_graph writes down each stretch that does. */
static void refresh(cl_uint round)
{
    for (cl_uint i = 0; i < N; i++)
        fresh[i] = 2 * (i + round) * 2654435761u;
}

static void read_all(cl_command_queue q)
{
    CHECK(clEnqueueReadBuffer(q, buffer, CL_TRUE, 0, all_bytes, seen, 0, NULL, NULL));
}

static bool first_half_is_fresh(void)
{
    return memcmp(seen, fresh, half_bytes) == 0;
}

/* The whole buffer by a launch that can be split with each part owning what it writes. */
static void launch_plain(cl_command_queue q, cl_uint n)
{
    CHECK(clSetKernelArg(plain, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(plain, 1, sizeof n, &n));
    CHECK(clEnqueueNDRangeKernel(q, plain, 1, NULL, &both_items, &group, 0, NULL, NULL));
}

static bool is_plain(cl_uint n, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (seen[i] != work((cl_uint)i + n))
            return false;
    return true;
}

static void launch_scattered(cl_command_queue q, cl_mem b, cl_uint base)
{
    base -= FIRST;
    CHECK(clSetKernelArg(scattered, 0, sizeof b, &b));
    CHECK(clSetKernelArg(scattered, 1, sizeof places, &places));
    CHECK(clSetKernelArg(scattered, 2, sizeof base, &base));
    CHECK(clEnqueueNDRangeKernel(q, scattered, 1, NULL, &items, &group, 0, NULL, NULL));
}

/* On one device, in the second half. */
static void launch_alone(cl_command_queue q)
{
    const cl_uint zero = 0, base = N;
    CHECK(clEnqueueWriteBuffer(q, ticket, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL));
    CHECK(clSetKernelArg(alone, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(alone, 1, sizeof ticket, &ticket));
    CHECK(clSetKernelArg(alone, 2, sizeof base, &base));
    CHECK(clEnqueueNDRangeKernel(q, alone, 1, NULL, &items, &group, 0, NULL, NULL));
}

static void finish_both(void)
{
    CHECK(clFlush(q2));
    CHECK(clFinish(q1));
    CHECK(clFinish(q2));
}

static bool write_beside_a_compared_launch(cl_uint round)
{
    refresh(round);
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, all_bytes, old, 0, NULL, NULL));
    launch_scattered(q1, buffer, N);
    CHECK(clFlush(q1));
    CHECK(clEnqueueWriteBuffer(q2, buffer, CL_FALSE, 0, half_bytes, fresh, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    return first_half_is_fresh() && seen[N] == work(0) && seen[2 * N - 1] == work(N - 1);
}

static bool write_between_two_sub_buffers(cl_uint round)
{
    const cl_buffer_region front = {0, 4096}, back = {half_bytes, half_bytes};
    cl_int err;
    cl_mem a = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &front, &err);
    cl_mem b = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &back, &err);
    cl_uint base = 0u - FIRST;
    refresh(round);
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, all_bytes, old, 0, NULL, NULL));
    CHECK(clSetKernelArg(scattered, 0, sizeof b, &b));
    CHECK(clSetKernelArg(scattered, 1, sizeof a, &a)); /* 1024 places */
    CHECK(clSetKernelArg(scattered, 2, sizeof base, &base));
    const size_t few = 1024;
    CHECK(clEnqueueNDRangeKernel(q1, scattered, 1, NULL, &few, &group, 0, NULL, NULL));
    CHECK(clFlush(q1));
    CHECK(clEnqueueWriteBuffer(q2, buffer, CL_FALSE, 4096, half_bytes - 4096, fresh + 1024, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    return memcmp(seen + 1024, fresh + 1024, half_bytes - 4096) == 0 && seen[N + 5] == work(5);
}

static bool fill_beside_a_compared_launch(cl_uint round)
{
    const cl_uint value = 2 * round;
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, all_bytes, old, 0, NULL, NULL));
    launch_scattered(q1, buffer, N);
    CHECK(clFlush(q1));
    CHECK(clEnqueueFillBuffer(q2, buffer, &value, sizeof value, 0, half_bytes, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    bool right = true;
    for (size_t i = 0; i < N; i++)
        right = right && seen[i] == value;
    return right;
}

static bool mapped_beside_a_compared_launch(cl_uint round)
{
    cl_int err;
    refresh(round);
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, all_bytes, old, 0, NULL, NULL));
    void *p = clEnqueueMapBuffer(q2, buffer, CL_TRUE, CL_MAP_WRITE, 0, half_bytes, 0, NULL, NULL, &err);
    CHECK(err);
    launch_scattered(q1, buffer, N);
    CHECK(clFlush(q1));
    memcpy(p, fresh, half_bytes);
    CHECK(clEnqueueUnmapMemObject(q2, buffer, p, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    return first_half_is_fresh();
}

static bool write_beside_a_fetch(cl_uint round)
{
    refresh(round);
    launch_plain(q1, round);
    CHECK(clFinish(q1));
    launch_alone(q2);
    CHECK(clFlush(q2));
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_FALSE, 0, half_bytes, fresh, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    return first_half_is_fresh();
}

static void *write_first_half(void *unused)
{
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, half_bytes, fresh, 0, NULL, NULL));
    return NULL;
}

static bool thread_writes_beside_a_fetch(cl_uint round)
{
    pthread_t thread;
    refresh(round);
    launch_plain(q1, round);
    CHECK(clFinish(q1));
    pthread_create(&thread, NULL, write_first_half, NULL);
    launch_alone(q2);
    pthread_join(thread, NULL);
    finish_both();
    read_all(q1);
    return first_half_is_fresh();
}

static bool mapped_for_overwriting_beside_a_fetch(cl_uint round)
{
    cl_int err;
    refresh(round);
    launch_plain(q1, round);
    CHECK(clFinish(q1));
    void *p =
        clEnqueueMapBuffer(q1, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, half_bytes, 0, NULL, NULL, &err);
    CHECK(err);
    memcpy(p, fresh, half_bytes);
    launch_alone(q2);
    CHECK(clFinish(q2));
    CHECK(clEnqueueUnmapMemObject(q1, buffer, p, 0, NULL, NULL));
    finish_both();
    read_all(q1);
    return first_half_is_fresh();
}

static bool write_after_a_user_event_was_made(cl_uint round)
{
    cl_int err;
    refresh(round);
    launch_plain(q1, round);
    cl_event user = clCreateUserEvent(context, &err);
    CHECK(err);
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_FALSE, 0, half_bytes, fresh, 0, NULL, NULL));
    CHECK(clSetUserEventStatus(user, CL_COMPLETE));
    finish_both();
    read_all(q1);
    clReleaseEvent(user);
    return first_half_is_fresh() && is_plain(round, N, 2 * N);
}

static bool read_after_a_user_event_was_made(cl_uint round)
{
    cl_int err;
    launch_plain(q1, round);
    cl_event user = clCreateUserEvent(context, &err);
    CHECK(err);
    read_all(q1);
    CHECK(clSetUserEventStatus(user, CL_COMPLETE));
    finish_both();
    clReleaseEvent(user);
    return is_plain(round, 0, 2 * N);
}

static bool refused_launch_changes_nothing(cl_uint round)
{
    const size_t odd = both_items - 7;
    launch_plain(q1, round);
    if (clEnqueueNDRangeKernel(q1, plain, 1, NULL, &odd, &group, 0, NULL, NULL) == CL_SUCCESS)
        CHECK(clFinish(q1)); /* OpenCL 2.0 and later allow it */
    (void)clEnqueueNDRangeKernel(q1, plain, 4, NULL, &odd, &group, 0, NULL, NULL);
    read_all(q1);
    return is_plain(round, 0, 2 * N);
}

static bool released_queue_still_writes(cl_uint round)
{
    cl_int err;
    cl_event written;
    cl_command_queue q = clCreateCommandQueue(context, device, 0, &err);
    CHECK(err);
    refresh(round);
    CHECK(clEnqueueWriteBuffer(q1, buffer, CL_TRUE, 0, all_bytes, old, 0, NULL, NULL));
    launch_plain(q, round); /* something that takes a while */
    CHECK(clEnqueueWriteBuffer(q, buffer, CL_FALSE, 0, half_bytes, fresh, 0, NULL, &written));
    CHECK(clReleaseCommandQueue(q));
    CHECK(clWaitForEvents(1, &written));
    launch_scattered(q1, buffer, N);
    read_all(q1);
    clReleaseEvent(written);
    return first_half_is_fresh();
}

static bool refused_build_changes_nothing(cl_uint round)
{
    cl_int err;
    cl_kernel k = clCreateKernel(program, "value", &err);
    CHECK(err);
    if (clBuildProgram(program, 0, NULL, "-DVALUE=2", NULL, NULL) == CL_SUCCESS)
        return true; /* a driver that takes it answers for it */
    CHECK(clSetKernelArg(k, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueNDRangeKernel(q1, k, 1, NULL, &both_items, &group, 0, NULL, NULL));
    read_all(q1);
    clReleaseKernel(k);
    return seen[0] == 1 && seen[2 * N - 1] == 1;
}

static bool image_copies_have_events(cl_uint round)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64};
    const size_t origin[3] = {0}, region[3] = {64, 64, 1};
    cl_uint in[64 * 64], out[64 * 64] = {0};
    cl_event copied = NULL;
    cl_int err;
    for (cl_uint i = 0; i < 64 * 64; i++)
        in[i] = i + round;
    cl_mem a = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
    cl_mem b = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
    CHECK(err);
    CHECK(clEnqueueWriteImage(q1, a, CL_TRUE, origin, region, 0, 0, in, 0, NULL, NULL));
    err = clEnqueueCopyImage(q1, a, b, origin, origin, region, 0, NULL, &copied);
    if (err || !copied)
        return false;
    CHECK(clEnqueueReadImage(q2, b, CL_TRUE, origin, region, 0, 0, out, 1, &copied, NULL));
    clReleaseEvent(copied);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    return memcmp(in, out, sizeof in) == 0;
}

static const struct {
    const char *name;
    bool (*run)(cl_uint round);
} cases[] = {
    {"image copies have events", image_copies_have_events},
    {"a refused build changes nothing", refused_build_changes_nothing},
    {"a refused launch changes nothing", refused_launch_changes_nothing},
    {"a write beside a launch whose outputs are compared", write_beside_a_compared_launch},
    {"a write between two sub-buffers of a launch", write_between_two_sub_buffers},
    {"a fill beside a launch whose outputs are compared", fill_beside_a_compared_launch},
    {"the host writes what it mapped beside such a launch", mapped_beside_a_compared_launch},
    {"a write beside what a launch on one device fetches", write_beside_a_fetch},
    {"a blocking write of another thread beside it", thread_writes_beside_a_fetch},
    {"the host overwrites what it mapped beside it", mapped_for_overwriting_beside_a_fetch},
    {"a write after a user event was made", write_after_a_user_event_was_made},
    {"a read after a user event was made", read_after_a_user_event_was_made},
    {"a queue that was released still writes", released_queue_still_writes},
};

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    bool all_right = true;
    start();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int wrong = 0;
        for (int r = 0; r < rounds; r++)
            wrong += !cases[c].run((cl_uint)r * 3 + 1);
        printf("%s: %s (%d of %d rounds)\n", cases[c].name, wrong ? "WRONG" : "right", wrong, rounds);
        fflush(stdout);
        all_right = all_right && !wrong;
    }
    return all_right ? 0 : 1;
}
