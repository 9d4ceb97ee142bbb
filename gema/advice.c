/* SPDX-License-Identifier: MIT */
#include "gema/advice.h"

#include <errno.h>
#include <stdlib.h>

enum { STEPS = 1000, MOST = GS_MOST_HEADROOM * STEPS };

static int64_t scaled(int64_t time, int factor)
{
    return (time / STEPS) * factor + (time % STEPS) * factor / STEPS;
}

/* Multiplies times by factor/1000: of one task on one resource, or of all (task = SIZE_MAX). */
static void scale(struct gs_model *m, size_t task, enum gs_resource resource, int factor)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= m->servers[GS_GPU] && (task == SIZE_MAX || task == i); g++)
            for (size_t j = 0; j < m->tasks[i].chains[g].n; j++) {
                struct gs_segment *s = &m->tasks[i].chains[g].segments[j];
                if (task != SIZE_MAX && s->resource != resource)
                    continue;
                s->best_ns = scaled(s->best_ns, factor);
                s->worst_ns = scaled(s->worst_ns, factor);
                s->pause_ns = scaled(s->pause_ns, factor);
            }
}

/* Is the set schedulable with that change? 1, 0, or -ENOMEM. */
static int schedulable_with(const struct gs_question *q, size_t task, enum gs_resource resource, int factor)
{
    struct gs_model m;
    struct gs_assign_options o = q->options;
    int *modes = calloc(q->model->n_tasks + 1, sizeof *modes), rc = -ENOMEM;
    o.verdict_only = true;
    if (!o.max_nodes)
        o.max_nodes = 2000; /* an answer in time is worth more here than the last per mille */
    if (!modes || gs_model_copy(&m, q->model)) {
        free(modes);
        return rc;
    }
    scale(&m, task, resource, factor);
    struct gs_analyzer *a = gs_model_finish(&m) ? NULL : gs_analyzer_new(&m, q->analysis);
    if (a)
        rc = gs_assign(a, q->policy, &o, modes);
    gs_analyzer_free(a);
    gs_model_free(&m);
    free(modes);
    return rc == -EINTR ? 0 : rc;
}

/* The largest factor in [low, high) with which it is schedulable; `low` is known to be one. */
static int largest_factor(const struct gs_question *q, size_t task, enum gs_resource resource, int low, int high)
{
    while (high - low > 1) {
        int middle = low + (high - low) / 2, rc = schedulable_with(q, task, resource, middle);
        if (rc < 0)
            return rc;
        if (rc)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool uses(const struct gs_task *t, int gpus, enum gs_resource r)
{
    for (int g = 1; g <= gpus; g++)
        for (size_t j = 0; j < t->chains[g].n; j++)
            if (t->chains[g].segments[j].resource == r && t->chains[g].segments[j].worst_ns)
                return true;
    return false;
}

int gs_advise(const struct gs_question *q, struct gs_advice *advice, int max)
{
    int n = 0;
    for (size_t i = 0; i < q->model->n_tasks; i++)
        for (int r = 0; r < GS_RESOURCES; r++) {
            if (!uses(&q->model->tasks[i], q->model->servers[GS_GPU], (enum gs_resource)r))
                continue;
            int rc = schedulable_with(q, i, (enum gs_resource)r, 0);
            if (rc > 0)
                rc = largest_factor(q, i, (enum gs_resource)r, 0, STEPS);
            else if (rc == 0)
                continue;
            if (rc < 0)
                return rc;
            struct gs_advice x = {i, (enum gs_resource)r, (double)rc / (double)STEPS};
            int at = n < max ? n++ : max;
            for (; at > 0 && advice[at - 1].factor < x.factor; at--)
                if (at < max)
                    advice[at] = advice[at - 1];
            if (at < max)
                advice[at] = x;
        }
    return n;
}

double gs_headroom(const struct gs_question *q)
{
    int low = 0, high = STEPS, rc = schedulable_with(q, SIZE_MAX, GS_CPU, STEPS);
    if (rc < 0)
        return rc;
    if (rc) {
        low = STEPS;
        high = MOST + 1;
    }
    rc = largest_factor(q, SIZE_MAX, GS_CPU, low, high);
    return rc < 0 ? rc : (double)rc / (double)STEPS;
}
