/* SPDX-License-Identifier: MIT */
#include "translator/flow_append.h"

#include "translator/access_program.h"
#include "translator/builtins.h"
#include "translator/flow_tree.h"
#include "translator/flow_type.h"
#include "translator/need.h"

enum { MAX_VARS = 8, MAX_STORES = 64, MAX_SITES = 64, MAX_FACTOR = 1 << 12, MAX_DEPTH = 8 };

/* a * x + c, where x is what the atomic gave. */
struct affine {
    bool ok;
    uint64_t a, c;
};

/* What says that x is below a limit. */
struct limit {
    bool is;
    CXCursor param; /* or null */
    uint8_t type, as;
    int64_t more;
};

struct store {
    CXCursor at;   /* the assignment, or the call of vstoreN */
    CXCursor list; /* parameter */
    uint64_t unit, offset, bytes;
    struct limit limit;
};

/* One atomic and what becomes of its result. */
struct site {
    uint32_t func;
    CXCursor call, counter; /* counter: parameter */
    uint64_t counter_offset;
    enum gs_atomic_type type;
    uint64_t step;
    struct store stores[MAX_STORES];
    unsigned n_stores;
    struct {
        CXCursor decl;
        struct affine is;
        unsigned seen; /* occurrences that are understood */
    } vars[MAX_VARS];
    unsigned n_vars;
    bool failed;
};

struct search {
    struct gs_flow *f;
    const bool *in;
    uint32_t kernel, func, unit;
    struct site *sites;
    uint32_t n_sites, cap_sites;
};

/* ---- looking through a tree ---- */

/* Calls `look` for each cursor below `root`, itself included, until it says true. */
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

static bool any_below(CXCursor root, bool (*look)(CXCursor c, void *data), void *data)
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

/* Has a parameter its value from the begin of its function to the end? */
static bool is_steady(struct search *s, uint32_t func, CXCursor param)
{
    struct changed x = {s->f->arena, param};
    return !any_below(s->f->program->funcs[func].def, changes, &x);
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

static unsigned occurrences(CXCursor root, CXCursor decl)
{
    struct {
        CXCursor decl;
        unsigned n;
    } count = {decl, 0};
    any_below(root, names, &count);
    return count.n;
}

static bool jumps(CXCursor c, void *data)
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

/* Does it do more than to compute? Plain loads are nothing that others see. */
static bool acts(CXCursor c, void *data)
{
    const struct search *s = data;
    if (is_assignment(c) || is_step(c) || c.kind == CXCursor_BlockExpr || c.kind == CXCursor_StmtExpr)
        return true;
    if (c.kind != CXCursor_CallExpr)
        return false;
    CXCursor callee = clang_getCursorReferenced(c);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(s->f->program, callee, s->unit) != GS_NO_FUNC)
        return true;
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

/* ---- numbers ---- */

static bool constant(CXCursor e, uint64_t *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(e);
    const bool is = r && clang_EvalResult_getKind(r) == CXEval_Int;
    if (is)
        *value = clang_EvalResult_isUnsignedInt(r) ? clang_EvalResult_getAsUnsigned(r)
                                                   : (uint64_t)clang_EvalResult_getAsLongLong(r);
    clang_EvalResult_dispose(r);
    return is;
}

/* Of an integer type of OpenCL C; false of any other. */
static bool int_type(CXType t, uint8_t *type)
{
    switch (t.kind) {
    case CXType_Char_S:
    case CXType_SChar:
        *type = GS_I8;
        return true;
    case CXType_Char_U:
    case CXType_UChar:
        *type = GS_U8;
        return true;
    case CXType_Short:
        *type = GS_I16;
        return true;
    case CXType_UShort:
        *type = GS_U16;
        return true;
    case CXType_Int:
        *type = GS_I32;
        return true;
    case CXType_UInt:
        *type = GS_U32;
        return true;
    case CXType_Long:
        *type = GS_I64;
        return true;
    case CXType_ULong:
        *type = GS_U64;
        return true;
    default:
        return false;
    }
}

static bool is_wide_int(CXType t)
{
    uint8_t type;
    return int_type(t, &type) && gs_int_bits(type) >= 32;
}

/* Without parentheses and conversions that keep what is below 2^31. */
static CXCursor number_inside(CXCursor e)
{
    while (e.kind == CXCursor_ParenExpr || e.kind == CXCursor_UnexposedExpr || e.kind == CXCursor_CStyleCastExpr) {
        CXCursor inner = gs_inner(e);
        if (clang_Cursor_isNull(inner) || !is_wide_int(gs_flow_type(e)) || !is_wide_int(gs_flow_type(inner)))
            break;
        e = inner;
    }
    return e;
}

static struct affine no_affine(void)
{
    return (struct affine){.ok = false};
}

/* The variable of the site that a name means; the place in vars, or n_vars. */
static unsigned var_of(const struct site *s, CXCursor decl)
{
    unsigned i = 0;
    while (i < s->n_vars && !clang_equalCursors(s->vars[i].decl, decl))
        i++;
    return i;
}

static bool is_taking(struct search *s, CXCursor e, struct site *out);

/* a * x + c of its variables, counting their occurrences; or, with `direct`, of its atomic. */
static struct affine affine_of(struct search *s, CXCursor e, struct site *site, bool direct)
{
    struct gs_children k;
    uint64_t n = 0;
    e = number_inside(e);
    if (e.kind == CXCursor_DeclRefExpr) {
        const unsigned v = var_of(site, clang_getCursorReferenced(e));
        if (v == site->n_vars)
            return no_affine();
        site->vars[v].seen++;
        return site->vars[v].is;
    }
    if (e.kind == CXCursor_CallExpr)
        return direct && is_taking(s, e, site) ? (struct affine){true, 1, 0} : no_affine();
    if (e.kind != CXCursor_BinaryOperator || !is_wide_int(gs_flow_type(e)))
        return no_affine();
    const enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(e);
    gs_children(s->f->arena, e, &k);
    if (k.n != 2 || (op != CXBinaryOperator_Add && op != CXBinaryOperator_Mul && op != CXBinaryOperator_Shl))
        return no_affine();
    const bool swapped = op != CXBinaryOperator_Shl && constant(gs_child(&k, 0), &n);
    if (!swapped && !constant(gs_child(&k, 1), &n))
        return no_affine();
    struct affine x = affine_of(s, gs_child(&k, swapped ? 1 : 0), site, direct);
    if (op == CXBinaryOperator_Shl)
        n = n < 12 ? (uint64_t)1 << n : MAX_FACTOR + 1;
    if (n > MAX_FACTOR)
        return no_affine();
    x.a *= op == CXBinaryOperator_Add ? 1 : n;
    x.c = op == CXBinaryOperator_Add ? x.c + n : x.c * n;
    x.ok = x.ok && x.a && x.a <= MAX_FACTOR && x.c <= MAX_FACTOR;
    return x;
}

/* ---- the atomic ---- */

/* The parameter of the function around that a pointer is, `offset` bytes behind its begin. Null: it isn't one. */
static CXCursor param_behind(struct search *s, CXCursor e, uint64_t *offset, unsigned depth)
{
    struct gs_children k;
    uint64_t n;
    const CXType type = gs_flow_type(e);
    if (depth > MAX_DEPTH)
        return clang_getNullCursor();
    if (e.kind == CXCursor_ParenExpr || e.kind == CXCursor_UnexposedExpr || e.kind == CXCursor_CStyleCastExpr) {
        CXCursor inner = gs_inner(e);
        if (clang_Cursor_isNull(inner) || !gs_is_pointer(type) || !gs_is_pointer(gs_flow_type(inner)))
            return clang_getNullCursor();
        return param_behind(s, inner, offset, depth + 1);
    }
    if (e.kind == CXCursor_DeclRefExpr) {
        CXCursor decl = clang_getCursorReferenced(e);
        return decl.kind == CXCursor_ParmDecl && gs_is_pointer(type) ? decl : clang_getNullCursor();
    }
    CXCursor pointer = clang_getNullCursor(), index = pointer;
    if (e.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(e) == CXBinaryOperator_Add) {
        gs_children(s->f->arena, e, &k);
    } else if (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_AddrOf) {
        CXCursor of = gs_inner(e);
        while (of.kind == CXCursor_ParenExpr)
            of = gs_inner(of);
        if (of.kind != CXCursor_ArraySubscriptExpr)
            return clang_getNullCursor();
        gs_children(s->f->arena, of, &k);
    } else {
        return clang_getNullCursor();
    }
    if (k.n != 2)
        return clang_getNullCursor();
    pointer = gs_child(&k, 0);
    index = gs_child(&k, 1);
    const long long size =
        gs_is_pointer(gs_flow_type(pointer)) ? clang_Type_getSizeOf(clang_getPointeeType(gs_flow_type(pointer))) : 0;
    if (size <= 0 || !constant(index, &n) || n > MAX_FACTOR)
        return clang_getNullCursor();
    *offset += n * (uint64_t)size;
    return param_behind(s, pointer, offset, depth + 1);
}

/* Is the call an atomic that takes numbers from a counter of 32 bits? Fills what the site says of it. */
static bool is_taking(struct search *s, CXCursor e, struct site *out)
{
    static const char *const adds[] = {"atomic_add", "atom_add", "atomic_fetch_add", "atomic_fetch_add_explicit"};
    CXCursor callee = clang_getCursorReferenced(e);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(s->f->program, callee, s->unit) != GS_NO_FUNC)
        return false;
    const char *name = gs_take_string(s->f->arena, clang_getCursorSpelling(callee));
    const unsigned n = gs_n_args(e);
    bool adds_some = false;
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++)
        adds_some |= strcmp(name, adds[i]) == 0 && n >= 2;
    out->step = 1;
    if (!adds_some && (n != 1 || (strcmp(name, "atomic_inc") != 0 && strcmp(name, "atom_inc") != 0)))
        return false;
    if (adds_some &&
        (!constant(clang_Cursor_getArgument(e, 1), &out->step) || out->step == 0 || out->step > GS_APPEND_MOST_BYTES))
        return false;
    CXCursor pointer = clang_Cursor_getArgument(e, 0);
    CXType of = clang_getCanonicalType(clang_getPointeeType(gs_flow_type(pointer)));
    if (of.kind == CXType_Atomic)
        of = clang_getCanonicalType(clang_Type_getValueType(of));
    if (of.kind != CXType_Int && of.kind != CXType_UInt)
        return false;
    out->type = of.kind == CXType_Int ? GS_ATOMIC_I32 : GS_ATOMIC_U32;
    out->counter_offset = 0;
    out->counter = param_behind(s, pointer, &out->counter_offset, 0);
    out->call = e;
    return !clang_Cursor_isNull(out->counter) && out->counter_offset % 4 == 0;
}

/* ---- stores ---- */

/* The element that a store is to: list[index], or a member of it. */
static bool element_of(struct search *s, CXCursor left, struct store *out, CXCursor *index)
{
    struct gs_children k;
    const long long bytes = clang_Type_getSizeOf(gs_flow_type(left));
    out->offset = 0;
    while (left.kind == CXCursor_ParenExpr)
        left = gs_inner(left);
    while (left.kind == CXCursor_MemberRefExpr) {
        CXCursor field = clang_getCursorReferenced(left), base = gs_inner(left);
        const long long bits = field.kind == CXCursor_FieldDecl ? clang_Cursor_getOffsetOfField(field) : -1;
        if (bits < 0 || bits % 8 || clang_Cursor_isBitField(field) || clang_Cursor_isNull(base) ||
            gs_is_pointer(gs_flow_type(base)))
            return false;
        out->offset += (uint64_t)bits / 8;
        left = base;
        while (left.kind == CXCursor_ParenExpr)
            left = gs_inner(left);
    }
    if (left.kind != CXCursor_ArraySubscriptExpr || bytes <= 0)
        return false;
    gs_children(s->f->arena, left, &k);
    if (k.n != 2)
        return false;
    CXCursor list = gs_strip(gs_child(&k, 0));
    if (list.kind != CXCursor_DeclRefExpr)
        return false;
    out->list = clang_getCursorReferenced(list);
    const CXType type = out->list.kind == CXCursor_ParmDecl ? gs_parameter_type(out->list) : gs_flow_type(list);
    if (out->list.kind != CXCursor_ParmDecl || !gs_is_pointer(type) || gs_space_behind(type) != GS_AS_GLOBAL)
        return false;
    const long long element = clang_Type_getSizeOf(clang_getPointeeType(type));
    if (element <= 0 || element > GS_APPEND_MOST_BYTES)
        return false;
    out->unit = (uint64_t)element;
    out->bytes = (uint64_t)bytes;
    *index = gs_child(&k, 1);
    return true;
}

/* vstoreN(v, index, list) */
static bool vector_of(struct search *s, CXCursor call, struct store *out, CXCursor *index)
{
    CXCursor callee = clang_getCursorReferenced(call);
    if (callee.kind != CXCursor_FunctionDecl || gs_n_args(call) != 3 ||
        gs_program_func(s->f->program, callee, s->unit) != GS_NO_FUNC)
        return false;
    const char *name = gs_take_string(s->f->arena, clang_getCursorSpelling(callee));
    if (strncmp(name, "vstore", 6) != 0 || strspn(name + 6, "0123456789") != strlen(name + 6))
        return false;
    const long n = strtol(name + 6, NULL, 10);
    CXCursor list = gs_strip(clang_Cursor_getArgument(call, 2));
    if (n < 2 || n > 16 || list.kind != CXCursor_DeclRefExpr)
        return false;
    out->list = clang_getCursorReferenced(list);
    if (out->list.kind != CXCursor_ParmDecl)
        return false;
    const CXType type = gs_parameter_type(out->list);
    if (!gs_is_pointer(type) || gs_space_behind(type) != GS_AS_GLOBAL)
        return false;
    const long long element = clang_Type_getSizeOf(clang_getPointeeType(type));
    if (element <= 0 || element > 8)
        return false;
    out->unit = out->bytes = (uint64_t)(n * element);
    out->offset = 0;
    *index = clang_Cursor_getArgument(call, 1);
    return true;
}

/* Is the expression a store to a list at a place that x says? It becomes one of the site's. */
static bool take_store(struct search *s, CXCursor e, struct site *site, const struct limit *limit, bool direct)
{
    struct gs_children k;
    struct store st = {.at = e, .limit = *limit};
    CXCursor index = clang_getNullCursor(), value = index;
    if (e.kind == CXCursor_CallExpr && vector_of(s, e, &st, &index)) {
        value = clang_Cursor_getArgument(e, 0);
    } else if (e.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(e) == CXBinaryOperator_Assign) {
        gs_children(s->f->arena, e, &k);
        if (k.n != 2 || !element_of(s, gs_child(&k, 0), &st, &index))
            return false;
        value = gs_child(&k, 1);
    } else {
        return false;
    }
    const struct affine at = affine_of(s, index, site, direct);
    if (!at.ok || site->n_stores == MAX_STORES)
        return false;
    /* What is stored does nothing itself where a limit may keep it from being stored. */
    if (limit->is && any_below(value, acts, s))
        return false;
    st.offset += at.c * st.unit;
    st.unit *= at.a;
    site->stores[site->n_stores++] = st;
    return true;
}

/* ---- limits ---- */

/* Does the condition say that x is below something that stays the same (or, if `opposite`, that it isn't)? */
static bool limit_of(struct search *s, CXCursor cond, bool opposite, struct site *site, struct limit *out)
{
    struct gs_children k;
    uint8_t right_type;
    while (cond.kind == CXCursor_ParenExpr)
        cond = gs_inner(cond);
    while (cond.kind == CXCursor_UnexposedExpr && !clang_Cursor_isNull(gs_inner(cond)))
        cond = gs_inner(cond);
    if (cond.kind != CXCursor_BinaryOperator)
        return false;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cond);
    gs_children(s->f->arena, cond, &k);
    if (k.n != 2)
        return false;
    CXCursor left = gs_child(&k, 0), right = gs_child(&k, 1);
    uint64_t number;
    const bool swapped = occurrences(left, site->vars[0].decl) == 0;
    if (swapped) {
        CXCursor x = left;
        left = right;
        right = x;
        op = op == CXBinaryOperator_LT   ? CXBinaryOperator_GT
             : op == CXBinaryOperator_LE ? CXBinaryOperator_GE
             : op == CXBinaryOperator_GT ? CXBinaryOperator_LT
             : op == CXBinaryOperator_GE ? CXBinaryOperator_LE
                                         : op;
    }
    bool below = op == CXBinaryOperator_LT, at_most = op == CXBinaryOperator_LE;
    if (opposite) {
        below = op == CXBinaryOperator_GE;
        at_most = op == CXBinaryOperator_GT;
    }
    if (!below && !at_most)
        return false;
    *out = (struct limit){.is = true, .param = clang_getNullCursor()};
    if (!int_type(gs_flow_type(right), &out->as) || !int_type(gs_flow_type(left), &right_type) ||
        out->as != right_type || gs_int_bits(out->as) < 32)
        return false;
    const struct affine x = affine_of(s, left, site, false);
    if (!x.ok || x.a != 1)
        return false;
    out->more = (int64_t)at_most - (int64_t)x.c;
    out->type = GS_I64;
    if (constant(right, &number)) {
        if (number > INT32_MAX)
            return false;
        out->more += (int64_t)number;
        return true;
    }
    while (right.kind == CXCursor_ParenExpr || right.kind == CXCursor_UnexposedExpr) {
        CXCursor inner = gs_inner(right);
        if (clang_Cursor_isNull(inner))
            return false;
        right = inner;
    }
    out->param = right.kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(right) : clang_getNullCursor();
    return out->param.kind == CXCursor_ParmDecl && int_type(gs_flow_type(out->param), &out->type) &&
           is_steady(s, s->func, out->param);
}

/* ---- blocks ---- */

/* Variables that are declared, from the one with index `from` on: those made of x become the site's. */
static bool take_declaration(struct search *s, CXCursor st, unsigned from, struct site *site)
{
    struct gs_children k;
    gs_children(s->f->arena, st, &k);
    for (unsigned i = from; i < k.n; i++) {
        CXCursor var = gs_child(&k, i);
        if (var.kind != CXCursor_VarDecl)
            return false;
        CXCursor init = gs_inner(var);
        if (clang_Cursor_isNull(init))
            continue;
        bool uses = false;
        for (unsigned v = 0; v < site->n_vars; v++)
            uses |= occurrences(init, site->vars[v].decl) > 0;
        if (!uses)
            continue;
        const struct affine is = affine_of(s, init, site, false);
        if (!is.ok || site->n_vars == MAX_VARS || !is_wide_int(gs_flow_type(var)))
            return false;
        site->vars[site->n_vars].decl = var;
        site->vars[site->n_vars].seen = 0;
        site->vars[site->n_vars++].is = is;
    }
    return true;
}

/* Is the statement nothing but stores to lists, and variables for them? */
static bool only_stores(struct search *s, CXCursor st, struct site *site, const struct limit *limit)
{
    struct gs_children k;
    gs_children(s->f->arena, st, &k);
    if (st.kind == CXCursor_CompoundStmt) {
        for (unsigned i = 0; i < k.n; i++)
            if (!only_stores(s, gs_child(&k, i), site, limit))
                return false;
        return true;
    }
    if (st.kind == CXCursor_NullStmt)
        return true;
    if (st.kind == CXCursor_DeclStmt)
        return !any_below(st, acts, s) && take_declaration(s, st, 0, site);
    return take_store(s, st, site, limit, false);
}

/* What a block's end leads to. */
struct ending {
    bool function, iteration; /* nothing is left to do in the function; in the iteration of the loop around */
};

static bool leaves(struct search *s, CXCursor st, struct ending e)
{
    struct gs_children k;
    gs_children(s->f->arena, st, &k);
    if (st.kind == CXCursor_CompoundStmt)
        return k.n == 1 && leaves(s, gs_child(&k, 0), e);
    if (st.kind == CXCursor_ReturnStmt)
        return k.n == 0 && e.function;
    return st.kind == CXCursor_ContinueStmt && e.iteration;
}

/* The statements of a block behind the one that has taken a number. */
static bool follow_block(struct search *s, const struct gs_children *block, unsigned from, struct ending end,
                         struct site *site)
{
    struct limit limit = {.param = clang_getNullCursor()};
    unsigned last = from; /* behind the last one that has to do with the number */
    for (unsigned i = from; i < block->n; i++)
        for (unsigned v = 0; v < site->n_vars; v++) {
            CXCursor c = gs_child(block, i);
            struct gs_children k;
            /* Variables made of it come in as they are declared. */
            if (occurrences(c, site->vars[v].decl) == 0)
                continue;
            last = i + 1;
            gs_children(s->f->arena, c, &k);
            if (c.kind == CXCursor_DeclStmt) {
                if (!take_declaration(s, c, 0, site))
                    return false;
            } else if (c.kind == CXCursor_IfStmt) {
                struct limit inner;
                if (k.n != 2 || limit.is)
                    return false;
                if (leaves(s, gs_child(&k, 1), end)) {
                    if (!limit_of(s, gs_child(&k, 0), true, site, &limit))
                        return false;
                } else if (!limit_of(s, gs_child(&k, 0), false, site, &inner) ||
                           !only_stores(s, gs_child(&k, 1), site, &inner)) {
                    return false;
                }
            } else if (!take_store(s, c, site, &limit, false)) {
                return false;
            }
            break;
        }
    /* Behind a guard that leaves, all that is left is under it. */
    bool under = false;
    for (unsigned i = from; i < block->n; i++) {
        CXCursor c = gs_child(block, i);
        bool guard = false;
        if (c.kind == CXCursor_IfStmt) {
            struct gs_children k;
            gs_children(s->f->arena, c, &k);
            guard = k.n == 2 && leaves(s, gs_child(&k, 1), end) && occurrences(c, site->vars[0].decl) > 0;
        }
        if (!guard && i < last && any_below(c, jumps, NULL))
            return false;
        if (under && !guard) {
            struct site scratch = *site;
            if (c.kind != CXCursor_NullStmt && (c.kind != CXCursor_DeclStmt || any_below(c, acts, s)) &&
                !take_store(s, c, &scratch, &limit, false))
                return false;
        }
        under |= guard;
    }
    return under == limit.is;
}

static void add_site(struct search *s, const struct site *site)
{
    GS_GROW(s->f->arena, s->sites, s->n_sites, s->cap_sites);
    s->sites[s->n_sites++] = *site;
}

/* Does child i of a block take a number into a variable, the given one of those that it declares? */
static void look_at_variable(struct search *s, const struct gs_children *block, unsigned i, struct ending end,
                             CXCursor var, CXCursor init, unsigned declared)
{
    CXCursor st = gs_child(block, i);
    const bool declares = st.kind == CXCursor_DeclStmt;
    struct site site = {.func = s->func};
    if (var.kind != CXCursor_VarDecl || clang_Cursor_isNull(init) || !is_wide_int(gs_flow_type(var)))
        return;
    if (clang_Cursor_getStorageClass(var) == CX_SC_Static || clang_getAddressSpace(gs_flow_type(var)) == GS_AS_LOCAL)
        return;
    const struct affine is = affine_of(s, init, &site, true);
    if (!is.ok)
        return;
    site.vars[0].decl = var;
    site.vars[0].is = is;
    site.vars[0].seen = !declares;
    site.n_vars = 1;
    if ((declares && !take_declaration(s, st, declared + 1, &site)) || !follow_block(s, block, i + 1, end, &site))
        return;
    for (unsigned v = 0; v < site.n_vars; v++)
        if (site.vars[v].seen != occurrences(s->f->program->funcs[s->func].def, site.vars[v].decl))
            return;
    add_site(s, &site);
}

static void look_at(struct search *s, const struct gs_children *block, unsigned i, struct ending end)
{
    struct gs_children k;
    CXCursor st = gs_child(block, i);
    gs_children(s->f->arena, st, &k);
    for (unsigned v = 0; v < k.n && st.kind == CXCursor_DeclStmt; v++)
        look_at_variable(s, block, i, end, gs_child(&k, v), gs_inner(gs_child(&k, v)), v);
    if (st.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(st) == CXBinaryOperator_Assign &&
        k.n == 2 && gs_child(&k, 0).kind == CXCursor_DeclRefExpr)
        look_at_variable(s, block, i, end, clang_getCursorReferenced(gs_child(&k, 0)), gs_child(&k, 1), 0);
}

static bool is_loop(CXCursor c)
{
    return c.kind == CXCursor_ForStmt || c.kind == CXCursor_WhileStmt || c.kind == CXCursor_DoStmt;
}

/* All blocks below a statement, whose end leads to `end`. */
static void look_below(struct search *s, CXCursor st, struct ending end)
{
    static const struct limit none;
    struct gs_children k;
    struct site site = {.func = s->func};
    gs_children(s->f->arena, st, &k);
    if ((st.kind == CXCursor_BinaryOperator || st.kind == CXCursor_CallExpr) && take_store(s, st, &site, &none, true) &&
        site.step)
        add_site(s, &site);
    for (unsigned i = 0; i < k.n; i++) {
        CXCursor c = gs_child(&k, i);
        struct ending inner = {false, false};
        if (st.kind == CXCursor_CompoundStmt && i + 1 == k.n)
            inner = end;
        else if (st.kind == CXCursor_IfStmt)
            inner = end;
        else if (is_loop(st) && st.kind != CXCursor_DoStmt && i + 1 == k.n)
            inner.iteration = true;
        if (st.kind == CXCursor_CompoundStmt)
            look_at(s, &k, i, end);
        look_below(s, c, inner);
    }
}

/* ---- what it is to the kernel ---- */

struct finding {
    struct search *s;
    uint32_t func, param, arg, unit; /* the function around is `func` */
    uint64_t offset;
    bool any, failed, exact;
    unsigned depth;
    uint32_t caller;
};

static uint32_t param_index(const struct gs_func *g, CXCursor param)
{
    for (uint32_t i = 0; i < g->n_params; i++)
        if (clang_equalCursors(clang_Cursor_getArgument(g->def, i), param))
            return i;
    return GS_NO_ARG;
}

static uint32_t resolve(struct search *s, uint32_t func, CXCursor param, uint64_t *offset, unsigned depth);

static bool look_at_call(CXCursor c, void *data)
{
    struct finding *x = data;
    uint64_t offset = 0;
    if (c.kind != CXCursor_CallExpr)
        return false;
    CXCursor callee = clang_getCursorReferenced(c);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(x->s->f->program, callee, x->unit) != x->func)
        return false;
    CXCursor given = x->param < gs_n_args(c) ? clang_Cursor_getArgument(c, x->param) : clang_getNullCursor();
    CXCursor param = clang_getNullCursor();
    if (!clang_Cursor_isNull(given) && gs_is_pointer(gs_flow_type(given))) {
        param = param_behind(x->s, given, &offset, 0);
    } else if (!clang_Cursor_isNull(given)) {
        CXCursor name = gs_strip(given);
        /* A number, handed on as the very type. */
        if (name.kind == CXCursor_DeclRefExpr && gs_flow_type(given).kind == gs_flow_type(name).kind)
            param = clang_getCursorReferenced(name);
    }
    const uint32_t arg =
        clang_Cursor_isNull(param) ? GS_NO_ARG : resolve(x->s, x->caller, param, &offset, x->depth + 1);
    x->failed |= arg == GS_NO_ARG || (x->any && (arg != x->arg || offset != x->offset));
    x->any = true;
    x->arg = arg;
    x->offset = offset;
    return x->failed;
}

/* The kernel's argument that a function's parameter always is, and the bytes that it lies behind its begin, which are
 * added to *offset. */
static uint32_t resolve(struct search *s, uint32_t func, CXCursor param, uint64_t *offset, unsigned depth)
{
    const struct gs_program *p = s->f->program;
    const uint32_t index = param_index(&p->funcs[func], param);
    if (index == GS_NO_ARG || depth > MAX_DEPTH || !is_steady(s, func, param))
        return GS_NO_ARG;
    if (func == s->kernel)
        return index;
    struct finding x = {.s = s, .func = func, .param = index, .depth = depth};
    for (uint32_t g = 0; g < p->n_funcs && !x.failed; g++)
        if (s->in[g] && p->funcs[g].defined) {
            x.caller = g;
            x.unit = p->funcs[g].unit;
            any_below(p->funcs[g].def, look_at_call, &x);
        }
    *offset += x.offset;
    return x.any && !x.failed ? x.arg : GS_NO_ARG;
}

/* One list of a site, of whose stores the first to it is `first`; false if it isn't stored whole, or not alike. */
static bool make_append(struct search *s, const struct site *site, unsigned first, struct gs_append *out)
{
    static const struct gs_append none;
    const struct store *a = &site->stores[first];
    uint64_t counter_offset = site->counter_offset, list_offset = 0, limit_offset = 0;
    unsigned char stored[GS_APPEND_MOST_BYTES] = {0};
    const uint64_t whole = a->unit * site->step;
    *out = none;
    out->counter = resolve(s, site->func, site->counter, &counter_offset, 0);
    out->list = resolve(s, site->func, a->list, &list_offset, 0);
    out->limit_arg = GS_NO_ARG;
    out->limited = a->limit.is;
    if (a->limit.is && !clang_Cursor_isNull(a->limit.param)) {
        out->limit_arg = resolve(s, site->func, a->limit.param, &limit_offset, 0);
        if (out->limit_arg == GS_NO_ARG)
            return false;
    }
    if (out->counter == GS_NO_ARG || out->list == GS_NO_ARG || out->counter == out->list || list_offset != 0 ||
        whole > GS_APPEND_MOST_BYTES || counter_offset > UINT32_MAX)
        return false;
    out->counter_offset = (uint32_t)counter_offset;
    out->type = site->type;
    out->step = (uint32_t)site->step;
    out->unit = (uint32_t)a->unit;
    out->limit_type = a->limit.type;
    out->compared_as = a->limit.as;
    out->limit_more = a->limit.more;
    out->site = gs_program_site(s->f->program, site->call, s->f->program->funcs[site->func].unit);
    for (unsigned i = 0; i < site->n_stores; i++) {
        const struct store *b = &site->stores[i];
        if (!clang_equalCursors(a->list, b->list))
            continue;
        if (b->unit != a->unit || b->offset + b->bytes > whole || b->limit.is != a->limit.is ||
            !clang_equalCursors(b->limit.param, a->limit.param) || b->limit.more != a->limit.more ||
            b->limit.as != a->limit.as)
            return false;
        memset(stored + b->offset, 1, b->bytes);
    }
    return !memchr(stored, 0, whole);
}

static bool alike(const struct gs_append *a, const struct gs_append *b)
{
    return a->list == b->list && a->counter == b->counter && a->counter_offset == b->counter_offset &&
           a->step == b->step && a->unit == b->unit && a->limited == b->limited && a->limit_arg == b->limit_arg &&
           a->limit_type == b->limit_type && a->compared_as == b->compared_as && a->limit_more == b->limit_more &&
           a->type == b->type;
}

/* Takes the lists of a site over. With `again`, they must be those of the counter already: whoever takes a number
 * stores to all of them. */
static bool add_lists(struct search *s, const struct site *site, struct gs_appends *out)
{
    struct gs_append mine[MAX_STORES];
    unsigned n = 0, of_counter = 0;
    for (unsigned i = 0; i < site->n_stores; i++) {
        bool met = false;
        for (unsigned j = 0; j < i; j++)
            met |= clang_equalCursors(site->stores[i].list, site->stores[j].list);
        if (met)
            continue;
        if (!make_append(s, site, i, &mine[n]))
            return false;
        for (unsigned j = 0; j < n; j++)
            if (mine[j].list == mine[n].list) /* by two parameters of a helper */
                return false;
        n++;
    }
    if (!n)
        return false;
    for (uint32_t i = 0; i < out->n; i++)
        of_counter += out->v[i].counter == mine[0].counter && out->v[i].counter_offset == mine[0].counter_offset;
    for (unsigned i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t j = 0; j < out->n; j++) {
            if (alike(&out->v[j], &mine[i]))
                known = true;
            else if (out->v[j].list == mine[i].list || out->v[j].counter == mine[i].list ||
                     out->v[j].list == mine[i].counter)
                return false;
        }
        if (known != (of_counter > 0))
            return false;
        if (!known) {
            GS_GROW(s->f->arena, out->v, out->n, out->cap);
            out->v[out->n++] = mine[i];
        }
    }
    return of_counter == 0 || of_counter == n;
}

/* Is the access one of what is understood? */
static bool is_known(const struct search *s, const struct gs_flow_access *a)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        if (a->what == GS_FLOW_ATOMIC && clang_equalCursors(s->sites[i].call, a->where))
            return true;
        for (unsigned k = 0; k < s->sites[i].n_stores && a->what == GS_FLOW_WRITE; k++)
            if (clang_equalCursors(s->sites[i].stores[k].at, a->where))
                return true;
    }
    return false;
}

/* Is an argument, a list or a counter, touched by nothing else? */
static bool is_alone(struct search *s, uint32_t arg, enum gs_access_what what)
{
    struct gs_flow *f = s->f;
    struct gs_flow_walk *w = &f->walks[0];
    bool touched = false;
    w->number++;
    w->n = 0;
    w->queue[w->n++] = gs_flow_node(f, clang_Cursor_getArgument(f->program->funcs[s->kernel].def, arg));
    w->seen[w->queue[0]] = w->number;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t at = w->queue[i];
        for (uint32_t k = f->access_row[at]; k < f->access_row[at + 1]; k++) {
            const struct gs_flow_access *a = &f->accesses[f->access_at[k]];
            if (!s->in[a->func])
                continue;
            if (a->what != what || a->is_volatile || !is_known(s, a))
                return false;
            touched = true;
        }
        for (uint32_t e = f->edge_row[at]; e < f->edge_row[at + 1]; e++) {
            const uint32_t to = f->edges[f->edge_at[e]].to;
            if (w->seen[to] != w->number) {
                w->seen[to] = w->number;
                w->queue[w->n++] = to;
            }
        }
    }
    return touched;
}

void gs_append_find(struct gs_flow *f, uint32_t kernel, const bool *in, struct gs_appends *out)
{
    const struct gs_program *p = f->program;
    struct search s = {.f = f, .kernel = kernel, .in = in};
    *out = (struct gs_appends){0};
    for (uint32_t i = 0; i < p->n_funcs; i++) {
        struct gs_children k;
        if (!in[i] || !p->funcs[i].defined)
            continue;
        s.func = i;
        s.unit = p->funcs[i].unit;
        gs_children(f->arena, p->funcs[i].def, &k);
        for (unsigned c = 0; c < k.n; c++)
            if (gs_child(&k, c).kind == CXCursor_CompoundStmt)
                look_below(&s, gs_child(&k, c), (struct ending){.function = true});
    }
    bool good = s.n_sites > 0 && s.n_sites <= MAX_SITES;
    for (uint32_t i = 0; i < s.n_sites && good; i++) {
        good = add_lists(&s, &s.sites[i], out);
        GS_GROW(f->arena, out->calls, out->n_calls, out->cap_calls);
        out->calls[out->n_calls++] = s.sites[i].call;
    }
    for (uint32_t i = 0; i < out->n && good; i++)
        good = is_alone(&s, out->v[i].list, GS_FLOW_WRITE) && is_alone(&s, out->v[i].counter, GS_FLOW_ATOMIC);
    if (!good)
        *out = (struct gs_appends){0};
}

bool gs_append_takes(const struct gs_appends *a, CXCursor call)
{
    for (uint32_t i = 0; i < a->n_calls; i++)
        if (clang_equalCursors(a->calls[i], call))
            return true;
    return false;
}
