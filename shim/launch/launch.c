/* SPDX-License-Identifier: MIT */
#include "shim/launch/launch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "shim/schedule/batch.h"
#include "shim/process/threads.h"
#include "shim/memory/coherence.h"
#include "shim/launch/contents.h"
#include "shim/output/speculation.h"
#include "shim/schedule/dispatch.h"
#include "shim/schedule/finish.h"
#include "shim/launch/follow.h"
#include "shim/plan/kinds.h"
#include "shim/plan/operations.h"
#include "shim/choose/choice.h"
#include "shim/choose/forecast.h"
#include "shim/launch/parts.h"
#include "shim/record/bypass.h"
#include "shim/plan/plan_cache.h"
#include "shim/plan/prepare.h"
#include "shim/plan/reuse.h"
#include "shim/record/remote.h"
#include "shim/report/report.h"
#include "shim/memory/shared.h"
#include "shim/subkernel/units.h"
#include "shim/choose/short_runs.h"
#include "shim/launch/verify.h"
#include "shim/order/callbacks.h"

static cl_int launch_plain(const struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return gs_real()->clEnqueueNDRangeKernel(l->cmd.q->o.handle, l->k->o.handle, l->dims, l->offset, l->global,
                                             l->local, n_wait, n_wait ? wait : NULL, event);
}

/* The driver says what is wrong with these; we only see to it that we don't touch what isn't there. */
static bool well_formed(const struct gs_launching *l)
{
    if (l->dims < 1 || l->dims > 3 || !l->global || (l->cmd.n_wait && !l->cmd.wait))
        return false;
    for (cl_uint d = 0; d < l->dims; d++)
        if (!l->global[d] || (l->local && !l->local[d]))
            return false;
    for (cl_uint i = 0; i < l->k->n_args; i++)
        if (!l->k->args[i].set)
            return false;
    return true;
}

static bool find_mems(struct gs_launching *l)
{
    l->mems = calloc(l->k->n_args + 1, sizeof *l->mems);
    for (cl_uint i = 0; l->mems && i < l->k->n_args; i++) {
        const struct gs_arg *a = &l->k->args[i];
        if (a->is_mem)
            l->mems[i] = gs_find(GS_MEM, *(void **)a->bytes);
    }
    return l->mems;
}

static void set_geometry(struct gs_launching *l, const uint32_t reqd[3])
{
    struct gs_geometry *g = &l->geometry;
    g->dims = l->dims;
    l->null_local = !l->local && !reqd[0];
    for (unsigned d = 0; d < 3; d++) {
        g->offset[d] = d < l->dims && l->offset ? l->offset[d] : 0;
        g->global[d] = d < l->dims ? l->global[d] : 1;
        g->local[d] = d >= l->dims || l->null_local ? 1 : l->local ? l->local[d] : reqd[d];
    }
}

/* Where its address is stored or used as a number, who knows. */
static bool may_write(const struct gs_launching *l, cl_uint arg)
{
    if (l->mems[arg]->flags & CL_MEM_READ_ONLY)
        return false;
    return !l->summary || l->summary->args[arg].may_write || l->summary->args[arg].escapes;
}

/* In chunks, by the translated kernel. 1: it is one chunk, or the driver has refused what chunks take: it may take the
 * launch as one unit, and knows what is wrong with it else. */
static cl_int launch_chunks(struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    struct gs_kernel_run run = {.k = l->k, .kind = l->kind};
    struct gs_box box = {{0, 0, 0}, {1, 1, 1}};
    static const unsigned home;
    cl_int err;
    set_geometry(l, l->of_units->reqd);
    run.geometry = l->geometry;
    run.null_local = l->null_local;
    run.summary = l->of_units;
    for (unsigned d = 0; d < 3; d++)
        box.end[d] = (run.geometry.global[d] + run.geometry.local[d] - 1) / run.geometry.local[d];
    gs_kernel_cut(&run, &l->job, &box);
    if (run.cut.n == 1)
        return 1;
    cl_kernel kernel = gs_spare_kernel(l->k, 0, &err);
    if (!err && (err = gs_launch_args(l, kernel, 0)) != CL_SUCCESS)
        gs_spare_kernel_back(l->k, 0, kernel);
    cl_event end;
    run.untied = !event && !l->cmd.q->out_of_order;
    if (!err)
        err = gs_run_kernel(l->cmd.q, &run, kernel, l->cmd.q->o.handle, n_wait, wait, run.untied ? NULL : &end);
    if (err || run.untied)
        return err ? 1 : CL_SUCCESS;
    const struct gs_events ended = {.v = &end, .n = 1};
    err = gs_finish_command(l->cmd.q, CL_COMMAND_NDRANGE_KERNEL, &ended, &home, event);
    gs_real()->clReleaseEvent(end);
    return err;
}

/* 0: the driver refuses it. */
static uint64_t kind_of_launch(const struct gs_launching *l)
{
    uint64_t global[3] = {1, 1, 1}, local[3] = {0};
    if (!well_formed(l))
        return 0;
    for (cl_uint d = 0; d < l->dims; d++) {
        global[d] = l->global[d];
        local[d] = l->local ? l->local[d] : 0;
    }
    return gs_launch_kind(l->k, global, local);
}

/* Has it more work-groups than so many chunks of the configured size? Of a NULL local size it may have. */
static bool has_more(const struct gs_launching *l, unsigned chunks)
{
    const uint64_t most = (uint64_t)l->job.kernel_chunk * gs_group()->units[l->job.place[0]] * chunks;
    uint64_t groups = 1;
    for (cl_uint d = 0; d < l->dims; d++)
        groups *= l->local ? (l->global[d] + l->local[d] - 1) / l->local[d] : l->global[d];
    return groups > (l->local ? most : most * GS_ITEMS_OF_GROUP);
}

/* Is it more than one unit, by what its chunks took before? */
static bool is_long(const struct gs_launching *l)
{
    return has_more(l, 1) && has_more(l, gs_chunk_factor(l->kind));
}

/* As one unit, by the application's own kernel. */
static cl_int launch_unit(struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    /* 0: its time is measured by itself. */
    const struct gs_units one = {.n = 1, .spent = l->put.spent, .kernel = true, .kind = l->put.spent ? 0 : l->kind};
    struct gs_held *held;
    cl_event gate;
    if (gs_hold_back(l->cmd.q, l->cmd.q->o.handle, gs_resource_of(0), n_wait, wait, &one, &held, &gate) != CL_SUCCESS)
        return launch_plain(l, n_wait, wait, event); /* the driver knows what is wrong */
    const cl_int err =
        gs_launch_held(held, gate, l->cmd.q, l->k, l->dims, l->offset, l->global, l->local, n_wait, wait, event);
    if (!err && one.kind)
        gs_may_follow(l, one.kind, has_more(l, 1));
    return err;
}

static cl_int launch_home(struct gs_launching *l, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    if (!l->by_units)
        return launch_plain(l, n_wait, wait, event);
    cl_int err = l->of_units ? launch_chunks(l, n_wait, wait, event) : 1;
    return err <= 0 ? err : launch_unit(l, n_wait, wait, event);
}

/* Brings home what the launch uses; `wait` gains what it must wait for. */
static cl_int require_home(struct gs_launching *l, struct gs_events *wait)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        struct gs_mem *m = l->mems[i];
        if (m)
            err = gs_require_range(&l->cmd, m->root, 0, gs_window_range(m, 0, m->size), wait);
    }
    return err;
}

/* It has been enqueued. */
static void record_home(struct gs_launching *l)
{
    for (cl_uint i = 0; i < l->k->n_args; i++) {
        struct gs_mem *m = l->mems[i];
        if (!m || !may_write(l, i))
            continue;
        gs_note_write(m->root, 0, gs_window_range(m, 0, m->size));
        m->root->made += m->size;
    }
}

/* Runs the launch on the first device. */
static cl_int launch_single(struct gs_launching *l, cl_event *event)
{
    struct gs_events wait = {0};
    if (l->cmd.ctx->n == 1)
        return launch_home(l, l->cmd.n_wait, l->cmd.wait, event);
    cl_int err = require_home(l, &wait);
    if (!err && wait.n) {
        gs_command_flush(l->cmd.q);
        for (cl_uint i = 0; i < l->cmd.n_wait && !err; i++)
            err = gs_events_share(&wait, l->cmd.wait[i]);
        if (!err)
            err = launch_home(l, wait.n, wait.v, event);
    } else if (!err) {
        err = launch_home(l, l->cmd.n_wait, l->cmd.wait, event);
    }
    gs_events_free(&wait);
    if (!err)
        record_home(l);
    return err;
}

/* The same on a queue with profiles, so that auto mode learns how long it takes. */
static cl_int launch_measured(struct gs_launching *l, cl_event *event)
{
    static const unsigned home;
    struct gs_events wait = {0};
    cl_event ran = NULL;
    cl_int err = gs_command_order(&l->cmd);
    if (!err)
        err = require_home(l, &wait);
    if (!err)
        err = gs_events_share_all(&wait, &l->cmd.before);
    cl_command_queue queue = err ? NULL : gs_timed_queue(l->cmd.q, &err);
    gs_real()->clFlush(l->cmd.q->o.handle);
    if (!err)
        err = gs_real()->clEnqueueNDRangeKernel(queue, l->k->o.handle, l->dims, l->offset, l->global, l->local, wait.n,
                                                wait.v, &ran);
    gs_events_free(&wait);
    if (err) /* to measure it takes more than to launch it: or the driver says the same once more */
        return launch_single(l, event);
    const struct gs_events ended = {.v = &ran, .n = 1};
    gs_timing_learn_single(l->timing, l->numbers, l->k, ran);
    err = gs_finish_command(l->cmd.q, CL_COMMAND_NDRANGE_KERNEL, &ended, &home, event);
    gs_real()->clReleaseEvent(ran);
    if (!err)
        record_home(l);
    return err;
}

/* By units: what they take is what it takes. */
static cl_int launch_counted(struct gs_launching *l, cl_event *event)
{
    static const unsigned home[GS_MAX_DEVICES];
    cl_event own;
    l->put.spent = gs_spent_new();
    const cl_int err = launch_single(l, &own);
    if (!err && l->put.spent)
        gs_timing_learn_units(l->timing, l->numbers, NULL, NULL, own, l->put.spent, home);
    gs_spent_drop(l->put.spent);
    l->put.spent = NULL;
    if (!err && event)
        *event = own;
    else if (!err)
        gs_release_event(own);
    return err;
}

/* Has it fewer work-groups along each dimension than there are devices? */
static bool is_tiny(const struct gs_launching *l)
{
    for (cl_uint d = 0; d < l->dims; d++)
        if ((l->local ? (l->global[d] + l->local[d] - 1) / l->local[d] : l->global[d]) >= l->job.n)
            return false;
    return true;
}

/* How much it computes, if the translator has said. */
static bool estimate(struct gs_launching *l)
{
    if (!gs_timing_wants_estimate(l->timing))
        return true;
    const struct gs_kernel_summary *summary = gs_translated(l->k);
    if (!summary)
        return false;
    set_geometry(l, summary->reqd);
    gs_timing_estimate(l->timing, gs_plan_operations(l->k, summary, &l->geometry));
    return true;
}

static void flush(struct gs_launching *l)
{
    pthread_mutex_lock(&l->cmd.ctx->lock);
    gs_command_flush(l->cmd.q);
    pthread_mutex_unlock(&l->cmd.ctx->lock);
}

/* Nothing is known yet of how long it takes: estimates it, and waits a little for what may be known soon where the
 * application goes on enqueueing. Not where it may have to call again for anything to begin. */
static void know_first(struct gs_launching *l)
{
    enum { SHORTEST_NS = 500000, LONGEST_NS = 5000000 };
    struct timespec pause = {0, SHORTEST_NS}; /* each look asks the driver */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0, counted_ns = 0;
    bool estimated = false;
    if (!gs_timing_is_new(l->timing) || atomic_load(&l->cmd.ctx->user_events) || gs_in_callback())
        return;
    for (;;) {
        estimated = estimated || estimate(l);
        const bool known_soon = !estimated && atomic_load(&l->k->program->preparing);
        if (!gs_timing_awaits(l->timing, known_soon, waited_ns, &counted_ns))
            return;
        if (!waited_ns)
            flush(l);
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < LONGEST_NS / 2 ? 2 * pause.tv_nsec : LONGEST_NS;
        waited_ns = gs_now_ns() - begin_ns;
        if (!estimated && gs_timing_seems_long(l->timing, waited_ns))
            gs_translate_beside(l->k->program);
    }
}

/* Is a launch before this one still running, or are there others that will be for a while? */
static bool is_busy(const struct gs_launching *l)
{
    enum { LITTLE_NS = 1000000 };
    return gs_timing_runs(l->timing) ||
           (!atomic_load(&l->cmd.ctx->user_events) && gs_timing_busy_ns(l->cmd.q) > LITTLE_NS);
}

/* Its translation is being made, and compiled: what waits for that loses nothing while the device is busy. */
static void await_prepared(struct gs_launching *l)
{
    enum { MOST_NS = 2000000000 };
    const struct timespec little = {0, 100000};
    struct gs_program *p = l->k->program;
    const uint64_t begin_ns = gs_now_ns();
    if (gs_in_callback() || !atomic_load(&p->preparing) || !is_busy(l))
        return;
    flush(l);
    while (!gs_prepared(p) && is_busy(l) && gs_now_ns() - begin_ns < MOST_NS) {
        if (!atomic_load(&p->preparing)) /* it has only been translated */
            gs_prepare_beside(p, (struct gs_patience){0});
        if (!atomic_load(&p->preparing))
            return;
        nanosleep(&little, NULL);
    }
}

/* Why the launch isn't split, before anything is known of its arguments; NULL: it may be. */
static const char *early_reason(struct gs_launching *l)
{
    const char *reason = NULL;
    if (l->cmd.ctx->n == 1)
        return gs_short_runs_reason() ? gs_short_runs_reason() : "there is one device";
    if (gs_given_up())
        return gs_given_up();
    if (!well_formed(l))
        return "the driver refuses it";
    if (l->k->svm_info)
        return "it uses shared virtual memory";
    if (!gs_settings_choose(gs_settings(), l->k->name)) {
        atomic_store(&l->k->unsplittable, true);
        return "--only or --not leaves it on one device";
    }
    if (l->job.n == 1)
        return "the daemon gives it one GPU";
    if (l->job.told && gs_settings()->mode == GS_MODE_AUTO && (!is_long(l) || gs_parts_are_short(l->kind, l->job.n)))
        return "it is one unit of the daemon's";
    if (!l->job.told)
        l->timing = gs_timing_of(l->k, l->dims, l->global, l->local, &l->numbers);
    if (l->timing && !l->by_units)
        know_first(l);
    /* What goes in several units has to be translated either way. */
    if (l->timing && !gs_prepared(l->k->program) && !(l->by_units && is_long(l))) {
        if (!gs_timing_worth(l->timing, false, &reason))
            return reason;
        gs_prepare_beside(l->k->program, gs_timing_patience(l->timing, l->cmd.q));
        await_prepared(l);
        if (!gs_prepared(l->k->program))
            return gs_timing_waits(l->timing, l->cmd.ctx);
    }
    /* As long as nothing is elsewhere than at home, nobody needs to know what it only reads. */
    if (!l->timing && is_tiny(l) && !atomic_load(&l->cmd.ctx->spread))
        return GS_TOO_FEW_GROUPS;
    if (!l->timing && !l->by_units && gs_settings()->mode == GS_MODE_MULTI && gs_rebuilt_in_vain(l->k))
        return "its program is built anew again and again, sooner than it could be made ready for several devices";
    l->summary = gs_prepare(l->k, &reason);
    if (!l->summary) {
        atomic_store(&l->k->unsplittable, true);
        atomic_store(&l->k->kind->unsplittable, true);
    }
    return reason;
}

/* May the work-groups of one launch run in several launches of the translated kernel, one after the other? Not where
 * the result may depend on a local size that nobody knows, or on that text, nor where one may wait for another. */
static bool may_be_cut(const struct gs_launching *l, const struct gs_kernel_summary *k)
{
    if (!l->local && !k->reqd[0] && k->uses_group)
        return false;
    if (gs_translation_reorders(k, l->k->program->relaxed) && !gs_settings()->allow_reorder)
        return false;
    for (uint32_t i = 0; k->refusal && i < k->n_args; i++)
        if (k->args[i].atomic == GS_ATOMIC_OTHER && !k->args[i].escapes &&
            k->args[i].atomic_site.line == k->refusal_site.line &&
            k->args[i].atomic_site.column == k->refusal_site.column)
            return true; /* it is the atomics' results that forbid a split: one device keeps them right */
    return !k->refusal;
}

/* The translated kernel for a launch that isn't split, where it takes one: a launch of several chunks, or one on
 * another device. */
static const struct gs_kernel_summary *prepare_units(struct gs_launching *l)
{
    const char *why;
    if (!well_formed(l) || l->k->svm_info || gs_given_up() || !gs_queues_ready(l->cmd.q))
        return NULL;
    if (l->job.place[0] == 0 && (!l->job.kernel_chunk || !is_long(l)))
        return NULL;
    const struct gs_kernel_summary *k = l->summary ? l->summary : gs_prepare(l->k, &why);
    return k && may_be_cut(l, k) ? k : NULL;
}

static cl_int launch_unsplit(struct gs_launching *l, const char *reason, cl_event *event)
{
    /* With a user event pending everything is at home, and only the application's own order counts. */
    const bool measured = l->timing && !atomic_load(&l->cmd.ctx->user_events) &&
                          (l->by_units || gs_queues_ready(l->cmd.q)) && gs_timing_measures(l->timing, l->numbers);
    gs_report_single(l->k->stats, reason);
    if (l->timing && gs_choice_is_later(reason))
        gs_report_later(l->k->stats);
    if (l->timing && !measured)
        gs_timing_sieve(l->cmd.q, l->timing);
    if (measured && l->by_units)
        return launch_counted(l, event);
    return measured ? launch_measured(l, event) : launch_single(l, event);
}

/* The name of the first argument that leads to each use. */
static const char **name_uses(const struct gs_launching *l, const struct gs_plan *plan)
{
    const char **names = calloc(plan->n_uses + 1, sizeof *names);
    for (size_t u = 0; names && u < plan->n_uses; u++)
        for (cl_uint i = l->k->n_args; i-- > 0;)
            if (l->mems[i] && l->mems[i]->root == plan->uses[u].root)
                names[u] = l->summary->args[i].name;
    return names;
}

/* One device's run once more from the same bytes, and again while it doesn't show that what differs in the split does
 * so between one device's runs too. *again is left empty where nothing differs. */
static cl_int run_again(struct gs_launching *l, const struct gs_plan *plan, const struct gs_snapshot *before,
                        const struct gs_snapshot *single, const struct gs_snapshot *split, struct gs_snapshot *again)
{
    enum { MOST = 3 };
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < MOST && !err && gs_verify_differs(single, again->n ? again : NULL, split); i++) {
        struct gs_snapshot earlier = *again;
        *again = (struct gs_snapshot){0};
        err = gs_snapshot_restore(&l->cmd, plan, before);
        if (!err)
            err = launch_single(l, NULL);
        if (!err)
            err = gs_snapshot_take(&l->cmd, plan, again);
        if (!err && earlier.n)
            gs_verify_join(again, single, &earlier);
        gs_snapshot_free(&earlier);
    }
    return err;
}

/* In parts and on one device, from the same bytes; the application gets one device's result, and the event. */
static cl_int launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went)
{
    struct gs_snapshot before = {0}, split = {0}, single = {0}, again = {0};
    const char **names = name_uses(l, plan);
    const struct gs_label label = gs_label_purpose(GS_FOR_VERIFY);
    cl_int err = names ? gs_snapshot_take(&l->cmd, plan, &before) : CL_OUT_OF_HOST_MEMORY;
    gs_label_back(label);
    if (!err)
        err = gs_launch_parts(l, plan, NULL, went);
    gs_label_purpose(GS_FOR_VERIFY);
    if (!err)
        err = gs_snapshot_take(&l->cmd, plan, &split);
    if (!err)
        err = gs_snapshot_restore(&l->cmd, plan, &before);
    if (!err)
        err = launch_single(l, event);
    if (!err)
        err = gs_snapshot_take(&l->cmd, plan, &single);
    if (!err) {
        const bool told = gs_verify_contents(&l->cmd, l->k->name, plan, names);
        err = run_again(l, plan, &before, &single, &split, &again);
        gs_report_verified(l->k->stats, gs_verify_compare(l->k->name, plan, names, &before, &single,
                                                          err || !again.n ? NULL : &again, &split) &&
                                            told);
    }
    gs_label_back(label);
    gs_snapshot_free(&before);
    gs_snapshot_free(&split);
    gs_snapshot_free(&single);
    gs_snapshot_free(&again);
    free(names);
    return err;
}

static bool combines(const struct gs_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses; i++)
        if (plan->uses[i].writes == GS_REDUCED || plan->uses[i].writes == GS_COMPARED ||
            plan->uses[i].writes == GS_APPENDED)
            return true;
    return false;
}

/* Plans the launch in parts. What *plan holds belongs to the kernel's cache of plans. */
static void make_plan(struct gs_launching *l, struct gs_plan *plan)
{
    double cut[GS_MAX_DEVICES];
    struct gs_plan_input in = {.kernel = l->summary,
                               .launch = &l->geometry,
                               .null_local = l->null_local,
                               .args = l->k->args,
                               .mems = l->mems,
                               .n_parts = l->job.n,
                               .known = &gs_contents_known,
                               .may_try = l->may_try,
                               .relaxed = l->k->program->relaxed,
                               .may_reorder = gs_settings()->allow_reorder};
    if (l->timing && gs_timing_cut(l->timing, in.n_parts, &in.cut_dim, cut))
        in.cut = cut;
    const struct gs_plan *cached = gs_plan_cached(&l->k->plans, &in);
    if (cached)
        *plan = *cached;
    else
        plan->reason = "there was no memory to plan it";
    if (!plan->reason && l->job.place[l->job.n - 1] != l->job.n - 1 && combines(plan))
        plan->reason = "its parts' writes are put together from the first device on, which the daemon doesn't give it";
    if (!plan->reason && gs_is_disturbed(plan))
        plan->reason =
            "another thread's call is reading or writing a memory object in which its parts are put together";
}

/* Looks at what buffers hold, where that may spare a split launch transfers, and plans it again. Under a daemon's
 * schedule nothing runs on a device that hasn't been granted, so nothing is looked at. */
static bool look_at_contents(struct gs_launching *l, struct gs_plan *plan)
{
    enum { ROUNDS = 3 }; /* an index may depend on what stands at an index that is loaded as well */
    struct gs_looked looked;
    bool any = false;
    for (unsigned i = 0; i < ROUNDS && !l->by_units && !plan->reason && plan->n_wants; i++) {
        if (!gs_contents_look(&l->cmd, plan, l->mems, l->job.place, &looked))
            break;
        make_plan(l, plan);
        if (!plan->reason)
            gs_contents_judge(&looked, plan, l->mems, l->job.place);
        any = true;
    }
    return any;
}

/* Before the launch is planned: is it one that could only be split on trial, and may it be? */
static void try(struct gs_launching *l, struct gs_plan *plan)
{
    const struct gs_kernel_summary *k = l->summary;
    if (!k->refusal || !k->only_atomics || l->job.n == 1)
        return;
    for (cl_uint i = 0; i < l->k->n_args; i++)
        if (l->mems[i] && l->mems[i]->root->base)
            return; /* the parts would share it: there are no copies to try anything on */
    if (l->by_units)
        plan->reason = "it could be split only on trial, which isn't done by the daemon's units";
    else
        plan->reason = gs_speculation_forbidden(l->k);
    l->may_try = !plan->reason;
}

/* It will be planned: what it uses lies in one memory of all devices from now on, if it can. */
static void begin_plan(struct gs_launching *l, struct gs_plan *plan)
{
    for (cl_uint i = 0; i < l->k->n_args && !l->by_units; i++)
        if (l->mems[i])
            gs_share_now(l->mems[i]->root);
    l->summary = gs_plan_kernel(l->summary, l->mems, l->k->args);
    try(l, plan);
}

/* Auto mode: is it to be split? A short kernel isn't planned where nothing has to be brought home for it. */
static void choose(struct gs_launching *l, struct gs_plan *plan)
{
    if (!gs_forecast_away(l->mems, l->k->n_args) && !gs_timing_worth(l->timing, true, &plan->reason))
        return;
    begin_plan(l, plan);
    if (!plan->reason)
        make_plan(l, plan);
    if (plan->reason)
        gs_timing_refused(l->timing);
    else if (gs_forecast(&l->trial, plan) < 0)
        plan->reason = "there was no memory to plan it";
    else if (gs_timing_choose(l->timing, l->numbers, l->cmd.ctx, &l->trial, &plan->reason) &&
             look_at_contents(l, plan) && !plan->reason)
        gs_forecast_again(&l->trial, plan);
}

/* On one device that isn't home, as a plan of one part. False: that can't be done, and nothing has happened. */
static bool launch_elsewhere(struct gs_launching *l, const char *reason, cl_event *event, cl_int *err)
{
    struct gs_plan plan = {0};
    bool went = false;
    l->summary = l->of_units;
    l->job.n = 1;
    set_geometry(l, l->summary->reqd);
    make_plan(l, &plan);
    if (!plan.reason)
        *err = gs_launch_parts(l, &plan, event, &went);
    if (went)
        gs_report_single(l->k->stats, reason);
    return went;
}

/* How many of the bytes that the launch may write the application will read at once, if it goes on as it did. */
static uint64_t bytes_to_read(const struct gs_launching *l)
{
    uint64_t bytes = 0;
    for (cl_uint i = 0; i < l->k->n_args; i++) {
        const struct gs_mem *m = l->mems[i], *root = m ? m->root : NULL;
        if (!root || !root->taken || !root->made || !may_write(l, i))
            continue;
        const double rate = (double)root->taken / (double)root->made;
        bytes += rate < 1 ? (uint64_t)(rate * (double)m->size) : m->size;
    }
    return bytes;
}

static cl_int launch_locked(struct gs_launching *l, const char *reason, cl_event *event)
{
    struct gs_plan plan = {.reason = reason};
    bool went = false;
    cl_int err = CL_SUCCESS;
    const bool held_up = atomic_load(&l->cmd.ctx->user_events);
    if (l->timing)
        gs_timing_reads(l->timing, bytes_to_read(l));
    if (!plan.reason && held_up)
        plan.reason = "a user event of the application has no status yet";
    if (!plan.reason && !gs_queues_ready(l->cmd.q))
        plan.reason = "it comes within a callback, where no queues may be made for its parts";
    if (!plan.reason) {
        set_geometry(l, l->summary->reqd);
        if (l->timing)
            choose(l, &plan);
        else
            begin_plan(l, &plan);
        if (!l->timing && !plan.reason)
            make_plan(l, &plan);
    }
    if (!plan.reason && !l->timing)
        look_at_contents(l, &plan);
    if (!plan.reason) {
        const unsigned n_parts = plan.n_parts, dim = plan.dim;
        err = gs_settings()->verify && gs_verify_possible(&plan) ? launch_verified(l, &plan, event, &went)
                                                                 : gs_launch_parts(l, &plan, event, &went);
        if (went)
            gs_report_split(l->k->stats, n_parts, dim);
        else
            plan.reason = "a device refused its part";
    }
    if (!went && l->of_units && l->job.place[0] != 0 && !held_up)
        went = launch_elsewhere(l, plan.reason, event, &err);
    if (!went)
        err = launch_unsplit(l, plan.reason, event);
    if (l->timing && !err)
        gs_timing_enqueued(l->cmd.q, l->timing, went);
    if (l->timing && gs_settings()->stats)
        gs_timing_report(l->timing, l->k->stats);
    return err;
}

/* Where the launch may run. */
static void find_places(struct gs_launching *l)
{
    if (l->by_units) {
        gs_job_enter_quickly(l->cmd.ctx, &l->job);
        l->put = (struct gs_putting){.q = l->cmd.q, .job = l->job};
        return;
    }
    for (l->job.n = 0; l->job.n < l->cmd.ctx->n; l->job.n++)
        l->job.place[l->job.n] = l->job.n;
}

bool gs_launch_defines(struct gs_kernel *k)
{
    struct gs_context *ctx = k->o.ctx;
    int err = 0;
    if (gs_prepared(k->program)) /* it is known what it writes */
        return false;
    pthread_mutex_lock(&ctx->lock);
    const bool may = !atomic_load(&ctx->spread);
    for (cl_uint i = 0; i < k->n_args && may && !err; i++) {
        struct gs_mem *m = k->args[i].is_mem ? gs_find(GS_MEM, *(void **)k->args[i].bytes) : NULL;
        if (!m || m->flags & CL_MEM_READ_ONLY || gs_is_defined(m))
            continue;
        if (m == m->root)
            gs_wrote_at_home(m);
        else
            err = gs_wrote_range(m->root, 0, gs_window_range(m, 0, m->size));
    }
    if (may && !err)
        atomic_store(&k->fresh, false);
    pthread_mutex_unlock(&ctx->lock);
    return may && !err;
}

/* Is there nothing to do about this launch but to hand it on? Where nothing of the context has ever been elsewhere than
 * at home, and what the kernel writes is known to be defined, one that won't be split needs no book-keeping. */
static bool may_pass(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    const struct gs_context *ctx = k->o.ctx;
    return !atomic_load_explicit(&ctx->spread, memory_order_relaxed) &&
           (atomic_load_explicit(&k->unsplittable, memory_order_relaxed) || gs_timing_passes(k, dims, global, local)) &&
           (!atomic_load_explicit(&k->fresh, memory_order_relaxed) || gs_launch_defines(k));
}

static cl_int launch_with_care(struct gs_queue *q, struct gs_kernel *k, bool by_units, cl_uint dims,
                               const size_t *offset, const size_t *global, const size_t *local, cl_uint n_wait,
                               const cl_event *wait, cl_event *event)
{
    /* An address of no events is no list: PoCL takes it of launches, though of no other command. */
    struct gs_launching l = {.cmd = {.ctx = q->o.ctx, .q = q, .n_wait = n_wait, .wait = n_wait ? wait : NULL},
                             .k = k,
                             .dims = dims,
                             .offset = offset,
                             .global = global,
                             .local = local,
                             .by_units = by_units};
    l.kind = kind_of_launch(&l);
    find_places(&l);
    const char *reason = early_reason(&l);
    if (l.by_units)
        l.of_units = prepare_units(&l);
    if (!l.by_units)
        gs_queue_close(q->o.handle);
    if (q->o.ctx->n == 1 && !l.by_units)
        return launch_unsplit(&l, reason, event);
    if (!find_mems(&l))
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&q->o.ctx->lock);
    const struct gs_putting *before = gs_put_for(l.by_units ? &l.put : NULL);
    cl_int err = launch_locked(&l, reason, event);
    gs_put_for(before);
    if (!err)
        atomic_store(&k->fresh, false);
    pthread_mutex_unlock(&q->o.ctx->lock);
    gs_command_end(&l.cmd);
    free(l.mems);
    return err;
}

/* A launch that translates and compiles takes long where the application's own would not. If the process ends
 * meanwhile, by another thread, its end waits for all of the launch, which would long have ended: a driver that has
 * taken itself apart bears no call, and PoCL no kernel that runs then. */
static cl_int launch_looked_at(struct gs_queue *q, struct gs_kernel *k, bool by_units, cl_uint dims,
                               const size_t *offset, const size_t *global, const size_t *local, cl_uint n_wait,
                               const cl_event *wait, cl_event *event)
{
    const bool inside = !gs_prepared(k->program) && gs_threads_enter();
    const cl_int err = launch_with_care(q, k, by_units, dims, offset, global, local, n_wait, wait, event);
    if (inside && !err && gs_threads_ends())
        gs_real()->clFinish(q->o.handle);
    if (inside)
        gs_threads_leave();
    return err;
}

cl_int gs_launch(struct gs_queue *q, struct gs_kernel *k, cl_uint dims, const size_t *offset, const size_t *global,
                 const size_t *local, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    struct gs_context *ctx = q->o.ctx;
    const bool by_units = gs_scheduled();
    gs_remote_note(k->name);
    if (by_units || gs_report_wants_times() || gs_given_up()) {
        cl_int err;
        if (by_units && !gs_report_wants_times() && !gs_given_up() &&
            gs_follow(q, k, dims, offset, global, local, n_wait, wait, event, &err))
            ;
        else
            err = launch_looked_at(q, k, by_units, dims, offset, global, local, n_wait, wait, event);
        gs_job_tell();
        return err;
    }
    gs_queue_close(q->o.handle); /* there may have been a daemon until now */
    if (ctx->n == 1)
        return gs_real()->clEnqueueNDRangeKernel(q->o.handle, k->o.handle, dims, offset, global, local, n_wait, wait,
                                                 event);
    if (!may_pass(k, dims, global, local))
        return launch_looked_at(q, k, by_units, dims, offset, global, local, n_wait, wait, event);
    /* In shared memory nothing spreads, and splits are no more than commands that must not be overtaken. */
    const bool alone = gs_pass_begin(ctx);
    if (!alone)
        pthread_mutex_lock(&ctx->lock);
    if (!alone && atomic_load(&ctx->spread)) { /* since we looked */
        pthread_mutex_unlock(&ctx->lock);
        return launch_looked_at(q, k, by_units, dims, offset, global, local, n_wait, wait, event);
    }
    const cl_int err =
        gs_real()->clEnqueueNDRangeKernel(q->o.handle, k->o.handle, dims, offset, global, local, n_wait, wait, event);
    if (alone)
        gs_pass_end(ctx);
    else
        pthread_mutex_unlock(&ctx->lock);
    return err;
}
