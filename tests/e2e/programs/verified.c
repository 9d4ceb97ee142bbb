/* SPDX-License-Identifier: MIT */
/* Two kernels that a translator may lie about: where one writes, and what the other computes (see verify.sh). */
#include "plain.h"

enum { N = 8192 };

static const char shifted[] =
    "__kernel void shifted(__global uint *v) { v[get_global_id(0) + 0u] = 5u + (uint)get_global_id(0); }\n";
static const char scaled[] =
    "__kernel void scaled(__global uint *v) { v[get_global_id(0)] = (uint)get_group_id(0) * 3u + 1u; }\n";

static void once(const char *source, const char *name)
{
    static uint32_t v[N + 64];
    cl_kernel k = kernel_of(build(source, ""), name);
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof v, v);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer(name, queue, m, 0, sizeof v);
    CL(clReleaseMemObject(m));
}

int main(void)
{
    start(0);
    once(shifted, "shifted");
    once(scaled, "scaled");
    finish();
    return 0;
}
