/* SPDX-License-Identifier: MIT */
/* See launch.h, section parts.c. */
#include "shim/launch/launch.h"

#include "common/lock/rank.h"

#include "common/log.h"
#include "shim/coherence/coherence.h"
#include "shim/output/output.h"
#include "shim/transfer/transfer.h"

/* May replicas of the use's root be ranges? If the kernel's pointers to it are moved, and nobody else looks for its
 * bytes at the replica's begin. Units keep replicas by arguments of kernels, which keep nothing alive. */
static bool takes_ranges(const struct gs_launching *l, const struct gs_use *u)
{
    bool takes = l->k->program->moved && l->k->n_args <= GS_SHIFTS && !l->cmd.units && !gs_use_is_joined(u);
    for (cl_uint i = 0; i < l->k->n_args && takes; i++)
        if (l->mems[i] && l->mems[i]->root == u->root)
            takes = l->summary->args[i].kind == GS_ARG_GLOBAL && !l->summary->args[i].escapes;
    return takes;
}

/* Makes every byte that a part needs valid on its place. */
static cl_int require_parts(struct gs_launching *l, struct gs_plan *plan, struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        struct gs_use *u = &plan->uses[i];
        const bool ranges = takes_ranges(l, u);
        struct gs_need w[GS_MAX_DEVICES];
        for (unsigned p = 0; p < plan->n_parts; p++)
            w[p] = (struct gs_need){l->job.place[p], (int)p, &u->needs[p], &ready[p],
                                    ranges ? gs_rangeset_hull(&u->needs[p], &u->owned[p])
                                           : gs_replica_at(u->root, 0).range};
        err = gs_require_all(&l->cmd, u->root, w, plan->n_parts, u->writes == GS_COMPARED);
    }
    return err;
}

/* Notes the parts' writes. */
static cl_int record_writes(const struct gs_launching *l, const struct gs_plan *plan)
{
    int err = 0;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        struct gs_use *u = &plan->uses[i];
        for (unsigned p = 0; p < plan->n_parts && !err; p++) {
            gs_traffic(u->root)->made += u->owned_amount[p].bytes;
            err = gs_wrote(u->root, l->job.place[p], &u->owned[p]);
            err = err ? err : gs_wrote(u->root, 0, &u->reduced[p]);
        }
        if (u->writes == GS_COMPARED)
            gs_traffic(u->root)->made += u->window.end - u->window.begin;
        if (!err && (u->writes == GS_COMPARED || u->writes == GS_IN_PLACE))
            err = gs_wrote(u->root, 0, &GS_ONE_RANGE(u->window));
    }
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

static void free_parts(struct gs_launching *l, unsigned n)
{
    for (unsigned p = 0; p < n; p++) {
        if (l->part.run[p].kernel)
            gs_spare_kernel_give(l->k, l->part.run[p].place, l->part.run[p].kernel);
        gs_events_free(&l->part.ready[p]);
        gs_event_replace(&l->part.ran[p], NULL);
    }
    gs_events_free(&l->cmd.ended);
}

bool gs_plan_is_joined(const struct gs_plan *plan, bool reduced_too)
{
    size_t i = 0;
    while (i < plan->n_uses && plan->uses[i].writes != GS_COMPARED &&
           !(reduced_too && gs_use_is_joined(&plan->uses[i])))
        i++;
    return i < plan->n_uses;
}

/* Lets no part begin before the transfers to all parts have ended. A merge by comparison needs equal bytes at the
 * start, and a part must not write where a transfer to another part still reads. (Where each part owns its ranges,
 * bytes fetched from under a writer are neither valid afterwards nor needed.) */
static cl_int start_together(struct gs_launching *l, const struct gs_plan *plan)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 1; p < plan->n_parts; p++)
        if (!err)
            err = gs_events_share_all(&l->part.ready[0], &l->part.ready[p]);
    for (unsigned p = 1; p < plan->n_parts; p++) {
        gs_events_free(&l->part.ready[p]);
        if (!err)
            err = gs_events_share_all(&l->part.ready[p], &l->part.ready[0]);
    }
    return err;
}

/* Fills in how part p runs, with a spare kernel. */
static cl_int set_part(struct gs_launching *l, const struct gs_plan *plan, unsigned p)
{
    cl_int err;
    struct gs_kernel_run *run = &l->part.run[p];
    *run = (struct gs_kernel_run){.k = l->k, .size = l->size, .geometry = l->geometry, .summary = l->summary};
    run->place = l->job.place[p];
    gs_kernel_cut(run, &l->job, &plan->box[p]);
    run->kernel = gs_spare_kernel(l->k, run->place, &err);
    return err;
}

/* Lets each part wait for the copies that leave its device. They are kernels of NVIDIA's: begun after a part that fills
 * the GPU a copy waits for that part, and the other part for the copy (matmul on two H200: no gain at all). */
static cl_int let_leave(struct gs_launching *l, const struct gs_plan *plan)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; l->cmd.left && p < plan->n_parts && !err; p++) {
        const cl_event left = l->cmd.left[l->job.place[p]];
        if (left)
            err = gs_events_share(&l->part.ready[p], left);
    }
    return err;
}

/* All that may fail for lack of memory, before anything runs. */
static cl_int ready_parts(struct gs_launching *l, struct gs_plan *plan)
{
    l->choice.trial.asked_ns = gs_now_ns() - gs_paths_made_ns(l->cmd.ctx);
    cl_int err = gs_command_order(&l->cmd);
    if (!err && l->cmd.foreign) /* the driver is to see the list */
        err = CL_INVALID_CONTEXT;
    for (unsigned p = 0; p < plan->n_parts && !err; p++) {
        GS_LABEL(part, (int)p);
        err = set_part(l, plan, p);
        if (!err)
            err = gs_events_share_all(&l->part.ready[p], &l->cmd.before);
    }
    if (!err)
        err = require_parts(l, plan, l->part.ready);
    for (unsigned p = 0; p < plan->n_parts && !err; p++)
        err = gs_launch_args(l, &l->part.run[p]);
    if (!err)
        err = let_leave(l, plan);
    if (!err && gs_plan_is_joined(plan, false))
        err = start_together(l, plan);
    return err ? err : gs_outputs_begin(&l->cmd, plan, l->part.ready);
}

static cl_int run_part(struct gs_launching *l, unsigned p)
{
    const struct gs_events *ready = &l->part.ready[p];
    const cl_event *wait = ready->n ? ready->v : NULL;
    const bool timed = !p && l->choice.trial.measured && !l->cmd.spent;
    struct gs_kernel_run run = l->part.run[p];
    cl_int err;
    cl_command_queue queue = timed ? gs_queue_of_kind(l->cmd.q, GS_TIMED_QUEUE, 0, &err)
                                   : gs_queue_of_kind(l->cmd.q, GS_EXEC_QUEUE, run.place, &err);
    if (err)
        return err;
    if (run.cut.n > 1)
        l->part.run[p].kernel = NULL; /* it is taken over */
    const struct gs_units to = {.q = l->cmd.q, .queue = queue, .n_wait = ready->n, .wait = wait};
    return gs_run_kernel(&to, &run, &l->part.ran[p]);
}

/* *went: some part has been enqueued. */
static cl_int run_parts(struct gs_launching *l, struct gs_plan *plan, bool *went)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = plan->n_parts; p-- > 0 && !err;) {
        GS_LABEL(part, (int)p);
        err = run_part(l, p);
        l->choice.trial.part_ns[p] = gs_now_ns(); /* not before: a first launch may be compiled in there */
        *went = *went || !err;
    }
    return err;
}

/* Enqueues what the next launch will need behind the parts, while these run: an application that waits for each launch
 * has the devices idle while the next one's call enqueues transfers (FluidX3D on two H200: 200 of a step's 435 us).
 * Under a daemon transfers are units, which belong to a command. */
static void bring_ahead(struct gs_launching *l, const struct gs_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses && !l->cmd.units && !gs_settings()->verify; i++)
        if (plan->uses[i].writes != GS_READ_ONLY)
            gs_prefetch_root(&l->cmd, plan->uses[i].root);
}

static cl_int join_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event)
{
    struct gs_trial *trial = &l->choice.trial;
    cl_int err = CL_SUCCESS;
    if (gs_plan_is_joined(plan, true))
        gs_command_flush(l->cmd.q); /* what follows on other queues waits for the parts */
    for (unsigned p = 0; p < plan->n_parts && !err; p++) {
        gs_command_ends_at(&l->cmd, l->job.place[p]);
        err = gs_events_share(&l->cmd.ended, l->part.ran[p]);
    }
    if (!err)
        err = gs_outputs_join(&l->cmd, plan, l->part.ran);
    if (!err)
        err = record_writes(l, plan);
    cl_event own;
    trial->idle = gs_events_ended(&l->cmd.before);
    trial->asked_ns += gs_paths_made_ns(l->cmd.ctx);
    if (!err)
        err = gs_finish_command(&l->cmd, &own);
    if (err)
        return err;
    if (trial->measured)
        gs_timing_learn(l->choice.cuts, trial, l->cmd.spent, own);
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        /* Later commands that use it, on any queue: an earlier write there would pass for a part's, or be lost. */
        if (gs_use_is_joined(u))
            gs_busy_until(u->root, 0, own);
        if (u->writes != GS_READ_ONLY && u->writes != GS_IN_PLACE)
            gs_split_writes(u->root, own);
    }
    bring_ahead(l, plan);
    gs_event_give(own, event);
    return CL_SUCCESS;
}

static void await_parts(const struct gs_launching *l, const struct gs_plan *plan)
{
    gs_command_flush(l->cmd.q);
    GS_MAY_WAIT("a launch that is given up half-way", GS_WITHOUT_LIMIT);
    for (unsigned p = 0; p < plan->n_parts; p++)
        if (l->part.ran[p])
            gs_real()->clWaitForEvents(1, &l->part.ran[p]);
    gs_events_wait(&l->cmd.ended);
}

static bool reads(const struct gs_launching *l, const struct gs_mem *root)
{
    for (cl_uint i = 0; i < l->k->n_args; i++)
        if (l->mems[i] && l->mems[i]->root == root && l->summary->args[i].may_read)
            return true;
    return false;
}

/* A device has refused its part, and others run. Home's part goes last, so only other places have changed: one device
 * can do the launch over, unless the only valid copy of bytes that the launch reads has changed. */
static cl_int take_back(const struct gs_launching *l, const struct gs_plan *plan)
{
    cl_int err = CL_SUCCESS;
    await_parts(l, plan);
    for (size_t i = 0; i < plan->n_uses; i++) {
        struct gs_use *u = &plan->uses[i];
        if (u->writes == GS_IN_PLACE && reads(l, u->root))
            err = CL_OUT_OF_RESOURCES;
        for (unsigned p = 0; p < plan->n_parts; p++) {
            if (l->job.place[p] == 0)
                continue;
            const struct gs_rangeset *changed = u->writes == GS_COMPARED ? &GS_ONE_RANGE(u->window) : &u->will_write[p];
            if (l->part.ran[p] && u->writes != GS_READ_ONLY && u->writes != GS_IN_PLACE &&
                gs_undo(u->root, l->job.place[p], changed) != CL_SUCCESS)
                err = CL_OUT_OF_RESOURCES;
        }
    }
    return err;
}

/* All parts run, and what should follow couldn't be enqueued: the launch has no result. */
static void write_off(const struct gs_launching *l, const struct gs_plan *plan)
{
    await_parts(l, plan);
    for (size_t i = 0; i < plan->n_uses; i++)
        if (plan->uses[i].writes != GS_READ_ONLY && plan->uses[i].writes != GS_IN_PLACE)
            gs_spoil(plan->uses[i].root, plan->uses[i].window);
}

/* No part runs, but transfers to parts are on their way; later commands must come after these. cmd->before is left out:
 * each refused launch would add those events again. */
static void leave_ready(const struct gs_launching *l, const struct gs_plan *plan)
{
    for (unsigned p = 0; p < plan->n_parts; p++)
        for (cl_uint i = 0; i < l->part.ready[p].n; i++)
            if (!gs_event_is_in(&l->cmd.before, l->part.ready[p].v[i]) && !gs_event_ended(l->part.ready[p].v[i]))
                gs_command_leave(l->cmd.ctx, l->part.ready[p].v[i]);
}

bool gs_plan_is_in_use(const struct gs_plan *plan)
{
    bool meets = false;
    for (size_t i = 0; i < plan->n_uses && !meets; i++) {
        struct gs_use *u = &plan->uses[i];
        /* A merge would take what the host writes for a part's, and --verify puts all bytes back. */
        const bool all = gs_use_is_joined(u) || u->writes == GS_IN_PLACE || gs_settings()->verify;
        meets = all && gs_is_host_using(u->root, &GS_ONE_RANGE(u->window));
        for (unsigned p = 0; p < plan->n_parts && !meets; p++)
            meets = gs_is_host_writing(u->root, &u->needs[p]) || gs_is_host_using(u->root, &u->will_write[p]);
    }
    return meets;
}

cl_int gs_launch_parts(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went)
{
    struct gs_kernel_run run[GS_MAX_DEVICES] = {0};
    l->part.run = run;
    l->choice.trial.plan = plan;
    l->choice.trial.place = l->job.place;
    l->choice.trial.part = l->part.ran;
    *went = false;
    if (l->cmd.units && l->choice.trial.measured) { /* by the units' times */
        l->cmd.spent = gs_taken_new();
        l->choice.trial.measured = l->cmd.spent;
    }
    cl_int err = ready_parts(l, plan);
    if (!err)
        err = run_parts(l, plan, went);
    if (err)
        gs_debug("kernel %s: the parts could not be launched (error %d)", l->k->kind->name, err);
    if (err && *went)
        *went = take_back(l, plan) != CL_SUCCESS;
    else if (err)
        leave_ready(l, plan);
    if (!err) {
        err = join_parts(l, plan, event);
        if (err)
            write_off(l, plan);
    }
    gs_scratch_give(l->cmd.ctx, !err);
    gs_taken_drop(l->cmd.spent);
    l->cmd.spent = NULL;
    free_parts(l, plan->n_parts);
    return err;
}
