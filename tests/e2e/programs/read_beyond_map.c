/* SPDX-License-Identifier: MIT */
/* A map of so many bytes where so many numbers were meant, and all of them are read: a mistake that passes where the
 * driver maps the object's own memory, as PoCL does. */
#include "plain.h"

enum { N = 8192 };

int main(void)
{
    uint32_t host[N];
    start(0);
    fill_words(host, N, 21);
    cl_program p = build("__kernel void twice(__global uint *v) { v[get_global_id(0)] *= 2u; }\n", "");
    cl_kernel twice = kernel_of(p, "twice");
    cl_mem m = buffer_of(host, sizeof host);
    set_mem(twice, 0, m);
    launch(queue, twice, N, 64, 0, NULL, NULL);
    uint32_t *v = map_now(m, CL_MAP_READ, 0, N);
    uint32_t sum = 0;
    for (unsigned i = 0; i < N; i++)
        sum = sum * 31 + v[i];
    printf("sum %08x\n", sum);
    unmap(m, v);
    return FINISH(m, twice, p);
}
