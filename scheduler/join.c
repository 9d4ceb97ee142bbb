/* SPDX-License-Identifier: MIT */
/* How a client comes in: its place, its page, and what it is told of itself. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/session.h"

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

static void say_task(struct gs_session *s, enum gs_msg_type type, int page_fd)
{
    struct gs_msg m;
    gs_msg_init(&m, type);
    m.u.welcome = s->said = what_to_say(s);
    s->core->ops.send(s->core->ctx, s->conn, &m, page_fd);
}

void gs_core_welcome(struct gs_session *s)
{
    if (s->page_fd >= 0)
        say_task(s, GS_MSG_WELCOME, s->page_fd);
    gs_core_forget_page(s);
}

void gs_core_forget_page(struct gs_session *s)
{
    if (s->page_fd < 0)
        return;
    close(s->page_fd);
    s->page_fd = -1;
    TAILQ_REMOVE(&s->core->unwelcomed, s, unwelcomed);
}

void gs_core_tell_task(struct gs_session *s)
{
    const struct gs_msg_welcome now = what_to_say(s);
    if (s->said.client && memcmp(&now, &s->said, sizeof now) != 0)
        say_task(s, GS_MSG_TASK, -1);
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
    gs_core_tell_sole(core);
    atomic_store(&s->lease.page->recording, core->trace != NULL);
    gs_members_settle(s);
    s->page_fd = page_fd;
    TAILQ_INSERT_TAIL(&core->unwelcomed, s, unwelcomed);
    if (!gs_members_set_realtime(s))
        gs_core_welcome(s);
    const struct gs_traced who = gs_traced(s);
    if (core->trace)
        gs_trace_client(core->trace, &who, s->gpus_max);
    return 0;
}
