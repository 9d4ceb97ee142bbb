/* SPDX-License-Identifier: MIT */
/* The memory of an analysis, and what of a chain doesn't depend on other tasks. */
#include "gema/analyzer.h"

#include <stdlib.h>
#include <string.h>

static const struct gs_chain *chain_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->model->tasks[task].chains[g];
}

static void fill_load(struct gs_chain_load *load, const struct gs_chain *c)
{
    for (size_t j = 0; j < c->n; j++) {
        struct gs_chain_load *l = &load[c->segments[j].resource];
        if (!c->segments[j].worst_ns)
            continue;
        l->n++;
        if (c->segments[j].worst_ns > l->longest)
            l->longest = c->segments[j].worst_ns;
    }
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
    a->modes = calloc(n + 1, sizeof *a->modes);
    a->marks = calloc(n + 1, sizeof *a->marks);
    return ok && a->load && a->order && a->lower && a->old_lower && a->segments && a->tasks && a->scratch && a->modes &&
           a->marks;
}

struct gs_analyzer *gs_analyzer_new(const struct gs_model *model, enum gs_analysis analysis)
{
    struct gs_analyzer *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    size_t n = model->n_tasks, streams[GS_RESOURCES] = {0}, groups = 0;
    a->model = model;
    a->analysis = analysis;
    a->gpus = model->servers[GS_GPU];
    a->first_cut = SIZE_MAX;
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
            fill_load(&a->load[at * GS_RESOURCES], chain_of(a, i, g));
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
    free(a->modes);
    free(a->marks);
    free(a);
}

void gs_analyzer_forget(struct gs_analyzer *a)
{
    a->valid = 0;
}
