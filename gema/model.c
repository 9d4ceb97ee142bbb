/* SPDX-License-Identifier: MIT */
/* Task sets: building, checking, and from a config file. */
#include "gema/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gs_model_init(struct gs_model *m, int cpus, int links, int gpus)
{
    *m = (struct gs_model){.servers = {[GS_CPU] = cpus, [GS_PCI] = links, [GS_GPU] = gpus},
                           .preemptive = {[GS_CPU] = true},
                           .pieces = GS_PIECES_OWN,
                           .depth = 2,
                           .handover_ns = GS_CONFIG_HANDOVER_NS};
}

void gs_model_set_rules(struct gs_model *m, const struct gs_config *config)
{
    const struct gs_config_system *s = &config->system;
    memcpy(m->preemptive, s->preemptive, sizeof m->preemptive);
    m->pieces = s->pieces;
    m->depth = s->depth;
    m->handover_ns = s->handover_ns;
    memcpy(m->chunk_ns, s->chunk_ns, sizeof m->chunk_ns);
    for (int r = 0; r < GS_RESOURCES; r++) {
        m->chunked[r] = s->chunk_ns[r] > 0;
        for (size_t i = 0; i < config->n_tasks; i++)
            m->chunked[r] = m->chunked[r] || config->tasks[i].chunk_ns[r];
    }
    gs_model_set_liars(m, s->liars);
}

void gs_model_set_liars(struct gs_model *m, int liars)
{
    m->liars = liars;
    m->late_ns = liars > 0 ? GS_CONFIG_LATE_NS : 0;
    for (int r = 0; r < GS_RESOURCES; r++) {
        const int64_t unit = m->depth * m->chunk_ns[r];
        m->patience_ns[r] = liars == GS_LIARS_NO || !unit  ? 0
                            : unit > GS_CONFIG_PATIENCE_NS ? unit
                                                           : GS_CONFIG_PATIENCE_NS;
    }
}

/* Of all liars together in a window of this length. INT64_MAX: there is no limit but each unit's. */
static int64_t excess_in(const struct gs_model *m, int64_t window_ns)
{
    int64_t most = 0, sum;
    for (int r = 0; r < GS_RESOURCES; r++)
        most = m->patience_ns[r] > most ? m->patience_ns[r] : most;
    const bool fits = !__builtin_mul_overflow(most, 1 + window_ns / GS_CONFIG_FORGET_NS, &sum) &&
                      !__builtin_add_overflow(sum, window_ns / GS_CONFIG_COMES_BACK + 1, &sum) &&
                      !__builtin_mul_overflow(sum, m->liars, &sum);
    return fits && m->liars != GS_LIARS_ANY ? sum : INT64_MAX;
}

static void free_task(struct gs_task *t, int gpus)
{
    for (int g = 1; t->chains && g <= gpus; g++)
        free(t->chains[g].segments);
    free(t->chains);
    free(t->name);
}

void gs_model_free(struct gs_model *m)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        free_task(&m->tasks[i], m->servers[GS_GPU]);
    free(m->tasks);
    m->tasks = NULL;
    m->n_tasks = 0;
}

int gs_model_add_task(struct gs_model *m, const char *name, int64_t period_ns, int64_t deadline_ns)
{
    if (m->n_tasks >= GS_CONFIG_MAX_TASKS)
        return -EINVAL;
    struct gs_task *v = realloc(m->tasks, (m->n_tasks + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    m->tasks = v;
    struct gs_task t = {.name = strdup(name),
                        .period_ns = period_ns,
                        .deadline_ns = deadline_ns,
                        .priority = -deadline_ns,
                        .excess_ns = excess_in(m, period_ns),
                        .chains = calloc((size_t)m->servers[GS_GPU] + 1, sizeof *t.chains)};
    if (!t.name || !t.chains) {
        free_task(&t, 0);
        return -ENOMEM;
    }
    v[m->n_tasks] = t;
    return (int)m->n_tasks++;
}

int gs_model_set_chain(struct gs_model *m, size_t task, int gpus, const struct gs_segment *segments, size_t n)
{
    if (gpus < 1 || gpus > m->servers[GS_GPU] || task >= m->n_tasks || !n)
        return -EINVAL;
    struct gs_segment *copy = malloc(n * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, segments, n * sizeof *copy);
    struct gs_chain *c = &m->tasks[task].chains[gpus];
    free(c->segments);
    *c = (struct gs_chain){copy, n};
    return 0;
}

int gs_model_copy(struct gs_model *to, const struct gs_model *from)
{
    int gpus = from->servers[GS_GPU];
    *to = *from;
    to->tasks = NULL;
    to->n_tasks = 0;
    for (size_t i = 0; i < from->n_tasks; i++) {
        const struct gs_task *t = &from->tasks[i];
        int at = gs_model_add_task(to, t->name, t->period_ns, t->deadline_ns);
        if (at < 0)
            goto fail;
        to->tasks[at].priority = t->priority;
        to->tasks[at].fixed_mode = t->fixed_mode;
        to->tasks[at].excess_ns = t->excess_ns;
        memcpy(to->tasks[at].chunk_ns, t->chunk_ns, sizeof t->chunk_ns);
        for (int g = 1; g <= gpus; g++)
            if (t->chains[g].n && gs_model_set_chain(to, i, g, t->chains[g].segments, t->chains[g].n))
                goto fail;
    }
    return 0;
fail:
    gs_model_free(to);
    return -ENOMEM;
}

bool gs_model_has_short_chunks(const struct gs_model *m, size_t task, const struct gs_segment *s)
{
    const int64_t chunk = m->tasks[task].chunk_ns[s->resource];
    return m->chunked[s->resource] && chunk && chunk < m->handover_ns && chunk < s->worst_ns;
}

bool gs_model_counts_handovers(const struct gs_model *m, size_t task, int gpus)
{
    const struct gs_chain *c = &m->tasks[task].chains[gpus];
    bool counts = true;
    for (size_t j = 0; j < c->n && m->handover_ns; j++) {
        const struct gs_segment *s = &c->segments[j];
        const bool each = m->depth == 1 && m->chunked[s->resource] && s->worst_ns;
        counts = counts && (s->chunks || !(each || gs_model_has_short_chunks(m, task, s)));
    }
    return counts;
}

bool gs_model_may_use(const struct gs_model *m, size_t task, int gpus)
{
    const struct gs_task *t = &m->tasks[task];
    return gpus >= 1 && gpus <= m->servers[GS_GPU] && t->chains[gpus].n && (!t->fixed_mode || t->fixed_mode == gpus);
}

bool gs_model_counts_whole(const struct gs_model *m, enum gs_resource resource)
{
    for (size_t i = 0; i < m->n_tasks && resource != GS_CPU && !m->chunked[resource]; i++)
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            for (size_t j = 0; j < m->tasks[i].chains[g].n; j++)
                if (m->tasks[i].chains[g].segments[j].resource == resource &&
                    m->tasks[i].chains[g].segments[j].worst_ns)
                    return true;
    return false;
}

int64_t gs_chain_worst(const struct gs_chain *c)
{
    int64_t sum = 0;
    for (size_t j = 0; j < c->n; j++)
        sum += c->segments[j].worst_ns + c->segments[j].pause_ns;
    return sum;
}

int64_t gs_chain_best(const struct gs_chain *c)
{
    int64_t sum = 0;
    for (size_t j = 0; j < c->n; j++)
        sum += c->segments[j].best_ns;
    return sum;
}

static bool good_pauses(const struct gs_segment *s)
{
    const bool may = s->resource != GS_CPU;
    return s->pauses >= 0 && s->pauses <= GS_CONFIG_MAX_PAUSES && s->pause_ns >= 0 && s->pause_ns <= GS_CONFIG_MAX_NS &&
           (s->pauses ? may : !s->pause_ns);
}

static bool good_chunks(const struct gs_segment *s)
{
    return s->chunks == 0 || (s->chunks > 0 && s->chunks <= GS_CONFIG_MAX_CHUNKS && s->resource != GS_CPU);
}

static bool good_chain(const struct gs_chain *c)
{
    if (c->n > GS_CONFIG_MAX_SEGMENTS)
        return false;
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        if ((unsigned)s->resource >= GS_RESOURCES || s->best_ns < 0 || s->best_ns > s->worst_ns ||
            s->worst_ns > GS_CONFIG_MAX_NS || !good_pauses(s) || !good_chunks(s))
            return false;
    }
    return true;
}

static bool good_rules(const struct gs_model *m)
{
    bool any = false;
    for (int r = 0; r < GS_RESOURCES; r++) {
        any = any || m->chunked[r];
        if (m->servers[r] < 1 || m->servers[r] > GS_CONFIG_MAX_SERVERS || (m->chunked[r] && m->preemptive[r]) ||
            m->chunk_ns[r] < 0 || m->chunk_ns[r] > GS_CONFIG_MAX_NS)
            return false;
    }
    return !m->chunked[GS_CPU] && !(m->chunked[GS_GPU] && m->pieces != GS_PIECES_OWN) &&
           (!any || (m->depth >= 1 && m->depth <= GS_CONFIG_MAX_SERVERS && m->handover_ns >= 0 &&
                     m->handover_ns <= GS_CONFIG_MAX_NS));
}

static bool good_task(const struct gs_model *m, size_t i)
{
    const struct gs_task *t = &m->tasks[i];
    bool usable = false;
    for (int r = 0; r < GS_RESOURCES; r++)
        if (t->chunk_ns[r] < 0 || t->chunk_ns[r] > GS_CONFIG_MAX_NS)
            return false;
    if (t->deadline_ns <= 0 || t->deadline_ns > t->period_ns || t->period_ns > GS_CONFIG_MAX_NS)
        return false;
    for (int g = 1; g <= m->servers[GS_GPU]; g++) {
        if (!good_chain(&t->chains[g]))
            return false;
        usable = usable || gs_model_may_use(m, i, g);
    }
    return usable;
}

/* No sum in an analysis is larger than (pieces of all tasks in a window) x (the longest window), see docs/analysis.md,
 * "Integers". */
static bool sums_fit(const struct gs_model *m)
{
    int64_t pieces = 1, longest = 1, segments = 1, bursts = 1, chunks = 0, product;
    for (size_t i = 0; i < m->n_tasks; i++) {
        const struct gs_task *t = &m->tasks[i];
        int64_t most = 0;
        longest = t->period_ns > longest ? t->period_ns : longest;
        for (int g = 1; g <= m->servers[GS_GPU]; g++) {
            const struct gs_chain *c = &t->chains[g];
            most = (int64_t)c->n * g > most ? (int64_t)c->n * g : most;
            segments = (int64_t)c->n > segments ? (int64_t)c->n : segments;
            for (size_t j = 0; j < c->n; j++) {
                const struct gs_segment *s = &c->segments[j];
                longest = s->worst_ns + s->pause_ns > longest ? s->worst_ns + s->pause_ns : longest;
                bursts = s->pauses >= bursts ? s->pauses + 1 : bursts;
                chunks = s->chunks > chunks ? s->chunks : chunks;
            }
        }
        pieces += most;
    }
    for (int r = 0; r < GS_RESOURCES; r++)
        if (m->chunked[r] && m->depth * m->chunk_ns[r] + m->patience_ns[r] + m->late_ns > longest)
            longest = m->depth * m->chunk_ns[r] + m->patience_ns[r] + m->late_ns; /* all have bounds: it fits */
    if (m->chunked[GS_PCI] || m->chunked[GS_GPU])
        longest += (2 * bursts + chunks) * m->handover_ns; /* all have bounds */
    return !__builtin_mul_overflow(pieces, longest, &product) && !__builtin_mul_overflow(product, bursts, &product) &&
           !__builtin_mul_overflow(product, segments + 4, &product) &&
           !__builtin_mul_overflow(product, INT64_C(16), &product);
}

/* Stable: tasks of one priority keep their order, the first is the most urgent. */
static void sort_by_priority(struct gs_model *m)
{
    for (size_t i = 1; i < m->n_tasks; i++) {
        struct gs_task t = m->tasks[i];
        size_t j = i;
        for (; j > 0 && m->tasks[j - 1].priority < t.priority; j--)
            m->tasks[j] = m->tasks[j - 1];
        m->tasks[j] = t;
    }
}

int gs_model_finish(struct gs_model *m)
{
    if (!good_rules(m))
        return -EINVAL;
    for (size_t i = 0; i < m->n_tasks; i++)
        if (!good_task(m, i))
            return -EINVAL;
    if (!sums_fit(m))
        return -EOVERFLOW;
    sort_by_priority(m);
    return 0;
}

int gs_model_add_config_task(struct gs_model *m, const struct gs_config_task *task, struct gs_mistakes *mistakes)
{
    int gpus = m->servers[GS_GPU], usable = 0;
    int mode = task->mode == GS_MODE_MULTI ? gpus : task->mode;
    int at = gs_model_add_task(m, task->name, task->period_ns, task->deadline_ns);
    if (at < 0)
        return at;
    struct gs_task *t = &m->tasks[at];
    t->fixed_mode = mode;
    if (task->has_priority)
        t->priority = task->priority;
    for (int r = 0; r < GS_RESOURCES; r++)
        t->chunk_ns[r] = task->chunk_ns[r] ? task->chunk_ns[r] : m->chunk_ns[r];
    for (int g = 1; g <= gpus; g++) {
        const struct gs_config_chain *c = &task->chains[g];
        struct gs_segment s[GS_CONFIG_MAX_SEGMENTS];
        for (size_t j = 0; j < c->n_segments; j++)
            s[j] = (struct gs_segment){c->segments[j].resource,
                                       c->segments[j].best_ns,
                                       c->segments[j].worst_ns,
                                       c->segments[j].pauses,
                                       c->segments[j].pause_ns,
                                       c->segments[j].chunks,
                                       0};
        if (c->n_segments && gs_model_set_chain(m, (size_t)at, g, s, c->n_segments))
            return -ENOMEM;
        usable += c->n_segments && (!mode || mode == g);
    }
    if (usable)
        return 0;
    int rc = mode ? gs_mistakes_add(mistakes, task->line,
                                    "task %s needs segments.%d: a response time follows from them", task->name, mode)
                  : gs_mistakes_add(mistakes, task->line,
                                    "task %s has no segments: a response time follows from them; gpusparc profile "
                                    "measures them",
                                    task->name);
    return rc ? rc : -EINVAL;
}

int gs_model_from_config(struct gs_model *m, const struct gs_config *config, struct gs_mistakes *mistakes)
{
    static const char *const keys[GS_RESOURCES] = {"cpus", "links", "gpus"};
    const struct gs_config_system *s = &config->system;
    int rc = 0, bad = 0;
    gs_model_init(m, s->servers[GS_CPU], s->servers[GS_PCI], s->servers[GS_GPU]);
    gs_model_set_rules(m, config);
    for (int r = 0; r < GS_RESOURCES; r++)
        if (s->servers[r] < 1 && ++bad &&
            gs_mistakes_add(mistakes, s->line,
                            "[system] must say %s = NUMBER: the daemon takes the machine's, an analysis can't",
                            keys[r]))
            return -ENOMEM;
    if (s->servers[GS_GPU] < 1)
        return -EINVAL;
    for (size_t i = 0; i < config->n_tasks; i++) {
        rc = gs_model_add_config_task(m, &config->tasks[i], mistakes);
        bad += rc == -EINVAL;
        if (rc && rc != -EINVAL)
            return rc;
    }
    if (bad)
        return -EINVAL;
    rc = gs_model_finish(m);
    if (rc == -EOVERFLOW)
        rc = gs_mistakes_add(mistakes, 0, "all times together are too long: more than 292 years") ? -ENOMEM : -EINVAL;
    return rc;
}
