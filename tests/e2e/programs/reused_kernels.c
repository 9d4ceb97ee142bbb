/* SPDX-License-Identifier: MIT */
/* reused_kernels OBJECTS: makes a kernel object for each launch, as pyopencl does: OBJECTS launches of a short kernel,
 * and then four of a long one, of the same sizes, whose objects the driver and everybody else put where the others
 * were. */
#include "plain.h"

enum { N = 64 * 1024 };

static const char source[] = "__kernel void brief(__global uint *v) { v[get_global_id(0)] += (uint)get_group_id(0); }\n"
                             "__kernel void lengthy(__global uint *v)\n"
                             "{ uint x = v[get_global_id(0)] + (uint)get_group_id(0);\n"
                             "  for (uint k = 0; k < 2000; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n";

static void launch_new(cl_program p, const char *name, cl_mem v)
{
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, v);
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    CL(clReleaseKernel(k));
}

int main(int argc, char **argv)
{
    const int objects = argc > 1 ? atoi(argv[1]) : 300;
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    fill_words(host, N, 1);
    cl_mem v = buffer_of(host, sizeof host);
    for (int i = 0; i < objects; i++)
        launch_new(p, "brief", v);
    for (int i = 0; i < 4; i++)
        launch_new(p, "lengthy", v);
    show_buffer("all", queue, v, 0, sizeof host);
    return FINISH(v, p);
}
