/* SPDX-License-Identifier: MIT */
/* What a part surely writes. docs/access.md numbers the rules S1 ..., each with its proof; a construct without a rule
 * makes nothing sure. Shares only the values of nodes (eval_node.c) with the evaluation of what a part may touch; these
 * hold for every work-item and iteration within the variables' intervals. */
#ifndef GS_TRANSLATOR_EVALUATION_EVAL_SURE_H
#define GS_TRANSLATOR_EVALUATION_EVAL_SURE_H

#include "translator/evaluation/eval_state.h"

/* What is known on a level of contexts: a set of points, each a work-item of the part with a number of finished
 * iterations for each loop around, all of which come there. They are the box of the variables' intervals, cut by the
 * first `constraints` constraints. */
struct gs_sure_level {
    bool nothing;        /* no point is known */
    uint8_t item, group; /* bit d: a constraint or a cut speaks of the item, or of the group or local id, in d */
    uint8_t local;       /* bit d: of the local id */
    uint32_t constraints;
};

struct gs_sure {
    struct gs_eval *e;
    struct gs_sure_level at[GS_LEVELS];
    struct gs_constraint c[GS_MAX_CONSTRAINTS];
    uint32_t loops[GS_MAX_NESTING]; /* around the current level, from the outermost */
    uint32_t n_loops[GS_LEVELS];    /* how many, on each level */
};

/* Begins on the evaluation's root level, which all work-items of the part come to. */
void gs_sure_begin(struct gs_sure *s, struct gs_eval *e);

/* Enters a context below the current one: a new level of the evaluation, which gs_level_leave leaves again. */
void gs_sure_enter(struct gs_sure *s, const struct gs_scope *c);

/* Adds the bytes that the access surely writes and that lie within `within`. */
void gs_sure_add(struct gs_sure *s, const struct gs_access *a, struct gs_interval within, struct gs_rangeset *out);

#endif
