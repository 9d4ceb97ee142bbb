/* SPDX-License-Identifier: MIT */
#include "shim/follow.h"

#include "shim/batch.h"
#include "shim/command.h"
#include "shim/dispatch.h"
#include "shim/timing.h"

static size_t size_at(const size_t *sizes, cl_uint dims, unsigned d)
{
    return d < dims && sizes ? sizes[d] : 0;
}

void gs_may_follow(const struct gs_launching *l, uint64_t kind, bool is_long)
{
    struct gs_followed *f = &l->k->followed;
    *f = (struct gs_followed){.job = l->job.place[0] == 0 ? l->job.number : 0,
                              .dims = l->dims,
                              .kind = kind,
                              .factor = is_long ? gs_chunk_factor(kind) : 0,
                              .always = l->cmd.ctx->n == 1 || l->job.n == 1 ||
                                        (l->job.told && gs_settings()->mode == GS_MODE_AUTO)};
    for (unsigned d = 0; d < 3; d++) {
        f->global[d] = size_at(l->global, l->dims, d);
        f->local[d] = size_at(l->local, l->dims, d);
    }
}

static bool is_alike(const struct gs_followed *f, cl_uint dims, const size_t *global, const size_t *local)
{
    if (dims != f->dims || !global)
        return false;
    for (unsigned d = 0; d < 3; d++)
        if (f->global[d] != size_at(global, dims, d) || f->local[d] != size_at(local, dims, d))
            return false;
    return true;
}

/* Would it be one unit at home again, with nothing to be noted? Where nothing of the context has ever been elsewhere,
 * and what the kernel writes is known to be defined. */
static bool may_follow(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    const struct gs_followed *f = &k->followed;
    const struct gs_context *ctx = k->o.ctx;
    if (!f->job || !is_alike(f, dims, global, local) || !gs_job_goes_on(f->job) ||
        (f->factor && gs_chunk_factor(f->kind) != f->factor))
        return false;
    if (ctx->n == 1)
        return true;
    return !atomic_load(&ctx->spread) && !atomic_load(&k->fresh) &&
           (f->always || atomic_load(&k->unsplittable) || gs_timing_passes(k, dims, global, local));
}

static cl_int enqueue(struct gs_held *held, struct gs_queue *q, struct gs_kernel *k, cl_uint dims, const size_t *offset,
                      const size_t *global, const size_t *local)
{
    cl_event first = NULL;
    const cl_int err = gs_real()->clEnqueueNDRangeKernel(q->o.handle, k->o.handle, dims, offset, global, local, 0, NULL,
                                                         gs_wants_event(held) ? &first : NULL);
    if (err)
        gs_hold_drop(held);
    else
        gs_let_go(held, first, NULL);
    return err;
}

bool gs_follow(struct gs_queue *q, struct gs_kernel *k, cl_uint dims, const size_t *offset, const size_t *global,
               const size_t *local, cl_int *err)
{
    struct gs_context *ctx = q->o.ctx;
    pthread_mutex_lock(&ctx->lock);
    struct gs_held *held = may_follow(k, dims, global, local) ? gs_hold_on(q, k->followed.kind) : NULL;
    if (held)
        *err = enqueue(held, q, k, dims, offset, global, local);
    pthread_mutex_unlock(&ctx->lock);
    return held;
}
