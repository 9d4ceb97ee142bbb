/* SPDX-License-Identifier: MIT */
/* Writes through the calls' ring; and those to buffers that don't go home, or not all of them. To the GPU of a job that
 * has one alone, where that isn't the first: by way of the first the bytes would cross the link and then both GPUs,
 * whose units they'd take from others (H200s: 700 MB kept both for 14 ms more). And to each GPU what it alone has
 * wanted of the last bytes there: by all links at once. */
#include "shim/api/transfer.h"
#include "shim/put/finish.h"
#include "shim/coherence/host.h"

/* Is it a write that we can carry out, of bytes that may lie anywhere? */
static bool is_followed(const struct gs_home *h, const struct gs_mem *m, struct gs_range r)
{
    return gs_home_is_valid(h, m) && !h->err && !m->root->shared && !m->root->image &&
           !atomic_load(&h->cmd.ctx->user_events) && !gs_given_up(h->cmd.ctx) &&
           !gs_is_host_using(m->root, &GS_ONE_RANGE(r));
}

/* Is it a job's that has one GPU, which isn't the first? A replica is there once a launch has needed the buffer there.
 * What kernels that run at home alone use never gets one, and is written at home. */
static bool is_of_other_gpu(const struct gs_home *h, const struct gs_mem *m)
{
    const struct gs_job *job = &h->put.job;
    return h->by_units && job->n == 1 && job->place[0] && gs_replica_at(m->root, job->place[0]);
}

/* Where the bytes are to go, of which `all` is a transfer home. False: home. */
static bool find_takers(const struct gs_home *h, const struct gs_mem *m, struct gs_range r, const struct gs_staged *all,
                        struct gs_extents *s)
{
    if (!is_of_other_gpu(h, m))
        return h->cmd.ctx->n > 1 && gs_host_targets(m->root, r, all, s) == CL_SUCCESS && s->n;
    s->v = malloc(sizeof *s->v);
    if (!s->v)
        return false;
    s->n = 1;
    s->cap = 1;
    s->v[0] = *all;
    s->v[0].place = h->put.job.place[0];
    s->v[0].op.dst = gs_replica_at(m->root, s->v[0].place);
    return true;
}

/* To the GPU of a job, where it doesn't go by the ring. */
static cl_int write_units(struct gs_home *h, const struct gs_staged *run, const struct gs_events *ready, cl_event *own)
{
    cl_event end;
    cl_int err;
    cl_command_queue queue = gs_queue_of_kind(h->cmd.q, GS_COPY_QUEUE, run->place, &err);
    if (!err)
        err = gs_put(queue, &run->op, GS_VIA_HOST, ready->n, ready->v, &end);
    if (err)
        return err;
    const struct gs_events ended = {.v = &end, .n = 1};
    err = gs_finish_command(h->cmd.q, CL_COMMAND_WRITE_BUFFER, &ended, &run->place, own);
    gs_real()->clReleaseEvent(end);
    return err;
}

/* What launches have left on other places, of which some comes back, is counted without it. */
static cl_int wrote(struct gs_mem *root, const struct gs_extents *s)
{
    const uint64_t left = root->traffic.left;
    int err = 0;
    for (unsigned i = 0; i < s->n && !err; i++) {
        struct gs_range r = {s->v[i].op.to[0], s->v[i].op.to[0] + s->v[i].op.region[0]};
        err = gs_wrote_range(root, s->v[i].place, r);
    }
    root->traffic.left = left;
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

/* Which places get something, by bit. */
static unsigned takers_of(const struct gs_extents *s)
{
    unsigned all = 0;
    for (unsigned i = 0; i < s->n; i++)
        all |= 1u << s->v[i].place;
    return all;
}

/* Has the job all the devices that they would go to? Those of others are not to get what they would never need. */
static bool are_own(const struct gs_home *h, const struct gs_extents *s)
{
    unsigned own = 1;
    for (unsigned i = 0; i < h->put.job.n; i++)
        own |= 1u << h->put.job.place[i];
    return !h->by_units || !(takers_of(s) & ~own);
}

/* What is yet to end before anything is written to the places. */
static cl_int find_ready(struct gs_home *h, struct gs_mem *root, const struct gs_extents *s, struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    const unsigned all = takers_of(s);
    for (unsigned place = 0; place < h->cmd.ctx->n && !err; place++)
        if (all >> place & 1)
            err = gs_ready_events(&h->cmd, root, 0, root, place, ready);
    return err;
}

bool gs_ring_ready(struct gs_home *h, struct gs_ring_use *w)
{
    struct gs_queue *q = h->cmd.q;
    uint64_t bytes = 0;
    if (h->cmd.op.blocking)
        return gs_mark_out_of_order(q, q->o.handle, h->n, h->v, &w->marker) == CL_SUCCESS;
    for (unsigned i = 0; i < w->n; i++)
        bytes += gs_staged_bytes(&w->v[i]);
    return gs_staging_queue_idle(q, &w->ready, bytes) && gs_staging_enter(q->o.ctx, false);
}

/* The commands before have ended first, among them those that may still write to the host's memory. */
static cl_int await_all_before(struct gs_context *ctx, const struct gs_ring_use *w)
{
    const cl_int err = gs_real()->clWaitForEvents(1, &w->marker);
    gs_real()->clReleaseEvent(w->marker);
    if (!err) {
        gs_events_wait(&w->ready);
        gs_staging_enter(ctx, true);
    }
    return err;
}

static void end_use(struct gs_ring_use *w)
{
    gs_host_use_end(w->v->op.dst ? &w->root->host_writes : &w->root->host_reads, &w->use);
}

static void marked(struct gs_carry *c)
{
    struct gs_ring_use *w = (struct gs_ring_use *)c;
    end_use(w);
    if (w->to && wrote(w->root, w->to) != CL_SUCCESS)
        gs_make_undefined(w->root, w->r);
}

cl_int gs_carry_by_ring(struct gs_home *h, struct gs_ring_use *w, cl_event *own)
{
    struct gs_context *ctx = h->cmd.ctx;
    struct gs_staged_ends ended = {0};
    w->carried = (struct gs_carry){.cmd = &h->cmd, .marked = marked};
    gs_carry_begin(&w->carried);
    gs_host_use_begin(w->v->op.dst ? &w->root->host_writes : &w->root->host_reads, w->r, &w->use);
    pthread_mutex_unlock(&ctx->lock);
    cl_int err = w->marker ? await_all_before(ctx, w) : CL_SUCCESS;
    if (!err) {
        err = gs_staging_carry(ctx, w->v, w->n, h->cmd.q->profiling, false, &ended);
        gs_staging_leave(ctx);
    }
    pthread_mutex_lock(&ctx->lock);
    h->marked = w->carried.end;
    if (!h->marked)
        end_use(w);
    err = gs_carry_end(&w->carried, err, &ended.events, ended.place, own);
    gs_events_free(&ended.events);
    return err;
}

/* While the ring carries them the lock is free, and no place holds them: another thread's command would take old ones
 * along from where they are on their way to, and put them over those that have come to another place. */
static cl_int lift(struct gs_mem *root, const struct gs_extents *s)
{
    int err = 0;
    for (unsigned i = 0; i < s->n && !err; i++)
        err = gs_invalidate(root, (struct gs_range){s->v[i].op.to[0], s->v[i].op.to[0] + s->v[i].op.region[0]});
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

static cl_int by_ring(struct gs_home *h, struct gs_ring_use *w, const struct gs_extents *s, cl_event *own)
{
    const cl_int err = lift(w->root, s);
    if (!err)
        return gs_carry_by_ring(h, w, own);
    if (w->marker)
        gs_real()->clReleaseEvent(w->marker);
    else
        gs_staging_leave(h->cmd.ctx);
    return err;
}

bool gs_write_to_place(struct gs_home *h, struct gs_mem *m, const struct gs_staged *t, cl_event *own)
{
    struct gs_queue *q = h->cmd.q;
    const struct gs_range r = {t->op.to[0], t->op.to[0] + t->op.region[0]};
    const bool blocks = h->cmd.op.blocking, by_units = is_of_other_gpu(h, m);
    struct gs_extents s = {0};
    struct gs_ring_use w = {.root = m->root, .r = r, .to = &s};
    if (!is_followed(h, m, r) || !find_takers(h, m, r, t, &s))
        return false;
    bool ring = are_own(h, &s) && (blocks || gs_home_may_carry(h)) &&
                gs_staging_may_carry(q->o.ctx, t->op.ptr, t->op.region[0]);
    bool goes = (ring || by_units) && find_ready(h, m->root, &s, &w.ready) == CL_SUCCESS;
    w.v = s.v;
    w.n = s.n;
    ring = goes && ring && gs_ring_ready(h, &w);
    /* Where one of the devices is lost, home may not be. */
    if (ring)
        goes = by_ring(h, &w, &s, own) == CL_SUCCESS;
    else
        goes = goes && by_units && write_units(h, s.v, &w.ready, own) == CL_SUCCESS;
    if (goes && !h->marked && wrote(m->root, &s) != CL_SUCCESS)
        gs_make_undefined(m->root, r);
    gs_extents_free(&s);
    gs_events_free(&w.ready);
    return goes;
}
