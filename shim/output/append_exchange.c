/* SPDX-License-Identifier: MIT */
/* By way of memory that the devices' kernels reach: each place leaves there what its part has appended, and what was
 * counted; those that take it know by that where it belongs. In pieces, as the list may be longer than the memory; how
 * many of them have something in them nobody knows here. */
#include "shim/output/append_ways.h"
#include "shim/output/exchange.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"

enum { COMMON_PIECE_BYTES = 64 * 1024 };

struct exchange {
    const struct gs_list_join *j;
    unsigned first; /* parts from it on leave something */
    uint64_t piece; /* bytes of a list at a time */
    struct gs_giver giver[GS_MAX_DEVICES];
    cl_mem bases[GS_MAX_DEVICES]; /* by taker: where the parts' begin */
};

static struct gs_list_meeting piece_of(const struct exchange *x, unsigned p, cl_mem mem, uint64_t from)
{
    const uint64_t rest = gs_list_most(&x->j->shape) - from;
    return (struct gs_list_meeting){
        mem, x->giver[p].place.at, x->giver[p].place.end, from, rest < x->piece ? rest : x->piece,
    };
}

static cl_int leave_elements(struct exchange *x, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    struct gs_exchange_buffer *place = &x->giver[p].place;
    struct gs_events before = {0};
    const struct gs_list_at own = j->own[p];
    struct gs_list_meeting m = piece_of(x, p, place->left, from);
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    if (!err)
        err = gs_events_share(&before, j->ran[p]);
    if (!err)
        err = gs_exchange_buffer_take_more(place, m.most + GS_LIST_HEAD_BYTES, &before);
    m.at = place->at;
    if (!err)
        err = gs_enqueue_list_leave(cmd->ctx, p, queue, &j->shape, p, &m, own.mem, own.at, j->counter[p].mem,
                                    j->counter[p].at, j->list->was, &before, &x->giver[p].left);
    if (!err && !p)
        err = gs_events_share(j->read, x->giver[0].left.v[0]);
    if (!err)
        gs_real()->clFlush(queue);
    gs_events_free(&before);
    return err;
}

static cl_int take_elements(struct exchange *x, unsigned q, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    const struct gs_list_meeting m = piece_of(x, p, x->giver[p].place.taken[q], from);
    struct gs_events wait = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, q, &err);
    if (!err)
        err = gs_events_share(&wait, j->ran[q]);
    if (!err)
        err = gs_events_share(&wait, x->giver[p].left.v[0]);
    if (!err)
        err = gs_enqueue_list_take(cmd->ctx, q, queue, &j->shape, p, &m, j->root->place[q].mem, x->bases[q], &wait,
                                   &x->giver[p].taken);
    if (!err && from + m.most == gs_list_most(&j->shape) && p + 1 == j->n)
        err = gs_events_share(j->done, x->giver[p].taken.v[x->giver[p].taken.n - 1]);
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
        const cl_int given = gs_giver_give_back(&x->giver[p], &j->l->cmd, 0);
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
        err = gs_exchange_buffer_open(cmd, p, need, &x->giver[p].place);
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
        gs_exchange_buffer_close(&x.giver[p].place);
    if (err || !gs_report_wants_times())
        return err;
    uint64_t times = 0;
    for (unsigned q = 0; q < j->n; q++)
        times += gs_list_takes(j, q);
    cl_command_queue queue = gs_copy_queue(j->l->cmd.q, 0, &err);
    return err ? err : gs_count_exchanged(queue, x.bases[0], sizeof(cl_uint), j->n, j->shape.unit * times, 0, j->done);
}
