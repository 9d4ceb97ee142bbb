/* SPDX-License-Identifier: MIT */
/* The memory of an analysis, and what of a chain doesn't depend on other tasks. */
#include "gema/analyzer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct gs_chain *chain_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->model->tasks[task].chains[g];
}

/* What of a task's longest segment can be on a server at once, or is granted already: all of it, or `depth` chunks and
 * the hand-over to the first of them. */
static int64_t held_of(const struct gs_analyzer *a, size_t task, int resource, int64_t longest)
{
    const struct gs_model *m = a->model;
    int64_t chunk = m->tasks[task].chunk_ns[resource];
    if (!a->chunked[resource] || !chunk || chunk > (longest - m->handover_ns) / m->depth)
        return longest;
    return m->depth * chunk + m->handover_ns;
}

static void fill_load(const struct gs_analyzer *a, size_t task, int g)
{
    struct gs_chain_load *load = &a->load[(task * (size_t)(a->gpus + 1) + (size_t)g) * GS_RESOURCES];
    const struct gs_chain *c = chain_of(a, task, g);
    for (size_t j = 0; j < c->n; j++) {
        struct gs_chain_load *l = &load[c->segments[j].resource];
        if (!c->segments[j].worst_ns)
            continue;
        l->n++;
        if (c->segments[j].worst_ns > l->longest)
            l->longest = c->segments[j].worst_ns;
    }
    for (int r = 0; r < GS_RESOURCES; r++)
        load[r].longest = held_of(a, task, r, load[r].longest);
}

/* The indices of the segments that have any work, ascending by worst time within one resource; [0] is their number. */
static uint16_t *make_order(const struct gs_chain *c)
{
    uint16_t *order = malloc((c->n + 1) * sizeof *order), n = 0;
    if (!order)
        return NULL;
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        size_t at = ++n;
        if (!s->worst_ns) {
            n--;
            continue;
        }
        for (; at > 1; at--) {
            const struct gs_segment *t = &c->segments[order[at - 1]];
            if (t->resource < s->resource || (t->resource == s->resource && t->worst_ns <= s->worst_ns))
                break;
            order[at] = order[at - 1];
        }
        order[at] = (uint16_t)j;
    }
    order[0] = n;
    return order;
}

static bool allocate(struct gs_analyzer *a, size_t groups, const size_t *streams)
{
    size_t n = a->model->n_tasks, modes = (size_t)a->gpus + 1;
    bool ok = true;
    for (int r = 0; r < GS_RESOURCES; r++)
        ok = gs_servers_init(&a->servers[r], a->model->servers[r], streams[r], groups) == 0 && ok;
    a->load = calloc(n * modes * GS_RESOURCES + 1, sizeof *a->load);
    a->order = calloc(n * modes + 1, sizeof *a->order);
    a->lower = calloc(n * GS_RESOURCES * GS_CONFIG_MAX_SERVERS + 1, sizeof *a->lower);
    a->old_lower = calloc(n * GS_RESOURCES * GS_CONFIG_MAX_SERVERS + 1, sizeof *a->old_lower);
    a->segments = calloc(n * a->longest + 1, sizeof *a->segments);
    a->tasks = calloc(n + 1, sizeof *a->tasks);
    a->scratch = calloc(modes * a->longest + 1, sizeof *a->scratch);
    a->waitless = calloc(a->longest + 1, sizeof *a->waitless);
    a->modes = calloc(n + 1, sizeof *a->modes);
    a->marks = calloc(n + 1, sizeof *a->marks);
    return ok && a->load && a->order && a->lower && a->old_lower && a->segments && a->tasks && a->scratch &&
           a->waitless && a->modes && a->marks;
}

/* What a segment on a chunked resource costs on top by itself, docs/analysis.md, "Hand-overs": one at its beginning and
 * after each pause; where its chunks are counted one for each `depth` of them. Where they have to be and aren't, as if
 * all but the last were as long as they may be, and the bound isn't proven. */
static int64_t handovers_of(const struct gs_model *m, size_t task, const struct gs_segment *s)
{
    const int64_t chunk = m->tasks[task].chunk_ns[s->resource], least = chunk ? (s->worst_ns + chunk - 1) / chunk : 1;
    const int64_t chunks = s->chunks > least ? s->chunks : least + (s->chunks ? 0 : s->pauses);
    int64_t n = 1 + s->pauses;
    if (m->depth == 1)
        n = chunks;
    else if (s->chunks || gs_model_has_short_chunks(m, task, s))
        n = s->pauses + (chunks + m->depth - 1) / m->depth;
    return s->worst_ns ? n * m->handover_ns : 0;
}

/* And to less urgent tasks besides: the hand-overs back to whom it has interrupted. */
static int64_t back_of(const struct gs_model *m, const struct gs_segment *s)
{
    return m->depth > 1 && s->worst_ns ? (1 + s->pauses) * m->handover_ns : 0;
}

static bool pauses(const struct gs_model *m, int gpus)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= gpus; g++)
            for (size_t j = 0; j < m->tasks[i].chains[g].n; j++)
                if (m->tasks[i].chains[g].segments[j].pauses)
                    return true;
    return false;
}

/* Adds hand-overs to a chain's segments, and sets back_ns. Where both together are more than a period has room for, the
 * segments have both by themselves: lemma 11 takes a job's work on one server to fit into a period. */
static void add_to_chain(const struct gs_analyzer *a, const struct gs_model *m, size_t task, struct gs_chain *c)
{
    int64_t sums[GS_RESOURCES] = {0};
    for (size_t j = 0; j < c->n; j++) {
        struct gs_segment *s = &c->segments[j];
        if (!a->chunked[s->resource])
            continue;
        s->back_ns = back_of(m, s);
        s->worst_ns += handovers_of(m, task, s);
        sums[s->resource] += s->worst_ns + s->back_ns;
    }
    for (size_t j = 0; j < c->n; j++) {
        struct gs_segment *s = &c->segments[j];
        if (sums[s->resource] <= m->tasks[task].period_ns)
            continue;
        s->worst_ns += s->back_ns;
        s->back_ns = 0;
    }
}

/* Changes a->model to a copy in which the segments have their hand-overs; and their pauses, where they keep the server
 * in these. */
static int add_handovers(struct gs_analyzer *a)
{
    const struct gs_model *model = a->model;
    const bool handovers = model->handover_ns && (a->chunked[GS_PCI] || a->chunked[GS_GPU]);
    if (!handovers && !pauses(model, a->gpus))
        return 0;
    struct gs_model *m = malloc(sizeof *m);
    if (!m || gs_model_copy(m, model)) {
        free(m);
        return -ENOMEM;
    }
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= a->gpus; g++) {
            struct gs_chain *c = &m->tasks[i].chains[g];
            add_to_chain(a, m, i, c);
            for (size_t j = 0; j < c->n; j++) {
                struct gs_segment *s = &c->segments[j];
                if (a->chunked[s->resource])
                    continue;
                s->worst_ns += s->worst_ns ? s->pause_ns : 0;
                s->pauses = 0;
                s->pause_ns = 0;
            }
        }
    a->model = a->with_handovers = m;
    return 0;
}

struct gs_analyzer *gs_analyzer_new(const struct gs_model *model, enum gs_analysis analysis)
{
    struct gs_analyzer *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    size_t n = model->n_tasks, streams[GS_RESOURCES] = {0}, groups = 0;
    a->model = a->given = model;
    a->analysis = analysis;
    a->gpus = model->servers[GS_GPU];
    a->first_cut = a->decisive = SIZE_MAX;
    for (int r = 0; r < GS_RESOURCES; r++)
        a->chunked[r] = model->chunked[r] && analysis != GS_ANALYSIS_PAPER;
    if (add_handovers(a)) {
        gs_analyzer_free(a);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        for (int g = 1; g <= a->gpus; g++) {
            const struct gs_chain *c = chain_of(a, i, g);
            groups += c->n > 0;
            a->longest = c->n > a->longest ? c->n : a->longest;
            for (size_t j = 0; j < c->n; j++)
                streams[c->segments[j].resource]++;
        }
    bool ok = allocate(a, groups, streams);
    for (size_t i = 0; ok && i < n; i++)
        for (int g = 1; ok && g <= a->gpus; g++) {
            size_t at = i * (size_t)(a->gpus + 1) + (size_t)g;
            fill_load(a, i, g);
            a->order[at] = make_order(chain_of(a, i, g));
            ok = a->order[at] != NULL;
        }
    if (!ok) {
        gs_analyzer_free(a);
        return NULL;
    }
    a->result = (struct gs_result){.n_tasks = n, .tasks = a->tasks};
    return a;
}

void gs_analyzer_free(struct gs_analyzer *a)
{
    if (!a)
        return;
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_free(&a->servers[r]);
    for (size_t i = 0; a->order && i < a->model->n_tasks * (size_t)(a->gpus + 1); i++)
        free(a->order[i]);
    free(a->load);
    free(a->order);
    free(a->lower);
    free(a->old_lower);
    free(a->segments);
    free(a->tasks);
    free(a->scratch);
    free((void *)a->waitless);
    free(a->modes);
    free(a->marks);
    if (a->with_handovers)
        gs_model_free(a->with_handovers);
    free(a->with_handovers);
    free(a);
}

void gs_analyzer_forget(struct gs_analyzer *a)
{
    a->valid = 0;
}
