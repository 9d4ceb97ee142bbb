/* SPDX-License-Identifier: MIT */
/* What is kept of jobs and of the resources' use. All of it comes from the clients, so it can only be as true as they
 * are; no grant depends on it. */
#include "scheduler/session.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/trace.h"

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
    int64_t used_ns[GS_RESOURCES]; /* of the link, and of the GPU that it kept longest */
};

/* The analysis believes what jobs have used, rather than segments that say less. Is it more than it believed before? */
static bool compare_usage(struct gs_session *s, const struct gs_config_task *t, struct gs_demand *d, unsigned gpus,
                          const int64_t used_ns[GS_RESOURCES])
{
    static const enum gs_resource kinds[] = {GS_PCI, GS_GPU};
    bool more = false;
    for (size_t i = 0; i < 2; i++) {
        if (!gs_demand_add(d, t, gpus, kinds[i], used_ns[kinds[i]]))
            continue;
        char used[GS_DURATION_SIZE], said[GS_DURATION_SIZE], counts[GS_DURATION_SIZE];
        gs_core_log(s->core, true,
                    "a job of task %s kept %s for %s, where its segments.%u say %s: its bound now counts %s", t->name,
                    kinds[i] == GS_PCI ? "the link" : "a GPU", gs_format_duration(used_ns[kinds[i]], used), gpus,
                    gs_format_duration(gs_demand_said(t, gpus, kinds[i]), said),
                    gs_format_duration(d->counted_ns[gpus][kinds[i]], counts));
        more = true;
    }
    return more;
}

static void decide_by_usage(struct gs_core *core)
{
    const bool met = core->decision.schedulable;
    gs_members_decide(core);
    if (met && !core->decision.schedulable)
        gs_members_say_late(core, "by what jobs have used");
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
        const int64_t ns = (int64_t)atomic_exchange(longest_us, 0) * 1000;
        const enum gs_resource kind = r == GS_RESOURCE_PCI ? GS_PCI : GS_GPU;
        const bool own = t && t->chunk_ns[kind];
        const int64_t chunk_ns = own ? t->chunk_ns[kind] : core->config.system.chunk_ns[kind];
        /* In a warm-up memory is made and kernels are loaded. */
        if (!chunk_ns || s->warmup_left ||
            !is_news(ns, chunk_ns * core->depth, &(st ? st->unit_ns : core->unit_ns)[kind]))
            continue;
        char took[GS_DURATION_SIZE], said[GS_DURATION_SIZE];
        gs_core_log(core, true,
                    "a unit of %s%s kept %s for %s, where %s %s allows %u of %s: the bounds of what it kept "
                    "waiting may not hold",
                    t ? "task " : "", t ? t->name : s->exe, kind == GS_PCI ? "the link" : "a GPU",
                    gs_format_duration(ns, took), own ? "its" : "the system's", key[kind], core->depth,
                    gs_format_duration(chunk_ns, said));
    }
}

/* Does the analysis count more than before, by what this one has used? */
static bool has_ended(struct gs_session *s, const struct job *job)
{
    struct gs_core *core = s->core;
    if (!s->task_name[0])
        return false;
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
    s->job_gpus = job->gpus;
    if (core->trace)
        gs_trace_job(core->trace, s->number, s->task_name, job->release_ns, job->end_ns,
                     warmup ? 0 : (uint64_t)t->deadline_ns);
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
    return s->task && gpus && compare_usage(s, t, &st->demand, gpus, job->used_ns);
}

/* It can't have been longer than the process has been here. */
static int64_t believed(const struct gs_session *s, _Atomic uint64_t *ns)
{
    const uint64_t lived = s->core->now_ns - s->since_ns, said = atomic_load(ns);
    return (int64_t)(said < lived ? said : lived);
}

void gs_jobs_read(struct gs_session *s)
{
    struct gs_page *p = s->lease.page;
    const uint32_t end = atomic_load(&p->jobs);
    bool more = false;
    if (end - s->jobs_read > GS_JOB_RECORDS) {
        gs_core_log(s->core, true, "%u jobs of process %d ended before the daemon came to count the ones before",
                    end - s->jobs_read - GS_JOB_RECORDS, (int)s->pid);
        s->jobs_read = end - GS_JOB_RECORDS;
    }
    if (s->jobs_read != end)
        gs_jobs_watch_units(s);
    for (; s->jobs_read != end; s->jobs_read++) {
        struct gs_job_record *r = &p->job[s->jobs_read % GS_JOB_RECORDS];
        if (atomic_load_explicit(&r->serial, memory_order_acquire) != s->jobs_read + 1)
            break; /* it is being written */
        const struct job job = {.release_ns = atomic_load(&r->release_ns),
                                .end_ns = atomic_load(&r->end_ns),
                                .gpus = atomic_load(&r->gpus),
                                .used_ns = {[GS_PCI] = believed(s, &r->pci_ns), [GS_GPU] = believed(s, &r->gpu_ns)}};
        if (job.end_ns > s->core->now_ns) /* since the daemon looked at its clock: it is read the next time */
            break;
        more |= has_ended(s, &job);
    }
    if (more)
        decide_by_usage(s->core);
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

void gs_jobs_drain(struct gs_session *s)
{
    struct gs_core *core = s->core;
    struct gs_page *p = s->lease.page;
    if (!core->trace)
        return;
    uint32_t end = atomic_load(&p->records);
    if (end - s->records_read > GS_UNIT_RECORDS) {
        gs_trace_lost(core->trace, end - s->records_read - GS_UNIT_RECORDS);
        s->records_read = end - GS_UNIT_RECORDS;
    }
    for (; s->records_read != end; s->records_read++) {
        struct gs_unit_record *r = &p->record[s->records_read % GS_UNIT_RECORDS];
        if (atomic_load_explicit(&r->serial, memory_order_acquire) != s->records_read + 1)
            break; /* it is being written */
        uint32_t what = atomic_load(&r->resource), resource = what & 0xff;
        uint64_t begin = atomic_load(&r->begin_ns), finish = atomic_load(&r->end_ns);
        if (finish > core->now_ns) /* since the daemon looked at its clock: it is read the next time */
            break;
        if (resource <= core->gpus && begin >= s->since_ns && begin <= finish)
            gs_trace_unit(core->trace, s->number, s->task_name, resource, what & GS_RECORD_ASKED, begin, finish);
    }
}
