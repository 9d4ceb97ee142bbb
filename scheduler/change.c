/* SPDX-License-Identifier: MIT */
/* GS_MSG_SET: a task's priority, period and deadline while it runs. */
#include "scheduler/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the reader of the config has it: all tasks have a priority of their own, or none has one. */
static int set_priority(const struct gs_core *core, struct gs_config_task *tasks, size_t at, int priority, char *text,
                        size_t bytes)
{
    if (!tasks[at].has_priority) {
        snprintf(text, bytes,
                 "task %s has no priority: the tasks go by their deadlines, unless the config gives all of them one",
                 tasks[at].name);
        return -EINVAL;
    }
    for (size_t i = 0; i < core->config.n_tasks; i++) {
        if (i != at && tasks[i].priority == priority) {
            snprintf(text, bytes, "task %s has the priority %d: each needs its own", tasks[i].name, priority);
            return -EINVAL;
        }
    }
    tasks[at].priority = priority;
    return 0;
}

/* A deadline that was the period stays it. */
static int set_times(struct gs_config_task *t, const struct gs_msg_set *m, char *text, size_t bytes)
{
    const bool same = t->deadline_ns == t->period_ns;
    if (m->flags & GS_SET_PERIOD)
        t->period_ns = (int64_t)m->period_ns;
    if (m->flags & GS_SET_DEADLINE)
        t->deadline_ns = (int64_t)m->deadline_ns;
    else if (same)
        t->deadline_ns = t->period_ns;
    if (t->period_ns <= 0 || t->deadline_ns <= 0 || t->period_ns > GS_CONFIG_MAX_NS || t->deadline_ns > t->period_ns) {
        char d[GS_DURATION_SIZE], p[GS_DURATION_SIZE];
        snprintf(text, bytes, "task %s: its deadline of %s is longer than its period of %s", t->name,
                 gs_show_duration(t->deadline_ns, GS_ROUND_NEAREST, d),
                 gs_show_duration(t->period_ns, GS_ROUND_NEAREST, p));
        return -EINVAL;
    }
    return 0;
}

/* Is it refused? Where deadlines could be missed before, a change needn't mend that. */
static int check(const struct gs_core *core, const struct gs_config_task *tasks, size_t at, bool force, char *text,
                 size_t bytes, struct gs_decision *after)
{
    struct gs_decision before;
    int err = gs_members_try(core, core->config.tasks, at, &before);
    if (!err)
        err = gs_members_try(core, tasks, at, after);
    if (err || force || after->schedulable || !before.schedulable)
        return err;
    snprintf(text, bytes, "nothing is changed, since deadlines could be missed: %s (--force does it all the same)",
             after->reason);
    return -EDOM;
}

/* The tasks as the message wants them. */
static int make_change(const struct gs_core *core, struct gs_config_task *tasks, const struct gs_msg_set *m, size_t *at,
                       char *text, size_t bytes)
{
    const size_t n = core->config.n_tasks;
    for (*at = 0; *at < n && strcmp(tasks[*at].name, m->task) != 0;)
        ++*at;
    if (*at == n) {
        snprintf(text, bytes, "there is no task %s in the daemon's config", m->task);
        return -ENOENT;
    }
    const int err = m->flags & GS_SET_PRIORITY ? set_priority(core, tasks, *at, m->priority, text, bytes) : 0;
    return err ? err : set_times(&tasks[*at], m, text, bytes);
}

/* Here the analysis runs in the thread that grants: only root and the daemon's own user may change a task. While a
 * question about the old values is being answered nothing can be changed. */
int gs_members_change(struct gs_core *core, const struct gs_msg_set *m, char *text, size_t bytes)
{
    const size_t size = core->config.n_tasks * sizeof *core->config.tasks;
    size_t at = 0;
    struct gs_decision after;
    if (gs_decider_waits(core->decider)) {
        snprintf(text, bytes, "the daemon is analysing another change: ask again");
        return -EAGAIN;
    }
    struct gs_config_task *tasks = malloc(size + 1);
    if (!tasks)
        return -ENOMEM;
    memcpy(tasks, core->config.tasks, size);
    gs_jobs_read_all(core); /* these had the old deadline */
    int err = make_change(core, tasks, m, &at, text, bytes);
    if (!err)
        err = check(core, tasks, at, m->flags & GS_SET_FORCE, text, bytes, &after);
    if (!err) {
        struct gs_config_task *t = &core->config.tasks[at];
        *t = tasks[at];
        gs_decider_configure(core->decider, &core->config, core->gpus); /* it keeps no answer about the old values */
        core->since = "by this change";
        gs_members_decide(core);
        struct gs_session *s;
        TAILQ_FOREACH (s, &core->present, present)
            if (s->degraded)
                gs_core_tell_task(s); /* it keeps its pace */
        char period[GS_DURATION_SIZE], deadline[GS_DURATION_SIZE];
        snprintf(text, bytes, "task %s: rank %d, period %s, deadline %s; %s", t->name,
                 gs_taskset_rank(&core->config, t), gs_show_duration(t->period_ns, GS_ROUND_NEAREST, period),
                 gs_show_duration(t->deadline_ns, GS_ROUND_NEAREST, deadline), after.reason);
        gs_core_log(core, false, "%s", text);
    }
    free(tasks);
    return err;
}
