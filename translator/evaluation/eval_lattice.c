/* SPDX-License-Identifier: MIT */
#include "translator/evaluation/eval_lattice.h"

int64_t gs_form_multiple(const struct gs_form *f, const struct gs_form *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = 0; j < f->n; j++)
            if (f->t[j].var == c->t[i].var)
                return f->t[j].factor % c->t[i].factor == 0 ? f->t[j].factor / c->t[i].factor : 0;
    return 0;
}

bool gs_form_shares_variable(const struct gs_form *f, const struct gs_form *g)
{
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t j = 0; j < g->n; j++)
            if (f->t[i].var == g->t[j].var)
                return true;
    return false;
}

void gs_lattice_add(struct gs_lattice *l, gs_wide factor, struct gs_interval v)
{
    l->first += factor * (factor > 0 ? v.lo : v.hi);
    if (v.lo >= v.hi)
        return;
    gs_wide stride = factor > 0 ? factor : -factor;
    uint32_t at = l->n++;
    for (; at > 0 && l->d[at - 1].stride > stride; at--)
        l->d[at] = l->d[at - 1];
    l->d[at].stride = stride;
    l->d[at].count = v.hi - v.lo + 1;
}

void gs_lattice_add_form(const struct gs_eval *e, struct gs_lattice *l, const struct gs_form *f)
{
    l->first += f->base;
    for (uint32_t i = 0; i < f->n; i++)
        gs_lattice_add(l, f->t[i].factor, e->var[f->t[i].var]);
}

bool gs_form_is_gapless(const struct gs_eval *e, const struct gs_form *f)
{
    struct gs_lattice l = {.n = 0};
    gs_lattice_add_form(e, &l, f);
    gs_wide run = 1;
    for (uint32_t i = 0; i < l.n && l.d[i].stride <= run; i++)
        run += l.d[i].stride * (l.d[i].count - 1);
    struct gs_interval in = gs_form_interval(e, f);
    return run == in.hi - in.lo + 1;
}

gs_wide gs_lattice_run(struct gs_lattice *l, gs_wide bytes, gs_wide most, bool *exact)
{
    gs_wide run = bytes, ranges;
    *exact = true;
    do {
        uint32_t kept = 0;
        ranges = 1;
        for (uint32_t i = 0; i < l->n; i++) {
            if (l->d[i].stride <= run) {
                run += l->d[i].stride * (l->d[i].count - 1);
            } else {
                l->d[kept++] = l->d[i];
                if (ranges <= most)
                    ranges *= gs_least(l->d[kept - 1].count, most + 1);
            }
        }
        bool again = kept < l->n && kept > 0 && l->d[0].stride <= run;
        l->n = kept;
        if (ranges <= most && !again)
            break;
        if (!again) {
            *exact = false;
            run = gs_greatest(run, l->d[0].stride);
        }
    } while (l->n);
    return run;
}

static int add_runs(const struct gs_lattice *l, uint32_t d, gs_wide first, gs_wide run, struct gs_interval clip,
                    struct gs_rangeset *out)
{
    if (d == 0) {
        gs_wide begin = gs_greatest(first, clip.lo), end = gs_least(first + run, clip.hi);
        return begin < end ? gs_rangeset_add(out, (struct gs_range){(uint64_t)begin, (uint64_t)end}) : 0;
    }
    for (gs_wide i = 0; i < l->d[d - 1].count; i++) {
        int err = add_runs(l, d - 1, first + i * l->d[d - 1].stride, run, clip, out);
        if (err)
            return err;
    }
    return 0;
}

int gs_lattice_ranges(const struct gs_lattice *l, gs_wide run, struct gs_interval clip, struct gs_rangeset *out)
{
    if (clip.lo >= clip.hi)
        return 0;
    if (l->n == 0) {
        const int err = add_runs(l, 0, l->first, run, clip, out);
        return err ? err : 1;
    }
    /* First by themselves, in rising order: among ranges that are there each would move all that lie behind it. */
    struct gs_rangeset runs = {0};
    int err = add_runs(l, l->n, l->first, run, clip, &runs);
    if (!err)
        err = gs_rangeset_add_set(out, &runs);
    const int n = (int)runs.n;
    gs_rangeset_free(&runs);
    return err ? err : n;
}
