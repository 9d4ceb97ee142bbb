/* SPDX-License-Identifier: MIT */
#include "gema/generate.h"

#include <stdio.h>

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* Steele, Lea and Flood's SplitMix64, the usual way to fill a larger state. */
static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void gs_random_seed(struct gs_random *r, uint64_t seed, uint64_t index)
{
    uint64_t x = seed;
    x = splitmix(&x) ^ index * UINT64_C(0xD1342543DE82EF95);
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&x);
}

/* Blackman and Vigna's xoshiro256**. */
uint64_t gs_random_next(struct gs_random *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double gs_random_unit(struct gs_random *r)
{
    return (double)(gs_random_next(r) >> 11) * 0x1p-53;
}

__extension__ typedef unsigned __int128 wide;

int64_t gs_random_between(struct gs_random *r, int64_t low, int64_t high)
{
    wide product = (wide)gs_random_next(r) * (uint64_t)(high - low + 1);
    return low + (int64_t)(product >> 64);
}

void gs_generator_default(struct gs_generator *g)
{
    *g = (struct gs_generator){.cpus = 4,
                               .links = 1,
                               .gpus = 4,
                               .pieces = GS_PIECES_ANY,
                               .gpu_share = {0.5, 0.95},
                               .upload = {2.5, 4.7},
                               .download = {2.5, 11.7},
                               .merge = 1,
                               .imbalance = 1,
                               .best = 1};
}

void gs_generate_begin(const struct gs_generator *g, struct gs_model *m)
{
    gs_model_init(m, g->cpus, g->links, g->gpus);
    m->pieces = g->pieces;
}

enum { MAX_KERNELS = 60, PER_KERNEL = 4 };

/* Splits the task's time over its segments at random: so much to the GPU, and the rest to the others. */
static void split_time(const struct gs_generator *g, struct gs_random *r, int64_t total, struct gs_segment *s, size_t n)
{
    double weight[MAX_KERNELS * PER_KERNEL + 1], sum[2] = {0};
    double share = g->gpu_share[0] + (g->gpu_share[1] - g->gpu_share[0]) * gs_random_unit(r);
    for (size_t j = 0; j < n; j++) {
        weight[j] = gs_random_unit(r) + 1e-6;
        sum[s[j].resource == GS_GPU] += weight[j];
    }
    for (size_t j = 0; j < n; j++) {
        bool gpu = s[j].resource == GS_GPU;
        double time = (double)total * (gpu ? share : 1 - share) * weight[j] / sum[gpu];
        s[j].worst_ns = time < 1 ? 1 : (int64_t)time;
    }
}

static int64_t scaled(int64_t time, double factor)
{
    double v = (double)time * factor;
    return v < 1 ? 1 : (int64_t)(v + 0.5);
}

/* The single-GPU chain as it becomes on n GPUs. Uploads stand before a GPU segment, downloads after it, and what
 * follows a download merges. */
static void spread(const struct gs_generator *g, const struct gs_segment *single, size_t len, int n, bool dependent,
                   struct gs_segment *out)
{
    double more = g->gpus > 1 ? (n - 1.0) / (g->gpus - 1) : 0;
    for (size_t j = 0; j < len; j++) {
        int64_t time = single[j].worst_ns;
        out[j] = (struct gs_segment){.resource = single[j].resource};
        switch (j % PER_KERNEL) {
        case 0:
            if (j)
                time += (int64_t)((double)single[j - 1].worst_ns * g->merge * more);
            break;
        case 1:
            time = scaled(time, 1 + (g->upload[dependent] - 1) * more);
            break;
        case 2:
            time = n == 1 ? time : scaled(time, g->imbalance / n);
            break;
        default:
            time = scaled(time, 1 + (g->download[dependent] - 1) * more);
            break;
        }
        out[j].worst_ns = time < GS_CONFIG_MAX_NS ? time : GS_CONFIG_MAX_NS;
        out[j].best_ns = (int64_t)((double)out[j].worst_ns * g->best);
    }
}

int gs_generate_task(const struct gs_generator *g, struct gs_random *r, struct gs_model *m)
{
    static const enum gs_resource order[PER_KERNEL] = {GS_CPU, GS_PCI, GS_GPU, GS_PCI};
    const int64_t unit = 1000000; /* the paper's unit is taken for a millisecond */
    struct gs_segment single[MAX_KERNELS * PER_KERNEL + 1], chain[MAX_KERNELS * PER_KERNEL + 1];
    char name[32];
    int64_t period = gs_random_between(r, 100 * unit, 1000 * unit);
    int64_t kernels = g->kernels ? g->kernels : gs_random_between(r, 1, 5);
    size_t n = (size_t)kernels * PER_KERNEL + 1;
    for (size_t j = 0; j < n; j++)
        single[j] = (struct gs_segment){.resource = order[j % PER_KERNEL]};
    split_time(g, r, gs_random_between(r, 5 * unit, period), single, n);
    bool dependent = gs_random_unit(r) < g->dependent;
    snprintf(name, sizeof name, "t%zu", m->n_tasks);
    int at = gs_model_add_task(m, name, period, period);
    if (at < 0)
        return at;
    for (int gpus = 1; gpus <= g->gpus; gpus++) {
        spread(g, single, n, gpus, dependent, chain);
        int rc = gs_model_set_chain(m, (size_t)at, gpus, chain, n);
        if (rc)
            return rc;
    }
    return 0;
}

double gs_gpu_utilization(const struct gs_model *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_tasks; i++) {
        const struct gs_chain *c = &m->tasks[i].chains[1];
        for (size_t j = 0; j < c->n; j++)
            if (c->segments[j].resource == GS_GPU)
                sum += (double)c->segments[j].worst_ns / (double)m->tasks[i].period_ns;
    }
    return sum;
}
