/* SPDX-License-Identifier: MIT */
#include "shim/merge.h"

#include <stdlib.h>

#include "shim/merge_kernels.h"
#include "shim/report.h"
#include "shim/scratch.h"
#include "shim/transfer/meeting.h"
#include "shim/transfer/transfer.h"

/* What a place holds of the root, as a buffer: itself, or a copy of an image. */
struct linear {
    cl_mem mem;
    uint64_t begin;
};

/* An image to a buffer without gaps, on the image's own device; or back. */
static cl_int flatten(struct gs_command *cmd, struct gs_mem *root, unsigned place, cl_mem buffer, bool back,
                      const struct gs_events *wait, struct gs_events *done)
{
    static const size_t origin[3];
    size_t region[3];
    cl_int err;
    cl_event event;
    gs_image_bytes(root, region);
    cl_command_queue queue = gs_image_queue(cmd->q, place, &err);
    if (err)
        return err;
    if (back)
        err = gs_real()->clEnqueueCopyBufferToImage(queue, buffer, root->place[place].mem, 0, origin, region, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    else
        err = gs_real()->clEnqueueCopyImageToBuffer(queue, root->place[place].mem, buffer, origin, region, 0, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

static cl_int keep_on(struct gs_command *cmd, struct gs_merge *m, unsigned place, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    m->kept[place] = gs_scratch_take(cmd->ctx, place, m->bytes, &err);
    if (!err && m->root->is_image)
        return flatten(cmd, m->root, place, m->kept[place], false, ready, ready);
    cl_command_queue queue = err ? NULL : gs_copy_queue(cmd->q, place, &err);
    if (!err)
        err = gs_real()->clEnqueueCopyBuffer(queue, m->root->place[place].mem, m->kept[place], m->window.begin, 0,
                                             m->bytes, ready->n, ready->n ? ready->v : NULL, &event);
    return err ? err : gs_events_add(ready, event);
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     unsigned n_parts, struct gs_events *ready)
{
    size_t region[3];
    *m = (struct gs_merge){.root = root, .window = window, .bytes = window.end - window.begin};
    if (root->is_image)
        m->bytes = gs_image_bytes(root, region);
    m->by_blocks = gs_meeting_possible(cmd, m->bytes * (n_parts - 1));
    cl_int err = gs_merge_kernels_make(cmd->ctx);
    for (unsigned p = 1; p < n_parts && !err && m->by_blocks; p++)
        err = gs_merge_kernels_make_leaving(cmd->ctx, p);
    for (unsigned p = 0; p < (m->by_blocks ? n_parts : 1) && !err; p++)
        err = keep_on(cmd, m, p, &ready[p]);
    return err;
}

/* *l is what place p holds once `ran` has ended; `wait` gains what it has to be waited for. */
static cl_int make_linear(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, struct linear *l,
                          struct gs_events *wait)
{
    cl_int err = gs_events_share(wait, ran);
    *l = (struct linear){m->root->place[p].mem, m->window.begin};
    if (err || !m->root->is_image)
        return err;
    *l = (struct linear){gs_scratch_take(cmd->ctx, p, m->bytes, &err), 0};
    return err ? err : flatten(cmd, m->root, p, l->mem, false, wait, wait);
}

/* Whole: to the first device, and compared there. */
static cl_int merge_whole(struct gs_command *cmd, struct gs_merge *m, unsigned p, const struct linear *part,
                          const struct gs_events *wait, const struct linear *home, struct gs_events *done)
{
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, 0, &err);
    cl_mem scratch = err ? NULL : gs_scratch_take(cmd->ctx, 0, m->bytes, &err);
    if (!err)
        err = gs_transfer_buffer(cmd, part->mem, p, scratch, 0, part->begin, 0, m->bytes, wait, done);
    if (!err)
        err = gs_enqueue_merge(cmd->ctx, queue, home->mem, home->begin, scratch, m->kept[0], m->bytes, done, done);
    gs_report_moved(GS_PATH_MERGE, m->bytes);
    return err;
}

/* Counts what a part left, for the statistics. */
struct count {
    cl_uint sixteens;
    uint64_t more;
};

static void CL_CALLBACK report_count(cl_event event, cl_int status, void *data)
{
    struct count *c = data;
    if (status == CL_COMPLETE)
        gs_report_moved(GS_PATH_MERGE, (uint64_t)c->sixteens * 16 + c->more);
    gs_real()->clReleaseEvent(event);
    free(c);
}

/* Where somebody looks at the statistics: a counter on the part's place. */
static cl_mem make_counter(struct gs_command *cmd, unsigned p, cl_command_queue queue, const struct gs_events *wait,
                           cl_int *err)
{
    const cl_uint zero = 0;
    if (!gs_report_wants_times())
        return NULL;
    cl_mem counter = gs_scratch_take(cmd->ctx, p, sizeof zero, err);
    if (!*err)
        *err = gs_real()->clEnqueueFillBuffer(queue, counter, &zero, sizeof zero, 0, sizeof zero, wait->n,
                                              wait->n ? wait->v : NULL, NULL);
    return counter;
}

static cl_int read_counter(cl_command_queue queue, cl_mem counter, uint64_t more, struct gs_events *done)
{
    cl_event event;
    struct count *c = malloc(sizeof *c);
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    *c = (struct count){0, more};
    cl_int err =
        gs_real()->clEnqueueReadBuffer(queue, counter, CL_FALSE, 0, sizeof c->sixteens, &c->sixteens, 0, NULL, &event);
    if (err) {
        free(c);
        return err;
    }
    err = gs_events_share(done, event);
    /* The callback has the event and the memory from here on. */
    if (gs_real()->clSetEventCallback(event, CL_COMPLETE, report_count, c) == CL_SUCCESS)
        return err;
    gs_real()->clWaitForEvents(1, &event);
    report_count(event, CL_COMPLETE, c);
    return err;
}

/* One piece of what is merged by blocks: left by the part's place, picked up by the first. */
static cl_int merge_piece(struct gs_command *cmd, struct gs_merge *m, struct gs_meeting *place, unsigned p,
                          struct linear part, const struct gs_events *wait, struct linear home, uint64_t at, uint64_t n,
                          cl_mem counter, struct gs_events *done)
{
    struct gs_events before = {0}, left = {0}, picked = {0};
    cl_int err, err_home;
    cl_command_queue there = gs_copy_queue(cmd->q, p, &err), here = gs_copy_queue(cmd->q, 0, &err_home);
    err = err ? err : err_home;
    for (cl_uint i = 0; i < wait->n && !err; i++)
        err = gs_events_share(&before, wait->v[i]);
    if (!err)
        err = gs_meeting_take(place, &before);
    if (!err)
        err = gs_enqueue_leave(cmd->ctx, p, there, place->left, place->at, part.mem, part.begin + at, m->kept[p], at, n,
                               counter, &before, &left);
    for (cl_uint i = 0; i < done->n && !err; i++)
        err = gs_events_share(&left, done->v[i]);
    if (!err) {
        gs_real()->clFlush(there);
        err = gs_enqueue_pick_up(cmd->ctx, here, home.mem, home.begin + at, place->taken, place->at, m->kept[0], at, n,
                                 &left, &picked);
    }
    if (left.n)
        gs_meeting_give(place, err ? left.v[0] : picked.v[0]);
    if (!err && at + n == m->bytes)
        err = gs_events_share(done, picked.v[0]);
    gs_events_free(&before);
    gs_events_free(&left);
    gs_events_free(&picked);
    return err;
}

static cl_int merge_by_blocks(struct gs_command *cmd, struct gs_merge *m, unsigned p, const struct linear *part,
                              const struct gs_events *wait, const struct linear *home, struct gs_events *done)
{
    /* In pieces, so that what one of them left is picked up beside the comparison of the next. */
    const uint64_t most = GS_MEETING_BYTES / (GS_BLOCK_BYTES + sizeof(cl_uint)) * GS_BLOCK_BYTES,
                   quarter = m->bytes / 4;
    uint64_t piece = quarter < most / 8 ? most / 8 : quarter > most ? most : quarter;
    piece = piece / GS_BLOCK_BYTES * GS_BLOCK_BYTES;
    struct gs_meeting place;
    cl_int err;
    cl_command_queue there = gs_copy_queue(cmd->q, p, &err);
    cl_mem counter = err ? NULL : make_counter(cmd, p, there, wait, &err);
    if (!err)
        err = gs_meeting_open(cmd, p, 0, gs_meeting_need(m->bytes < piece ? m->bytes : piece), &place);
    if (err)
        return err;
    for (uint64_t at = 0; at < m->bytes && !err; at += piece) {
        const uint64_t n = m->bytes - at < piece ? m->bytes - at : piece;
        err = merge_piece(cmd, m, &place, p, *part, wait, *home, at, n, counter, done);
    }
    gs_meeting_close(&place);
    if (!err && counter)
        err = read_counter(there, counter, gs_meeting_words(m->bytes), done);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct gs_events at_home = {0};
    struct linear home;
    cl_int err = make_linear(cmd, m, 0, ran[0], &home, &at_home);
    for (unsigned p = 1; p < n_parts && !err; p++) {
        struct gs_events wait = {0};
        struct linear part;
        err = make_linear(cmd, m, p, ran[p], &part, &wait);
        if (!err)
            err = m->by_blocks ? merge_by_blocks(cmd, m, p, &part, &wait, &home, &at_home)
                               : merge_whole(cmd, m, p, &part, &wait, &home, &at_home);
        gs_events_free(&wait);
    }
    if (!err && m->root->is_image)
        err = flatten(cmd, m->root, 0, home.mem, true, &at_home, &at_home);
    for (cl_uint i = 0; i < at_home.n && !err; i++)
        err = gs_events_share(done, at_home.v[i]);
    gs_events_free(&at_home);
    return err;
}
