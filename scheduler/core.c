/* SPDX-License-Identifier: MIT */
/* The core's start and end, its config, who is connected, and what is done in turn or at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "scheduler/session.h"

/* ---- start and end ---- */

struct gs_core *gs_core_new(const struct gs_core_options *options, const struct gs_core_ops *ops, void *ctx)
{
    struct gs_core *core = calloc(1, sizeof *core);
    if (!core)
        return NULL;
    core->forget_ns = UINT64_MAX;
    core->options = *options;
    core->ops = *ops;
    core->ctx = ctx;
    TAILQ_INIT(&core->waiting);
    TAILQ_INIT(&core->present);
    TAILQ_INIT(&core->asking);
    TAILQ_INIT(&core->behind);
    TAILQ_INIT(&core->unwelcomed);
    core->session = calloc(options->max_clients, sizeof *core->session);
    core->decider = gs_decider_new(ops->analyse, ctx);
    /* Not from 1: a client of a daemon that has died must not take this one's answers for its own. */
    if (!core->session || !core->decider ||
        getrandom(&core->next_number, sizeof core->next_number, 0) != sizeof core->next_number) {
        gs_core_free(core);
        return NULL;
    }
    return core;
}

void gs_core_free(struct gs_core *core)
{
    if (!core)
        return;
    for (size_t i = 0; i < core->n_stats; i++)
        free(core->stats[i]);
    free(core->stats);
    free(core->session);
    gs_policy_free(core->policy);
    gs_decider_free(core->decider);
    gs_config_free(&core->config);
    free(core->owner);
    gs_status_free(core);
    free(core);
}

static unsigned gpus_of(const struct gs_core *core, const struct gs_config *config)
{
    return config->system.servers[GS_GPU] ? (unsigned)config->system.servers[GS_GPU] : core->options.gpus;
}

int gs_core_fits(const struct gs_core *core, const struct gs_config *config, struct gs_mistakes *mistakes)
{
    const struct gs_config_system *s = &config->system;
    const unsigned gpus = gpus_of(core, config);
    const size_t before = mistakes->n;
    int err = 0;
    if (gpus == 0 || gpus > GS_MAX_GPUS)
        err = gs_mistakes_add(mistakes, s->gpus_line, "gpus must be 1 to %d", GS_MAX_GPUS);
    else if (core->configured && gpus != core->gpus)
        err = gs_mistakes_add(mistakes, s->gpus_line, "gpus: %u instead of %u needs a restart of the daemon", gpus,
                              core->gpus);
    if (err == 0 && core->configured && (unsigned)s->depth != core->depth)
        err = gs_mistakes_add(mistakes, s->depth_line, "depth: %d instead of %u needs a restart of the daemon",
                              s->depth, core->depth);
    gs_mistakes_sort(mistakes);
    return err < 0 ? err : mistakes->n > before ? -EINVAL : 0;
}

static int check_sizes(const struct gs_core *core, const struct gs_config *config, unsigned *gpus)
{
    *gpus = gpus_of(core, config);
    if (*gpus == 0 || *gpus > GS_MAX_GPUS)
        return -EINVAL;
    bool same = !core->configured || (*gpus == core->gpus && (unsigned)config->system.depth == core->depth);
    return same ? 0 : -EBUSY;
}

/* Looks up whom each task belongs to. -ENOMEM. */
static int find_owners(struct gs_core *core, const struct gs_config *config, struct gs_owner **owners)
{
    *owners = calloc(config->n_tasks + 1, sizeof **owners);
    if (!*owners)
        return -ENOMEM;
    for (size_t i = 0; i < config->n_tasks; i++) {
        (*owners)[i] = gs_taskset_owner(&config->tasks[i]);
        if ((*owners)[i].kind == GS_OWNER_UNKNOWN)
            gs_core_log(core, true, "task %s is given to user %s, whom this machine doesn't know: only root may run it",
                        config->tasks[i].name, config->tasks[i].user);
    }
    return 0;
}

/* Whoever is connected alone is told so. Who joins makes its OpenCL context next (0.1 s with NVIDIA's driver), which
 * mostly takes longer than what the other has out. That is no bound: docs/daemon.md, "How long a unit lasts". Of more
 * than two all have been told already. */
void gs_core_tell_sole(struct gs_core *core)
{
    const bool sole = core->n_sessions == 1 && core->config.system.alone == GS_ALONE_LARGE;
    struct gs_session *s;
    if (core->n_sessions <= 2)
        TAILQ_FOREACH (s, &core->present, present)
            gs_lease_tell_sole(&s->lease, sole);
}

int gs_core_configure(struct gs_core *core, struct gs_config *config, uint64_t now_ns)
{
    core->now_ns = now_ns;
    unsigned gpus;
    int err = check_sizes(core, config, &gpus);
    if (err == 0 && !core->policy) {
        core->gpus = gpus;
        core->depth = (unsigned)config->system.depth;
        core->policy = gs_policy_new(1 + gpus, core->depth, core->options.max_clients, &gs_core_policy_ops, core);
        core->started_ns = now_ns;
        err = core->policy ? 0 : -ENOMEM;
    }
    struct gs_owner *owners = NULL;
    if (err == 0)
        err = find_owners(core, config, &owners);
    if (err < 0) {
        gs_config_free(config);
        return err;
    }
    gs_jobs_read_all(core); /* these had the old one's deadlines */
    free(core->owner);
    core->owner = owners;
    struct gs_config old = core->config;
    core->config = *config;
    *config = (struct gs_config){0};
    core->reloads += core->configured;
    core->configured = true;
    for (size_t i = 0; i < core->n_stats; i++) { /* the new segments may have been measured since */
        core->stats[i]->demand = (struct gs_demand){0};
        memset(core->stats[i]->unit_ns, 0, sizeof core->stats[i]->unit_ns);
        memset(core->stats[i]->chunks, 0, sizeof core->stats[i]->chunks);
    }
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            core->session[i]->lately = core->session[i]->before = (struct gs_demand){0};
    core->forget_ns = UINT64_MAX;
    memset(core->unit_ns, 0, sizeof core->unit_ns);
    gs_decider_configure(core->decider, &core->config, core->gpus);
    gs_members_relink(core);
    core->since = "by the new config";
    core->undecided = true;
    if (gs_members_may_go_on(core))
        gs_members_go_on(core);
    gs_members_go_on_at_once(core);
    gs_core_tell_sole(core);
    gs_decider_retire(core->decider, &old);
    return 0;
}

void gs_core_end(struct gs_core *core)
{
    core->ending = true;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i]) {
            gs_members_want_realtime(core->session[i], 0);
            gs_members_set_realtime(core->session[i]);
        }
}

const char *gs_core_worry(const struct gs_core *core)
{
    return core->decision.schedulable ? NULL : core->decision.reason;
}

bool gs_core_wants_realtime(const struct gs_core *core)
{
    return core->config.system.realtime == GS_REALTIME_YES && core->config.n_tasks > 0;
}

void gs_core_set_trace(struct gs_core *core, struct gs_trace *trace)
{
    core->trace = trace;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            atomic_store(&core->session[i]->lease.page->recording, trace != NULL);
    for (unsigned r = 0; trace && r <= core->gpus; r++)
        gs_trace_resource(trace, r);
}

bool gs_core_has_task_of(const struct gs_core *core, uid_t uid)
{
    bool has = gs_user_is_trusted(uid);
    for (size_t i = 0; i < core->config.n_tasks && !has; i++)
        has = core->owner[i].kind == GS_OWNER_ONE && core->owner[i].uid == uid;
    return has;
}

unsigned gs_core_users_named(const struct gs_core *core, uid_t *uid, unsigned most)
{
    unsigned n = 0;
    for (size_t i = 0; i < core->config.n_tasks && n < most; i++) {
        const struct gs_owner *o = &core->owner[i];
        bool is_new = o->kind == GS_OWNER_ONE && !gs_user_is_trusted(o->uid);
        for (unsigned k = 0; k < n && is_new; k++)
            is_new = uid[k] != o->uid;
        if (is_new)
            uid[n++] = o->uid;
    }
    return n;
}

void gs_core_turned_away(struct gs_core *core, uid_t uid, uint64_t now_ns)
{
    gs_users_count(&core->users, uid, GS_USER_TURNED_AWAY, now_ns);
}

void gs_core_came_and_went(struct gs_core *core, uid_t uid, uint64_t now_ns)
{
    gs_users_count(&core->users, uid, GS_USER_CONNECTED, now_ns);
}

void gs_core_was_slow(struct gs_core *core, uid_t uid, uint64_t now_ns)
{
    gs_users_count(&core->users, uid, GS_USER_SLOW, now_ns);
}

struct gs_session *gs_core_connect(struct gs_core *core, void *conn, const struct gs_peer *peer, uint64_t now_ns)
{
    struct gs_session *s = calloc(1, sizeof *s);
    if (s)
        s->exe = strdup(peer->exe);
    if (!s || !s->exe) {
        free(s);
        return NULL;
    }
    s->core = core;
    s->conn = conn;
    s->uid = peer->uid;
    s->pid = peer->pid;
    s->since_ns = now_ns;
    s->page_fd = -1;
    gs_users_count(&core->users, s->uid, GS_USER_CONNECTED, now_ns);
    return s;
}

void gs_core_name(struct gs_session *s, const char *exe)
{
    char *copy = strdup(exe);
    if (!copy)
        return;
    free(s->exe);
    s->exe = copy;
}

/* ---- what is done in turn ---- */

/* A piece of it. False: there is no more. */
static bool catch_up(struct gs_session *s)
{
    if (s->cpu_wanted != s->cpu_priority || gs_members_may_renew_realtime(s))
        gs_members_set_realtime(s);
    const bool jobs = gs_jobs_read(s), units = gs_jobs_drain(s);
    return jobs || units;
}

static void stop_being_behind(struct gs_session *s)
{
    if (s->is_behind)
        TAILQ_REMOVE(&s->core->behind, s, behind);
    s->is_behind = false;
}

static void help_one(struct gs_core *core)
{
    struct gs_session *s = TAILQ_FIRST(&core->behind);
    if (!s)
        return;
    stop_being_behind(s);
    if (catch_up(s))
        gs_core_fall_behind(s);
}

/* As with what waits for an analysis: a core that analyses by itself does all at once. */
void gs_core_help_at_once(struct gs_core *core)
{
    while (!core->ops.analyse && !TAILQ_EMPTY(&core->behind))
        help_one(core);
}

void gs_core_fall_behind(struct gs_session *s)
{
    struct gs_core *core = s->core;
    if (!s->is_behind)
        TAILQ_INSERT_TAIL(&core->behind, s, behind);
    s->is_behind = true;
}

bool gs_core_hear_out(struct gs_session *s, uint64_t now_ns)
{
    s->core->now_ns = now_ns;
    if (!s->joined || !s->last_words)
        return false;
    s->last_words--;
    const bool jobs = gs_jobs_read(s), units = gs_jobs_drain(s);
    return jobs || units;
}

void gs_core_disconnect(struct gs_session *s, uint64_t now_ns)
{
    struct gs_core *core = s->core;
    core->now_ns = now_ns;
    gs_members_wait_no_more(s);
    if (s->joined) {
        gs_jobs_collect_usage(s);
        while (gs_core_hear_out(s, now_ns))
            ;
        gs_jobs_trace_units_out(s);
        gs_jobs_watch_units(s);
        for (unsigned r = 0; r <= core->gpus; r++)
            core->taken[r] += gs_jobs_taken(s, r);
        gs_policy_leave(core->policy, s->index, now_ns);
        gs_members_want_realtime(s, 0); /* the process may go on */
        gs_members_set_realtime(s);
        stop_being_behind(s);
        gs_core_forget_page(s);
        core->session[s->index] = NULL;
        TAILQ_REMOVE(&core->present, s, present);
        core->n_sessions--;
        gs_lease_close(&s->lease);
        gs_jobs_forget_process(s);
        gs_core_tell_sole(core);
        core->undecided = core->undecided || ((s->task || s->degraded) && !core->ending);
        gs_members_go_on_at_once(core);
    }
    free(s->exe);
    free(s);
    gs_core_help_at_once(core);
}

void gs_core_has_priority(struct gs_session *s, int err, uint64_t now_ns)
{
    s->core->now_ns = now_ns;
    gs_members_see_realtime(s, err);
    gs_core_welcome(s);
}

bool gs_core_joined(const struct gs_session *s)
{
    return s->joined;
}

int gs_core_tasks_above(const struct gs_session *s)
{
    return s->task ? (int)s->core->config.n_tasks - gs_taskset_rank(&s->core->config, s->task) : -1;
}

bool gs_core_waits(const struct gs_session *s)
{
    return s->waits != GS_WAITS_NOT;
}

bool gs_core_asks(const struct gs_session *s)
{
    return s->waits == GS_WAITS_FOR_PLAN || s->waits == GS_WAITS_FOR_STATUS || s->waits == GS_WAITS_FOR_RELOAD;
}

bool gs_core_refused(const struct gs_session *s)
{
    return s->refused;
}

/* ---- time ---- */

enum { PROCESSORS_TO_SPARE = 8 };

bool gs_core_stays_awake(const struct gs_core *core, unsigned processors)
{
    const enum gs_awake awake = core->config.system.awake;
    return awake == GS_AWAKE_YES || (awake == GS_AWAKE_AUTO && processors >= PROCESSORS_TO_SPARE);
}

bool gs_core_foretell(const struct gs_core *core, uint64_t now_ns, uint64_t *from_ns, uint64_t *until_ns)
{
    *from_ns = UINT64_MAX;
    for (unsigned r = 0; r <= core->gpus; r++) {
        struct gs_policy_view v;
        uint64_t from, until;
        gs_policy_view(core->policy, r, &v);
        if (v.holder == GS_NO_CLIENT || !v.asked || v.alone ||
            !gs_rhythm_foretell(&core->session[v.holder]->rhythm[r], &from, &until) || until <= now_ns ||
            from >= *from_ns)
            continue;
        *from_ns = from;
        *until_ns = until;
    }
    return *from_ns != UINT64_MAX;
}

void gs_core_look_at(struct gs_session *s, unsigned resource)
{
    const unsigned units = gs_lease_units(&s->lease, resource);
    gs_jobs_watch_units(s);
    gs_rhythm_returned(&s->rhythm[resource], units, s->core->now_ns);
    gs_policy_look(s->core->policy, s->index, resource, units, s->core->now_ns);
}

bool gs_core_look(struct gs_core *core, uint64_t now_ns)
{
    bool out = false;
    core->now_ns = now_ns;
    for (unsigned r = 0; r <= core->gpus; r++) {
        struct gs_policy_view v;
        gs_policy_view(core->policy, r, &v);
        if (v.holder == GS_NO_CLIENT || !v.asked)
            continue;
        if (gs_lease_units(&core->session[v.holder]->lease, r) < v.units)
            gs_core_look_at(core->session[v.holder], r);
        else
            out = true;
    }
    return out;
}

uint64_t gs_core_next_tick(const struct gs_core *core)
{
    const uint64_t expiry = gs_policy_next_expiry(core->policy, (uint64_t)core->config.system.watchdog_ns);
    const uint64_t wait = gs_members_next_tick(core), next = expiry < wait ? expiry : wait;
    return next < core->forget_ns ? next : core->forget_ns;
}

void gs_core_tick(struct gs_core *core, uint64_t now_ns)
{
    gs_core_look(core, now_ns);
    gs_policy_expire(core->policy, now_ns, (uint64_t)core->config.system.watchdog_ns);
    gs_jobs_forget_old(core);
    gs_members_tick(core);
}

void gs_core_answered(struct gs_core *core, struct gs_question *q, uint64_t now_ns)
{
    core->now_ns = now_ns;
    gs_decider_take(core->decider, q);
}

bool gs_core_has_work(const struct gs_core *core, enum gs_work what)
{
    return what == GS_WORK_JOINS ? gs_members_may_go_on(core) : gs_status_has_work(core) || !TAILQ_EMPTY(&core->behind);
}

void gs_core_work(struct gs_core *core, enum gs_work what, uint64_t now_ns)
{
    core->now_ns = now_ns;
    if (what == GS_WORK_ANSWERS) {
        help_one(core);
        gs_status_work(core);
    } else if (gs_members_may_go_on(core))
        gs_members_go_on(core);
}
