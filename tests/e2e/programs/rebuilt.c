/* SPDX-License-Identifier: MIT */
/* rebuilt [TIMES]: a program is built anew before each launch, from the same text. */
#include "plain.h"

enum { N = 4096 };

int main(int argc, char **argv)
{
    static const char text[] = "__kernel void advance(__global uint *v) { v[get_global_id(0)] += 3u; }\n";
    const int times = argc > 1 ? atoi(argv[1]) : 20;
    start(0);
    uint32_t words[N];
    fill_words(words, N, 5);
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof words, words);
    for (int i = 0; i < times; i++) {
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
