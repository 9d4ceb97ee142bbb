/* SPDX-License-Identifier: MIT */
#include "scheduler/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/log.h"

enum { LOG_LINES_PER_SECOND = 20, PLANS_PER_USER = 4 };
#define NS_PER_S UINT64_C(1000000000)

/* ---- log, notices, answers ---- */

static void put_line(struct gs_core *core, bool warning, const char *text)
{
    if (core->ops.log)
        core->ops.log(core->ctx, warning, text);
    else if (warning)
        gs_warn("%s", text);
    else
        gs_info("%s", text);
}

static void begin_second(struct gs_core *core)
{
    const uint64_t second = core->now_ns / NS_PER_S;
    if (second == core->log_second)
        return;
    if (core->log_lost) {
        char text[64];
        snprintf(text, sizeof text, "%u more messages were left out", core->log_lost);
        put_line(core, true, text);
    }
    core->log_second = second;
    core->log_lines = core->log_lost = 0;
    memset(core->log_user, 0, sizeof core->log_user);
}

static void log_line(struct gs_core *core, bool warning, const char *fmt, va_list ap)
{
    char text[1024];
    if (core->log_lines++ >= LOG_LINES_PER_SECOND) {
        core->log_lost++;
        return;
    }
    vsnprintf(text, sizeof text, fmt, ap);
    put_line(core, warning, text);
}

void gs_core_log(struct gs_core *core, bool warning, const char *fmt, ...)
{
    va_list ap;
    begin_second(core);
    va_start(ap, fmt);
    log_line(core, warning, fmt, ap);
    va_end(ap);
}

void gs_core_log_of(struct gs_session *s, bool warning, const char *fmt, ...)
{
    enum { USERS = sizeof s->core->log_user / sizeof *s->core->log_user, MOST = LOG_LINES_PER_SECOND / 4 };
    struct gs_core *core = s->core;
    va_list ap;
    unsigned i = 0;
    begin_second(core);
    while (i < USERS - 1 && core->log_user[i].lines && core->log_user[i].uid != s->uid)
        i++;
    core->log_user[i].uid = s->uid;
    if (core->log_user[i].lines++ >= MOST || core->log_lines >= 3 * MOST) {
        core->log_lost++;
        gs_users_count(&core->users, s->uid, GS_USER_LOG_LEFT, core->now_ns);
        return;
    }
    va_start(ap, fmt);
    log_line(core, warning, fmt, ap);
    va_end(ap);
}

static void msg_init(struct gs_msg *m, enum gs_msg_type type)
{
    *m = (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

static void send_text(struct gs_session *s, enum gs_msg_type type, uint32_t code, const char *text)
{
    struct gs_msg m;
    msg_init(&m, type);
    m.u.text.code = code;
    snprintf(m.u.text.text, sizeof m.u.text.text, "%s", text);
    s->core->ops.send(s->core->ctx, s->conn, &m, -1);
}

void gs_core_notice(struct gs_session *s, int level, const char *fmt, ...)
{
    char text[GS_WIRE_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    send_text(s, GS_MSG_NOTICE, (uint32_t)level, text);
}

int gs_core_refuse(struct gs_session *s, int why, const char *text)
{
    s->refused = true;
    s->core->refused++;
    s->core->bad_messages += why == GS_REFUSED_PROTOCOL;
    gs_users_count(&s->core->users, s->uid, GS_USER_REFUSED, s->core->now_ns);
    send_text(s, GS_MSG_REFUSED, (uint32_t)why, text);
    return -EPROTO;
}

/* A text too long for a message goes as a file that nobody can change any more. */
void gs_core_answer(struct gs_session *s, int err, const char *text)
{
    size_t n = strlen(text);
    if (n < GS_WIRE_TEXT) {
        send_text(s, GS_MSG_ANSWER, (uint32_t)-err, text);
        return;
    }
    int fd = memfd_create("gpusparc-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
    struct gs_msg m;
    msg_init(&m, GS_MSG_ANSWER);
    m.u.text.code = ok ? (uint32_t)-err : ENOMEM;
    s->core->ops.send(s->core->ctx, s->conn, &m, ok ? fd : -1);
    if (fd >= 0)
        close(fd);
}

void gs_core_answer_file(struct gs_session *s, int fd, size_t bytes)
{
    struct gs_msg m;
    msg_init(&m, GS_MSG_ANSWER);
    m.u.text.bytes = (uint32_t)bytes;
    s->core->ops.send(s->core->ctx, s->conn, &m, fd);
}

/* ---- what the policy does to the world ---- */

static struct gs_session *session_of(void *ctx, uint32_t client)
{
    return ((struct gs_core *)ctx)->session[client];
}

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    return gs_lease_ask(&session_of(ctx, client)->lease, resource);
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
    struct gs_session *s = session_of(ctx, client);
    s->rhythm[resource].since_ns = 0; /* from now on units come and go unseen */
    gs_lease_allow(&s->lease, resource);
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    struct gs_core *core = ctx;
    struct gs_session *s = session_of(ctx, client);
    gs_lease_end(&s->lease, resource);
    s->leased_ns[resource] += core->now_ns - (s->lease_ns[resource] ? s->lease_ns[resource] : core->now_ns);
    s->lease_ns[resource] = 0;
    if (!forced)
        return;
    core->taken_back++;
    s->taken_back++;
    const struct gs_policy_offence *o = gs_policy_offence(core->policy);
    if (!o->news)
        return;
    char what[16], kept[GS_DURATION_SIZE], waited[GS_DURATION_SIZE], behind[GS_DURATION_SIZE];
    char others[64] = " while others waited", penalty[128] = "";
    snprintf(what, sizeof what, resource == GS_RESOURCE_PCI ? "the link" : "GPU %u", resource - 1);
    gs_format_duration((int64_t)o->kept_ns, kept);
    if (o->waited_ns < o->kept_ns)
        snprintf(others, sizeof others, ", and others waited for %s",
                 gs_format_duration((int64_t)o->waited_ns, waited));
    if (o->behind_ns)
        snprintf(penalty, sizeof penalty, ", and it stands behind all others for %s, each time for twice as long",
                 gs_format_duration((int64_t)o->behind_ns, behind));
    gs_core_log(core, true, "process %d of user %u (%s) kept %s for %s%s: it was taken back%s", (int)s->pid,
                (unsigned)s->uid, s->task_name[0] ? s->task_name : "no task", what, kept, others, penalty);
    gs_core_notice(s, GS_NOTICE_WARNING, "this process kept %s for %s%s: it was taken back%s", what, kept, others,
                   penalty);
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct gs_core *core = ctx;
    struct gs_session *s = core->session[client];
    if (fresh) {
        gs_lease_begin(&s->lease, resource, ask);
        s->lease_ns[resource] = core->now_ns;
    } else {
        gs_lease_add(&s->lease, resource);
    }
    s->granted[resource]++;
    gs_rhythm_granted(&s->rhythm[resource], fresh, core->now_ns);
    gs_lease_answer(&s->lease, rq->slot, rq->serial, GS_SLOT_GRANTED, resource);
    const struct gs_traced who = gs_traced(s);
    if (core->trace)
        gs_trace_grant(core->trace, &who, resource, rq->at_ns, core->now_ns);
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
    gs_lease_yield(&session_of(ctx, client)->lease, resource);
}

static unsigned on_units(void *ctx, uint32_t client, unsigned resource)
{
    return gs_lease_units(&session_of(ctx, client)->lease, resource);
}

static const struct gs_policy_ops policy_ops = {on_ask, on_allow, on_end, on_grant, on_yield, on_units};

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
static void tell_sole(struct gs_core *core)
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
        core->policy = gs_policy_new(1 + gpus, core->depth, core->options.max_clients, &policy_ops, core);
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
    tell_sole(core);
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
    gs_users_count(&core->users, s->uid, GS_USER_CONNECTED, now_ns);
    return s;
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
static void help_all_at_once(struct gs_core *core)
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
        gs_jobs_watch_units(s);
        for (unsigned r = 0; r <= core->gpus; r++)
            core->taken[r] += gs_jobs_taken(s, r);
        gs_policy_leave(core->policy, s->index, now_ns);
        gs_members_want_realtime(s, 0); /* the process may go on */
        gs_members_set_realtime(s);
        stop_being_behind(s);
        core->session[s->index] = NULL;
        TAILQ_REMOVE(&core->present, s, present);
        core->n_sessions--;
        gs_lease_close(&s->lease);
        gs_jobs_forget_process(s);
        tell_sole(core);
        core->undecided = core->undecided || ((s->task || s->degraded) && !core->ending);
        gs_members_go_on_at_once(core);
    }
    free(s->exe);
    free(s);
    help_all_at_once(core);
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

/* ---- hello ---- */

static bool runs(const struct gs_core *core, const char *task)
{
    for (uint32_t i = 0; i < core->options.max_clients; i++)
        if (core->session[i] && strcmp(core->session[i]->task_name, task) == 0)
            return true;
    return false;
}

/* Places that nobody else may take: one for each task of the config that doesn't run. */
static size_t count_reserved(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    size_t n = 0;
    for (size_t i = 0; i < core->config.n_tasks; i++)
        n += strcmp(s->task_name, core->config.tasks[i].name) != 0 && !runs(core, core->config.tasks[i].name);
    return n;
}

static int find_place(const struct gs_session *s, uint32_t *index)
{
    const struct gs_core *core = s->core;
    unsigned mine = 0;
    *index = GS_NO_CLIENT;
    for (uint32_t i = 0; i < core->options.max_clients; i++) {
        if (core->session[i]) /* a user's applications don't take the places of its tasks */
            mine += core->session[i]->uid == s->uid && !core->session[i]->task_name[0] == !s->task_name[0];
        else if (*index == GS_NO_CLIENT)
            *index = i;
    }
    const size_t left = core->options.max_clients - core->n_sessions;
    if (left == 0 || (s->uid != 0 && mine >= core->options.max_per_user))
        return -ENOSPC;
    return left <= core->config.n_tasks && left <= count_reserved(s) ? -ENOSPC : 0;
}

static bool name_is_text(const char *name)
{
    size_t n = strnlen(name, GS_WIRE_NAME);
    if (n == GS_WIRE_NAME)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] <= ' ' || (unsigned char)name[i] >= 0x7f)
            return false;
    return true;
}

/* A task that runs below all tasks has its period still: the others' bounds don't allow for more of it. */
static struct gs_msg_welcome what_to_say(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    const struct gs_config_task *t = s->degraded ? gs_taskset_find(&core->config, s->task_name) : s->task;
    struct gs_msg_welcome w = {.client = s->number, .gpus = core->gpus, .depth = core->depth, .warmup = s->warmup};
    w.priority = s->task ? gs_taskset_rank(&core->config, s->task) : 0;
    w.period_ns = t && t->period_ns > 0 ? (uint64_t)t->period_ns : 0;
    w.flags = s->task && s->task->mode == GS_MODE_AUTO ? GS_WELCOME_CHOOSES : 0;
    w.flags |= s->task && s->task->moves == GS_MOVES_ALWAYS ? GS_WELCOME_MOVES : 0;
    memcpy(w.task, s->task_name, sizeof w.task);
    return w;
}

static void welcome(struct gs_session *s, enum gs_msg_type type, int page_fd)
{
    struct gs_msg m;
    msg_init(&m, type);
    m.u.welcome = s->said = what_to_say(s);
    s->core->ops.send(s->core->ctx, s->conn, &m, page_fd);
}

void gs_core_tell_task(struct gs_session *s)
{
    const struct gs_msg_welcome now = what_to_say(s);
    if (s->said.client && memcmp(&now, &s->said, sizeof now) != 0)
        welcome(s, GS_MSG_TASK, -1);
}

/* Takes the client in: a page, a place in the policy, its task's modes. */
int gs_core_join(struct gs_session *s)
{
    struct gs_core *core = s->core;
    const struct gs_config_task *task = s->task_name[0] ? gs_taskset_find(&core->config, s->task_name) : NULL;
    uint32_t index;
    if (find_place(s, &index) < 0)
        return gs_core_refuse(s, GS_REFUSED_FULL, "the daemon schedules as many processes as it can already");
    if (task)
        s->warmup = gs_members_warmup(s, task, s->hello.flags & GS_HELLO_PACED);
    s->warmup_left = s->warmup > s->hello.jobs ? s->warmup - s->hello.jobs : 0;
    int page_fd;
    int err = gs_lease_open(&s->lease, &page_fd);
    if (err < 0)
        return gs_core_refuse(s, GS_REFUSED_FULL, "the daemon has no memory or descriptors left");
    s->lease.waker = (struct gs_waker){core->ops.wake, core->ctx, s->conn};
    if (gs_policy_join(core->policy, index, s->uid, 0, core->now_ns) < 0) {
        gs_lease_close(&s->lease);
        close(page_fd);
        return gs_core_refuse(s, GS_REFUSED_FULL, "the daemon has no memory left");
    }
    s->index = index;
    s->number = core->next_number++;
    if (s->number == 0)
        s->number = core->next_number++;
    s->joined = true;
    s->last_words = GS_JOB_RECORDS / GS_RECORDS_AT_ONCE + 1;
    s->since_ns = core->now_ns;
    core->session[index] = s;
    TAILQ_INSERT_TAIL(&core->present, s, present);
    core->n_sessions++;
    tell_sole(core);
    atomic_store(&s->lease.page->recording, core->trace != NULL);
    gs_members_settle(s);
    gs_members_set_realtime(s);
    welcome(s, GS_MSG_WELCOME, page_fd);
    close(page_fd);
    const struct gs_traced who = gs_traced(s);
    if (core->trace)
        gs_trace_client(core->trace, &who, s->gpus_max);
    return 0;
}

static int on_hello(struct gs_session *s, const struct gs_msg_hello *hello)
{
    if (s->joined || s->waits)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client said hello twice");
    if (hello->gpus == 0 || hello->gpus > GS_MAX_GPUS || !name_is_text(hello->task))
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client's hello made no sense");
    s->hello = *hello;
    s->gpus_max = hello->gpus < s->core->gpus ? hello->gpus : s->core->gpus;
    const struct gs_config_task *task;
    char why[GS_WIRE_TEXT];
    int refused = gs_members_identify(s, &task, why, sizeof why);
    if (refused)
        return gs_core_refuse(s, refused, why);
    if (!task)
        return gs_core_join(s);
    gs_members_wait(s, GS_WAITS_TO_JOIN);
    return s->refused ? -EPROTO : 0;
}

/* ---- the other messages ---- */

/* Whether the session may have a resource alone. If not, its slot says so; if it has to wait for tasks, the user hears
 * of it. */
static bool may_be_alone(struct gs_session *s, const struct gs_msg_request *m)
{
    struct gs_core *core = s->core;
    if (core->config.system.probes != GS_PROBES_ALL && !gs_user_is_trusted(s->uid)) {
        if (m->slot < GS_MAX_SLOTS)
            gs_lease_answer(&s->lease, m->slot, m->serial, GS_SLOT_CANCELLED, 0);
        return false;
    }
    const struct gs_session *task = NULL;
    unsigned others = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        const struct gs_session *t = core->session[i];
        if (t && t->task && task)
            others++;
        else if (t && t->task)
            task = t;
    }
    char more[40] = "";
    if (others)
        snprintf(more, sizeof more, " and %u more", others);
    if (task)
        gs_core_notice(s, GS_NOTICE_WARNING, "the measurement waits until no task runs: there is %s (process %d)%s",
                       task->task_name, (int)task->pid, more);
    return true;
}

static int on_request(struct gs_session *s, const struct gs_msg_request *m)
{
    struct gs_core *core = s->core;
    if (m->client != s->number)
        return 0; /* written for a daemon that has died */
    const struct gs_policy_request rq = {.slot = m->slot,
                                         .serial = m->serial & 0xffff,
                                         .resource = m->resource,
                                         .alone = m->flags & GS_REQUEST_ALONE,
                                         .cost_ns = m->cost_ns};
    if (rq.alone && !may_be_alone(s, m))
        return 0;
    if (gs_policy_request(core->policy, s->index, &rq, core->now_ns) < 0)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client asked for something that is not there");
    return 0;
}

static int on_choose(struct gs_session *s, const struct gs_msg_choose *m)
{
    if (m->client != s->number)
        return 0;
    const unsigned gpu = gs_policy_choose(s->core->policy, s->index, m->gpus, m->prefer);
    if (gpu >= GS_MAX_RESOURCES || m->slot >= GS_MAX_SLOTS)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client asked for something that is not there");
    gs_lease_answer(&s->lease, m->slot, m->serial, GS_SLOT_CHOSEN, gpu);
    return 0;
}

static int on_cancel(struct gs_session *s, const struct gs_msg_cancel *m)
{
    if (gs_policy_cancel(s->core->policy, s->index, m->slot, m->serial, s->core->now_ns))
        gs_lease_answer(&s->lease, m->slot, m->serial, GS_SLOT_CANCELLED, 0);
    return 0;
}

static void look_at(struct gs_session *s, unsigned resource)
{
    const unsigned units = gs_lease_units(&s->lease, resource);
    gs_jobs_watch_units(s);
    gs_rhythm_returned(&s->rhythm[resource], units, s->core->now_ns);
    gs_policy_look(s->core->policy, s->index, resource, units, s->core->now_ns);
}

static int on_look(struct gs_session *s, const struct gs_msg_look *m)
{
    if (m->resource > s->core->gpus)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client has a resource that is not there");
    look_at(s, m->resource);
    return 0;
}

static int on_reload(struct gs_session *s)
{
    struct gs_core *core = s->core;
    if (!gs_user_is_trusted(s->uid)) {
        gs_core_answer(s, -EPERM, "only root and the daemon's own user may make it read its config again");
        return 0;
    }
    char text[1024] = "this daemon has no config to read again";
    int err = core->ops.reload ? core->ops.reload(core->ctx, text, sizeof text) : -ENOTSUP;
    char *later = err < 0 || s->waits ? NULL : strdup(text); /* one that waits keeps its own text */
    if (!later) {
        gs_core_answer(s, err, text);
        return 0;
    }
    s->waits_text = later;
    gs_members_wait(s, GS_WAITS_FOR_RELOAD);
    return 0;
}

void gs_core_answer_reload(struct gs_session *s, int err, const char *text)
{
    char more[1024];
    const char *worry = gs_core_worry(s->core);
    snprintf(more, sizeof more, "%s%s%s", text, worry ? ", but deadlines may be missed: " : "", worry ? worry : "");
    gs_core_answer(s, err, more);
}

static int on_plan(struct gs_session *s, const char *name)
{
    if (!name_is_text(name))
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the task's name made no sense");
    if (s->waits || gs_members_count_waiting(s->core, s->uid, GS_WAITS_FOR_PLAN) >= PLANS_PER_USER) {
        gs_core_answer(s, -EBUSY, "this user waits for as many answers as the daemon works on: ask again later");
        return 0;
    }
    s->waits_text = strdup(name);
    if (s->waits_text)
        gs_members_wait(s, GS_WAITS_FOR_PLAN);
    else
        gs_core_answer(s, -ENOMEM, "the daemon has no memory left");
    return 0;
}

static int on_set(struct gs_session *s, const struct gs_msg_set *m)
{
    char text[1024] = "";
    if (!name_is_text(m->task))
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the task's name made no sense");
    if (!gs_user_is_trusted(s->uid)) {
        gs_core_answer(s, -EPERM, "only root and the daemon's own user may change a task");
        return 0;
    }
    const int err = gs_members_change(s->core, m, text, sizeof text);
    gs_core_answer(s, err, err == -ENOMEM ? "the daemon has no memory left" : text);
    return 0;
}

static int dispatch(struct gs_session *s, const struct gs_msg *m)
{
    if (m->type == GS_MSG_STATUS || m->type == GS_MSG_RELOAD || m->type == GS_MSG_PLAN || m->type == GS_MSG_SET)
        gs_users_count(&s->core->users, s->uid, GS_USER_ASKED, s->core->now_ns);
    switch (m->type) {
    case GS_MSG_HELLO:
        return on_hello(s, &m->u.hello);
    case GS_MSG_STATUS:
        gs_status_ask(s);
        return 0;
    case GS_MSG_RELOAD:
        return on_reload(s);
    case GS_MSG_PLAN:
        return on_plan(s, m->u.name);
    case GS_MSG_SET:
        return on_set(s, &m->u.set);
    default:
        break;
    }
    if (!s->joined)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client's first message was no hello");
    switch (m->type) {
    case GS_MSG_REQUEST:
        return on_request(s, &m->u.request);
    case GS_MSG_CHOOSE:
        return on_choose(s, &m->u.choose);
    case GS_MSG_CANCEL:
        return on_cancel(s, &m->u.cancel);
    case GS_MSG_LOOK:
        return on_look(s, &m->u.look);
    case GS_MSG_RENEW:
        gs_policy_renew(s->core->policy, s->index, m->u.look.resource, s->core->now_ns);
        return 0;
    case GS_MSG_JOBS:
        if (gs_jobs_read(s) || gs_members_may_renew_realtime(s))
            gs_core_fall_behind(s);
        return 0;
    case GS_MSG_DRAIN:
        if (gs_jobs_drain(s))
            gs_core_fall_behind(s);
        return 0;
    case GS_MSG_PING:
        atomic_fetch_add(&s->lease.page->pong, 1);
        return 0;
    default:
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client sent a message of a kind that there is not");
    }
}

int gs_core_message(struct gs_session *s, const void *bytes, size_t n, uint64_t now_ns)
{
    s->core->now_ns = now_ns;
    struct gs_msg m;
    if (n != sizeof m)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client's message has a wrong length");
    memcpy(&m, bytes, sizeof m);
    if (m.magic != GS_WIRE_MAGIC)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client doesn't speak gpusparc's protocol");
    if (m.version != GS_WIRE_VERSION)
        return gs_core_refuse(s, GS_REFUSED_VERSION,
                              "this daemon is of another version of gpusparc: restart it, or the application");
    const int err = dispatch(s, &m);
    help_all_at_once(s->core);
    return err;
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
            look_at(core->session[v.holder], r);
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
