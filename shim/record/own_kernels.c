/* SPDX-License-Identifier: MIT */
#include "shim/record/objects.h"

#include "common/lock/rank.h"
#include "shim/process/threads.h"

/* gs_merge: dst[begin + i] = part[i] for each of n bytes where part[i] differs from kept[i]; sixteen bytes per
 * work-item. gs_reduce: stores only elements that a part has changed. `op` is an enum gs_atomic_op. */
static const char source[] =
    "__kernel void gs_merge(__global uchar *dst, ulong begin, __global const uchar *part, __global const uchar *kept,\n"
    "                       ulong n)\n"
    "{\n"
    "    ulong i = get_global_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    if (left >= 16) {\n"
    "        uint4 p = *(__global const uint4 *)(part + i), k = *(__global const uint4 *)(kept + i);\n"
    "        if (any(p != k)) {\n"
    "            uchar16 old = as_uchar16(*(__global uint4 *)(dst + begin + i));\n"
    "            char16 takes = as_uchar16(p) != as_uchar16(k);\n"
    "            *(__global uint4 *)(dst + begin + i) = as_uint4(select(old, as_uchar16(p), takes));\n"
    "        }\n"
    "    } else {\n"
    "        for (ulong b = i; b < i + left; b++)\n"
    "            if (part[b] != kept[b])\n"
    "                dst[begin + b] = part[b];\n"
    "    }\n"
    "}\n"
    "#define REDUCE(NAME, T, BITS, RESULT) \\\n"
    "__kernel void NAME(__global T *dst, ulong dst_first, __global const T *part, ulong part_first, ulong n, \\\n"
    "                   int op, ulong identity) \\\n"
    "{ \\\n"
    "    ulong i = get_global_id(0); \\\n"
    "    if (i >= n || as_##BITS(part[part_first + i]) == (BITS)identity) \\\n"
    "        return; \\\n"
    "    T p = part[part_first + i], d = dst[dst_first + i]; \\\n"
    "    dst[dst_first + i] = RESULT; \\\n"
    "}\n"
    "#define INTEGER (op == 1 ? (ulong)d + (ulong)p : op == 2 ? min(d, p) : op == 3 ? max(d, p) \\\n"
    "                 : op == 4 ? d & p : op == 5 ? d | p : d ^ p)\n"
    "#define FLOAT (op == 1 ? d + p : op == 2 ? fmin(d, p) : fmax(d, p))\n"
    "REDUCE(gs_reduce_i32, int, uint, INTEGER)\n"
    "REDUCE(gs_reduce_u32, uint, uint, INTEGER)\n"
    "REDUCE(gs_reduce_i64, long, ulong, INTEGER)\n"
    "REDUCE(gs_reduce_u64, ulong, ulong, INTEGER)\n"
    "REDUCE(gs_reduce_f32, float, uint, FLOAT)\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "REDUCE(gs_reduce_f64, double, ulong, FLOAT)\n"
    "#endif\n";

_Static_assert(GS_ATOMIC_ADD == 1 && GS_ATOMIC_MIN == 2 && GS_ATOMIC_MAX == 3 && GS_ATOMIC_AND == 4 &&
                   GS_ATOMIC_OR == 5 && GS_ATOMIC_XOR == 6,
               "gs_reduce's op");
_Static_assert(GS_OWN_REDUCE_F64 - GS_OWN_REDUCE_I32 == GS_ATOMIC_F64 - GS_ATOMIC_I32, "its types");

static const char *const names[GS_OWN_KERNELS] = {
    [GS_OWN_MERGE] = "gs_merge",           [GS_OWN_REDUCE_I32] = "gs_reduce_i32", [GS_OWN_REDUCE_U32] = "gs_reduce_u32",
    [GS_OWN_REDUCE_I64] = "gs_reduce_i64", [GS_OWN_REDUCE_U64] = "gs_reduce_u64", [GS_OWN_REDUCE_F32] = "gs_reduce_f32",
    [GS_OWN_REDUCE_F64] = "gs_reduce_f64",
};

struct build {
    cl_program program;
    cl_uint n;
    const cl_device_id *dev;
    const char *options;
    cl_int err;
};

static void *build(void *arg)
{
    struct build *b = arg;
    gs_compile_quietly(true);
    b->err = gs_real()->clBuildProgram(b->program, b->n, b->dev, b->options, NULL, NULL);
    gs_compile_quietly(false);
    return NULL;
}

cl_program gs_own_program(cl_context ctx, const cl_device_id *dev, cl_uint n, const char *text, const char *options,
                          cl_int *err)
{
    struct build b = {gs_real()->clCreateProgramWithSource(ctx, 1, &text, NULL, err), n, dev, options, CL_SUCCESS};
    if (*err)
        return NULL;
    GS_MAY_WAIT("the compiler, for kernels of ours", 60 * GS_S);
    gs_threads_compile_by_own(build, &b);
    *err = b.err;
    if (!*err)
        return b.program;
    gs_real()->clReleaseProgram(b.program);
    return NULL;
}

/* Two threads may build it at the same time: the first is kept. */
static cl_program program_of(struct gs_context *ctx, cl_int *err)
{
    *err = CL_SUCCESS;
    cl_program program = atomic_load(&ctx->own.program);
    cl_program built = program ? NULL : gs_own_program(ctx->o.handle, ctx->dev, 1, source, "", err);
    if (program || !built)
        return program;
    if (atomic_compare_exchange_strong(&ctx->own.program, &program, built))
        return built;
    gs_real()->clReleaseProgram(built);
    return program;
}

cl_kernel gs_own_kernel(struct gs_context *ctx, enum gs_own_kernel which, cl_int *err)
{
    cl_program program = program_of(ctx, err);
    if (!*err && !ctx->own.kernel[which])
        ctx->own.kernel[which] = gs_real()->clCreateKernel(program, names[which], err);
    return *err ? NULL : ctx->own.kernel[which];
}

void gs_own_compile(struct gs_context *ctx)
{
    cl_int err;
    if (gs_group()->pocl)
        return;
    gs_threads_compile(true);
    program_of(ctx, &err);
    gs_threads_compile(false);
}

void gs_own_free(struct gs_context *ctx)
{
    for (unsigned i = 0; i < GS_OWN_KERNELS; i++)
        GS_RELEASE(Kernel, ctx->own.kernel[i]);
    GS_RELEASE(Program, ctx->own.program);
}
