/* SPDX-License-Identifier: MIT */
/* Two kernels that a translator may lie about: where one writes, and what the other computes; and two that are
 * no translator's fault: one reads local memory which it hasn't written, so that no two runs agree, on one device
 * neither, the other reads what its neighbours are about to write (see verify.sh). */
#include "plain.h"

enum { N = 8192 };

static const char shifted[] =
    "__kernel void shifted(__global uint *v) { v[get_global_id(0) + 0u] = 5u + (uint)get_global_id(0); }\n";
static const char scaled[] =
    "__kernel void scaled(__global uint *v) { v[get_global_id(0)] = (uint)get_group_id(0) * 3u + 1u; }\n";
static const char leftover[] = "__kernel void leftover(__global uint *v, __local uint *left)\n"
                               "{ uint old = *left; v[get_global_id(0)] = old * 2654435761u; *left = old + 1u; }\n";

static void once(const char *source, const char *name)
{
    static uint32_t v[N + 64];
    cl_kernel k = kernel_of(build(source, ""), name);
    cl_mem m = buffer_of(v, sizeof v);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer(name, queue, m, 0, sizeof v);
    CL(clReleaseMemObject(m));
}

static const char neighbour[] = "__kernel void neighbour(__global uint *v)\n"
                                "{ uint i = get_global_id(0); v[i] = v[i] * 3u + (i ? v[i - 1] : 1u); }\n";

/* What these give depends on the order of their work-groups: nothing of it is shown. */
static void careless(const char *source, const char *name, bool local)
{
    static const uint32_t zero[N];
    cl_kernel k = kernel_of(build(source, ""), name);
    cl_mem m = buffer_of((void *)zero, sizeof zero);
    set_mem(k, 0, m);
    if (local)
        CL(clSetKernelArg(k, 1, sizeof(uint32_t), NULL));
    launch(queue, k, N, 1, 0, NULL, NULL);
    CL(clFinish(queue));
    CL(clReleaseMemObject(m));
}

int main(void)
{
    start(0);
    once(shifted, "shifted");
    once(scaled, "scaled");
    careless(leftover, "leftover", true);
    careless(neighbour, "neighbour", false);
    return finish();
}
