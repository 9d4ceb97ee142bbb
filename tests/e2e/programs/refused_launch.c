/* SPDX-License-Identifier: MIT */
/* A launch that the driver refuses must not lose what an earlier one left on the other devices; and a wait list whose
 * length and address don't agree is refused of whichever command. Nor does each that is refused behind one that runs
 * make what comes after them longer. */
#include <malloc.h>

#include "plain.h"

enum { N = 4000, REFUSED = 12, TURNS = 3, MOST_BYTES = 256 << 10 };

static const char source[] =
    "__kernel void set(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = i * k; }\n"
    "__kernel void lasting(__global uint *v, uint k)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint n = 0; n < k; n++) x = x * 3u + n; v[i] = x; }\n";

static void odd_lists(cl_kernel k, cl_mem m)
{
    static uint32_t host[N];
    const size_t global = N, local = 100, zero[3] = {0}, region[3] = {8, 8, 1};
    cl_int err;
    cl_event event;
    cl_mem other = buffer(CL_MEM_READ_WRITE, sizeof host, NULL),
           image = new_image(CL_MEM_OBJECT_IMAGE2D, region, CL_MEM_READ_WRITE, CL_UNSIGNED_INT32, NULL);
    CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
    for (int way = 0; way < 2; way++) {
        const cl_uint n = way ? 1 : 0;
        const cl_event *list = way ? NULL : &event;
        launch(queue, k, N, 100, 0, NULL, NULL);
        if (n == 0) /* PoCL 3.1 takes it, and fails for the other */
            printf("launch: %d\n", clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, n, list, NULL));
        printf("read: %d\n", clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof host, host, n, list, NULL));
        printf("read later: %d\n", clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof host, host, n, list, NULL));
        printf("copy: %d\n", clEnqueueCopyBuffer(queue, m, other, 0, 0, sizeof host, n, list, NULL));
        clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, sizeof host, n, list, NULL, &err);
        printf("map: %d\n", err);
        launch(queue, k, N, 100, 0, NULL, NULL);
        printf("write: %d\n", clEnqueueWriteBuffer(queue, m, CL_TRUE, 4, 64, host, n, list, NULL));
        printf("fill: %d\n", clEnqueueFillBuffer(queue, m, host, 4, 8, 64, n, list, NULL));
        printf("image: %d\n", clEnqueueFillImage(queue, image, host, zero, region, n, list, NULL));
        printf("read image: %d\n", clEnqueueReadImage(queue, image, CL_TRUE, zero, region, 0, 0, host, n, list, NULL));
    }
    RELEASE(event, image, other);
}

static void behind_one_that_runs(cl_program p, cl_mem m)
{
    const size_t global = N, odd = 96;
    cl_kernel k = kernel_of(p, "lasting");
    int refused = 0;
    set_mem(k, 0, m);
    for (cl_uint n = 1; n <= 100000; n += 99999) {
        set_uint(k, 1, n); /* the first time it is compiled */
        CL(clFinish(queue));
        launch(queue, k, N, 100, 0, NULL, NULL);
    }
    CL(clFlush(queue));
    size_t kept = SIZE_MAX; /* by the one of several turns that kept the least: other threads have memory, too */
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t before = mallinfo2().uordblks;
        for (int i = 0; i < REFUSED; i++)
            refused +=
                clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &odd, 0, NULL, NULL) == CL_INVALID_WORK_GROUP_SIZE;
        const size_t after = mallinfo2().uordblks, more = after > before ? after - before : 0;
        kept = more < kept ? more : kept;
    }
    printf("refused behind it: %d, %s\n", refused, kept < MOST_BYTES ? "little is kept" : "much is kept");
    show_buffer("lasting", queue, m, 0, N * 4);
    CL(clReleaseKernel(k));
}

/* A launch whose kernel has an argument that was never set, behind others, and others behind it. */
static void with_unset_argument(cl_program p, cl_kernel k, cl_mem m)
{
    const size_t global = N, local = 100;
    cl_kernel half = kernel_of(p, "set");
    int refused = 0;
    set_mem(half, 0, m);
    for (cl_uint i = 0; i < REFUSED; i++) {
        set_uint(k, 1, i);
        launch(queue, k, N, 100, 0, NULL, NULL);
        refused +=
            clEnqueueNDRangeKernel(queue, half, 1, NULL, &global, &local, 0, NULL, NULL) == CL_INVALID_KERNEL_ARGS;
    }
    printf("with an argument unset: %d\n", refused);
    show_buffer("after them", queue, m, 0, N * 4);
    CL(clReleaseKernel(half));
}

/* Commands behind launches, whose wait list is an ended event of another context. */
static void behind_foreign_event(cl_kernel k, cl_mem m)
{
    const uint32_t zero = 0;
    cl_int err, refused = 0;
    cl_context other = new_context();
    cl_event event;
    MADE(event, clCreateUserEvent(other, &err));
    CL(clSetUserEventStatus(event, CL_COMPLETE));
    for (cl_uint i = 0; i < REFUSED; i++) {
        launch(queue, k, N, 100, 0, NULL, NULL);
        err = i % 2 ? clEnqueueCopyBuffer(queue, m, m, 0, N * 2, N * 2, 1, &event, NULL)
                    : clEnqueueFillBuffer(queue, m, &zero, sizeof zero, 0, N * 4, 1, &event, NULL);
        refused += err == CL_INVALID_CONTEXT;
    }
    printf("behind another context's event: %d\n", refused);
    show_buffer("after these", queue, m, 0, N * 4);
    CL(clReleaseEvent(event));
    CL(clReleaseContext(other));
}

int main(void)
{
    static const uint32_t zero[N];
    const size_t odd = N - 1, local = 100, global = N;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "set");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof zero, NULL);
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof zero, zero, 0, NULL, NULL));
    SET(k, m, 7);
    launch(queue, k, N, 100, 0, NULL, NULL);
    set_uint(k, 1, 9);
    printf("refused: %d\n", clEnqueueNDRangeKernel(queue, k, 1, NULL, &odd, &local, 0, NULL, NULL));
    show_buffer("kept", queue, m, 0, sizeof zero);
    CL(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    show_buffer("changed", queue, m, 0, sizeof zero);
    odd_lists(k, m);
    show_buffer("untouched", queue, m, 0, sizeof zero);
    behind_one_that_runs(p, m);
    with_unset_argument(p, k, m);
    behind_foreign_event(k, m);
    return FINISH(m, k, p);
}
