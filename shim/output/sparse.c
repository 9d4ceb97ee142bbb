/* SPDX-License-Identifier: MIT */
#include "shim/output/sparse.h"

#include <stdlib.h>

#include "common/log.h"
#include "shim/output/deferred_send.h"
#include "shim/output/merge_kernels.h"
#include "shim/schedule/put.h"
#include "shim/memory/scratch.h"

enum { DENSE_PAUSE = 16 }; /* one merge in so many is tried by blocks though the last was dense */

/* What the thread needs of a place. All handles are retained. */
struct side {
    cl_mem mem; /* what it holds: the root's bytes from `begin` on */
    uint64_t begin;
    cl_mem kept, records, arriving;
    cl_kernel unpack;
    cl_uint count; /* of blocks that have changed there */
};

struct job {
    struct gs_deferred_send d; /* first */
    struct gs_mem *root;       /* held */
    unsigned first, takers;    /* places from `first` on give, those below `takers` take */
    uint64_t bytes;
    cl_uint most; /* records that a place has room for */
    struct side side[GS_MAX_DEVICES];
    cl_kernel merge; /* whole, on the first place */
};

bool gs_sparse_worth(struct gs_mem *root, uint64_t bytes)
{
    return gs_deferred_send_worth(root->o.ctx, bytes) &&
           (!atomic_load(&root->dense) || ++root->whole_merges % DENSE_PAUSE == 0);
}

/* ---- the end of a job ---- */

static void free_job(struct gs_deferred_send *d)
{
    struct job *j = (struct job *)d;
    gs_drop(&j->root->o); /* first: while it is known, the handle must not become another object's */
    for (unsigned p = 0; p < d->n; p++) {
        struct side *s = &j->side[p];
        if (s->unpack)
            gs_real()->clReleaseKernel(s->unpack);
        gs_deferred_send_let(s->mem);
        gs_deferred_send_let(s->kept);
        gs_deferred_send_let(s->records);
        gs_deferred_send_let(s->arriving);
    }
    if (j->merge)
        gs_real()->clReleaseKernel(j->merge);
}

/* ---- in the thread ---- */

/* What place p has changed, to place q. Where several have changed a byte, which no program may count on, the last
 * part's value is taken everywhere. */
static cl_int bring_blocks(struct job *j, unsigned q, unsigned p)
{
    static const struct gs_events none;
    const struct side *from = &j->side[p];
    struct side *to = &j->side[q];
    const struct gs_op c = gs_op_copy(from->records, to->arriving, 0, 0, (size_t)from->count * GS_RECORD_BYTES);
    const cl_int yields = p < q;
    struct gs_events here = {0};
    if (!from->count)
        return CL_SUCCESS;
    cl_int err = gs_deferred_send_copy(&j->d, p, q, &c, &none, &here);
    if (!err)
        err = gs_run_output_kernel(j->d.queue[q],
                                   GS_OUTPUT_LAUNCH(to->unpack, (uint64_t)from->count * GS_BLOCK_ITEMS, GS_ARG(to->mem),
                                                    GS_ARG(to->begin), GS_ARG(to->arriving), GS_ARG(to->kept),
                                                    GS_ARG(j->bytes), GS_ARG(yields)),
                                   &here, &j->d.done[q]);
    gs_events_free(&here);
    return err;
}

static cl_int bring_whole(struct job *j, unsigned p)
{
    static const struct gs_events none;
    const struct side *from = &j->side[p];
    struct side *to = &j->side[0];
    const struct gs_op c = gs_op_copy(from->mem, to->arriving, from->begin, 0, j->bytes);
    struct gs_events here = {0};
    cl_int err = gs_deferred_send_copy(&j->d, p, 0, &c, &none, &here);
    const struct gs_merge_bytes bytes = {to->mem, to->arriving, to->kept, to->begin, j->bytes};
    if (!err)
        err = gs_enqueue_merge(j->d.queue[0], j->merge, &bytes, &here, &j->d.done[0]);
    gs_events_free(&here);
    return err;
}

/* Everything at home, and then from there to all. */
static cl_int merge_at_home(struct job *j)
{
    cl_int err = CL_SUCCESS;
    struct side *home = &j->side[0];
    for (unsigned p = 1; p < j->d.n && !err; p++)
        err = j->side[p].count > j->most ? bring_whole(j, p) : bring_blocks(j, 0, p);
    for (unsigned q = 1; q < j->takers && !err; q++) {
        struct side *to = &j->side[q];
        const struct gs_op c = gs_op_copy(home->mem, to->mem, home->begin, to->begin, j->bytes);
        err = gs_deferred_send_copy(&j->d, 0, q, &c, &j->d.done[0], &j->d.done[q]);
    }
    return err;
}

static cl_int merge_by_blocks(struct job *j)
{
    cl_int err = CL_SUCCESS;
    for (unsigned q = 0; q < j->takers && !err; q++) {
        for (unsigned p = q; p-- > j->first && !err;)
            err = bring_blocks(j, q, p);
        for (unsigned p = q + 1; p < j->d.n && !err; p++)
            err = bring_blocks(j, q, p);
    }
    return err;
}

/* All parts have ended, and how much they have changed is known. */
static cl_int send(struct gs_deferred_send *d)
{
    struct job *j = (struct job *)d;
    bool dense = false;
    for (unsigned p = j->first; p < d->n; p++)
        dense = dense || j->side[p].count > j->most;
    atomic_store(&j->root->dense, dense);
    return dense ? merge_at_home(j) : merge_by_blocks(j);
}

/* ---- in the application's call ---- */

static cl_mem scratch(struct job *j, unsigned place, uint64_t bytes, cl_int *err)
{
    cl_mem m = *err ? NULL : gs_scratch_claim(j->d.ctx, place, bytes, err);
    return gs_deferred_send_keep(m, err);
}

static uint64_t records_bytes(uint64_t bytes)
{
    return gs_blocks_of(bytes) / 2 * GS_RECORD_BYTES;
}

/* Where what travels to place p arrives; home perhaps whole. */
static uint64_t arriving_bytes(uint64_t bytes, unsigned p)
{
    return !p && bytes > records_bytes(bytes) ? bytes : records_bytes(bytes);
}

cl_int gs_sparse_reserve(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts, struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < (m->everywhere ? n_parts : 1) && !err; p++)
        err = gs_scratch_reserve(cmd, p, arriving_bytes(m->bytes, p), n_parts, ready);
    return err;
}

static cl_int make_side(struct job *j, const struct gs_merge *m, unsigned p, const struct gs_holding *on)
{
    struct side *s = &j->side[p];
    cl_int err = CL_SUCCESS;
    s->begin = on->begin;
    s->mem = gs_deferred_send_keep(on->mem, &err);
    s->kept = gs_deferred_send_keep(m->kept[p], &err);
    if (p < j->takers) /* first: it has been reserved */
        s->arriving = scratch(j, p, arriving_bytes(j->bytes, p), &err);
    if (p >= j->first)
        s->records = scratch(j, p, records_bytes(j->bytes), &err);
    if (!err && p < j->takers)
        s->unpack = gs_new_output_kernel(j->d.ctx, p, GS_OUTPUT_UNPACK, &err);
    return err;
}

static struct job *make_job(struct gs_command *cmd, const struct gs_merge *m, unsigned n_parts,
                            const struct gs_holding *on)
{
    const uint64_t blocks = gs_blocks_of(m->bytes);
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    *j = (struct job){.d = {.send = send, .free = free_job},
                      .root = m->root,
                      .first = m->everywhere ? 0 : 1,
                      .takers = m->everywhere ? n_parts : 1,
                      .bytes = m->bytes,
                      .most = (cl_uint)(blocks / 2)};
    gs_hold(&j->root->o);
    cl_int err = gs_deferred_send_make(&j->d, cmd, n_parts);
    if (blocks / 2 > UINT32_MAX)
        err = CL_INVALID_BUFFER_SIZE;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = make_side(j, m, p, &on[p]);
    if (!err)
        j->merge = gs_new_output_kernel(j->d.ctx, 0, GS_OUTPUT_MERGE, &err);
    if (!err)
        return j;
    gs_debug("no merge by blocks through the host (error %d)", err);
    gs_scratch_return(j->d.ctx, j->side[0].arriving); /* for the way that is gone instead */
    gs_deferred_send_free(&j->d);
    return NULL;
}

/* Makes place p's records, once its part has ended; and reads their number. */
static cl_int pack(struct job *j, struct gs_command *cmd, unsigned p, struct gs_holding *on, struct gs_events *known)
{
    struct side *s = &j->side[p];
    struct gs_events packed = {0};
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    cl_mem count = err ? NULL : gs_scratch_take(cmd->ctx, p, sizeof s->count, &err);
    static const cl_uint none;
    const struct gs_op fill = gs_op_fill(count, 0, sizeof s->count, &none, sizeof none);
    const struct gs_op look = gs_op_read(count, 0, sizeof s->count, &s->count);
    if (!err)
        err = gs_put(queue, &fill, GS_VIA_MEMORY, on->since.n, on->since.v, &event);
    if (!err)
        err = gs_events_add(&packed, event);
    if (!err)
        err = gs_events_share_all(&packed, &on->since);
    if (!err)
        err = gs_run_output_kernel(queue,
                                   GS_OUTPUT_LAUNCH(gs_output_kernel(cmd->ctx, p, GS_OUTPUT_PACK),
                                                    gs_blocks_of(j->bytes) * GS_BLOCK_ITEMS, GS_ARG(s->records),
                                                    GS_ARG(j->most), GS_ARG(s->mem), GS_ARG(s->begin), GS_ARG(s->kept),
                                                    GS_ARG(j->bytes), GS_ARG(count)),
                                   &packed, &packed);
    if (!err)
        err = gs_put(queue, &look, GS_VIA_HOST, packed.n, packed.v, &event);
    if (!err)
        err = gs_events_add(known, event);
    gs_events_free(&packed);
    return err;
}

bool gs_sparse_merge(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, struct gs_holding *on)
{
    struct gs_events known = {0};
    struct job *j = make_job(cmd, m, n_parts, on);
    if (!j)
        return false;
    cl_int err = CL_SUCCESS;
    for (unsigned p = j->first; p < n_parts && !err; p++)
        err = pack(j, cmd, p, &on[p], &known);
    if (!err && j->first)
        err = gs_deferred_send_mark(cmd, 0, on[0].since.n, on[0].since.v, &known);
    for (unsigned q = 0; q < j->takers && !err; q++)
        err = gs_deferred_send_promise(&j->d, cmd, q, &on[q].since);
    j->d.dropped = err != CL_SUCCESS;
    if (err)
        gs_scratch_return(j->d.ctx, j->side[0].arriving);
    gs_deferred_send_begin(&j->d, cmd, &known);
    return !err;
}
