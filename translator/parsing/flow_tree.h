/* SPDX-License-Identifier: MIT */
/* Access to clang's tree, for the walks over it. */
#ifndef GS_TRANSLATOR_PARSING_FLOW_TREE_H
#define GS_TRANSLATOR_PARSING_FLOW_TREE_H

#include <stdbool.h>

#include <clang-c/Index.h>

#include "translator/summary/arena.h"

/* The children of a cursor in the order of the text. */
struct gs_children {
    CXCursor v[8];
    unsigned n;
    struct gs_arena *arena;
    CXCursor *more; /* all of them, where there are more than 8 */
    unsigned cap;
};

void gs_children(struct gs_arena *arena, CXCursor c, struct gs_children *k);

static inline CXCursor gs_child(const struct gs_children *k, unsigned i)
{
    return k->n > 8 ? k->more[i] : k->v[i];
}

/* Is the expression of a kind that clang's interface doesn't name, with several children of which none alone is its
 * value: x ?: y, __builtin_choose_expr, atomics that aren't OpenCL's? (Conversions have no name either, but one
 * child.) */
bool gs_is_compound(CXCursor e);

/* The expression's child that is an expression, the last if there are several; the null cursor if there is none, or if
 * gs_is_compound. */
CXCursor gs_inner(CXCursor e);

/* The expression without parentheses and implicit conversions around it. */
CXCursor gs_strip(CXCursor e);

/* The variable that `e` names, itself or a member or an element of it, without going through a pointer; null if none.
 */
CXCursor gs_root_variable(struct gs_arena *arena, CXCursor e);

/* The function that a call names, also in parentheses: `(convert_int4)(x)`. Of other calls, a cursor of no function. */
CXCursor gs_callee(struct gs_arena *arena, CXCursor call);

/* How many arguments a call has. */
unsigned gs_n_args(CXCursor call);

#endif
