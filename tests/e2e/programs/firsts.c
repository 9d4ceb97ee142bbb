/* SPDX-License-Identifier: MIT */
/* Rows of launches at several sizes, `firsts ROWS`, each of them in several chunks as long as nothing is known of it;
 * waits after each row. */
#include "plain.h"

enum { LOCAL = 64, GROUPS = 8000, SIZES = 6 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

int main(int argc, char **argv)
{
    uint32_t word = 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, GROUPS * LOCAL * 4, NULL);
    CL(clEnqueueFillBuffer(queue, m, &word, sizeof word, 0, GROUPS * LOCAL * 4, 0, NULL, NULL));
    CL(clFinish(queue));
    set_mem(k, 0, m);
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        for (cl_uint i = 0; i < SIZES; i++) {
            set_uint(k, 1, i);
            launch(queue, k, (GROUPS - i) * LOCAL, LOCAL, 0, NULL, NULL);
        }
        CL(clFinish(queue));
    }
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 64, sizeof word, &word, 0, NULL, NULL));
    printf("%u\n", word);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
