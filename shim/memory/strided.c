/* SPDX-License-Identifier: MIT */
#include "shim/memory/strided.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "shim/schedule/put.h"
#include "shim/memory/ring.h"
#include "shim/report/watch.h"

enum { LOCAL = 64, SLOT_BYTES = 2 * 1024 * 1024 };

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
        cl_mem packed; /* a ring of slots, for ways other than windows; made on first need */
        struct gs_ring ring;
    } place[GS_MAX_DEVICES];
};

void gs_strided_free(struct gs_strided *s)
{
    for (unsigned p = 0; s && p < GS_MAX_DEVICES; p++) {
        gs_ring_free(&s->place[p].ring);
        if (s->place[p].packed)
            gs_real()->clReleaseMemObject(s->place[p].packed);
        if (s->place[p].kernel)
            gs_real()->clReleaseKernel(s->place[p].kernel);
        if (s->place[p].program)
            gs_real()->clReleaseProgram(s->place[p].program);
    }
    free(s);
}

/* On each place a program of its own: PoCL (3.1) confuses the forms of one kernel where several devices run it at once
 * (see shim/plan/prepare.c). */
static bool prepare(struct gs_context *ctx, unsigned p)
{
    char tail[64];
    const char *texts[] = {source, tail};
    cl_int err;
    if (!ctx->strided && !(ctx->strided = calloc(1, sizeof *ctx->strided)))
        return false;
    struct gs_strided *s = ctx->strided;
    if (s->place[p].tried)
        return s->place[p].kernel;
    s->place[p].tried = true;
    snprintf(tail, sizeof tail, "__constant int gs_place = %u;\n", p);
    s->place[p].program = gs_real()->clCreateProgramWithSource(ctx->o.handle, 2, texts, NULL, &err);
    if (!err)
        err = gs_real()->clBuildProgram(s->place[p].program, 1, &ctx->dev[p], "", NULL, NULL);
    if (!err)
        s->place[p].kernel = gs_real()->clCreateKernel(s->place[p].program, "gs_rows", &err);
    if (err)
        gs_debug("rectangles go row by row: no kernel for device %u (error %d)", p, err);
    return !err;
}

bool gs_strided_ready(struct gs_context *ctx, unsigned from, unsigned to)
{
    return prepare(ctx, from) && prepare(ctx, to);
}

static cl_int touch(struct gs_command *cmd, unsigned p, cl_mem packed)
{
    cl_event filled;
    cl_int err = gs_command_order(cmd);
    if (!err)
        err = gs_put_touch(cmd, p, packed, &filled);
    if (err)
        return err;
    gs_ring_give(&cmd->ctx->strided->place[p].ring, 0, filled);
    gs_real()->clReleaseEvent(filled);
    return CL_SUCCESS;
}

static bool make_room(struct gs_command *cmd, unsigned p)
{
    cl_int err;
    cl_mem *packed = &cmd->ctx->strided->place[p].packed;
    if (*packed)
        return true;
    *packed = gs_real()->clCreateBuffer(cmd->ctx->o.handle, CL_MEM_READ_WRITE, (size_t)GS_RING_SLOTS * SLOT_BYTES, NULL,
                                        &err);
    if (!err && (err = touch(cmd, p, *packed)) != CL_SUCCESS)
        gs_real()->clReleaseMemObject(*packed);
    if (err)
        *packed = NULL;
    return !err;
}

bool gs_strided_has_room(struct gs_command *cmd, unsigned from, unsigned to)
{
    return make_room(cmd, from) && make_room(cmd, to);
}

static uint32_t word_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint32_t word = 16;
    while ((a | b | c | d) % word)
        word /= 2;
    return word;
}

cl_int gs_strided_move(struct gs_command *cmd, unsigned place, cl_command_queue queue,
                       const struct gs_strided_rows *from, const struct gs_strided_rows *to, const struct gs_rect *r,
                       const struct gs_events *after, cl_event *end)
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
    const cl_int err = gs_put_kernel(queue, cmd->ctx->strided->place[place].kernel, args, sizeof args / sizeof *args,
                                     all, LOCAL, after->n, after->v, end);
    gs_label_back(before);
    return err;
}

static cl_int take_slot(struct gs_context *ctx, unsigned p, unsigned *slot, uint64_t *at, struct gs_events *wait)
{
    const cl_int err = gs_ring_take(&ctx->strided->place[p].ring, slot, wait);
    *at = err ? 0 : (uint64_t)*slot * SLOT_BYTES;
    return err;
}

static cl_int pass_packed(struct gs_command *cmd, const struct gs_send *send, struct gs_taker *to,
                          const struct gs_rect *r, gs_packed_copy *copy)
{
    struct gs_strided *s = cmd->ctx->strided;
    const struct gs_strided_rows there = {send->mem, r->begin, r->pitch}, here = {to->mem, r->begin, r->pitch};
    struct gs_events before = {0}, left = {0}, moved = {0};
    cl_event end = NULL;
    unsigned leaving = 0, arriving = 0;
    uint64_t at = 0, to_at = 0;
    cl_int err;
    cl_command_queue out = gs_leave_queue(cmd->q, send->from, &err);
    cl_command_queue in = err ? NULL : gs_copy_queue(cmd->q, to->place, &err);
    if (!err)
        err = gs_events_share_all(&before, &send->wait);
    if (!err)
        err = take_slot(cmd->ctx, send->from, &leaving, &at, &before);
    const struct gs_strided_rows packed = {s->place[send->from].packed, at, r->width};
    if (!err)
        err = gs_strided_move(cmd, send->from, out, &there, &packed, r, &before, &end);
    if (!err)
        err = gs_events_add(&left, end);
    if (!err)
        err = take_slot(cmd->ctx, to->place, &arriving, &to_at, &left);
    const struct gs_strided_rows came = {s->place[to->place].packed, to_at, r->width};
    if (!err)
        err = copy(cmd, packed.mem, send->from, came.mem, to->place, at, to_at, gs_rect_bytes(r), &left, &moved);
    if (left.n)
        gs_ring_give(&s->place[send->from].ring, leaving, err ? left.v[0] : moved.v[moved.n - 1]);
    if (!err && to->arrived)
        err = gs_events_share(&moved, to->arrived);
    if (!err)
        err = gs_strided_move(cmd, to->place, in, &came, &here, r, &moved, &end);
    if (moved.n)
        gs_ring_give(&s->place[to->place].ring, arriving, err ? moved.v[0] : end);
    gs_events_free(&before);
    gs_events_free(&left);
    gs_events_free(&moved);
    if (err)
        return err;
    if (to->arrived)
        gs_real()->clReleaseEvent(to->arrived);
    to->arrived = end;
    return CL_SUCCESS;
}

cl_int gs_strided_copy(struct gs_command *cmd, const struct gs_send *send, struct gs_taker *to, gs_packed_copy *copy)
{
    const struct gs_rect *r = &send->rect;
    const uint64_t most = SLOT_BYTES / r->width;
    cl_int err = CL_SUCCESS;
    for (uint64_t row = 0; row < r->rows && !err;) {
        struct gs_rect some = {gs_rect_row(r, row).begin, r->width, r->pitch, r->rows - row};
        some.rows = some.rows < most ? some.rows : most;
        err = pass_packed(cmd, send, to, &some, copy);
        row += some.rows;
    }
    return err;
}
