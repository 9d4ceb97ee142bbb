/* SPDX-License-Identifier: MIT */
#include "shim/output/blocks.h"

#include "shim/output/exchange.h"
#include "shim/output/merge_kernels.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"

/* A merge while it is being enqueued. Places from `first` on leave blocks; those below `takers` pick them up. */
struct exchange {
    struct gs_command *cmd;
    struct gs_merge *m;
    unsigned n, first, takers;
    struct gs_holding *on;
    struct gs_giver giver[GS_MAX_DEVICES];
    cl_mem counter[GS_MAX_DEVICES]; /* by giver; null: nobody looks at the statistics */
};

/* Where somebody looks at the statistics: a counter on the part's place. */
static cl_mem make_counter(struct gs_command *cmd, unsigned p, cl_command_queue queue, const struct gs_events *wait,
                           cl_int *err)
{
    cl_int none = CL_SUCCESS;
    cl_mem counter = gs_report_wants_times() ? gs_scratch_take(cmd->ctx, p, sizeof(cl_uint), &none) : NULL;
    if (!counter)
        return NULL;
    const struct gs_op clear = {/* to zero */
                                .kind = GS_OP_FILL,
                                .dst = counter,
                                .region = {sizeof(cl_uint), 1, 1},
                                .pattern_bytes = sizeof(cl_uint)};
    *err = gs_put(queue, &clear, GS_VIA_MEMORY, wait->n, wait->v, NULL);
    return counter;
}

static cl_int leave_blocks(struct exchange *x, unsigned p, uint64_t at, uint64_t n)
{
    struct gs_exchange_buffer *place = &x->giver[p].place;
    struct gs_events before = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(x->cmd->q, p, &err);
    if (!err)
        err = gs_events_share_all(&before, &x->on[p].since);
    if (!err)
        err = gs_exchange_buffer_take(place, GS_EXCHANGE_BUFFER_BYTES, &before);
    const struct gs_holding *on = &x->on[p];
    const uint64_t begin = on->begin + at, words_at = place->at + gs_blocks_of(n) * GS_BLOCK_BYTES;
    const cl_int counts = x->counter[p] != NULL;
    cl_mem count = counts ? x->counter[p] : place->left; /* a buffer all the same */
    if (!err)
        err = gs_run_output_kernel(
            queue, gs_output_kernel(x->cmd->ctx, p, GS_OUTPUT_LEAVE), gs_blocks_of(n) * GS_BLOCK_ITEMS,
            GS_ARGS(GS_ARG(place->left), GS_ARG(place->at), GS_ARG(words_at), GS_ARG(on->mem), GS_ARG(begin),
                    GS_ARG(x->m->kept[p]), GS_ARG(at), GS_ARG(n), GS_ARG(count), GS_ARG(counts)),
            &before, &x->giver[p].left);
    if (!err)
        gs_real()->clFlush(queue);
    gs_events_free(&before);
    return err;
}

/* Place q picks up what p left. Where several have changed a byte, which no program may count on, the last part's value
 * is taken on every place: what a later part left is put over what is there, what an earlier one left only where
 * nothing has changed yet. */
static cl_int pick_up(struct exchange *x, unsigned q, unsigned p, uint64_t at, uint64_t n)
{
    const struct gs_exchange_buffer *place = &x->giver[p].place;
    const uint64_t begin = x->on[q].begin + at, words_at = place->at + gs_blocks_of(n) * GS_BLOCK_BYTES;
    const cl_int yields = p < q;
    struct gs_events wait = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(x->cmd->q, q, &err);
    if (!err)
        err = gs_events_share_all(&wait, &x->on[q].since);
    if (!err)
        err = gs_events_share_all(&wait, &x->giver[p].left);
    if (!err)
        err = gs_run_output_kernel(
            queue, gs_output_kernel(x->cmd->ctx, q, GS_OUTPUT_PICK_UP), gs_blocks_of(n) * GS_BLOCK_ITEMS,
            GS_ARGS(GS_ARG(x->on[q].mem), GS_ARG(begin), GS_ARG(place->taken[q]), GS_ARG(place->at), GS_ARG(words_at),
                    GS_ARG(x->m->kept[q]), GS_ARG(at), GS_ARG(n), GS_ARG(yields)),
            &wait, &x->giver[p].taken);
    gs_events_free(&wait);
    return err;
}

/* Everything that place q picks up of a piece; the last piece's is what it then has to be waited for. */
static cl_int pick_up_all(struct exchange *x, unsigned q, uint64_t at, uint64_t n)
{
    cl_int err = CL_SUCCESS;
    unsigned last = x->n;
    for (unsigned p = q; p-- > x->first && !err; last = p)
        err = pick_up(x, q, p, at, n);
    for (unsigned p = q + 1; p < x->n && !err; last = p++)
        err = pick_up(x, q, p, at, n);
    if (!err && last < x->n && at + n == x->m->bytes)
        err = gs_events_share(&x->on[q].since, x->giver[last].taken.v[x->giver[last].taken.n - 1]);
    return err;
}

static cl_int merge_piece(struct exchange *x, uint64_t at, uint64_t n)
{
    cl_int err = CL_SUCCESS;
    /* A place leaves what it wrote before it picks up what others did: both stand in one queue, in this order. */
    for (unsigned p = x->first; p < x->n && !err; p++)
        err = leave_blocks(x, p, at, n);
    for (unsigned q = 0; q < x->takers && !err; q++)
        err = pick_up_all(x, q, at, n);
    for (unsigned p = x->first; p < x->n; p++) {
        const cl_int given = gs_giver_give_back(&x->giver[p], x->cmd, x->takers - 1);
        err = err ? err : given;
    }
    return err;
}

/* In pieces, so that what one of them left is picked up beside the comparison of the next. */
static uint64_t piece_of(const struct gs_merge *m)
{
    const uint64_t most = GS_EXCHANGE_BUFFER_BYTES / (GS_BLOCK_BYTES + sizeof(cl_uint)) * GS_BLOCK_BYTES,
                   quarter = m->bytes / 4;
    const uint64_t piece = quarter < most / 8 ? most / 8 : quarter > most ? most : quarter;
    return piece / GS_BLOCK_BYTES * GS_BLOCK_BYTES;
}

static uint64_t place_need(const struct gs_merge *m)
{
    const uint64_t piece = piece_of(m);
    return gs_blocks_of(m->bytes < piece ? m->bytes : piece) * (GS_BLOCK_BYTES + sizeof(cl_uint));
}

cl_int gs_blocks_reserve(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = m->everywhere ? 0 : 1; p < n_parts && !err; p++)
        err = gs_exchange_buffer_reserve(cmd, p, place_need(m), n_parts, ready);
    return err;
}

static cl_int open_places(struct exchange *x)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = x->first; p < x->n && !err; p++) {
        cl_command_queue queue = gs_copy_queue(x->cmd->q, p, &err);
        if (!err)
            x->counter[p] = make_counter(x->cmd, p, queue, &x->on[p].since, &err);
        if (!err)
            err = gs_exchange_buffer_open(x->cmd, p, place_need(x->m), &x->giver[p].place);
    }
    return err;
}

static cl_int read_counters(struct exchange *x)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = x->first; p < x->n && !err; p++) {
        /* What is left is picked up by each of the others. */
        const unsigned times = p < x->takers ? x->takers - 1 : x->takers;
        cl_command_queue queue = gs_copy_queue(x->cmd->q, p, &err);
        if (!err && x->counter[p])
            err = gs_count_exchanged(queue, x->counter[p], 0, 1, 16 * (uint64_t)times,
                                     times * gs_blocks_of(x->m->bytes) * sizeof(cl_uint), &x->on[p].since);
    }
    return err;
}

cl_int gs_blocks_merge(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, struct gs_holding *on)
{
    const uint64_t piece = piece_of(m);
    struct exchange x = {.cmd = cmd,
                         .m = m,
                         .n = n_parts,
                         .first = m->everywhere ? 0 : 1,
                         .takers = m->everywhere ? n_parts : 1,
                         .on = on};
    cl_int err = open_places(&x);
    for (uint64_t at = 0; at < m->bytes && !err; at += piece)
        err = merge_piece(&x, at, m->bytes - at < piece ? m->bytes - at : piece);
    for (unsigned p = x.first; p < n_parts; p++)
        gs_exchange_buffer_close(&x.giver[p].place);
    return err ? err : read_counters(&x);
}
