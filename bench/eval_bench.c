/* SPDX-License-Identifier: MIT */
/* How long the evaluation of an access summary takes for one part of a launch: eval_bench TRANSLATOR FILE
 * The file is a test kernel with its launch (tests/kernels/spec.h). Prints the median of many runs, in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/kernels/spec.h"
#include "translator/summary/translate.h"

enum { ROUNDS = 101, REPEAT = 200 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: eval_bench TRANSLATOR FILE\n");
        return 2;
    }
    struct spec s;
    spec_read(&s, argv[2], 1);
    struct gs_translate_unit unit = {.source = s.units[0].text, .options = s.options};
    struct gs_translate_request request = {.units = &unit,
                                           .n_units = 1,
                                           .device = {.extensions = "",
                                                      .opencl_c_version = "OpenCL C 1.2",
                                                      .device_version = "OpenCL 1.2",
                                                      .vendor = "",
                                                      .platform = "",
                                                      .address_bits = 64}};
    struct gs_summary *t;
    char why[512];
    if (gs_translate(&request, argv[1], 60000, &t, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const struct spec_launch *l = &s.launches[0];
    const struct gs_kernel_summary *k = gs_summary_kernel(t, l->kernel);
    struct gs_geometry g = {.dims = l->dims};
    struct gs_box box;
    struct gs_arg_value values[SPEC_ARGS];
    struct gs_arg_access access[SPEC_ARGS];
    memset(values, 0, sizeof values);
    memset(access, 0, sizeof access);
    for (unsigned d = 0; d < 3; d++) {
        g.offset[d] = d < l->dims ? l->offset[d] : 0;
        g.global[d] = d < l->dims ? l->global[d] : 1;
        g.local[d] = d < l->dims && l->has_local ? l->local[d] : 1;
        box.begin[d] = 0;
        box.end[d] = g.global[d] / g.local[d];
    }
    box.end[l->dims - 1] = (box.end[l->dims - 1] + 1) / 2;
    for (unsigned i = 0; i < l->n_args; i++) {
        values[i].bytes = l->args[i].kind == SPEC_VALUE ? l->args[i].data : NULL;
        values[i].size = l->args[i].bytes;
        values[i].buffer_bytes = l->args[i].kind == SPEC_BUFFER ? l->args[i].bytes : 0;
    }
    double ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double begin = now_ns();
        for (int i = 0; i < REPEAT; i++)
            if (!k || gs_summary_eval(k, &g, &box, values, access) != 0)
                return 1;
        ns[r] = (now_ns() - begin) / REPEAT;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    printf("%s: %.0f ns a part (median), %.0f ns (least)\n", argv[2], ns[ROUNDS / 2], ns[0]);
    for (unsigned i = 0; i < l->n_args; i++)
        gs_arg_access_free(&access[i]);
    gs_summary_free(t);
    spec_free(&s);
    return 0;
}
