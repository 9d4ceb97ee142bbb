/* SPDX-License-Identifier: MIT */
/* See launch.h, section whole.c. */
#include "shim/launch/launch.h"

#include "shim/coherence/coherence.h"
#include "shim/order/completion.h"

cl_int gs_launch_args(struct gs_launching *l, struct gs_kernel_run *run)
{
    cl_kernel kernel = run->kernel;
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        const struct gs_arg *a = &l->k->args[i];
        uint64_t *shift = &run->shift[i % GS_SHIFTS]; /* kernels of more arguments use no ranges */
        cl_mem mem = l->mems[i] ? gs_replica_of(l->mems[i], run->place, shift, &err) : NULL;
        const void *value = l->mems[i] ? (void *)&mem : a->bytes;
        if (!err && a->is_svm)
            err = gs_real()->clSetKernelArgSVMPointer(kernel, i, *(void **)a->bytes);
        else if (!err)
            err = gs_real()->clSetKernelArg(kernel, i, a->size, value);
    }
    return err;
}

bool gs_launch_may_write(const struct gs_launching *l, cl_uint arg)
{
    /* An object's CL_MEM_READ_ONLY doesn't count: drivers let kernels write to such an object. */
    return !l->summary || l->summary->args[arg].may_write || l->summary->args[arg].escapes;
}

/* Launches in chunks, with the translated kernel. Returns 1 if the launch fits one chunk, or the driver refused the
 * kernel object, an argument or the first chunk. The caller then enqueues one unit: it works, or has the error. */
static cl_int launch_chunks(struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    struct gs_kernel_run run = {.k = l->k, .size = l->size, .geometry = l->geometry, .summary = l->translated};
    const struct gs_box box = gs_geometry_box(&l->geometry);
    cl_int err;
    gs_kernel_cut(&run, &l->job, &box);
    if (run.cut.n == 1)
        return 1;
    run.kernel = gs_spare_kernel(l->k, 0, &err);
    if (!err && (err = gs_launch_args(l, &run)) != CL_SUCCESS)
        gs_spare_kernel_give(l->k, 0, run.kernel);
    const struct gs_units to = {.q = l->cmd.q, .queue = l->cmd.q->o.handle, .n_wait = n_wait, .wait = wait};
    cl_event end;
    if (!err)
        err = gs_run_kernel(&to, &run, &end);
    return err ? 1 : gs_finish_single(&l->cmd, end, 0, event);
}

/* Has the launch more work-groups than so many chunks of the configured size? A NULL local size: an estimate. */
static bool has_more(const struct gs_launching *l, unsigned chunks)
{
    const uint64_t most = (uint64_t)l->job.kernel_chunk * gs_group()->units[l->job.place[0]] * chunks;
    const struct gs_box all = gs_geometry_box(&l->geometry);
    return gs_box_groups(&all) > (l->cmd.op.local ? most : most * GS_ITEMS_OF_GROUP);
}

bool gs_launch_is_long(const struct gs_launching *l)
{
    return l->job.kernel_chunk && has_more(l, 1) && has_more(l, gs_chunk_factor(l->size));
}

cl_int gs_launch_unit(const struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const struct gs_units one = {.q = l->cmd.q,
                                 .queue = l->cmd.q->o.handle,
                                 .resource = gs_resource_of(0),
                                 .n_wait = n_wait,
                                 .wait = wait,
                                 .n = 1,
                                 .enqueue = gs_enqueue_unit,
                                 .work = (void *)(uintptr_t)&l->cmd.op,
                                 .spent = l->cmd.spent,
                                 .kernel = true,
                                 .size = l->cmd.spent ? NULL : l->size}; /* null: its own time is counted */
    return gs_run_units(&one, event);
}

static cl_int launch_home(struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    if (!l->cmd.units)
        return gs_enqueue(&l->cmd.op, l->cmd.q->o.handle, n_wait, n_wait ? wait : NULL, event);
    cl_int err = l->translated ? launch_chunks(l, n_wait, wait, event) : 1;
    return err <= 0 ? err : gs_launch_unit(l, n_wait, wait, event);
}

/* Brings home all bytes that the launch uses, and adds the transfers' events to `wait`. */
static cl_int require_home(struct gs_launching *l, struct gs_events *wait)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        struct gs_mem *m = l->mems[i];
        if (m)
            err = gs_require_home(&l->cmd, m->root, gs_window_range(m, 0, m->size), wait);
    }
    return err;
}

/* Notes the writes of a launch that has been enqueued at home. */
static void record_home(struct gs_launching *l)
{
    for (cl_uint i = 0; i < l->k->n_args; i++) {
        struct gs_mem *m = l->mems[i];
        if (!m || !gs_launch_may_write(l, i))
            continue;
        gs_note_write(m->root, 0, gs_window_range(m, 0, m->size));
        gs_traffic(m->root)->made += m->size;
    }
}

cl_int gs_launch_single(struct gs_launching *l, cl_event *event)
{
    struct gs_events wait = {0};
    if (l->cmd.ctx->n == 1)
        return launch_home(l, l->cmd.n_wait, l->cmd.wait, event);
    cl_int err = require_home(l, &wait);
    if (!err && wait.n) {
        gs_command_flush(l->cmd.q);
        for (cl_uint i = 0; i < l->cmd.n_wait && !err; i++)
            err = gs_events_share(&wait, l->cmd.wait[i]);
    }
    if (!err)
        err = launch_home(l, wait.n ? wait.n : l->cmd.n_wait, wait.n ? wait.v : l->cmd.wait, event);
    gs_events_free(&wait);
    if (!err)
        record_home(l);
    return err;
}

cl_int gs_launch_measured(struct gs_launching *l, cl_event *event)
{
    struct gs_events wait = {0};
    cl_event ran = NULL;
    cl_int err = gs_command_order(&l->cmd);
    if (!err && l->cmd.foreign)
        err = CL_INVALID_CONTEXT;
    if (!err)
        err = require_home(l, &wait);
    if (!err)
        err = gs_events_share_all(&wait, &l->cmd.before);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(l->cmd.q, GS_TIMED_QUEUE, 0, &err);
    gs_real()->clFlush(l->cmd.q->o.handle);
    if (!err)
        err = gs_enqueue(&l->cmd.op, queue, wait.n, wait.v, &ran);
    gs_events_free(&wait);
    if (err) /* measuring needs more of the driver than a plain launch, which may work, or has the same error */
        return gs_launch_single(l, event);
    gs_timing_learn(l->choice.timing, NULL, NULL, ran);
    err = gs_finish_single(&l->cmd, ran, 0, event);
    if (!err)
        record_home(l);
    return err;
}

cl_int gs_launch_counted(struct gs_launching *l, cl_event *event)
{
    cl_event own;
    l->cmd.spent = gs_taken_new();
    const cl_int err = gs_launch_single(l, &own);
    if (!err && l->cmd.spent)
        gs_timing_learn(l->choice.timing, NULL, l->cmd.spent, own);
    gs_taken_drop(l->cmd.spent);
    l->cmd.spent = NULL;
    if (!err)
        gs_event_give(own, event);
    return err;
}

/* May the launch be cut into several launches of the translated kernel, one after the other? Not if its result may
 * depend on the local size that the driver chooses, or the text must have a local size; nor if the translated kernel
 * may compute other last bits, without leave to reorder; nor if a work-group may wait for another. */
static bool may_be_cut(const struct gs_launching *l, const struct gs_kernel_summary *k)
{
    if ((!l->cmd.op.local && (k->reqd[0] || k->uses_group)) || (k->reorders && !gs_settings()->allow_reorder))
        return false;
    for (uint32_t i = 0; k->refusal && i < k->n_args; i++)
        if (k->args[i].atomic == GS_ATOMIC_OTHER && !k->args[i].escapes &&
            k->args[i].atomic_site.line == k->refusal_site.line &&
            k->args[i].atomic_site.column == k->refusal_site.column)
            return true; /* only atomics whose results are used forbid the split, and these are right on one device */
    return !k->refusal;
}

const struct gs_kernel_summary *gs_launch_translation(struct gs_launching *l)
{
    const char *why;
    if (l->k->svm_info || gs_given_up(l->cmd.ctx) || gs_in_callback() || (l->job.place[0] == 0 && !l->is_long))
        return NULL;
    const struct gs_kernel_summary *k = l->summary ? l->summary : gs_prepare(l->k, true, &why);
    return k && may_be_cut(l, k) ? k : NULL;
}
