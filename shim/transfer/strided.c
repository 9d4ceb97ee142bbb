/* SPDX-License-Identifier: MIT */
#include "shim/transfer/strided.h"

#include <stdlib.h>

#include "common/log.h"
#include "shim/transfer/paths.h"
#include "shim/record/own_kernels.h"
#include "shim/put/put.h"
#include "shim/transfer/pinned.h"
#include "shim/report/watch.h"

enum { LOCAL = 64 };

struct gs_strided {
    bool refused[GS_MAX_DEVICES];  /* there is no kernel to be had */
    cl_mem packed[GS_MAX_DEVICES]; /* made on first need */
};

void gs_strided_free(struct gs_strided *s)
{
    for (unsigned p = 0; s && p < GS_MAX_DEVICES; p++)
        if (s->packed[p])
            gs_real()->clReleaseMemObject(s->packed[p]);
    free(s);
}

static bool has_kernel(struct gs_context *ctx, unsigned place)
{
    cl_int err;
    if (!ctx->paths->strided && !(ctx->paths->strided = calloc(1, sizeof *ctx->paths->strided)))
        return false;
    bool *refused = &ctx->paths->strided->refused[place];
    if (*refused || gs_own_kernel(ctx, place, GS_OWN_ROWS, &err))
        return !*refused;
    *refused = true;
    gs_debug("rectangles go row by row: no kernel for device %u (error %d)", place, err);
    return false;
}

/* That there is no memory a driver may find only by its first use. */
static bool make_room(struct gs_command *cmd, unsigned p)
{
    const size_t bytes = (size_t)GS_RING_SLOTS * (GS_PINNED_SLOT_BYTES + GS_PINNED_SMALL_BYTES);
    cl_int err;
    cl_event filled;
    cl_mem *packed = &cmd->ctx->paths->strided->packed[p];
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
    return has_kernel(cmd->ctx, from) && has_kernel(cmd->ctx, to) &&
           (!packed || (make_room(cmd, from) && make_room(cmd, to)));
}

cl_mem gs_strided_packed(const struct gs_context *ctx, unsigned place)
{
    return ctx->paths->strided->packed[place];
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
    const struct gs_put_arg args[] = {
        {sizeof from->mem, &from->mem}, {sizeof from->at, &from->at}, {sizeof from->pitch, &from->pitch},
        {sizeof to->mem, &to->mem},     {sizeof to->at, &to->at},     {sizeof to->pitch, &to->pitch},
        {sizeof words, &words},         {sizeof all, &all},           {sizeof word, &word}};
    const struct gs_label before = gs_label_now();
    if (before.purpose == GS_FOR_APP)
        gs_label_purpose(GS_FOR_PACKING);
    const struct gs_put_launch launch = {gs_own_made(cmd->ctx, step->place, GS_OWN_ROWS), args,
                                         sizeof args / sizeof *args, all, LOCAL};
    const cl_int err = gs_put_kernel(step->queue, &launch, step->after->n, step->after->v, step->end);
    gs_label_set(before);
    return err;
}
