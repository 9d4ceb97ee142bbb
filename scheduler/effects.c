/* SPDX-License-Identifier: MIT */
/* What the policy does to the world: leases in clients' pages, slots, and what is said and counted of them. */
#include <stdio.h>

#include "common/config.h"
#include "scheduler/session.h"

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

const struct gs_policy_ops gs_core_policy_ops = {on_ask, on_allow, on_end, on_grant, on_yield, on_units};
