/* SPDX-License-Identifier: MIT */
/* The values of a linear form over a box of variables, and the byte ranges that begin at them. Pure arithmetic: whether
 * each value is only possible or surely taken is for the callers to say (eval_set.c, eval_sure.c). */
#ifndef GS_TRANSLATOR_EVALUATION_EVAL_LATTICE_H
#define GS_TRANSLATOR_EVALUATION_EVAL_LATTICE_H

#include "translator/evaluation/eval_state.h"

/* An access with more ranges gets fewer and longer ones (the largest pictures' rows have as many). The limit is lower
 * once a part has many ranges in all, since each costs time whenever the shim looks which bytes are valid where. */
enum { GS_MAX_RANGES = 32768, GS_MAX_RANGES_THEN = 4096, GS_MANY_RANGES = 8 * GS_MAX_RANGES };

/* x = first + any of its strides times 0 .. count - 1; strides ascend. */
struct gs_lattice {
    gs_wide first;
    uint32_t n;
    struct {
        gs_wide stride, count;
    } d[GS_FORM_TERMS];
};

static inline gs_wide gs_least(gs_wide a, gs_wide b)
{
    return a < b ? a : b;
}

static inline gs_wide gs_greatest(gs_wide a, gs_wide b)
{
    return a > b ? a : b;
}

/* Adds factor * v for all v in the interval, which is not empty. */
void gs_lattice_add(struct gs_lattice *l, gs_wide factor, struct gs_interval v);

/* Adds all terms of the form with their variables' intervals, and its base. */
void gs_lattice_add_form(const struct gs_eval *e, struct gs_lattice *l, const struct gs_form *f);

/* Makes one run of bytes of the small strides and returns its length: exact while a stride is no longer than the run so
 * far. The rest stays in the lattice; where that is more than `most` values, more is made one run, and *exact false. */
gs_wide gs_lattice_run(struct gs_lattice *l, gs_wide bytes, gs_wide most, bool *exact);

/* Adds [x, x + run) for each x of the lattice, cut to [clip.lo, clip.hi). Returns the number of ranges, or -ENOMEM. */
int gs_lattice_ranges(const struct gs_lattice *l, gs_wide run, struct gs_interval clip, struct gs_rangeset *out);

/* Does the form take every integer between its least and its largest value? */
bool gs_form_is_gapless(const struct gs_eval *e, const struct gs_form *f);

/* The factor q with which f - q * c has fewer variables, or 0. */
int64_t gs_form_multiple(const struct gs_form *f, const struct gs_form *c);

bool gs_form_shares_variable(const struct gs_form *f, const struct gs_form *g);

#endif
