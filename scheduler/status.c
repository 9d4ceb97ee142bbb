/* SPDX-License-Identifier: MIT */
/* The daemon's state as JSON. docs/daemon.md lists the fields. */
#include "scheduler/session.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static void resource_name(unsigned resource, char name[16])
{
    snprintf(name, 16, resource == GS_RESOURCE_PCI ? "pci" : "gpu%u", resource - 1);
}

/* An executable's path may hold any bytes; JSON holds Unicode. */
static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    return j ? j : json_string("(a name that is not UTF-8)");
}

static json_t *waiting_for(const struct gs_core *core, unsigned resource)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        const struct gs_session *s = core->session[i];
        const struct gs_policy_request *rq;
        for (unsigned k = 0; s && (rq = gs_policy_waiting(core->policy, s->index, k)); k++) {
            if (!(rq->mask & GS_MASK(resource)))
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

static json_t *resource_json(const struct gs_core *core, unsigned r)
{
    struct gs_policy_view v;
    gs_policy_view(core->policy, r, &v);
    const struct gs_session *holder = v.holder == GS_NO_CLIENT ? NULL : core->session[v.holder];
    uint64_t taken = core->taken[r];
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            taken += atomic_load(&core->session[i]->lease.page->lease[r].taken);
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
    json_object_set_new(j, "taken", number(taken));
    json_object_set_new(j, "granted", number(v.grants));
    json_object_set_new(j, "handovers", number(v.handovers));
    json_object_set_new(j, "waiting", waiting_for(core, r));
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

static json_t *client_json(const struct gs_core *core, const struct gs_session *s)
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
        json_object_set_new(j, gs_resource_names[k],
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

static json_t *task_json(struct gs_core *core, const struct gs_config_task *t)
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

static json_t *daemon_json(const struct gs_core *core)
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
    return j;
}

static json_t *decision_json(const struct gs_core *core)
{
    json_t *j = json_object();
    json_object_set_new(j, "schedulable", json_boolean(core->decision.schedulable));
    json_object_set_new(j, "analysed", number(core->decision.analysed));
    json_object_set_new(j, "reason", text(core->decision.reason));
    json_object_set_new(j, "age_ns", number(core->now_ns - core->decided_ns));
    json_object_set_new(j, "decisions", number(core->decisions));
    return j;
}

char *gs_core_status(struct gs_core *core, uint64_t now_ns)
{
    core->now_ns = now_ns;
    json_t *resources = json_array(), *clients = json_array(), *tasks = json_array();
    gs_jobs_read_all(core);
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        if (!core->session[i])
            continue;
        gs_jobs_collect_usage(core->session[i]);
        json_array_append_new(clients, client_json(core, core->session[i]));
    }
    for (unsigned r = 0; r <= core->gpus; r++)
        json_array_append_new(resources, resource_json(core, r));
    for (size_t i = 0; i < core->config.n_tasks; i++)
        json_array_append_new(tasks, task_json(core, &core->config.tasks[i]));
    json_t *j = json_object();
    json_object_set_new(j, "daemon", daemon_json(core));
    json_object_set_new(j, "resources", resources);
    json_object_set_new(j, "clients", clients);
    json_object_set_new(j, "tasks", tasks);
    json_object_set_new(j, "decision", decision_json(core));
    char *s = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    return s;
}
