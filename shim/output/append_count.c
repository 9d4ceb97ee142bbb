/* SPDX-License-Identifier: MIT */
/* The application's commands wait for an event that the thread completes; its calls never do. */
#include "shim/output/append_count.h"

#include <stdlib.h>

#include "shim/memory/replica.h"
#include "shim/output/deferred_send.h"
#include "shim/schedule/put.h"

/* What the thread needs of a place. All handles are retained. */
struct side {
    cl_mem own, list; /* what its part has appended to; the list of all there */
    uint64_t own_at;
    cl_uint counted;
    bool takes;
};

struct gs_list_job {
    struct gs_deferred_send d; /* first */
    struct gs_list_shape shape;
    cl_uint was;
    struct side side[GS_MAX_DEVICES];
};

static void free_job(struct gs_deferred_send *d)
{
    struct gs_list_job *j = (struct gs_list_job *)d;
    for (unsigned p = 0; p < d->n; p++) {
        gs_deferred_send_let(j->side[p].own);
        gs_deferred_send_let(j->side[p].list);
    }
}

/* ---- in the thread ---- */

static uint64_t up_to(int64_t from, int64_t to, uint64_t step)
{
    return from < to ? ((uint64_t)(to - from) + step - 1) / step : 0;
}

/* What the counters say of a part: its elements from `skipped` to `elements`, what the limit and the list's size let
 * through, stand in the list of all, as if its first stood at `first`. */
struct piece {
    int64_t first;
    uint64_t skipped, elements;
};

static struct piece let_through(const struct gs_list_shape *s, int64_t base, int64_t limited_from, uint32_t counted)
{
    const int64_t most = (int64_t)(s->bytes / s->unit);
    uint64_t taken = counted / s->step, room = up_to(limited_from, (int64_t)s->limit, s->step);
    taken = taken < room ? taken : room;
    room = base < most ? (uint64_t)(most - base) / s->step : 0;
    taken = taken < room ? taken : room;
    const uint64_t skipped = up_to(base, -(int64_t)s->lead, s->step);
    return (struct piece){base, (skipped < taken ? skipped : taken) * s->step, taken * s->step};
}

/* The first part has counted so far, from `was` on. */
static struct piece first_piece(const struct gs_list_shape *s, uint32_t was, uint32_t counted)
{
    if ((int32_t)counted < (int32_t)was)
        return (struct piece){-(int64_t)s->lead, 0, s->bytes / s->unit + s->lead};
    return let_through(s, (int32_t)was, (int32_t)was, counted - was);
}

/* Another has, from 0 on, and its elements begin at `base`. */
static struct piece next_piece(const struct gs_list_shape *s, uint32_t base, uint32_t counted)
{
    const int64_t from = (int32_t)base;
    return let_through(s, from, from > 0 ? from : 0, counted);
}

/* What part p has appended, to place q. */
static cl_int bring(struct gs_list_job *j, unsigned p, unsigned q, struct piece piece)
{
    static const struct gs_events none;
    const struct side *from = &j->side[p];
    const uint64_t skipped = piece.skipped * j->shape.unit;
    const uint64_t first = j->shape.at + (uint64_t)piece.first * j->shape.unit + skipped;
    const uint64_t bytes = piece.elements * j->shape.unit - skipped;
    const struct gs_op copy =
        gs_op_copy(from->own, j->side[q].list, p ? from->own_at + skipped : first, first, (size_t)bytes);
    cl_event event;
    if (!bytes)
        return CL_SUCCESS;
    if (p != q)
        return gs_deferred_send_copy(&j->d, p, q, &copy, &none, &j->d.done[q]);
    const cl_int err = gs_put(j->d.queue[q], &copy, GS_VIA_MEMORY, 0, NULL, &event);
    return err ? err : gs_events_add(&j->d.done[q], event);
}

/* All parts have ended, and what they have counted is known. */
static cl_int send(struct gs_deferred_send *d)
{
    struct gs_list_job *j = (struct gs_list_job *)d;
    struct piece piece = first_piece(&j->shape, j->was, j->side[0].counted);
    cl_uint base = j->side[0].counted;
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < d->n && !err; p++) {
        if (p) {
            piece = next_piece(&j->shape, base, j->side[p].counted);
            base += j->side[p].counted;
        }
        for (unsigned q = 0; q < d->n && !err; q++)
            if (j->side[q].takes && (p || q))
                err = bring(j, p, q, piece);
    }
    return err;
}

/* ---- in the application's call ---- */

static cl_int make_side(struct gs_list_job *job, const struct gs_list_join *j, unsigned p)
{
    struct side *s = &job->side[p];
    cl_int err = CL_SUCCESS;
    s->takes = gs_list_takes(j, p);
    s->own_at = j->own[p].at;
    s->own = gs_deferred_send_keep(j->own[p].mem, &err);
    s->list = gs_deferred_send_keep(gs_replica_at(j->root, p), &err);
    return err;
}

struct gs_list_job *gs_list_job_make(const struct gs_list_join *j, cl_int *err)
{
    struct gs_list_job *job = calloc(1, sizeof *job);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!job)
        return NULL;
    *job = (struct gs_list_job){.d = {.send = send, .free = free_job}, .shape = j->shape};
    *err = gs_deferred_send_make(&job->d, &j->l->cmd, j->n);
    for (unsigned p = 0; p < j->n && !*err; p++)
        *err = make_side(job, j, p);
    if (!*err)
        return job;
    gs_list_job_free(job);
    return NULL;
}

void gs_list_job_free(struct gs_list_job *job)
{
    gs_deferred_send_free(&job->d);
}

/* Lets the host hear a word of place p's memory once part p has run. */
static cl_int read_word(const struct gs_list_join *j, unsigned p, cl_mem mem, uint64_t at, cl_uint *word,
                        struct gs_events *known)
{
    const struct gs_op read = {
        .kind = GS_OP_READ, .src = mem, .from = {(size_t)at}, .region = {sizeof *word, 1, 1}, .ptr = word};
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_queue_behind(j->l->cmd.q, GS_COPY_QUEUE, p, &err);
    if (!err)
        err = gs_put(queue, &read, GS_VIA_HOST, 1, &j->ran[p], &event);
    return err ? err : gs_events_add(known, event);
}

cl_int gs_list_job_begin(const struct gs_list_join *j, struct gs_list_job *job)
{
    struct gs_command *cmd = &j->l->cmd;
    struct gs_events known = {0};
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < j->n && !err; p++)
        err = read_word(j, p, j->counter[p].mem, j->counter[p].at, &job->side[p].counted, &known);
    if (!err)
        err = gs_events_share(j->read, known.v[0]);
    if (!err && j->list->spread)
        err = read_word(j, 0, j->list->was, 0, &job->was, &known);
    for (unsigned q = 0; q < j->n && !err; q++)
        if (gs_list_takes(j, q))
            err = gs_deferred_send_promise(&job->d, cmd, q, j->done);
    job->d.dropped = err != CL_SUCCESS;
    gs_deferred_send_begin(&job->d, cmd, &known);
    return err;
}
