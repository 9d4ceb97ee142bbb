/* SPDX-License-Identifier: MIT */
/* Which sessions are which tasks, whether they may be, and what each is told. */
#include "scheduler/session.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/realtime.h"

#define RENEW_NS UINT64_C(250000000)

/* ---- who is what ---- */

static bool permits(const struct gs_core *core, const struct gs_config_task *task, uid_t uid)
{
    return gs_taskset_permits(&core->owner[task - core->config.tasks], uid);
}

static int refuse_user(const struct gs_config_task *t, char *why, size_t bytes)
{
    snprintf(why, bytes, "task %s is not this user's: a line `user = NAME` in its section would make it so", t->name);
    return GS_REFUSED_TASK;
}

int gs_members_identify(struct gs_session *s, const struct gs_config_task **task, char *why, size_t bytes)
{
    const struct gs_config *config = &s->core->config;
    const struct gs_msg_hello *hello = &s->hello;
    *task = NULL;
    if (hello->flags & GS_HELLO_NO_TASK)
        return 0;
    if (hello->task[0]) {
        *task = gs_taskset_find(config, hello->task);
        if (!*task) {
            snprintf(why, bytes, "there is no task %s in the daemon's config", hello->task);
            return GS_REFUSED_TASK;
        }
        if (!permits(s->core, *task, s->uid))
            return refuse_user(*task, why, bytes);
        return 0;
    }
    *task = gs_taskset_match(config, s->exe);
    if (*task && !permits(s->core, *task, s->uid)) {
        refuse_user(*task, why, bytes);
        gs_core_notice(s, GS_NOTICE_WARNING, "%s", why);
        *task = NULL;
    }
    return 0;
}

enum { WHY_BYTES = 1024 };
#define TELL_NS UINT64_C(50000000)    /* clients wait for 200 ms at a time */
#define WELCOME_NS UINT64_C(10000000) /* then it doesn't wait for its priority any more */
enum { MOST_TOLD = 8 };               /* at a time: a grant waits */

static void add_waiting(struct gs_session *s, enum gs_waits what);

static void become(struct gs_session *s, const struct gs_config_task *task, bool degraded)
{
    s->task = degraded ? NULL : task;
    s->degraded = degraded;
    snprintf(s->task_name, sizeof s->task_name, "%s", task ? task->name : "");
}

/* ---- decisions ---- */

static struct gs_member member_of(const struct gs_core *core, const struct gs_config_task *task, unsigned gpus_max)
{
    const struct gs_task_stats *st = gs_jobs_stats(core, task->name);
    return (struct gs_member){.task = task, .gpus_max = gpus_max, .demand = st ? &st->demand : NULL};
}

/* All sessions that run as tasks, in the order in which they have joined, and `extra` if it isn't null: in the place of
 * `who`, that is present already, else last. *members is to be freed. -ENOMEM. */
static int collect(const struct gs_core *core, const struct gs_config_task *extra, const struct gs_session *who,
                   struct gs_member **members, size_t *n)
{
    *n = 0;
    *members = calloc(core->n_sessions + 1, sizeof **members);
    if (!*members)
        return -ENOMEM;
    const struct gs_session *s;
    TAILQ_FOREACH (s, &core->present, present)
        if (s->task || s == who)
            (*members)[(*n)++] = member_of(core, s == who ? extra : s->task, s->gpus_max);
    if (extra && !(who && who->joined))
        (*members)[(*n)++] = member_of(core, extra, who ? who->gpus_max : core->gpus);
    return 0;
}

/* What would be decided if `who`, or somebody with all GPUs, were `extra` beside those present. *result, if it isn't
 * null, gets somebody's. 0, -EAGAIN: it is being worked out, -ENOMEM. */
static int try_with(const struct gs_core *core, const struct gs_config_task *extra, const struct gs_session *who,
                    struct gs_decision *decision, struct gs_member *result)
{
    struct gs_member *members;
    size_t n;
    int err = collect(core, extra, who, &members, &n);
    if (err < 0)
        return err;
    err = gs_decider_ask(core->decider, members, n, decision);
    if (err == 0 && result)
        *result = members[n - 1];
    free(members);
    return err;
}

int gs_members_try(const struct gs_core *core, const struct gs_config_task *tasks, size_t with,
                   struct gs_decision *decision)
{
    struct gs_config config = core->config;
    struct gs_member *members;
    size_t n;
    bool present = false;
    int err = collect(core, NULL, NULL, &members, &n);
    if (err < 0)
        return err;
    config.tasks = (struct gs_config_task *)(uintptr_t)tasks; /* only read */
    for (size_t i = 0; i < n; i++) {
        const size_t index = (size_t)(members[i].task - core->config.tasks);
        present = present || index == with;
        members[i].task = &tasks[index];
    }
    if (!present)
        members[n++] = member_of(core, &tasks[with], core->gpus);
    err = gs_taskset_decide(&config, core->gpus, members, n, decision);
    free(members);
    return err;
}

/* A task's processes count as tasks, and an analysis of many takes long: whoever waits to join would wait for it. */
enum { PROCESSES = 16 };

static unsigned count_processes(const struct gs_core *core, const struct gs_config_task *task,
                                const struct gs_session *but)
{
    const struct gs_session *s;
    unsigned n = 0;
    TAILQ_FOREACH (s, &core->present, present)
        n += s->task == task && s != but;
    return n;
}

/* What the config says of one that would keep others from meeting their deadlines, of one process too many. */
static int admit_one_too_many(struct gs_session *s, const struct gs_config_task *task, char *why, size_t bytes)
{
    if (s->core->config.system.admission == GS_ADMISSION_REFUSE) {
        snprintf(why, bytes, "task %s is refused: %d processes run as it already", task->name, PROCESSES);
        return GS_REFUSED_ADMISSION;
    }
    gs_core_log_of(s, true, "task %s (process %d) runs below all tasks: %d processes run as it already", task->name,
                   (int)s->pid, PROCESSES);
    gs_core_notice(s, GS_NOTICE_WARNING, "task %s runs below all tasks: %d processes run as it already", task->name,
                   PROCESSES);
    become(s, task, true);
    return 0;
}

/* Takes the task in, as the config's `admission` says. 0: in (perhaps degraded), -EAGAIN: it is being worked out,
 * otherwise an enum gs_refusal. */
static int admit(struct gs_session *s, const struct gs_config_task *task, char *why, size_t bytes)
{
    struct gs_core *core = s->core;
    struct gs_decision d;
    if (count_processes(core, task, s) >= PROCESSES)
        return admit_one_too_many(s, task, why, bytes);
    int err = try_with(core, task, s, &d, NULL);
    if (err == -EAGAIN)
        return err;
    if (err < 0) {
        snprintf(why, bytes, "the daemon has no memory left");
        return GS_REFUSED_FULL;
    }
    bool degrade = false;
    if (!d.schedulable) {
        switch (core->config.system.admission) {
        case GS_ADMISSION_REFUSE:
            snprintf(why, bytes, "task %s is refused: %s", task->name, d.reason);
            gs_core_log_of(s, true, "%s", why);
            return GS_REFUSED_ADMISSION;
        case GS_ADMISSION_BEST_EFFORT:
            degrade = true;
            gs_core_log_of(s, true, "task %s (process %d) runs below all tasks: %s", task->name, (int)s->pid, d.reason);
            gs_core_notice(s, GS_NOTICE_WARNING, "task %s runs below all tasks: %s", task->name, d.reason);
            break;
        case GS_ADMISSION_WARN:
            gs_core_log_of(s, true, "with task %s (process %d) deadlines may be missed: %s", task->name, (int)s->pid,
                           d.reason);
            gs_core_notice(s, GS_NOTICE_WARNING, "with task %s deadlines may be missed: %s", task->name, d.reason);
            break;
        }
    }
    become(s, task, degrade);
    return 0;
}

/* Degraded tasks come back where there is room again. 0 or -EAGAIN. */
static int promote(struct gs_core *core)
{
    /* Of each task: for how many GPUs there is no room. There may be hundreds of its processes, and a grant waits. */
    uint32_t *closed = NULL;
    int err = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        struct gs_decision d;
        const struct gs_config_task *task = s && s->degraded ? gs_taskset_find(&core->config, s->task_name) : NULL;
        if (!task || (!closed && !(closed = calloc(core->config.n_tasks, sizeof *closed))))
            continue;
        uint32_t *const no = &closed[task - core->config.tasks];
        if (*no & UINT32_C(1) << s->gpus_max)
            continue;
        if (count_processes(core, task, s) >= PROCESSES) {
            *no = UINT32_MAX;
            continue;
        }
        err = try_with(core, task, s, &d, NULL);
        if (err == -EAGAIN)
            break;
        if (err < 0 || (!d.schedulable && core->config.system.admission != GS_ADMISSION_WARN)) {
            *no |= UINT32_C(1) << s->gpus_max;
            continue;
        }
        become(s, task, false);
        gs_core_log(core, false, "task %s (process %d) runs as a task again", task->name, (int)s->pid);
        gs_core_notice(s, GS_NOTICE_INFO, "task %s runs as a task again", task->name);
    }
    free(closed);
    return err == -EAGAIN ? err : 0;
}

/* GPU time that the member wants per time, on each of its GPUs; 1 where nothing is known. */
static double gpu_load(const struct gs_member *m)
{
    const struct gs_config_chain *c = &m->task->chains[m->gpus];
    double ns = 0;
    for (size_t i = 0; i < c->n_segments; i++)
        if (c->segments[i].resource == GS_GPU)
            ns += (double)c->segments[i].worst_ns;
    return c->n_segments && m->task->period_ns ? ns / (double)m->task->period_ns : 1;
}

/* Which GPUs a member has: any of its group for one; the least loaded for more. `load` is per GPU, and is added to. */
static uint32_t place(const struct gs_core *core, const struct gs_member *m, double *load)
{
    uint32_t all = GS_MASK_ALL_GPUS(m->gpus_max), mask = 0;
    if (m->gpus == 1)
        return all;
    for (unsigned k = 0; k < m->gpus; k++) {
        unsigned best = GS_MAX_GPUS;
        for (unsigned g = 0; g < m->gpus_max && g < core->gpus; g++)
            if (!(mask & GS_MASK(GS_RESOURCE_GPU(g))) && (best == GS_MAX_GPUS || load[g] < load[best]))
                best = g;
        mask |= GS_MASK(GS_RESOURCE_GPU(best));
        load[best] += gpu_load(m);
    }
    return mask;
}

static void tell(struct gs_session *s, unsigned gpus, uint32_t gpu_mask)
{
    const struct gs_config_system *system = &s->core->config.system;
    const struct gs_config_task *t = s->task;
    struct gs_told told = {.gpus = gpus, .gpu_mask = gpu_mask};
    told.kernel_chunk = (uint32_t)(t && t->kernel_chunk ? t->kernel_chunk : system->kernel_chunk);
    told.transfer_chunk = t && t->transfer_chunk_bytes ? t->transfer_chunk_bytes : system->transfer_chunk_bytes;
    if (told.gpus == s->told.gpus && told.gpu_mask == s->told.gpu_mask && told.kernel_chunk == s->told.kernel_chunk &&
        told.transfer_chunk == s->told.transfer_chunk)
        return;
    s->told = told;
    gs_lease_tell(&s->lease, &told);
}

/* A process that warms up compiles, reads files, fills memory: that needs no CPU before others. */
void gs_members_want_realtime(struct gs_session *s, int priority)
{
    const struct gs_core *core = s->core;
    s->cpu_wanted = s->warmup_left || core->ending || core->config.system.realtime == GS_REALTIME_NO ? 0 : priority;
    if (s->cpu_wanted != s->cpu_priority)
        gs_core_fall_behind(s);
}

void gs_members_see_realtime(struct gs_session *s, int err)
{
    if (err < 0 && !s->told_of_priority)
        gs_core_log_of(s, true, "process %d can't be given its CPU priority: %s", (int)s->pid, strerror(-err));
    s->told_of_priority = s->told_of_priority || err < 0;
}

bool gs_members_set_realtime(struct gs_session *s)
{
    struct gs_core *core = s->core;
    int said = 0;
    if (core->ops.realtime && (s->cpu_wanted || s->cpu_priority))
        said = core->ops.realtime(core->ctx, s->conn, s->cpu_wanted);
    gs_members_see_realtime(s, said);
    s->cpu_priority = s->cpu_wanted;
    s->realtime_ns = core->now_ns;
    return said > 0;
}

/* The processors are given in the order of the policy. */
static int cpu_priority_of(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    const struct gs_session *other;
    unsigned elders = 0;
    for (other = TAILQ_FIRST(&core->present); s->task && other != s; other = TAILQ_NEXT(other, present))
        elders += other->task == s->task;
    return s->task ? gs_realtime_priority(gs_taskset_rank(&core->config, s->task), (int)core->config.n_tasks, elders)
                   : 0;
}

bool gs_members_may_renew_realtime(const struct gs_session *s)
{
    return s->cpu_priority && s->core->now_ns - s->realtime_ns >= RENEW_NS;
}

/* The longest chunk of its units by the config; 0: it doesn't say. */
static uint64_t chunk_ns(const struct gs_session *s, enum gs_resource resource)
{
    const int64_t own = s->task ? s->task->chunk_ns[resource] : 0;
    return (uint64_t)(own ? own : s->core->config.system.chunk_ns[resource]);
}

/* What counts at once, whatever is decided. */
static void set_rank(struct gs_session *s)
{
    gs_core_tell_task(s);
    struct gs_core *core = s->core;
    int rank = s->task ? gs_taskset_rank(&core->config, s->task) : 0;
    gs_policy_set_chunks(core->policy, s->index, chunk_ns(s, GS_PCI), chunk_ns(s, GS_GPU));
    gs_policy_set_priority(core->policy, s->index, rank, core->now_ns);
    gs_members_want_realtime(s, cpu_priority_of(s));
}

/* Until it is decided it has what it had. */
static void keep_for_now(struct gs_session *s)
{
    set_rank(s);
    if (s->task && s->told.gpus)
        tell(s, s->told.gpus, s->told.gpu_mask);
    else
        tell(s, s->gpus_max, GS_MASK_ALL_GPUS(s->gpus_max));
}

static void apply(struct gs_session *s, const struct gs_member *m, double *load)
{
    struct gs_core *core = s->core;
    set_rank(s);
    if (!m) {
        tell(s, s->gpus_max, GS_MASK_ALL_GPUS(s->gpus_max));
        return;
    }
    if (s->member.gpus && s->member.gpus != m->gpus)
        gs_core_log(core, false, "task %s (process %d): %u instead of %u GPUs from its next job on", s->task_name,
                    (int)s->pid, m->gpus, s->member.gpus);
    s->member = *m;
    s->member.demand = NULL;
    tell(s, m->gpus, place(core, m, load));
}

uint32_t gs_members_warmup(const struct gs_session *s, const struct gs_config_task *task, bool paced)
{
    if (task->warmup >= 0)
        return (uint32_t)task->warmup;
    /* Where the daemon chooses the number of GPUs: a job with all, and one with one; with one of several, one on each.
     */
    if (!paced || s->gpus_max == 1)
        return paced;
    return task->mode == GS_MODE_AUTO ? 2 : task->mode == 1 ? s->gpus_max : 1;
}

void gs_members_warm(struct gs_session *s)
{
    gs_members_want_realtime(s, cpu_priority_of(s));
}

static void say_late(struct gs_core *core)
{
    const char *since = core->since;
    if (core->met_again && core->decision.schedulable)
        gs_core_log(core, false, "%s", core->met_again);
    core->since = core->met_again = NULL;
    if (!since || core->decision.schedulable)
        return;
    gs_core_log(core, true, "%s deadlines may be missed: %s", since, core->decision.reason);
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        if (s && s->task && s->member.analysed && !s->member.meets_deadline)
            gs_core_notice(s, GS_NOTICE_WARNING, "%s deadlines may be missed: %s", since, core->decision.reason);
    }
}

/* 0 or -EAGAIN. */
static int decide(struct gs_core *core)
{
    struct gs_member *members = NULL;
    size_t n, next = 0;
    double load[GS_MAX_GPUS] = {0};
    int err = promote(core);
    if (err == 0)
        err = collect(core, NULL, NULL, &members, &n);
    if (err == 0)
        err = gs_decider_ask(core->decider, members, n, &core->decision);
    core->undecided = err == -EAGAIN;
    if (err < 0) {
        free(members);
        if (err != -EAGAIN)
            gs_core_log(core, true, "no memory to decide on the tasks' GPUs: they keep what they have");
        return err == -EAGAIN ? err : 0;
    }
    core->decided_ns = core->now_ns;
    core->decisions++;
    struct gs_session *s;
    TAILQ_FOREACH (s, &core->present, present)
        if (s->task) /* nothing changes for the others, who may be a thousand: a grant waits for this */
            apply(s, &members[next++], load);
    free(members);
    say_late(core);
    return 0;
}

void gs_members_decide(struct gs_core *core)
{
    decide(core);
}

void gs_members_settle(struct gs_session *s)
{
    if (!s->task)
        apply(s, NULL, NULL);
    else if (decide(s->core) < 0)
        keep_for_now(s);
}

/* The task of the config that the session would be; null: none. */
static const struct gs_config_task *wanted_task(const struct gs_session *s)
{
    const struct gs_msg_hello *hello = &s->hello;
    if (hello->flags & GS_HELLO_NO_TASK && !(hello->flags & GS_HELLO_REFUSED))
        return NULL;
    const struct gs_config_task *t =
        hello->task[0] ? gs_taskset_find(&s->core->config, hello->task) : gs_taskset_match(&s->core->config, s->exe);
    return t && permits(s->core, t, s->uid) ? t : NULL;
}

/* The session is no task any more, or another one from now on: what it has used so far isn't its next job's. */
static void change(struct gs_session *s, const struct gs_config_task *task, bool degraded)
{
    gs_jobs_drain(s);
    s->job_gpus = 0;
    s->lately = s->before = (struct gs_demand){0};
    become(s, task, degraded);
}

static void lose_task(struct gs_session *s)
{
    gs_core_log(s->core, true, "task %s is in the config no more: process %d runs below all tasks", s->task_name,
                (int)s->pid);
    gs_core_notice(s, GS_NOTICE_WARNING, "task %s is in the daemon's config no more: this process runs below all tasks",
                   s->task_name);
    change(s, NULL, false);
}

/* As if it joined now, beside those that have stayed what they were. Refused, it stays what it was. 0 or -EAGAIN. */
static int take_task(struct gs_session *s, const struct gs_config_task *task)
{
    struct gs_core *core = s->core;
    char why[WHY_BYTES];
    const bool same = strcmp(s->task_name, task->name) == 0;
    const int refused = admit(s, task, why, sizeof why);
    if (refused == -EAGAIN)
        return refused;
    core->undecided = true;
    gs_jobs_drain(s);
    s->job_gpus = 0;
    if (refused) {
        gs_core_notice(s, GS_NOTICE_WARNING, "%s", why);
        become(s, same ? task : NULL, same);
        keep_for_now(s);
        return 0;
    }
    if (!same || !s->degraded)
        gs_core_log(core, false, "process %d is task %s by the new config", (int)s->pid, task->name);
    if (!s->warmup) {
        s->warmup = gs_members_warmup(s, task, s->hello.flags & GS_HELLO_PACED);
        s->warmup_left = s->warmup > s->hello.jobs ? s->warmup - s->hello.jobs : 0;
    }
    const struct gs_traced who = gs_traced(s);
    if (core->trace)
        gs_trace_client(core->trace, &who, s->gpus_max);
    return 0;
}

/* First those that stay what they are, so that nobody who comes takes their place. */
void gs_members_relink(struct gs_core *core)
{
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        if (!s)
            continue;
        const struct gs_config_task *t = wanted_task(s);
        const bool same = t && strcmp(s->task_name, t->name) == 0;
        s->task = same && !s->degraded ? t : NULL;
        s->member.task = NULL;
        if (!t && s->task_name[0])
            lose_task(s);
        if (t && !s->task && !s->waits)
            add_waiting(s, GS_WAITS_AS_TASK);
        keep_for_now(s);
    }
}

/* ---- what waits for an analysis ---- */

static void add_waiting(struct gs_session *s, enum gs_waits what)
{
    s->waits = what;
    s->told_to_wait_ns = s->core->now_ns;
    TAILQ_INSERT_TAIL(&s->core->waiting, s, waiting);
}

/* One of the user's has joined, or has given up: its others that wait to join go behind all users'. */
static void pass_turn(struct gs_core *core, uid_t uid)
{
    struct gs_waiting others = TAILQ_HEAD_INITIALIZER(others);
    for (struct gs_session *s = TAILQ_FIRST(&core->waiting), *next; s; s = next) {
        next = TAILQ_NEXT(s, waiting);
        if (s->uid != uid || s->waits != GS_WAITS_TO_JOIN)
            continue;
        TAILQ_REMOVE(&core->waiting, s, waiting);
        TAILQ_INSERT_TAIL(&others, s, waiting);
    }
    TAILQ_CONCAT(&core->waiting, &others, waiting);
}

void gs_members_wait_no_more(struct gs_session *s)
{
    if (s->waits == GS_WAITS_FOR_STATUS)
        TAILQ_REMOVE(&s->core->asking, s, waiting);
    else if (s->waits)
        TAILQ_REMOVE(&s->core->waiting, s, waiting);
    if (s->waits == GS_WAITS_TO_JOIN)
        pass_turn(s->core, s->uid);
    s->waits = GS_WAITS_NOT;
    free(s->waits_text);
    s->waits_text = NULL;
}

unsigned gs_members_count_waiting(const struct gs_core *core, uid_t uid, enum gs_waits what)
{
    unsigned n = 0;
    const struct gs_session *s;
    TAILQ_FOREACH (s, &core->waiting, waiting)
        n += s->uid == uid && s->waits == what;
    return n;
}

/* What would happen if the task joined now. *text is JSON, to be freed. 0 or -errno. */
static int plan(struct gs_core *core, const char *name, char **text)
{
    const struct gs_config_task *task = gs_taskset_find(&core->config, name);
    if (!task)
        return -ENOENT;
    struct gs_decision d;
    struct gs_member m = {0};
    int err = try_with(core, task, NULL, &d, &m);
    if (err < 0)
        return err;
    static const char *const outcome[] = {"admitted with a warning", "refused", "below all tasks"};
    json_t *j = json_pack("{s:s s:b s:s s:i s:I s:s}", "task", name, "schedulable", d.schedulable, "outcome",
                          d.schedulable ? "admitted" : outcome[core->config.system.admission], "gpus", (int)m.gpus,
                          "response_ns", (json_int_t)m.response_ns, "reason", d.reason);
    *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    return *text ? 0 : -ENOMEM;
}

static int resume_join(struct gs_session *s)
{
    const struct gs_config_task *task; /* the config may be another one by now */
    char why[WHY_BYTES];
    int refused = gs_members_identify(s, &task, why, sizeof why);
    if (!refused && task)
        refused = admit(s, task, why, sizeof why);
    if (refused == -EAGAIN)
        return refused;
    gs_members_wait_no_more(s);
    if (refused)
        gs_core_refuse(s, refused, why);
    else if (gs_core_join(s) < 0)
        become(s, NULL, false);
    return 0;
}

static int resume_plan(struct gs_session *s)
{
    char *text = NULL;
    int err = plan(s->core, s->waits_text, &text);
    if (err == -EAGAIN)
        return err;
    gs_members_wait_no_more(s);
    gs_core_answer(s, err, text ? text : "there is no such task");
    free(text);
    return 0;
}

/* 0: it waits no more. -EAGAIN: it does. */
static int resume(struct gs_session *s)
{
    const struct gs_config_task *t;
    char *text;
    int err = 0;
    switch (s->waits) {
    case GS_WAITS_TO_JOIN:
        return resume_join(s);
    case GS_WAITS_FOR_PLAN:
        return resume_plan(s);
    case GS_WAITS_AS_TASK:
        t = wanted_task(s);
        err = t ? take_task(s, t) : 0;
        if (err == 0)
            gs_members_wait_no_more(s);
        return err;
    case GS_WAITS_FOR_RELOAD:
        text = s->waits_text;
        s->waits_text = NULL;
        gs_members_wait_no_more(s);
        gs_core_answer_reload(s, 0, text);
        free(text);
        return 0;
    case GS_WAITS_FOR_STATUS:
    case GS_WAITS_NOT:
        break;
    }
    return 0;
}

static struct gs_session *first_waiting(const struct gs_core *core, bool tasks)
{
    struct gs_session *s;
    TAILQ_FOREACH (s, &core->waiting, waiting)
        if ((s->waits == GS_WAITS_TO_JOIN || s->waits == GS_WAITS_AS_TASK) == tasks)
            return s;
    return NULL;
}

/* First those that are to be tasks, then what all get, then who only wants to know. Where some come all the time, as
 * those do who are refused and try again, the others have their turn after a while. */
void gs_members_go_on(struct gs_core *core)
{
    enum { MOST_OVERTAKE = 64 };
    struct gs_session *s = first_waiting(core, true), *asker = first_waiting(core, false);
    if (!core->undecided && !asker)
        core->overtaken = 0;
    if (s && core->overtaken < MOST_OVERTAKE) {
        core->overtaken += core->undecided || asker;
        resume(s);
    } else if (core->undecided && (core->overtaken <= MOST_OVERTAKE || !asker)) {
        core->overtaken += s != NULL;
        decide(core);
    } else if (asker && resume(asker) == 0) {
        core->overtaken = 0;
    }
}

bool gs_members_may_go_on(const struct gs_core *core)
{
    return !gs_decider_waits(core->decider) && (core->undecided || !TAILQ_EMPTY(&core->waiting)) && !core->ending;
}

void gs_members_go_on_at_once(struct gs_core *core)
{
    while (!core->ops.analyse && gs_members_may_go_on(core))
        gs_members_go_on(core);
}

void gs_members_wait(struct gs_session *s, enum gs_waits what)
{
    add_waiting(s, what);
    if (TAILQ_FIRST(&s->core->waiting) == s && !s->core->undecided && gs_members_may_go_on(s->core))
        gs_members_go_on(s->core);
    gs_members_go_on_at_once(s->core);
}

uint64_t gs_members_next_tick(const struct gs_core *core)
{
    const struct gs_session *s;
    uint64_t next = UINT64_MAX;
    TAILQ_FOREACH (s, &core->waiting, waiting)
        if (s->waits == GS_WAITS_TO_JOIN && s->told_to_wait_ns + TELL_NS < next)
            next = s->told_to_wait_ns + TELL_NS;
    s = TAILQ_FIRST(&core->unwelcomed);
    return s && s->since_ns + WELCOME_NS < next ? s->since_ns + WELCOME_NS : next;
}

void gs_members_tick(struct gs_core *core)
{
    struct gs_session *s;
    unsigned told = 0;
    while ((s = TAILQ_FIRST(&core->unwelcomed)) && s->since_ns + WELCOME_NS <= core->now_ns && told++ < MOST_TOLD)
        gs_core_welcome(s); /* it gets its priority some time */
    TAILQ_FOREACH (s, &core->waiting, waiting)
        if (s->waits == GS_WAITS_TO_JOIN && s->told_to_wait_ns + TELL_NS <= core->now_ns && told++ < MOST_TOLD) {
            s->told_to_wait_ns = core->now_ns;
            gs_core_notice(s, GS_NOTICE_INFO, "the daemon works out which deadlines hold with this task");
        }
}
