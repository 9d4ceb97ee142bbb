/* SPDX-License-Identifier: MIT */
/* States of the makespan search, their successors and their bounds. */
#include "gema/makespan_model.h"

#include <errno.h>
#include <string.h>

/* Theorem 2's constants for X = x: what one warp at each position can still add to the bound. */
static void init_run_bound(const struct gs_mk_model *m, unsigned x, struct gs_mk_run_bound *b)
{
    uint32_t weight = 0, runs = 0;
    for (unsigned i = m->n; i-- > 0;) {
        bool is_x = m->type[i] == x, last = i + 1 == m->n;
        bool leads_to_x = !is_x && !last && m->type[i + 1] == x;
        /* An X, a Y inside its run and a Y that ends the string cost a cycle each; a Y before an X is paid by those. */
        weight += leads_to_x ? 0 : 1;
        runs += leads_to_x;
        b->weight[i] = weight;
        b->runs[i] = runs;
    }
}

int gs_mk_model_init(struct gs_mk_model *m, const struct gs_kernel_string *k, struct gs_phase phase, unsigned warps)
{
    memset(m, 0, sizeof(*m));
    size_t n = phase.end - phase.begin;
    if (n > GS_MK_MAX_POSITIONS || warps > UINT16_MAX)
        return -E2BIG;
    m->n = (unsigned)n;
    m->warps = warps;
    m->n_types = k->n_types;
    memcpy(m->sigma, k->sigma, sizeof(m->sigma));
    memcpy(m->type, k->type + phase.begin, n);
    while (warps >> m->bits)
        m->bits++;
    m->per_word = 64 / m->bits;
    m->words = (m->n + m->per_word - 1) / m->per_word;
    if (m->words > GS_MK_MAX_WORDS)
        return -E2BIG;
    for (unsigned i = m->n; i-- > 0;) {
        if (i + 1 < m->n)
            memcpy(m->rest[i], m->rest[i + 1], sizeof(m->rest[i]));
        m->rest[i][m->type[i]]++;
    }
    for (unsigned x = 0; x < m->n_types; x++)
        if (m->sigma[x] == 1 && m->rest[0][x])
            init_run_bound(m, x, &m->run_bound[m->n_run_bounds++]);
    return 0;
}

void gs_mk_pack(const struct gs_mk_model *m, const struct gs_mk_state *s, uint64_t *key)
{
    for (unsigned w = 0, i = 0; w < m->words; w++) {
        uint64_t v = 0;
        for (unsigned j = 0; j < m->per_word && i < m->n; j++, i++)
            v |= (uint64_t)s->at[i] << (j * m->bits);
        key[w] = v;
    }
}

void gs_mk_unpack(const struct gs_mk_model *m, const uint64_t *key, struct gs_mk_state *s)
{
    uint64_t mask = (UINT64_C(1) << m->bits) - 1;
    for (unsigned w = 0, i = 0; w < m->words; w++) {
        uint64_t v = key[w];
        for (unsigned j = 0; j < m->per_word && i < m->n; j++, i++, v >>= m->bits)
            s->at[i] = (uint32_t)(v & mask);
    }
}

uint64_t gs_mk_hash(const struct gs_mk_model *m, const uint64_t *key)
{
    uint64_t h = 0;
    for (unsigned w = 0; w < m->words; w++) {
        h = (h ^ key[w]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

/* Theorem 1: the warp that ends last stands at one of the occupied positions; it waits for the others alone. */
static uint64_t wait_bound(const struct gs_mk_model *m, const struct gs_mk_state *s)
{
    uint64_t left[GS_MAKESPAN_TYPES] = {0}, worst = 0, warps = 0;
    for (unsigned i = 0; i < m->n; i++)
        warps += s->at[i];
    for (unsigned i = 0; i < m->n; i++)
        for (unsigned u = 0; s->at[i] && u < m->n_types; u++)
            left[u] += (uint64_t)s->at[i] * m->rest[i][u];
    for (unsigned i = 0; i < m->n; i++) {
        if (!s->at[i])
            continue;
        uint64_t t = m->n - i;
        for (unsigned u = 0; u < m->n_types; u++)
            t += warps > m->sigma[u] ? (left[u] - m->rest[i][u]) / m->sigma[u] : 0;
        if (t > worst)
            worst = t;
    }
    return worst;
}

static uint64_t run_bound(const struct gs_mk_model *m, const struct gs_mk_state *s, const struct gs_mk_run_bound *b)
{
    uint64_t total = 0;
    unsigned first = m->n;
    for (unsigned i = m->n; i-- > 0;) {
        total += (uint64_t)s->at[i] * b->weight[i];
        if (s->at[i])
            first = i;
    }
    return first == m->n ? 0 : total + b->runs[first];
}

uint32_t gs_mk_bound(const struct gs_mk_model *m, const struct gs_mk_state *s)
{
    bool all_one = m->n_run_bounds == m->n_types;
    uint64_t best = all_one ? UINT64_MAX : wait_bound(m, s); /* with one unit of each type, theorem 2 is never worse */
    for (unsigned x = 0; x < m->n_run_bounds; x++) {
        uint64_t b = run_bound(m, s, &m->run_bound[x]);
        if (b < best)
            best = b;
    }
    return best > UINT32_MAX ? UINT32_MAX : (uint32_t)best;
}

/* The choice of one cycle, made type by type and position by position. */
struct choice {
    const struct gs_mk_model *m;
    const struct gs_mk_state *s;
    gs_mk_visit *visit;
    void *context;
    struct gs_mk_state next;
    unsigned executed;
};

static int choose_type(struct choice *c, unsigned u);

/* Takes `k` more warps of type u from positions >= i; `waiting` stand there in all. */
static int choose_position(struct choice *c, unsigned u, unsigned i, uint32_t k, uint32_t waiting)
{
    const struct gs_mk_model *m = c->m;
    while (k && (m->type[i] != u || !c->s->at[i]))
        i++;
    if (k == 0)
        return choose_type(c, u + 1);
    uint32_t here = c->s->at[i], after = waiting - here;
    uint32_t low = k > after ? k - after : 0, high = here < k ? here : k;
    int rc = 0;
    for (uint32_t take = low; take <= high && rc == 0; take++) {
        c->next.at[i] -= take;
        if (i + 1 < m->n)
            c->next.at[i + 1] += take;
        rc = choose_position(c, u, i + 1, k - take, after);
        c->next.at[i] += take;
        if (i + 1 < m->n)
            c->next.at[i + 1] -= take;
    }
    return rc;
}

static int choose_type(struct choice *c, unsigned u)
{
    if (u == c->m->n_types)
        return c->visit(c->context, &c->next, c->executed);
    uint32_t waiting = 0;
    for (unsigned i = 0; i < c->m->n; i++)
        waiting += c->m->type[i] == u ? c->s->at[i] : 0;
    uint32_t k = waiting < c->m->sigma[u] ? waiting : c->m->sigma[u];
    c->executed += k;
    int rc = choose_position(c, u, 0, k, waiting);
    c->executed -= k;
    return rc;
}

int gs_mk_successors(const struct gs_mk_model *m, const struct gs_mk_state *s, gs_mk_visit *visit, void *context)
{
    struct choice c; /* not initialised as a whole: `next` is large and only its first n entries count */
    c.m = m;
    c.s = s;
    c.visit = visit;
    c.context = context;
    c.executed = 0;
    memcpy(c.next.at, s->at, m->n * sizeof(s->at[0]));
    return choose_type(&c, 0);
}
