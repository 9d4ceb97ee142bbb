/* SPDX-License-Identifier: MIT */
/* Calls that wait for a large transfer and may return an error, between launches of which nobody keeps an event: the
 * queue goes on as if there had been no such call, and what they should have moved goes row by row then. */
#include "plain.h"

enum { ROW = 512, ROWS = 256, WORDS = ROW * ROWS, BYTES = WORDS * 4 };

static const char source[] = "__kernel void stir(__global const uint *a, __global uint *b, uint k)\n"
                             "{ uint i = get_global_id(0); b[i] = a[i] * 5u + k + i; }\n";

static cl_kernel kernel;

static void stir(cl_mem from, cl_mem to, cl_uint k)
{
    SET(kernel, from, to, k);
    launch(queue, kernel, WORDS, 64, 0, NULL, NULL);
}

int main(void)
{
    static uint32_t host[WORDS], out[WORDS];
    const size_t zero[3] = {0, 0, 0}, region[3] = {ROW * 4 - 64, ROWS, 1};
    start(0);
    cl_program p = build(source, "");
    kernel = kernel_of(p, "stir");
    fill_words(host, WORDS, 1);
    cl_mem a = buffer(CL_MEM_READ_WRITE, BYTES, NULL), b = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    for (cl_uint k = 0; k < 4; k++) {
        stir(a, b, k);
        stir(b, a, k + 7);
        fill_words(host, WORDS, k + 2);
        cl_int err = clEnqueueWriteBufferRect(queue, b, CL_TRUE, zero, zero, region, ROW * 4, 0, ROW * 4, 0, host, 0,
                                              NULL, NULL);
        printf("written: %d\n", err);
        for (size_t y = 0; y < ROWS && err; y++)
            CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, y * ROW * 4, region[0], host + y * ROW, 0, NULL, NULL));
        stir(b, a, k + 9);
        stir(a, b, k + 3);
        err =
            clEnqueueReadBufferRect(queue, b, CL_TRUE, zero, zero, region, ROW * 4, 0, ROW * 4, 0, out, 0, NULL, NULL);
        printf("read: %d\n", err);
        for (size_t y = 0; y < ROWS && err; y++)
            CL(clEnqueueReadBuffer(queue, b, CL_TRUE, y * ROW * 4, region[0], out + y * ROW, 0, NULL, NULL));
        show("rows", out, BYTES);
    }
    show_buffer("all", queue, a, 0, BYTES);
    return FINISH(a, b, kernel, p);
}
