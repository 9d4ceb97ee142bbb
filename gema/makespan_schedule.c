/* SPDX-License-Identifier: MIT */
/* A makespan schedule by warps: checked against the model's rules, and printed as in the paper's Figure 2. */
#include "gema/makespan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which instruction each warp has still to execute. */
struct walk {
    const struct gs_kernel_string *k;
    unsigned warps;
    uint32_t *at;
    bool *ran; /* in this cycle */
};

static int walk_begin(struct walk *w, const struct gs_kernel_string *k, unsigned warps)
{
    *w = (struct walk){.k = k, .warps = warps};
    w->at = calloc(warps, sizeof(*w->at));
    w->ran = calloc(warps, sizeof(*w->ran));
    return w->at && w->ran ? 0 : -ENOMEM;
}

static void walk_end(struct walk *w)
{
    free(w->at);
    free(w->ran);
}

/* Executes position `p` on the first warp that waits for it; that warp, or `warps` where there is none. */
static unsigned run_one(struct walk *w, uint32_t p)
{
    for (unsigned i = 0; i < w->warps; i++)
        if (w->at[i] == p && !w->ran[i]) {
            w->at[i]++;
            w->ran[i] = true;
            return i;
        }
    return w->warps;
}

/* Warps that have passed a barrier wait for the others: they belong to a later phase than the one that is running. */
static size_t running_phase(const struct walk *w)
{
    uint32_t first = UINT32_MAX;
    for (unsigned i = 0; i < w->warps; i++)
        first = w->at[i] < first ? w->at[i] : first;
    size_t p = 0;
    while (p < w->k->n_phases && w->k->phase[p].end <= first)
        p++;
    return p;
}

static bool cycle_is_legal(struct walk *w, const uint32_t *position, size_t n)
{
    size_t p = running_phase(w);
    if (p == w->k->n_phases)
        return false;
    uint64_t waiting[GS_MAKESPAN_TYPES] = {0}, ran[GS_MAKESPAN_TYPES] = {0};
    for (unsigned i = 0; i < w->warps; i++)
        if (w->at[i] < w->k->phase[p].end)
            waiting[w->k->type[w->at[i]]]++;
    memset(w->ran, 0, w->warps * sizeof(*w->ran));
    for (size_t i = 0; i < n; i++) {
        if (position[i] >= w->k->phase[p].end || run_one(w, position[i]) == w->warps)
            return false;
        ran[w->k->type[position[i]]]++;
    }
    for (unsigned u = 0; u < w->k->n_types; u++)
        if (ran[u] != (waiting[u] < w->k->sigma[u] ? waiting[u] : w->k->sigma[u]))
            return false;
    return true;
}

bool gs_makespan_schedule_is_legal(const struct gs_kernel_string *k, unsigned warps,
                                   const struct gs_makespan_schedule *s)
{
    struct walk w;
    bool legal = walk_begin(&w, k, warps) == 0;
    for (size_t c = 0; legal && c < s->n_cycles; c++)
        legal = cycle_is_legal(&w, s->position + s->cycle_begin[c], s->cycle_begin[c + 1] - s->cycle_begin[c]);
    for (unsigned i = 0; legal && i < warps; i++)
        legal = w.at[i] == k->n;
    walk_end(&w);
    return legal;
}

static void print_block(const struct gs_kernel_string *k, unsigned warps, const char *cell, size_t begin, size_t end,
                        FILE *out)
{
    int width = snprintf(NULL, 0, "%zu", end) + 1;
    fprintf(out, "%-11s", "Clock cycle");
    for (size_t c = begin; c < end; c++)
        fprintf(out, "%*zu", width, c + 1);
    fputc('\n', out);
    for (unsigned i = 0; i < warps; i++) {
        fprintf(out, "Warp %-6u", i + 1);
        size_t last = end;
        while (last > begin && !cell[(last - 1) * warps + i])
            last--;
        for (size_t c = begin; c < last; c++) {
            char t = cell[c * warps + i];
            fprintf(out, "%*c", width, t ? k->letter[t - 1] : ' ');
        }
        fputc('\n', out);
    }
}

int gs_makespan_print_schedule(const struct gs_kernel_string *k, unsigned warps, const struct gs_makespan_schedule *s,
                               unsigned columns, FILE *out)
{
    struct walk w;
    char *cell = calloc(s->n_cycles + 1, warps); /* 1 + type, 0 where the warp does nothing */
    int rc = walk_begin(&w, k, warps);
    if (!cell)
        rc = -ENOMEM;
    for (size_t c = 0; rc == 0 && c < s->n_cycles; c++) {
        memset(w.ran, 0, warps * sizeof(*w.ran));
        for (size_t j = s->cycle_begin[c]; j < s->cycle_begin[c + 1]; j++) {
            unsigned i = run_one(&w, s->position[j]);
            if (i < warps)
                cell[c * warps + i] = (char)(1 + k->type[s->position[j]]);
        }
    }
    for (size_t c = 0; rc == 0 && c < s->n_cycles; c += columns) {
        size_t end = c + columns < s->n_cycles ? c + columns : s->n_cycles;
        if (c)
            fputc('\n', out);
        print_block(k, warps, cell, c, end, out);
    }
    walk_end(&w);
    free(cell);
    return rc;
}
