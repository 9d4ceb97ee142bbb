/* SPDX-License-Identifier: MIT */
#include "shim/row.h"

#include "shim/held.h"
#include "shim/pass.h"

/* Launches between two that are counted; and so many are made in a queue, one after the other by the same thread,
 * before it has rows there: another's would have to wait for this one's. */
enum { ROW = 15, ALONE = 16 };

struct gs_row gs_rows[GS_HOT_THREADS];

static struct gs_row *own_row(void)
{
    return &gs_rows[gs_hot_thread() - gs_hot_threads];
}

static uint64_t hash_of(cl_uint dims, const size_t *global, const size_t *local)
{
    uint64_t hash = dims * 2 + (local != NULL);
    for (cl_uint d = 0; d < dims; d++)
        hash = (hash ^ global[d] ^ (local ? (uint64_t)local[d] << 40 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

static bool is_well_formed(cl_uint dims, const size_t *global)
{
    return global && dims >= 1 && dims <= 3;
}

/* Null: it isn't one of the row's. */
static struct gs_row_kind *find(struct gs_row *r, cl_kernel kernel, uint64_t size)
{
    for (unsigned i = 0; i < r->kinds; i++)
        if (r->kind[i].kernel == kernel && r->kind[i].size == size)
            return &r->kind[i];
    return NULL;
}

static bool cares(void)
{
    return gs_hot_cares(~(unsigned)GS_CARE_DAEMON);
}

GS_HOT bool gs_row_takes(struct gs_hot_thread *t, cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                         const size_t *global, const size_t *local)
{
    struct gs_row *r = &gs_rows[t - gs_hot_threads];
    if (!r->left || !is_well_formed(dims, global))
        return false;
    const struct gs_row_kind *kind = find(r, kernel, hash_of(dims, global, local));
    if (!kind || r->ns + kind->ns > r->most_ns)
        return false;
    if (kind->ways != GS_ROW_ALONE) {
        const struct gs_kernel *k = gs_find_newest(GS_KERNEL, kernel);
        const enum gs_passes passes = k ? gs_kernel_passes(k) : GS_PASSES_NOT;
        if (kind->ways == GS_ROW_ALWAYS
                ? !k || gs_kernel_is_fresh(k)
                : !passes || (passes == GS_PASSES_BY_SIZE && !gs_size_passes(gs_size_of_last(k, dims, global, local))))
            return false;
    }
    const unsigned passing = gs_hot_pass(t);
    if (gs_row_is_in(t, queue) && !cares()) {
        r->left--;
        r->n++;
        r->ns += kind->ns;
        return true;
    }
    atomic_store_explicit(&t->passing, passing, memory_order_release);
    return false;
}

/* Its launches are counted. With gs_held_lock held. */
static void settle(struct gs_row *r)
{
    atomic_store_explicit(&r->queue, NULL, memory_order_relaxed);
    gs_batch_count(&r->held->batch, r->n, r->ns);
    r->held->row = NULL;
    r->held = NULL;
}

bool gs_row_end_own(struct gs_held *h)
{
    if (h->row && gs_hot_is_mine(&gs_hot_threads[h->row - gs_rows]))
        settle(h->row);
    return !h->row;
}

void gs_row_end(struct gs_held *h)
{
    struct gs_row *r = h->row;
    if (gs_row_end_own(h))
        return;
    h->rowless = true;
    atomic_store_explicit(&r->queue, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&gs_held_lock);
    gs_hot_bar(); /* not with the lock: a driver may be about to call back, which the launch on its way waits for */
    pthread_mutex_lock(&gs_held_lock);
    if (h->row == r) /* its thread hasn't ended it meanwhile */
        settle(r);
}

/* Has this thread made the last launches in the queue? */
static bool is_alone_in(struct gs_queue *q, const struct gs_row *r)
{
    if (q->row != r)
        q->in_row = 0;
    q->row = r;
    q->in_row += q->in_row < ALONE;
    return q->in_row == ALONE;
}

static bool may_be_in(const struct gs_held *h, unsigned call)
{
    return h && h->call == call && h->loose && h->bare && h->served && h->granted_ns && !h->closed && !h->joining &&
           !h->closing && !h->rowless;
}

/* Of what has joined the unit. */
static void note(struct gs_row *r, const struct gs_kernel *k, const struct gs_followed *f, uint64_t size, uint64_t ns)
{
    struct gs_row_kind *kind = find(r, k->o.handle, size);
    if (!kind)
        kind = r->kinds < GS_ROW_KINDS ? &r->kind[r->kinds++] : &r->kind[size % GS_ROW_KINDS];
    *kind = (struct gs_row_kind){.kernel = k->o.handle,
                                 .size = size,
                                 .ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX,
                                 .ways = k->o.ctx->n == 1 ? GS_ROW_ALONE
                                         : f->always      ? GS_ROW_ALWAYS
                                                          : GS_ROW_BY_SIZE};
}

void gs_row_open(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, cl_uint dims,
                 const size_t *global, const size_t *local)
{
    struct gs_row *r = own_row();
    if (!gs_unit_is_sole() || cares() || !gs_hot_take() || !is_alone_in(q, r) || !is_well_formed(dims, global))
        return;
    pthread_mutex_lock(&gs_held_lock);
    struct gs_held *h = gs_held_last_in(q->o.handle);
    const uint64_t ns = may_be_in(h, gs_queue_call(q)) ? gs_batch_expects(&h->batch, f->kind) : 0;
    if (r->held)
        settle(r);
    if (ns && !h->row) {
        const unsigned room = gs_batch_room(&h->batch);
        if (!h->had_row || r->job != f->job)
            r->kinds = 0;
        h->had_row = true;
        h->row = r;
        r->held = h;
        r->job = f->job;
        r->n = 0;
        r->ns = 0;
        r->most_ns = h->batch.expected_ns < GS_BATCH_SOLE_NS ? GS_BATCH_SOLE_NS - h->batch.expected_ns : 0;
        r->left = room < ROW ? room : ROW;
        note(r, k, f, hash_of(dims, global, local), ns);
        atomic_store_explicit(&r->queue, q->o.handle, memory_order_relaxed);
    }
    pthread_mutex_unlock(&gs_held_lock);
}
