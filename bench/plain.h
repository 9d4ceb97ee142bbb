/* SPDX-License-Identifier: MIT */
/* What small applications share that are run plain and under gpusparc and time themselves by their own clock. Each
 * begins with plain_open, but for the clock and the order. */
#ifndef GS_BENCH_PLAIN_H
#define GS_BENCH_PLAIN_H

#include <CL/cl.h>
#include <stddef.h>

struct plain {
    cl_context context; /* of the first platform's first device */
    cl_command_queue queue;
    cl_program program;
};

/* name: of the application, for its messages. What fails, here and below, ends the process with one. */
struct plain plain_open(const char *name, const char *source);
void plain_check(cl_int err, const char *what);
cl_kernel plain_kernel(const struct plain *p, const char *name);
cl_mem plain_buffer(const struct plain *p, size_t bytes);

double plain_now_ms(void);

/* Of doubles, for qsort. */
int plain_compare(const void *a, const void *b);

#endif
