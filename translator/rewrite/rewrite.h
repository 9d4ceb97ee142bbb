/* SPDX-License-Identifier: MIT */
/* Gives functions their hidden argument. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_REWRITE_H
#define GS_TRANSLATOR_REWRITE_REWRITE_H

#include "translator/flow/flow.h"
#include "translator/parsing/source.h"

struct gs_rewrite {
    struct gs_flow *flow;
    struct gs_program *program;
    struct gs_arena *arena;
    struct gs_source *sources; /* one per unit */
    bool *needs;               /* per function: it takes the hidden argument */
    bool *called;              /* per function: another function calls it */
    const char *prefix;        /* begins all names that are added, and no word of the application */
    const char **guards;       /* per unit: lines of gs_guard_lines */
    bool changed;
    const char *refusal; /* why the program can't be rewritten, or NULL */
};

/* Finds out which functions need the hidden argument and makes all changes. `sources` has one element per unit. */
void gs_rewrite(struct gs_rewrite *r, struct gs_flow *flow, struct gs_source *sources);

/* The text of a unit after it. */
void gs_rewrite_render(struct gs_rewrite *r, uint32_t unit, struct gs_writer *out);

#endif
