/* SPDX-License-Identifier: MIT */
/* By way of memory that the devices' kernels reach: each place leaves there what its part has appended, and what was
 * counted; those that take it know by that where it belongs. In pieces, as the list may be longer than the memory; how
 * many of them have something in them nobody knows here. */
#include <stdlib.h>

#include "shim/output/append_ways.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"
#include "shim/memory/exchange_buffer.h"

enum { COMMON_PIECE_BYTES = 64 * 1024 };

struct exchange {
    const struct gs_list_join *j;
    unsigned first;                                  /* parts from it on leave something */
    uint64_t piece;                                  /* bytes of a list at a time */
    struct gs_exchange_buffer place[GS_MAX_DEVICES]; /* by giver */
    struct gs_events left[GS_MAX_DEVICES];           /* likewise: of this piece */
    struct gs_events taken[GS_MAX_DEVICES];          /* likewise */
    cl_mem bases[GS_MAX_DEVICES];                    /* by taker: where the parts' begin */
    cl_event last[GS_MAX_DEVICES];                   /* likewise: the last that it did; owned by `taken` */
};

/* What was appended, for the statistics. */
struct count {
    uint32_t n, unit, times;
    cl_uint base[GS_MAX_DEVICES + 1];
};

static void CL_CALLBACK report_count(cl_event event, cl_int status, void *data)
{
    struct count *c = data;
    if (status == CL_COMPLETE)
        gs_report_moved(GS_PATH_MERGE, (uint64_t)(c->base[c->n] - c->base[1]) * c->unit * c->times);
    gs_real()->clReleaseEvent(event);
    free(c);
}

/* Where somebody looks at the statistics. */
static cl_int read_bases(const struct exchange *x, cl_command_queue queue)
{
    const struct gs_list_join *j = x->j;
    cl_event event;
    struct count *c = gs_report_wants_times() ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return CL_SUCCESS;
    c->n = j->n;
    c->unit = j->shape.unit;
    for (unsigned q = 0; q < j->n; q++)
        c->times += gs_list_takes(j, q);
    const struct gs_op read = {.kind = GS_OP_READ,
                               .src = x->bases[0],
                               .from = {sizeof(cl_uint)},
                               .region = {j->n * sizeof(cl_uint), 1, 1},
                               .ptr = &c->base[1]};
    cl_int err = gs_put(queue, &read, GS_VIA_HOST, 0, NULL, &event);
    if (err) {
        free(c);
        return err;
    }
    err = gs_events_share(j->done, event);
    /* The callback has the event and the memory from here on. */
    if (gs_real()->clSetEventCallback(event, CL_COMPLETE, report_count, c) == CL_SUCCESS)
        return err;
    gs_real()->clWaitForEvents(1, &event);
    report_count(event, CL_COMPLETE, c);
    return err;
}

static struct gs_list_meeting piece_of(const struct exchange *x, unsigned p, cl_mem mem, uint64_t from)
{
    const uint64_t rest = gs_list_most(&x->j->shape) - from;
    return (struct gs_list_meeting){
        mem, x->place[p].at, x->place[p].end, from, rest < x->piece ? rest : x->piece,
    };
}

static cl_int leave_elements(struct exchange *x, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    struct gs_exchange_buffer *place = &x->place[p];
    struct gs_events before = {0};
    const struct gs_list_at own = j->own[p];
    struct gs_list_meeting m = piece_of(x, p, place->left, from);
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    if (!err)
        err = gs_events_share(&before, j->ran[p]);
    if (!err)
        err = gs_exchange_buffer_take(place, m.most + GS_LIST_HEAD_BYTES, &before);
    m.at = place->at;
    if (!err)
        err = gs_enqueue_list_leave(cmd->ctx, p, queue, &j->shape, p, &m, own.mem, own.at, j->counter[p].mem,
                                    j->counter[p].at, j->list->was, &before, &x->left[p]);
    if (!err && !p)
        err = gs_events_share(j->read, x->left[0].v[0]);
    if (!err)
        gs_real()->clFlush(queue);
    gs_events_free(&before);
    return err;
}

static cl_int take_elements(struct exchange *x, unsigned q, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    const struct gs_list_meeting m = piece_of(x, p, x->place[p].taken[q], from);
    struct gs_events wait = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, q, &err);
    if (!err)
        err = gs_events_share(&wait, j->ran[q]);
    if (!err)
        err = gs_events_share(&wait, x->left[p].v[0]);
    if (!err)
        err = gs_enqueue_list_take(cmd->ctx, q, queue, &j->shape, p, &m, j->root->place[q].mem, x->bases[q], &wait,
                                   &x->taken[p]);
    if (!err && from + m.most == gs_list_most(&j->shape) && p + 1 == j->n)
        err = gs_events_share(j->done, x->taken[p].v[x->taken[p].n - 1]);
    gs_events_free(&wait);
    return err;
}

/* Where the others' begin at home: behind what the first part has counted. */
static cl_int begin_home(const struct exchange *x)
{
    const struct gs_list_join *j = x->j;
    const uint64_t bytes = sizeof(cl_uint);
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(j->l->cmd.q, 0, &err);
    if (!err)
        err = gs_put_copy(queue, GS_VIA_MEMORY, j->counter[0].mem, x->bases[0], j->counter[0].at, bytes, bytes, 1,
                          &j->ran[0], &event);
    return err ? err : gs_events_add(j->read, event);
}

/* The giver's memory is in use until all have taken. */
static cl_int give_back(struct exchange *x, unsigned p)
{
    cl_event all = NULL;
    cl_int err = CL_SUCCESS;
    if (x->taken[p].n > 1) {
        cl_command_queue queue = gs_copy_queue(x->j->l->cmd.q, 0, &err);
        if (!err)
            err = gs_real()->clEnqueueMarkerWithWaitList(queue, x->taken[p].n, x->taken[p].v, &all);
    }
    if (all || x->taken[p].n || x->left[p].n)
        gs_exchange_buffer_give(&x->place[p], all ? all : x->taken[p].n ? x->taken[p].v[0] : x->left[p].v[0]);
    if (all)
        gs_real()->clReleaseEvent(all);
    gs_events_free(&x->left[p]);
    gs_events_free(&x->taken[p]);
    return err;
}

static cl_int exchange_piece(struct exchange *x, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    cl_int err = CL_SUCCESS;
    for (unsigned p = x->first; p < j->n && !err; p++)
        err = leave_elements(x, p, from);
    for (unsigned q = 0; q < j->n && !err; q++)
        for (unsigned p = q ? 0 : 1; p < j->n && gs_list_takes(j, q) && !err; p++)
            err = take_elements(x, q, p, from);
    for (unsigned p = x->first; p < j->n; p++) {
        const cl_int given = give_back(x, p);
        err = err ? err : given;
    }
    return err;
}

static uint64_t piece_bytes(const struct gs_launching *l)
{
    return l->cmd.ctx->shared_memory ? COMMON_PIECE_BYTES : GS_EXCHANGE_BUFFER_MOST_BYTES - GS_LIST_HEAD_BYTES;
}

/* Of a meeting place. */
static uint64_t place_need(const struct gs_launching *l, uint64_t most)
{
    const uint64_t piece = piece_bytes(l);
    return (most < piece ? most : piece) + GS_LIST_HEAD_BYTES;
}

static uint64_t bases_bytes(unsigned n)
{
    return (n + 1) * sizeof(cl_uint);
}

cl_int gs_list_meeting_reserve(struct gs_launching *l, const struct gs_list *list, uint64_t most, unsigned n,
                               struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n && !err; p++) {
        if (p || list->spread)
            err = gs_exchange_buffer_reserve(&l->cmd, p, place_need(l, most), n, ready);
        if (!err && (!p || list->takes[p]))
            err = gs_scratch_reserve(&l->cmd, p, bases_bytes(n), n, ready);
    }
    return err;
}

static cl_int open_places(struct exchange *x)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    cl_int err = CL_SUCCESS;
    const uint64_t need = place_need(j->l, gs_list_most(&j->shape));
    for (unsigned p = x->first; p < j->n && !err; p++)
        err = gs_exchange_buffer_open(cmd, p, need, &x->place[p]);
    for (unsigned q = 0; q < j->n && !err; q++)
        if (gs_list_takes(j, q))
            x->bases[q] = gs_scratch_claim(cmd->ctx, q, bases_bytes(j->n), &err);
    return err ? err : begin_home(x);
}

cl_int gs_list_by_meeting(const struct gs_list_join *j)
{
    struct exchange x = {.j = j, .first = j->list->spread ? 0 : 1, .piece = piece_bytes(j->l)};
    cl_int err = open_places(&x);
    for (uint64_t from = 0; from < gs_list_most(&j->shape) && !err; from += x.piece)
        err = exchange_piece(&x, from);
    for (unsigned p = x.first; p < j->n; p++)
        gs_exchange_buffer_close(&x.place[p]);
    cl_command_queue queue = err ? NULL : gs_copy_queue(j->l->cmd.q, 0, &err);
    return err ? err : read_bases(&x, queue);
}
