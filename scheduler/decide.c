/* SPDX-License-Identifier: MIT */
/* How many GPUs each task gets: GEMA on those that are present. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/machine.h"
#include "gema/assign.h"
#include "scheduler/realtime.h"
#include "scheduler/taskset.h"

/* What one decision works on. */
struct work {
    const struct gs_config *config;
    struct gs_member *members;
    size_t n;
    struct gs_model model;
    struct gs_analyzer *analyzer;
    int *modes;
};

static void append(struct gs_decision *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(struct gs_decision *d, const char *fmt, ...)
{
    size_t at = strlen(d->reason);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->reason + at, sizeof d->reason - at, fmt, ap);
    va_end(ap);
}

/* The mode of a task that can't be analysed: what its section says, else as many GPUs as there are. */
static unsigned plain_mode(const struct gs_member *m)
{
    return m->task->mode > 0 && (unsigned)m->task->mode < m->gpus_max ? (unsigned)m->task->mode : m->gpus_max;
}

/* Takes away the chains that need more GPUs than the application has. */
static void limit_chains(struct gs_model *model, size_t at, unsigned gpus_max)
{
    for (int g = (int)gpus_max + 1; g <= model->servers[GS_GPU]; g++)
        model->tasks[at].chains[g].n = 0;
}

/* Adds the member, which has a chain that it may use, under its number as a name: the model sorts its tasks. */
static int add_member(struct work *w, size_t i)
{
    const struct gs_member *m = &w->members[i];
    struct gs_mistakes mistakes = {0};
    int err = gs_model_add_config_task(&w->model, m->task, &mistakes);
    gs_mistakes_free(&mistakes);
    if (err < 0)
        return err;
    size_t at = w->model.n_tasks - 1;
    limit_chains(&w->model, at, m->gpus_max);
    if (m->demand && (err = gs_demand_apply(m->demand, &w->model.tasks[at], (unsigned)w->model.servers[GS_GPU])) < 0)
        return err;
    struct gs_task *t = &w->model.tasks[at];
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    free(t->name);
    t->name = strdup(number);
    /* Of the processes of one task the one that joined first goes first, as in the policy. */
    t->priority = (int64_t)gs_taskset_rank(w->config, m->task) * GS_CONFIG_MAX_TASKS * 4 - (int64_t)i;
    return t->name ? 0 : -ENOMEM;
}

static bool has_chain(const struct gs_member *m, int gpus)
{
    int fixed = m->task->mode == GS_MODE_MULTI ? gpus : m->task->mode;
    for (int g = 1; g <= gpus && (unsigned)g <= m->gpus_max; g++)
        if (m->task->chains[g].n_segments && (!fixed || fixed == g))
            return true;
    return false;
}

static int build(struct work *w, unsigned gpus)
{
    const struct gs_config_system *s = &w->config->system;
    gs_model_init(&w->model, s->servers[GS_CPU] ? s->servers[GS_CPU] : gs_machine_cpus(),
                  s->servers[GS_PCI] ? s->servers[GS_PCI] : 1, (int)gpus);
    gs_model_set_rules(&w->model, w->config);
    for (size_t i = 0; i < w->n; i++) {
        struct gs_member *m = &w->members[i];
        m->gpus = plain_mode(m);
        m->analysed = has_chain(m, (int)gpus);
        m->meets_deadline = true;
        m->response_ns = 0;
        int err = m->analysed ? add_member(w, i) : 0;
        if (err < 0)
            return err;
    }
    return w->model.n_tasks ? gs_model_finish(&w->model) : 0;
}

/* What the analysis says of each member, and a sentence about the whole. */
static void read_result(struct work *w, struct gs_decision *d)
{
    const struct gs_result *r = gs_analyze(w->analyzer, w->modes);
    double worst = 0;
    const char *worst_name = "";
    size_t late = 0; /* tasks that may miss; the first few are named */
    for (size_t i = 0; i < w->model.n_tasks; i++) {
        const struct gs_task *t = &w->model.tasks[i];
        struct gs_member *m = &w->members[strtoul(t->name, NULL, 10)];
        m->gpus = (unsigned)w->modes[i];
        m->response_ns = r->tasks[i].response_ns;
        m->meets_deadline = r->tasks[i].schedulable;
        double ratio = (double)m->response_ns / (double)m->task->deadline_ns;
        if (ratio > worst) {
            worst = ratio;
            worst_name = m->task->name;
        }
        if (m->meets_deadline || ++late > 3)
            continue;
        char bound[GS_DURATION_SIZE], deadline[GS_DURATION_SIZE];
        append(d, "%s%s may take %s of its %s%s", d->reason[0] ? "; " : "", m->task->name,
               gs_show_duration(m->response_ns, GS_ROUND_UP, bound), gs_format_duration(m->task->deadline_ns, deadline),
               r->tasks[i].proven ? "" : " or more");
    }
    if (late > 3)
        append(d, "; so may %zu more", late - 3);
    if (d->schedulable && w->model.n_tasks == 1)
        append(d, "%s meets its deadline, with at most %.0f%% of it used", worst_name, worst * 100);
    else if (d->schedulable)
        append(d, "all %zu tasks meet their deadlines, with at most %.0f%% of it used, by %s", w->model.n_tasks,
               worst * 100, worst_name);
}

/* Does another process have its processor priority? The scheduler gives those who share one no order. */
static const char *shares_priority(const struct work *w)
{
    const unsigned levels = gs_realtime_levels(w->config->n_tasks);
    for (size_t i = 0; i < w->n && w->config->system.realtime == GS_REALTIME_YES; i++) {
        unsigned elders = 0;
        for (size_t k = 0; k < i; k++)
            elders += w->members[k].task == w->members[i].task;
        if (elders >= levels)
            return w->members[i].task->name;
    }
    return NULL;
}

/* A bound of whole segments says little of a daemon that grants chunks, and none counts what a task does of which
 * nothing is known. */
static void explain_unproven(const struct work *w, struct gs_decision *d)
{
    const bool *chunked = w->model.chunked;
    const char *const first = ". Not proven: ", *begin = first;
    if (d->analysed == 0)
        return;
    if (!(chunked[GS_GPU] && chunked[GS_PCI])) {
        append(d, "%sno %s%s%s", begin, chunked[GS_GPU] ? "" : "gpu_chunk",
               chunked[GS_GPU] || chunked[GS_PCI] ? "" : " and ", chunked[GS_PCI] ? "" : "pci_chunk");
        begin = ", and ";
    }
    for (size_t i = 0; i < w->model.n_tasks; i++)
        if (!gs_model_counts_handovers(&w->model, i, w->modes[i])) {
            append(d, "%sthe chunks of %s are not counted (%s)", begin,
                   w->members[strtoul(w->model.tasks[i].name, NULL, 10)].task->name,
                   w->model.depth == 1 ? "depth = 1" : "shorter than a hand-over");
            begin = ", and ";
            break;
        }
    const char *sharing = shares_priority(w);
    if (sharing) {
        append(d, "%sprocesses of %s have one processor priority", begin, sharing);
        begin = ", and ";
    }
    for (size_t i = 0, n = 0; i < w->n; i++)
        if (!w->members[i].analysed)
            append(d, "%s%s", n++ ? ", " : begin, w->members[i].task->name);
    if (d->analysed < w->n)
        append(d, d->analysed + 1 < w->n ? " are not counted" : " is not counted");
    d->proven = d->schedulable && d->analysed == w->n && begin == first;
}

/* Whose jobs have used more than its segments say. */
static void explain_demands(const struct work *w, struct gs_decision *d)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct gs_member *m = &w->members[i];
        if (m->demand && (m->demand->counted_ns[m->gpus][GS_GPU] || m->demand->counted_ns[m->gpus][GS_PCI]))
            append(d, "%s %s", n++ ? "," : ". With more than the segments, as seen:", m->task->name);
    }
}

/* Which got more than one GPU, or what GEMA says instead. */
static void explain_modes(const struct work *w, struct gs_decision *d)
{
    append(d, ". GPUs:");
    for (size_t i = 0; i < w->n; i++)
        append(d, "%s %s %u%s", i ? "," : "", w->members[i].task->name, w->members[i].gpus,
               w->members[i].analysed ? "" : " (no segments: not analysed)");
}

/* One way to find modes: a policy, by `safe` or by the bounds that are computed faster. */
struct way {
    enum gs_policy policy;
    enum gs_analysis analysis;
    size_t least_tasks, most_tasks; /* for sets of so many: tasks wait for their modes */
};

/* Modes are kept if `safe` accepts them, however they were found; if none are, those of the last way that is Algorithm
 * 1's. As gs_assign. */
static int choose_modes(struct work *w, struct gs_decision *d)
{
    /* Of many tasks GEMA takes ten times as long as gema+, as a rule, where there are modes to be found. */
    enum { MANY = 13 };
    static const struct way ways[] = {{GS_POLICY_SINGLE, GS_ANALYSIS_SAFE, 0, SIZE_MAX}, /* GEMA begins with these */
                                      {GS_POLICY_GEMA, GS_ANALYSIS_SEGMENTS, 0, MANY - 1},
                                      {GS_POLICY_GEMA_PLUS, GS_ANALYSIS_SEGMENTS, 0, SIZE_MAX},
                                      {GS_POLICY_GEMA_PLUS, GS_ANALYSIS_SAFE, MANY, SIZE_MAX},
                                      {GS_POLICY_GEMA, GS_ANALYSIS_SEGMENTS, MANY, SIZE_MAX},
                                      {GS_POLICY_GEMA, GS_ANALYSIS_SAFE, 0, MANY - 1},
                                      {GS_POLICY_GEMA_PLUS, GS_ANALYSIS_SAFE, 0, MANY - 1}};
    const size_t n = w->model.n_tasks;
    int *modes = calloc(n, sizeof *modes), verdict = 0;
    struct gs_analyzer *fast = gs_analyzer_new(&w->model, GS_ANALYSIS_SEGMENTS);
    if (!modes || !fast)
        verdict = -ENOMEM;
    for (size_t k = 0; k < sizeof ways / sizeof *ways && verdict == 0; k++) {
        if (n < ways[k].least_tasks || n > ways[k].most_tasks)
            continue;
        /* Only GEMA's modes count where none are schedulable. */
        const struct gs_assign_options options = {.verdict_only = ways[k].policy == GS_POLICY_GEMA_PLUS};
        verdict = gs_assign(ways[k].analysis == GS_ANALYSIS_SAFE ? w->analyzer : fast, ways[k].policy, &options, modes);
        if (verdict == 0)
            verdict = gs_schedulable(w->analyzer, modes);
        if (verdict == 1 || ways[k].policy == GS_POLICY_GEMA)
            memcpy(w->modes, modes, n * sizeof *modes);
        if (verdict == 1 && ways[k].policy == GS_POLICY_GEMA_PLUS && n < MANY)
            append(d, "by gema+, where gema found nothing: ");
    }
    gs_analyzer_free(fast);
    free(modes);
    return verdict;
}

static int assign(struct work *w, struct gs_decision *d)
{
    if (w->model.n_tasks == 0)
        return 0;
    w->modes = calloc(w->model.n_tasks, sizeof *w->modes);
    w->analyzer = gs_analyzer_new(&w->model, GS_ANALYSIS_SAFE);
    if (!w->modes || !w->analyzer)
        return -ENOMEM;
    int verdict = choose_modes(w, d);
    if (verdict < 0)
        return verdict;
    d->schedulable = verdict == 1;
    d->analysed = w->model.n_tasks;
    read_result(w, d);
    return 0;
}

int gs_taskset_decide(const struct gs_config *config, unsigned gpus, struct gs_member *members, size_t n,
                      struct gs_decision *decision)
{
    *decision = (struct gs_decision){.schedulable = true};
    struct work w = {.config = config, .members = members, .n = n};
    int err = build(&w, gpus);
    if (err == 0)
        err = assign(&w, decision);
    if (err == -EOVERFLOW || err == -EINVAL) {
        append(decision, "the tasks' times are too long to be analysed");
        decision->schedulable = false;
        err = 0;
    }
    if (n == 0)
        append(decision, "no tasks are present");
    else if (decision->analysed == 0 && !decision->reason[0])
        append(decision, "no task that is present has segments");
    if (n)
        explain_modes(&w, decision);
    explain_demands(&w, decision);
    explain_unproven(&w, decision);
    gs_analyzer_free(w.analyzer);
    free(w.modes);
    gs_model_free(&w.model);
    return err;
}
