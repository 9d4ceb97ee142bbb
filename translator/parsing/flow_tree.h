/* SPDX-License-Identifier: MIT */
/* clang's tree, as the walks over it need it. */
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

/* Is it one of the expressions without a name of their own in clang's interface that are made of several, of which none
 * is its value: x ?: y, __builtin_choose_expr, atomics that aren't OpenCL's? (Conversions have none either, but one.)
 */
bool gs_is_compound(CXCursor e);

/* The one child of it that is an expression, the last where there are several; the null cursor where there is none, or
 * where gs_is_compound. */
CXCursor gs_inner(CXCursor e);

/* Without parentheses and implicit conversions around it, whatever they convert. */
CXCursor gs_strip(CXCursor e);

/* The variable that `e` names, itself or a member or an element of it, without going through a pointer; null if none.
 */
CXCursor gs_root_variable(struct gs_arena *arena, CXCursor e);

/* The function that a call names, in parentheses too: `(convert_int4)(x)`. What it is where it names none: not one. */
CXCursor gs_callee(struct gs_arena *arena, CXCursor call);

/* How many arguments a call has. */
unsigned gs_n_args(CXCursor call);

#endif
