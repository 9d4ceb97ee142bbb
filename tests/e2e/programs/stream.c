/* SPDX-License-Identifier: MIT */
/* Rows of short launches, each some microseconds after the one before, as a driver takes for them: `stream ROWS
 * [LAUNCHES]`. Asks for the platform's profile before each row, by which a driver's log can tell them apart. Prints how
 * many nanoseconds a launch's call took, the median of the later half. */
#include "plain.h"

enum { ITEMS = 64, PAUSE_NS = 4000 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1, launches = argc > 2 ? strtol(argv[2], NULL, 10) : 256;
    uint64_t *took = calloc((size_t)(rows * launches), sizeof *took);
    size_t calls = 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    for (long n = 0; n < rows; n++) {
        char text[64];
        uint32_t word;
        CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
        for (cl_uint i = 0; i < launches; i++) {
            set_uint(k, 1, i);
            const uint64_t begin = now_ns();
            launch(queue, k, ITEMS, 64, 0, NULL, NULL);
            took[calls++] = now_ns() - begin;
            while (now_ns() < begin + PAUSE_NS)
                ;
        }
        CL(clFinish(queue));
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL));
    }
    qsort(took + calls / 2, calls - calls / 2, sizeof *took, by_size);
    printf("%llu\n", (unsigned long long)took[calls / 2 + calls / 4]);
    free(took);
    return FINISH(m, k, p);
}
