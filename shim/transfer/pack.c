/* SPDX-License-Identifier: MIT */
#include "shim/transfer/pack.h"

#include "shim/process/threads.h"

enum { LOCAL = 256 };

/* A work-item moves 16 bytes of one piece; where rows are of a multiple, as they lie, by one load and one store. */
static const char source[] =
    "typedef struct { ulong begin[24], width[24], pitch[24], bytes[24], at[24]; } gs_pieces;\n"
    "__kernel void gs_pack(__global uchar *mem, __global uchar *window, gs_pieces p, uint n, ulong slot, uint "
    "arrives)\n"
    "{\n"
    "    ulong i = get_global_id(0) * 16;\n"
    "    uint k = 0;\n"
    "    while (k + 1 < n && i >= p.at[k + 1])\n"
    "        k++;\n"
    "    ulong b = i - p.at[k], width = p.width[k], end = min(b + 16, p.bytes[k]);\n"
    "    __global uchar *in = mem + p.begin[k], *side = window + slot + p.at[k];\n"
    "    if (b + 16 == end && ((p.begin[k] | width | p.pitch[k]) & 15) == 0) {\n"
    "        __global uint4 *a = (__global uint4 *)(in + b / width * p.pitch[k] + b % width);\n"
    "        __global uint4 *s = (__global uint4 *)(side + b);\n"
    "        if (arrives)\n"
    "            *a = *s;\n"
    "        else\n"
    "            *s = *a;\n"
    "    } else {\n"
    "        for (; b < end; b++) {\n"
    "            __global uchar *a = in + b / width * p.pitch[k] + b % width;\n"
    "            if (arrives)\n"
    "                *a = side[b];\n"
    "            else\n"
    "                side[b] = *a;\n"
    "        }\n"
    "    }\n"
    "}\n";
_Static_assert(GS_PACK_PIECES == 24 && GS_PACK_ITEM_BYTES == 16, "the source has both");

cl_kernel gs_pack_kernel(cl_context ctx, const cl_device_id *dev, cl_uint n)
{
    cl_int err;
    gs_threads_compile(true);
    cl_program program = gs_own_program(ctx, dev, n, source, "", &err);
    gs_threads_compile(false);
    cl_kernel kernel = err ? NULL : gs_real()->clCreateKernel(program, "gs_pack", &err);
    GS_RELEASE(Program, program);
    return err ? NULL : kernel;
}

/* The kernel's argument, by piece: in the buffer begin, bytes of a row, bytes from row to row, and bytes in all; `at`:
 * where the piece begins in the slot, at a multiple of 16. */
struct pieces {
    cl_ulong begin[GS_PACK_PIECES], width[GS_PACK_PIECES], pitch[GS_PACK_PIECES], bytes[GS_PACK_PIECES],
        at[GS_PACK_PIECES];
};

cl_int gs_pack_put(const struct gs_pack_step *s, cl_command_queue queue, const struct gs_events *after, cl_event *end)
{
    const cl_mem mem = s->arrives ? s->send->to->mem : s->send->op.src;
    const uint64_t begin = s->arrives ? s->send->to->begin : s->send->begin;
    const cl_ulong slot = s->slot->at;
    const cl_uint arrives = s->arrives;
    struct pieces p;
    cl_ulong bytes = 0;
    cl_uint n = 0;
    for (const struct gs_send *i = s->send; i; i = i->with, n++) {
        const struct gs_rect *r = &i->rect;
        p.begin[n] = r->begin - begin;
        p.width[n] = r->width;
        p.pitch[n] = r->rows > 1 ? r->pitch : r->width;
        p.bytes[n] = gs_rect_bytes(r);
        p.at[n] = bytes;
        bytes += gs_pack_bytes(i);
    }
    const struct gs_put_arg args[] = {{sizeof mem, &mem},   {sizeof s->slot->mem, &s->slot->mem},
                                      {sizeof p, &p},       {sizeof n, &n},
                                      {sizeof slot, &slot}, {sizeof arrives, &arrives}};
    const struct gs_put_launch launch = {s->kernel, args, sizeof args / sizeof *args, bytes / GS_PACK_ITEM_BYTES,
                                         LOCAL};
    return gs_put_kernel(queue, &launch, after->n, after->v, end);
}
