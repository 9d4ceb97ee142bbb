/* SPDX-License-Identifier: MIT */
/* Kernels whose names are short and long, of which the last one takes longest; and many calls that block. */
#include "plain.h"

#define LONG "name_of_80_bytes_and_more_that_a_generator_of_kernels_has_written_for_its_types_float4_int"
#define LONGER LONG "_and_" LONG "_once_more"

enum { N = 1 << 14 };

static const char source[] =
    "__kernel void brief(__global uint *v) { v[get_global_id(0)] += 1u; }\n"
    "__kernel void " LONG "(__global uint *v) { uint x = v[get_global_id(0)];"
    " for (uint i = 0; i < 300u; i++) x = x * 1664525u + 1013904223u; v[get_global_id(0)] = x; }\n"
    "__kernel void " LONGER "(__global uint *v) { uint x = v[get_global_id(0)];"
    " for (uint i = 0; i < 3000u; i++) x = x * 1664525u + 1013904223u; v[get_global_id(0)] = x; }\n";

int main(void)
{
    static const char *const names[] = {"brief", LONG, LONGER};
    static uint32_t words[N];
    start(0);
    cl_mem m = buffer_of(words, sizeof words);
    cl_program p = build(source, "");
    for (int i = 0; i < 3; i++) {
        cl_kernel k = kernel_of(p, names[i]);
        set_mem(k, 0, m);
        for (int n = 0; n <= i; n++)
            launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        CL(clReleaseKernel(k));
    }
    show_buffer("words", queue, m, 0, sizeof words);
    return FINISH(p, m);
}
