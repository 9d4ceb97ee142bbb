/* SPDX-License-Identifier: MIT */
/* Expressions of OpenCL C, evaluated symbolically. */
#include "translator/access_build_state.h"

#include <string.h>

/* ---- conversions ---- */

uint32_t gs_truth(struct gs_builder *b, const struct gs_value *v, CXCursor at)
{
    if (v->kind != GS_V_INT)
        return gs_node_opaque(b, GS_I32, at, "the condition is not one of integers");
    const struct gs_node *n = &b->nodes[v->node];
    int64_t c;
    if (gs_node_is_const(b, v->node, &c))
        return gs_node_const(b, GS_I32, c != 0);
    if (n->op == GS_N_CAST && b->nodes[n->a].op >= GS_N_EQ)
        return n->a;
    return v->node;
}

static struct gs_value convert_int(struct gs_builder *b, uint32_t node, const struct gs_type *to, CXCursor at)
{
    if (to->class == GS_T_INT && to->is_bool) {
        struct gs_value v = gs_int(node);
        uint32_t truth = gs_node_not(b, gs_node_not(b, gs_truth(b, &v, at)));
        return gs_int(gs_node_cast(b, GS_U8, truth));
    }
    if (to->class == GS_T_INT)
        return gs_int(gs_node_cast(b, to->int_type, node));
    if (to->class == GS_T_VECTOR && to->of_ints) {
        struct gs_value v = {.kind = GS_V_VECTOR, .n = to->count};
        for (uint32_t i = 0; i < v.n; i++)
            v.parts[i] = gs_node_cast(b, to->int_type, node);
        return v;
    }
    int64_t c;
    if (to->class == GS_T_POINTER && gs_node_is_const(b, node, &c) && c == 0)
        return gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)});
    return gs_opaque_value(b, to, at, "it is converted from an integer");
}

struct gs_value gs_convert(struct gs_builder *b, const struct gs_value *v, const struct gs_type *from,
                           const struct gs_type *to, CXCursor at)
{
    if (v->kind == GS_V_INT)
        return convert_int(b, v->node, to, at);
    if (v->kind == GS_V_POINTER) {
        if (to->class == GS_T_POINTER)
            return *v;
        if (to->class == GS_T_INT && !to->is_bool)
            gs_escape(b, v);
        return gs_opaque_value(b, to, at, "it is computed from an address");
    }
    if (v->kind == GS_V_VECTOR && to->class == GS_T_VECTOR && to->of_ints && to->count == v->n) {
        struct gs_value r = *v;
        for (uint32_t i = 0; i < r.n; i++)
            r.parts[i] = gs_node_cast(b, to->int_type, v->parts[i]);
        return r;
    }
    if (v->kind == GS_V_RECORD && to->class == GS_T_RECORD)
        return *v;
    if (v->kind == GS_V_RECORD && to->class == GS_T_ARRAY)
        return *v;
    if (v->kind == GS_V_RECORD && to->class == GS_T_POINTER)
        return gs_pointer(v->place);
    if (to->class == GS_T_VOID || to->class == GS_T_FLOAT || (to->class == GS_T_VECTOR && !to->of_ints))
        return gs_any();
    return gs_opaque_value(b, to, at,
                           from->class == GS_T_FLOAT || from->class == GS_T_VECTOR ? "it is computed in floating point"
                                                                                   : "its value is not known");
}

/* ---- places ---- */

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

static struct gs_value move_by(struct gs_builder *b, const struct gs_value *pointer, const struct gs_value *index,
                               uint32_t size, bool back, CXCursor at)
{
    uint32_t by = scaled(b, index, size, at);
    if (back)
        by = gs_node(b, GS_N_SUB, GS_I64, gs_node_const(b, GS_I64, 0), by, 0);
    return gs_move(b, pointer, by);
}

/* Something that can be assigned to: where it lies, and which components of a vector there it means. */
struct target {
    struct gs_value pointer;
    struct gs_type type;   /* of the whole thing at the pointer */
    bool swizzled;         /* only `parts` of the vector */
    bool unclear;          /* parts that can't be told */
    struct gs_type result; /* of the parts */
    uint32_t n;
    uint8_t parts[16];
};

static struct target locate(struct gs_builder *b, CXCursor c);

static uint32_t child_expressions(struct gs_builder *b, CXCursor c, CXCursor *out, uint32_t most)
{
    struct gs_kids k = gs_kids(b, c);
    uint32_t n = 0;
    for (uint32_t i = 0; i < k.n; i++)
        if (clang_isExpression(k.v[i].kind) && n < most)
            out[n++] = k.v[i];
    return n;
}

static CXCursor only_child(struct gs_builder *b, CXCursor c)
{
    CXCursor out[1] = {clang_getNullCursor()};
    child_expressions(b, c, out, 1);
    return out[0];
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
static bool is_swizzle(struct gs_builder *b, CXCursor c, CXCursor child, struct gs_type *vector, uint8_t *parts,
                       uint32_t *n, bool *unclear)
{
    struct gs_type whole = gs_type_of_cursor(child), t = gs_type_of_cursor(c);
    *vector = whole.class == GS_T_POINTER ? gs_type_pointee(&whole) : whole;
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
    if (whole.class == GS_T_POINTER || (text[0] == '.' && text[1]))
        return true;
    return clang_equalTypes(clang_getCursorType(c), clang_getCursorType(child)) != 0 && !ends_with(c, child);
}

static struct target place_target(struct gs_value pointer, struct gs_type type)
{
    return (struct target){.pointer = pointer, .type = type, .result = type};
}

static struct gs_value unknown_pointer(struct gs_builder *b)
{
    return gs_pointer((struct gs_place){GS_B_UNKNOWN, 0, gs_node_const(b, GS_I64, 0)});
}

static struct target locate_variable(struct gs_builder *b, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c);
    const struct gs_variable *v = gs_variable_find(b, decl);
    if (v)
        return place_target(gs_pointer(v->place), t);
    if (decl.kind != CXCursor_VarDecl && decl.kind != CXCursor_ParmDecl)
        return place_target(gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)}), t);
    unsigned space = clang_getAddressSpace(clang_getCursorType(decl));
    bool fixed = space == GS_SPACE_CONSTANT || clang_isConstQualifiedType(clang_getCursorType(decl));
    if (space == GS_SPACE_LOCAL)
        return place_target(gs_pointer((struct gs_place){GS_B_LOCAL, 0, gs_node_const(b, GS_I64, 0)}), t);
    if (!fixed)
        gs_give_up(b, c, "it uses a variable of the program that outlives a launch");
    return place_target(gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)}), t);
}

static struct target locate_subscript(struct gs_builder *b, CXCursor c)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    if (child_expressions(b, c, kid, 2) != 2)
        return place_target(unknown_pointer(b), t);
    struct gs_type first = gs_type_of_cursor(kid[0]);
    if (first.class == GS_T_VECTOR) { /* one component, which one can't be told */
        struct target whole = locate(b, kid[0]);
        gs_eval(b, kid[1], true);
        whole.swizzled = whole.unclear = true;
        whole.result = t;
        return whole;
    }
    bool swapped = first.class != GS_T_POINTER && first.class != GS_T_ARRAY;
    struct gs_value pointer = gs_eval(b, kid[swapped], true), index = gs_eval(b, kid[!swapped], true);
    if (pointer.kind == GS_V_RECORD) /* a parameter that was written as an array */
        pointer = gs_pointer(pointer.place);
    return place_target(move_by(b, &pointer, &index, t.size, false, c), t);
}

static struct target locate_member(struct gs_builder *b, CXCursor c)
{
    CXCursor child = only_child(b, c), field = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c), base = gs_type_of_cursor(child);
    long long bits = clang_Cursor_getOffsetOfField(field);
    struct gs_value pointer = base.class == GS_T_POINTER ? gs_eval(b, child, true) : locate(b, child).pointer;
    if (bits < 0 || bits % 8 != 0) {
        gs_give_up(b, c, "a member's place in its struct is not known");
        return place_target(unknown_pointer(b), t);
    }
    return place_target(gs_move(b, &pointer, gs_node_const(b, GS_I64, bits / 8)), t);
}

/* A value that has no place gets one. */
static struct target locate_value(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    struct gs_value v = gs_eval(b, c, true);
    if (v.kind == GS_V_RECORD)
        return place_target(gs_pointer(v.place), t);
    uint32_t object = gs_private_new(b, t.size);
    if (!b->failed)
        gs_private_init(b, object, &t, &v, c);
    return place_target(gs_pointer(gs_private_place(b, object)), t);
}

static struct target locate_swizzle(struct gs_builder *b, CXCursor c, CXCursor child)
{
    struct target s = {0};
    struct gs_type child_type = gs_type_of_cursor(child);
    struct target whole;
    if (child_type.class == GS_T_POINTER)
        whole = place_target(gs_eval(b, child, true), gs_type_pointee(&child_type));
    else
        whole = locate(b, child);
    struct gs_type vector;
    is_swizzle(b, c, child, &vector, s.parts, &s.n, &s.unclear);
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

static struct target locate(struct gs_builder *b, CXCursor c)
{
    if (!gs_step(b, c))
        return place_target(unknown_pointer(b), gs_type_of_cursor(c));
    CXCursor child;
    switch (c.kind) {
    case CXCursor_DeclRefExpr:
        return locate_variable(b, c);
    case CXCursor_ParenExpr:
        return locate(b, only_child(b, c));
    case CXCursor_ArraySubscriptExpr:
        return locate_subscript(b, c);
    case CXCursor_MemberRefExpr:
        return locate_member(b, c);
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref)
            return place_target(gs_eval(b, only_child(b, c), true), gs_type_of_cursor(c));
        return locate_value(b, c);
    case CXCursor_UnexposedExpr: {
        struct gs_type vector;
        uint8_t parts[16];
        uint32_t n;
        bool unclear;
        child = only_child(b, c);
        if (clang_Cursor_isNull(child))
            return locate_value(b, c);
        if (is_swizzle(b, c, child, &vector, parts, &n, &unclear))
            return locate_swizzle(b, c, child);
        struct gs_type t = gs_type_of_cursor(c), from = gs_type_of_cursor(child);
        if (t.class == from.class && t.size == from.size && t.class != GS_T_VECTOR) {
            struct target whole = locate(b, child);
            whole.type = whole.swizzled ? whole.type : t;
            return whole;
        }
        return locate_value(b, c);
    }
    default:
        return locate_value(b, c);
    }
}

static struct gs_value load_target(struct gs_builder *b, const struct target *t, CXCursor at)
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
static void store_target(struct gs_builder *b, const struct target *t, const struct gs_value *v, CXCursor at)
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
    gs_store(b, &t->pointer, &t->type, &whole, at);
}

/* ---- operators ---- */

static uint32_t int_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, uint8_t type, uint32_t x, uint32_t y)
{
    static const uint8_t ops[] = {
        [CXBinaryOperator_Mul] = GS_N_MUL, [CXBinaryOperator_Div] = GS_N_DIV, [CXBinaryOperator_Rem] = GS_N_REM,
        [CXBinaryOperator_Add] = GS_N_ADD, [CXBinaryOperator_Sub] = GS_N_SUB, [CXBinaryOperator_Shl] = GS_N_SHL,
        [CXBinaryOperator_Shr] = GS_N_SHR, [CXBinaryOperator_And] = GS_N_AND, [CXBinaryOperator_Xor] = GS_N_XOR,
        [CXBinaryOperator_Or] = GS_N_OR,
    };
    bool shift = op == CXBinaryOperator_Shl || op == CXBinaryOperator_Shr;
    x = gs_node_cast(b, type, x);
    if (!shift)
        y = gs_node_cast(b, type, y);
    return gs_node(b, ops[op], type, x, y, 0);
}

static uint32_t int_compare(struct gs_builder *b, enum CXBinaryOperatorKind op, uint32_t x, uint32_t y)
{
    uint8_t type = b->nodes[x].type;
    y = gs_node_cast(b, type, y);
    switch (op) {
    case CXBinaryOperator_LT:
        return gs_node(b, GS_N_LT, GS_I32, x, y, 0);
    case CXBinaryOperator_GT:
        return gs_node(b, GS_N_LT, GS_I32, y, x, 0);
    case CXBinaryOperator_LE:
        return gs_node(b, GS_N_LE, GS_I32, x, y, 0);
    case CXBinaryOperator_GE:
        return gs_node(b, GS_N_LE, GS_I32, y, x, 0);
    case CXBinaryOperator_EQ:
        return gs_node(b, GS_N_EQ, GS_I32, x, y, 0);
    default:
        return gs_node_not(b, gs_node(b, GS_N_EQ, GS_I32, x, y, 0));
    }
}

static bool is_compare(enum CXBinaryOperatorKind op)
{
    return op >= CXBinaryOperator_LT && op <= CXBinaryOperator_NE;
}

static bool is_arithmetic(enum CXBinaryOperatorKind op)
{
    return (op >= CXBinaryOperator_Mul && op <= CXBinaryOperator_Shr) ||
           (op >= CXBinaryOperator_And && op <= CXBinaryOperator_Or);
}

static const char *float_reason(const struct gs_value *x, const struct gs_value *y)
{
    return x->kind == GS_V_ANY || y->kind == GS_V_ANY ? "it is computed in floating point" : "its value is not known";
}

struct gs_value gs_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, const struct gs_type *t,
                          const struct gs_value *x, const struct gs_value *y, CXCursor at)
{
    if (x->kind == GS_V_INT && y->kind == GS_V_INT) {
        if (is_compare(op))
            return gs_int(int_compare(b, op, x->node, y->node));
        if (is_arithmetic(op) && t->class == GS_T_INT)
            return gs_int(int_binary(b, op, t->int_type, x->node, y->node));
    }
    if (t->class == GS_T_VECTOR && t->of_ints && is_arithmetic(op)) {
        struct gs_value v = {.kind = GS_V_VECTOR, .n = t->count};
        for (uint32_t i = 0; i < v.n; i++) {
            bool known_x = x->kind == GS_V_INT || (x->kind == GS_V_VECTOR && i < x->n);
            bool known_y = y->kind == GS_V_INT || (y->kind == GS_V_VECTOR && i < y->n);
            if (known_x && known_y)
                v.parts[i] = int_binary(b, op, t->int_type, x->kind == GS_V_INT ? x->node : x->parts[i],
                                        y->kind == GS_V_INT ? y->node : y->parts[i]);
            else
                v.parts[i] = gs_node_opaque(b, t->int_type, at, float_reason(x, y));
        }
        return v;
    }
    return gs_opaque_value(b, t, at, float_reason(x, y));
}

static struct gs_value pointer_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, CXCursor c,
                                      const struct gs_value *x, const struct gs_type *tx, const struct gs_value *y,
                                      const struct gs_type *ty)
{
    struct gs_type t = gs_type_of_cursor(c);
    if (tx->class == GS_T_POINTER && ty->class == GS_T_POINTER) {
        bool same = op == CXBinaryOperator_Sub && x->kind == GS_V_POINTER && y->kind == GS_V_POINTER && !x->otherwise &&
                    !y->otherwise && x->place.base == y->place.base && x->place.index == y->place.index &&
                    x->place.base != GS_B_UNKNOWN;
        uint32_t size = gs_type_pointee(tx).size;
        if (!same || size == 0)
            return gs_opaque_value(b, &t, c, "it is computed from addresses");
        uint32_t way = gs_node(b, GS_N_SUB, GS_I64, x->place.offset, y->place.offset, 0);
        return gs_int(gs_node(b, GS_N_DIV, GS_I64, way, gs_node_const(b, GS_I64, size), 0));
    }
    if (tx->class == GS_T_POINTER)
        return move_by(b, x, y, gs_type_pointee(tx).size, op == CXBinaryOperator_Sub, c);
    return move_by(b, y, x, gs_type_pointee(ty).size, false, c);
}

/* Evaluates `c` where `condition` is as `truth` says. Leaves the state as it was; *after has what c changed. */
static struct gs_value eval_under(struct gs_builder *b, uint32_t condition, bool truth, CXCursor c, bool want_result,
                                  struct gs_snapshot *after)
{
    uint32_t outside = b->context, mark = b->n_trail;
    gs_scope_push(b, GS_C_GUARD, condition, truth);
    struct gs_value v = gs_eval(b, c, want_result);
    *after = gs_snapshot(b, mark);
    gs_rollback(b, mark);
    b->context = outside;
    return v;
}

static struct gs_value eval_logical(struct gs_builder *b, CXCursor c, CXCursor left, CXCursor right, bool is_and)
{
    struct gs_value x = gs_eval(b, left, true);
    uint32_t truth = gs_truth(b, &x, left);
    int64_t known;
    if (gs_node_is_const(b, truth, &known) && (known != 0) != is_and)
        return gs_int(gs_node_const(b, GS_I32, known != 0));
    struct gs_snapshot ran, not_run = {0};
    struct gs_value y = eval_under(b, truth, is_and, right, true, &ran);
    if (is_and)
        gs_apply_joined(b, truth, &ran, &not_run);
    else
        gs_apply_joined(b, truth, &not_run, &ran);
    uint32_t other = gs_truth(b, &y, right);
    (void)c;
    return gs_int(gs_node(b, is_and ? GS_N_LAND : GS_N_LOR, GS_I32, truth, other, 0));
}

static struct gs_value eval_conditional(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor kid[3];
    struct gs_type t = gs_type_of_cursor(c);
    if (child_expressions(b, c, kid, 3) != 3) {
        gs_give_up(b, c, "it uses a form of the conditional operator that the analysis doesn't know");
        return gs_any();
    }
    struct gs_value condition = gs_eval(b, kid[0], true);
    if (gs_type_of_cursor(kid[0]).class == GS_T_VECTOR) {
        gs_eval(b, kid[1], true);
        gs_eval(b, kid[2], true);
        return gs_opaque_value(b, &t, c, "it is selected by a vector's components");
    }
    uint32_t truth = gs_truth(b, &condition, kid[0]);
    int64_t known;
    if (gs_node_is_const(b, truth, &known))
        return gs_eval(b, kid[known ? 1 : 2], want_result);
    struct gs_snapshot yes, no;
    struct gs_value x = eval_under(b, truth, true, kid[1], want_result, &yes);
    struct gs_value y = eval_under(b, truth, false, kid[2], want_result, &no);
    gs_apply_joined(b, truth, &yes, &no);
    return gs_join(b, truth, &x, &y);
}

static struct gs_value eval_assign(struct gs_builder *b, CXCursor left, CXCursor right)
{
    struct gs_type from = gs_type_of_cursor(right);
    struct gs_value v = gs_eval(b, right, true);
    struct target t = locate(b, left);
    v = gs_convert(b, &v, &from, &t.result, right);
    store_target(b, &t, &v, left);
    return v;
}

/* x op= y. The operation takes place in the type that both are promoted to. */
static struct gs_value eval_compound_assign(struct gs_builder *b, CXCursor c)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    if (child_expressions(b, c, kid, 2) != 2)
        return gs_opaque_value(b, &t, c, "its value is not known");
    static const enum CXBinaryOperatorKind plain[] = {
        [CXBinaryOperator_MulAssign] = CXBinaryOperator_Mul, [CXBinaryOperator_DivAssign] = CXBinaryOperator_Div,
        [CXBinaryOperator_RemAssign] = CXBinaryOperator_Rem, [CXBinaryOperator_AddAssign] = CXBinaryOperator_Add,
        [CXBinaryOperator_SubAssign] = CXBinaryOperator_Sub, [CXBinaryOperator_ShlAssign] = CXBinaryOperator_Shl,
        [CXBinaryOperator_ShrAssign] = CXBinaryOperator_Shr, [CXBinaryOperator_AndAssign] = CXBinaryOperator_And,
        [CXBinaryOperator_XorAssign] = CXBinaryOperator_Xor, [CXBinaryOperator_OrAssign] = CXBinaryOperator_Or,
    };
    enum CXBinaryOperatorKind op = plain[clang_getCursorBinaryOperatorKind(c)];
    struct gs_type right = gs_type_of_cursor(kid[1]);
    struct gs_value y = gs_eval(b, kid[1], true);
    struct target target = locate(b, kid[0]);
    struct gs_value x = load_target(b, &target, kid[0]), v;
    if (t.class == GS_T_POINTER) {
        v = move_by(b, &x, &y, gs_type_pointee(&t).size, op == CXBinaryOperator_Sub, c);
    } else if (t.class == GS_T_INT && right.class == GS_T_INT) {
        uint8_t wide = t.int_type < GS_I32 ? GS_I32 : t.int_type;
        bool shift = op == CXBinaryOperator_Shl || op == CXBinaryOperator_Shr;
        if (!shift && right.int_type > wide)
            wide = right.int_type;
        struct gs_type in = {.class = GS_T_INT, .int_type = wide, .size = gs_int_bits(wide) / 8};
        v = gs_binary(b, op, &in, &x, &y, c);
        v = gs_convert(b, &v, &in, &t, c);
    } else {
        v = gs_binary(b, op, &t, &x, &y, c);
    }
    store_target(b, &target, &v, kid[0]);
    return v;
}

static struct gs_value eval_step_operator(struct gs_builder *b, CXCursor c, CXCursor child, bool up, bool before)
{
    struct gs_type t = gs_type_of_cursor(child);
    struct target target = locate(b, child);
    struct gs_value old = load_target(b, &target, child), now, one = gs_int(gs_node_const(b, GS_I32, 1));
    if (t.class == GS_T_POINTER) {
        now = move_by(b, &old, &one, gs_type_pointee(&t).size, !up, c);
    } else {
        now = gs_binary(b, up ? CXBinaryOperator_Add : CXBinaryOperator_Sub, &t, &old, &one, c);
    }
    store_target(b, &target, &now, child);
    return before ? now : old;
}

static void expose(struct gs_builder *b, const struct gs_value *v)
{
    for (; v && v->kind == GS_V_POINTER; v = v->otherwise)
        if (v->place.base == GS_B_OBJECT)
            b->objects[v->place.index].exposed = true;
}

static struct gs_value eval_minus(struct gs_builder *b, CXCursor c, const struct gs_value *x, const struct gs_type *t)
{
    struct gs_value zero = gs_int(gs_node_const(b, GS_I32, 0));
    return gs_binary(b, CXBinaryOperator_Sub, t, &zero, x, c);
}

static struct gs_value eval_unary(struct gs_builder *b, CXCursor c)
{
    CXCursor child = only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c);
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    struct gs_value x;
    switch (op) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
        return eval_step_operator(b, c, child, op == CXUnaryOperator_PostInc, false);
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        return eval_step_operator(b, c, child, op == CXUnaryOperator_PreInc, true);
    case CXUnaryOperator_AddrOf:
        x = locate(b, child).pointer;
        expose(b, &x);
        return x;
    case CXUnaryOperator_Deref: {
        struct target target = locate(b, c);
        return load_target(b, &target, c);
    }
    case CXUnaryOperator_Plus:
        return gs_eval(b, child, true);
    case CXUnaryOperator_Minus:
        x = gs_eval(b, child, true);
        return eval_minus(b, c, &x, &t);
    case CXUnaryOperator_Not:
        x = gs_eval(b, child, true);
        if (x.kind == GS_V_INT && t.class == GS_T_INT)
            return gs_int(gs_node(b, GS_N_NOT, t.int_type, gs_node_cast(b, t.int_type, x.node), 0, 0));
        return gs_opaque_value(b, &t, c, "its value is not known");
    case CXUnaryOperator_LNot:
        x = gs_eval(b, child, true);
        if (t.class == GS_T_INT)
            return gs_int(gs_node_not(b, gs_truth(b, &x, child)));
        return gs_opaque_value(b, &t, c, "its value is not known");
    default:
        x = gs_eval(b, child, true);
        return gs_opaque_value(b, &t, c, "its value is not known");
    }
}

static struct gs_value eval_binary(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    if (child_expressions(b, c, kid, 2) != 2)
        return gs_opaque_value(b, &t, c, "its value is not known");
    if (op == CXBinaryOperator_Assign)
        return eval_assign(b, kid[0], kid[1]);
    if (op == CXBinaryOperator_Comma) {
        gs_eval(b, kid[0], false);
        return gs_eval(b, kid[1], want_result);
    }
    if ((op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) && t.class == GS_T_INT)
        return eval_logical(b, c, kid[0], kid[1], op == CXBinaryOperator_LAnd);
    struct gs_type tx = gs_type_of_cursor(kid[0]), ty = gs_type_of_cursor(kid[1]);
    struct gs_value x = gs_eval(b, kid[0], true), y = gs_eval(b, kid[1], true);
    if (tx.class == GS_T_POINTER || ty.class == GS_T_POINTER)
        return pointer_binary(b, op, c, &x, &tx, &y, &ty);
    return gs_binary(b, op, &t, &x, &y, c);
}

/* ---- the rest ---- */

static struct gs_value eval_constant(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    if (t.class != GS_T_INT)
        return gs_any();
    CXEvalResult r = clang_Cursor_Evaluate(c);
    struct gs_value v = gs_opaque_value(b, &t, c, "its value is not known");
    if (r && clang_EvalResult_getKind(r) == CXEval_Int)
        v = gs_int(gs_node_const(b, t.int_type,
                                 clang_EvalResult_isUnsignedInt(r) ? (int64_t)clang_EvalResult_getAsUnsigned(r)
                                                                   : clang_EvalResult_getAsLongLong(r)));
    if (r)
        clang_EvalResult_dispose(r);
    return v;
}

static struct gs_value eval_reference(struct gs_builder *b, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c);
    if (decl.kind == CXCursor_EnumConstantDecl)
        return gs_int(
            gs_node_const(b, t.class == GS_T_INT ? t.int_type : GS_I32, clang_getEnumConstantDeclValue(decl)));
    struct target target = locate_variable(b, c);
    if (target.pointer.kind == GS_V_POINTER && target.pointer.place.base == GS_B_FIXED && t.class == GS_T_INT &&
        decl.kind == CXCursor_VarDecl) {
        struct gs_value v = eval_constant(b, c);
        if (v.kind == GS_V_INT && b->nodes[v.node].op == GS_N_CONST)
            return v;
    }
    if (t.class == GS_T_ARRAY)
        return (struct gs_value){.kind = GS_V_RECORD, .place = target.pointer.place};
    if (t.class == GS_T_OTHER || t.class == GS_T_VOID)
        return target.pointer; /* an image, a sampler, a function */
    return load_target(b, &target, c);
}

/* The components of a vector literal: vectors among them are taken apart. */
static struct gs_value eval_vector_list(struct gs_builder *b, const struct gs_kids *k, const struct gs_type *t,
                                        CXCursor at)
{
    struct gs_value v = {.kind = GS_V_VECTOR};
    bool known = t->of_ints;
    for (uint32_t i = 0; i < k->n; i++) {
        if (!clang_isExpression(k->v[i].kind))
            continue;
        struct gs_value x = gs_eval(b, k->v[i], true);
        if (x.kind == GS_V_INT && v.n < 16)
            v.parts[v.n++] = x.node;
        else if (x.kind == GS_V_VECTOR && v.n + x.n <= 16)
            for (uint32_t j = 0; j < x.n; j++)
                v.parts[v.n++] = x.parts[j];
        else
            known = false;
    }
    if (!known || (v.n != t->count && v.n != 1))
        return gs_opaque_value(b, t, at, "its value is not known");
    for (uint32_t i = 0; i < t->count; i++)
        v.parts[i] = gs_node_cast(b, t->int_type, v.parts[v.n == 1 ? 0 : i]);
    v.n = t->count;
    return v;
}

/* `.x = …` or `[3] = …` */
static bool is_designated(struct gs_builder *b, CXCursor c)
{
    if (c.kind != CXCursor_UnexposedExpr)
        return false;
    struct gs_kids k = gs_kids(b, c);
    uint32_t expressions = 0;
    for (uint32_t i = 0; i < k.n; i++) {
        expressions += clang_isExpression(k.v[i].kind) != 0;
        if (k.v[i].kind == CXCursor_MemberRef)
            return true;
    }
    return expressions > 1;
}

struct field_list {
    CXCursor v[64];
    uint32_t n;
};

static enum CXVisitorResult add_field(CXCursor c, CXClientData data)
{
    struct field_list *l = data;
    if (l->n < 64)
        l->v[l->n++] = c;
    return CXVisit_Continue;
}

/* The type and place of the i-th element of a record or array. False where that is not known. */
static bool element_of(const struct gs_type *t, const struct field_list *fields, uint32_t i, struct gs_type *type,
                       int64_t *offset)
{
    if (t->class == GS_T_ARRAY) {
        *type = gs_type_of(clang_getArrayElementType(t->clang));
        *offset = (int64_t)i * type->size;
        return i < t->count && type->size > 0;
    }
    if (i >= fields->n || fields->n == 64)
        return false;
    *type = gs_type_of_cursor(fields->v[i]);
    long long bits = clang_Cursor_getOffsetOfField(fields->v[i]);
    *offset = bits / 8;
    return bits >= 0 && bits % 8 == 0;
}

/* { … } for an array or a struct. What has a designator is left unknown, and all with it. */
static struct gs_value eval_record_list(struct gs_builder *b, const struct gs_kids *k, const struct gs_type *t,
                                        CXCursor at)
{
    uint32_t object = gs_private_new(b, t->size);
    struct gs_value v = {.kind = GS_V_RECORD, .place = gs_private_place(b, object)};
    struct field_list fields = {.n = 0};
    bool plain = true;
    if (t->class == GS_T_RECORD)
        clang_Type_visitFields(t->clang, add_field, &fields);
    for (uint32_t i = 0; i < k->n; i++)
        plain &= clang_isExpression(k->v[i].kind) && !is_designated(b, k->v[i]);
    for (uint32_t i = 0; i < k->n && !b->failed; i++) {
        struct gs_type from = gs_type_of_cursor(k->v[i]), element;
        int64_t offset;
        struct gs_value x = gs_eval(b, k->v[i], true), to = gs_pointer(v.place);
        if (!plain || !element_of(t, &fields, i, &element, &offset))
            continue;
        x = gs_convert(b, &x, &from, &element, k->v[i]);
        to = gs_move(b, &to, gs_node_const(b, GS_I64, offset));
        gs_store(b, &to, &element, &x, at);
    }
    return v;
}

static struct gs_value eval_list(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    struct gs_kids k = gs_kids(b, c);
    if (t.class == GS_T_VECTOR)
        return eval_vector_list(b, &k, &t, c);
    if (t.class == GS_T_ARRAY || t.class == GS_T_RECORD)
        return eval_record_list(b, &k, &t, c);
    if (k.n == 1)
        return gs_eval(b, k.v[0], true);
    return gs_opaque_value(b, &t, c, "its value is not known");
}

static struct gs_value eval_implicit(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor child = only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c);
    if (clang_Cursor_isNull(child)) /* sizeof in some forms, and the like */
        return eval_constant(b, c);
    struct gs_type vector;
    uint8_t parts[16];
    uint32_t n;
    bool unclear;
    if (is_swizzle(b, c, child, &vector, parts, &n, &unclear)) {
        struct target target = locate_swizzle(b, c, child);
        return load_target(b, &target, c);
    }
    struct gs_type from = gs_type_of_cursor(child);
    if (t.class == GS_T_POINTER && from.class == GS_T_ARRAY) {
        struct target whole = locate(b, child);
        expose(b, &whole.pointer);
        return whole.pointer;
    }
    struct gs_value v = gs_eval(b, child, want_result);
    if (t.class == GS_T_OTHER)
        return v;
    return gs_convert(b, &v, &from, &t, c);
}

static struct gs_value eval_cast(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor child = only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c), from = gs_type_of_cursor(child);
    if (clang_Cursor_isNull(child))
        return gs_opaque_value(b, &t, c, "its value is not known");
    struct gs_value v = gs_eval(b, child, want_result && t.class != GS_T_VOID);
    if (t.class == GS_T_OTHER)
        return v;
    return gs_convert(b, &v, &from, &t, c);
}

struct gs_value gs_eval(struct gs_builder *b, CXCursor c, bool want_result)
{
    if (!gs_step(b, c))
        return gs_any();
    struct gs_type t;
    switch (c.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr: /* sizeof, alignof, vec_step */
        return eval_constant(b, c);
    case CXCursor_FloatingLiteral:
        return gs_any();
    case CXCursor_StringLiteral:
        return gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)});
    case CXCursor_DeclRefExpr:
        return eval_reference(b, c);
    case CXCursor_ParenExpr:
        return gs_eval(b, only_child(b, c), want_result);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr: {
        struct target target = locate(b, c);
        if (target.type.class == GS_T_ARRAY && !target.swizzled && target.pointer.kind == GS_V_POINTER)
            return (struct gs_value){.kind = GS_V_RECORD, .place = target.pointer.place};
        return load_target(b, &target, c);
    }
    case CXCursor_UnaryOperator:
        return eval_unary(b, c);
    case CXCursor_BinaryOperator:
        return eval_binary(b, c, want_result);
    case CXCursor_CompoundAssignOperator:
        return eval_compound_assign(b, c);
    case CXCursor_ConditionalOperator:
        return eval_conditional(b, c, want_result);
    case CXCursor_CStyleCastExpr:
        return eval_cast(b, c, want_result);
    case CXCursor_CompoundLiteralExpr:
        return gs_eval(b, only_child(b, c), want_result);
    case CXCursor_InitListExpr:
        return eval_list(b, c);
    case CXCursor_CallExpr:
        return gs_call(b, c, want_result);
    case CXCursor_UnexposedExpr:
        return eval_implicit(b, c, want_result);
    default:
        t = gs_type_of_cursor(c);
        gs_give_up(b, c, "it uses an expression that the analysis doesn't know");
        return gs_opaque_value(b, &t, c, "its value is not known");
    }
}
