/* SPDX-License-Identifier: MIT */
/* generated_kernels ROUNDS: an application that generates its kernels: each round builds a program of its own with a
 * kernel of its own, launches it once, and builds one program anew. It prints by how many bytes of the heap a round of
 * the last third has grown. */
#include <malloc.h>

#include "plain.h"

static cl_mem v;

static void round_of(cl_program same, int r)
{
    char text[160], name[32];
    snprintf(name, sizeof name, "made_%d", r);
    snprintf(text, sizeof text, "__kernel void %s(__global uint *v) { v[get_global_id(0)] += %du; }\n", name, r);
    cl_program p = build(text, "");
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, v);
    launch(queue, k, 64, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    RELEASE(k, p);
    CL(clBuildProgram(same, 1, &device, "", NULL, NULL));
    k = kernel_of(same, "same");
    CL(clReleaseKernel(k));
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    size_t before = 0;
    start(0);
    v = buffer(CL_MEM_READ_WRITE, 64 * sizeof(uint32_t), NULL);
    cl_program same = build("__kernel void same(__global uint *v) { v[get_global_id(0)] += 1u; }\n", "");
    for (int r = 0; r < rounds; r++) {
        if (r == rounds - rounds / 3)
            before = mallinfo2().uordblks;
        round_of(same, r);
    }
    const size_t after = mallinfo2().uordblks;
    printf("%ld\n", after > before ? (long)((after - before) / (size_t)(rounds / 3)) : 0);
    return FINISH(same, v);
}
