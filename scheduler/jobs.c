/* SPDX-License-Identifier: MIT */
/* What is kept of jobs and of the resources' use. All of it comes from the clients, so it can only be as true as they
 * are; no grant depends on it. */
#include "scheduler/session.h"

#include <stdlib.h>
#include <string.h>

struct gs_task_stats *gs_jobs_stats(const struct gs_core *core, const char *name)
{
    for (size_t i = 0; i < core->n_stats; i++)
        if (strcmp(core->stats[i]->name, name) == 0)
            return core->stats[i];
    return NULL;
}

/* The statistics of the session's task, made where there are none yet. Null: no memory. */
static struct gs_task_stats *stats_for(struct gs_session *s)
{
    struct gs_core *core = s->core;
    struct gs_task_stats *st = gs_jobs_stats(core, s->task_name);
    if (st)
        return st;
    struct gs_task_stats **v = realloc(core->stats, (core->n_stats + 1) * sizeof(*v));
    if (!v)
        return NULL;
    core->stats = v;
    st = calloc(1, sizeof *st);
    if (!st)
        return NULL;
    memcpy(st->name, s->task_name, sizeof st->name);
    core->stats[core->n_stats++] = st;
    return st;
}

/* What a record says. */
struct job {
    uint64_t release_ns, end_ns;
    unsigned gpus;
    uint64_t used_ns[GS_RESOURCES]; /* of the link, and of the GPU that it kept longest */
};

/* ---- what jobs have used beyond their segments ---- */

/* What counts of a task is the most of its processes. */
static void sum_up(struct gs_core *core, struct gs_task_stats *st)
{
    if (core->config.system.overruns_ns != GS_OVERRUNS_RELOAD)
        memset(st->demand.counted_ns, 0, sizeof st->demand.counted_ns);
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        const struct gs_session *s = core->session[i];
        if (!s || strcmp(s->task_name, st->name) != 0)
            continue;
        gs_demand_join(&st->demand, &s->lately);
        gs_demand_join(&st->demand, &s->before);
    }
}

void gs_jobs_forget_process(struct gs_session *s)
{
    struct gs_task_stats *st = s->task_name[0] ? gs_jobs_stats(s->core, s->task_name) : NULL;
    if (st)
        sum_up(s->core, st);
}

static void decide_by_less(struct gs_core *core)
{
    if (!core->decision.schedulable)
        core->met_again = "deadlines are met again: what jobs had used beyond their segments counts no more";
    gs_members_decide(core);
}

/* Twice in the time that overruns count: so long they do at most, and half of it at least. */
static void forget_later(struct gs_core *core)
{
    if (core->config.system.overruns_ns > 0 && core->forget_ns == UINT64_MAX)
        core->forget_ns = core->now_ns + (uint64_t)core->config.system.overruns_ns / 2;
}

void gs_jobs_forget_old(struct gs_core *core)
{
    static const struct gs_demand none;
    if (core->now_ns < core->forget_ns)
        return;
    core->forget_ns = UINT64_MAX;
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        struct gs_session *s = core->session[i];
        if (!s)
            continue;
        s->before = s->lately;
        s->lately = none;
        if (memcmp(&s->before, &none, sizeof none) != 0)
            forget_later(core);
    }
    bool less = false;
    for (size_t i = 0; i < core->n_stats; i++) {
        const struct gs_demand old = core->stats[i]->demand;
        sum_up(core, core->stats[i]);
        less = less || memcmp(&old, &core->stats[i]->demand, sizeof old) != 0;
    }
    if (less && !core->ending)
        decide_by_less(core);
}

/* The analysis believes what jobs have used, rather than segments that say less. Is it more than it believed before? */
static bool compare_usage(struct gs_session *s, const struct gs_config_task *t, struct gs_demand *d, unsigned gpus,
                          const int64_t used_ns[GS_RESOURCES])
{
    static const enum gs_resource kinds[] = {GS_PCI, GS_GPU};
    bool more = false;
    for (size_t i = 0; i < 2; i++) {
        const int64_t before = d->counted_ns[gpus][kinds[i]];
        if (gs_demand_add(&s->lately, t, gpus, kinds[i], used_ns[kinds[i]]))
            forget_later(s->core);
        gs_demand_join(d, &s->lately);
        if (d->counted_ns[gpus][kinds[i]] == before)
            continue;
        char used[GS_DURATION_SIZE], said[GS_DURATION_SIZE], counts[GS_DURATION_SIZE];
        gs_core_log_of(
            s, true, "a job of task %s kept %s for %s, where its segments.%u say %s: its bound now counts %s", t->name,
            kinds[i] == GS_PCI ? "the link" : "a GPU", gs_show_duration(used_ns[kinds[i]], GS_ROUND_UP, used), gpus,
            gs_format_duration(gs_demand_said(t, gpus, kinds[i]), said),
            gs_show_duration(d->counted_ns[gpus][kinds[i]], GS_ROUND_UP, counts));
        more = true;
    }
    return more;
}

static void decide_by_usage(struct gs_core *core)
{
    if (core->decision.schedulable)
        core->since = "by what jobs have used";
    gs_members_decide(core);
}

/* A unit that lasts longer than the last one that was told of, and a quarter more. */
static bool is_news(int64_t ns, int64_t allowed_ns, int64_t *told_ns)
{
    if (ns <= allowed_ns || ns <= *told_ns + *told_ns / 4)
        return false;
    *told_ns = ns;
    return true;
}

void gs_jobs_watch_units(struct gs_session *s)
{
    static const char *const key[GS_RESOURCES] = {[GS_PCI] = "pci_chunk", [GS_GPU] = "gpu_chunk"};
    struct gs_core *core = s->core;
    const struct gs_config_task *t = s->task;
    struct gs_task_stats *st = t ? stats_for(s) : NULL;
    for (unsigned r = 0; r <= core->gpus; r++) {
        _Atomic uint32_t *longest_us = &s->lease.page->lease[r].longest_us;
        if (!atomic_load(longest_us))
            continue;
        const int64_t said = (int64_t)atomic_exchange(longest_us, 0) * 1000,
                      lived = (int64_t)(core->now_ns - s->since_ns);
        const int64_t ns = said < lived ? said : lived;
        const enum gs_resource kind = r == GS_RESOURCE_PCI ? GS_PCI : GS_GPU;
        const bool own = t && t->chunk_ns[kind];
        const int64_t chunk_ns = own ? t->chunk_ns[kind] : core->config.system.chunk_ns[kind];
        /* In a warm-up memory is made and kernels are loaded. */
        if (!chunk_ns || s->warmup_left ||
            !is_news(ns, chunk_ns * core->depth, &(st ? st->unit_ns : core->unit_ns)[kind]))
            continue;
        char took[GS_DURATION_SIZE], chunk[GS_DURATION_SIZE];
        gs_core_log_of(s, true,
                       "a unit of %s%s kept %s for %s, where %s %s allows %u of %s: the bounds of what it kept "
                       "waiting may not hold",
                       t ? "task " : "", t ? t->name : s->exe, kind == GS_PCI ? "the link" : "a GPU",
                       gs_show_duration(ns, GS_ROUND_UP, took), own ? "its" : "the system's", key[kind], core->depth,
                       gs_format_duration(chunk_ns, chunk));
    }
}

static uint64_t leased_ns(const struct gs_session *s, unsigned resource)
{
    const uint64_t since = s->lease_ns[resource];
    return s->leased_ns[resource] + (since ? s->core->now_ns - since : 0);
}

/* What a job says that it has used is no longer than it was the process's job, and all together no longer than the
 * process has had the resource, by its leases. */
static int64_t believed(struct gs_session *s, const struct job *job, enum gs_resource kind)
{
    uint64_t begin = job->release_ns > s->since_ns ? job->release_ns : s->since_ns, had = 0;
    begin = s->job_end_ns > begin ? s->job_end_ns : begin;
    if (kind == GS_PCI)
        had = leased_ns(s, GS_RESOURCE_PCI);
    for (unsigned g = 0; g < s->core->gpus && kind == GS_GPU; g++)
        had += leased_ns(s, GS_RESOURCE_GPU(g));
    uint64_t most = job->end_ns > begin ? job->end_ns - begin : 0;
    const uint64_t left = had > s->believed_ns[kind] ? had - s->believed_ns[kind] : 0, said = job->used_ns[kind];
    most = left < most ? left : most;
    most = said < most ? said : most;
    s->believed_ns[kind] += most;
    return (int64_t)most;
}

/* The chunks that the task's segments allow a job on a resource; 0: they don't say. */
static int64_t chunks_said(const struct gs_config_task *t, unsigned gpus, enum gs_resource kind)
{
    const struct gs_config_chain *c = &t->chains[gpus];
    int64_t sum = 0;
    for (size_t i = 0; i < c->n_segments; i++) {
        if (c->segments[i].resource == kind && c->segments[i].worst_ns && !c->segments[i].chunks)
            return 0;
        sum += c->segments[i].resource == kind ? c->segments[i].chunks : 0;
    }
    return sum;
}

/* Units that the session has had since this was last asked. */
static int64_t new_units(struct gs_session *s, unsigned resource)
{
    const uint64_t had = s->granted[resource] + gs_jobs_taken(s, resource), seen = s->units_seen[resource];
    s->units_seen[resource] = had;
    return had > seen ? (int64_t)(had - seen) : 0;
}

/* So many jobs have ended: have they, and the one that may have begun, had more chunks than the bounds count? */
static void watch_chunks(struct gs_session *s, int64_t jobs)
{
    const struct gs_core *core = s->core;
    const struct gs_config_task *t = s->task;
    const unsigned gpus = s->job_gpus <= core->gpus ? s->job_gpus : 0; /* the client says so */
    struct gs_task_stats *st = t ? stats_for(s) : NULL;
    int64_t had[GS_RESOURCES] = {[GS_PCI] = new_units(s, GS_RESOURCE_PCI)};
    for (unsigned g = 0; g < core->gpus; g++) { /* a job with one GPU may have moved; one with several has each */
        const int64_t units = new_units(s, GS_RESOURCE_GPU(g));
        had[GS_GPU] = gpus <= 1 ? had[GS_GPU] + units : units > had[GS_GPU] ? units : had[GS_GPU];
    }
    for (int kind = GS_PCI; kind <= GS_GPU && st && gpus && !s->warmup_left; kind++) {
        const int64_t said = chunks_said(t, gpus, (enum gs_resource)kind);
        if (!said || !is_news(had[kind] / (jobs + 1), said, &st->chunks[kind]))
            continue;
        gs_core_log_of(
            s, true,
            "a job of task %s had more than %lld chunks of %s, where its segments.%u say %lld: the bounds may not "
            "hold",
            t->name, (long long)(had[kind] / (jobs + 1)), kind == GS_PCI ? "the link" : "a GPU", gpus, (long long)said);
    }
}

/* Does the analysis count more than before, by what this one has used? */
static bool has_ended(struct gs_session *s, const struct job *job)
{
    struct gs_core *core = s->core;
    /* A process may have begun its job while it waited for this daemon to come. */
    if (job->release_ns == 0 || job->release_ns > job->end_ns) {
        core->bad_messages++;
        return false;
    }
    const struct gs_config_task *t = gs_taskset_find(&core->config, s->task_name);
    struct gs_task_stats *st = t ? stats_for(s) : NULL;
    if (!st)
        return false;
    bool warmup = s->warmup_left > 0;
    /* The first job with another number of GPUs moves data, once: it isn't like those that follow. */
    const unsigned gpus = job->gpus == s->job_gpus && job->gpus <= core->gpus ? job->gpus : 0;
    const int64_t used_ns[GS_RESOURCES] = {[GS_PCI] = believed(s, job, GS_PCI), [GS_GPU] = believed(s, job, GS_GPU)};
    s->job_gpus = job->gpus;
    s->job_end_ns = job->end_ns > s->job_end_ns ? job->end_ns : s->job_end_ns;
    const struct gs_traced who = gs_traced(s);
    if (core->trace)
        gs_trace_job(core->trace, &who, job->release_ns, job->end_ns, warmup ? 0 : (uint64_t)t->deadline_ns);
    if (warmup) {
        s->job_gpus = 0;
        st->warmup_jobs++;
        if (--s->warmup_left == 0)
            gs_members_warm(s);
        return false;
    }
    uint64_t response = job->end_ns - job->release_ns, last = st->last_response_ns;
    bool missed = response > (uint64_t)t->deadline_ns;
    st->jobs++;
    st->misses += missed;
    gs_histogram_add(&st->response, response);
    if (last)
        gs_histogram_add(&st->jitter, response > last ? response - last : last - response);
    st->last_response_ns = response ? response : 1;
    return s->task && gpus && compare_usage(s, t, &st->demand, gpus, used_ns);
}

bool gs_jobs_read(struct gs_session *s)
{
    struct gs_page *p = s->lease.page;
    const uint32_t end = atomic_load(&p->jobs);
    bool more = false;
    if (!s->task_name[0]) { /* who is no task has no jobs, whatever it says */
        s->jobs_read = end;
        return false;
    }
    if (end - s->jobs_read > GS_JOB_RECORDS) {
        if (!s->told_of_lost_jobs)
            gs_core_log_of(s, true, "%u jobs of process %d ended before the daemon came to count the ones before",
                           end - s->jobs_read - GS_JOB_RECORDS, (int)s->pid);
        s->told_of_lost_jobs = true;
        s->jobs_read = end - GS_JOB_RECORDS;
    }
    if (s->jobs_read != end)
        gs_jobs_watch_units(s);
    const uint32_t from = s->jobs_read, upto = end - from < GS_RECORDS_AT_ONCE ? end : from + GS_RECORDS_AT_ONCE;
    for (; s->jobs_read != upto; s->jobs_read++) {
        struct gs_job_record *r = &p->job[s->jobs_read % GS_JOB_RECORDS];
        if (atomic_load_explicit(&r->serial, memory_order_acquire) != s->jobs_read + 1)
            break; /* it is being written */
        const struct job job = {.release_ns = atomic_load(&r->release_ns),
                                .end_ns = atomic_load(&r->end_ns),
                                .gpus = atomic_load(&r->gpus),
                                .used_ns = {[GS_PCI] = atomic_load(&r->pci_ns), [GS_GPU] = atomic_load(&r->gpu_ns)}};
        if (job.end_ns > s->core->now_ns) /* since the daemon looked at its clock: it is read the next time */
            break;
        more |= has_ended(s, &job);
    }
    if (s->jobs_read == end && s->jobs_watched != end) { /* the units that are counted were all of these jobs' */
        watch_chunks(s, s->jobs_read - s->jobs_watched);
        s->jobs_watched = end;
    }
    if (more)
        decide_by_usage(s->core);
    return s->jobs_read == upto && upto != end;
}

void gs_jobs_read_all(struct gs_core *core)
{
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            gs_jobs_read(core->session[i]);
}

void gs_jobs_collect_usage(struct gs_session *s)
{
    struct gs_core *core = s->core;
    uint64_t lived = core->now_ns - s->since_ns;
    for (unsigned r = 0; r <= core->gpus; r++) {
        const struct gs_lease *l = &s->lease.page->lease[r];
        uint64_t busy = atomic_load(&l->busy_ns), since = atomic_load(&l->since_ns);
        if (gs_lease_units(&s->lease, r) && since >= s->since_ns && since < core->now_ns)
            busy += core->now_ns - since;
        if (busy > lived)
            busy = lived;
        if (busy > s->told_busy_ns[r]) {
            core->busy_ns[r] += busy - s->told_busy_ns[r];
            s->told_busy_ns[r] = busy;
        }
    }
}

uint64_t gs_jobs_taken(const struct gs_session *s, unsigned resource)
{
    enum { SHORTEST_NS = 10 }; /* what taking one costs at least */
    const uint64_t most = (s->core->now_ns - s->since_ns) / SHORTEST_NS;
    const uint64_t said = atomic_load(&s->lease.page->lease[resource].taken);
    return said < most ? said : most;
}

bool gs_jobs_drain(struct gs_session *s)
{
    struct gs_core *core = s->core;
    struct gs_page *p = s->lease.page;
    if (!core->trace)
        return false;
    const struct gs_traced who = gs_traced(s);
    uint32_t end = atomic_load(&p->records);
    if (end - s->records_read > GS_UNIT_RECORDS) {
        gs_trace_lost(core->trace, end - s->records_read - GS_UNIT_RECORDS);
        s->records_read = end - GS_UNIT_RECORDS;
    }
    enum { AT_ONCE = 64 };
    const uint32_t from = s->records_read, upto = end - from < AT_ONCE ? end : from + AT_ONCE;
    for (; s->records_read != upto; s->records_read++) {
        struct gs_unit_record *r = &p->record[s->records_read % GS_UNIT_RECORDS];
        if (atomic_load_explicit(&r->serial, memory_order_acquire) != s->records_read + 1)
            break; /* it is being written */
        uint32_t what = atomic_load(&r->resource), resource = what & 0xff;
        uint64_t begin = atomic_load(&r->begin_ns), finish = atomic_load(&r->end_ns);
        if (finish > core->now_ns) /* since the daemon looked at its clock: it is read the next time */
            break;
        if (resource <= core->gpus && begin >= s->since_ns && begin <= finish)
            gs_trace_unit(core->trace, &who, resource, what & GS_RECORD_ASKED, begin, finish);
    }
    return s->records_read == upto && upto != end;
}

void gs_jobs_trace_units_out(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    const struct gs_traced who = gs_traced(s);
    for (unsigned r = 0; core->trace && r <= core->gpus; r++) {
        const uint64_t since = atomic_load(&s->lease.page->lease[r].since_ns);
        if (gs_lease_units(&s->lease, r) && since >= s->since_ns && since < core->now_ns)
            gs_trace_units_left(core->trace, &who, r, since, core->now_ns);
    }
}
