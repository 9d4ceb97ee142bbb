/* SPDX-License-Identifier: MIT */
/* The makespan's closed bounds. Theorems 1 to 3 are stated and proved in docs/makespan.md. */
#include "gema/makespan.h"

struct counts {
    uint64_t of[GS_MAKESPAN_TYPES];
};

static struct counts count_types(const struct gs_kernel_string *k, struct gs_phase p)
{
    struct counts c = {{0}};
    for (size_t i = p.begin; i < p.end; i++)
        c.of[k->type[i]]++;
    return c;
}

uint64_t gs_makespan_equation5(const struct gs_kernel_string *k, unsigned warps)
{
    struct counts c = count_types(k, (struct gs_phase){0, k->n});
    uint64_t total = 0;
    for (unsigned u = 0; u < k->n_types; u++)
        total += (((uint64_t)warps + k->sigma[u] - 1) / k->sigma[u]) * c.of[u];
    return total;
}

bool gs_makespan_equation5_is_safe(const struct gs_kernel_string *k)
{
    for (unsigned u = 0; u < k->n_types; u++)
        if (k->sigma[u] != 1)
            return false;
    return true;
}

/* Theorem 1 for one phase and any number of links in the chain of warps; `links` = 1 is the theorem itself. */
static uint64_t wait_bound(const struct gs_kernel_string *k, struct gs_phase p, uint64_t warps, uint64_t links)
{
    struct counts c = count_types(k, p);
    uint64_t total = links * (p.end - p.begin);
    for (unsigned u = 0; u < k->n_types; u++)
        if (warps > k->sigma[u]) /* else nobody ever waits for u */
            total += (warps - links) * c.of[u] / k->sigma[u];
    return total;
}

uint64_t gs_makespan_wait_bound(const struct gs_kernel_string *k, unsigned warps)
{
    uint64_t total = 0;
    for (size_t i = 0; i < k->n_phases; i++)
        total += wait_bound(k, k->phase[i], warps, 1);
    return total;
}

/* Theorem 2 with the type x as X. */
static uint64_t run_bound(const struct gs_kernel_string *k, struct gs_phase p, unsigned x, uint64_t warps)
{
    uint64_t runs = 0, n = p.end - p.begin;
    for (size_t i = p.begin; i < p.end; i++)
        runs += k->type[i] != x && (i == p.begin || k->type[i - 1] == x);
    bool ends_in_y = k->type[p.end - 1] != x;
    return warps * (n - runs) + (ends_in_y ? warps - 1 : 0) + runs;
}

static uint64_t safe_bound(const struct gs_kernel_string *k, struct gs_phase p, unsigned warps)
{
    uint64_t best = wait_bound(k, p, warps, 1);
    for (unsigned x = 0; x < k->n_types; x++) {
        uint64_t bound = k->sigma[x] == 1 ? run_bound(k, p, x, warps) : best;
        if (bound < best)
            best = bound;
    }
    return best;
}

uint64_t gs_makespan_safe_bound(const struct gs_kernel_string *k, unsigned warps)
{
    uint64_t total = 0;
    for (size_t i = 0; i < k->n_phases; i++)
        total += safe_bound(k, k->phase[i], warps);
    return total;
}

uint64_t gs_makespan_wave_bound(const struct gs_kernel_string *k, uint64_t groups, unsigned warps, uint64_t resident)
{
    uint64_t all = groups * warps;
    bool barriers_meet = k->n_phases == 1 || groups == 1;
    if (groups <= resident && barriers_meet && all <= GS_MAKESPAN_MAX_WARPS)
        return gs_makespan_safe_bound(k, (unsigned)all);
    uint64_t links = groups > resident ? groups - resident + 1 : 1;
    return wait_bound(k, (struct gs_phase){0, k->n}, all, links);
}
