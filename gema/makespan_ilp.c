/* SPDX-License-Identifier: MIT */
/* The makespan paper's integer program (its Figure 3, with the short constraints) in CPLEX LP format.
 *
 * x_w_i_t is 1 if warp w executes instruction i in cycle t, busy_U_t is 1 if all units of type U are busy in cycle t.
 */
#include <errno.h>
#include <inttypes.h>

#include "gema/makespan.h"

struct program {
    const struct gs_kernel_string *k;
    unsigned warps;
    uint64_t cycles;
    FILE *out;
};

static void put_x(const struct program *p, const char *sign, unsigned w, size_t i, uint64_t t)
{
    fprintf(p->out, " %sx_%u_%zu_%" PRIu64 "\n", sign, w, i, t);
}

/* The cycle in which the warp executes the instruction. */
static void put_when(const struct program *p, const char *sign, unsigned w, size_t i)
{
    for (uint64_t t = 1; t <= p->cycles; t++) {
        fprintf(p->out, " %s %" PRIu64, sign, t);
        put_x(p, "", w, i, t);
    }
}

/* Who executes an instruction of that type in cycle t. */
static void put_at_work(const struct program *p, unsigned type, uint64_t t)
{
    for (unsigned w = 1; w <= p->warps; w++)
        for (size_t i = 1; i <= p->k->n; i++)
            if (p->k->type[i - 1] == type)
                put_x(p, "+ ", w, i, t);
}

static void put_units(const struct program *p, unsigned type)
{
    const struct gs_kernel_string *k = p->k;
    for (uint64_t t = 1; t <= p->cycles; t++) {
        put_at_work(p, type, t); /* equations 14, 15 */
        fprintf(p->out, " <= %u\n", k->sigma[type]);
        put_at_work(p, type, t); /* equation 41 */
        fprintf(p->out, " - %u busy_%c_%" PRIu64 " >= 0\n", k->sigma[type], k->letter[type], t);
    }
}

/* Equations 34 and 37: instruction i - 1 isn't done before t, or i is done by t, or all its units are busy. */
static void put_conserving(const struct program *p, unsigned w, size_t i, uint64_t t)
{
    for (uint64_t s = 1; s <= t; s++)
        put_x(p, "+ ", w, i, s);
    for (uint64_t s = t; s <= p->cycles && i > 1; s++)
        put_x(p, "+ ", w, i - 1, s);
    fprintf(p->out, " + busy_%c_%" PRIu64 " >= 1\n", p->k->letter[p->k->type[i - 1]], t);
}

static void put_warp(const struct program *p, unsigned w)
{
    const size_t n = p->k->n;
    for (size_t i = 1; i <= n; i++) {
        for (uint64_t t = 1; t <= p->cycles; t++)
            put_x(p, "+ ", w, i, t); /* equation 17 */
        fprintf(p->out, " = 1\n");
        if (i < n) { /* equation 18 */
            put_when(p, "+", w, i + 1);
            put_when(p, "-", w, i);
            fprintf(p->out, " >= 1\n");
        }
        for (uint64_t t = 1; t <= p->cycles; t++)
            put_conserving(p, w, i, t);
    }
    if (w < p->warps) { /* warps are alike: they end in their order */
        put_when(p, "+", w + 1, n);
        put_when(p, "-", w, n);
        fprintf(p->out, " >= 0\n");
    }
}

int gs_makespan_write_ilp(const struct gs_kernel_string *k, unsigned warps, uint64_t cycles, FILE *out)
{
    const struct program p = {k, warps, cycles, out};
    if (k->n_phases > 1)
        return -EINVAL;
    if ((double)warps * (double)k->n * (double)cycles * (double)cycles > (double)GS_MAKESPAN_MAX_ILP_TERMS)
        return -E2BIG;
    if (!out)
        return 0;
    fprintf(out, "Maximize\n makespan:");
    put_when(&p, "+", warps, k->n);
    fprintf(out, "Subject To\n");
    for (unsigned u = 0; u < k->n_types; u++)
        put_units(&p, u);
    for (unsigned w = 1; w <= warps; w++)
        put_warp(&p, w);
    fprintf(out, "Binary\n");
    for (unsigned w = 1; w <= warps; w++)
        for (size_t i = 1; i <= k->n; i++)
            for (uint64_t t = 1; t <= cycles; t++)
                put_x(&p, "", w, i, t);
    for (unsigned u = 0; u < k->n_types; u++)
        for (uint64_t t = 1; t <= cycles; t++)
            fprintf(out, " busy_%c_%" PRIu64 "\n", k->letter[u], t);
    fprintf(out, "End\n");
    return fflush(out) ? -errno : 0;
}
