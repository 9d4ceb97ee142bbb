/* SPDX-License-Identifier: MIT */
/* Launches whose writes can't be told beforehand, so that what each part changes is found out by comparison: it must
 * not matter what a buffer holds that nobody has written, nor what a part writes for a while, when it begins before
 * another. */
#include "plain.h"

enum { N = 16384, LARGE = 8 * 1024 * 1024 };

static const char source[] =
    "__kernel void put(__global uint *v, __global const uint *at) { uint i = get_global_id(0); v[at[i]] = i * 7u; }\n"
    "__kernel void twice(__global const uint *large, __global uint *v, __global const uint *at)\n"
    "{ uint i = get_global_id(0), x = large[at[i] * 511u];\n"
    "  v[at[i]] = 1u; barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  for (uint k = 0; k < 3000u; k++) x = x * 1664525u + 1013904223u;\n"
    "  v[at[i]] = x | 2u; }\n";

static uint32_t at[N], got[N];

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel put = kernel_of(p, "put"), twice = kernel_of(p, "twice");
    for (uint32_t i = 0; i < N; i++)
        at[i] = i * 5u % N;
    cl_mem places = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof at, at);
    for (int round = 0; round < 3; round++) {
        cl_mem v = buffer(CL_MEM_READ_WRITE, sizeof got, NULL);
        SET(put, v, places);
        launch(queue, put, N, 64, 0, NULL, NULL);
        show_buffer("put", queue, v, 0, sizeof got);
        CL(clReleaseMemObject(v));
    }
    uint32_t *host = malloc(LARGE * sizeof *host);
    fill_words(host, LARGE, 2);
    fill_words(got, N, 4);
    cl_mem v = buffer(CL_MEM_READ_WRITE, sizeof got, NULL);
    for (int round = 0; round < 2; round++) {
        cl_mem large = buffer(CL_MEM_READ_ONLY, LARGE * sizeof *host, NULL);
        CL(clEnqueueWriteBuffer(queue, large, CL_TRUE, 0, LARGE * sizeof *host, host, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, v, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        SET(twice, large, v, places);
        launch(queue, twice, N, 64, 0, NULL, NULL);
        show_buffer("twice", queue, v, 0, sizeof got);
        CL(clReleaseMemObject(large));
    }
    free(host);
    return FINISH(v, places);
}
