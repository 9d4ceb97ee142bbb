/* SPDX-License-Identifier: MIT */
/* What a program's kernels say of themselves, and what one computes: the same from a source that is built and from one
 * whose binary the server has kept. */
#include "tests/e2e/programs/plain.h"

static const char *text =
    "typedef struct { int a; float b; } pair;\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void\n"
    "twice(global const int *restrict in, global int *out, int by) { out[get_global_id(0)] = in[get_global_id(0)] * by "
    "* TIMES; }\n"
    "kernel __attribute__((vec_type_hint(float4))) void\n"
    "other(constant float *c, local int *l, pair p, read_only image2d_t i, sampler_t s, global volatile uint *o)\n"
    "{ l[0] = p.a; o[0] = (uint)(c[0] + read_imagef(i, s, (int2)(0, 0)).x) + l[0]; }\n";

static void tell(cl_kernel kernel)
{
    static const cl_kernel_arg_info asked[] = {CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_NAME};
    static const cl_kernel_arg_info numbers[] = {CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_QUALIFIER,
                                                 CL_KERNEL_ARG_TYPE_QUALIFIER};
    char name[1024] = "";
    cl_uint n = 0;
    size_t group[3];
    CL(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
    CL(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    printf("%s: %u arguments\n", name, n);
    CL(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof name, name, NULL));
    CL(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL));
    printf("'%s', %zu %zu %zu\n", name, group[0], group[1], group[2]);
    for (cl_uint i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
            CL(clGetKernelArgInfo(kernel, i, asked[k], sizeof name, name, NULL));
            printf("%s ", name);
        }
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            cl_ulong value = 0; /* a cl_uint, or a bit field */
            CL(clGetKernelArgInfo(kernel, i, numbers[k], sizeof value, &value, NULL));
            printf("%llu%c", (unsigned long long)value, k < 2 ? ' ' : '\n');
        }
    }
}

int main(int argc, char **argv)
{
    cl_int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const cl_int by = 3;
    const size_t global = 8, local = 4;
    size_t bytes = 0;
    start(0);
    const cl_program program = build(text, argc > 1 ? argv[1] : "-cl-kernel-arg-info -DTIMES=1");
    const cl_kernel twice = kernel_of(program, "twice");
    tell(twice);
    tell(kernel_of(program, "other"));
    CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    printf("%s\n", bytes ? "a binary" : "no binary");
    cl_mem in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers);
    cl_mem out = buffer(CL_MEM_READ_WRITE, sizeof numbers, NULL);
    CL(clSetKernelArg(twice, 0, sizeof in, &in));
    CL(clSetKernelArg(twice, 1, sizeof out, &out));
    CL(clSetKernelArg(twice, 2, sizeof by, &by));
    CL(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, &local, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL));
    for (int i = 0; i < 8; i++)
        printf("%d ", numbers[i]);
    puts("");
    return 0;
}
