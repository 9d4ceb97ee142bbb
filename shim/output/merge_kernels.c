/* SPDX-License-Identifier: MIT */
#include "shim/output/merge_kernels.h"

#include <stdlib.h>

#include "shim/record/own_program.h"
#include "shim/schedule/put.h"

/* What a part left as it was isn't stored. `op` is an enum gs_atomic_op. */
static const char reduce_source[] =
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

/* Sixteen bytes per work-item. gs_merge: dst[begin + i] = part[i] for each of n bytes that differs from kept[i].
 * gs_differs sets *flag if some of the n bytes from part[begin] on differ from those kept. */
static const char merge_source[] =
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
    "__kernel void gs_differs(__global const uchar *part, ulong begin, __global const uchar *kept, ulong n,\n"
    "                         __global uint *flag)\n"
    "{\n"
    "    ulong i = get_global_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    int differs = 0;\n"
    "    part += begin;\n"
    "    if (left >= 16)\n"
    "        differs = any(*(__global const uint4 *)(part + i) != *(__global const uint4 *)(kept + i));\n"
    "    else\n"
    "        for (ulong b = i; b < i + left; b++)\n"
    "            differs |= part[b] != kept[b];\n"
    "    if (differs)\n"
    "        *flag = 1;\n"
    "}\n";

_Static_assert(GS_ATOMIC_ADD == 1 && GS_ATOMIC_MIN == 2 && GS_ATOMIC_MAX == 3 && GS_ATOMIC_AND == 4 &&
                   GS_ATOMIC_OR == 5 && GS_ATOMIC_XOR == 6,
               "gs_reduce's op");

enum { TYPES = GS_ATOMIC_F64 + 1 };

struct gs_merge_kernels {
    cl_program reduce_program, program[GS_MAX_DEVICES]; /* for the first device; and one for each */
    cl_kernel reduce[TYPES], kernel[GS_MAX_DEVICES][GS_OUTPUT_KERNELS];
};

void gs_merge_kernels_free(struct gs_merge_kernels *k)
{
    for (int t = 0; k && t < TYPES; t++)
        if (k->reduce[t])
            gs_real()->clReleaseKernel(k->reduce[t]);
    for (int p = 0; k && p < GS_MAX_DEVICES; p++) {
        for (int i = 0; i < GS_OUTPUT_KERNELS; i++)
            if (k->kernel[p][i])
                gs_real()->clReleaseKernel(k->kernel[p][i]);
        if (k->program[p])
            gs_real()->clReleaseProgram(k->program[p]);
    }
    if (k && k->reduce_program)
        gs_real()->clReleaseProgram(k->reduce_program);
    free(k);
}

/* What has been made; NULL: no memory. */
static struct gs_merge_kernels *made(struct gs_context *ctx)
{
    if (!ctx->merge)
        ctx->merge = calloc(1, sizeof *ctx->merge);
    return ctx->merge;
}

cl_int gs_reduce_kernels_make(struct gs_context *ctx)
{
    static const char *const names[TYPES] = {
        [GS_ATOMIC_I32] = "gs_reduce_i32", [GS_ATOMIC_U32] = "gs_reduce_u32", [GS_ATOMIC_I64] = "gs_reduce_i64",
        [GS_ATOMIC_U64] = "gs_reduce_u64", [GS_ATOMIC_F32] = "gs_reduce_f32", [GS_ATOMIC_F64] = "gs_reduce_f64"};
    struct gs_merge_kernels *k = made(ctx);
    cl_int err = k ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (err || k->reduce[GS_ATOMIC_F32])
        return err;
    if (!k->reduce_program)
        k->reduce_program = gs_build_own(ctx, 0, reduce_source, "", &err);
    for (int t = 0; t < TYPES && !err; t++)
        if (!k->reduce[t])
            k->reduce[t] = gs_real()->clCreateKernel(k->reduce_program, names[t], &err);
    return k->reduce[GS_ATOMIC_F32] ? CL_SUCCESS : err; /* a device without double: no kernel of it will ask */
}

static const char *const kernel_names[GS_OUTPUT_KERNELS] = {
    [GS_OUTPUT_MERGE] = "gs_merge",
    [GS_OUTPUT_DIFFERS] = "gs_differs",
};

cl_int gs_merge_kernels_make(struct gs_context *ctx, unsigned place)
{
    struct gs_merge_kernels *k = made(ctx);
    cl_int err = k ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!err && !k->program[place])
        k->program[place] = gs_build_own(ctx, place, merge_source, "", &err);
    for (int i = 0; i < GS_OUTPUT_KERNELS && !err; i++)
        if (!k->kernel[place][i])
            k->kernel[place][i] = gs_real()->clCreateKernel(k->program[place], kernel_names[i], &err);
    return err;
}

cl_int gs_run_output_kernel(cl_command_queue queue, const struct gs_put_launch *launch, const struct gs_events *wait,
                            struct gs_events *done)
{
    cl_event event;
    const cl_int err = gs_put_kernel(queue, launch, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

cl_kernel gs_reduce_kernel(const struct gs_context *ctx, enum gs_atomic_type type)
{
    return ctx->merge->reduce[type];
}

cl_kernel gs_output_kernel(const struct gs_context *ctx, unsigned place, enum gs_output_kernel which)
{
    return ctx->merge->kernel[place][which];
}
