/* SPDX-License-Identifier: MIT */
/* The exact worst case: a good schedule by beam search, a bound by theorem 2, and where the two differ the dynamic
 * program over what lies between them. */
#include "gema/makespan_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The second, wider search is for strings such as LLLCCC, where the first one misses the bound by a cycle. */
enum { FIRST_BEAM = 256, SECOND_BEAM = 2048, BEAM_EFFORT = 50000000 };
static const size_t default_memory = (size_t)1 << 30;

static int schedule_reserve(struct gs_makespan_schedule *s, size_t more_cycles, size_t more_positions)
{
    size_t used = s->n_cycles ? s->cycle_begin[s->n_cycles] : 0;
    size_t *begin = realloc(s->cycle_begin, (s->n_cycles + more_cycles + 1) * sizeof(*begin));
    if (!begin)
        return -ENOMEM;
    if (!s->cycle_begin)
        begin[0] = 0;
    s->cycle_begin = begin;
    uint32_t *position = realloc(s->position, (used + more_positions) * sizeof(*position));
    if (!position)
        return -ENOMEM;
    s->position = position;
    return 0;
}

/* Appends what was executed between each two states of the path. `offset` is the phase's first position. */
static int append_path(struct gs_makespan_schedule *s, const struct gs_mk_model *m, const struct gs_mk_path *path,
                       size_t offset)
{
    int rc = schedule_reserve(s, path->n_keys - 1, (size_t)m->n * m->warps);
    struct gs_mk_state from, to;
    for (size_t c = 0; rc == 0 && c + 1 < path->n_keys; c++) {
        gs_mk_unpack(m, path->keys + c * m->words, &from);
        gs_mk_unpack(m, path->keys + (c + 1) * m->words, &to);
        size_t at = s->cycle_begin[s->n_cycles];
        uint32_t arrived = 0;
        for (unsigned i = 0; i < m->n; i++) {
            uint32_t left = from.at[i] + arrived - to.at[i];
            for (uint32_t j = 0; j < left; j++)
                s->position[at++] = (uint32_t)(offset + i);
            arrived = left;
        }
        s->cycle_begin[++s->n_cycles] = at;
    }
    return rc;
}

/* The longer of the paths that the beam searches find, in `best`; *found is its number of cycles. */
static int search_beams(const struct gs_mk_model *m, const struct gs_makespan_options *o, uint32_t upper,
                        struct gs_mk_path *best, uint32_t *found)
{
    unsigned width[2] = {o->beam ? o->beam : FIRST_BEAM, o->beam ? 0 : SECOND_BEAM};
    /* A search keeps and expands about `width` states of n positions in each of up to `upper` cycles. */
    uint64_t most = BEAM_EFFORT / ((uint64_t)upper * m->n);
    *found = 0;
    for (int i = 0; i < 2 && width[i] && *found < upper; i++) {
        struct gs_mk_path path = {0};
        if (i && most <= width[0])
            break; /* it would be no wider than the first */
        int rc = gs_mk_beam(m, o, most == 0 ? 1 : most < width[i] ? (unsigned)most : width[i], &path);
        if (rc == -EINTR && *found)
            return 0;
        if (rc)
            return rc;
        bool longer = path.n_keys > best->n_keys;
        free(longer ? best->keys : path.keys);
        if (longer)
            *best = path;
        *found = (uint32_t)best->n_keys - 1;
    }
    return 0;
}

/* One phase: the path found and what is proved of it. */
static int search_phase(const struct gs_mk_model *m, const struct gs_makespan_options *o, struct gs_mk_dp_result *best)
{
    struct gs_mk_state start = {{m->warps}};
    uint32_t upper = gs_mk_bound(m, &start), found = 0;
    size_t memory = o->memory_bytes ? o->memory_bytes : default_memory;
    struct gs_mk_path first = {0};
    *best = (struct gs_mk_dp_result){0};
    int rc = o->exhaustive ? 0 : search_beams(m, o, upper, &first, &found);
    if (rc == 0 && found == upper)
        *best = (struct gs_mk_dp_result){.best = found, .upper = found};
    else if (rc == 0)
        rc = gs_mk_dynamic_program(m, o, found, memory, best);
    if (rc == 0 && best->upper > upper)
        best->upper = upper;
    if (best->path.keys)
        free(first.keys);
    else
        best->path = first;
    return rc;
}

/* Where a search is out of reach: every type's units need their time, and every warp needs its own. */
static uint64_t plain_lower_bound(const struct gs_kernel_string *k, unsigned warps)
{
    uint64_t total = 0;
    for (size_t p = 0; p < k->n_phases; p++) {
        uint64_t count[GS_MAKESPAN_TYPES] = {0}, most = k->phase[p].end - k->phase[p].begin;
        for (size_t i = k->phase[p].begin; i < k->phase[p].end; i++)
            count[k->type[i]]++;
        for (unsigned u = 0; u < k->n_types; u++) {
            uint64_t t = (count[u] * warps + k->sigma[u] - 1) / k->sigma[u];
            most = t > most ? t : most;
        }
        total += most;
    }
    return total;
}

static int add_phase(const struct gs_kernel_string *k, struct gs_phase p, unsigned warps,
                     const struct gs_makespan_options *o, struct gs_mk_model *m, struct gs_makespan_exact *out)
{
    int rc = gs_mk_model_init(m, k, p, warps);
    if (rc)
        return rc;
    struct gs_mk_dp_result r;
    rc = search_phase(m, o, &r);
    if (rc == 0 && r.path.n_keys)
        rc = append_path(&out->schedule, m, &r.path, p.begin);
    free(r.path.keys);
    if (rc)
        return rc;
    out->lower += r.best;
    out->upper += r.upper;
    out->states += r.states;
    return 0;
}

int gs_makespan_exact(const struct gs_kernel_string *k, unsigned warps, const struct gs_makespan_options *options,
                      struct gs_makespan_exact *out)
{
    struct gs_makespan_options o = options ? *options : (struct gs_makespan_options){0};
    memset(out, 0, sizeof(*out));
    struct gs_mk_model *m = malloc(sizeof(*m));
    if (!m)
        return -ENOMEM;
    int rc = 0;
    struct gs_kernel_string rest = *k; /* its phases that were not searched */
    while (rest.n_phases && (rc = add_phase(k, *rest.phase, warps, &o, m, out)) == 0) {
        rest.phase++;
        rest.n_phases--;
    }
    free(m);
    if (rc) {
        const struct gs_makespan_exact known = *out;
        gs_makespan_exact_free(out); /* a part of a schedule is none */
        out->lower = known.lower + plain_lower_bound(&rest, warps);
        out->upper = known.upper + gs_makespan_safe_bound(&rest, warps);
    }
    return rc;
}

void gs_makespan_exact_free(struct gs_makespan_exact *exact)
{
    free(exact->schedule.position);
    free(exact->schedule.cycle_begin);
    memset(exact, 0, sizeof(*exact));
}

int gs_makespan_equation42(const struct gs_kernel_string *k, unsigned warps, unsigned x,
                           const struct gs_makespan_options *options, uint64_t *approximation)
{
    uint64_t best = UINT64_MAX;
    for (unsigned y = 1; y <= x; y++) {
        struct gs_makespan_exact e;
        int rc = gs_makespan_exact(k, y, options, &e);
        bool exact = e.lower == e.upper;
        uint64_t t = (((uint64_t)warps + y - 1) / y) * e.lower; /* equation 43 */
        gs_makespan_exact_free(&e);
        if (rc)
            return rc;
        if (!exact)
            return -EAGAIN;
        best = t < best ? t : best;
    }
    *approximation = best;
    return 0;
}
