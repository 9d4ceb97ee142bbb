/* SPDX-License-Identifier: MIT */
#include "shim/record/own_kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "shim/process/quiet.h"
#include "shim/process/threads.h"
#include "shim/devices/group.h"

/* gs_rows: a word per work-item, of the largest size of which all offsets and lengths are multiples.
 * gs_merge: dst[begin + i] = part[i] for each of n bytes that differs from kept[i]; sixteen bytes per work-item.
 * gs_reduce: what a part left as it was isn't stored. `op` is an enum gs_atomic_op. */
static const char source[] =
    "#define MOVE(T) ((__global T *)(dst + to))[column] = ((__global const T *)(src + from))[column]\n"
    "__kernel void gs_rows(__global const uchar *src, ulong src_at, ulong src_pitch, __global uchar *dst, ulong "
    "dst_at,\n"
    "                      ulong dst_pitch, uint words, uint all, uint word)\n"
    "{\n"
    "    uint i = get_global_id(0), row = i / words, column = i - row * words;\n"
    "    ulong from = src_at + row * src_pitch, to = dst_at + row * dst_pitch;\n"
    "    if (i >= all)\n"
    "        return;\n"
    "    if (word == 16)\n"
    "        MOVE(uint4);\n"
    "    else if (word == 8)\n"
    "        MOVE(uint2);\n"
    "    else if (word == 4)\n"
    "        MOVE(uint);\n"
    "    else if (word == 2)\n"
    "        MOVE(ushort);\n"
    "    else\n"
    "        MOVE(uchar);\n"
    "}\n"
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
    [GS_OWN_ROWS] = "gs_rows",
    [GS_OWN_MERGE] = "gs_merge",
    [GS_OWN_REDUCE_I32] = "gs_reduce_i32",
    [GS_OWN_REDUCE_U32] = "gs_reduce_u32",
    [GS_OWN_REDUCE_I64] = "gs_reduce_i64",
    [GS_OWN_REDUCE_U64] = "gs_reduce_u64",
    [GS_OWN_REDUCE_F32] = "gs_reduce_f32",
    [GS_OWN_REDUCE_F64] = "gs_reduce_f64",
};

/* PoCL (3.1) confuses the forms of one kernel where several devices run it at once (see shim/plan/prepare.c): there
 * each place has a program of its own, told apart by its last line. Elsewhere the first is for all devices. */
struct gs_own_kernels {
    _Atomic(cl_program) program[GS_MAX_DEVICES];
    cl_kernel kernel[GS_MAX_DEVICES][GS_OWN_KERNELS];
};

/* NULL: no memory. */
static struct gs_own_kernels *own_of(struct gs_context *ctx)
{
    struct gs_own_kernels *own = atomic_load(&ctx->own), *made = own ? NULL : calloc(1, sizeof *made);
    if (own || !made)
        return own;
    if (atomic_compare_exchange_strong(&ctx->own, &own, made))
        return made;
    free(made);
    return own;
}

static cl_program build(const struct gs_context *ctx, unsigned place, bool for_all, cl_int *err)
{
    char tail[64] = "";
    const char *texts[] = {source, tail};
    if (!for_all)
        snprintf(tail, sizeof tail, "__constant int gs_place = %u;\n", place);
    cl_program program = gs_real()->clCreateProgramWithSource(ctx->o.handle, 2, texts, NULL, err);
    if (*err)
        return NULL;
    gs_quiet(true);
    *err = gs_real()->clBuildProgram(program, for_all ? ctx->n : 1, &ctx->dev[place], "", NULL, NULL);
    gs_quiet(false);
    if (!*err)
        return program;
    gs_real()->clReleaseProgram(program);
    return NULL;
}

/* Two threads may build it at the same time: the first is kept. */
static cl_program program_of(struct gs_context *ctx, unsigned place, cl_int *err)
{
    const bool for_all = !gs_group()->pocl;
    struct gs_own_kernels *own = own_of(ctx);
    *err = own ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!own)
        return NULL;
    const unsigned at = for_all ? 0 : place;
    cl_program program = atomic_load(&own->program[at]);
    cl_program built = program ? NULL : build(ctx, at, for_all, err);
    if (program || !built)
        return program;
    if (atomic_compare_exchange_strong(&own->program[at], &program, built))
        return built;
    gs_real()->clReleaseProgram(built);
    return program;
}

cl_kernel gs_own_kernel(struct gs_context *ctx, unsigned place, enum gs_own_kernel which, cl_int *err)
{
    cl_program program = program_of(ctx, place, err);
    struct gs_own_kernels *own = atomic_load(&ctx->own);
    if (!*err && !own->kernel[place][which])
        own->kernel[place][which] = gs_real()->clCreateKernel(program, names[which], err);
    return *err ? NULL : own->kernel[place][which];
}

cl_kernel gs_own_made(const struct gs_context *ctx, unsigned place, enum gs_own_kernel which)
{
    return atomic_load(&ctx->own)->kernel[place][which];
}

void gs_own_compile(struct gs_context *ctx)
{
    cl_int err;
    if (gs_group()->pocl)
        return;
    gs_threads_compile(true);
    program_of(ctx, 0, &err);
    gs_threads_compile(false);
}

void gs_own_free(struct gs_own_kernels *own)
{
    for (unsigned p = 0; own && p < GS_MAX_DEVICES; p++) {
        for (unsigned i = 0; i < GS_OWN_KERNELS; i++)
            if (own->kernel[p][i])
                gs_real()->clReleaseKernel(own->kernel[p][i]);
        if (own->program[p])
            gs_real()->clReleaseProgram(own->program[p]);
    }
    free(own);
}
