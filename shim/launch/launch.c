/* SPDX-License-Identifier: MIT */
#include "shim/launch/launch.h"

#include "shim/process/threads.h"
#include "shim/order/completion.h"
#include "shim/report/report.h"
#include "shim/coherence/coherence.h"

static bool has_all_args(const struct gs_kernel *k)
{
    cl_uint i = 0;
    while (i < k->n_args && k->args[i].set)
        i++;
    return i == k->n_args;
}

/* Are sizes, arguments and wait list there to look at? A malformed launch goes to the driver, for its error code. */
static bool well_formed(const struct gs_launching *l)
{
    if (l->cmd.op.dims < 1 || l->cmd.op.dims > 3 || !l->cmd.op.global || (l->cmd.n_wait && !l->cmd.wait))
        return false;
    for (cl_uint d = 0; d < l->cmd.op.dims; d++)
        if (!l->cmd.op.global[d] || (l->cmd.op.local && !l->cmd.op.local[d]))
            return false;
    return has_all_args(l->k);
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

/* Are there fewer work-groups along each dimension than devices? */
static bool is_tiny(const struct gs_launching *l)
{
    for (cl_uint d = 0; d < l->cmd.op.dims; d++)
        if (gs_geometry_groups(&l->geometry, d) >= l->job.n)
            return false;
    return true;
}

/* Why a job's launch isn't split, by the daemon's word: it gives one device, or several to a task in auto mode, which
 * splits what is more than a unit. NULL: the launch may be split. */
static const char *why_whole(const struct gs_launching *l)
{
    const bool chooses = l->job.told && gs_settings()->mode == GS_MODE_AUTO;
    if (l->job.n == 1)
        return GS_R_ONE_GRANTED;
    return chooses && (!l->is_long || gs_batch_parts_short(l->size, l->job.n)) ? GS_R_ONE_UNIT : NULL;
}

/* The reason not to split that is known without looking at the arguments; NULL: none. */
static const char *early_reason(struct gs_launching *l, bool sound)
{
    const char *reason = NULL;
    if (l->cmd.ctx->n == 1 && gs_group()->n > 1 && gs_svm_alone(gs_group()))
        return GS_R_SVM_ALONE;
    if (l->cmd.ctx->n == 1)
        return gs_short_runs_reason() ? gs_short_runs_reason() : GS_R_ONE_DEVICE;
    if (gs_given_up(l->cmd.ctx))
        return gs_given_up(l->cmd.ctx);
    if (!sound)
        return GS_R_REFUSED;
    if (!gs_list_is_valid(l->cmd.n_wait, l->cmd.wait))
        return GS_R_NO_EVENT;
    if (l->k->svm_info)
        return GS_R_SVM;
    if (!gs_settings_choose(gs_settings(), l->k->kind->name)) {
        atomic_store(&l->k->unsplittable, true);
        return GS_R_NOT_CHOSEN;
    }
    if (l->k->kind->never[!l->cmd.op.local])
        return l->k->kind->never[!l->cmd.op.local];
    reason = why_whole(l);
    if (reason)
        return reason;
    if (!l->job.told)
        l->choice.cuts = gs_timing_of(l->k, l->size);
    l->choice.timing = gs_settings()->mode == GS_MODE_AUTO ? l->choice.cuts : NULL;
    if (l->choice.cuts && !l->cmd.units)
        gs_timing_await(l->choice.cuts, &l->cmd);
    /* A launch of several units has to be translated in any case. */
    if (l->choice.timing && !gs_prepared(l->k->program) && !l->is_long)
        reason = gs_timing_prepare(l->choice.timing, &l->cmd, l->k->program);
    if (reason)
        return reason;
    /* As long as all bytes are at home, nobody needs to know which arguments the kernel only reads. */
    if (!l->choice.timing && is_tiny(l) && !atomic_load(&l->cmd.ctx->spread))
        return GS_R_FEW_GROUPS;
    l->summary = gs_prepare(l->k, true, &reason);
    if (!l->summary) {
        atomic_store(&l->k->unsplittable, true);
        atomic_store(&l->k->kind->unsplittable, true);
    }
    return reason;
}

static void report_unsplit(struct gs_launching *l, const char *reason, enum gs_route route)
{
    enum gs_left left = gs_choice_left(reason);
    if (left != GS_NOT_SPLIT && is_tiny(l)) {
        reason = GS_R_FEW_GROUPS;
        left = GS_NOT_SPLIT;
    }
    gs_report_single(l->k->kind->stats, reason, left, gs_route_name(route));
}

/* Is a call using an object of the launch without the context's lock, perhaps in the application's queue? */
static bool has_used_object(const struct gs_launching *l)
{
    bool used = false;
    for (cl_uint i = 0; i < l->k->n_args && l->mems && !used; i++)
        used = l->mems[i] && gs_is_host_using(l->mems[i]->root, NULL);
    return used;
}

/* A measured launch goes in another queue than the application's. While a user event is open only the application's own
 * order counts, so nothing is measured. */
static bool is_measured(const struct gs_launching *l)
{
    return l->choice.timing && !has_used_object(l) && !atomic_load(&l->cmd.ctx->user_events) &&
           (l->cmd.units || !gs_in_callback()) && gs_timing_measures(l->choice.timing);
}

/* Plans the launch in parts. Makes buffers that can be shared one memory of all devices before. *plan is a copy: all
 * sets in the plan belong to the cache. */
static void make_plan(struct gs_launching *l, struct gs_plan *plan)
{
    double cut[GS_MAX_DEVICES];
    struct gs_plan_input in = {.kernel = l->summary, .launch = &l->geometry, .args = l->k->args, .mems = l->mems};
    for (cl_uint i = 0; i < l->k->n_args; i++) {
        struct gs_mem *root = l->mems[i] ? l->mems[i]->root : NULL;
        if (!root)
            continue;
        if (!l->cmd.units)
            gs_share_now(root);
        if (!l->cmd.settled)
            gs_settle(root);
        in.exact |= gs_check_spoiled(root, gs_window_range(root, 0, root->size)) != CL_SUCCESS;
    }
    l->cmd.settled = true;
    in.n_parts = l->job.n;
    in.may_race = gs_settings()->allow_race;
    in.may_reorder = gs_settings()->allow_reorder;
    in.most_offset = gs_group()->most_offset;
    if (l->choice.cuts && gs_timing_cut(l->choice.cuts, in.n_parts, &in.cut_dim, cut))
        in.cut = cut;
    const struct gs_plan *cached = gs_plan_cached(&l->k->kind->plans, &in);
    if (cached)
        *plan = *cached;
    else
        plan->reason = GS_R_NO_MEMORY;
    if (!plan->reason && l->job.place[l->job.n - 1] != l->job.n - 1 && gs_plan_is_joined(plan, true))
        plan->reason = GS_R_NO_HOME;
    if (!plan->reason && gs_plan_is_in_use(plan))
        plan->reason = GS_R_DISTURBED;
}

/* Auto mode: should the launch be split? Where no bytes have to come home, a short kernel isn't even planned. */
static void choose(struct gs_launching *l, struct gs_plan *plan)
{
    if (!gs_forecast_gathers(l->mems, l->k->n_args) && !gs_timing_may_plan(l->choice.timing, true, &plan->reason))
        return;
    l->choice.trial.begun_ns = gs_thread_ns();
    make_plan(l, plan);
    if (plan->reason)
        gs_timing_refused(l->choice.timing);
    else
        plan->reason = gs_timing_choose(l->choice.timing, l->cmd.ctx, plan, &l->choice.trial);
    l->cmd.turns_back = l->choice.trial.turns_back;
}

/* Runs the launch whole on another device than home, as a plan of one part. False: impossible, nothing happened. */
static bool launch_elsewhere(struct gs_launching *l, const char *reason, cl_event *event, cl_int *err)
{
    struct gs_plan plan = {0};
    bool went = false;
    l->summary = l->translated;
    l->job.n = 1;
    make_plan(l, &plan);
    if (!plan.reason)
        *err = gs_launch_parts(l, &plan, event, &went);
    if (went)
        gs_report_single(l->k->kind->stats, reason, GS_NOT_SPLIT, gs_route_name(GS_ROUTE_AWAY));
    return went;
}

/* How many bytes of the launch's outputs the application will read by large blocking reads, as before. */
static uint64_t bytes_to_read(const struct gs_launching *l)
{
    uint64_t bytes = 0;
    for (cl_uint i = 0; i < l->k->n_args; i++)
        if (l->mems[i] && gs_launch_may_write(l, i))
            bytes += gs_forecast_reads(l->mems[i]);
    return bytes;
}

/* Runs the launch in parts, by the plan. *went false: another way must be found. */
static cl_int launch_split(struct gs_launching *l, struct gs_plan *plan, bool verified, cl_event *event, bool *went)
{
    const cl_int err = (verified ? gs_launch_verified : gs_launch_parts)(l, plan, event, went);
    if (*went)
        gs_report_split(l->k->kind->stats, plan->n_parts, plan->dim,
                        gs_route_name(verified ? GS_ROUTE_VERIFIED : GS_ROUTE_PARTS));
    else
        plan->reason = GS_R_PART_REFUSED;
    return err;
}

static unsigned facts_of_plan(const struct gs_launching *l, const struct gs_plan *plan, bool away)
{
    const unsigned facts = GS_LAUNCH_PLANNED | (l->cmd.units ? GS_LAUNCH_UNITS : 0);
    if (!plan->reason)
        return facts | GS_LAUNCH_PAYS | (gs_settings()->verify && gs_verify_usable(plan) ? GS_LAUNCH_VERIFIED : 0);
    return away ? facts | GS_LAUNCH_AWAY : facts | (is_measured(l) ? GS_LAUNCH_MEASURED : 0);
}

/* Asks for a way and tries it, until a way works. */
static cl_int carry_out(struct gs_launching *l, struct gs_plan *plan, bool away, cl_event *event, bool *went)
{
    cl_int err = CL_SUCCESS;
    while (!*went) {
        const enum gs_route route = gs_launch_route(facts_of_plan(l, plan, away));
        if (route == GS_ROUTE_PARTS || route == GS_ROUTE_VERIFIED) {
            err = launch_split(l, plan, route == GS_ROUTE_VERIFIED, event, went);
        } else if (route == GS_ROUTE_AWAY) {
            *went = launch_elsewhere(l, plan->reason, event, &err);
            away = false;
        } else {
            report_unsplit(l, plan->reason, route);
            return route == GS_ROUTE_COUNTED    ? gs_launch_counted(l, event)
                   : route == GS_ROUTE_MEASURED ? gs_launch_measured(l, event)
                                                : gs_launch_single(l, event);
        }
    }
    return err;
}

/* Makes the plan, or says in plan->reason why there is no split. */
static void find_plan(struct gs_launching *l, struct gs_plan *plan, bool held_up)
{
    if (!plan->reason)
        plan->reason = gs_given_up(l->cmd.ctx); /* since early_reason() looked */
    if (l->choice.timing)
        gs_timing_enqueues(l->cmd.q, l->choice.timing, bytes_to_read(l));
    if (!plan->reason && held_up)
        plan->reason = GS_R_USER_EVENT;
    if (!plan->reason && gs_in_callback())
        plan->reason = GS_R_IN_CALLBACK;
    if (!plan->reason)
        (l->choice.timing ? choose : make_plan)(l, plan);
    /* Multi mode, between devices that differ. */
    if (!plan->reason && !l->choice.timing && l->choice.cuts)
        gs_timing_split(l->choice.cuts, plan, &l->choice.trial);
}

static cl_int launch_locked(struct gs_launching *l, const char *reason, cl_event *event)
{
    struct gs_plan plan = {.reason = reason};
    bool went = false;
    const bool held_up = atomic_load(&l->cmd.ctx->user_events);
    find_plan(l, &plan, held_up);
    const cl_int err = carry_out(l, &plan, l->translated && l->job.place[0] != 0 && !held_up, event, &went);
    if (l->choice.timing && !err)
        gs_timing_enqueued(l->cmd.q, l->choice.timing, went, l->k->kind->stats);
    return err;
}

static void find_places(struct gs_launching *l, bool by_units)
{
    if (by_units) {
        l->cmd.units = gs_job_enter(l->cmd.ctx, false, &l->job);
        l->size = gs_size_find(l->k, &l->cmd.op);
        if (l->size) {
            l->geometry = gs_op_geometry(&l->cmd.op);
            l->is_long = gs_launch_is_long(l);
        }
        return;
    }
    for (l->job.n = 0; l->job.n < l->cmd.ctx->n; l->job.n++)
        l->job.place[l->job.n] = l->job.n;
}

/* The facts that are known before the launch is looked at. `units`: the launch under a daemon; or null. A launch passes
 * while all bytes of the context have always been at home, the kernel's outputs are known to be defined, and there will
 * be no split. No launch passes where --stats wants times, or the context is given up. */
static unsigned facts_of_call(const struct gs_command *cmd, const struct gs_kernel *k, const struct gs_launching *units)
{
    const unsigned facts = units ? GS_LAUNCH_UNITS : 0;
    if (gs_report_wants_times() || gs_given_up(cmd->ctx))
        return facts;
    /* A bad wait list is for the driver to refuse. */
    if (units &&
        (!units->size || units->job.place[0] != 0 || !gs_list_is_valid(cmd->n_wait, units->cmd.wait) || units->is_long))
        return facts;
    const bool passes = cmd->ctx->n == 1 ||
                        (!atomic_load_explicit(&cmd->ctx->spread, memory_order_relaxed) &&
                         ((units && why_whole(units)) || atomic_load_explicit(&k->unsplittable, memory_order_relaxed) ||
                          gs_size_is_short(k, &cmd->op)) &&
                         !atomic_load_explicit(&k->fresh, memory_order_relaxed));
    return passes ? facts | GS_LAUNCH_PASSES : facts;
}

/* Translating and compiling take long. If another thread ends the process meanwhile, exit waits for the whole launch: a
 * driver bears no call once it has taken itself down, and PoCL no running kernel. */
static cl_int launch_looked_at(struct gs_launching *l)
{
    const bool inside = !gs_prepared(l->k->program) && gs_threads_enter(), sound = well_formed(l);
    const int before = errno; /* the application's */
    cl_int err = CL_OUT_OF_HOST_MEMORY;
    if (sound)
        l->geometry = gs_op_geometry(&l->cmd.op);
    if (sound && !l->size) {
        l->size = gs_size_of_launch(l->k, &l->cmd.op);
        l->is_long = gs_launch_is_long(l);
    }
    const char *reason = early_reason(l, sound);
    if (sound && gs_list_is_valid(l->cmd.n_wait, l->cmd.wait))
        l->translated = gs_launch_translation(l);
    if (find_mems(l)) {
        gs_queue_lock(l->cmd.q);
        const struct gs_command *outer = gs_set_unit_owner(&l->cmd);
        err = launch_locked(l, reason, l->cmd.event);
        gs_set_unit_owner(outer);
        if (!err)
            atomic_store(&l->k->fresh, false);
        pthread_mutex_unlock(&l->cmd.ctx->lock);
        gs_command_end(&l->cmd);
        free(l->mems);
    }
    if (inside && !err && gs_threads_ends())
        gs_real()->clFinish(l->cmd.queue);
    if (inside)
        gs_threads_leave();
    errno = before;
    return err;
}

/* Passes the launch on unchanged, or as one unit (`units`, or null). False: by now, bytes lie elsewhere than at home.
 * In shared memory bytes never do; there the lock keeps commands from overtaking a split. With one device the lock
 * protects nothing here, so threads launch side by side. */
static bool launch_at_home(const struct gs_command *cmd, const struct gs_launching *units, cl_int *err)
{
    struct gs_context *ctx = cmd->ctx;
    if (ctx->n == 1 && !units) {
        gs_queue_enter(cmd->q);
        *err = gs_command_pass(cmd);
        return true;
    }
    gs_queue_lock(cmd->q);
    const bool stays = !atomic_load(&ctx->spread);
    if (stays)
        *err = units ? gs_launch_unit(units, cmd->n_wait, units->cmd.wait, cmd->event) : gs_command_pass(cmd);
    pthread_mutex_unlock(&ctx->lock);
    return stays;
}

cl_int gs_launch(const struct gs_command *cmd, struct gs_kernel *k)
{
    const bool by_units = gs_scheduled();
    cl_int err = gs_command_list(cmd);
    if (err && !gs_group()->pocl) /* which takes an address of no events of launches, though of no other command */
        return err;
    /* Behind a gate NVIDIA's driver would take it, and fail it and what comes after it later (docs/drivers.md). */
    if (by_units && !gs_given_up(cmd->ctx) && !has_all_args(k))
        return CL_INVALID_KERNEL_ARGS;
    if (!by_units)
        gs_queue_close(cmd->queue); /* there may have been a daemon until now */
    if (!by_units && gs_launch_route(facts_of_call(cmd, k, NULL)) == GS_ROUTE_DRIVER && launch_at_home(cmd, NULL, &err))
        return err;
    struct gs_launching l = {.cmd = *cmd, .k = k}; /* not before: it is large */
    l.cmd.wait = cmd->n_wait ? cmd->wait : NULL;
    find_places(&l, by_units);
    if (by_units && gs_launch_route(facts_of_call(cmd, k, &l)) == GS_ROUTE_UNIT && launch_at_home(cmd, &l, &err))
        return err;
    return launch_looked_at(&l);
}
