/* SPDX-License-Identifier: MIT */
/* large_writes HOW: a large buffer that the host writes again and again, and of which each launch reads a part per
 * device (each by itself, its neighbours' edges too). steady: by calls that block; beside: by calls that don't; mixed:
 * in between something else is done with it, and it is written in pieces. */
#include "plain.h"

enum { WORDS = 4 * 1024 * 1024, BYTES = WORDS * 4, ROUNDS = 4 };

static const char source[] =
    "__kernel void smooth(__global const uint *a, __global uint *b, uint n)\n"
    "{ uint i = get_global_id(0); b[i] = a[i] * 3u + (i ? a[i - 1] : 0u) + (i + 1u < n ? a[i + 1] : 7u); }\n"
    "__kernel void count(__global uint *a, uint k) { a[get_global_id(0)] += k; }\n";

static uint32_t *host;
static cl_mem a, b;
static cl_kernel smooth, count;

/* Another use of it between two writes, and one that comes in pieces. */
static void mix(cl_uint round)
{
    const cl_uint zero = 0;
    SET(count, a, round);
    if (round == 1)
        launch(queue, count, WORDS, 64, 0, NULL, NULL);
    if (round == 2)
        CL(clEnqueueCopyBuffer(queue, b, a, 0, BYTES / 2, BYTES / 4, 0, NULL, NULL));
    if (round == 3)
        CL(clEnqueueFillBuffer(queue, a, &zero, sizeof zero, BYTES / 4, BYTES / 8, 0, NULL, NULL));
    show_buffer("between", queue, a, 0, BYTES);
    fill_words(host, WORDS / 2, round + 50);
    CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, BYTES / 4 + 12, BYTES / 2, host, 0, NULL, NULL));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "steady";
    const bool blocking = strcmp(how, "beside") != 0, mixed = strcmp(how, "mixed") == 0;
    host = malloc(BYTES);
    start(0);
    cl_program p = build(source, "");
    smooth = kernel_of(p, "smooth");
    count = kernel_of(p, "count");
    a = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    b = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    if (!host)
        return 1;
    SET(smooth, a, b, WORDS);
    for (cl_uint round = 0; round < ROUNDS; round++) {
        fill_words(host, WORDS, round);
        CL(clEnqueueWriteBuffer(queue, a, blocking, 0, BYTES, host, 0, NULL, NULL));
        launch(queue, smooth, WORDS, 64, 0, NULL, NULL);
        if (mixed)
            mix(round);
        launch(queue, smooth, WORDS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    show_buffer(how, queue, b, 0, BYTES);
    show_buffer(how, queue, a, 0, BYTES);
    free(host);
    return FINISH(a, b, smooth, count, p);
}
