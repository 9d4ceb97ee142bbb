/* SPDX-License-Identifier: MIT */
#include "shim/launch/follow.h"

#include "shim/schedule/batch.h"
#include "shim/order/command.h"
#include "shim/schedule/client.h"
#include "shim/schedule/dispatch.h"
#include "shim/schedule/job.h"
#include "shim/choose/timing.h"

/* Null: there was none. */
static struct gs_followed *find(struct gs_kernel *k, const struct gs_size *size)
{
    for (unsigned i = 0; size && i < GS_FOLLOWED; i++)
        if (k->followed[i].size == size)
            return &k->followed[i];
    return NULL;
}

void gs_may_follow(const struct gs_launching *l, bool is_long)
{
    struct gs_kernel *k = l->k;
    struct gs_followed *f = find(k, l->size);
    f = f ? f : &k->followed[k->next_followed++ % GS_FOLLOWED];
    f->job = l->job.place[0] == 0 ? l->job.number : 0;
    f->size = l->size;
    f->factor = is_long ? gs_chunk_factor(l->size) : 0;
    f->always = l->cmd.ctx->n == 1 || l->job.n == 1 || (l->job.told && gs_settings()->mode == GS_MODE_AUTO);
    atomic_store(&k->followed_job, f->job);
}

/* Would it be one unit at home again, with nothing to be noted? Where nothing of the context has ever been elsewhere,
 * and what the kernel writes is known to be defined. */
static bool may_follow(const struct gs_kernel *k, const struct gs_followed *f, const struct gs_op *op)
{
    const struct gs_context *ctx = k->o.ctx;
    if (!gs_job_goes_on(f->job) || (f->factor && gs_chunk_factor(f->size) != f->factor))
        return false;
    if (ctx->n == 1)
        return true;
    return !atomic_load(&ctx->spread) && !atomic_load(&k->fresh) &&
           (f->always || atomic_load(&k->unsplittable) || gs_size_is_short(k, op->dims, op->global, op->local));
}

/* Is what was decided for the job of such a launch decided for the job under way as well, which begins if need be? */
static bool is_of_such_job(const struct gs_kernel *k)
{
    const unsigned number = atomic_load_explicit(&k->followed_job, memory_order_relaxed);
    return number && (gs_job_goes_on(number) || gs_job_again(k->o.ctx, number));
}

/* May it begin a unit as well? One that would have been cut, if others were there, is to be looked at once they are. */
static bool may_begin(const struct gs_followed *f)
{
    return !f->factor || gs_unit_is_sole();
}

cl_int gs_launch_held(struct gs_deferred *held, cl_event gate, const struct gs_command *cmd, cl_uint n_wait,
                      const cl_event *wait, cl_event *event)
{
    cl_event first = NULL;
    const cl_int err = gs_enqueue(&cmd->op, cmd->queue, gate ? 1 : n_wait,
                                  gate     ? &gate
                                  : n_wait ? wait
                                           : NULL,
                                  event || gs_wants_event(held) ? &first : NULL);
    if (err)
        gs_hold_drop(held);
    else
        gs_let_go(held, first, event);
    return err;
}

bool gs_follow(const struct gs_command *cmd, struct gs_kernel *k, cl_int *err)
{
    struct gs_context *ctx = cmd->ctx;
    struct gs_queue *q = cmd->q;
    const struct gs_op *op = &cmd->op;
    const cl_event *wait = cmd->n_wait ? cmd->wait : NULL;
    const bool plain = !cmd->n_wait && !cmd->event;
    if (!gs_list_is_sound(cmd->n_wait, wait) || !is_of_such_job(k)) /* the driver says what is wrong with the first */
        return false;
    pthread_mutex_lock(&ctx->lock);
    const struct gs_followed *f = find(k, gs_size_find(k, op->dims, op->global, op->local));
    const bool follows = f && may_follow(k, f, op);
    const struct gs_units one = {.n = 1, .kernel = true, .size = follows ? f->size : NULL};
    const struct gs_destination to = {q, cmd->queue, gs_resource_of(0), cmd->n_wait, wait};
    cl_event gate = NULL;
    struct gs_deferred *held = follows && plain ? gs_hold_on(q, one.size) : NULL;
    if (follows && !held && may_begin(f) && gs_hold_back(&to, &one, &held, &gate) != CL_SUCCESS)
        held = NULL;
    if (held)
        *err = gs_launch_held(held, gate, cmd, cmd->n_wait, wait, cmd->event);
    pthread_mutex_unlock(&ctx->lock);
    return held;
}
