/* SPDX-License-Identifier: MIT */
/* jobs [ROUNDS [ITEMS [DEPTH [READS]]]]: so many jobs, each of a write, a launch of ITEMS work-items that each go round
 * DEPTH times, and READS reads, of which the last blocks. */
#include "plain.h"

static const char source[] = "__kernel void work(__global uint *v, uint depth)\n"
                             "{ uint x = v[get_global_id(0)] + (uint)get_group_id(0);\n"
                             "  for (uint k = 0; k < depth; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n";

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    const size_t n = argc > 2 ? (size_t)atol(argv[2]) : 20000;
    const uint32_t depth = argc > 3 ? (uint32_t)atol(argv[3]) : 100;
    const int reads = argc > 4 ? atoi(argv[4]) : 1;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "work");
    uint32_t *host = malloc(n * sizeof *host);
    cl_mem b = buffer(CL_MEM_READ_WRITE, n * sizeof *host, NULL);
    SET(k, b, depth);
    for (int r = 0; r < rounds; r++) {
        fill_words(host, n, (uint32_t)r);
        CL(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, n * sizeof *host, host, 0, NULL, NULL));
        launch(queue, k, n, 50, 0, NULL, NULL);
        for (int i = 1; i < reads; i++)
            CL(clEnqueueReadBuffer(queue, b, CL_FALSE, 0, n * sizeof *host, host, 0, NULL, NULL));
        char name[32];
        snprintf(name, sizeof name, "job %d", r);
        show_buffer(name, queue, b, 0, n * sizeof *host);
    }
    free(host);
    return FINISH(b, k, p);
}
