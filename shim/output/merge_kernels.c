/* SPDX-License-Identifier: MIT */
#include "shim/output/merge_kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "shim/output/append_kernels.h"
#include "shim/schedule/put.h"
#include "shim/plan/reducible.h"

enum { LOCAL = 64 };

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

/* A work-group for each block, sixteen bytes per work-item. gs_leave and gs_pick_up by way of a meeting place; gs_pack
 * and gs_unpack by way of records: a block's number in sixteen bytes, and the block. A launch may be in pieces by its
 * global_work_offset, of which get_group_id knows nothing. */
static const char blocks_source[] =
    "int differs_here(__global const uchar *part, __global const uchar *kept, ulong left, uint4 *p)\n"
    "{\n"
    "    int differs = 0;\n"
    "    if (left >= 16) {\n"
    "        *p = *(__global const uint4 *)part;\n"
    "        return any(*p != *(__global const uint4 *)kept);\n"
    "    }\n"
    "    for (ulong b = 0; b < left; b++)\n"
    "        differs |= part[b] != kept[b];\n"
    "    return differs;\n"
    "}\n"
    "void put(__global uchar *dst, __global const uchar *part, ulong left, uint4 p)\n"
    "{\n"
    "    if (left >= 16)\n"
    "        *(__global uint4 *)dst = p;\n"
    "    else\n"
    "        for (ulong b = 0; b < left; b++)\n"
    "            dst[b] = part[b];\n"
    "}\n"
    "void take(__global uchar *dst, __global const uchar *part, __global const uchar *kept, ulong left, int yields)\n"
    "{\n"
    "    if (left >= 16) {\n"
    "        uint4 p = *(__global const uint4 *)part, k = *(__global const uint4 *)kept;\n"
    "        if (any(p != k)) {\n"
    "            uchar16 old = as_uchar16(*(__global uint4 *)dst), was = as_uchar16(k);\n"
    "            char16 takes = as_uchar16(p) != was;\n"
    "            if (yields)\n"
    "                takes &= old == was;\n"
    "            *(__global uint4 *)dst = as_uint4(select(old, as_uchar16(p), takes));\n"
    "        }\n"
    "    } else {\n"
    "        for (ulong b = 0; b < left; b++)\n"
    "            if (part[b] != kept[b] && !(yields && dst[b] != kept[b]))\n"
    "                dst[b] = part[b];\n"
    "    }\n"
    "}\n"
    "__kernel void gs_leave(__global uchar *meeting, ulong meeting_at, ulong words_at, __global const uchar *part,\n"
    "                       ulong begin, __global const uchar *kept, ulong at, ulong n, __global uint *count, int "
    "counts)\n"
    "{\n"
    "    __local int differs;\n"
    "    ulong block = get_global_id(0) / 64, i = block * 1024 + get_local_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    uint4 p = 0;\n"
    "    if (get_local_id(0) == 0)\n"
    "        differs = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    part += begin + i;\n"
    "    if (differs_here(part, kept + at + i, left, &p))\n"
    "        differs = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0) {\n"
    "        *(__global uint *)(meeting + words_at + block * 4) = differs;\n"
    "        if (differs && counts)\n"
    "            atomic_add(count, (uint)(min(left, (ulong)1024) + 15) / 16);\n"
    "    }\n"
    "    if (differs)\n"
    "        put(meeting + meeting_at + i, part, left, p);\n"
    "}\n"
    "__kernel void gs_pick_up(__global uchar *dst, ulong begin, __global const uchar *meeting, ulong meeting_at,\n"
    "                         ulong words_at, __global const uchar *kept, ulong at, ulong n, int yields)\n"
    "{\n"
    "    ulong block = get_global_id(0) / 64, i = block * 1024 + get_local_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    if (*(__global const uint *)(meeting + words_at + block * 4))\n"
    "        take(dst + begin + i, meeting + meeting_at + i, kept + at + i, left, yields);\n"
    "}\n"
    "__kernel void gs_pack(__global uchar *records, uint most, __global const uchar *part, ulong begin,\n"
    "                      __global const uchar *kept, ulong n, __global uint *count)\n"
    "{\n"
    "    __local int differs;\n"
    "    __local uint slot;\n"
    "    ulong block = get_global_id(0) / 64, i = block * 1024 + get_local_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    uint4 p = 0;\n"
    "    if (get_local_id(0) == 0)\n"
    "        differs = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    part += begin + i;\n"
    "    if (differs_here(part, kept + i, left, &p))\n"
    "        differs = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0) {\n"
    "        slot = differs ? atomic_inc(count) : most;\n"
    "        if (slot < most)\n"
    "            *(__global uint4 *)(records + slot * 1040ul) = (uint4)((uint)block, 0, 0, 0);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (slot < most)\n"
    "        put(records + slot * 1040ul + 16 + get_local_id(0) * 16, part, left, p);\n"
    "}\n"
    "__kernel void gs_unpack(__global uchar *dst, ulong begin, __global const uchar *records,\n"
    "                        __global const uchar *kept, ulong n, int yields)\n"
    "{\n"
    "    records += get_global_id(0) / 64 * 1040ul;\n"
    "    ulong i = *(__global const uint *)records * 1024ul + get_local_id(0) * 16, left = n > i ? n - i : 0;\n"
    "    take(dst + begin + i, records + 16 + get_local_id(0) * 16, kept + i, left, yields);\n"
    "}\n";

/* Behind the same: sixteen bytes per work-item. */
static const char sixteens_source[] =
    "__kernel void gs_merge(__global uchar *dst, ulong begin, __global const uchar *part, __global const uchar *kept,\n"
    "                       ulong n)\n"
    "{\n"
    "    ulong i = get_global_id(0) * 16;\n"
    "    if (i < n)\n"
    "        take(dst + begin + i, part + i, kept + i, n - i, 0);\n"
    "}\n"
    "__kernel void gs_differs(__global const uchar *part, ulong begin, __global const uchar *kept, ulong n,\n"
    "                         __global uint *flag)\n"
    "{\n"
    "    ulong i = get_global_id(0) * 16;\n"
    "    uint4 p;\n"
    "    if (i < n && differs_here(part + begin + i, kept + i, n - i, &p))\n"
    "        *flag = 1;\n"
    "}\n";

_Static_assert(GS_BLOCK_BYTES == 1024 && GS_BLOCK_BYTES == LOCAL * 16, "a work-group of the kernels above");
_Static_assert(GS_RECORD_BYTES == 1040 && GS_RECORD_BYTES == GS_BLOCK_BYTES + 16, "a record of the kernels above");
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

static cl_program build(struct gs_context *ctx, unsigned place, cl_uint n, const char **texts, cl_int *err)
{
    cl_program program = gs_real()->clCreateProgramWithSource(ctx->o.handle, n, texts, NULL, err);
    if (*err)
        return NULL;
    *err = gs_real()->clBuildProgram(program, 1, &ctx->dev[place], "", NULL, NULL);
    if (!*err)
        return program;
    gs_real()->clReleaseProgram(program);
    return NULL;
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
    const char *text = reduce_source;
    struct gs_merge_kernels *k = made(ctx);
    cl_int err = k ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (err || k->reduce[GS_ATOMIC_F32])
        return err;
    if (!k->reduce_program)
        k->reduce_program = build(ctx, 0, 1, &text, &err);
    for (int t = 0; t < TYPES && !err; t++)
        if (!k->reduce[t])
            k->reduce[t] = gs_real()->clCreateKernel(k->reduce_program, names[t], &err);
    return k->reduce[GS_ATOMIC_F32] ? CL_SUCCESS : err; /* a device without double: no kernel of it will ask */
}

static const char *const kernel_names[GS_OUTPUT_KERNELS] = {
    [GS_OUTPUT_MERGE] = "gs_merge",           [GS_OUTPUT_LEAVE] = "gs_leave",
    [GS_OUTPUT_PICK_UP] = "gs_pick_up",       [GS_OUTPUT_PACK] = "gs_pack",
    [GS_OUTPUT_UNPACK] = "gs_unpack",         [GS_OUTPUT_DIFFERS] = "gs_differs",
    [GS_OUTPUT_LIST_LEAVE] = "gs_list_leave", [GS_OUTPUT_LIST_TAKE] = "gs_list_take",
};

/* On each place a program of its own, different by its last line: PoCL (3.1) confuses the forms of one kernel where
 * several devices run it at once (see shim/plan/prepare.c). */
cl_int gs_merge_kernels_make(struct gs_context *ctx, unsigned place)
{
    char tail[32];
    const char *texts[] = {blocks_source, sixteens_source, gs_list_source, tail};
    struct gs_merge_kernels *k = made(ctx);
    cl_int err = k ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    snprintf(tail, sizeof tail, "__constant int gs_place = %u;\n", place);
    if (!err && !k->program[place])
        k->program[place] = build(ctx, place, sizeof texts / sizeof *texts, texts, &err);
    for (int i = 0; i < GS_OUTPUT_KERNELS && !err; i++)
        if (!k->kernel[place][i])
            k->kernel[place][i] = gs_new_output_kernel(ctx, place, (enum gs_output_kernel)i, &err);
    return err;
}

cl_kernel gs_new_output_kernel(struct gs_context *ctx, unsigned place, enum gs_output_kernel which, cl_int *err)
{
    return gs_real()->clCreateKernel(ctx->merge->program[place], kernel_names[which], err);
}

cl_int gs_run_output_kernel(cl_command_queue queue, cl_kernel k, uint64_t items, const struct gs_put_arg *args,
                            cl_uint n_args, const struct gs_events *wait, struct gs_events *done)
{
    cl_event event;
    const cl_int err = gs_put_kernel(queue, k, args, n_args, items, LOCAL, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

cl_kernel gs_output_kernel(const struct gs_context *ctx, unsigned place, enum gs_output_kernel which)
{
    return ctx->merge->kernel[place][which];
}

cl_int gs_enqueue_merge_by(cl_kernel k, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem part, cl_mem kept,
                           uint64_t n, const struct gs_events *wait, struct gs_events *done)
{
    return gs_run_output_kernel(queue, k, (n + 15) / 16,
                                GS_ARGS(GS_ARG(dst), GS_ARG(begin), GS_ARG(part), GS_ARG(kept), GS_ARG(n)), wait, done);
}

cl_int gs_enqueue_merge(struct gs_context *ctx, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem part,
                        cl_mem kept, uint64_t n, const struct gs_events *wait, struct gs_events *done)
{
    return gs_enqueue_merge_by(gs_output_kernel(ctx, 0, GS_OUTPUT_MERGE), queue, dst, begin, part, kept, n, wait, done);
}

uint64_t gs_blocks_of(uint64_t n)
{
    return (n + GS_BLOCK_BYTES - 1) / GS_BLOCK_BYTES;
}

uint64_t gs_exchange_buffer_words(uint64_t n)
{
    return gs_blocks_of(n) * sizeof(cl_uint);
}

uint64_t gs_exchange_buffer_need(uint64_t n)
{
    return gs_blocks_of(n) * GS_BLOCK_BYTES + gs_exchange_buffer_words(n);
}

cl_int gs_enqueue_leave(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem meeting,
                        uint64_t meeting_at, cl_mem part, uint64_t begin, cl_mem kept, uint64_t at, uint64_t n,
                        cl_mem count, const struct gs_events *wait, struct gs_events *done)
{
    cl_kernel k = gs_output_kernel(ctx, place, GS_OUTPUT_LEAVE);
    const uint64_t words_at = meeting_at + gs_blocks_of(n) * GS_BLOCK_BYTES;
    const cl_int counts = count != NULL;
    cl_mem counter = count ? count : meeting;
    return gs_run_output_kernel(queue, k, gs_blocks_of(n) * LOCAL,
                                GS_ARGS(GS_ARG(meeting), GS_ARG(meeting_at), GS_ARG(words_at), GS_ARG(part),
                                        GS_ARG(begin), GS_ARG(kept), GS_ARG(at), GS_ARG(n), GS_ARG(counter),
                                        GS_ARG(counts)),
                                wait, done);
}

cl_int gs_enqueue_pick_up(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem dst, uint64_t begin,
                          cl_mem meeting, uint64_t meeting_at, cl_mem kept, uint64_t at, uint64_t n, bool yields,
                          const struct gs_events *wait, struct gs_events *done)
{
    cl_kernel k = gs_output_kernel(ctx, place, GS_OUTPUT_PICK_UP);
    const uint64_t words_at = meeting_at + gs_blocks_of(n) * GS_BLOCK_BYTES;
    const cl_int first_wins = yields;
    return gs_run_output_kernel(queue, k, gs_blocks_of(n) * LOCAL,
                                GS_ARGS(GS_ARG(dst), GS_ARG(begin), GS_ARG(meeting), GS_ARG(meeting_at),
                                        GS_ARG(words_at), GS_ARG(kept), GS_ARG(at), GS_ARG(n), GS_ARG(first_wins)),
                                wait, done);
}

cl_int gs_enqueue_pack(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem records, cl_uint most,
                       cl_mem part, uint64_t begin, cl_mem kept, uint64_t n, cl_mem count, const struct gs_events *wait,
                       struct gs_events *done)
{
    cl_kernel k = gs_output_kernel(ctx, place, GS_OUTPUT_PACK);
    return gs_run_output_kernel(
        queue, k, gs_blocks_of(n) * LOCAL,
        GS_ARGS(GS_ARG(records), GS_ARG(most), GS_ARG(part), GS_ARG(begin), GS_ARG(kept), GS_ARG(n), GS_ARG(count)),
        wait, done);
}

cl_int gs_enqueue_unpack(cl_kernel k, cl_command_queue queue, cl_mem dst, uint64_t begin, cl_mem records, cl_uint count,
                         cl_mem kept, uint64_t n, bool yields, const struct gs_events *wait, struct gs_events *done)
{
    const cl_int first_wins = yields;
    return gs_run_output_kernel(
        queue, k, (uint64_t)count * LOCAL,
        GS_ARGS(GS_ARG(dst), GS_ARG(begin), GS_ARG(records), GS_ARG(kept), GS_ARG(n), GS_ARG(first_wins)), wait, done);
}

uint64_t gs_reduce_identity(enum gs_atomic_op op, enum gs_atomic_type type)
{
    const bool is_signed = type == GS_ATOMIC_I32 || type == GS_ATOMIC_I64;
    const uint64_t ones = gs_atomic_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX, sign = ones ^ ones >> 1;
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
    const unsigned bytes = gs_atomic_bytes(type);
    const uint64_t dst_first = dst_begin / bytes, part_first = part_begin / bytes, elements = n / bytes;
    const uint64_t identity = gs_reduce_identity(op, type);
    const cl_int how = (cl_int)op;
    return gs_run_output_kernel(queue, k, elements,
                                GS_ARGS(GS_ARG(dst), GS_ARG(dst_first), GS_ARG(part), GS_ARG(part_first),
                                        GS_ARG(elements), GS_ARG(how), GS_ARG(identity)),
                                wait, done);
}

cl_int gs_enqueue_differs(struct gs_context *ctx, unsigned place, cl_command_queue queue, cl_mem part, uint64_t begin,
                          cl_mem kept, uint64_t n, cl_mem flag, const struct gs_events *wait, struct gs_events *done)
{
    return gs_run_output_kernel(queue, gs_output_kernel(ctx, place, GS_OUTPUT_DIFFERS), (n + 15) / 16,
                                GS_ARGS(GS_ARG(part), GS_ARG(begin), GS_ARG(kept), GS_ARG(n), GS_ARG(flag)), wait,
                                done);
}
