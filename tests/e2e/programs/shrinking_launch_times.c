/* SPDX-License-Identifier: MIT */
/* A factorisation in integers: a short kernel and a long one, each launch smaller than the one before, of a matrix of N
 * rows: `eliminate N ROUNDS WAIT`, where WAIT steps are waited for together; 0: all of them. Shows the matrix, and says
 * on stderr how many seconds all took. */
#include "plain.h"

enum { MOST = 1024, WIDE = 16 };

static const char source[] = "__kernel void pivot(__global uint *m, int n, int k)\n"
                             "{ int i = k + get_global_id(0); m[k * n + i] = m[k * n + i] * 3u + k; }\n"
                             "__kernel void take(__global uint *m, int n, int k, uint rounds)\n"
                             "{ int i = get_global_id(0), j = k + 1 + get_global_id(1);\n"
                             "  uint x = m[j * n + i];\n"
                             "  for (uint r = 0; r < rounds && i > k; r++)\n"
                             "    x = (x ^ (x >> 15)) * 2654435761u - m[j * n + k] * m[k * n + i];\n"
                             "  m[j * n + i] = x; }\n";

static uint32_t m[MOST * MOST];

int main(int argc, char **argv)
{
    const long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 0, waits = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    const size_t n = wanted >= WIDE && wanted <= MOST ? (size_t)wanted / WIDE * WIDE : WIDE, bytes = n * n * sizeof *m;
    start(0);
    cl_program p = build(source, "");
    cl_kernel pivot = kernel_of(p, "pivot"), take = kernel_of(p, "take");
    cl_mem on_device = buffer(CL_MEM_READ_WRITE, bytes, NULL);
    fill_words(m, n * n, 1);
    CL(clEnqueueWriteBuffer(queue, on_device, CL_TRUE, 0, bytes, m, 0, NULL, NULL));
    SET(pivot, on_device, (cl_uint)n);
    SET(take, on_device, (cl_uint)n);
    set_uint(take, 3, argc > 2 ? (cl_uint)strtoul(argv[2], NULL, 10) : 1);
    const double begin = seconds();
    for (size_t k = 0; k + 1 < n; k++) {
        const size_t rows = n - k - 1, rest[2] = {n, rows}, local[2] = {WIDE, 1};
        set_uint(pivot, 2, (cl_uint)k);
        set_uint(take, 2, (cl_uint)k);
        launch(queue, pivot, rows + 1, 0, 0, NULL, NULL);
        CL(clEnqueueNDRangeKernel(queue, take, 2, NULL, rest, local, 0, NULL, NULL));
        if (waits && k % (size_t)waits == 0)
            CL(clFinish(queue));
    }
    CL(clEnqueueReadBuffer(queue, on_device, CL_TRUE, 0, bytes, m, 0, NULL, NULL));
    fprintf(stderr, "%.3f s\n", seconds() - begin);
    show("matrix", m, bytes);
    return FINISH(on_device, pivot, take, p);
}
