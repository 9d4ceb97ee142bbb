/* SPDX-License-Identifier: MIT */
/* What a loop consists of and what it changes, from clang's tree alone: before it is run. */
#include <ctype.h>
#include <string.h>

#include "translator/access/access_build_loop.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"

enum { MAX_SCAN_DEPTH = 400 };

/* ---- what the loop changes ---- */

static CXCursor strip(struct gs_builder *b, CXCursor c)
{
    while (c.kind == CXCursor_ParenExpr || c.kind == CXCursor_UnexposedExpr) {
        struct gs_kids k = gs_kids(b, c);
        CXCursor next = clang_getNullCursor();
        for (uint32_t i = 0; i < k.n; i++)
            if (clang_isExpression(k.v[i].kind))
                next = k.v[i];
        if (clang_Cursor_isNull(next) || gs_is_compound(c))
            break;
        c = next;
    }
    return c;
}

/* The variable that an assignment to `c` changes; null where that is not a variable's own memory. */
static CXCursor root_variable(struct gs_builder *b, CXCursor c)
{
    for (;;) {
        const bool pointer = gs_type_of_cursor(c).class == GS_T_POINTER;
        c = strip(b, c);
        struct gs_kids k;
        if (!pointer && gs_type_of_cursor(c).class == GS_T_POINTER) /* p->x of a vector, stripped to p */
            return clang_getNullCursor();
        if (c.kind == CXCursor_DeclRefExpr)
            return clang_getCursorReferenced(c);
        if (c.kind != CXCursor_MemberRefExpr && c.kind != CXCursor_ArraySubscriptExpr)
            return clang_getNullCursor();
        k = gs_kids(b, c);
        if (k.n == 0)
            return clang_getNullCursor();
        CXCursor base = k.v[0].kind == CXCursor_TypeRef && k.n > 1 ? k.v[1] : k.v[0];
        if (gs_type_of_cursor(strip(b, base)).class == GS_T_POINTER)
            return clang_getNullCursor();
        c = base;
    }
}

static struct gs_changed *find_changed(struct gs_loop_code *l, CXCursor decl)
{
    for (uint32_t i = 0; i < l->n_changed; i++)
        if (clang_equalCursors(l->changed[i].decl, decl))
            return &l->changed[i];
    return NULL;
}

static struct gs_changed *add_changed(struct gs_loop_code *l, CXCursor decl)
{
    struct gs_changed *c = find_changed(l, decl);
    if (!c) {
        if (l->n_changed == GS_MAX_CHANGED) {
            l->overflow = true;
            return NULL;
        }
        c = &l->changed[l->n_changed++];
        *c = (struct gs_changed){.decl = decl, .by = clang_getNullCursor()};
    }
    c->times++;
    c->steady = false;
    return c;
}

static bool is_reference_to(struct gs_builder *b, CXCursor c, CXCursor decl)
{
    c = strip(b, c);
    return c.kind == CXCursor_DeclRefExpr && clang_equalCursors(clang_getCursorReferenced(c), decl);
}

/* Is a step of it by one amount in each iteration that much more each time? Not of a truth value. */
static bool adds_up(CXCursor decl)
{
    const struct gs_type t = gs_type_of_cursor(decl);
    return t.class != GS_T_INT || !t.is_bool;
}

/* x = x + e, e + x or x - e: sets e and the direction. */
static bool is_sum_with(struct gs_builder *b, CXCursor c, CXCursor decl, CXCursor *by, bool *down)
{
    c = strip(b, c);
    if (c.kind != CXCursor_BinaryOperator)
        return false;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    struct gs_kids k = gs_kids(b, c);
    if (k.n != 2 || (op != CXBinaryOperator_Add && op != CXBinaryOperator_Sub))
        return false;
    bool first = is_reference_to(b, k.v[0], decl);
    if (!first && (op == CXBinaryOperator_Sub || !is_reference_to(b, k.v[1], decl)))
        return false;
    *by = k.v[first ? 1 : 0];
    *down = op == CXBinaryOperator_Sub;
    return true;
}

static void scan(struct gs_loop_code *l, CXCursor c);

/* May what has this type be a variable of the function? Buffers and local memory are none. */
static bool may_be_private(CXType t)
{
    const unsigned space = clang_getAddressSpace(clang_getCanonicalType(t));
    return space != GS_AS_GLOBAL && space != GS_AS_LOCAL && space != GS_AS_CONSTANT;
}

static void scan_assignment(struct gs_loop_code *l, CXCursor c, const struct gs_kids *k)
{
    struct gs_builder *b = l->b;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    CXCursor decl = root_variable(b, k->v[0]);
    if (clang_Cursor_isNull(decl)) {
        l->stores_through_pointers |= may_be_private(clang_getCursorType(k->v[0]));
        return;
    }
    struct gs_changed *ch = add_changed(l, decl);
    if (!ch || ch->times > 1 || !is_reference_to(b, k->v[0], decl) || !l->steady_place || !adds_up(decl))
        return;
    if (op == CXBinaryOperator_AddAssign || op == CXBinaryOperator_SubAssign) {
        ch->by = k->v[1];
        ch->down = op == CXBinaryOperator_SubAssign;
        ch->steady = true;
    } else if (op == CXBinaryOperator_Assign) {
        ch->steady = is_sum_with(b, k->v[1], decl, &ch->by, &ch->down);
    }
}

static void scan_unary(struct gs_loop_code *l, CXCursor c, const struct gs_kids *k)
{
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    bool step = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PreInc || op == CXUnaryOperator_PostDec ||
                op == CXUnaryOperator_PreDec;
    if ((!step && op != CXUnaryOperator_AddrOf) || k->n == 0)
        return;
    CXCursor decl = root_variable(l->b, k->v[0]);
    if (clang_Cursor_isNull(decl)) {
        l->stores_through_pointers |= step && may_be_private(clang_getCursorType(k->v[0]));
        return;
    }
    struct gs_changed *ch = add_changed(l, decl);
    if (!ch)
        return;
    if (!step) {
        ch->times += 2; /* its address is taken: who knows */
        return;
    }
    if (ch->times == 1 && l->steady_place && is_reference_to(l->b, k->v[0], decl) && adds_up(decl)) {
        ch->steady = true;
        ch->down = op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreDec;
        ch->by = clang_getNullCursor();
    }
}

/* May what is handed to a function let it change a variable? A variable's address does, by itself or in a struct. */
static bool hands_on(CXCursor c)
{
    const struct gs_type t = gs_type_of_cursor(c);
    return gs_type_is_address(&t) ? may_be_private(gs_type_pointee(&t).clang) : gs_holds_pointers(gs_flow_type(c));
}

static void scan_call(struct gs_loop_code *l, const struct gs_kids *k)
{
    for (uint32_t i = 1; i < k->n; i++) /* the first is the function */
        l->stores_through_pointers |= clang_isExpression(k->v[i].kind) && hands_on(k->v[i]);
}

/* An array that becomes a pointer, other than to be subscripted at once: who knows what is done with it. */
static void scan_decay(struct gs_loop_code *l, CXCursor c, const struct gs_kids *k)
{
    if (k->n == 0 || gs_type_of_cursor(c).class != GS_T_POINTER ||
        gs_type_of_cursor(k->v[k->n - 1]).class != GS_T_ARRAY || clang_equalCursors(c, l->subscripted))
        return;
    CXCursor decl = root_variable(l->b, c);
    struct gs_changed *ch = clang_Cursor_isNull(decl) ? NULL : add_changed(l, decl);
    if (ch)
        ch->times += 2;
}

static void scan_kids(struct gs_loop_code *l, const struct gs_kids *k, bool steady)
{
    bool outer = l->steady_place;
    for (uint32_t i = 0; i < k->n; i++) {
        l->steady_place = outer && steady;
        scan(l, k->v[i]);
    }
    l->steady_place = outer;
}

static void scan(struct gs_loop_code *l, CXCursor c)
{
    if (l->overflow || ++l->depth > MAX_SCAN_DEPTH || !gs_step(l->b, c)) {
        l->overflow = true;
        return;
    }
    struct gs_kids k = gs_kids(l->b, c);
    bool steady = true, loop = false, is_switch = false;
    switch (c.kind) {
    case CXCursor_BinaryOperator:
        if (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign && k.n == 2)
            scan_assignment(l, c, &k);
        steady = clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_LAnd &&
                 clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_LOr;
        break;
    case CXCursor_CompoundAssignOperator:
        if (k.n == 2)
            scan_assignment(l, c, &k);
        break;
    case CXCursor_UnaryOperator:
        scan_unary(l, c, &k);
        break;
    case CXCursor_CallExpr:
        scan_call(l, &k);
        break;
    case CXCursor_ArraySubscriptExpr:
        if (k.n > 0)
            l->subscripted = k.v[0];
        l->picks |= k.n == 2 && gs_type_of_cursor(c).class == GS_T_INT && may_be_private(clang_getCursorType(c)) &&
                    strip(l->b, k.v[1]).kind != CXCursor_IntegerLiteral;
        break;
    case CXCursor_UnexposedExpr:
        scan_decay(l, c, &k);
        break;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
        loop = true;
        steady = false;
        break;
    case CXCursor_SwitchStmt:
        is_switch = true;
        steady = false;
        break;
    case CXCursor_IfStmt:
    case CXCursor_ConditionalOperator:
        steady = false;
        break;
    case CXCursor_BreakStmt:
        l->has_break |= l->inner_loops == 0 && l->inner_switches == 0;
        break;
    case CXCursor_ContinueStmt:
        l->has_continue |= l->inner_loops == 0;
        break;
    case CXCursor_ReturnStmt:
        l->has_return = true;
        break;
    default:
        break;
    }
    l->inner_loops += loop;
    l->inner_switches += is_switch;
    scan_kids(l, &k, steady);
    l->inner_loops -= loop;
    l->inner_switches -= is_switch;
    l->depth--;
}

void gs_loop_scan(struct gs_loop_code *l, CXCursor c, bool steady)
{
    if (clang_Cursor_isNull(c))
        return;
    l->steady_place = steady;
    scan(l, c);
}

/* ---- which expressions stay the same ---- */

static bool is_pure_builtin(struct gs_loop_code *l, CXCursor c)
{
    CXCursor callee = clang_getCursorReferenced(c);
    uint32_t unit = 0;
    if (!clang_Cursor_isNull(l->b->tree->definition(l->b->tree->ctx, callee, &unit)))
        return false;
    CXString s = clang_getCursorSpelling(callee);
    const char *name = clang_getCString(s);
    bool pure = name && strncmp(name, "get_", 4) == 0;
    clang_disposeString(s);
    return pure;
}

bool gs_loop_keeps(struct gs_loop_code *l, CXCursor c, unsigned depth)
{
    CXCursor decl;
    struct gs_kids k;
    if (depth > 50 || !gs_step(l->b, c))
        return false;
    switch (c.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr:
        return true;
    case CXCursor_DeclRefExpr:
        decl = clang_getCursorReferenced(c);
        return decl.kind == CXCursor_FunctionDecl || decl.kind == CXCursor_EnumConstantDecl ||
               (gs_variable_find(l->b, decl) && !find_changed(l, decl) &&
                gs_variable_find(l->b, decl)->place.base == GS_B_OBJECT &&
                !l->b->objects[gs_variable_find(l->b, decl)->place.index].exposed);
    case CXCursor_CallExpr:
        if (!is_pure_builtin(l, c))
            return false;
        break;
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_Minus &&
            clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_Plus)
            return false;
        break;
    case CXCursor_UnexposedExpr:
        if (gs_is_compound(c))
            return false;
        break;
    case CXCursor_BinaryOperator:
    case CXCursor_ParenExpr:
    case CXCursor_CStyleCastExpr:
        break;
    default:
        return c.kind == CXCursor_TypeRef;
    }
    k = gs_kids(l->b, c);
    for (uint32_t i = 0; i < k.n; i++)
        if (!gs_loop_keeps(l, k.v[i], depth + 1))
            return false;
    return true;
}

/* ---- for (init; condition; increment): which of them are there ---- */

/* libclang leaves out what a `for` leaves out and doesn't say which. Its printed form has all macros expanded and the
 * semicolons in place: find the loop in there by counting. */
static bool count_loop(const char **text)
{
    const char *p = *text;
    for (char quote = 0; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == quote)
                quote = 0;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (strncmp(p, "for (", 5) == 0 && (p == *text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'))) {
            *text = p + 5;
            return true;
        }
    }
    return false;
}

/* Which of the three parts behind "for (" are not blank. */
static bool read_parts(const char *p, bool there[3])
{
    int depth = 1, part = 0;
    there[0] = there[1] = there[2] = false;
    for (char quote = 0; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == quote)
                quote = 0;
            continue;
        }
        if (*p == '"' || *p == '\'')
            quote = *p;
        if (*p == '(' || *p == '{' || *p == '[')
            depth++;
        if (*p == ')' || *p == '}' || *p == ']')
            depth--;
        if (depth == 0)
            return part == 2;
        if (*p == ';' && depth == 1) {
            if (++part > 2)
                return false;
            continue;
        }
        if (*p != ' ' && *p != '\n')
            there[part] = true;
    }
    return false;
}

/* Counts the `for` loops before `wanted` in the order of the text. False while it isn't found. Cursors are equal only
 * if both were reached in the same way, so it goes by gs_kids as the analysis does. */
static bool count_before(struct gs_builder *b, CXCursor c, CXCursor wanted, uint32_t *before)
{
    if (clang_equalCursors(c, wanted))
        return true;
    *before += c.kind == CXCursor_ForStmt;
    if (!gs_step(b, c))
        return false;
    struct gs_kids k = gs_kids(b, c);
    for (uint32_t i = 0; i < k.n; i++)
        if (count_before(b, k.v[i], wanted, before))
            return true;
    return false;
}

static bool find_parts(struct gs_builder *b, CXCursor c, bool there[3])
{
    uint32_t before = 0;
    bool found = count_before(b, b->frame->function, c, &before);
    CXPrintingPolicy policy = clang_getCursorPrintingPolicy(b->frame->function);
    CXString printed = clang_getCursorPrettyPrinted(b->frame->function, policy);
    clang_PrintingPolicy_dispose(policy);
    const char *text = clang_getCString(printed);
    bool ok = found && text;
    for (uint32_t i = 0; ok && i <= before; i++)
        ok = count_loop(&text);
    ok = ok && read_parts(text, there);
    clang_disposeString(printed);
    return ok;
}

bool gs_loop_take_apart(struct gs_loop_code *l, CXCursor c)
{
    struct gs_kids k = gs_kids(l->b, c);
    l->init = l->condition = l->increment = l->body = clang_getNullCursor();
    if (c.kind == CXCursor_WhileStmt || c.kind == CXCursor_DoStmt) {
        if (k.n != 2)
            return false;
        l->tested_after = c.kind == CXCursor_DoStmt;
        l->condition = k.v[l->tested_after ? 1 : 0];
        l->body = k.v[l->tested_after ? 0 : 1];
        return true;
    }
    if (k.n == 0 || k.n > 4)
        return false;
    bool there[3] = {true, true, true};
    if (k.n == 1)
        there[0] = there[1] = there[2] = false;
    else if (k.n < 4 && (!find_parts(l->b, c, there) || (uint32_t)(there[0] + there[1] + there[2]) != k.n - 1))
        return false;
    uint32_t i = 0;
    if (there[0])
        l->init = k.v[i++];
    if (there[1])
        l->condition = k.v[i++];
    if (there[2])
        l->increment = k.v[i++];
    l->body = k.v[i];
    return true;
}
