/* SPDX-License-Identifier: MIT */
/* Rows of launches of two kernels in turn, of 1 and 2.4 ms on this machine: a unit of 5 ms takes one of each, and
 * neither is known to be its last. So many launches that some have to wait for units. */
#include "plain.h"

enum { N = 64, ROWS = 3, PAIRS = 100, WARM = 10 };

static const char source[] = "#define WORK { uint x = v[get_global_id(0)];\\\n"
                             "  for (uint k = 0; k < depth; k++) x = x * 1664525u + 1013904223u;\\\n"
                             "  v[get_global_id(0)] = x; }\n"
                             "__kernel void few(__global uint *v, uint depth) WORK\n"
                             "__kernel void many(__global uint *v, uint depth) WORK\n";

static cl_kernel few, many;

static double one_ms(cl_kernel k)
{
    const double begin = seconds();
    launch(queue, k, N, N, 0, NULL, NULL);
    CL(clFinish(queue));
    return (seconds() - begin) * 1e3;
}

static void set(cl_kernel k, cl_mem m, double depth)
{
    SET(k, m, (cl_uint)depth);
}

int main(void)
{
    const double probe = 20000;
    double least = 1e9;
    uint32_t v[N];
    start(0);
    cl_program p = build(source, "");
    few = kernel_of(p, "few");
    many = kernel_of(p, "many");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    set(few, m, probe);
    for (int i = 0; i < WARM; i++) {
        const double ms = one_ms(few);
        least = ms < least ? ms : least;
    }
    set(few, m, probe / least);
    set(many, m, 2.4 * probe / least);
    for (int i = 0; i < WARM; i++) {
        one_ms(few);
        one_ms(many);
    }
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < PAIRS; i++) {
            launch(queue, many, N, N, 0, NULL, NULL);
            launch(queue, few, N, N, 0, NULL, NULL);
        }
        CL(clFinish(queue));
    }
    RELEASE(m, few, many, p);
    finish();
    printf("done\n");
    return 0;
}
