/* SPDX-License-Identifier: MIT */
/* Reads, writes, fills and copies, whole and by rectangles with odd pitches, between launches that leave the newest
 * bytes scattered over the devices. */
#include "plain.h"

enum { N = 60000, BYTES = N };

static const char source[] = "__kernel void stir(__global uchar *v, uint k) { uint i = get_global_id(0); v[i] = "
                             "(uchar)(v[i] * 5u + k + i / 3u); }\n";

static unsigned char host[BYTES], out[BYTES];
static cl_kernel kernel;
static cl_mem a, b;

static void mix(cl_mem m, cl_uint k, size_t local)
{
    SET(kernel, m, k);
    launch(queue, kernel, N, local, 0, NULL, NULL);
}

static void linear(void)
{
    static const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    for (cl_uint r = 0; r < 12; r++) {
        mix(r % 2 ? a : b, r, 60);
        CL(clEnqueueReadBuffer(queue, r % 2 ? a : b, CL_FALSE, 17 * r, BYTES - 1000 * r - 1, out, 0, NULL, NULL));
        CL(clFinish(queue));
        show("read", out, BYTES - 1000 * r - 1);
        CL(clEnqueueWriteBuffer(queue, a, r % 3 == 0, 29990 - 7 * r, 31 + r, host, 0, NULL, NULL));
        CL(clEnqueueFillBuffer(queue, b, pattern, (size_t)1 << r % 5, 16 * r, 160 * r + 16, 0, NULL, NULL));
        CL(clEnqueueCopyBuffer(queue, r % 2 ? b : a, r % 2 ? a : b, 333 * r, 20001 - r, 9999, 0, NULL, NULL));
        CL(clEnqueueCopyBuffer(queue, a, a, 100, 40000 + r, 10001, 0, NULL, NULL));
    }
    CL(clFinish(queue));
    show_buffer("a", queue, a, 0, BYTES);
    show_buffer("b", queue, b, 0, BYTES);
}

static void rectangles(void)
{
    memset(out, 0, sizeof out);
    for (cl_uint r = 0; r < 10; r++) {
        const size_t from[3] = {3 + r, 2, 1}, to[3] = {7, 1 + r % 3, 2}, region[3] = {41 + r, 13, 5},
                     zero[3] = {0, 0, 0};
        const size_t row = 101 + r, slice = row * 23;
        mix(a, r, 100);
        CL(clEnqueueReadBufferRect(queue, a, CL_FALSE, from, to, region, row, slice, 77, 77 * 17, out, 0, NULL, NULL));
        CL(clFinish(queue));
        show("read", out, BYTES);
        CL(clEnqueueWriteBufferRect(queue, a, r % 2, to, zero, region, row + 3, 0, 0, 0, host, 0, NULL, NULL));
        mix(b, r + 1, 0);
        CL(clEnqueueCopyBufferRect(queue, a, b, from, to, region, row, slice, 99, 99 * 31, 0, NULL, NULL));
        mix(b, r + 2, 75);
        CL(clEnqueueCopyBufferRect(queue, b, b, zero, (size_t[3]){0, 0, 6}, region, row, slice, row, slice, 0, NULL,
                                   NULL));
    }
    CL(clFinish(queue));
    show_buffer("a", queue, a, 0, BYTES);
    show_buffer("b", queue, b, 0, BYTES);
}

/* What the driver refuses must be refused the same way, and change nothing. */
static void refused(void)
{
    const size_t z[3] = {0, 0, 0}, region[3] = {64, 4, 1}, far[3] = {BYTES - 10, 0, 0};
    cl_event e;
    mix(a, 1, 60);
    printf("read beyond: %d\n", clEnqueueReadBuffer(queue, a, CL_TRUE, 10, BYTES, out, 0, NULL, NULL));
    printf("read to null: %d\n", clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, NULL, 0, NULL, NULL));
    printf("read nothing: %d\n", clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 0, out, 0, NULL, NULL));
    printf("wait list: %d\n", clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 10, out, 1, NULL, NULL));
    printf("wait list: %d\n", clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 10, out, 0, &e, NULL));
    printf("write beyond: %d\n", clEnqueueWriteBuffer(queue, a, CL_TRUE, BYTES, 1, out, 0, NULL, NULL));
    printf("fill by three: %d\n", clEnqueueFillBuffer(queue, a, "abc", 3, 0, 3, 0, NULL, NULL));
    printf("fill askew: %d\n", clEnqueueFillBuffer(queue, a, "abcd", 4, 2, 4, 0, NULL, NULL));
    printf("copy over itself: %d\n", clEnqueueCopyBuffer(queue, a, a, 0, 10, 100, 0, NULL, NULL));
    printf("copy beyond: %d\n", clEnqueueCopyBuffer(queue, a, b, 0, BYTES - 1, 100, 0, NULL, NULL));
    printf("rectangle beyond: %d\n",
           clEnqueueReadBufferRect(queue, a, CL_TRUE, far, z, region, 0, 0, 0, 0, out, 0, NULL, NULL));
    printf("pitch too small: %d\n",
           clEnqueueReadBufferRect(queue, a, CL_TRUE, z, z, region, 10, 0, 0, 0, out, 0, NULL, NULL));
    printf("no queue: %d\n", clEnqueueReadBuffer(NULL, a, CL_TRUE, 0, 10, out, 0, NULL, NULL));
    printf("no buffer: %d\n", clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 10, out, 0, NULL, NULL));
    show_buffer("a", queue, a, 0, BYTES);
}

/* PoCL 3.1 ends by an assertion in one of a hundred such runs on a busy machine, where a command that ends meanwhile is
 * before it: so nothing is. */
static void migrate(void)
{
    cl_event e;
    const cl_mem both[2] = {a, b};
    mix(a, 1, 60);
    CL(clFinish(queue));
    CL(clEnqueueMigrateMemObjects(queue, 2, both, 0, 0, NULL, &e));
    mix(b, 2, 60);
    CL(clFinish(queue));
    CL(clEnqueueMigrateMemObjects(queue, 1, both, CL_MIGRATE_MEM_OBJECT_HOST, 1, &e, NULL));
    CL(clEnqueueMigrateMemObjects(queue, 1, both + 1, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL));
    CL(clReleaseEvent(e));
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    mix(a, 3, 60);
    mix(b, 3, 60);
    show_buffer("a", queue, a, 0, BYTES);
    show_buffer("b", queue, b, 0, BYTES);
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    kernel = kernel_of(p, "stir");
    for (size_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char)scramble((uint32_t)i);
    a = buffer_of(host, BYTES);
    b = buffer_of(host, BYTES);
    linear();
    rectangles();
    refused();
    migrate();
    return FINISH(a, b, kernel, p);
}
