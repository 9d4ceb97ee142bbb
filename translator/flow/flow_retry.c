/* SPDX-License-Identifier: MIT */
/* One iteration is run symbolically: each variable that the loop changes begins it with a value of its own, and so has
 * each load. What is asked at its end: was the new value made of the very bits that the swap expects? */
#include "translator/flow/flow_retry.h"

#include "translator/parsing/builtins.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_VARS = 24, MAX_ORIGINS = 63, MAX_DEPTH = 60, MAX_CURSORS = 500 };

enum what {
    W_SOME,    /* anything computed of its origins */
    W_BITS,    /* the bits of origin `of`, perhaps read as another type of the same size */
    W_NEW,     /* op(x, y), neither of which need be known here */
    W_RESULT,  /* what the swap found */
    W_SUCCESS, /* an int: not 0 if the swap succeeded */
    W_FAILURE  /* the opposite */
};

struct sym {
    enum what what;
    uint64_t origins; /* a bit for each value that it depends on */
    unsigned of;
    /* W_NEW, and of whichever of both sides turns out to be the old value: */
    enum gs_atomic_op op;
    enum gs_atomic_type type;
    bool either; /* y may be the old value too */
    bool bits[2];
    unsigned side[2];
    uint64_t side_origins[2];
    CXCursor side_at[2];
};

struct var {
    CXCursor decl;
    struct sym now;
    bool set; /* has a value in this iteration; else it still has that of the begin */
};

struct run {
    const struct gs_program *p;
    uint32_t unit;
    struct gs_arena *arena;
    struct var vars[MAX_VARS]; /* all that the loop changes */
    unsigned n_vars, n_origins, depth;
    uint64_t carried; /* origins that come from the iteration before */
    bool failed;
    unsigned n_swaps;
    struct sym place, expected, desired; /* arguments of the swap */
    uint64_t element;                    /* bytes that it swaps */
    struct gs_retry *out;
    bool exits; /* an `if` has been seen that leaves the loop on success */
};

static struct sym eval(struct run *r, CXCursor e);

static struct sym fail(struct run *r)
{
    r->failed = true;
    return (struct sym){.what = W_SOME};
}

static struct sym some(uint64_t origins)
{
    return (struct sym){.what = W_SOME, .origins = origins};
}

static struct sym fresh(struct run *r, uint64_t more)
{
    if (r->n_origins == MAX_ORIGINS)
        return fail(r);
    unsigned of = r->n_origins++;
    return (struct sym){.what = W_BITS, .of = of, .origins = ((uint64_t)1 << of) | more};
}

/* ---- variables ---- */

static struct var *find_var(struct run *r, CXCursor decl)
{
    for (unsigned i = 0; i < r->n_vars; i++)
        if (clang_equalCursors(r->vars[i].decl, decl))
            return &r->vars[i];
    return NULL;
}

static void add_var(struct run *r, CXCursor decl)
{
    if (clang_Cursor_isNull(decl) || find_var(r, decl))
        return;
    if (r->n_vars == MAX_VARS) {
        r->failed = true;
        return;
    }
    r->vars[r->n_vars++] = (struct var){.decl = decl};
}

static uint64_t size_of(CXType t)
{
    long long n = t.kind == CXType_Unexposed ? 0 : clang_Type_getSizeOf(t); /* see gs_type_of */
    return n > 0 ? (uint64_t)n : 0;
}

/* The variable whose bytes are all that `e` names: itself, a member of a union as large as that, or *(T *)&x. Null
 * where it isn't known to be one. */
static CXCursor whole_variable(struct run *r, CXCursor e)
{
    CXType type = gs_flow_type(e);
    while (e.kind == CXCursor_ParenExpr)
        e = gs_inner(e);
    if (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref) {
        CXCursor pointer = gs_inner(e);
        while (pointer.kind == CXCursor_ParenExpr || pointer.kind == CXCursor_UnexposedExpr ||
               pointer.kind == CXCursor_CStyleCastExpr)
            pointer = gs_inner(pointer);
        if (pointer.kind != CXCursor_UnaryOperator ||
            clang_getCursorUnaryOperatorKind(pointer) != CXUnaryOperator_AddrOf)
            return clang_getNullCursor();
        e = gs_inner(pointer);
    }
    CXCursor root = gs_root_variable(r->arena, e);
    if (clang_Cursor_isNull(root) || (root.kind != CXCursor_VarDecl && root.kind != CXCursor_ParmDecl))
        return clang_getNullCursor();
    CXType whole = gs_flow_type(root);
    if (whole.kind == CXType_Record && clang_getTypeDeclaration(whole).kind != CXCursor_UnionDecl)
        return clang_getNullCursor();
    if (gs_is_array(whole) || gs_holds_pointers(whole) || size_of(whole) != size_of(type))
        return clang_getNullCursor();
    return root;
}

static struct sym read_var(struct run *r, CXCursor decl)
{
    struct var *v = find_var(r, decl);
    if (!v)
        return some(0); /* the loop doesn't change it */
    if (!v->set) {
        v->now = fresh(r, 0);
        v->set = true;
        r->carried |= v->now.origins;
    }
    return v->now;
}

static void write_var(struct run *r, CXCursor left, struct sym value)
{
    CXCursor whole = whole_variable(r, left), root = gs_root_variable(r->arena, left);
    struct var *v = find_var(r, clang_Cursor_isNull(whole) ? root : whole);
    if (!v) { /* memory, or what the search for changed variables hasn't understood */
        r->failed = true;
        return;
    }
    if (clang_Cursor_isNull(whole))
        value = some(value.origins | read_var(r, root).origins);
    v->now = value;
    v->set = true;
}

static enum CXChildVisitResult find_changes(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct run *r = data;
    enum CXBinaryOperatorKind op;
    enum CXUnaryOperatorKind one;
    switch (c.kind) {
    case CXCursor_VarDecl:
        add_var(r, c);
        break;
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        op = clang_getCursorBinaryOperatorKind(c);
        if (op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign) {
            struct gs_children k;
            gs_children(r->arena, c, &k);
            CXCursor left = k.n == 2 ? gs_child(&k, 0) : clang_getNullCursor(), whole = whole_variable(r, left);
            add_var(r, clang_Cursor_isNull(whole) ? gs_root_variable(r->arena, left) : whole);
        }
        break;
    case CXCursor_UnaryOperator:
        one = clang_getCursorUnaryOperatorKind(c);
        if (one == CXUnaryOperator_PostInc || one == CXUnaryOperator_PostDec || one == CXUnaryOperator_PreInc ||
            one == CXUnaryOperator_PreDec || one == CXUnaryOperator_AddrOf)
            add_var(r, gs_root_variable(r->arena, gs_inner(c)));
        break;
    default:
        break;
    }
    return CXChildVisit_Recurse;
}

/* ---- expressions ---- */

static bool is_float(CXType t)
{
    return t.kind == CXType_Float || t.kind == CXType_Double;
}

static bool is_int(CXType t)
{
    return t.kind == CXType_Int || t.kind == CXType_UInt || t.kind == CXType_Long || t.kind == CXType_ULong;
}

static enum gs_atomic_type atomic_type(CXType t)
{
    switch (t.kind) {
    case CXType_Float:
        return GS_ATOMIC_F32;
    case CXType_Double:
        return GS_ATOMIC_F64;
    case CXType_UInt:
        return GS_ATOMIC_U32;
    case CXType_Long:
        return GS_ATOMIC_I64;
    case CXType_ULong:
        return GS_ATOMIC_U64;
    default:
        return GS_ATOMIC_I32;
    }
}

/* Casts, implicit conversions, and as_type(x), which clang's interface shows as an implicit conversion whose place is
 * not that of x. Bits survive where the type changes between integers of one size, or is only read as another. */
static struct sym eval_conversion(struct run *r, CXCursor e)
{
    CXCursor inner = gs_inner(e);
    if (clang_Cursor_isNull(inner))
        return fail(r);
    CXType to = gs_flow_type(e), from = gs_flow_type(inner);
    struct sym v = eval(r, inner);
    bool same = to.kind == from.kind || (is_int(to) && is_int(from) && size_of(to) == size_of(from));
    bool reads = e.kind == CXCursor_UnexposedExpr && (is_int(to) || is_float(to)) && (is_int(from) || is_float(from)) &&
                 size_of(to) == size_of(from) &&
                 !clang_equalRanges(clang_getCursorExtent(e), clang_getCursorExtent(inner));
    bool truth = (v.what == W_SUCCESS || v.what == W_FAILURE) && (is_int(to) || to.kind == CXType_Bool);
    return same || reads || truth ? v : some(v.origins);
}

static struct sym make_new(enum gs_atomic_op op, CXType type, bool either, CXCursor x_at, struct sym x, CXCursor y_at,
                           struct sym y)
{
    struct sym v = {.what = W_NEW, .op = op, .type = atomic_type(type), .either = either};
    v.origins = x.origins | y.origins;
    v.bits[0] = x.what == W_BITS;
    v.bits[1] = y.what == W_BITS;
    v.side[0] = x.of;
    v.side[1] = y.of;
    v.side_origins[0] = x.origins;
    v.side_origins[1] = y.origins;
    v.side_at[0] = x_at;
    v.side_at[1] = y_at;
    return v;
}

static struct sym combine(enum CXBinaryOperatorKind op, CXType type, CXCursor left, struct sym x, CXCursor right,
                          struct sym y)
{
    if (!is_int(type) && !is_float(type))
        return some(x.origins | y.origins);
    switch (op) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_AddAssign:
        return make_new(GS_ATOMIC_ADD, type, true, left, x, right, y);
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_SubAssign:
        return make_new(GS_ATOMIC_ADD, type, false, left, x, right, y);
    case CXBinaryOperator_And:
    case CXBinaryOperator_AndAssign:
        return make_new(GS_ATOMIC_AND, type, true, left, x, right, y);
    case CXBinaryOperator_Or:
    case CXBinaryOperator_OrAssign:
        return make_new(GS_ATOMIC_OR, type, true, left, x, right, y);
    case CXBinaryOperator_Xor:
    case CXBinaryOperator_XorAssign:
        return make_new(GS_ATOMIC_XOR, type, true, left, x, right, y);
    default:
        return some(x.origins | y.origins);
    }
}

/* Did the swap find what it expected? By its bits: 0.0 and -0.0 are equal, and no NaN equals itself. */
static struct sym compare(struct run *r, CXCursor left, struct sym x, struct sym y, bool equal)
{
    struct sym other = x.what == W_RESULT ? y : x, v = some(x.origins | y.origins);
    bool asks = (x.what == W_RESULT) != (y.what == W_RESULT) && r->n_swaps == 1 && other.what == W_BITS &&
                r->expected.what == W_BITS && other.of == r->expected.of && is_int(gs_flow_type(left));
    if (asks)
        v.what = equal ? W_SUCCESS : W_FAILURE;
    return v;
}

static struct sym eval_binary(struct run *r, CXCursor e)
{
    struct gs_children k;
    gs_children(r->arena, e, &k);
    if (k.n != 2)
        return fail(r);
    CXCursor left = gs_child(&k, 0), right = gs_child(&k, 1);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(e);
    struct sym x, y;
    switch (op) {
    case CXBinaryOperator_Assign:
        y = eval(r, right);
        write_var(r, left, y);
        return y;
    case CXBinaryOperator_Comma:
        eval(r, left);
        return eval(r, right);
    case CXBinaryOperator_LAnd:
    case CXBinaryOperator_LOr: { /* the right side may not run: it must do nothing */
        unsigned swaps = r->n_swaps;
        x = eval(r, left);
        y = eval(r, right);
        return r->n_swaps != swaps ? fail(r) : some(x.origins | y.origins);
    }
    default:
        x = eval(r, left);
        y = eval(r, right);
    }
    if (op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE)
        return compare(r, left, x, y, op == CXBinaryOperator_EQ);
    if (e.kind == CXCursor_CompoundAssignOperator) {
        CXType type = gs_flow_type(left);
        y = gs_flow_type(right).kind == type.kind ? combine(op, type, left, x, right, y) : some(x.origins | y.origins);
        write_var(r, left, y);
        return y;
    }
    return combine(op, gs_flow_type(e), left, x, right, y);
}

static struct sym eval_unary(struct run *r, CXCursor e)
{
    CXCursor inner = gs_inner(e), whole;
    struct sym v;
    switch (clang_getCursorUnaryOperatorKind(e)) {
    case CXUnaryOperator_Deref:
        whole = whole_variable(r, e);
        if (!clang_Cursor_isNull(whole))
            return read_var(r, whole);
        return fresh(r, eval(r, inner).origins);
    case CXUnaryOperator_AddrOf:
        if (!clang_Cursor_isNull(gs_root_variable(r->arena, inner)))
            return fail(r); /* who knows what is done with it */
        inner = gs_strip(inner);
        if (inner.kind == CXCursor_UnaryOperator || inner.kind == CXCursor_ArraySubscriptExpr) {
            struct gs_children k;
            uint64_t origins = 0;
            gs_children(r->arena, inner, &k);
            for (unsigned i = 0; i < k.n; i++)
                origins |= eval(r, gs_child(&k, i)).origins;
            return some(origins);
        }
        return fail(r);
    case CXUnaryOperator_LNot:
        v = eval(r, inner);
        v.what = v.what == W_SUCCESS ? W_FAILURE : v.what == W_FAILURE ? W_SUCCESS : W_SOME;
        return v;
    case CXUnaryOperator_Plus:
    case CXUnaryOperator_Minus:
    case CXUnaryOperator_Not:
        return some(eval(r, inner).origins);
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        v = some(eval(r, inner).origins);
        write_var(r, inner, v);
        return v;
    default:
        return fail(r);
    }
}

static struct sym eval_place(struct run *r, CXCursor e)
{
    CXCursor whole = whole_variable(r, e), root = gs_root_variable(r->arena, e);
    struct gs_children k;
    uint64_t origins = 0;
    if (!clang_Cursor_isNull(whole))
        return read_var(r, whole);
    if (!clang_Cursor_isNull(root)) /* a part of a variable, or an array's element */
        origins |= find_var(r, root) ? read_var(r, root).origins : 0;
    gs_children(r->arena, e, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(gs_child(&k, i).kind) && clang_Cursor_isNull(root))
            origins |= eval(r, gs_child(&k, i)).origins;
        else if (e.kind == CXCursor_ArraySubscriptExpr && i > 0)
            origins |= eval(r, gs_child(&k, i)).origins;
    return clang_Cursor_isNull(root) ? fresh(r, origins) : some(origins);
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* atomic_cmpxchg(p, expected, desired) and its 64-bit name, and OpenCL 2's exchange, which takes the expected value by
 * its address. */
static struct sym eval_swap(struct run *r, CXCursor call, bool by_address)
{
    CXCursor expected = clang_Cursor_getArgument(call, 1);
    CXType element = clang_getCanonicalType(clang_getPointeeType(gs_flow_type(clang_Cursor_getArgument(call, 0))));
    r->n_swaps++;
    r->element = size_of(element);
    r->place = eval(r, clang_Cursor_getArgument(call, 0));
    r->desired = eval(r, clang_Cursor_getArgument(call, 2));
    if (!by_address) {
        r->expected = eval(r, expected);
        if (size_of(gs_flow_type(expected)) != r->element)
            return fail(r);
    } else {
        expected = gs_strip(expected);
        if (expected.kind != CXCursor_UnaryOperator ||
            clang_getCursorUnaryOperatorKind(expected) != CXUnaryOperator_AddrOf)
            return fail(r);
        CXCursor whole = whole_variable(r, gs_inner(expected));
        struct var *v = clang_Cursor_isNull(whole) ? NULL : find_var(r, whole);
        if (!v || size_of(gs_flow_type(whole)) != r->element)
            return fail(r);
        r->expected = read_var(r, whole);
        v->now = fresh(r, 0);
        r->carried |= v->now.origins;
    }
    struct sym result = fresh(r, 0);
    r->carried |= result.origins;
    result.what = by_address ? W_SUCCESS : W_RESULT;
    r->out->swap = call;
    return result;
}

/* An integer that is known beforehand. */
static bool known_int(CXCursor e, long long *out)
{
    CXEvalResult v = clang_Cursor_Evaluate(e);
    const bool known = v && clang_EvalResult_getKind(v) == CXEval_Int;
    *out = known ? clang_EvalResult_getAsLongLong(v) : 0;
    clang_EvalResult_dispose(v);
    return known;
}

bool gs_atomic_only_reads(const char *name, CXCursor call)
{
    enum gs_atomic_op op;
    long long x, y;
    const unsigned n = gs_n_args(call);
    if (!gs_builtin_atomic(name, &op))
        return false;
    if (begins(name, "atomic_load"))
        return n > 0;
    if (strcmp(name, "atomic_cmpxchg") == 0 || strcmp(name, "atom_cmpxchg") == 0)
        return n == 3 && known_int(clang_Cursor_getArgument(call, 1), &x) &&
               known_int(clang_Cursor_getArgument(call, 2), &y) && x == y;
    const bool zero_keeps = op == GS_ATOMIC_ADD || op == GS_ATOMIC_OR || op == GS_ATOMIC_XOR;
    return zero_keeps && n >= 2 && known_int(clang_Cursor_getArgument(call, 1), &x) && x == 0;
}

static struct sym eval_call(struct run *r, CXCursor e)
{
    CXCursor callee = clang_getCursorReferenced(e);
    unsigned n = gs_n_args(e);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(r->p, callee, r->unit) != GS_NO_FUNC)
        return fail(r);
    const char *name = gs_take_string(r->arena, clang_getCursorSpelling(callee));
    if (gs_atomic_only_reads(name, e))
        return fresh(r, eval(r, clang_Cursor_getArgument(e, 0)).origins);
    if (n == 3 && (strcmp(name, "atomic_cmpxchg") == 0 || strcmp(name, "atom_cmpxchg") == 0))
        return eval_swap(r, e, false);
    if (n >= 3 && begins(name, "atomic_compare_exchange_"))
        return eval_swap(r, e, true);
    struct sym v[2] = {0};
    uint64_t origins = 0;
    for (unsigned i = 0; i < n; i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        if (gs_holds_pointers(gs_flow_type(a)))
            return fail(r);
        struct sym s = eval(r, a);
        origins |= s.origins;
        if (i < 2)
            v[i] = s;
    }
    CXType type = gs_flow_type(e);
    /* Not min and max of floating-point numbers: they say nothing of a NaN. */
    bool least = strcmp(name, is_float(type) ? "fmin" : "min") == 0;
    if (n == 2 && (least || strcmp(name, is_float(type) ? "fmax" : "max") == 0) && (is_int(type) || is_float(type)))
        return make_new(least ? GS_ATOMIC_MIN : GS_ATOMIC_MAX, type, true, clang_Cursor_getArgument(e, 0), v[0],
                        clang_Cursor_getArgument(e, 1), v[1]);
    if (n == 1 && begins(name, "as_") && size_of(type) == size_of(gs_flow_type(clang_Cursor_getArgument(e, 0))))
        return v[0];
    /* Built-in functions without pointers compute, save for images and what speaks to others. */
    if (begins(name, "write_image") || begins(name, "atom") || strstr(name, "barrier") || begins(name, "work_group_") ||
        begins(name, "sub_group_") || strcmp(name, "printf") == 0)
        return fail(r);
    return some(origins);
}

static struct sym eval_one(struct run *r, CXCursor e)
{
    struct sym v;
    struct gs_children k;
    CXCursor to;
    switch (e.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr: /* sizeof */
        return some(0);
    case CXCursor_DeclRefExpr:
        to = clang_getCursorReferenced(e);
        if (to.kind != CXCursor_VarDecl && to.kind != CXCursor_ParmDecl)
            return some(0);
        v = read_var(r, to);
        return clang_Cursor_isNull(whole_variable(r, e)) ? some(v.origins) : v;
    case CXCursor_MemberRefExpr:
    case CXCursor_ArraySubscriptExpr:
        return eval_place(r, e);
    case CXCursor_ParenExpr:
        return eval(r, gs_inner(e));
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr:
        return eval_conversion(r, e);
    case CXCursor_UnaryOperator:
        return eval_unary(r, e);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return eval_binary(r, e);
    case CXCursor_CallExpr:
        return eval_call(r, e);
    case CXCursor_InitListExpr: /* of a union */
        to = gs_inner(e);
        if (clang_Cursor_isNull(to) || size_of(gs_flow_type(to)) != size_of(gs_flow_type(e)))
            return fail(r);
        return eval(r, to);
    case CXCursor_ConditionalOperator: {
        unsigned swaps = r->n_swaps;
        v = some(0);
        gs_children(r->arena, e, &k);
        for (unsigned i = 0; i < k.n; i++)
            v.origins |= eval(r, gs_child(&k, i)).origins;
        return r->n_swaps != swaps ? fail(r) : v;
    }
    default:
        return fail(r);
    }
}

static struct sym eval(struct run *r, CXCursor e)
{
    if (r->failed || ++r->depth > MAX_DEPTH)
        return fail(r);
    struct sym v = eval_one(r, e);
    r->depth--;
    return v;
}

/* ---- statements ---- */

static bool leaves(struct run *r, CXCursor s)
{
    struct gs_children k;
    if (s.kind == CXCursor_BreakStmt || s.kind == CXCursor_ReturnStmt)
        return true;
    gs_children(r->arena, s, &k);
    return s.kind == CXCursor_CompoundStmt && k.n == 1 && leaves(r, gs_child(&k, 0));
}

static void run_statement(struct run *r, CXCursor s)
{
    struct gs_children k;
    if (r->failed || ++r->depth > MAX_DEPTH) {
        r->failed = true;
        return;
    }
    gs_children(r->arena, s, &k);
    switch (s.kind) {
    case CXCursor_CompoundStmt:
    case CXCursor_DeclStmt:
        for (unsigned i = 0; i < k.n; i++)
            run_statement(r, gs_child(&k, i));
        break;
    case CXCursor_VarDecl: {
        struct var *v = find_var(r, s);
        CXCursor init = clang_Cursor_getVarDeclInitializer(s);
        if (v && !clang_Cursor_isNull(init)) {
            v->now = eval(r, init);
            v->set = true;
        }
        break;
    }
    case CXCursor_IfStmt: /* only that which leaves the loop on success, and once */
        if (k.n != 2 || r->exits || eval(r, gs_child(&k, 0)).what != W_SUCCESS || !leaves(r, gs_child(&k, 1)))
            r->failed = true;
        r->exits = true;
        r->out->exit = s;
        break;
    case CXCursor_UnionDecl:
    case CXCursor_NullStmt:
        break;
    default:
        if (clang_isExpression(s.kind))
            eval(r, s);
        else
            r->failed = true;
    }
    r->depth--;
}

static bool is_endless(CXCursor condition)
{
    if (clang_Cursor_isNull(condition))
        return true;
    CXEvalResult v = clang_Cursor_Evaluate(condition);
    bool yes = v && clang_EvalResult_getKind(v) == CXEval_Int && clang_EvalResult_getAsInt(v) != 0;
    clang_EvalResult_dispose(v);
    return yes;
}

static void run_iteration(struct run *r, CXCursor condition, CXCursor body, bool tested_after)
{
    bool endless = is_endless(condition);
    enum what again = W_FAILURE;
    if (!tested_after && !endless)
        again = eval(r, condition).what;
    run_statement(r, body);
    if (tested_after && !endless)
        again = eval(r, condition).what;
    if (again != W_FAILURE || endless != r->exits)
        r->failed = true;
}

/* Is the new value made of the bits that the swap expects, and of something else that the loop doesn't change? */
static bool take_operation(struct run *r)
{
    const struct sym *d = &r->desired, *e = &r->expected;
    if (r->n_swaps != 1 || e->what != W_BITS || d->what != W_NEW || (r->place.origins & (r->carried | e->origins)))
        return false;
    if ((d->type == GS_ATOMIC_I64 || d->type == GS_ATOMIC_U64 || d->type == GS_ATOMIC_F64 ? 8 : 4) != r->element)
        return false;
    for (unsigned i = 0; i < (d->either ? 2u : 1u); i++) {
        unsigned other = 1 - i;
        if (!d->bits[i] || d->side[i] != e->of || (d->side_origins[other] & (r->carried | e->origins)))
            continue;
        r->out->op = d->op;
        r->out->type = d->type;
        r->out->by = d->side_at[other];
        return true;
    }
    return false;
}

/* What a loop looks like from afar. */
struct glance {
    unsigned n; /* cursors in it */
    bool calls, loops;
};

static enum CXChildVisitResult look(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct glance *g = data;
    g->calls |= c.kind == CXCursor_CallExpr;
    g->loops |= c.kind == CXCursor_ForStmt || c.kind == CXCursor_WhileStmt || c.kind == CXCursor_DoStmt;
    return g->loops || ++g->n > MAX_CURSORS ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool gs_retry_find(const struct gs_program *p, uint32_t unit, CXCursor loop, struct gs_retry *out)
{
    struct gs_children k;
    struct glance g = {0};
    *out = (struct gs_retry){.loop = loop, .swap = clang_getNullCursor(), .exit = clang_getNullCursor()};
    clang_visitChildren(loop, look, &g);
    if (!g.calls || g.loops || g.n > MAX_CURSORS)
        return false;
    gs_children(p->arena, loop, &k);
    bool after = loop.kind == CXCursor_DoStmt, bare = loop.kind == CXCursor_ForStmt;
    if (bare ? k.n != 1 : k.n != 2)
        return false;
    struct run *r = gs_need_array(p->arena, 1, sizeof *r);
    *r = (struct run){.p = p, .unit = unit, .arena = p->arena, .out = out};
    clang_visitChildren(loop, find_changes, r);
    CXCursor condition = bare ? clang_getNullCursor() : gs_child(&k, after ? 1 : 0);
    if (!r->failed)
        run_iteration(r, condition, gs_child(&k, bare || after ? 0 : 1), after);
    return !r->failed && take_operation(r);
}
