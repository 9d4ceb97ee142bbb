/* SPDX-License-Identifier: MIT */
/* Expressions that can be assigned to: variables, elements, members, components of vectors. */
#include "translator/access/access_build_place.h"

#include <string.h>

#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"

struct gs_value gs_move(struct gs_builder *b, const struct gs_value *pointer, uint32_t by)
{
    struct gs_value v = *pointer;
    if (v.kind != GS_V_POINTER)
        return v;
    v.place.offset = gs_node(b, GS_N_ADD, GS_I64, v.place.offset, by, 0);
    if (v.otherwise) {
        struct gs_value *other = gs_arena_alloc(&b->arena, 1, sizeof *other);
        if (!other) {
            gs_give_up(b, clang_getNullCursor(), "out of memory");
            return v;
        }
        *other = gs_move(b, v.otherwise, by);
        v.otherwise = other;
    }
    return v;
}

/* index * size as GS_I64; the index is an int of any type. */
static uint32_t scaled(struct gs_builder *b, const struct gs_value *index, uint32_t size, CXCursor at)
{
    uint32_t node = index->kind == GS_V_INT ? index->node : gs_node_opaque(b, GS_I64, at, "the index is not known");
    return gs_node(b, GS_N_MUL, GS_I64, gs_node_cast(b, GS_I64, node), gs_node_const(b, GS_I64, size), 0);
}

struct gs_value gs_move_by(struct gs_builder *b, const struct gs_value *pointer, const struct gs_value *index,
                           uint32_t size, bool back, CXCursor at)
{
    uint32_t by = scaled(b, index, size, at);
    if (back)
        by = gs_node(b, GS_N_SUB, GS_I64, gs_node_const(b, GS_I64, 0), by, 0);
    return gs_move(b, pointer, by);
}

uint32_t gs_child_expressions(struct gs_builder *b, CXCursor c, CXCursor *out, uint32_t most)
{
    struct gs_kids k = gs_kids(b, c);
    uint32_t n = 0;
    for (uint32_t i = 0; i < k.n; i++)
        if (clang_isExpression(k.v[i].kind) && n < most)
            out[n++] = k.v[i];
    return n;
}

/* The last, as the type before it may hold others: the 4 of (local float (*)[4])p. */
CXCursor gs_only_child(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c);
    for (uint32_t i = k.n; i-- > 0;)
        if (clang_isExpression(k.v[i].kind))
            return k.v[i];
    return clang_getNullCursor();
}

/* The text of `c` behind its child: ".xy" of a swizzle, nothing of an implicit cast. "" where it can't be read. */
static void text_behind(struct gs_builder *b, CXCursor c, CXCursor child, char *out, size_t size)
{
    (void)b;
    out[0] = 0;
    CXFile f1, f2;
    unsigned from, to;
    clang_getSpellingLocation(clang_getRangeEnd(clang_getCursorExtent(child)), &f1, NULL, NULL, &from);
    clang_getSpellingLocation(clang_getRangeEnd(clang_getCursorExtent(c)), &f2, NULL, NULL, &to);
    if (!f1 || !f2 || !clang_File_isEqual(f1, f2) || to <= from)
        return;
    size_t bytes, n = 0;
    const char *text = clang_getFileContents(clang_Cursor_getTranslationUnit(c), f1, &bytes);
    if (!text || to > bytes || to - from > 64)
        return;
    for (unsigned i = from; i < to; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && n + 1 < size)
            out[n++] = text[i];
    out[n] = 0;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads ".xyzw", ".s03", ".lo", ".even", … of a vector of `count`. The number of components, 0 where it is none. */
static uint32_t read_swizzle(const char *s, uint32_t count, uint8_t *parts)
{
    if (*s == '.')
        s++;
    else if (s[0] == '-' && s[1] == '>')
        s += 2;
    else
        return 0;
    uint32_t half = count == 3 ? 2 : count / 2, n = 0;
    if (strcmp(s, "lo") == 0 || strcmp(s, "hi") == 0 || strcmp(s, "even") == 0 || strcmp(s, "odd") == 0) {
        for (uint32_t i = 0; i < half; i++)
            parts[n++] = (uint8_t)(*s == 'l' ? i : *s == 'h' ? i + half : *s == 'e' ? 2 * i : 2 * i + 1);
        return n;
    }
    bool numbered = (*s == 's' || *s == 'S') && s[1];
    for (s += numbered; *s && n < 16; s++) {
        const char *names = "xyzw", *colors = "rgba";
        const char *at = strchr(names, *s) ? strchr(names, *s) : NULL;
        const char *color = strchr(colors, *s);
        int part = numbered ? hex_digit(*s) : at ? (int)(at - names) : color ? (int)(color - colors) : -1;
        if (part < 0 || (uint32_t)part >= (count == 3 ? 4 : count))
            return 0;
        parts[n++] = (uint8_t)part;
    }
    return *s ? 0 : n;
}

/* Stand both in the text itself, not in a macro, and end at the same place? */
static bool ends_with(CXCursor c, CXCursor child)
{
    unsigned at[2][2];
    CXFile file[2];
    CXCursor v[2] = {c, child};
    for (unsigned i = 0; i < 2; i++) {
        CXSourceRange range = clang_getCursorExtent(v[i]);
        unsigned begin, spelled;
        clang_getSpellingLocation(clang_getRangeStart(range), NULL, NULL, NULL, &spelled);
        clang_getExpansionLocation(clang_getRangeStart(range), NULL, NULL, NULL, &begin);
        clang_getSpellingLocation(clang_getRangeEnd(range), &file[i], NULL, NULL, &at[i][0]);
        clang_getExpansionLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &at[i][1]);
        if (spelled != begin || at[i][0] != at[i][1])
            return false;
    }
    return file[0] && file[1] && clang_File_isEqual(file[0], file[1]) && at[0][0] == at[1][0];
}

/* Is c, an UnexposedExpr, a vector's component or several? Then *vector says of which type its child is. */
bool gs_is_swizzle(struct gs_builder *b, CXCursor c, CXCursor child, struct gs_type *vector, uint8_t *parts,
                   uint32_t *n, bool *unclear)
{
    struct gs_type whole = gs_type_of_cursor(child), t = gs_type_of_cursor(c);
    *vector = gs_type_is_address(&whole) ? gs_type_pointee(&whole) : whole;
    if (vector->class != GS_T_VECTOR || (t.class != GS_T_VECTOR && t.class != GS_T_INT && t.class != GS_T_FLOAT))
        return false;
    char text[32];
    text_behind(b, c, child, text, sizeof text);
    *n = read_swizzle(text, vector->count, parts);
    uint32_t wanted = t.class == GS_T_VECTOR ? t.count : 1;
    *unclear = *n != wanted;
    if (!*unclear)
        return true;
    /* A conversion keeps the number of components; whatever changes it is a swizzle that can't be read. One within a
     * macro that keeps it looks like a conversion: unless clang says that the types differ by nothing at all. */
    if (t.class != GS_T_VECTOR || t.count != vector->count)
        return true;
    if (gs_type_is_address(&whole) || (text[0] == '.' && text[1]))
        return true;
    return clang_equalTypes(clang_getCursorType(c), clang_getCursorType(child)) != 0 && !ends_with(c, child);
}

static struct gs_lvalue place_target(struct gs_value pointer, struct gs_type type)
{
    return (struct gs_lvalue){.pointer = pointer, .type = type, .result = type};
}

static struct gs_value unknown_pointer(struct gs_builder *b)
{
    return gs_pointer((struct gs_place){GS_B_UNKNOWN, 0, gs_node_const(b, GS_I64, 0)});
}

struct gs_lvalue gs_locate_variable(struct gs_builder *b, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c);
    const struct gs_variable *v = gs_variable_find(b, decl);
    if (v)
        return place_target(gs_pointer(v->place), t);
    if (decl.kind != CXCursor_VarDecl && decl.kind != CXCursor_ParmDecl)
        return place_target(gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)}), t);
    unsigned space = clang_getAddressSpace(clang_getCursorType(decl));
    bool fixed = space == GS_AS_CONSTANT || clang_isConstQualifiedType(clang_getCursorType(decl));
    if (space == GS_AS_LOCAL)
        return place_target(gs_pointer((struct gs_place){GS_B_LOCAL, 0, gs_node_const(b, GS_I64, 0)}), t);
    if (!fixed)
        gs_give_up(b, c, "it uses a variable of the program that outlives a launch");
    return place_target(gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)}), t);
}

static struct gs_lvalue locate_subscript(struct gs_builder *b, CXCursor c)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    if (gs_child_expressions(b, c, kid, 2) != 2)
        return place_target(unknown_pointer(b), t);
    struct gs_type first = gs_type_of_cursor(kid[0]);
    if (first.class == GS_T_VECTOR) { /* one component, which one can't be told */
        struct gs_lvalue whole = gs_locate(b, kid[0]);
        gs_eval(b, kid[1], true);
        whole.swizzled = whole.unclear = true;
        whole.result = t;
        return whole;
    }
    bool swapped = !gs_type_is_address(&first);
    struct gs_value pointer = gs_eval(b, kid[swapped], true), index = gs_eval(b, kid[!swapped], true);
    if (pointer.kind == GS_V_RECORD)
        pointer = gs_pointer(pointer.place);
    return place_target(gs_move_by(b, &pointer, &index, t.size, false, c), t);
}

static struct gs_lvalue locate_member(struct gs_builder *b, CXCursor c)
{
    CXCursor child = gs_only_child(b, c), field = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c), base = gs_type_of_cursor(child);
    long long bits = clang_Cursor_getOffsetOfField(field);
    struct gs_value pointer = gs_type_is_address(&base) ? gs_eval(b, child, true) : gs_locate(b, child).pointer;
    if (bits < 0 || bits % 8 != 0 || clang_Cursor_isBitField(field)) { /* which shares its bytes with others */
        gs_give_up(b, c, "a member's place in its struct is not known");
        return place_target(unknown_pointer(b), t);
    }
    return place_target(gs_move(b, &pointer, gs_node_const(b, GS_I64, bits / 8)), t);
}

/* A value that has no place gets one. */
static struct gs_lvalue locate_value(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    struct gs_value v = gs_eval(b, c, true);
    if (v.kind == GS_V_RECORD)
        return place_target(gs_pointer(v.place), t);
    if (t.class == GS_T_ARRAY) /* an address, computed from a parameter that was written as an array */
        return place_target(v, t);
    uint32_t object = gs_private_new(b, t.size);
    if (!b->failed)
        gs_private_init(b, object, &t, &v, c);
    return place_target(gs_pointer(gs_private_place(b, object)), t);
}

struct gs_lvalue gs_locate_swizzle(struct gs_builder *b, CXCursor c, CXCursor child)
{
    struct gs_lvalue s = {0};
    struct gs_type child_type = gs_type_of_cursor(child);
    struct gs_lvalue whole;
    if (gs_type_is_address(&child_type))
        whole = place_target(gs_eval(b, child, true), gs_type_pointee(&child_type));
    else
        whole = gs_locate(b, child);
    struct gs_type vector;
    gs_is_swizzle(b, c, child, &vector, s.parts, &s.n, &s.unclear);
    s.pointer = whole.pointer;
    s.type = whole.type;
    s.swizzled = true;
    s.result = gs_type_of_cursor(c);
    if (whole.swizzled) { /* v.zw.x */
        s.unclear |= whole.unclear;
        for (uint32_t i = 0; i < s.n && !s.unclear; i++)
            s.parts[i] = s.parts[i] < whole.n ? whole.parts[s.parts[i]] : 0;
    }
    return s;
}

struct gs_lvalue gs_locate(struct gs_builder *b, CXCursor c)
{
    if (!gs_step(b, c))
        return place_target(unknown_pointer(b), gs_type_of_cursor(c));
    CXCursor child;
    switch (c.kind) {
    case CXCursor_DeclRefExpr:
        return gs_locate_variable(b, c);
    case CXCursor_ParenExpr:
        return gs_locate(b, gs_only_child(b, c));
    case CXCursor_ArraySubscriptExpr:
        return locate_subscript(b, c);
    case CXCursor_MemberRefExpr:
        return locate_member(b, c);
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref)
            return place_target(gs_eval(b, gs_only_child(b, c), true), gs_type_of_cursor(c));
        return locate_value(b, c);
    case CXCursor_UnexposedExpr: {
        struct gs_type vector;
        uint8_t parts[16];
        uint32_t n;
        bool unclear;
        child = gs_only_child(b, c);
        if (clang_Cursor_isNull(child) || gs_is_compound(c))
            return locate_value(b, c);
        if (gs_is_swizzle(b, c, child, &vector, parts, &n, &unclear))
            return gs_locate_swizzle(b, c, child);
        struct gs_type t = gs_type_of_cursor(c), from = gs_type_of_cursor(child);
        if (t.class == from.class && t.size == from.size && t.class != GS_T_VECTOR) {
            struct gs_lvalue whole = gs_locate(b, child);
            whole.type = whole.swizzled ? whole.type : t;
            return whole;
        }
        return locate_value(b, c);
    }
    default:
        return locate_value(b, c);
    }
}

struct gs_value gs_lvalue_load(struct gs_builder *b, const struct gs_lvalue *t, CXCursor at)
{
    struct gs_value whole = gs_load(b, &t->pointer, &t->type, at);
    if (!t->swizzled)
        return whole;
    if (t->unclear || whole.kind != GS_V_VECTOR)
        return gs_opaque_value(b, &t->result, at, "a vector's component is not known");
    struct gs_value v = {.kind = GS_V_VECTOR, .n = t->n};
    for (uint32_t i = 0; i < t->n; i++)
        v.parts[i] = t->parts[i] < whole.n ? whole.parts[t->parts[i]]
                                           : gs_node_opaque(b, t->type.int_type, at, "an undefined component");
    return t->result.class == GS_T_VECTOR ? v : gs_int(v.parts[0]);
}

/* Compilers store the whole vector where a component is assigned: the others are read and written back. */
void gs_lvalue_store(struct gs_builder *b, const struct gs_lvalue *t, const struct gs_value *v, CXCursor at)
{
    if (t->result.class == GS_T_ARRAY || t->result.class == GS_T_OTHER) {
        if (t->result.class == GS_T_ARRAY)
            gs_give_up(b, at, "it changes a parameter that is declared as an array");
        return;
    }
    if (!t->swizzled) {
        gs_store(b, &t->pointer, &t->type, v, at);
        return;
    }
    struct gs_value whole = gs_load(b, &t->pointer, &t->type, at);
    if (t->unclear)
        whole = gs_opaque_value(b, &t->type, at, "a vector's component is not known");
    for (uint32_t i = 0; i < t->n && whole.kind == GS_V_VECTOR && !t->unclear; i++) {
        if (t->parts[i] >= whole.n)
            continue;
        uint32_t part = v->kind == GS_V_VECTOR && i < v->n ? v->parts[i]
                        : v->kind == GS_V_INT              ? v->node
                                              : gs_node_opaque(b, t->type.int_type, at, "its value is not known");
        whole.parts[t->parts[i]] = gs_node_cast(b, t->type.int_type, part);
    }
    struct gs_type type = t->type;
    type.partly = true;
    gs_store(b, &t->pointer, &type, &whole, at);
}
