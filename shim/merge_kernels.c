/* SPDX-License-Identifier: MIT */
#include "shim/merge_kernels.h"

#include <stdlib.h>

#include "shim/reducible.h"

enum { LOCAL = 64 };

/* gs_merge: sixteen bytes per work-item; the item after the last whole sixteen takes the tail.
 * gs_reduce: OP is an enum gs_atomic_op. What a part left as it was isn't stored. */
static const char source[] =
    "__kernel void gs_merge(__global uchar *dst, ulong begin, __global const uchar *part, __global const uchar *kept, "
    "ulong n)\n"
    "{\n"
    "    ulong i = get_global_id(0), whole = n / 16;\n"
    "    dst += begin;\n"
    "    if (i < whole) {\n"
    "        uchar16 p = ((__global const uchar16 *)part)[i], k = ((__global const uchar16 *)kept)[i];\n"
    "        if (any(p != k))\n"
    "            ((__global uchar16 *)dst)[i] = select(((__global uchar16 *)dst)[i], p, p != k);\n"
    "    } else if (i == whole) {\n"
    "        for (ulong b = whole * 16; b < n; b++)\n"
    "            if (part[b] != kept[b])\n"
    "                dst[b] = part[b];\n"
    "    }\n"
    "}\n"
    "#define REDUCE(NAME, T) \\\n"
    "__kernel void NAME(__global T *dst, ulong dst_first, __global const T *part, ulong part_first, ulong n, \\\n"
    "                   int op, ulong identity) \\\n"
    "{ \\\n"
    "    ulong i = get_global_id(0); \\\n"
    "    if (i >= n || part[part_first + i] == (T)identity) \\\n"
    "        return; \\\n"
    "    T p = part[part_first + i], d = dst[dst_first + i]; \\\n"
    "    dst[dst_first + i] = op == 1 ? (T)((ulong)d + (ulong)p) : op == 2 ? min(d, p) : op == 3 ? max(d, p) \\\n"
    "                       : op == 4 ? d & p : op == 5 ? d | p : d ^ p; \\\n"
    "}\n"
    "REDUCE(gs_reduce_i32, int)\n"
    "REDUCE(gs_reduce_u32, uint)\n"
    "REDUCE(gs_reduce_i64, long)\n"
    "REDUCE(gs_reduce_u64, ulong)\n"
    "#define REDUCE_FLOAT(NAME, T, BITS) \\\n"
    "__kernel void NAME(__global T *dst, ulong dst_first, __global const T *part, ulong part_first, ulong n, \\\n"
    "                   int op, ulong identity) \\\n"
    "{ \\\n"
    "    ulong i = get_global_id(0); \\\n"
    "    if (i >= n || as_##BITS(part[part_first + i]) == (BITS)identity) \\\n"
    "        return; \\\n"
    "    T p = part[part_first + i], d = dst[dst_first + i]; \\\n"
    "    dst[dst_first + i] = op == 1 ? d + p : op == 2 ? fmin(d, p) : fmax(d, p); \\\n"
    "}\n"
    "REDUCE_FLOAT(gs_reduce_f32, float, uint)\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "REDUCE_FLOAT(gs_reduce_f64, double, ulong)\n"
    "#endif\n";

_Static_assert(GS_ATOMIC_ADD == 1 && GS_ATOMIC_MIN == 2 && GS_ATOMIC_MAX == 3 && GS_ATOMIC_AND == 4 &&
                   GS_ATOMIC_OR == 5 && GS_ATOMIC_XOR == 6,
               "gs_reduce's op");

enum { TYPES = GS_ATOMIC_F64 + 1 };

struct gs_merge_kernels {
    cl_program program;
    cl_kernel merge, reduce[TYPES];
};

void gs_merge_kernels_free(struct gs_merge_kernels *k)
{
    if (!k)
        return;
    if (k->merge)
        gs_real()->clReleaseKernel(k->merge);
    for (int t = 0; t < TYPES; t++)
        if (k->reduce[t])
            gs_real()->clReleaseKernel(k->reduce[t]);
    if (k->program)
        gs_real()->clReleaseProgram(k->program);
    free(k);
}

cl_int gs_merge_kernels_make(struct gs_context *ctx)
{
    static const char *const reduce_names[TYPES] = {
        [GS_ATOMIC_I32] = "gs_reduce_i32", [GS_ATOMIC_U32] = "gs_reduce_u32", [GS_ATOMIC_I64] = "gs_reduce_i64",
        [GS_ATOMIC_U64] = "gs_reduce_u64", [GS_ATOMIC_F32] = "gs_reduce_f32", [GS_ATOMIC_F64] = "gs_reduce_f64"};
    const char *text = source;
    cl_int err;
    if (ctx->merge)
        return CL_SUCCESS;
    struct gs_merge_kernels *k = calloc(1, sizeof *k);
    if (!k)
        return CL_OUT_OF_HOST_MEMORY;
    k->program = gs_real()->clCreateProgramWithSource(ctx->o.handle, 1, &text, NULL, &err);
    if (!err)
        err = gs_real()->clBuildProgram(k->program, 1, ctx->dev, "", NULL, NULL);
    if (!err)
        k->merge = gs_real()->clCreateKernel(k->program, "gs_merge", &err);
    for (int t = 0; t < TYPES && !err; t++)
        k->reduce[t] = gs_real()->clCreateKernel(k->program, reduce_names[t], &err);
    if (err && !k->reduce[GS_ATOMIC_F64] && k->reduce[GS_ATOMIC_F32])
        err = CL_SUCCESS; /* a device without double: no kernel of it will ask */
    if (err)
        gs_merge_kernels_free(k);
    else
        ctx->merge = k;
    return err;
}

static cl_int enqueue(cl_command_queue queue, cl_kernel k, uint64_t items, const struct gs_events *wait,
                      struct gs_events *done)
{
    const size_t local = LOCAL, global = (size_t)((items + LOCAL - 1) / LOCAL * LOCAL);
    cl_event event;
    cl_int err = gs_real()->clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, wait->n,
                                                   wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

cl_int gs_enqueue_merge(struct gs_context *ctx, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem part,
                        cl_mem kept, uint64_t n, const struct gs_events *wait, struct gs_events *done)
{
    cl_kernel k = ctx->merge->merge;
    const cl_ulong first = begin, bytes = n;
    cl_int err;
    if ((err = gs_real()->clSetKernelArg(k, 0, sizeof dst, &dst)) ||
        (err = gs_real()->clSetKernelArg(k, 1, sizeof first, &first)) ||
        (err = gs_real()->clSetKernelArg(k, 2, sizeof part, &part)) ||
        (err = gs_real()->clSetKernelArg(k, 3, sizeof kept, &kept)) ||
        (err = gs_real()->clSetKernelArg(k, 4, sizeof bytes, &bytes)))
        return err;
    return enqueue(queue, k, n / 16 + 1, wait, done);
}

uint64_t gs_reduce_identity(enum gs_atomic_op op, enum gs_atomic_type type)
{
    const bool is_signed = type == GS_ATOMIC_I32 || type == GS_ATOMIC_I64;
    const uint64_t ones = gs_reduction_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX, sign = ones ^ ones >> 1;
    if (type >= GS_ATOMIC_F32) /* -0.0 is what a sum keeps even of -0.0; of fmin and fmax, a NaN yields to any number */
        return op == GS_ATOMIC_ADD ? sign : ones ^ sign;
    switch (op) {
    case GS_ATOMIC_AND:
        return ones;
    case GS_ATOMIC_MIN:
        return is_signed ? ones ^ sign : ones;
    case GS_ATOMIC_MAX:
        return is_signed ? sign : 0;
    default:
        return 0;
    }
}

cl_int gs_enqueue_reduce(struct gs_context *ctx, cl_command_queue queue, enum gs_atomic_op op, enum gs_atomic_type type,
                         cl_mem dst, uint64_t dst_begin, cl_mem part, uint64_t part_begin, uint64_t n,
                         const struct gs_events *wait, struct gs_events *done)
{
    cl_kernel k = ctx->merge->reduce[type];
    const unsigned bytes = gs_reduction_bytes(type);
    const cl_ulong dst_first = dst_begin / bytes, part_first = part_begin / bytes, elements = n / bytes;
    const cl_ulong identity = gs_reduce_identity(op, type);
    const cl_int how = (cl_int)op;
    cl_int err;
    if ((err = gs_real()->clSetKernelArg(k, 0, sizeof dst, &dst)) ||
        (err = gs_real()->clSetKernelArg(k, 1, sizeof dst_first, &dst_first)) ||
        (err = gs_real()->clSetKernelArg(k, 2, sizeof part, &part)) ||
        (err = gs_real()->clSetKernelArg(k, 3, sizeof part_first, &part_first)) ||
        (err = gs_real()->clSetKernelArg(k, 4, sizeof elements, &elements)) ||
        (err = gs_real()->clSetKernelArg(k, 5, sizeof how, &how)) ||
        (err = gs_real()->clSetKernelArg(k, 6, sizeof identity, &identity)))
        return err;
    return enqueue(queue, k, elements, wait, done);
}
