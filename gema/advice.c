/* SPDX-License-Identifier: MIT */
#include "gema/advice.h"

#include <errno.h>
#include <stdlib.h>

#include "gema/analyzer.h"

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

/* A change of the set: a task's times on a resource, or all times. And the modes that were the last answer. */
struct change {
    const struct gs_question *q;
    size_t task; /* SIZE_MAX: all */
    enum gs_resource resource;
    int *modes;
    bool found; /* the modes are schedulable for some factor */
};

enum asked { POLICY, MODES, REFUTED };

/* The policy's answer. In sets of many tasks it asks the faster analysis for modes, as the daemon does. */
static int ask_policy(struct gs_analyzer *a, const struct change *c)
{
    struct gs_assign_options o = c->q->options;
    const bool many = a->model->n_tasks > GS_FEW_TASKS && c->q->analysis == GS_ANALYSIS_SAFE;
    o.verdict_only = true;
    if (!o.max_nodes)
        o.max_nodes = 2000; /* an answer in time is worth more here than the last per mille */
    struct gs_analyzer *fast = many ? gs_analyzer_new(a->model, GS_ANALYSIS_SEGMENTS) : a;
    int rc = fast ? gs_assign(fast, c->q->policy, &o, c->modes) : -ENOMEM;
    if (many) {
        gs_analyzer_free(fast);
        rc = rc < 0 ? rc : gs_schedulable(a, c->modes);
    }
    return rc == -EINTR ? 0 : rc;
}

/* With that change: does the policy find modes, are the modes at hand schedulable, or is nothing? 1, 0, or -ENOMEM. */
static int ask(const struct change *c, int factor, enum asked what)
{
    struct gs_model m;
    int rc = -ENOMEM;
    if (gs_model_copy(&m, c->q->model))
        return rc;
    scale(&m, c->task, c->resource, factor);
    struct gs_analyzer *a = gs_model_finish(&m) ? NULL : gs_analyzer_new(&m, c->q->analysis);
    if (a)
        rc = what == POLICY  ? ask_policy(a, c)
             : what == MODES ? gs_schedulable(a, c->modes)
                             : gs_refuted(a, &c->q->options);
    gs_analyzer_free(a);
    gs_model_free(&m);
    return rc;
}

/* The last factor in [low, high) with that answer; `low` has it, `high` hasn't. */
static int last_factor(const struct change *c, int low, int high, enum asked what, int answer)
{
    while (high - low > 1) {
        const int middle = low + (high - low) / 2, rc = ask(c, middle, what);
        if (rc < 0)
            return rc;
        if (rc == answer)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The largest factor in [low, high) with which it is schedulable; `low` is known to be one. A policy takes longest: it
 * is asked below what is refuted, and above what the modes that it has found are enough for. */
static int largest_factor(struct change *c, int low, int high)
{
    const int possible = last_factor(c, low, high, REFUTED, 0);
    if (possible < 0)
        return possible;
    high = possible + 1;
    if (c->found)
        low = last_factor(c, low, high, MODES, 1);
    for (int step = 1; low >= 0 && high - low > 1;) {
        const int half = (high - low) / 2, middle = low + (c->found && step < half ? step : half);
        const int rc = ask(c, middle, POLICY);
        if (rc < 0)
            return rc;
        if (rc) {
            c->found = true;
            low = last_factor(c, middle, high, MODES, 1);
            step *= 2;
        } else {
            high = middle;
            step = 1;
        }
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

/* The factor for one task on one resource, STEPS where none is enough, or -ENOMEM. */
static int factor_for(struct change *c, const int *modes)
{
    const size_t n = c->q->model->n_tasks;
    for (size_t i = 0; i < n; i++)
        c->modes[i] = modes[i];
    int rc = ask(c, 0, MODES);
    c->found = rc == 1;
    if (rc == 0 && n <= GS_FEW_TASKS) {
        rc = ask(c, 0, POLICY);
        c->found = rc == 1;
    }
    if (rc <= 0)
        return rc < 0 ? rc : STEPS;
    return n <= GS_FEW_TASKS ? largest_factor(c, 0, STEPS) : last_factor(c, 0, STEPS, MODES, 1);
}

int gs_advise(const struct gs_question *q, const int *modes, struct gs_advice *advice, int max)
{
    int n = 0, *found = calloc(q->model->n_tasks + 1, sizeof *found);
    if (!found)
        return -ENOMEM;
    for (size_t i = 0; i < q->model->n_tasks && n >= 0; i++)
        for (int r = 0; r < GS_RESOURCES && n >= 0; r++) {
            if (!uses(&q->model->tasks[i], q->model->servers[GS_GPU], (enum gs_resource)r))
                continue;
            struct change c = {q, i, (enum gs_resource)r, found, false};
            const int factor = factor_for(&c, modes);
            if (factor < 0)
                n = factor;
            if (factor < 0 || factor == STEPS)
                continue;
            struct gs_advice x = {i, (enum gs_resource)r, (double)factor / (double)STEPS};
            int at = n < max ? n++ : max;
            for (; at > 0 && advice[at - 1].factor < x.factor; at--)
                if (at < max)
                    advice[at] = advice[at - 1];
            if (at < max)
                advice[at] = x;
        }
    free(found);
    return n;
}

double gs_headroom(const struct gs_question *q, const int *modes)
{
    struct change c = {q, SIZE_MAX, GS_CPU, calloc(q->model->n_tasks + 1, sizeof *c.modes), modes != NULL};
    int rc = -ENOMEM;
    for (size_t i = 0; i < q->model->n_tasks && c.modes && modes; i++)
        c.modes[i] = modes[i];
    if (c.modes)
        rc = modes ? largest_factor(&c, STEPS, MOST + 1) : largest_factor(&c, 0, STEPS);
    free(c.modes);
    return rc < 0 ? rc : (double)rc / (double)STEPS;
}
