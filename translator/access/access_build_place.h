/* SPDX-License-Identifier: MIT */
/* Expressions that can be assigned to, between access_build_place.c and access_build_expr.c. */
#ifndef GS_TRANSLATOR_ACCESS_ACCESS_BUILD_PLACE_H
#define GS_TRANSLATOR_ACCESS_ACCESS_BUILD_PLACE_H

#include "translator/access/access_build_state.h"

/* An assignable place: its pointer, and in a vector the components that are meant. */
struct gs_lvalue {
    struct gs_value pointer;
    struct gs_type type;   /* of the whole thing at the pointer */
    bool swizzled;         /* only `parts` of the vector */
    bool unclear;          /* parts that can't be told */
    struct gs_type result; /* of the parts */
    uint32_t n;
    uint8_t parts[16];
};

struct gs_lvalue gs_locate(struct gs_builder *b, CXCursor c);
struct gs_lvalue gs_locate_variable(struct gs_builder *b, CXCursor c);
struct gs_lvalue gs_locate_swizzle(struct gs_builder *b, CXCursor c, CXCursor child);
struct gs_value gs_lvalue_load(struct gs_builder *b, const struct gs_lvalue *t, CXCursor at);
void gs_lvalue_store(struct gs_builder *b, const struct gs_lvalue *t, const struct gs_value *v, CXCursor at);

/* Is c, an UnexposedExpr, a vector's component or several? Then *vector says of which type its child is. */
bool gs_is_swizzle(struct gs_builder *b, CXCursor c, CXCursor child, struct gs_type *vector, uint8_t *parts,
                   uint32_t *n, bool *unclear);

/* The pointer moved by an index, or back by it, of elements of `size` bytes. */
struct gs_value gs_move_by(struct gs_builder *b, const struct gs_value *pointer, const struct gs_value *index,
                           uint32_t size, bool back, CXCursor at);

/* The child expressions: copies the first `most`, and returns their number; the only child, or the null cursor. */
uint32_t gs_child_expressions(struct gs_builder *b, CXCursor c, CXCursor *out, uint32_t most);
CXCursor gs_only_child(struct gs_builder *b, CXCursor c);

#endif
