/* SPDX-License-Identifier: MIT */
/* The policy gema with the published formula chooses what Algorithm 1 of GPU-SPARC chooses, written here from sections
 * IV-A to IV-C in plain loops; with one line more, as docs/analysis.md says: the last assignment is tested too. Mostly
 * sets that overload until some tasks have moved. Arguments: seed, number of sets. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gema/assign.h"
#include "tests/gema/sets.h"

enum { MAX_TASKS = 8, MAX_SUBTASKS = 9, NEVER = 20000, ENDLESS = 1000 };

struct subtask {
    int resource;
    int64_t time[2]; /* C^S, C^M */
};

struct task {
    int64_t period, deadline;
    int n;
    struct subtask sub[MAX_SUBTASKS];
};

struct set {
    int n, servers[GS_RESOURCES];
    bool preemptive[GS_RESOURCES];
    struct task tasks[MAX_TASKS]; /* the most urgent first */
};

static uint64_t moves, far_moves, endless_moves, compared, far, very_far, endless;

/* B: the longest subtask of lower priority where the resource is non-preemptive. */
static int64_t blocking(const struct set *s, const bool *multi, int i, int resource)
{
    int64_t most = 0;
    for (int k = i + 1; k < s->n && !s->preemptive[resource]; k++)
        for (int p = 0; p < s->tasks[k].n; p++) {
            const struct subtask *q = &s->tasks[k].sub[p];
            if (q->resource == resource && q->time[multi[k]] > most)
                most = q->time[multi[k]];
        }
    return most;
}

/* The floor of the formula for w_ij, at w. */
static int64_t interference(const struct set *s, const bool *multi, int64_t jitter[][MAX_SUBTASKS], int i, int resource,
                            int64_t w)
{
    int64_t sum = 0;
    for (int k = 0; k < i; k++)
        for (int p = 0; p < s->tasks[k].n; p++) {
            const struct subtask *q = &s->tasks[k].sub[p];
            const int64_t period = s->tasks[k].period;
            const int64_t alpha = resource == GS_GPU ? q->time[0] : q->time[multi[k]];
            if (q->resource == resource)
                sum += (jitter[k][p] + w + period - 1) / period * alpha;
        }
    return sum / s->servers[resource];
}

/* max R/D over all tasks; infinite where a response takes `never` periods. */
static double max_ratio(const struct set *s, const bool *multi, int64_t never)
{
    int64_t jitter[MAX_TASKS][MAX_SUBTASKS];
    double worst = 0;
    for (int i = 0; i < s->n; i++) {
        const struct task *t = &s->tasks[i];
        int64_t response = 0, times = 0;
        for (int j = 0; j < t->n; j++) {
            const int resource = t->sub[j].resource;
            const int64_t time = t->sub[j].time[multi[i]], base = time + blocking(s, multi, i, resource);
            int64_t w = -1, next = 0;
            while (next != w) {
                w = next;
                next = base + interference(s, multi, jitter, i, resource, w);
                if (next > never * t->period)
                    return INFINITY;
            }
            jitter[i][j] = response - times;
            response += w;
            if (response >= never * t->period)
                return INFINITY;
            times += time;
        }
        const double ratio = (double)response / (double)t->deadline;
        worst = ratio > worst ? ratio : worst;
    }
    return worst;
}

static void count_move(double ratio)
{
    moves++;
    far_moves += ratio > 1.5 && ratio < 1e300;
    endless_moves += ratio > 1e300;
}

/* Algorithm 1. */
static bool algorithm_1(const struct set *s, bool *multi)
{
    memset(multi, 0, MAX_TASKS * sizeof *multi);
    for (int left = s->n; left; left--) {
        if (max_ratio(s, multi, NEVER) <= 1)
            return true;
        double least = 0;
        int best = -1;
        for (int i = 0; i < s->n; i++) {
            if (multi[i])
                continue;
            multi[i] = true;
            const double z = max_ratio(s, multi, NEVER);
            multi[i] = false;
            if (best < 0 || z < least) {
                best = i;
                least = z;
            }
        }
        multi[best] = true;
        count_move(least);
    }
    return max_ratio(s, multi, NEVER) <= 1;
}

/* CPU, and up to twice PCI, GPU, PCI, CPU. A long task of long period keeps GPUs from urgent ones, for periods of
 * theirs, as long as it uses one GPU. */
static void random_task(struct rng *r, struct task *t, int gpus, unsigned share)
{
    static const int kinds[] = {GS_CPU, GS_PCI, GS_GPU, GS_PCI};
    t->period = 60 + rnd(r, 2) * rnd(r, 1000);
    t->deadline = rnd(r, 3) ? t->period : t->period - rnd(r, (unsigned)t->period / 3);
    t->n = 1 + 4 * (1 + (int)rnd(r, 2));
    for (int j = 0; j < t->n; j++) {
        struct subtask *q = &t->sub[j];
        q->resource = kinds[j % 4];
        if (q->resource == GS_GPU) {
            q->time[0] = 1 + rnd(r, (unsigned)(t->period * share / 100 / (t->n / 4)));
            q->time[1] = q->time[0] / gpus + 1 + rnd(r, (unsigned)q->time[0] / 8 + 1);
        } else {
            q->time[0] = 1 + rnd(r, 4);
            q->time[1] = q->time[0] + rnd(r, 4);
        }
    }
}

static void random_tasks(struct rng *r, struct set *s)
{
    s->n = 3 + (int)rnd(r, MAX_TASKS - 3);
    s->servers[GS_CPU] = 1 + (int)rnd(r, 4);
    s->servers[GS_PCI] = 1;
    s->servers[GS_GPU] = 2 + (int)rnd(r, 3);
    s->preemptive[GS_CPU] = rnd(r, 2);
    s->preemptive[GS_PCI] = false;
    s->preemptive[GS_GPU] = rnd(r, 8) == 0;
    const unsigned share = (unsigned)s->servers[GS_GPU] * (20 + rnd(r, 60)) / (unsigned)s->n;
    for (int i = 0; i < s->n; i++) {
        struct task t;
        int at = i;
        random_task(r, &t, s->servers[GS_GPU], share);
        for (; at > 0 && s->tasks[at - 1].deadline > t.deadline; at--)
            s->tasks[at] = s->tasks[at - 1];
        s->tasks[at] = t;
    }
}

static struct gs_model model_of(const struct set *s)
{
    struct gs_model m;
    gs_model_init(&m, s->servers[GS_CPU], s->servers[GS_PCI], s->servers[GS_GPU]);
    m.pieces = GS_PIECES_ANY;
    for (int r = 0; r < GS_RESOURCES; r++)
        m.preemptive[r] = s->preemptive[r];
    for (int i = 0; i < s->n; i++) {
        const struct task *t = &s->tasks[i];
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        const int at = gs_model_add_task(&m, name, t->period, t->deadline);
        m.tasks[at].priority = -i;
        for (int multi = 0; multi < 2; multi++) {
            struct gs_segment chain[MAX_SUBTASKS] = {0};
            for (int j = 0; j < t->n; j++)
                chain[j] = (struct gs_segment){.resource = (enum gs_resource)t->sub[j].resource,
                                               .best_ns = t->sub[j].time[multi],
                                               .worst_ns = t->sub[j].time[multi]};
            gs_model_set_chain(&m, (size_t)at, multi ? s->servers[GS_GPU] : 1, chain, (size_t)t->n);
        }
    }
    if (gs_model_finish(&m))
        abort();
    return m;
}

/* One segment a task, and tasks that leave the last one between nothing and a few thousandths of the servers' time, so
 * that its response takes as many periods as that is small, or is endless. Of several servers, the first task takes one
 * for longer than its period. */
static void nearly_full(struct rng *r, struct set *s)
{
    const int resource = (int)rnd(r, GS_RESOURCES);
    const int64_t parts = 2 + rnd(r, 40), period = parts * (20 + rnd(r, 400)), servers = 1 + rnd(r, 3);
    *s = (struct set){.n = 3, .servers = {1, 1, 1}, .preemptive = {true, true, true}};
    s->servers[resource] = (int)servers;
    const int64_t first = servers == 1 ? period / parts : period + rnd(r, (unsigned)period / 2);
    for (int i = 0; i < s->n; i++) {
        struct task *t = &s->tasks[i];
        t->period = i < 2 ? period : period + rnd(r, (unsigned)period);
        t->deadline = t->period - rnd(r, (unsigned)t->period / 2);
        t->n = 1;
        t->sub[0].resource = resource;
        t->sub[0].time[0] = i == 0 ? first : i == 1 ? servers * period - first - rnd(r, 3) : 1 + rnd(r, 400);
        t->sub[0].time[1] = t->sub[0].time[0];
    }
}

/* R/D is the formula's, to the last bit, up to 1,000 periods; from there on it is the endless one's, which exceeds all
 * others, however short a deadline is. By the safe analysis none is endless: they end at one and a half periods. */
static bool same_ratio(const struct set *s)
{
    struct gs_model m = model_of(s);
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_PAPER);
    const bool multi[MAX_TASKS] = {false};
    int modes[MAX_TASKS];
    for (int i = 0; i < MAX_TASKS; i++)
        modes[i] = 1;
    const double expected = max_ratio(s, multi, ENDLESS), found = gs_worst_ratio(a, modes, 1e300);
    const bool same = isinf(expected) ? found >= 1e18 : found == expected; /* NOLINT: the same division */
    struct gs_analyzer *safe = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    const double clipped = gs_worst_ratio(safe, modes, 1e300);
    const struct gs_result *report = gs_analyze(a, modes);
    bool cut = false;
    for (int i = 0; i < s->n; i++)
        cut = cut || report->tasks[i].cut;
    if (!same || cut != isinf(expected))
        printf("R/D: %f by the formula, %f by the analyzer, cut: %d\n", expected, found, cut);
    compared++;
    far += expected > 2 && expected < 1e300;
    very_far += expected > 300 && expected < 1e300;
    endless += expected > 1e300;
    gs_analyzer_free(a);
    gs_model_free(&m);
    gs_analyzer_free(safe);
    return same && cut == isinf(expected) && clipped < 100;
}

/* The same verdict, and where it is good the same modes. */
static bool agree(const struct set *s, bool *schedulable)
{
    struct gs_model m = model_of(s);
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_PAPER);
    const struct gs_assign_options o = {.two_modes = true};
    int modes[MAX_TASKS];
    bool multi[MAX_TASKS];
    const int rc = gs_assign(a, GS_POLICY_GEMA, &o, modes);
    *schedulable = algorithm_1(s, multi);
    bool same = rc == *schedulable;
    for (int i = 0; i < s->n && *schedulable; i++)
        same = same && (modes[i] > 1) == multi[i];
    if (!same) {
        printf("Algorithm 1: %s,", *schedulable ? "schedulable" : "not schedulable");
        for (int i = 0; i < s->n; i++)
            printf(" %d", multi[i] ? s->servers[GS_GPU] : 1);
        printf("; the policy: %d,", rc);
        for (int i = 0; i < s->n; i++)
            printf(" %d", modes[i]);
        printf("\n");
        print_set(&m, NULL);
    }
    gs_analyzer_free(a);
    gs_model_free(&m);
    return same;
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 1);
    const long sets = argc > 2 ? atol(argv[2]) : 4000;
    long good = 0, wrong = 0;
    for (long k = 0; k < sets; k++) {
        struct set s;
        bool schedulable;
        random_tasks(&rng, &s);
        if (!agree(&s, &schedulable)) {
            printf("set %ld\n", k);
            wrong++;
        }
        good += schedulable;
        wrong += !same_ratio(&s);
        nearly_full(&rng, &s);
        wrong += !same_ratio(&s);
    }
    printf("%ld sets, %ld schedulable, %ld differ; %" PRIu64 " moves, %" PRIu64
           " of them to a max R/D above 1.5, %" PRIu64 " to an endless one\n",
           sets, good, wrong, moves, far_moves, endless_moves);
    printf("%" PRIu64 " R/D compared: %" PRIu64 " above 2, %" PRIu64 " above 300, %" PRIu64 " endless\n", compared, far,
           very_far, endless);
    return wrong || !good || !far_moves || !endless_moves || far < 100 || very_far < 10 || !endless;
}
