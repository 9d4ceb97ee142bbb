/* SPDX-License-Identifier: MIT */
/* Rows of short launches as sole.c has them, but of two sizes in turn, `locks ROWS LAUNCHES`, and how many mutexes all
 * that they go through locks: prints the least of a row's launches on standard error, and the median of whole rows:
 * with what is written before, and waited for and read behind (see locked.h).
 * With a third argument it does all that so many times: says so after each on standard output, and waits for a line of
 * standard input before the next. */
#include "locked.h"
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static int by_size(const void *a, const void *b)
{
    const unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
    return (x > y) - (x < y);
}

static void do_rows(cl_kernel k, cl_mem m, uint32_t *v, long rows, long launches)
{
    enum { BYTES = ITEMS * 4 };
    unsigned long least = ~0ul, *all = calloc((size_t)rows, sizeof *all);
    if (!all)
        abort();
    for (long n = 0; n < rows; n++) {
        const unsigned long first = locked;
        CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, BYTES, v, 0, NULL, NULL));
        const unsigned long before = locked;
        for (long i = 0; i < launches; i++) {
            set_uint(k, 1, (cl_uint)i);
            launch(queue, k, i % 2 ? ITEMS / 2 : ITEMS, LOCAL, 0, NULL, NULL);
        }
        if (locked - before < least)
            least = locked - before;
        CL(clFinish(queue));
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, v, 0, NULL, NULL));
        all[n] = locked - first;
    }
    qsort(all, (size_t)rows, sizeof *all, by_size);
    fprintf(stderr, "%ld launches, %lu locks\n%ld rows, %lu locks each\n", launches, least, rows, all[rows / 2]);
    free(all);
}

int main(int argc, char **argv)
{
    uint32_t v[ITEMS] = {1};
    char line[64];
    const long rows = argc > 2 ? strtol(argv[1], NULL, 10) : 1, launches = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    set_mem(k, 0, m);
    do_rows(k, m, v, rows, launches);
    for (long more = argc > 3 ? strtol(argv[3], NULL, 10) - 1 : 0; more > 0; more--) {
        puts("waits");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 1;
        do_rows(k, m, v, rows, launches);
    }
    printf("%u %u\n", v[0], v[ITEMS - 1]);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
