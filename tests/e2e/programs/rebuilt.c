/* SPDX-License-Identifier: MIT */
/* rebuilt same|other [TIMES]: a program is built anew before each launch, from the same text or from another one. */
#include "plain.h"

enum { N = 4096 };

int main(int argc, char **argv)
{
    const bool other = argc > 1 && strcmp(argv[1], "other") == 0;
    const int times = argc > 2 ? atoi(argv[2]) : 20;
    char text[256];
    start(0);
    uint32_t words[N];
    fill_words(words, N, 5);
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof words, words);
    for (int i = 0; i < times; i++) {
        snprintf(text, sizeof text, "__kernel void advance(__global uint *v) { v[get_global_id(0)] += %uu; }\n",
                 other ? 3u + (unsigned)i : 3u);
        cl_program p = build(text, "");
        cl_kernel k = kernel_of(p, "advance");
        set_mem(k, 0, m);
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clReleaseKernel(k));
        CL(clReleaseProgram(p));
    }
    show_buffer("steps", queue, m, 0, sizeof words);
    CL(clReleaseMemObject(m));
    finish();
    return 0;
}
