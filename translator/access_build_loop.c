/* SPDX-License-Identifier: MIT */
/* Loops: run once for all iterations. What the body changes is an induction variable or unknown. */
#include "translator/access_build_state.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CHANGED = 256, MAX_SCAN_DEPTH = 400 };

/* A variable that the loop changes. */
struct changed {
    CXCursor decl;
    uint32_t times; /* places that change it */
    bool steady;    /* its one change is x += e, once in every iteration */
    bool down;
    CXCursor by; /* e; null: 1 */
    uint32_t object;
    struct gs_value before; /* a pointer's value, or an int's, at the loop's begin */
    struct gs_type type;
    uint32_t step; /* node, of an induction variable; else GS_NO_NODE */
    bool in_condition;
};

struct loop {
    struct gs_builder *b;
    CXCursor init, condition, increment, body; /* null where there is none */
    bool tested_after;
    struct changed changed[MAX_CHANGED];
    uint32_t n_changed;
    bool has_break, has_return, has_continue, overflow;
    bool stores_through_pointers; /* or hands them to functions */
    uint32_t depth, inner;        /* of the scan: recursion, and how many conditions or loops lie around */
    uint32_t inner_loops, inner_switches;
    bool steady_place;    /* the scan is where every iteration comes by */
    CXCursor subscripted; /* the base of the subscript just scanned */
};

/* ---- what the loop changes ---- */

static CXCursor strip(struct gs_builder *b, CXCursor c)
{
    while (c.kind == CXCursor_ParenExpr || c.kind == CXCursor_UnexposedExpr) {
        struct gs_kids k = gs_kids(b, c);
        CXCursor next = clang_getNullCursor();
        for (uint32_t i = 0; i < k.n; i++)
            if (clang_isExpression(k.v[i].kind))
                next = k.v[i];
        if (clang_Cursor_isNull(next))
            break;
        c = next;
    }
    return c;
}

/* The variable that an assignment to `c` changes; null where that is not a variable's own memory. */
static CXCursor root_variable(struct gs_builder *b, CXCursor c)
{
    for (;;) {
        c = strip(b, c);
        struct gs_kids k;
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

static struct changed *find_changed(struct loop *l, CXCursor decl)
{
    for (uint32_t i = 0; i < l->n_changed; i++)
        if (clang_equalCursors(l->changed[i].decl, decl))
            return &l->changed[i];
    return NULL;
}

static struct changed *add_changed(struct loop *l, CXCursor decl)
{
    struct changed *c = find_changed(l, decl);
    if (!c) {
        if (l->n_changed == MAX_CHANGED) {
            l->overflow = true;
            return NULL;
        }
        c = &l->changed[l->n_changed++];
        *c = (struct changed){.decl = decl, .by = clang_getNullCursor()};
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

static void scan(struct loop *l, CXCursor c);

static void scan_assignment(struct loop *l, CXCursor c, const struct gs_kids *k)
{
    struct gs_builder *b = l->b;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    CXCursor decl = root_variable(b, k->v[0]);
    if (clang_Cursor_isNull(decl)) {
        l->stores_through_pointers = true;
        return;
    }
    struct changed *ch = add_changed(l, decl);
    if (!ch || ch->times > 1 || !is_reference_to(b, k->v[0], decl) || !l->steady_place)
        return;
    if (op == CXBinaryOperator_AddAssign || op == CXBinaryOperator_SubAssign) {
        ch->by = k->v[1];
        ch->down = op == CXBinaryOperator_SubAssign;
        ch->steady = true;
    } else if (op == CXBinaryOperator_Assign) {
        ch->steady = is_sum_with(b, k->v[1], decl, &ch->by, &ch->down);
    }
}

static void scan_unary(struct loop *l, CXCursor c, const struct gs_kids *k)
{
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    bool step = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PreInc || op == CXUnaryOperator_PostDec ||
                op == CXUnaryOperator_PreDec;
    if ((!step && op != CXUnaryOperator_AddrOf) || k->n == 0)
        return;
    CXCursor decl = root_variable(l->b, k->v[0]);
    if (clang_Cursor_isNull(decl)) {
        l->stores_through_pointers |= step;
        return;
    }
    struct changed *ch = add_changed(l, decl);
    if (!ch)
        return;
    if (!step) {
        ch->times += 2; /* its address is taken: who knows */
        return;
    }
    if (ch->times == 1 && l->steady_place && is_reference_to(l->b, k->v[0], decl)) {
        ch->steady = true;
        ch->down = op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreDec;
        ch->by = clang_getNullCursor();
    }
}

/* What is handed to a function by its address may be changed there. */
static void scan_call(struct loop *l, const struct gs_kids *k)
{
    for (uint32_t i = 1; i < k->n; i++) /* the first is the function */
        l->stores_through_pointers |=
            clang_isExpression(k->v[i].kind) && gs_type_of_cursor(k->v[i]).class == GS_T_POINTER;
}

/* An array that becomes a pointer, other than to be subscripted at once: who knows what is done with it. */
static void scan_decay(struct loop *l, CXCursor c, const struct gs_kids *k)
{
    if (k->n == 0 || gs_type_of_cursor(c).class != GS_T_POINTER ||
        gs_type_of_cursor(k->v[k->n - 1]).class != GS_T_ARRAY || clang_equalCursors(c, l->subscripted))
        return;
    CXCursor decl = root_variable(l->b, c);
    struct changed *ch = clang_Cursor_isNull(decl) ? NULL : add_changed(l, decl);
    if (ch)
        ch->times += 2;
}

static void scan_kids(struct loop *l, const struct gs_kids *k, bool steady)
{
    bool outer = l->steady_place;
    for (uint32_t i = 0; i < k->n; i++) {
        l->steady_place = outer && steady;
        scan(l, k->v[i]);
    }
    l->steady_place = outer;
}

static void scan(struct loop *l, CXCursor c)
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

static void scan_part(struct loop *l, CXCursor c, bool steady)
{
    if (clang_Cursor_isNull(c))
        return;
    l->steady_place = steady;
    scan(l, c);
}

/* ---- which expressions stay the same ---- */

static bool is_pure_builtin(struct loop *l, CXCursor c)
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

static bool is_invariant(struct loop *l, CXCursor c, unsigned depth)
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
    case CXCursor_BinaryOperator:
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr:
        break;
    default:
        return c.kind == CXCursor_TypeRef;
    }
    k = gs_kids(l->b, c);
    for (uint32_t i = 0; i < k.n; i++)
        if (!is_invariant(l, k.v[i], depth + 1))
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

static bool take_apart(struct loop *l, CXCursor c)
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

/* ---- running it ---- */

/* How much an induction variable grows; GS_NO_NODE where it is none. */
static uint32_t find_step(struct loop *l, struct changed *ch)
{
    struct gs_builder *b = l->b;
    bool kind = ch->type.class == GS_T_POINTER || (ch->type.class == GS_T_INT && !ch->type.is_bool);
    if (!ch->steady || ch->times != 1 || !kind || b->objects[ch->object].exposed)
        return GS_NO_NODE;
    uint32_t node = gs_node_const(b, GS_I32, 1);
    if (!clang_Cursor_isNull(ch->by)) {
        if (!is_invariant(l, ch->by, 0))
            return GS_NO_NODE;
        struct gs_value v = gs_eval(b, ch->by, true);
        if (v.kind != GS_V_INT)
            return GS_NO_NODE;
        node = v.node;
    }
    uint8_t type = ch->type.class == GS_T_POINTER ? GS_I64 : ch->type.int_type;
    node = gs_node_cast(b, type, node);
    if (ch->type.class == GS_T_POINTER)
        node = gs_node(b, GS_N_MUL, type, node, gs_node_const(b, type, gs_type_pointee(&ch->type).size), 0);
    if (ch->down)
        node = gs_node(b, GS_N_SUB, type, gs_node_const(b, type, 0), node, 0);
    return node;
}

/* -1 as a step of an unsigned variable is a huge number to the evaluation: step in the signed type of that width. */
static uint32_t signed_step(struct gs_builder *b, uint32_t step)
{
    uint8_t type = b->nodes[step].type;
    return gs_int_signed(type) ? step : gs_node_cast(b, (uint8_t)(type - 1), step);
}

/* Finds the variables that the loop changes and their values at its begin. */
static void resolve(struct loop *l)
{
    struct gs_builder *b = l->b;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_changed; i++) {
        struct changed ch = l->changed[i];
        const struct gs_variable *v = gs_variable_find(b, ch.decl);
        if (!v || v->place.base != GS_B_OBJECT)
            continue; /* declared inside, or of no interest */
        ch.object = v->place.index;
        ch.type = gs_type_of_cursor(ch.decl);
        ch.step = GS_NO_NODE;
        l->changed[n++] = ch;
    }
    l->n_changed = n;
}

static void load_before(struct loop *l)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++) {
        struct changed *ch = &l->changed[i];
        ch->before = gs_any();
        if (ch->type.class != GS_T_INT && ch->type.class != GS_T_POINTER)
            continue;
        struct gs_value p = gs_pointer(gs_private_place(b, ch->object));
        ch->before = gs_load(b, &p, &ch->type, ch->decl);
        uint32_t step = find_step(l, ch);
        if (step != GS_NO_NODE)
            ch->step = signed_step(b, step);
    }
}

/* The value of a changed variable in some iteration, or behind the loop. */
static void set_changed(struct loop *l, struct changed *ch, uint32_t loop, uint8_t op, CXCursor at)
{
    struct gs_builder *b = l->b;
    struct gs_value p = gs_pointer(gs_private_place(b, ch->object)), v = ch->before;
    if (v.kind == GS_V_INT && ch->step != GS_NO_NODE) {
        v.node = gs_node_iv(b, op, ch->type.int_type, gs_node_cast(b, ch->type.int_type, v.node), ch->step, loop);
        if (op == GS_N_IV_EXIT)
            b->nodes[v.node].dim = ch->in_condition;
    } else if (v.kind == GS_V_POINTER && !v.otherwise && v.place.base != GS_B_UNKNOWN) {
        if (ch->step != GS_NO_NODE)
            v.place.offset = gs_node_iv(b, op, GS_I64, v.place.offset, ch->step, loop);
        else
            v.place.offset = gs_node_opaque(b, GS_I64, at, "a loop changes the pointer");
    } else {
        gs_private_forget(b, ch->object);
        return;
    }
    gs_store(b, &p, &ch->type, &v, at);
}

static void set_all_changed(struct loop *l, uint32_t loop, uint8_t op, CXCursor at)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
        b->objects[l->changed[i].object].pinned = false;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
        set_changed(l, &l->changed[i], loop, op, at);
    if (l->stores_through_pointers)
        gs_forget_exposed(b);
}

/* Looks behind conversions that keep every value; the outermost one is to the type of the comparison, in which
 * gs_loop_bound checks the values. */
static uint32_t strip_casts(const struct gs_builder *b, uint32_t node)
{
    for (bool outermost = true; b->nodes[node].op == GS_N_CAST; outermost = false) {
        uint8_t to = b->nodes[node].type, from = b->nodes[b->nodes[node].a].type;
        unsigned wide = gs_int_bits(to), narrow = gs_int_bits(from);
        bool keeps = gs_int_signed(to) == gs_int_signed(from) ? wide >= narrow : gs_int_signed(to) && wide > narrow;
        if (wide < narrow || (!keeps && !outermost))
            break;
        node = b->nodes[node].a;
    }
    return node;
}

/* Takes a comparison's side apart: is it the loop's induction variable, perhaps converted, perhaps with a constant
 * added? Sets its value at the first test, and the type whose values it must keep to. */
static bool is_induction(struct gs_builder *b, uint32_t node, uint32_t loop, uint32_t *init, uint32_t *step,
                         uint8_t *type)
{
    node = strip_casts(b, node);
    struct gs_node n = b->nodes[node];
    int64_t ahead = 0, v;
    if ((n.op == GS_N_ADD || n.op == GS_N_SUB) && gs_node_is_const(b, n.b, &v) && v != INT64_MIN) {
        ahead = n.op == GS_N_ADD ? v : -v;
        node = n.a;
    }
    struct gs_node iv = b->nodes[node];
    if (iv.op != GS_N_IV || iv.c != loop)
        return false;
    *type = iv.type;
    *step = iv.b;
    *init = iv.a;
    if (ahead)
        *init = gs_node(b, GS_N_ADD, iv.type, iv.a, gs_node_const(b, iv.type, ahead), 0);
    return true;
}

static enum gs_loop_cmp mirrored(enum gs_loop_cmp cmp)
{
    return cmp == GS_LOOP_LT   ? GS_LOOP_GT
           : cmp == GS_LOOP_GT ? GS_LOOP_LT
           : cmp == GS_LOOP_LE ? GS_LOOP_GE
           : cmp == GS_LOOP_GE ? GS_LOOP_LE
                               : cmp;
}

/* Finds in the condition what bounds the loop: of several conjuncts, the first. */
static void bound_loop(struct gs_builder *b, uint32_t loop, uint32_t condition, bool truth, bool tested_after)
{
    struct gs_node n = b->nodes[condition];
    if (n.op == GS_N_LNOT) {
        bound_loop(b, loop, n.a, !truth, tested_after);
        return;
    }
    if (n.op == (truth ? GS_N_LAND : GS_N_LOR)) {
        bound_loop(b, loop, n.a, truth, tested_after);
        if (b->loops[loop].cmp == GS_LOOP_UNBOUNDED)
            bound_loop(b, loop, n.b, truth, tested_after);
        return;
    }
    enum gs_loop_cmp cmp;
    uint32_t x = n.a, y = n.b;
    if (n.op == GS_N_LT) {
        cmp = truth ? GS_LOOP_LT : GS_LOOP_GE;
    } else if (n.op == GS_N_LE) {
        cmp = truth ? GS_LOOP_LE : GS_LOOP_GT;
    } else if (n.op == GS_N_EQ && !truth) {
        cmp = GS_LOOP_NE;
    } else if (n.op < GS_N_EQ && truth) { /* while (n--) */
        cmp = GS_LOOP_NE;
        x = condition;
        y = gs_node_const(b, n.type, 0);
    } else {
        return;
    }
    uint32_t init, step;
    uint8_t type, cmp_type = b->nodes[y].type;
    bool first = is_induction(b, x, loop, &init, &step, &type);
    if (!first) {
        if (!is_induction(b, y, loop, &init, &step, &type))
            return;
        cmp = mirrored(cmp);
    }
    b->loops[loop] = (struct gs_loop){(uint8_t)cmp, type, cmp_type, tested_after, init, step, first ? y : x};
}

static uint32_t new_loop(struct gs_builder *b, CXCursor at)
{
    if (b->n_loops >= GS_MAX_LOOPS) {
        gs_give_up(b, at, "the kernel has too many loops for the analysis");
        return 0;
    }
    if (b->n_loops == b->loops_cap)
        b->loops = gs_grow(b, b->loops, b->n_loops, &b->loops_cap, sizeof *b->loops);
    b->loops[b->n_loops] = (struct gs_loop){.cmp = GS_LOOP_UNBOUNDED};
    return b->n_loops++;
}

/* Pointers that the body changes without a steady step must stay in their buffer: see check_pin. */
static void pin(struct loop *l)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed; i++) {
        const struct changed *ch = &l->changed[i];
        if (ch->before.kind != GS_V_POINTER || ch->before.otherwise || ch->before.place.base == GS_B_UNKNOWN)
            continue;
        b->objects[ch->object].pinned = true;
        b->objects[ch->object].pin = ch->before.place;
    }
}

static uint32_t eval_condition(struct loop *l)
{
    struct gs_value v = gs_eval(l->b, l->condition, true);
    return gs_truth(l->b, &v, l->condition);
}

static void run_body(struct loop *l, uint32_t loop, CXCursor at)
{
    struct gs_builder *b = l->b;
    set_all_changed(l, loop, GS_N_IV, at);
    pin(l);
    gs_scope_push(b, GS_C_LOOP, loop, true);
    if (l->has_break || l->has_return)
        gs_scope_push(b, GS_C_MAYBE, 0, true);
    if (!l->tested_after && !clang_Cursor_isNull(l->condition)) {
        uint32_t condition = eval_condition(l);
        bound_loop(b, loop, condition, true, false);
        gs_scope_push(b, GS_C_GUARD, condition, true);
    }
    uint32_t inside = b->context, mark = b->n_trail;
    gs_exec(b, l->body);
    if (l->has_continue) { /* what follows is reached in more ways than one */
        gs_rollback(b, mark);
        for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
            if (l->changed[i].step == GS_NO_NODE && l->changed[i].before.kind != GS_V_POINTER)
                gs_private_forget(b, l->changed[i].object);
    }
    if (b->dead || l->has_continue)
        b->context = inside;
    b->dead = false;
    if (!clang_Cursor_isNull(l->increment))
        gs_eval(b, l->increment, false);
    if (l->tested_after && !clang_Cursor_isNull(l->condition))
        bound_loop(b, loop, eval_condition(l), true, true);
}

/* Is the condition 0, as in do { … } while (0)? */
static bool never_again(struct loop *l)
{
    CXEvalResult r = clang_Cursor_Evaluate(l->condition);
    bool zero = r && clang_EvalResult_getKind(r) == CXEval_Int && clang_EvalResult_getAsLongLong(r) == 0;
    if (r)
        clang_EvalResult_dispose(r);
    return zero;
}

void gs_exec_loop(struct gs_builder *b, CXCursor c)
{
    struct loop *l = gs_arena_alloc(&b->arena, 1, sizeof *l);
    if (!l) {
        gs_give_up(b, c, "out of memory");
        return;
    }
    l->b = b;
    if (!take_apart(l, c)) {
        gs_give_up(b, c, "it uses a loop of a form that the analysis doesn't know");
        return;
    }
    if (!clang_Cursor_isNull(l->init))
        gs_exec(b, l->init);
    scan_part(l, l->condition, true);
    for (uint32_t i = 0; i < l->n_changed; i++)
        l->changed[i].in_condition = true;
    scan_part(l, l->increment, true);
    uint32_t outside_body = l->n_changed;
    scan_part(l, l->body, true);
    for (uint32_t i = outside_body; i < l->n_changed && l->has_continue; i++)
        l->changed[i].steady = false; /* `continue` passes by what stands in the body */
    if (l->overflow) {
        gs_give_up(b, c, "a loop is too large for the analysis");
        return;
    }
    if (l->tested_after && never_again(l) && !l->has_break && !l->has_continue) {
        gs_exec(b, l->body);
        return;
    }
    resolve(l);
    load_before(l);
    uint32_t outside = b->context, mark = b->n_trail, loop = new_loop(b, c);
    if (b->failed)
        return;
    bool *was_pinned = gs_arena_alloc(&b->arena, l->n_changed, sizeof *was_pinned);
    struct gs_place *pins = gs_arena_alloc(&b->arena, l->n_changed, sizeof *pins);
    if (!was_pinned || !pins) {
        gs_give_up(b, c, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < l->n_changed; i++) {
        was_pinned[i] = b->objects[l->changed[i].object].pinned;
        pins[i] = b->objects[l->changed[i].object].pin;
    }
    struct gs_target target = {.outer = b->target};
    b->target = &target;
    run_body(l, loop, c);
    b->target = target.outer;
    b->dead = false;
    b->context = outside;
    gs_rollback(b, mark);
    set_all_changed(l, loop, GS_N_IV_EXIT, c);
    for (uint32_t i = 0; i < l->n_changed; i++) {
        b->objects[l->changed[i].object].pinned = was_pinned[i];
        b->objects[l->changed[i].object].pin = pins[i];
    }
    if (l->has_return)
        gs_scope_push(b, GS_C_MAYBE, 0, true);
}
