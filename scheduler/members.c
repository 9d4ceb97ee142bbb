/* SPDX-License-Identifier: MIT */
/* Which sessions are which tasks, whether they may be, and what each is told. */
#include "scheduler/session.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/trace.h"

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

/* All sessions that run as tasks, and `extra` as one more if it isn't null. *members is to be freed. -ENOMEM. */
static int collect(const struct gs_core *core, const struct gs_config_task *extra, unsigned extra_gpus,
                   struct gs_member **members, size_t *n)
{
    *n = 0;
    *members = calloc(core->n_sessions + 1, sizeof **members);
    if (!*members)
        return -ENOMEM;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i] && core->session[i]->task)
            (*members)[(*n)++] = member_of(core, core->session[i]->task, core->session[i]->gpus_max);
    if (extra)
        (*members)[(*n)++] = member_of(core, extra, extra_gpus);
    return 0;
}

/* What would be decided if `extra` joined those present. 0 or -ENOMEM. */
static int try_with(const struct gs_core *core, const struct gs_config_task *extra, unsigned extra_gpus,
                    struct gs_decision *decision, struct gs_member *result)
{
    struct gs_member *members;
    size_t n;
    int err = collect(core, extra, extra_gpus, &members, &n);
    if (err < 0)
        return err;
    err = gs_taskset_decide(&core->config, core->gpus, members, n, decision);
    if (err == 0 && result)
        *result = members[n - 1];
    free(members);
    return err;
}

int gs_members_admit(struct gs_session *s, const struct gs_config_task *task, char *why, size_t bytes)
{
    struct gs_core *core = s->core;
    struct gs_decision d;
    if (try_with(core, task, s->gpus_max, &d, NULL) < 0) {
        snprintf(why, bytes, "the daemon has no memory left");
        return GS_REFUSED_FULL;
    }
    bool degrade = false;
    if (!d.schedulable) {
        switch (core->config.system.admission) {
        case GS_ADMISSION_REFUSE:
            snprintf(why, bytes, "task %s is refused: %s", task->name, d.reason);
            gs_core_log(core, true, "%s", why);
            return GS_REFUSED_ADMISSION;
        case GS_ADMISSION_BEST_EFFORT:
            degrade = true;
            gs_core_log(core, true, "task %s (process %d) runs below all tasks: %s", task->name, (int)s->pid, d.reason);
            gs_core_notice(s, GS_NOTICE_WARNING, "task %s runs below all tasks: %s", task->name, d.reason);
            break;
        case GS_ADMISSION_WARN:
            gs_core_log(core, true, "with task %s (process %d) deadlines may be missed: %s", task->name, (int)s->pid,
                        d.reason);
            gs_core_notice(s, GS_NOTICE_WARNING, "with task %s deadlines may be missed: %s", task->name, d.reason);
            break;
        }
    }
    become(s, task, degrade);
    return 0;
}

/* Degraded tasks come back where there is room again. */
static void promote(struct gs_core *core)
{
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        struct gs_decision d;
        const struct gs_config_task *task = s && s->degraded ? gs_taskset_find(&core->config, s->task_name) : NULL;
        if (!task || try_with(core, task, s->gpus_max, &d, NULL) < 0 || !d.schedulable)
            continue;
        become(s, task, false);
        gs_core_log(core, false, "task %s (process %d) runs as a task again", task->name, (int)s->pid);
        gs_core_notice(s, GS_NOTICE_INFO, "task %s runs as a task again", task->name);
    }
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
static void set_realtime(struct gs_session *s, int rank)
{
    struct gs_core *core = s->core;
    rank = s->warmup_left || core->ending || core->config.system.realtime == GS_REALTIME_NO ? 0 : rank;
    if (core->ops.realtime && rank != s->rank)
        core->ops.realtime(core->ctx, s->pid, rank, (int)core->config.n_tasks);
    s->rank = rank;
}

static void apply(struct gs_session *s, const struct gs_member *m, double *load)
{
    gs_core_tell_task(s);
    struct gs_core *core = s->core;
    int rank = s->task ? gs_taskset_rank(&core->config, s->task) : 0;
    gs_policy_set_priority(core->policy, s->index, rank, core->now_ns);
    set_realtime(s, rank);
    if (!m) {
        tell(s, s->gpus_max, GS_MASK_ALL_GPUS(s->gpus_max));
        return;
    }
    if (s->member.gpus && s->member.gpus != m->gpus)
        gs_core_log(core, false, "task %s (process %d): %u instead of %u GPUs from its next job on", s->task_name,
                    (int)s->pid, m->gpus, s->member.gpus);
    s->member = *m;
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
    if (s->task)
        set_realtime(s, gs_taskset_rank(&s->core->config, s->task));
}

void gs_members_settle(struct gs_session *s)
{
    if (s->task)
        gs_members_decide(s->core);
    else
        apply(s, NULL, NULL);
}

void gs_members_decide(struct gs_core *core)
{
    promote(core);
    struct gs_member *members;
    size_t n, next = 0;
    double load[GS_MAX_GPUS] = {0};
    if (collect(core, NULL, 0, &members, &n) < 0 ||
        gs_taskset_decide(&core->config, core->gpus, members, n, &core->decision) < 0) {
        free(members);
        gs_core_log(core, true, "no memory to decide on the tasks' GPUs: they keep what they have");
        return;
    }
    core->decided_ns = core->now_ns;
    core->decisions++;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            apply(core->session[i], core->session[i]->task ? &members[next++] : NULL, load);
    free(members);
}

void gs_members_say_late(struct gs_core *core, const char *since)
{
    gs_core_log(core, true, "%s deadlines may be missed: %s", since, core->decision.reason);
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        if (s && s->task && s->member.analysed && !s->member.meets_deadline)
            gs_core_notice(s, GS_NOTICE_WARNING, "%s deadlines may be missed: %s", since, core->decision.reason);
    }
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

/* As if it joined now, beside those that have stayed what they were. Refused, it stays what it was. */
static void take_task(struct gs_session *s, const struct gs_config_task *task)
{
    struct gs_core *core = s->core;
    char why[GS_WIRE_TEXT];
    const bool same = strcmp(s->task_name, task->name) == 0;
    change(s, NULL, false);
    if (gs_members_admit(s, task, why, sizeof why)) {
        gs_core_notice(s, GS_NOTICE_WARNING, "%s", why);
        if (same)
            become(s, task, true);
        return;
    }
    if (!same || !s->degraded)
        gs_core_log(core, false, "process %d is task %s by the new config", (int)s->pid, task->name);
    if (!s->warmup) {
        s->warmup = gs_members_warmup(s, task, s->hello.flags & GS_HELLO_PACED);
        s->warmup_left = s->warmup > s->hello.jobs ? s->warmup - s->hello.jobs : 0;
    }
    if (core->trace)
        gs_trace_client(core->trace, s->number, s->task_name, s->pid, s->gpus_max);
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
        if (!t && s->task_name[0])
            lose_task(s);
    }
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        const struct gs_config_task *t = s && !s->task ? wanted_task(s) : NULL;
        if (t)
            take_task(s, t);
    }
}

int gs_members_plan(struct gs_core *core, const char *name, char **text)
{
    const struct gs_config_task *task = gs_taskset_find(&core->config, name);
    if (!task)
        return -ENOENT;
    struct gs_decision d;
    struct gs_member m = {0};
    int err = try_with(core, task, core->gpus, &d, &m);
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
