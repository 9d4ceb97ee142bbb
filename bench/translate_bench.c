/* SPDX-License-Identifier: MIT */
/* What a translation costs: a program of 1,000 lines the first time and from the cache. translate_bench TRANSLATOR */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "translator/summary/text.h"
#include "translator/summary/translate.h"

enum { LINES = 1000, FIRST = 21, AGAIN = 501 };

/* 20 lines: a helper and a kernel with a loop, guards, local memory and a barrier. */
static const char piece[] = "static float weight_%u(__global const float *table, int i, int n)\n"
                            "{\n"
                            "    int at = clamp(i + (int)get_group_id(0), 0, n - 1);\n"
                            "    return table[at] * 0.5f + table[n - 1 - at];\n"
                            "}\n"
                            "__kernel void filter_%u(__global const float *in, __global const float *table, __global "
                            "float *out, int n, int radius)\n"
                            "{\n"
                            "    __local float part[64];\n"
                            "    int i = (int)get_global_id(0), l = (int)get_local_id(0);\n"
                            "    float sum = 0.0f;\n"
                            "    for (int k = -radius; k <= radius; k++) {\n"
                            "        int j = i + k;\n"
                            "        if (j >= 0 && j < n)\n"
                            "            sum += in[j] * weight_%u(table, k + radius, 2 * radius + 1);\n"
                            "    }\n"
                            "    part[l] = sum;\n"
                            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                            "    if (i < n)\n"
                            "        out[i] = part[l] + part[(l + 1) % 64] * (float)get_num_groups(0);\n"
                            "}\n";

static char *make_program(void)
{
    struct gs_writer w = {0};
    for (unsigned i = 0; i < LINES / 20; i++)
        for (const char *p = piece; *p; p += p[0] == '%' && p[1] == 'u' ? 2 : 1) {
            char number[16];
            int n = snprintf(number, sizeof number, "%u", i);
            bool is_number = p[0] == '%' && p[1] == 'u';
            gs_put_raw(&w, is_number ? number : p, is_number ? (size_t)n : 1);
        }
    return w.failed ? NULL : w.text;
}

static double once(const char *source, const char *options, const char *translator)
{
    struct timespec a, b;
    struct gs_summary *s;
    char why[256];
    struct gs_translate_unit unit = {.source = source, .options = options};
    struct gs_translate_request req = {
        .units = &unit, .n_units = 1, .device = {"", "OpenCL C 1.2", "", "", 64, 1, NULL}};
    clock_gettime(CLOCK_MONOTONIC, &a);
    int err = gs_translate(&req, translator, 60000, &s, why, sizeof why);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (err != 0 || s->refusal || !s->changed || s->n_kernels != LINES / 20) {
        fprintf(stderr, "not translated: %s\n", err ? why : s->refusal ? s->refusal : "?");
        exit(1);
    }
    gs_summary_free(s);
    return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *what, double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare);
    printf("%-12s %4zu runs  median %8.3f ms  10th %8.3f  90th %8.3f\n", what, n, v[n / 2], v[n / 10], v[n * 9 / 10]);
}

int main(int argc, char **argv)
{
    static double first[FIRST], again[AGAIN];
    char *source = make_program(), options[32];
    if (argc != 2 || !source)
        return 2;
    for (int i = 0; i < FIRST; i++) {
        snprintf(options, sizeof options, "-DRUN=%d_%ld", i, (long)getpid());
        first[i] = once(source, options, argv[1]);
    }
    for (int i = 0; i < AGAIN; i++)
        again[i] = once(source, options, argv[1]);
    printf("a program of %d lines, %zu bytes\n", LINES, strlen(source));
    print("first time", first, FIRST);
    print("from cache", again, AGAIN);
    free(source);
    return 0;
}
