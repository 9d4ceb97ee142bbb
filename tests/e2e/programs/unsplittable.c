/* SPDX-License-Identifier: MIT */
/* Three kernels, a launch of each: `chained` waits for other work-groups, so that nothing can split it; `ticket` uses
 * what an atomic returns; `fine` can be split. With the argument `release` all is released at the end. */
#include "plain.h"

enum { GROUPS = 4, PER = 256, N = GROUPS * PER };

static const char source[] =
    "kernel void chained(global const uint *in, global uint *out, volatile global uint *flag,\n"
    "                    volatile global uint *carry) {\n"
    "  uint g = get_group_id(0), c = 0, s = 0, per = 256;\n"
    "  if (get_local_id(0)) return;\n"
    "  for (uint i = 0; i < per; i++) s += in[g * per + i];\n"
    "  if (g) { while (atomic_add(&flag[g - 1], 0u) == 0) ; c = atomic_add(&carry[g - 1], 0u); }\n"
    "  atomic_xchg(&carry[g], c + s);\n"
    "  mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "  atomic_xchg(&flag[g], 1u);\n"
    "  for (uint i = 0; i < per; i++) { c += in[g * per + i]; out[g * per + i] = c; }\n"
    "}\n"
    "kernel void ticket(volatile global uint *next, global uint *who, global uint *out) {\n"
    "  who[get_global_id(0)] = atomic_inc(next) * 0u;\n"
    "  out[get_global_id(0)] += get_global_id(0) * 7u;\n"
    "}\n"
    "kernel void fine(global uint *a) { a[get_global_id(0)] ^= 0x55u; }\n";

static cl_uint in[N], out[N], zeros[N];

int main(int argc, char **argv)
{
    start(0);
    for (cl_uint i = 0; i < N; i++)
        in[i] = i * 2654435761u >> 20;
    cl_program p = build(source, "");
    cl_mem m[] = {buffer_of(in, sizeof in), buffer_of(zeros, sizeof in), buffer_of(zeros, sizeof in),
                  buffer_of(zeros, sizeof in), buffer_of(zeros, sizeof in)};
    cl_kernel k[] = {kernel_of(p, "chained"), kernel_of(p, "ticket"), kernel_of(p, "fine")};
    SET(k[0], m[0], m[1], m[2], m[3]);
    SET(k[1], m[4], m[2], m[1]);
    set_mem(k[2], 0, m[1]);
    launch(queue, k[0], (size_t)GROUPS * 16, 16, 0, NULL, NULL);
    CL(clFinish(queue));
    launch(queue, k[1], N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    launch(queue, k[2], N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    CL(clEnqueueReadBuffer(queue, m[1], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (cl_uint i = 0; i < N; i++)
        printf("%u\n", out[i]);
    if (argc < 2 || strcmp(argv[1], "release") != 0)
        return 0;
    RELEASE_ALL(k);
    RELEASE_ALL(m);
    return FINISH(p);
}
