/* SPDX-License-Identifier: MIT */
/* What clients say: hello, requests, questions, records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/session.h"

enum { PLANS_PER_USER = 4 };

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

static int on_look(struct gs_session *s, const struct gs_msg_look *m)
{
    if (m->resource > s->core->gpus)
        return gs_core_refuse(s, GS_REFUSED_PROTOCOL, "the client has a resource that is not there");
    gs_core_look_at(s, m->resource);
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
    gs_core_help_at_once(s->core);
    return err;
}
