/* SPDX-License-Identifier: MIT */
#include "translator/flow/flow_append_state.h"

#include "translator/summary/access_program.h"
#include "translator/parsing/builtins.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_OFFSET = 1 << 12, MAX_DEPTH = 8, MOST_CALLED = 64 };

struct look {
    bool (*look)(CXCursor c, void *data);
    void *data;
    bool found;
};

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct look *l = data;
    l->found = l->look(c, l->data);
    return l->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool gs_append_any(CXCursor root, bool (*look)(CXCursor c, void *data), void *data)
{
    struct look l = {look, data, false};
    if (look(root, data))
        return true;
    clang_visitChildren(root, visit, &l);
    return l.found;
}

static bool is_assignment(CXCursor c)
{
    enum CXBinaryOperatorKind op;
    if (c.kind != CXCursor_BinaryOperator && c.kind != CXCursor_CompoundAssignOperator)
        return false;
    op = clang_getCursorBinaryOperatorKind(c);
    return op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign;
}

static bool is_step(CXCursor c)
{
    if (c.kind != CXCursor_UnaryOperator)
        return false;
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    return op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreInc ||
           op == CXUnaryOperator_PreDec;
}

struct changed {
    struct gs_arena *arena;
    CXCursor var;
};

static bool changes(CXCursor c, void *data)
{
    const struct changed *x = data;
    CXCursor target = clang_getNullCursor();
    if (is_assignment(c)) {
        struct gs_children k;
        gs_children(x->arena, c, &k);
        target = k.n > 0 ? gs_child(&k, 0) : target;
    } else if (is_step(c) ||
               (c.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf)) {
        target = gs_inner(c);
    } else if (c.kind == CXCursor_GCCAsmStmt || c.kind == CXCursor_MSAsmStmt) {
        return true;
    }
    return !clang_Cursor_isNull(target) && clang_equalCursors(gs_root_variable(x->arena, target), x->var);
}

bool gs_append_is_steady(struct gs_append_search *s, uint32_t func, CXCursor param)
{
    struct changed x = {s->f->arena, param};
    return !gs_append_any(s->f->program->funcs[func].def, changes, &x);
}

static bool names(CXCursor c, void *data)
{
    struct {
        CXCursor decl;
        unsigned n;
    } *count = data;
    if (c.kind == CXCursor_DeclRefExpr && clang_equalCursors(clang_getCursorReferenced(c), count->decl))
        count->n++;
    return false;
}

unsigned gs_append_occurrences(CXCursor root, CXCursor decl)
{
    struct {
        CXCursor decl;
        unsigned n;
    } count = {decl, 0};
    gs_append_any(root, names, &count);
    return count.n;
}

bool gs_append_jumps(CXCursor c, void *data)
{
    (void)data;
    switch (c.kind) {
    case CXCursor_ReturnStmt:
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
        return true;
    default:
        return false;
    }
}

/* The variable of a function that is set, or of which a part is, by name; null: something else is. */
static CXCursor set_by_name(struct gs_arena *arena, CXCursor c)
{
    CXCursor target = clang_getNullCursor();
    if (is_assignment(c)) {
        struct gs_children k;
        gs_children(arena, c, &k);
        target = k.n > 0 ? gs_child(&k, 0) : target;
    } else {
        target = gs_inner(c);
    }
    CXCursor var = clang_Cursor_isNull(target) ? target : gs_root_variable(arena, target);
    const bool own = (var.kind == CXCursor_VarDecl || var.kind == CXCursor_ParmDecl) &&
                     clang_getCursorSemanticParent(var).kind == CXCursor_FunctionDecl &&
                     clang_Cursor_getStorageClass(var) != CX_SC_Static &&
                     clang_getAddressSpace(gs_flow_type(var)) != GS_AS_LOCAL;
    return own ? var : clang_getNullCursor();
}

/* A look at a function of the program that is called: does it do more than to compute? */
struct calls {
    const struct gs_append_search *s;
    uint32_t unit;
    unsigned depth;
    unsigned *left; /* so many functions are looked at */
};

static bool call_acts(CXCursor c, const struct calls *x);

static bool acts_in_function(CXCursor c, void *data)
{
    const struct calls *x = data;
    if (is_assignment(c) || is_step(c))
        return clang_Cursor_isNull(set_by_name(x->s->f->arena, c));
    return c.kind == CXCursor_BlockExpr || c.kind == CXCursor_StmtExpr || c.kind == CXCursor_GCCAsmStmt ||
           c.kind == CXCursor_MSAsmStmt || (c.kind == CXCursor_CallExpr && call_acts(c, x));
}

static bool call_acts(CXCursor c, const struct calls *x)
{
    const struct gs_append_search *s = x->s;
    CXCursor callee = clang_getCursorReferenced(c);
    if (callee.kind != CXCursor_FunctionDecl)
        return true;
    const uint32_t func = gs_program_func(s->f->program, callee, x->unit);
    if (func != GS_NO_FUNC) {
        const struct gs_func *g = &s->f->program->funcs[func];
        struct calls inner = {s, g->unit, x->depth + 1, x->left};
        if (!g->defined || x->depth >= MAX_DEPTH || !*x->left)
            return true;
        --*x->left;
        return gs_append_any(g->def, acts_in_function, &inner);
    }
    const char *name = gs_take_string(s->f->arena, clang_getCursorSpelling(callee));
    if (strncmp(name, "vload", 5) == 0)
        return false;
    if (gs_builtin_refusal(name) || gs_builtin_uses_group(name) || strstr(name, "barrier") || strstr(name, "fence") ||
        gs_flow_type(c).kind == CXType_Void)
        return true;
    for (unsigned i = 0; i < gs_n_args(c); i++)
        if (gs_holds_pointers(gs_flow_type(clang_Cursor_getArgument(c, i))))
            return true;
    return false;
}

bool gs_append_acts(CXCursor c, void *data)
{
    const struct gs_append_search *s = data;
    unsigned left = MOST_CALLED;
    const struct calls x = {s, s->unit, 0, &left};
    return is_assignment(c) || is_step(c) || c.kind == CXCursor_BlockExpr || c.kind == CXCursor_StmtExpr ||
           (c.kind == CXCursor_CallExpr && call_acts(c, &x));
}

static bool declares(CXCursor c, void *data)
{
    return c.kind == CXCursor_VarDecl && clang_equalCursors(c, *(const CXCursor *)data);
}

bool gs_append_acts_beyond(CXCursor c, void *data)
{
    const struct gs_append_scope *x = data;
    if (gs_append_jumps(c, NULL))
        return true;
    if (!is_assignment(c) && !is_step(c))
        return gs_append_acts(c, x->s);
    CXCursor var = set_by_name(x->s->f->arena, c);
    for (unsigned i = 0; i < x->n; i++)
        if (!clang_Cursor_isNull(var) && gs_append_any(gs_child(x->block, x->from + i), declares, &var))
            return false;
    return true;
}

/* ---- numbers ---- */

bool gs_append_constant(CXCursor e, uint64_t *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(e);
    const bool is = r && clang_EvalResult_getKind(r) == CXEval_Int;
    if (is)
        *value = clang_EvalResult_isUnsignedInt(r) ? clang_EvalResult_getAsUnsigned(r)
                                                   : (uint64_t)clang_EvalResult_getAsLongLong(r);
    clang_EvalResult_dispose(r);
    return is;
}

bool gs_append_int_type(CXType t, uint8_t *type)
{
    return t.kind != CXType_Bool && gs_int_type_of(t, type);
}

bool gs_append_is_wide(CXType t)
{
    uint8_t type;
    return gs_append_int_type(t, &type) && gs_int_bits(type) >= 32;
}
/* Is it a pointer of its function's own that nothing changes? */
static bool keeps_its_value(struct gs_append_search *s, CXCursor var)
{
    CXCursor around = clang_getCursorDefinition(clang_getCursorSemanticParent(var));
    struct changed x = {s->f->arena, var};
    return around.kind == CXCursor_FunctionDecl && gs_is_pointer(gs_flow_type(var)) &&
           clang_Cursor_getStorageClass(var) != CX_SC_Static &&
           clang_getAddressSpace(gs_flow_type(var)) != GS_AS_LOCAL && !gs_append_any(around, changes, &x);
}

CXCursor gs_append_number_inside(CXCursor e)
{
    while (e.kind == CXCursor_ParenExpr || e.kind == CXCursor_UnexposedExpr || e.kind == CXCursor_CStyleCastExpr) {
        CXCursor inner = gs_inner(e);
        if (clang_Cursor_isNull(inner) || !gs_append_is_wide(gs_flow_type(e)) ||
            !gs_append_is_wide(gs_flow_type(inner)))
            break;
        e = inner;
    }
    return e;
}

CXCursor gs_append_steady_number(struct gs_append_search *s, CXCursor e)
{
    e = gs_append_number_inside(e);
    CXCursor decl = e.kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(e) : clang_getNullCursor();
    if (decl.kind != CXCursor_ParmDecl || !gs_append_is_wide(gs_flow_type(decl)))
        return clang_getNullCursor();
    CXCursor around = clang_getCursorDefinition(clang_getCursorSemanticParent(decl));
    struct changed x = {s->f->arena, decl};
    const bool is = around.kind == CXCursor_FunctionDecl && !gs_append_any(around, changes, &x);
    return is ? decl : clang_getNullCursor();
}

bool gs_append_member(CXCursor e, uint64_t *offset)
{
    CXCursor field = clang_getCursorReferenced(e), base = gs_inner(e);
    if (e.kind != CXCursor_MemberRefExpr || field.kind != CXCursor_FieldDecl || clang_Cursor_isBitField(field) ||
        clang_Cursor_isNull(base))
        return false;
    CXType record = gs_flow_type(base);
    if (gs_is_pointer(record))
        record = clang_getCanonicalType(clang_getPointeeType(record));
    /* Of a member without a name, of which it is a member, clang's interface shows nothing. */
    if (!clang_equalCursors(clang_getCanonicalCursor(clang_getTypeDeclaration(record)),
                            clang_getCanonicalCursor(clang_getCursorSemanticParent(field))))
        return false;
    const long long bits = clang_Cursor_getOffsetOfField(field);
    *offset = (uint64_t)bits / 8;
    return bits >= 0 && bits % 8 == 0;
}

static struct gs_append_from nowhere(void)
{
    return (struct gs_append_from){.param = clang_getNullCursor(), .by = clang_getNullCursor()};
}

static struct gs_append_from param_behind(struct gs_append_search *s, CXCursor e, unsigned depth);

/* pointer + index, or &pointer[index]: the children of what adds the two. */
static struct gs_append_from added(struct gs_append_search *s, CXCursor e, unsigned depth)
{
    struct gs_children k;
    uint64_t n;
    gs_children(s->f->arena, e, &k);
    if (k.n != 2)
        return nowhere();
    const CXType type = gs_flow_type(gs_child(&k, 0));
    const long long size = gs_is_pointer(type) ? clang_Type_getSizeOf(clang_getPointeeType(type)) : 0;
    struct gs_append_from from = size > 0 ? param_behind(s, gs_child(&k, 0), depth + 1) : nowhere();
    if (clang_Cursor_isNull(from.param))
        return from;
    if (gs_append_constant(gs_child(&k, 1), &n)) {
        from.bytes += n * (uint64_t)size;
        return n <= MAX_OFFSET ? from : nowhere();
    }
    CXCursor by = gs_append_steady_number(s, gs_child(&k, 1));
    if (clang_Cursor_isNull(by) || !clang_Cursor_isNull(from.by))
        return nowhere();
    from.by = by;
    from.scale = (uint64_t)size;
    return from;
}

/* What is named: an element, what is pointed to, or a member of these. */
static struct gs_append_from place_behind(struct gs_append_search *s, CXCursor e, unsigned depth)
{
    uint64_t offset = 0;
    while (e.kind == CXCursor_ParenExpr)
        e = gs_inner(e);
    if (depth > MAX_DEPTH)
        return nowhere();
    if (e.kind == CXCursor_ArraySubscriptExpr)
        return added(s, e, depth);
    if (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref)
        return param_behind(s, gs_inner(e), depth + 1);
    if (!gs_append_member(e, &offset))
        return nowhere();
    CXCursor base = gs_inner(e);
    struct gs_append_from from =
        gs_is_pointer(gs_flow_type(base)) ? param_behind(s, base, depth + 1) : place_behind(s, base, depth + 1);
    from.bytes += offset;
    return from;
}

static struct gs_append_from param_behind(struct gs_append_search *s, CXCursor e, unsigned depth)
{
    const CXType type = gs_flow_type(e);
    if (depth > MAX_DEPTH)
        return nowhere();
    if (e.kind == CXCursor_ParenExpr || e.kind == CXCursor_UnexposedExpr || e.kind == CXCursor_CStyleCastExpr) {
        CXCursor inner = gs_inner(e);
        if (clang_Cursor_isNull(inner) || !gs_is_pointer(type))
            return nowhere();
        if (gs_is_array(gs_flow_type(inner))) /* a member that is an array: it becomes a pointer to itself */
            return place_behind(s, inner, depth + 1);
        return gs_is_pointer(gs_flow_type(inner)) ? param_behind(s, inner, depth + 1) : nowhere();
    }
    if (e.kind == CXCursor_DeclRefExpr) {
        CXCursor decl = clang_getCursorReferenced(e);
        if (decl.kind == CXCursor_VarDecl && keeps_its_value(s, decl) && !clang_Cursor_isNull(gs_inner(decl)))
            return param_behind(s, gs_inner(decl), depth + 1);
        struct gs_append_from from = nowhere();
        if (decl.kind == CXCursor_ParmDecl && gs_is_pointer(type))
            from.param = decl;
        return from;
    }
    if (e.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(e) == CXBinaryOperator_Add)
        return added(s, e, depth);
    if (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_AddrOf)
        return place_behind(s, gs_inner(e), depth + 1);
    return nowhere();
}

struct gs_append_from gs_append_param(struct gs_append_search *s, CXCursor e)
{
    return param_behind(s, e, 0);
}
