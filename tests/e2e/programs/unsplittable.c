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

static cl_mem buffer_of(const void *bytes)
{
    cl_int err;
    cl_mem m;
    MADE(m,
         clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof in, (void *)(uintptr_t)bytes, &err));
    return m;
}

static cl_kernel made_of(cl_program p, const char *name, cl_uint n, const cl_mem *args)
{
    cl_int err;
    cl_kernel k;
    MADE(k, clCreateKernel(p, name, &err));
    for (cl_uint i = 0; i < n; i++)
        CL(clSetKernelArg(k, i, sizeof args[i], &args[i]));
    return k;
}

static void run_one(cl_kernel k, size_t global, size_t local)
{
    CL(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    CL(clFinish(queue));
}

int main(int argc, char **argv)
{
    const char *text = source;
    cl_program p;
    cl_int err;
    start(0);
    for (cl_uint i = 0; i < N; i++)
        in[i] = i * 2654435761u >> 20;
    MADE(p, clCreateProgramWithSource(context, 1, &text, NULL, &err));
    CL(clBuildProgram(p, 1, &device, "", NULL, NULL));
    cl_mem m[] = {buffer_of(in), buffer_of(zeros), buffer_of(zeros), buffer_of(zeros), buffer_of(zeros)};
    cl_kernel k[] = {made_of(p, "chained", 4, m), made_of(p, "ticket", 3, (cl_mem[]){m[4], m[2], m[1]}),
                     made_of(p, "fine", 1, &m[1])};
    run_one(k[0], (size_t)GROUPS * 16, 16);
    run_one(k[1], N, 64);
    run_one(k[2], N, 64);
    CL(clEnqueueReadBuffer(queue, m[1], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (cl_uint i = 0; i < N; i++)
        printf("%u\n", out[i]);
    if (argc < 2 || strcmp(argv[1], "release") != 0)
        return 0;
    for (unsigned i = 0; i < 3; i++)
        CL(clReleaseKernel(k[i]));
    for (unsigned i = 0; i < 5; i++)
        CL(clReleaseMemObject(m[i]));
    RELEASE(p, queue, context);
    return 0;
}
