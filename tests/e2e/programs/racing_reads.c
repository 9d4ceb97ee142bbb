/* SPDX-License-Identifier: MIT */
/* racing_reads [FIRST]: work-groups that read what others write. `share`: the first work-item writes v[0], which all
 * groups read, as in Rodinia's particle filter; without FIRST it writes what is there, so that every order gives the
 * same. `passes`: the row and the column of Floyd and Warshall's step. `rows`: within each row the right half is read
 * and the left half written. */
#include "plain.h"

enum { SIDE = 64, N = SIDE * SIDE, BYTES = N * 4 };

static const char source[] =
    "__kernel void share(__global uint *v, uint first)\n"
    "{ uint i = get_global_id(0); if (i == 0) v[0] = first; barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  uint u = v[0]; barrier(CLK_LOCAL_MEM_FENCE); if (i > 0) v[i] = u + i; }\n"
    "__kernel void passes(__global uint *v, uint n, uint by)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1), d = v[y * n + by] + v[by * n + x];\n"
    "  if (d < v[y * n + x]) v[y * n + x] = d; }\n"
    "__kernel void rows(__global uint *v, uint n)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1); v[y * n + x] += v[y * n + n / 2 + x]; }\n";

int main(int argc, char **argv)
{
    const cl_uint there = 5, first = argc > 1 ? (cl_uint)strtoul(argv[1], NULL, 10) : there;
    const size_t local[2] = {16, 1};
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    cl_kernel share = kernel_of(p, "share"), passes = kernel_of(p, "passes"), rows = kernel_of(p, "rows");
    for (uint32_t i = 0; i < N; i++)
        host[i] = i % (SIDE + 1) ? scramble(i) % 10000 + 1 : 0;
    cl_mem m = buffer_of(host, BYTES);
    SET(passes, m, SIDE);
    for (cl_uint by = 0; by < SIDE; by++) {
        set_uint(passes, 2, by);
        launch2(queue, passes, (size_t[2]){SIDE, SIDE}, local);
    }
    show_buffer("paths", queue, m, 0, BYTES);
    SET(rows, m, SIDE);
    launch2(queue, rows, (size_t[2]){SIDE / 2, SIDE}, local);
    show_buffer("rows", queue, m, 0, BYTES);
    SET(share, m, first);
    CL(clEnqueueFillBuffer(queue, m, &there, 4, 0, 4, 0, NULL, NULL));
    launch(queue, share, N, 64, 0, NULL, NULL);
    show_buffer("share", queue, m, 0, BYTES);
    return FINISH(m, share, passes, rows, p);
}
