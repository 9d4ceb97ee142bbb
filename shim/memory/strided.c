/* SPDX-License-Identifier: MIT */
#include "shim/memory/strided.h"

#include <stdlib.h>

#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/record/own_program.h"
#include "shim/schedule/put.h"
#include "shim/memory/pinned.h"
#include "shim/report/watch.h"

enum { LOCAL = 64 };

/* A word per work-item, of the largest size of which all offsets and lengths are multiples. */
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
    "}\n";

/* What a place needs. */
struct gs_strided {
    struct {
        bool tried;
        cl_program program;
        cl_kernel kernel;
        cl_mem packed; /* made on first need */
    } place[GS_MAX_DEVICES];
};

void gs_strided_free(struct gs_strided *s)
{
    for (unsigned p = 0; s && p < GS_MAX_DEVICES; p++) {
        if (s->place[p].packed)
            gs_real()->clReleaseMemObject(s->place[p].packed);
        if (s->place[p].kernel)
            gs_real()->clReleaseKernel(s->place[p].kernel);
        if (s->place[p].program)
            gs_real()->clReleaseProgram(s->place[p].program);
    }
    free(s);
}

static bool prepare(struct gs_context *ctx, unsigned p)
{
    cl_int err;
    if (!ctx->strided && !(ctx->strided = calloc(1, sizeof *ctx->strided)))
        return false;
    struct gs_strided *s = ctx->strided;
    if (s->place[p].tried)
        return s->place[p].kernel;
    s->place[p].tried = true;
    s->place[p].program = gs_build_own(ctx, p, source, "", &err);
    if (!err)
        s->place[p].kernel = gs_real()->clCreateKernel(s->place[p].program, "gs_rows", &err);
    if (err)
        gs_debug("rectangles go row by row: no kernel for device %u (error %d)", p, err);
    return !err;
}

void gs_strided_compile(struct gs_context *ctx)
{
    cl_int err;
    if (gs_group()->pocl || atomic_exchange(&ctx->strided_compiled, true))
        return;
    gs_threads_compile(true);
    cl_program program = gs_build_own(ctx, 0, source, "", &err);
    gs_threads_compile(false);
    if (program)
        gs_real()->clReleaseProgram(program);
}

/* That there is no memory a driver may find only by its first use. */
static bool make_room(struct gs_command *cmd, unsigned p)
{
    const size_t bytes = (size_t)GS_RING_SLOTS * (GS_PINNED_SLOT_BYTES + GS_PINNED_SMALL_BYTES);
    cl_int err;
    cl_event filled;
    cl_mem *packed = &cmd->ctx->strided->place[p].packed;
    if (*packed)
        return true;
    *packed = gs_real()->clCreateBuffer(cmd->ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, &err);
    if (err)
        return false;
    err = gs_command_order(cmd);
    if (!err)
        err = gs_put_touch(cmd, p, *packed, &filled);
    if (!err && gs_events_add(&cmd->before, filled) == CL_SUCCESS)
        return true;
    gs_real()->clReleaseMemObject(*packed);
    *packed = NULL;
    return false;
}

bool gs_strided_ready(struct gs_command *cmd, unsigned from, unsigned to, bool packed)
{
    return prepare(cmd->ctx, from) && prepare(cmd->ctx, to) &&
           (!packed || (make_room(cmd, from) && make_room(cmd, to)));
}

cl_mem gs_strided_packed(const struct gs_context *ctx, unsigned place)
{
    return ctx->strided->place[place].packed;
}

static uint32_t word_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint32_t word = 16;
    while ((a | b | c | d) % word)
        word /= 2;
    return word;
}

cl_int gs_strided_move(struct gs_command *cmd, const struct gs_location *from, const struct gs_location *to,
                       const struct gs_rect *r, const struct gs_step *step)
{
    const cl_uint word = word_of(from->at | to->at, from->pitch, to->pitch, r->width);
    const cl_uint words = (cl_uint)(r->width / word), all = (cl_uint)(words * r->rows);
    const struct gs_put_arg args[] = {{sizeof from->mem, &from->mem, true},
                                      {sizeof from->at, &from->at, false},
                                      {sizeof from->pitch, &from->pitch, false},
                                      {sizeof to->mem, &to->mem, true},
                                      {sizeof to->at, &to->at, false},
                                      {sizeof to->pitch, &to->pitch, false},
                                      {sizeof words, &words, false},
                                      {sizeof all, &all, false},
                                      {sizeof word, &word, false}};
    const struct gs_label before = gs_label_now();
    if (before.purpose == GS_FOR_APP)
        gs_label_purpose(GS_FOR_PACKING);
    const struct gs_put_launch launch = {cmd->ctx->strided->place[step->place].kernel, args, sizeof args / sizeof *args,
                                         all, LOCAL};
    const cl_int err = gs_put_kernel(step->queue, &launch, step->after->n, step->after->v, step->end);
    gs_label_back(before);
    return err;
}
