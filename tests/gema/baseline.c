/* SPDX-License-Identifier: MIT */
#include "tests/gema/baseline.h"

#include <stdlib.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static const struct gs_chain *chain_of(const struct gs_model *m, const int *modes, size_t i)
{
    return &m->tasks[i].chains[modes[i]];
}

/* Sum of the m longest pieces of lower priorities, less one unit each; a task counts with its longest segment. */
static int64_t lower(const struct gs_model *m, const int *modes, size_t i, enum gs_resource r)
{
    int64_t longest[GS_CONFIG_MAX_SERVERS] = {0}, sum = 0;
    int servers = m->servers[r];
    for (size_t k = i + 1; k < m->n_tasks; k++) {
        int64_t most = 0;
        for (size_t p = 0; p < chain_of(m, modes, k)->n; p++)
            if (chain_of(m, modes, k)->segments[p].resource == r && chain_of(m, modes, k)->segments[p].worst_ns > most)
                most = chain_of(m, modes, k)->segments[p].worst_ns;
        for (int q = 0; q < (r == GS_GPU ? modes[k] : 1); q++) {
            int at = 0;
            for (int s = 1; s < servers; s++)
                at = longest[s] < longest[at] ? s : at;
            longest[at] = most > longest[at] ? most : longest[at];
        }
    }
    for (int s = 0; s < servers; s++)
        sum += longest[s] ? longest[s] - 1 : 0;
    return sum;
}

static int64_t higher(const struct gs_model *m, const int *modes, size_t i, enum gs_resource r, int64_t x, int64_t cap,
                      const struct baseline *out)
{
    int64_t total = 0;
    for (size_t k = 0; k < i; k++) {
        const struct gs_chain *c = chain_of(m, modes, k);
        int64_t sum = 0, period = m->tasks[k].period_ns, g = r == GS_GPU ? modes[k] : 1;
        for (size_t p = 0; p < c->n; p++) {
            int64_t worst = c->segments[p].worst_ns, L = x + out[k].jitter[p] + out[k].w[p] - worst, n = L / period;
            if (c->segments[p].resource == r)
                sum += g * (n * worst + least(worst, L - n * period));
        }
        total += g == 1 ? least(sum, cap) : sum;
    }
    return total;
}

bool baseline_analyze(const struct gs_model *m, const int *modes, struct baseline *out)
{
    for (size_t i = 0; i < m->n_tasks; i++) {
        const struct gs_chain *c = chain_of(m, modes, i);
        int64_t best = 0;
        out[i].response = 0;
        for (size_t j = 0; j < c->n; j++) {
            enum gs_resource r = c->segments[j].resource;
            int64_t worst = c->segments[j].worst_ns, s = 0, own = ((r == GS_GPU ? modes[i] : 1) - 1) * worst;
            bool preemptive = m->preemptive[r];
            int64_t low = preemptive ? 0 : lower(m, modes, i, r);
            while (worst && s <= m->tasks[i].deadline_ns) {
                int64_t x = preemptive ? s + worst : s + 1;
                int64_t next = (low + own + higher(m, modes, i, r, x, s + 1, out)) / m->servers[r];
                if (next <= s)
                    break;
                s = next;
            }
            out[i].jitter[j] = out[i].response - best;
            out[i].w[j] = s + worst;
            out[i].response += s + worst;
            best += c->segments[j].best_ns;
            if (out[i].response > m->tasks[i].deadline_ns)
                return false;
        }
    }
    return true;
}
