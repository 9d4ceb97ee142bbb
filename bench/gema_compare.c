/* SPDX-License-Identifier: MIT */
/* How many generated sets have a schedulable choice of {1, m} GPUs by the bound that `safe` grew from
 * (tests/gema/baseline.h), by `safe`, and by the published formula, at each GPU utilization; and GEMA's count by each.
 * Then GEMA's count with `pieces = own`: segments that can't be interrupted, against chunks as the daemon grants them.
 * Argument: number of sequences. */
#include <stdio.h>
#include <stdlib.h>

#include "gema/assign.h"
#include "gema/generate.h"
#include "tests/gema/baseline.h"

enum { BINS = 10, MAX_TASKS = 10, UNIT = 100000, CHUNKS = 3 };

/* The longest chunk, of GPU and link, in units. */
static const int chunk_units[CHUNKS] = {5, 20, 100};

struct counts {
    int sets, plain, safe, paper, gema_safe, gema_paper, own, chunked[CHUNKS];
};

static void coarsen(const struct gs_model *from, struct gs_model *m)
{
    if (gs_model_copy(m, from))
        abort();
    for (size_t i = 0; i < m->n_tasks; i++) {
        struct gs_task *t = &m->tasks[i];
        t->deadline_ns = t->period_ns /= UNIT;
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            for (size_t j = 0; j < t->chains[g].n; j++) {
                struct gs_segment *s = &t->chains[g].segments[j];
                s->best_ns = s->worst_ns = s->worst_ns / UNIT + 1;
            }
    }
    if (gs_model_finish(m))
        abort();
}

static bool plain_accepts(const struct gs_model *m, struct baseline *b)
{
    int modes[MAX_TASKS];
    for (unsigned choice = 0; choice < 1u << m->n_tasks; choice++) {
        for (size_t i = 0; i < m->n_tasks; i++)
            modes[i] = choice >> i & 1 ? m->servers[GS_GPU] : 1;
        if (baseline_analyze(m, modes, b))
            return true;
    }
    return false;
}

static bool accepts(const struct gs_model *m, enum gs_policy policy, enum gs_analysis analysis)
{
    struct gs_assign_options o = {.two_modes = true, .verdict_only = true};
    int modes[MAX_TASKS];
    struct gs_analyzer *a = gs_analyzer_new(m, analysis);
    bool yes = gs_assign(a, policy, &o, modes) == 1;
    gs_analyzer_free(a);
    return yes;
}

/* With each piece on its own GPU; in chunks of `units`, or 0: whole segments. */
static bool own_accepts(const struct gs_model *from, int units)
{
    struct gs_model m;
    if (gs_model_copy(&m, from))
        abort();
    m.pieces = GS_PIECES_OWN;
    m.chunked[GS_PCI] = m.chunked[GS_GPU] = units > 0;
    m.handover_ns = 1;
    for (size_t i = 0; i < m.n_tasks; i++)
        m.tasks[i].chunk_ns[GS_PCI] = m.tasks[i].chunk_ns[GS_GPU] = units;
    if (gs_model_finish(&m))
        abort();
    bool yes = accepts(&m, GS_POLICY_GEMA, GS_ANALYSIS_SAFE);
    gs_model_free(&m);
    return yes;
}

static void count(const struct gs_model *m, struct counts *c, struct baseline *b)
{
    c->sets++;
    c->plain += plain_accepts(m, b);
    c->safe += accepts(m, GS_POLICY_GLOBAL, GS_ANALYSIS_SAFE);
    c->paper += accepts(m, GS_POLICY_GLOBAL, GS_ANALYSIS_PAPER);
    c->gema_safe += accepts(m, GS_POLICY_GEMA, GS_ANALYSIS_SAFE);
    c->gema_paper += accepts(m, GS_POLICY_GEMA, GS_ANALYSIS_PAPER);
    c->own += own_accepts(m, 0);
    for (int k = 0; k < CHUNKS; k++)
        c->chunked[k] += own_accepts(m, chunk_units[k]);
}

int main(int argc, char **argv)
{
    long sequences = argc > 1 ? atol(argv[1]) : 2000;
    struct counts bins[BINS] = {{0}};
    struct baseline *b = calloc(MAX_TASKS, sizeof *b);
    struct gs_generator g;
    gs_generator_default(&g);
    for (long k = 0; k < sequences; k++) {
        struct gs_random r;
        struct gs_model m, fine;
        gs_random_seed(&r, 1, (uint64_t)k);
        gs_generate_begin(&g, &fine);
        while (fine.n_tasks < MAX_TASKS - 1 && gs_generate_task(&g, &r, &fine) == 0) {
            int bin = (int)(gs_gpu_utilization(&fine) / 0.2);
            if (bin >= BINS)
                break;
            if (fine.n_tasks < 2)
                continue;
            coarsen(&fine, &m);
            count(&m, &bins[bin], b);
            gs_model_free(&m);
        }
        gs_model_free(&fine);
    }
    printf("GPU utilization   sets | plain bound    safe   paper (not safe) | GEMA: safe   paper\n");
    for (int k = 0; k < BINS; k++)
        printf("%.1f .. %.1f       %6d | %11d %7d %18d | %10d %7d\n", k * 0.2, (k + 1) * 0.2, bins[k].sets,
               bins[k].plain, bins[k].safe, bins[k].paper, bins[k].gema_safe, bins[k].gema_paper);
    printf("\nGPU utilization   sets | GEMA, pieces = own: whole segments | chunks of 0.5 ms    2 ms   10 ms (depth 2, "
           "hand-over 0.1 ms)\n");
    for (int k = 0; k < BINS; k++)
        printf("%.1f .. %.1f       %6d | %35d | %16d %7d %7d\n", k * 0.2, (k + 1) * 0.2, bins[k].sets, bins[k].own,
               bins[k].chunked[0], bins[k].chunked[1], bins[k].chunked[2]);
    free(b);
    return 0;
}
