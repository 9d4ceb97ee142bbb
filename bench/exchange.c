/* SPDX-License-Identifier: MIT */
/* What it takes until every device has what it needs, as an application's clock shows it: run it plain and under
 * `gpusparc run --mode multi`, and compare.
 *   upload    a blocking write of a buffer from pageable memory, and a small kernel that may read all of it
 *   exchange  a kernel that writes a buffer, each device its part, and a small one that may read all of it; less the
 *             time of the first kernel alone
 *   exchange [--upload MIB] [--exchange MIB] [--runs N] [--warm SECONDS]
 * Each is done for so many seconds before it is measured (0): what a process does once is done then, of which the
 * opening of windows between the GPUs takes some seconds on a machine that has never done it. Prints one line of JSON:
 * medians in milliseconds, the least and the most, the first of all, and how many went before those that count. A least
 * far below the median says that something was still changing. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

enum { ITEMS = 64 * 1024, GROUP = 256, MOST_RUNS = 101 };

/* The second kernel follows an index that stands in the buffer: nobody can tell which bytes a part will read. */
static const char source[] = "__kernel void put(__global uint *a, uint value)\n"
                             "{\n"
                             "    a[get_global_id(0)] = value * get_global_id(0);\n"
                             "}\n"
                             "__kernel void take(__global const uint *a, __global uint *out, uint n)\n"
                             "{\n"
                             "    out[get_global_id(0)] = a[a[get_global_id(0)] % n];\n"
                             "}\n";

static cl_command_queue queue;
static cl_kernel put, take;

static void launch(cl_kernel k, size_t items)
{
    const size_t group = GROUP;
    plain_check(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static double upload_ms(cl_mem buffer, const void *bytes, size_t size)
{
    const double begin = plain_now_ms();
    plain_check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL), "clEnqueueWriteBuffer");
    launch(take, ITEMS);
    plain_check(clFinish(queue), "clFinish");
    return plain_now_ms() - begin;
}

static double exchange_ms(size_t size, cl_uint value)
{
    plain_check(clSetKernelArg(put, 1, sizeof value, &value), "clSetKernelArg");
    launch(put, size / 4);
    plain_check(clFinish(queue), "clFinish");
    const double begin = plain_now_ms();
    launch(take, ITEMS);
    plain_check(clFinish(queue), "clFinish");
    return plain_now_ms() - begin;
}

static void bind(cl_mem buffer, cl_mem out, size_t size)
{
    const cl_uint n = (cl_uint)(size / 4);
    plain_check(clSetKernelArg(put, 0, sizeof buffer, &buffer), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 0, sizeof buffer, &buffer), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 1, sizeof out, &out), "clSetKernelArg");
    plain_check(clSetKernelArg(take, 2, sizeof n, &n), "clSetKernelArg");
}

struct figures {
    double first, ms[MOST_RUNS]; /* sorted */
    int before;                  /* so many runs went before those that count */
};

static void measure(struct figures *f, const struct plain *app, bool exchange, size_t size, int runs, double warm_ms)
{
    cl_mem buffer = plain_buffer(app, size), out = plain_buffer(app, ITEMS * 4);
    char *bytes = malloc(size);
    if (!bytes)
        plain_check(CL_OUT_OF_HOST_MEMORY, "malloc");
    memset(bytes, 1, size);
    bind(buffer, out, size);
    const double begin = plain_now_ms();
    for (int r = 0, n = 0; n < runs; r++) {
        const bool warm = r >= 2 && plain_now_ms() - begin >= warm_ms;
        const double t = exchange ? exchange_ms(size, (cl_uint)r + 3) : upload_ms(buffer, bytes, size);
        if (r == 0)
            f->first = t;
        if (warm || n)
            f->ms[n++] = t;
        else
            f->before++;
    }
    qsort(f->ms, (size_t)runs, sizeof *f->ms, plain_compare);
    free(bytes);
    clReleaseMemObject(buffer);
    clReleaseMemObject(out);
}

static void print_figures(const char *what, size_t mib, const struct figures *f, int runs)
{
    printf("\"%s_mib\": %zu, \"%s_ms\": %.3f, \"%s_least_ms\": %.3f, \"%s_most_ms\": %.3f, \"%s_first_ms\": %.3f, "
           "\"%s_runs_before\": %d",
           what, mib, what, f->ms[runs / 2], what, f->ms[0], what, f->ms[runs - 1], what, f->first, what, f->before);
}

int main(int argc, char **argv)
{
    size_t mib[2] = {1024, 256};
    int runs = 9;
    double warm_s = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--upload"))
            mib[0] = strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--exchange"))
            mib[1] = strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--runs"))
            runs = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--warm"))
            warm_s = strtod(argv[i + 1], NULL);
    }
    if (argc % 2 == 0 || mib[0] < 1 || mib[0] > 4095 || mib[1] < 1 || mib[1] > 4095 || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "Usage: exchange [--upload MIB] [--exchange MIB] [--runs N] [--warm SECONDS]\n");
        return 2;
    }
    const struct plain app = plain_open("exchange", source);
    queue = app.queue;
    put = plain_kernel(&app, "put");
    take = plain_kernel(&app, "take");

    static struct figures of[2];
    for (int what = 0; what < 2; what++)
        measure(&of[what], &app, what == 1, mib[what] << 20, runs, 1e3 * warm_s);
    printf("{");
    print_figures("upload", mib[0], &of[0], runs);
    printf(", ");
    print_figures("exchange", mib[1], &of[1], runs);
    printf("}\n");
    return 0;
}
