/* SPDX-License-Identifier: MIT */
/* By what the host has heard of the counters: a thread of ours sends what each part has appended to where it belongs.
 * The application's commands wait for an event that the thread completes; its calls never do. */
#include <stdlib.h>

#include "common/log.h"
#include "shim/output/append_ways.h"
#include "shim/output/deferred_send.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"

/* What the thread needs of a place. All handles are retained. */
struct side {
    cl_mem own, list; /* what its part has appended to; the list of all there */
    uint64_t own_at;
    cl_command_queue queue; /* of the thread's own */
    cl_uint counted;
    bool takes;
    struct gs_events done; /* its commands, once they are enqueued */
};

struct job {
    struct gs_continuation continuation; /* first */
    struct gs_context *ctx;              /* held */
    struct gs_putting put;               /* for whom; kept */
    struct gs_pinned *ring;              /* null: the driver's own copies */
    struct gs_list_shape shape;
    cl_uint was;
    unsigned n;
    struct side side[GS_MAX_DEVICES];
    bool dropped; /* the lists are put together in another way */
};

static void free_job(struct job *j)
{
    for (unsigned p = 0; p < j->n; p++) {
        struct side *s = &j->side[p];
        gs_events_free(&s->done);
        if (s->own)
            gs_real()->clReleaseMemObject(s->own);
        if (s->list)
            gs_real()->clReleaseMemObject(s->list);
        if (s->queue)
            gs_real()->clReleaseCommandQueue(s->queue);
    }
    gs_continuation_free(&j->continuation);
    gs_put_let_go(&j->put);
    gs_drop(&j->ctx->o);
    free(j);
}

static void free_undone(struct gs_continuation *continuation)
{
    free_job((struct job *)continuation);
}

/* ---- in the thread ---- */

/* What part p has appended, to place q. */
static cl_int bring(struct job *j, unsigned p, unsigned q, struct gs_list_piece piece)
{
    static const struct gs_events none;
    const struct side *from = &j->side[p];
    struct side *to = &j->side[q];
    const uint64_t skipped = piece.skipped * j->shape.unit;
    const uint64_t first = j->shape.at + (uint64_t)piece.first * j->shape.unit + skipped;
    const struct gs_buffer_copy c = {.src = from->own,
                                     .dst = to->list,
                                     .src_offset = p ? from->own_at + skipped : first,
                                     .dst_offset = first,
                                     .bytes = piece.elements * j->shape.unit - skipped};
    cl_event event;
    if (!c.bytes)
        return CL_SUCCESS;
    if (p != q)
        return gs_deferred_send_copy(j->ring, from->queue, to->queue, &c, &none, &to->done);
    const cl_int err =
        gs_put_copy(to->queue, GS_VIA_MEMORY, c.src, c.dst, c.src_offset, c.dst_offset, c.bytes, 0, NULL, &event);
    return err ? err : gs_events_add(&to->done, event);
}

static cl_int bring_all(struct job *j)
{
    struct gs_list_piece piece = gs_list_first_piece(&j->shape, j->was, j->side[0].counted);
    cl_uint base = j->side[0].counted;
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < j->n && !err; p++) {
        if (p) {
            piece = gs_list_next_piece(&j->shape, base, j->side[p].counted);
            base += j->side[p].counted;
        }
        for (unsigned q = 0; q < j->n && !err; q++)
            if (j->side[q].takes && (p || q))
                err = bring(j, p, q, piece);
    }
    return err;
}

/* What is under way works on the places' memory: before an error is acted on, its end. */
static cl_int send_all(struct job *j, struct gs_events *all)
{
    cl_int err = bring_all(j);
    for (unsigned q = 0; q < j->n; q++) {
        struct side *s = &j->side[q];
        if (s->queue)
            gs_real()->clFlush(s->queue);
        if (!err)
            err = gs_events_share_all(all, &s->done);
    }
    for (unsigned q = 0; q < j->n && err; q++) {
        gs_events_wait(&j->side[q].done);
        gs_events_free(&j->side[q].done);
    }
    if (err) {
        gs_debug("what was appended could not be sent (error %d)", err);
        gs_events_free(all);
    }
    return err;
}

/* All parts have ended, and what they have counted is known. If a command is refused all is done over by the driver's
 * own copies. */
static void send(struct gs_continuation *continuation)
{
    struct job *j = (struct job *)continuation;
    struct gs_events all = {0};
    const struct gs_label before = gs_label_purpose(GS_FOR_MERGE);
    const struct gs_putting *put_before = gs_put_for(gs_put_kept(&j->put));
    cl_int err = j->dropped ? CL_SUCCESS : atomic_load(&continuation->status);
    if (!j->dropped && !err) {
        err = send_all(j, &all);
        if (err) {
            j->ring = NULL;
            err = send_all(j, &all);
        }
    }
    gs_put_for(put_before);
    gs_label_back(before);
    if (err)
        gs_continuation_fail(continuation, err);
    gs_continuation_await(continuation, &all);
}

/* ---- in the application's call ---- */

static cl_int make_side(struct job *job, const struct gs_list_join *j, unsigned p)
{
    struct side *s = &job->side[p];
    const struct gs_list_at own = j->own[p];
    cl_int err = CL_SUCCESS;
    s->takes = gs_list_takes(j, p);
    s->own_at = own.at;
    s->own = gs_deferred_send_keep(own.mem, &err);
    s->list = gs_deferred_send_keep(j->root->place[p].mem, &err);
    s->queue = gs_deferred_send_queue(&j->l->cmd, p, &err);
    return err;
}

static struct job *make_job(const struct gs_list_join *j)
{
    struct gs_command *cmd = &j->l->cmd;
    struct job *job = calloc(1, sizeof *job);
    cl_int err = CL_SUCCESS;
    if (!job)
        return NULL;
    *job = (struct job){.continuation = {.act = send, .free = free_undone},
                        .ctx = cmd->ctx,
                        .ring = gs_deferred_send_ring(cmd->ctx),
                        .shape = j->shape,
                        .n = j->n};
    gs_hold(&job->ctx->o);
    gs_put_keep(&job->put);
    for (unsigned p = 0; p < j->n && !err; p++)
        err = make_side(job, j, p);
    if (!err)
        err = gs_continuation_make(&job->continuation, job->ctx);
    if (!err)
        return job;
    gs_debug("lists aren't put behind each other by their counts (error %d)", err);
    free_job(job);
    return NULL;
}

/* Lets the host hear a word of place p's memory once part p has run. */
static cl_int read_word(const struct gs_list_join *j, unsigned p, cl_mem mem, uint64_t at, cl_uint *word,
                        struct gs_events *known)
{
    const struct gs_op read = {
        .kind = GS_OP_READ, .src = mem, .from = {(size_t)at}, .region = {sizeof *word, 1, 1}, .ptr = word};
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_copy_queue(j->l->cmd.q, p, &err);
    if (!err)
        err = gs_put(queue, &read, GS_VIA_HOST, 1, &j->ran[p], &event);
    return err ? err : gs_events_add(known, event);
}

bool gs_list_by_count(const struct gs_list_join *j)
{
    struct gs_command *cmd = &j->l->cmd;
    struct gs_events known = {0};
    struct job *job = make_job(j);
    if (!job)
        return false;
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < j->n && !err; p++)
        err = read_word(j, p, j->counter[p].mem, j->counter[p].at, &job->side[p].counted, &known);
    if (!err)
        err = gs_events_share(j->read, known.v[0]);
    if (!err && j->list->spread)
        err = read_word(j, 0, j->list->was, 0, &job->was, &known);
    for (unsigned q = 0; q < j->n && !err; q++)
        if (gs_list_takes(j, q))
            err = gs_deferred_send_promise(cmd, &job->continuation, q, j->done);
    job->dropped = err != CL_SUCCESS;
    gs_deferred_send_begin(cmd, &job->continuation, j->n, &known);
    return !err;
}
