/* SPDX-License-Identifier: MIT */
/* bench_copies [own|all|none] [MIB[,MIB...]] [PAUSE_US] [RUNS]: what an application pays whose every iteration writes a
 * buffer from pageable memory, launches, and reads another buffer of that size back: by blocking calls, and by others
 * with a clFinish. Of the launch each device needs its own part of what was written (own), or all of it (all); none:
 * there is no launch. Before the write and before the read it pauses, as one does whose kernels take a while (2000).
 * Prints medians and the least in microseconds, and exits 1 if a read brought something else than plain would have. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/plain.h"

enum { MOST_RUNS = 200, BEFORE = 6, GROUP = 64 };
enum { WRITE_CALL, WRITE, LAUNCH, READ_CALL, READ, ALL, FIGURES };

static const char source[] = "__kernel void needs_own(__global const uint *in, __global uint *out)\n"
                             "{\n"
                             "    out[get_global_id(0)] = in[get_global_id(0)] + 1;\n"
                             "}\n"
                             "__kernel void needs_all(__global const uint *in, __global uint *out)\n"
                             "{\n"
                             "    const uint i = get_global_id(0), x = in[i];\n"
                             "    out[i] = x + (in[x % (uint)get_global_size(0)] & 1);\n"
                             "}\n";

static cl_command_queue queue;
static uint32_t *here, *back;
static double us[FIGURES][MOST_RUNS];

static double now_us(void)
{
    return 1e3 * plain_now_ms();
}

static void await_all(void)
{
    plain_check(clFinish(queue), "clFinish");
}

static void rest(long pause_us)
{
    const struct timespec t = {pause_us / 1000000, pause_us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static void run_once(cl_mem in, cl_mem out, cl_kernel k, size_t bytes, cl_bool blocking, long pause_us, double *figure)
{
    const size_t items = bytes / 4, group = GROUP;
    rest(pause_us);
    const double begin = now_us();
    plain_check(clEnqueueWriteBuffer(queue, in, blocking, 0, bytes, here, 0, NULL, NULL), "clEnqueueWriteBuffer");
    figure[WRITE_CALL] = now_us() - begin;
    await_all();
    const double written = now_us();
    if (k)
        plain_check(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    await_all();
    const double launched = now_us();
    rest(pause_us);
    const double read = now_us();
    plain_check(clEnqueueReadBuffer(queue, k ? out : in, blocking, 0, bytes, back, 0, NULL, NULL),
                "clEnqueueReadBuffer");
    figure[READ_CALL] = now_us() - read;
    await_all();
    figure[WRITE] = written - begin;
    figure[LAUNCH] = launched - written;
    figure[READ] = now_us() - read;
    figure[ALL] = figure[WRITE] + figure[LAUNCH] + figure[READ];
}

/* Looks at a million of them. What the run before has left must not pass for this
 * one's. */
static bool is_right(const char *what, size_t items)
{
    const size_t step = items / (1 << 20) | 1;
    bool right = true;
    for (size_t i = 0; i < items && right; i += step) {
        const uint32_t more = !strcmp(what, "own") ? 1 : !strcmp(what, "all") ? here[here[i] % items] & 1 : 0;
        right = back[i] == here[i] + more;
    }
    for (size_t i = 0; i < items; i++)
        here[i] += 0x9e3779b9u;
    return right;
}

static bool measure(const struct plain *app, const char *what, cl_kernel k, size_t mib, bool blocking, long pause_us,
                    int runs)
{
    static const char *const names[FIGURES] = {"call", "write", "launch", "call", "read", "all"};
    const size_t bytes = mib << 20;
    cl_mem in = plain_buffer(app, bytes), out = plain_buffer(app, bytes);
    bool right = true;
    here = malloc(bytes);
    back = malloc(bytes);
    if (!here || !back)
        plain_check(CL_OUT_OF_HOST_MEMORY, "malloc");
    memset(back, 1, bytes);
    for (size_t i = 0; i < bytes / 4; i++)
        here[i] = (uint32_t)(i * 2654435761u);
    if (k) {
        plain_check(clSetKernelArg(k, 0, sizeof in, &in), "clSetKernelArg");
        plain_check(clSetKernelArg(k, 1, sizeof out, &out), "clSetKernelArg");
    }
    for (int r = -BEFORE; r < runs; r++) {
        double figure[FIGURES];
        run_once(in, out, k, bytes, blocking, pause_us, figure);
        right = is_right(what, bytes / 4) && right;
        for (int f = 0; f < FIGURES && r >= 0; f++)
            us[f][r] = figure[f];
    }
    printf("%-4s %4zu MiB %s", what, mib, blocking ? "blocking    " : "non-blocking");
    for (int f = 0; f < FIGURES; f++) {
        qsort(us[f], (size_t)runs, sizeof us[f][0], plain_compare);
        if ((f != WRITE_CALL && f != READ_CALL) || !blocking)
            printf("  %s %5.0f (%.0f)", names[f], us[f][runs / 2], us[f][0]);
    }
    printf("%s\n", right ? "" : "  WRONG BYTES");
    fflush(stdout);
    free(here);
    free(back);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    return right;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "own", *sizes = argc > 2 ? argv[2] : "4,16,64";
    const long pause_us = argc > 3 ? atol(argv[3]) : 2000;
    const int runs = argc > 4 ? atoi(argv[4]) : 20;
    if ((strcmp(what, "own") && strcmp(what, "all") && strcmp(what, "none")) || argc > 5 || runs < 1 ||
        runs > MOST_RUNS) {
        fprintf(stderr, "Usage: bench_copies [own|all|none] [MIB[,MIB...]] [PAUSE_US] [RUNS]\n");
        return 2;
    }
    const struct plain app = plain_open("bench_copies", source);
    bool right = true;
    queue = app.queue;
    cl_kernel k = strcmp(what, "none") ? plain_kernel(&app, strcmp(what, "own") ? "needs_all" : "needs_own") : NULL;
    for (char *next = NULL; *sizes; sizes = *next == ',' ? next + 1 : next) {
        const size_t mib = strtoul(sizes, &next, 10);
        if (next == sizes || mib < 1 || mib > 4095)
            return 2;
        right = measure(&app, what, k, mib, true, pause_us, runs) && right;
        right = measure(&app, what, k, mib, false, pause_us, runs) && right;
    }
    return right ? 0 : 1;
}
