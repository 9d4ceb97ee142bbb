/* SPDX-License-Identifier: MIT */
#include "scheduler/status_json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static void resource_name(unsigned resource, char name[16])
{
    snprintf(name, 16, resource == GS_RESOURCE_PCI ? "link" : "gpu%u", resource - 1);
}

/* An executable's path may hold any bytes, and be long; JSON holds Unicode, and control characters take six times as
 * much. Of a long one the end is kept, which has its name. */
static json_t *text(const char *s)
{
    enum { MOST = 255 };
    char plain[MOST + 1];
    const size_t n = strlen(s), cut = n > MOST ? n - (MOST - 3) : 0;
    snprintf(plain, sizeof plain, "%s%s", cut ? "..." : "", s + cut);
    gs_plain(plain, strlen(plain));
    for (size_t i = 3; cut && ((unsigned char)plain[i] & 0xc0) == 0x80; i++)
        plain[i] = '.'; /* the rest of a character that is cut */
    json_t *j = json_string(plain);
    return j ? j : json_string("(a name that is not UTF-8)");
}

/* The first request of the client for the resource; null: none. */
static const struct gs_policy_request *find_request(const struct gs_core *core, const struct gs_session *s,
                                                    unsigned resource)
{
    const struct gs_policy_request *rq;
    for (unsigned k = 0; (rq = gs_policy_waiting(core->policy, s->index, k)); k++)
        if (rq->resource == resource)
            return rq;
    return NULL;
}

/* Who waits for it, tasks first: so many at most that nobody can make the list long. *n: how many there are. */
static json_t *waiting_for(const struct gs_core *core, unsigned resource, size_t *n)
{
    enum { MOST = 32 };
    json_t *list = json_array();
    *n = 0;
    for (int tasks = 1; tasks >= 0; tasks--) {
        for (unsigned i = 0; i < core->options.max_clients; i++) {
            const struct gs_session *s = core->session[i];
            const struct gs_policy_request *rq =
                s && (s->task != NULL) == tasks ? find_request(core, s, resource) : NULL;
            if (!rq || ++*n > MOST)
                continue;
            json_t *j = json_object();
            json_object_set_new(j, "client", number(s->number));
            json_object_set_new(j, "task", text(s->task_name));
            json_object_set_new(j, "since_ns", number(core->now_ns - rq->at_ns));
            json_array_append_new(list, j);
        }
    }
    return list;
}

/* What the client says of its memory on a GPU. All clients' together are a number still. */
#define MOST_MEMORY (INT64_C(1) << 50)
static uint64_t memory_of(const struct gs_session *s, unsigned gpu)
{
    const int64_t bytes = atomic_load(&s->lease.page->memory[gpu]);
    return bytes <= 0 ? 0 : bytes < MOST_MEMORY ? (uint64_t)bytes : MOST_MEMORY;
}

static uint64_t memory_on(const struct gs_core *core, unsigned gpu)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            bytes += memory_of(core->session[i], gpu);
    return bytes;
}

json_t *gs_resource_json(const struct gs_core *core, unsigned r)
{
    struct gs_policy_view v;
    gs_policy_view(core->policy, r, &v);
    const struct gs_session *holder = v.holder == GS_NO_CLIENT ? NULL : core->session[v.holder];
    uint64_t taken = core->taken[r];
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            taken += gs_jobs_taken(core->session[i], r);
    size_t waiting;
    char name[16];
    resource_name(r, name);
    json_t *j = json_object();
    json_object_set_new(j, "name", json_string(name));
    json_object_set_new(j, "holder", holder ? number(holder->number) : json_null());
    json_object_set_new(j, "holder_task", holder ? text(holder->task_name) : json_null());
    json_object_set_new(j, "units", number(holder ? gs_lease_units(&holder->lease, r) : 0));
    json_object_set_new(j, "contended", json_boolean(v.asked));
    json_object_set_new(j, "alone", json_boolean(v.alone));
    json_object_set_new(j, "busy_ns", number(core->busy_ns[r]));
    json_object_set_new(j, "memory_bytes", r == GS_RESOURCE_PCI ? json_null() : number(memory_on(core, r - 1)));
    json_object_set_new(j, "taken", number(taken));
    json_object_set_new(j, "granted", number(v.grants));
    json_object_set_new(j, "handovers", number(v.handovers));
    json_object_set_new(j, "waiting", waiting_for(core, r, &waiting));
    json_object_set_new(j, "clients_waiting", number(waiting));
    return j;
}

static json_t *gpus_json(uint32_t mask)
{
    json_t *list = json_array();
    for (unsigned g = 0; g < GS_MAX_GPUS; g++)
        if (mask & GS_MASK(GS_RESOURCE_GPU(g)))
            json_array_append_new(list, number(g));
    return list;
}

/* By GPU: those on which it has any. */
static json_t *memory_json(const struct gs_session *s)
{
    json_t *j = json_object();
    for (unsigned g = 0; g < s->core->gpus; g++) {
        char name[16];
        resource_name(GS_RESOURCE_GPU(g), name);
        if (memory_of(s, g))
            json_object_set_new(j, name, number(memory_of(s, g)));
    }
    return j;
}

json_t *gs_client_json(const struct gs_core *core, const struct gs_session *s)
{
    uint64_t job = atomic_load(&s->lease.page->job_since_ns);
    json_t *j = json_object();
    json_object_set_new(j, "client", number(s->number));
    json_object_set_new(j, "pid", number((uint64_t)s->pid));
    json_object_set_new(j, "uid", number(s->uid));
    json_object_set_new(j, "exe", text(s->exe));
    json_object_set_new(j, "task", text(s->task_name));
    json_object_set_new(j, "degraded", json_boolean(s->degraded));
    json_object_set_new(j, "priority", json_integer(s->task ? gs_taskset_rank(&core->config, s->task) : 0));
    json_object_set_new(j, "gpus", number(s->told.gpus));
    json_object_set_new(j, "gpu_list", gpus_json(s->told.gpu_mask));
    json_object_set_new(j, "since_ns", number(core->now_ns - s->since_ns));
    json_object_set_new(j, "job_ns", job && job <= core->now_ns ? number(core->now_ns - job) : json_null());
    json_object_set_new(j, "warmup_left", number(s->warmup_left));
    json_object_set_new(j, "taken_back", number(s->taken_back));
    json_object_set_new(j, "behind", json_boolean(gs_policy_is_behind(core->policy, s->index)));
    json_object_set_new(j, "memory_bytes", memory_json(s));
    return j;
}

static json_t *histogram_json(const struct gs_histogram *h)
{
    return json_pack("{s:I s:I s:I s:I s:I}", "count", (json_int_t)h->count, "min_ns", (json_int_t)h->min_ns,
                     "median_ns", (json_int_t)gs_histogram_quantile(h, 0.5), "p99_ns",
                     (json_int_t)gs_histogram_quantile(h, 0.99), "max_ns", (json_int_t)h->max_ns);
}

/* What the task's jobs have used with so many GPUs, beside what their segments say and what the bound counts. */
static json_t *demand_json(const struct gs_config_task *t, const struct gs_demand *d, unsigned gpus)
{
    static const enum gs_resource kinds[] = {GS_PCI, GS_GPU};
    json_t *j = json_object();
    json_object_set_new(j, "gpus", number(gpus));
    for (size_t i = 0; i < 2; i++) {
        const enum gs_resource k = kinds[i];
        const int64_t said = gs_demand_said(t, gpus, k), counted = d->counted_ns[gpus][k];
        json_object_set_new(j, k == GS_PCI ? "link" : gs_resource_names[k],
                            json_pack("{s:I s:I s:I}", "seen_ns", (json_int_t)d->seen_ns[gpus][k], "segments_ns",
                                      (json_int_t)said, "counted_ns", (json_int_t)(counted > said ? counted : said)));
    }
    return j;
}

static json_t *demands_json(const struct gs_config_task *t, const struct gs_demand *d)
{
    json_t *list = json_array();
    for (unsigned g = 1; d && g <= GS_MAX_GPUS; g++)
        if (d->seen_ns[g][GS_PCI] || d->seen_ns[g][GS_GPU])
            json_array_append_new(list, demand_json(t, d, g));
    return list;
}

json_t *gs_task_json(struct gs_core *core, const struct gs_config_task *t)
{
    static const struct gs_histogram none;
    const struct gs_task_stats *st = gs_jobs_stats(core, t->name);
    const struct gs_session *runs = NULL;
    unsigned instances = 0, warming = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        if (core->session[i] && strcmp(core->session[i]->task_name, t->name) == 0) {
            runs = core->session[i];
            instances++;
            warming += runs->warmup_left > 0;
        }
    }
    json_t *j = json_object();
    json_object_set_new(j, "task", text(t->name));
    json_object_set_new(j, "running", number(instances));
    json_object_set_new(j, "priority", json_integer(gs_taskset_rank(&core->config, t)));
    json_object_set_new(j, "degraded", json_boolean(runs && runs->degraded));
    json_object_set_new(j, "gpus", runs ? number(runs->told.gpus) : json_null());
    json_object_set_new(j, "period_ns", number((uint64_t)t->period_ns));
    json_object_set_new(j, "deadline_ns", number((uint64_t)t->deadline_ns));
    json_object_set_new(j, "bound_ns",
                        runs && runs->member.analysed ? number((uint64_t)runs->member.response_ns) : json_null());
    json_object_set_new(j, "warming", number(warming));
    json_object_set_new(j, "warmup_jobs", number(st ? st->warmup_jobs : 0));
    json_object_set_new(j, "jobs", number(st ? st->jobs : 0));
    json_object_set_new(j, "misses", number(st ? st->misses : 0));
    json_object_set_new(j, "response", histogram_json(st ? &st->response : &none));
    json_object_set_new(j, "jitter", histogram_json(st ? &st->jitter : &none));
    json_object_set_new(j, "used", demands_json(t, st ? &st->demand : NULL));
    return j;
}

json_t *gs_daemon_json(const struct gs_core *core)
{
    json_t *j = json_object();
    json_object_set_new(j, "version", json_string(GS_VERSION));
    json_object_set_new(j, "pid", number((uint64_t)getpid()));
    json_object_set_new(j, "socket", text(core->options.socket));
    json_object_set_new(j, "config", core->options.config_path ? text(core->options.config_path) : json_null());
    json_object_set_new(j, "gpus", number(core->gpus));
    json_object_set_new(j, "depth", number(core->depth));
    json_object_set_new(j, "uptime_ns", number(core->now_ns - core->started_ns));
    json_object_set_new(j, "clients", number(core->n_sessions));
    json_object_set_new(j, "reloads", number(core->reloads));
    json_object_set_new(j, "refused", number(core->refused));
    json_object_set_new(j, "bad_messages", number(core->bad_messages));
    json_object_set_new(j, "taken_back", number(core->taken_back));
    json_object_set_new(j, "log_dropped", number(gs_log_dropped()));
    return j;
}

json_t *gs_user_json(const struct gs_user *u, uint64_t now_ns)
{
    static const char *const names[GS_USER_EVENTS] = {"connections", "questions",    "turned_away",
                                                      "refused",     "log_left_out", "slow_calls"};
    json_t *j = json_object();
    json_object_set_new(j, "uid", number(u->uid));
    json_object_set_new(j, "floods", json_boolean(gs_user_floods(u, now_ns)));
    for (unsigned e = 0; e < GS_USER_EVENTS; e++)
        json_object_set_new(j, names[e], number(u->count[e]));
    return j;
}

json_t *gs_decision_json(const struct gs_core *core)
{
    json_t *j = json_object();
    json_object_set_new(j, "schedulable", json_boolean(core->decision.schedulable));
    json_object_set_new(j, "proven", json_boolean(core->decision.proven));
    json_object_set_new(j, "analysed", number(core->decision.analysed));
    json_object_set_new(j, "reason", json_string(core->decision.reason));
    json_object_set_new(j, "age_ns", number(core->now_ns - core->decided_ns));
    json_object_set_new(j, "decisions", number(core->decisions));
    return j;
}
