/* SPDX-License-Identifier: MIT */
#include "tests/gema/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gs_model set_from(const char *text)
{
    struct gs_config c;
    struct gs_mistakes mistakes = {0};
    struct gs_model m = {0};
    if (gs_config_parse(text, strlen(text), &c, &mistakes) || gs_model_from_config(&m, &c, &mistakes)) {
        gs_mistakes_print(&mistakes, "test set");
        abort();
    }
    gs_config_free(&c);
    gs_mistakes_free(&mistakes);
    return m;
}

unsigned rnd(struct rng *r, unsigned n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(r->state >> 33) % n;
}

struct rng seed_from(int argc, char **argv, uint64_t otherwise)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : otherwise;
    printf("seed %" PRIu64 "\n", seed);
    return (struct rng){seed * 0x9E3779B97F4A7C15u + 1};
}

/* A chain of random segments whose times sum up to at most `room`; empty where not even one fits. */
static size_t random_chain(struct rng *r, const struct set_shape *shape, unsigned room, int crowd, struct gs_segment *s)
{
    size_t n = 1 + rnd(r, shape->max_segments), used = 0;
    int only = crowd >= 0 ? crowd : rnd(r, 3) ? -1 : (int)rnd(r, GS_RESOURCES);
    bool detour = crowd >= 0 && rnd(r, 3) == 0;
    for (size_t j = 0; j < n && room; j++) {
        unsigned most = shape->max_time < room ? shape->max_time : room, worst = 1 + rnd(r, most);
        unsigned best = shape->varying && rnd(r, 2) ? rnd(r, worst + 1) : worst;
        enum gs_resource kind =
            only >= 0 && !(detour && j % 2) ? (enum gs_resource)only : (enum gs_resource)rnd(r, GS_RESOURCES);
        s[used++] = (struct gs_segment){.resource = kind, .best_ns = best, .worst_ns = worst};
        room -= worst;
    }
    return used;
}

/* A chain to and fro between resources `a` and `b`, of two segments and more where they fit. */
static size_t woven_chain(struct rng *r, const struct set_shape *shape, unsigned room, const int *pair,
                          struct gs_segment *s)
{
    size_t n = 2 + rnd(r, shape->max_segments), used = 0, turn = rnd(r, 2);
    for (size_t j = 0; j < n && room; j++) {
        const unsigned most = room < 3 ? room : 3, worst = 1 + rnd(r, most),
                       best = shape->varying && rnd(r, 2) ? 1 : worst;
        s[used++] =
            (struct gs_segment){.resource = (enum gs_resource)pair[(turn + j) % 2], .best_ns = best, .worst_ns = worst};
        room -= worst;
    }
    return used;
}

struct gs_model random_set(struct rng *r, const struct set_shape *shape)
{
    struct gs_model m;
    unsigned gpus = 1 + rnd(r, shape->max_servers);
    gs_model_init(&m, 1 + (int)rnd(r, shape->max_servers), 1 + (int)rnd(r, shape->max_servers), (int)gpus);
    m.pieces = (enum gs_pieces)rnd(r, 3);
    m.preemptive[GS_CPU] = rnd(r, 4) != 0;
    m.preemptive[GS_GPU] = rnd(r, 4) == 0;
    m.preemptive[GS_PCI] = rnd(r, 6) == 0;
    unsigned n = shape->crowded ? 3 + rnd(r, shape->max_tasks - 2) : 2 + rnd(r, shape->max_tasks - 1);
    int crowd = shape->crowded ? (int)rnd(r, GS_RESOURCES) : -1;
    const int first = shape->woven ? (int)rnd(r, GS_RESOURCES) : 0, other = shape->woven ? 1 + (int)rnd(r, 2) : 1;
    const int pair[2] = {first, (first + other) % GS_RESOURCES};
    for (unsigned i = 0; i < n; i++) {
        struct gs_segment s[16];
        unsigned period = 2 + rnd(r, shape->max_period - 1), deadline = rnd(r, 3) ? period : 1 + rnd(r, period);
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        int at = gs_model_add_task(&m, name, period, deadline);
        m.tasks[at].priority = rnd(r, 2) ? -(int64_t)period : -(int64_t)i;
        for (unsigned g = 1; g <= gpus; g++) {
            size_t len =
                shape->woven ? woven_chain(r, shape, deadline, pair, s) : random_chain(r, shape, deadline, crowd, s);
            gs_model_set_chain(&m, (size_t)at, (int)g, s, len);
        }
    }
    if (gs_model_finish(&m))
        abort();
    return m;
}

/* Says in how many chunks each segment is granted, mostly. */
static void count_chunks(struct rng *r, struct gs_model *m)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            for (size_t j = 0; j < m->tasks[i].chains[g].n; j++) {
                struct gs_segment *s = &m->tasks[i].chains[g].segments[j];
                int64_t chunk = m->tasks[i].chunk_ns[s->resource];
                if (s->resource == GS_CPU || !s->worst_ns || !rnd(r, 20))
                    continue;
                chunk = chunk ? chunk : s->worst_ns;
                const int64_t n = (s->worst_ns + chunk - 1) / chunk + (s->pauses ? 1 + s->pauses : 0) + rnd(r, 6);
                s->chunks = n <= GS_CONFIG_MAX_CHUNKS ? (int)n : 0;
            }
}

void make_chunked(struct rng *r, struct gs_model *m)
{
    unsigned which = 1 + rnd(r, 3);
    m->pieces = GS_PIECES_OWN;
    m->depth = 1 + (int)rnd(r, 3);
    m->handover_ns = rnd(r, 2) ? rnd(r, 6) : 0;
    for (int k = GS_PCI; k <= GS_GPU; k++) {
        m->chunked[k] = which >> (k - GS_PCI) & 1;
        m->preemptive[k] = m->preemptive[k] && !m->chunked[k];
        for (size_t i = 0; i < m->n_tasks; i++)
            m->tasks[i].chunk_ns[k] = rnd(r, 6) ? 1 + rnd(r, 4) : 0;
    }
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            for (size_t j = 0; j < m->tasks[i].chains[g].n; j++) {
                struct gs_segment *s = &m->tasks[i].chains[g].segments[j];
                if (s->resource == GS_CPU || (s->resource == GS_GPU && g > 1) || !s->worst_ns || rnd(r, 2))
                    continue;
                s->pauses = 1 + (int)rnd(r, 3);
                s->pause_ns = rnd(r, 4);
            }
    if (m->depth == 1 || rnd(r, 4))
        count_chunks(r, m);
    if (gs_model_finish(m))
        abort();
}

void make_liars(struct rng *r, struct gs_model *m)
{
    int64_t most = 0, longer = 1 + rnd(r, 6);
    m->liars = 1 + (int)rnd(r, 2);
    m->late_ns = rnd(r, 4);
    for (int k = GS_PCI; k <= GS_GPU; k++) {
        m->chunk_ns[k] = m->chunked[k] ? 1 + rnd(r, 3) : 0;
        m->patience_ns[k] = m->chunked[k] ? 1 + rnd(r, 8) : 0;
        most = m->patience_ns[k] > most ? m->patience_ns[k] : most;
    }
    for (size_t i = 0; i < m->n_tasks; i++) {
        struct gs_task *t = &m->tasks[i];
        t->period_ns *= longer;
        t->deadline_ns *= longer;
        t->excess_ns = m->liars * (most + t->period_ns / GS_CONFIG_COMES_BACK + 1);
    }
    if (gs_model_finish(m))
        abort();
}

void random_modes(struct rng *r, const struct gs_model *m, int *modes)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        do
            modes[i] = 1 + (int)rnd(r, (unsigned)m->servers[GS_GPU]);
        while (!gs_model_may_use(m, i, modes[i]));
}

void print_set(const struct gs_model *m, const int *modes)
{
    static const char *const pieces[] = {"own", "any", "gang"};
    printf("[system]\ncpus = %d\nlinks = %d\ngpus = %d\npieces = %s\npreemptive =", m->servers[GS_CPU],
           m->servers[GS_PCI], m->servers[GS_GPU], pieces[m->pieces]);
    bool any = false;
    for (int k = 0; k < GS_RESOURCES; k++)
        if (m->preemptive[k]) {
            printf("%s %s", any ? "," : "", gs_resource_names[k]);
            any = true;
        }
    printf("%s", any ? "" : " none");
    if (m->chunked[GS_PCI] || m->chunked[GS_GPU])
        printf("\ndepth = %d\nhandover = %" PRId64 "ns\n(chunked: pci %d, gpu %d; others' %" PRId64 ", %" PRId64 ")",
               m->depth, m->handover_ns, m->chunked[GS_PCI], m->chunked[GS_GPU], m->chunk_ns[GS_PCI],
               m->chunk_ns[GS_GPU]);
    if (m->liars)
        printf("\n(%d users keep servers, pci %" PRId64 ", gpu %" PRId64 ", late %" PRId64 ")", m->liars,
               m->patience_ns[GS_PCI], m->patience_ns[GS_GPU], m->late_ns);
    for (size_t i = 0; i < m->n_tasks; i++) {
        const struct gs_task *t = &m->tasks[i];
        printf("\n[task %s]\nperiod = %" PRId64 "ns\ndeadline = %" PRId64 "ns\npriority = %d", t->name, t->period_ns,
               t->deadline_ns, (int)(m->n_tasks - i));
        for (int r = GS_PCI; r <= GS_GPU; r++)
            if (m->chunked[r] && t->chunk_ns[r])
                printf("\n%s_chunk = %" PRId64 "ns", gs_resource_names[r], t->chunk_ns[r]);
        for (int g = 1; g <= m->servers[GS_GPU]; g++) {
            const struct gs_chain *c = &t->chains[g];
            if (!c->n || (modes && modes[i] != g))
                continue;
            printf("\nsegments.%d = ", g);
            for (size_t j = 0; j < c->n; j++)
                printf("%s%s %" PRId64 "ns..%" PRId64 "ns pauses %d %" PRId64 "ns chunks %d", j ? ", " : "",
                       gs_resource_names[c->segments[j].resource], c->segments[j].best_ns, c->segments[j].worst_ns,
                       c->segments[j].pauses, c->segments[j].pause_ns, c->segments[j].chunks);
        }
    }
    printf("\n");
}
