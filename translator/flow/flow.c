/* SPDX-License-Identifier: MIT */
/* Where pointers go and what is done through them: the walk over the functions' bodies. */
#include "translator/flow/flow.h"

#include "translator/parsing/builtins.h"
#include "translator/flow/flow_graph.h"
#include "translator/flow/flow_retry.h"
#include "translator/flow/flow_spin.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/flow/flow_wait.h"
#include "translator/parsing/need.h"

/* Deeper trees than this are refused instead of walked. */
enum { DEPTH_LIMIT = 20000 };

/* The walk through one function. */
struct walk {
    struct gs_flow *f;
    uint32_t func, unit;
    unsigned depth;
    const struct gs_retry *retry; /* the loop around that amounts to one atomic operation, or NULL */
    bool in_expression;           /* inside the statements of an expression: the last one's value is its own */
};

/* Something that can be assigned to: a variable (or a part of it), or memory behind a pointer. */
struct place {
    uint32_t node;
    bool memory;
};

static uint32_t value(struct walk *w, CXCursor e, uint32_t to);
static struct place place_of(struct walk *w, CXCursor e, uint32_t to);
static void statement(struct walk *w, CXCursor s);

bool gs_flow_is_hidden(const char *name)
{
    return gs_builtin_is_hidden(name);
}

/* Notes where the value of a node goes to. */
static void add_use(struct walk *w, uint32_t from, uint32_t to)
{
    struct gs_flow *f = w->f;
    if (from == 0 || to == GS_UNUSED || from == to)
        return;
    GS_GROW(f->arena, f->uses, f->n_uses, f->cap_uses);
    f->uses[f->n_uses++] = (struct gs_flow_use){from, to, w->func};
}

static void refuse(struct walk *w, CXCursor at, const char *why)
{
    struct gs_flow_func *g = &w->f->funcs[w->func];
    if (!g->refusal) {
        g->refusal = why;
        g->refusal_at = at;
    }
}

/* The same where it may do things to buffers that this walk doesn't see. */
static void lose(struct walk *w, CXCursor at, const char *why)
{
    refuse(w, at, why);
    w->f->funcs[w->func].lost = true;
}

static void add_call(struct walk *w, uint32_t callee)
{
    struct gs_flow_func *g = &w->f->funcs[w->func];
    GS_GROW(w->f->arena, g->calls, g->n_calls, g->cap_calls);
    g->calls[g->n_calls++] = callee;
}

static void add_access(struct walk *w, CXCursor at, uint32_t node, enum gs_access_what what, bool is_volatile)
{
    struct gs_flow *f = w->f;
    if (node == 0)
        return;
    GS_GROW(f->arena, f->accesses, f->n_accesses, f->cap_accesses);
    f->accesses[f->n_accesses++] = (struct gs_flow_access){
        .func = w->func, .node = node, .result = GS_USED, .what = what, .is_volatile = is_volatile, .where = at};
}

/* Makes `to` hold what `from` holds. What points to private or local memory becomes one with it. */
static void flow_to(struct walk *w, uint32_t from, uint32_t to, CXType type)
{
    gs_flow_add_edge(w->f, from, to);
    unsigned space = gs_is_pointer(type) ? gs_space_behind(type) : GS_AS_PRIVATE;
    if (space != GS_AS_GLOBAL && space != GS_AS_CONSTANT)
        gs_flow_add_edge(w->f, to, from);
}

/* One node that holds what both hold. */
static uint32_t join(struct walk *w, uint32_t a, uint32_t b, CXType type)
{
    if (a == 0 || a == b)
        return b;
    if (b == 0)
        return a;
    uint32_t n = gs_flow_new_node(w->f);
    flow_to(w, a, n, type);
    flow_to(w, b, n, type);
    return n;
}

/* The values of all children; what an expression that isn't understood may hold. */
static uint32_t value_of_children(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    uint32_t n = 0;
    CXType type = gs_flow_type(e);
    gs_children(w->f->arena, e, &k);
    for (unsigned i = 0; i < k.n; i++) {
        CXCursor c = gs_child(&k, i);
        if (clang_isExpression(c.kind))
            n = join(w, n, value(w, c, to), type);
        else if (clang_isStatement(c.kind) || c.kind == CXCursor_VarDecl)
            statement(w, c);
    }
    return gs_holds_pointers(type) ? n : 0;
}

/* Notes that memory of the type is touched at a place, and where what is read there goes to. */
static void touch(struct walk *w, CXCursor at, struct place p, CXType type, enum gs_access_what what, uint32_t to)
{
    if (p.node == 0 || !p.memory || !gs_may_be_global(clang_getAddressSpace(type)))
        return;
    add_access(w, at, p.node, what, clang_isVolatileQualifiedType(type));
    w->f->accesses[w->f->n_accesses - 1].result = to;
}

/* Reads a place: the value that lies there, which goes to `to`. Arrays aren't read but become pointers to themselves.
 */
static uint32_t load(struct walk *w, CXCursor e, struct place p, uint32_t to)
{
    CXType type = gs_flow_type(e);
    if (!gs_is_array(type)) {
        touch(w, e, p, type, GS_FLOW_READ, to);
        unsigned space = clang_getAddressSpace(type);
        if (p.memory && (space == GS_AS_GLOBAL || space == GS_AS_CONSTANT)) {
            if (space == GS_AS_GLOBAL && gs_holds_pointers(type)) /* a device's own addresses */
                lose(w, e, "it takes a pointer out of a buffer");
            return 0; /* storing one there is an escape */
        }
    }
    return gs_is_array(type) || gs_holds_pointers(type) ? p.node : 0;
}

static void store(struct walk *w, CXCursor at, struct place p, uint32_t v, CXType type)
{
    unsigned space = clang_getAddressSpace(type);
    touch(w, at, p, type, GS_FLOW_WRITE, GS_USED);
    if (!gs_holds_pointers(type))
        return;
    if (p.memory && gs_may_be_global(space))
        add_access(w, at, v, GS_FLOW_ESCAPE, false);
    if (!p.memory || space != GS_AS_GLOBAL)
        flow_to(w, v, p.node, type);
}

/* A variable of the program that a launch may leave changed for the next. */
static bool is_lasting(CXCursor var)
{
    if (var.kind != CXCursor_VarDecl)
        return false;
    const bool lasts = clang_getCursorSemanticParent(var).kind == CXCursor_TranslationUnit ||
                       clang_Cursor_getStorageClass(var) == CX_SC_Static;
    unsigned space = clang_getAddressSpace(gs_flow_type(var));
    if (gs_is_array(gs_flow_type(var)) && space == GS_AS_NONE)
        space = clang_getAddressSpace(clang_getCanonicalType(clang_getArrayElementType(gs_flow_type(var))));
    return lasts && space != GS_AS_CONSTANT && space != GS_AS_LOCAL;
}

/* One of the program that holds pointers which may lead to another. */
static bool keeps_pointers(CXCursor var)
{
    CXType type = gs_flow_type(var);
    if (var.kind != CXCursor_VarDecl || clang_getCursorSemanticParent(var).kind != CXCursor_TranslationUnit ||
        !gs_holds_pointers(type))
        return false;
    while (gs_is_array(type))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    return !gs_is_pointer(type) || gs_space_behind(type) != GS_AS_CONSTANT;
}

/* Each device has its own, which is right as long as nobody writes it: so what is done to it is noted as of memory. */
static struct place variable(struct walk *w, CXCursor e)
{
    struct gs_flow *f = w->f;
    CXCursor var = clang_getCursorReferenced(e);
    if (var.kind != CXCursor_VarDecl && var.kind != CXCursor_ParmDecl)
        return (struct place){0, false};
    const bool keeps = keeps_pointers(var);
    f->kept_pointers |= keeps;
    if (!is_lasting(var) && !keeps)
        return (struct place){gs_flow_node(f, var), false};
    const enum CXLinkageKind linkage = clang_getCursorLinkage(var);
    const bool shared = f->program->n_units > 1 && linkage != CXLinkage_Internal && linkage != CXLinkage_NoLinkage;
    const uint32_t node = gs_flow_node(f, clang_getCanonicalCursor(var));
    GS_GROW(f->arena, f->lasting, f->n_lasting, f->cap_lasting);
    f->lasting[f->n_lasting++] =
        (struct gs_flow_lasting){.func = w->func, .node = node, .foreign = keeps || shared, .where = e};
    return (struct place){node, true};
}

/* The base of a[i], of *p and of p->m: a pointer's value, or an array that is itself a place. */
static struct place behind(struct walk *w, CXCursor base, uint32_t to)
{
    CXType type = gs_flow_type(base);
    if (gs_is_pointer(type)) {
        CXCursor inner = base;
        /* An array that decays to a pointer: what lies there is a part of the array's own place. */
        struct gs_children k;
        while (inner.kind == CXCursor_UnexposedExpr || inner.kind == CXCursor_ParenExpr) {
            gs_children(w->f->arena, inner, &k);
            if (k.n != 1)
                break;
            inner = gs_child(&k, 0);
        }
        if (gs_is_array(gs_flow_type(inner)))
            return place_of(w, inner, to);
        return (struct place){value(w, base, GS_USED), true};
    }
    return place_of(w, base, to);
}

static struct place subscript(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    if (k.n != 2)
        return (struct place){value_of_children(w, e, GS_USED), true};
    bool swapped = !gs_is_pointer(gs_flow_type(gs_child(&k, 0))) && gs_is_pointer(gs_flow_type(gs_child(&k, 1)));
    value(w, gs_child(&k, swapped ? 0 : 1), GS_USED);
    return behind(w, gs_child(&k, swapped ? 1 : 0), to);
}

/* p->m, s.m, and the elements of vectors, which clang's interface shows as an unnamed expression around the vector. */
static struct place member(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(gs_child(&k, i).kind))
            return behind(w, gs_child(&k, i), to);
    return (struct place){0, false};
}

/* The x of *(T *)&x; null where it isn't of that form. */
static CXCursor reinterpreted(CXCursor pointer)
{
    while (pointer.kind == CXCursor_ParenExpr || pointer.kind == CXCursor_UnexposedExpr ||
           pointer.kind == CXCursor_CStyleCastExpr)
        pointer = gs_inner(pointer);
    bool is =
        pointer.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(pointer) == CXUnaryOperator_AddrOf;
    return is ? gs_inner(pointer) : clang_getNullCursor();
}

/* What `e` names. Where that is a part of a variable, what lies there goes to `to`. */
static struct place place_of(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    struct place p;
    CXCursor x;
    switch (e.kind) {
    case CXCursor_DeclRefExpr:
        p = variable(w, e);
        add_use(w, p.node, to);
        return p;
    case CXCursor_ArraySubscriptExpr:
        return subscript(w, e, to);
    case CXCursor_UnexposedExpr:
        if (gs_is_compound(e))
            break;
        return member(w, e, to);
    case CXCursor_MemberRefExpr:
    case CXCursor_ParenExpr:
        return member(w, e, to);
    case CXCursor_UnaryOperator:
        gs_children(w->f->arena, e, &k);
        if (clang_getCursorUnaryOperatorKind(e) != CXUnaryOperator_Deref || k.n != 1)
            break;
        x = reinterpreted(gs_child(&k, 0));
        return clang_Cursor_isNull(x) ? behind(w, gs_child(&k, 0), to) : place_of(w, x, to);
    default:
        break;
    }
    return (struct place){value(w, e, GS_USED), true};
}

/* Where that goes to which is assigned to `left`: a variable's node, where it is one or a part of one. */
static uint32_t target(struct walk *w, CXCursor left)
{
    CXCursor var = gs_root_variable(w->f->arena, left);
    if (clang_Cursor_isNull(var) && left.kind == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(left) == CXUnaryOperator_Deref) {
        CXCursor x = reinterpreted(gs_inner(left));
        if (!clang_Cursor_isNull(x))
            var = gs_root_variable(w->f->arena, x);
    }
    bool is_var = var.kind == CXCursor_VarDecl || var.kind == CXCursor_ParmDecl;
    return is_var && !gs_holds_pointers(gs_flow_type(var)) ? gs_flow_node(w->f, var) : GS_USED;
}

static uint32_t unary(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    if (k.n != 1)
        return value_of_children(w, e, GS_USED);
    CXCursor operand = gs_child(&k, 0);
    struct place p;
    switch (clang_getCursorUnaryOperatorKind(e)) {
    case CXUnaryOperator_AddrOf:
        return place_of(w, operand, GS_USED).node;
    case CXUnaryOperator_Deref:
        return load(w, e, place_of(w, e, to), to);
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        p = place_of(w, operand, to);
        touch(w, e, p, gs_flow_type(operand), GS_FLOW_READ, GS_USED);
        touch(w, e, p, gs_flow_type(operand), GS_FLOW_WRITE, GS_USED);
        return gs_holds_pointers(gs_flow_type(e)) ? p.node : 0;
    default:
        return value_of_children(w, e, to);
    }
}

static uint32_t assignment(struct walk *w, CXCursor e, CXCursor left, CXCursor right, uint32_t to)
{
    CXType type = gs_flow_type(left);
    uint32_t into = target(w, left), v = value(w, right, into);
    struct place p;
    if (into != GS_USED)
        add_use(w, into, to);
    if (e.kind != CXCursor_CompoundAssignOperator) {
        store(w, e, place_of(w, left, GS_UNUSED), v, type);
        return gs_holds_pointers(type) ? v : 0;
    }
    p = place_of(w, left, GS_UNUSED);
    touch(w, e, p, type, GS_FLOW_READ, GS_USED);
    touch(w, e, p, type, GS_FLOW_WRITE, GS_USED);
    return gs_holds_pointers(type) ? p.node : 0;
}

static uint32_t binary(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    if (k.n != 2)
        return value_of_children(w, e, GS_USED);
    CXCursor left = gs_child(&k, 0), right = gs_child(&k, 1);
    switch (clang_getCursorBinaryOperatorKind(e)) {
    case CXBinaryOperator_Comma:
        value(w, left, GS_UNUSED);
        return value(w, right, to);
    case CXBinaryOperator_Assign:
        return assignment(w, e, left, right, to);
    case CXBinaryOperator_LAnd: /* the left side decides whether the right one runs */
    case CXBinaryOperator_LOr:
        value(w, left, GS_USED);
        value(w, right, to);
        return 0;
    default:
        if (e.kind == CXCursor_CompoundAssignOperator)
            return assignment(w, e, left, right, to);
    }
    uint32_t v = value(w, right, to), u = value(w, left, to);
    return gs_is_pointer(gs_flow_type(e)) ? join(w, u, v, gs_flow_type(e)) : 0;
}

/* c ? x : y; what decides has an effect where x and y have one. */
static uint32_t conditional(struct walk *w, CXCursor e, uint32_t to)
{
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    uint32_t n = 0;
    for (unsigned i = 0; i < k.n; i++) {
        uint32_t v = value(w, gs_child(&k, i), i == 0 ? GS_USED : to);
        if (i > 0)
            n = join(w, n, v, gs_flow_type(e));
    }
    return gs_holds_pointers(gs_flow_type(e)) ? n : 0;
}

/* Whatever several expressions make, of which nothing else is known. */
static uint32_t compound(struct walk *w, CXCursor e)
{
    struct gs_children k;
    bool pointers = false;
    gs_children(w->f->arena, e, &k);
    for (unsigned i = 0; i < k.n; i++)
        pointers |= clang_isExpression(gs_child(&k, i).kind) && gs_holds_pointers(gs_flow_type(gs_child(&k, i)));
    if (pointers && !gs_holds_pointers(gs_flow_type(e)))
        lose(w, e, "it uses an expression whose pointers can't be followed");
    return value_of_children(w, e, GS_USED);
}

/* A cast, an implicit conversion, or an element of a vector. */
static uint32_t conversion(struct walk *w, CXCursor e, uint32_t goes)
{
    CXCursor inner = gs_inner(e);
    if (gs_is_compound(e))
        return compound(w, e);
    if (clang_Cursor_isNull(inner))
        return value_of_children(w, e, goes);
    CXType to = gs_flow_type(e), from = gs_flow_type(inner);
    if (to.kind == CXType_Void)
        goes = GS_UNUSED;
    if (gs_is_pointer(from) && !gs_holds_pointers(to) && to.kind != CXType_Void && to.kind != CXType_Bool) {
        CXType vector = clang_getCanonicalType(clang_getPointeeType(from));
        uint32_t v = value(w, inner, goes);
        if (e.kind == CXCursor_UnexposedExpr && (vector.kind == CXType_ExtVector || vector.kind == CXType_Vector))
            touch(w, e, (struct place){v, true}, vector, GS_FLOW_READ, goes); /* p->x */
        else
            add_access(w, e, v, GS_FLOW_ESCAPE, false);
        return 0;
    }
    uint32_t v = value(w, inner, goes);
    if (gs_is_pointer(to) && !gs_is_pointer(from) && !gs_is_array(from) && from.kind != CXType_FunctionProto &&
        from.kind != CXType_FunctionNoProto) {
        CXEvalResult constant = clang_Cursor_Evaluate(inner);
        bool null =
            constant && clang_EvalResult_getKind(constant) == CXEval_Int && clang_EvalResult_getAsInt(constant) == 0;
        clang_EvalResult_dispose(constant);
        if (!null && gs_may_be_global(gs_space_behind(to)))
            lose(w, e, "it makes a pointer from a number");
    }
    return gs_holds_pointers(to) ? v : 0;
}

static enum gs_atomic_type atomic_type(CXType pointer, enum gs_atomic_op *op)
{
    CXType t = clang_getCanonicalType(clang_getPointeeType(pointer));
    if (t.kind == CXType_Atomic)
        t = clang_getCanonicalType(clang_Type_getValueType(t));
    switch (t.kind) {
    case CXType_Int:
        return GS_ATOMIC_I32;
    case CXType_UInt:
        return GS_ATOMIC_U32;
    case CXType_Long:
        return GS_ATOMIC_I64;
    case CXType_ULong:
        return GS_ATOMIC_U64;
    case CXType_Float:
        return GS_ATOMIC_F32;
    case CXType_Double:
        return GS_ATOMIC_F64;
    default:
        *op = GS_ATOMIC_OTHER;
        return GS_ATOMIC_I32;
    }
}

static void call_atomic(struct walk *w, CXCursor e, const char *name, enum gs_atomic_op op, uint32_t to)
{
    CXCursor target = clang_Cursor_getArgument(e, 0);
    uint32_t node = value(w, target, GS_USED);
    CXType type = gs_flow_type(target);
    if (w->retry && gs_atomic_only_reads(name, e)) { /* as the swap's own attempt does: what it finds is of no effect */
        if (node != 0 && gs_is_pointer(type) && gs_may_be_global(gs_space_behind(type))) {
            add_access(w, e, node, GS_FLOW_READ, false);
            w->f->accesses[w->f->n_accesses - 1].result = to;
        }
        return;
    }
    const struct gs_retry *retry = w->retry && clang_equalCursors(w->retry->swap, e) ? w->retry : NULL;
    for (unsigned i = 1; i < gs_n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        CXCursor x = reinterpreted(a);
        if (retry && !clang_Cursor_isNull(x)) { /* the expected value, by its address: see gs_retry_find */
            place_of(w, x, GS_UNUSED);
            continue;
        }
        uint32_t v = value(w, a, retry ? GS_UNUSED : GS_USED);
        if (gs_is_pointer(gs_flow_type(a)) &&
            gs_may_be_global(gs_space_behind(gs_flow_type(a)))) { /* the expected value of an exchange */
            add_access(w, e, v, GS_FLOW_READ, false);
            add_access(w, e, v, GS_FLOW_WRITE, false);
        }
    }
    if (node == 0 || !gs_is_pointer(type) || !gs_may_be_global(gs_space_behind(type)))
        return;
    enum gs_atomic_type element = atomic_type(type, &op);
    add_access(w, e, node, GS_FLOW_ATOMIC, false);
    struct gs_flow_access *a = &w->f->accesses[w->f->n_accesses - 1];
    a->op = retry ? retry->op : op;
    a->type = retry ? retry->type : element;
    a->result = to;
}

/* A function of its arguments and nothing else: where its result has no effect, they have none. */
static bool only_computes(const char *name, CXCursor call)
{
    if (gs_flow_type(call).kind == CXType_Void)
        return false;
    for (unsigned i = 0; i < gs_n_args(call); i++) {
        CXType t = gs_flow_type(clang_Cursor_getArgument(call, i));
        if (gs_holds_pointers(t) || t.kind == CXType_Record || t.kind == CXType_OCLSampler ||
            (t.kind >= CXType_OCLImage1dRO && t.kind <= CXType_OCLImage3dRW))
            return false;
    }
    return gs_builtin_refusal(name) == NULL;
}

/* A call of a built-in function: it may read what its pointers point to, and write it where the type lets it. */
static uint32_t call_builtin(struct walk *w, CXCursor e, const char *name, uint32_t to)
{
    struct gs_flow_func *g = &w->f->funcs[w->func];
    enum gs_atomic_op op;
    const char *why = gs_builtin_refusal(name);
    g->hidden |= gs_builtin_is_hidden(name) || (w->f->program->request->windows && gs_builtin_is_moved(name));
    if (gs_builtin_uses_group(name) && only_computes(name, e)) {
        GS_GROW(w->f->arena, w->f->groups, w->f->n_groups, w->f->cap_groups);
        w->f->groups[w->f->n_groups++] = (struct gs_flow_group){w->func, to};
    } else {
        g->uses_group |= gs_builtin_uses_group(name);
    }
    if (why)
        refuse(w, e, why);
    if (gs_builtin_atomic(name, &op) && gs_n_args(e) > 0) {
        call_atomic(w, e, name, op, to);
        return 0;
    }
    uint32_t all = 0;
    const uint32_t into = only_computes(name, e) ? to : GS_USED;
    for (unsigned i = 0; i < gs_n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, into);
        all = join(w, all, v, gs_flow_type(a));
        if (!gs_is_pointer(gs_flow_type(a)) || !gs_may_be_global(gs_space_behind(gs_flow_type(a))) ||
            gs_builtin_only_looks(name))
            continue;
        CXType to_type = clang_getCanonicalType(clang_getPointeeType(gs_flow_type(a)));
        add_access(w, e, v, GS_FLOW_READ, false);
        if (!clang_isConstQualifiedType(to_type))
            add_access(w, e, v, GS_FLOW_WRITE, false);
    }
    return gs_builtin_returns_pointer(name) ? all : 0;
}

/* A write-only built-in (vstore and the destination of a group copy) doesn't read; the types can't say so. */
static bool only_writes(const char *name, unsigned arg)
{
    if (strncmp(name, "vstore", 6) == 0)
        return arg == 2;
    return strncmp(name, "async_work_group_", 17) == 0 && arg == 0;
}

static uint32_t call_storing(struct walk *w, CXCursor e, const char *name)
{
    w->f->funcs[w->func].uses_group |= gs_builtin_uses_group(name);
    for (unsigned i = 0; i < gs_n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, GS_USED);
        if (gs_is_pointer(gs_flow_type(a)) && gs_may_be_global(gs_space_behind(gs_flow_type(a))))
            add_access(w, e, v, only_writes(name, i) ? GS_FLOW_WRITE : GS_FLOW_READ, false);
    }
    return 0;
}

/* A call of one of the program's own functions. */
static uint32_t call_own(struct walk *w, CXCursor e, uint32_t callee, uint32_t to)
{
    struct gs_flow *f = w->f;
    const struct gs_func *g = &f->program->funcs[callee];
    add_call(w, callee);
    if (!g->defined)
        refuse(w, e, "it calls a function that the program doesn't define");
    for (unsigned i = 0; i < gs_n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t param = i < g->n_params ? gs_flow_node(f, clang_Cursor_getArgument(g->def, i)) : 0;
        uint32_t v = value(w, a, param != 0 && !gs_holds_pointers(gs_flow_type(a)) ? param : GS_USED);
        if (v != 0 && param != 0)
            flow_to(w, v, param, gs_flow_type(a));
    }
    add_use(w, f->funcs[callee].returned, to);
    return gs_holds_pointers(gs_flow_type(e)) ? f->funcs[callee].returned : 0;
}

/* A function of OpenCL C whose result depends on its arguments' values alone, and which does nothing else. */
static bool is_pure(const char *name, CXCursor e)
{
    enum gs_atomic_op op;
    for (unsigned i = 0; i < gs_n_args(e); i++)
        if (gs_holds_pointers(gs_flow_type(clang_Cursor_getArgument(e, i))))
            return false;
    return !gs_builtin_is_hidden(name) && !gs_builtin_uses_group(name) && !gs_builtin_refusal(name) &&
           !gs_builtin_atomic(name, &op);
}

static uint32_t call(struct walk *w, CXCursor e, uint32_t to)
{
    CXCursor callee = gs_callee(w->f->arena, e);
    const bool named = clang_getCursorReferenced(e).kind == CXCursor_FunctionDecl;
    const bool is_function = callee.kind == CXCursor_FunctionDecl;
    uint32_t own = is_function ? gs_program_func(w->f->program, callee, w->unit) : GS_NO_FUNC;
    const char *name = gs_take_string(w->f->arena, clang_getCursorSpelling(callee));
    /* Macros don't rewrite a name in parentheses, and the other walks over calls don't look behind them. */
    if (!is_function || (!named && (own != GS_NO_FUNC || !is_pure(name, e)))) {
        lose(w, e, "it uses blocks or pointers to functions");
        return value_of_children(w, e, GS_USED);
    }
    if (own != GS_NO_FUNC)
        return call_own(w, e, own, to);
    if (only_writes(name, 0) || only_writes(name, 2))
        return call_storing(w, e, name);
    return call_builtin(w, e, name, to);
}

/* Instructions of the device's own that a split would change, or that touch memory behind the translator's back. */
static void inline_assembly(struct walk *w, CXCursor e)
{
    static const char *const bad[] = {"ctaid", "gridid", "atom",   "red.",  "ld.",
                                      "st.",   "cp.",    "membar", "fence", "call"};
    CXToken *tokens;
    unsigned n;
    CXTranslationUnit tu = w->f->program->units[w->unit].tu;
    clang_tokenize(tu, clang_getCursorExtent(e), &tokens, &n);
    for (unsigned i = 0; i < n; i++) {
        const char *s = gs_take_string(w->f->arena, clang_getTokenSpelling(tu, tokens[i]));
        for (size_t k = 0; *s == '"' && k < sizeof bad / sizeof *bad; k++)
            if (strstr(s, bad[k]))
                refuse(w, e, "its inline assembly reaches beyond the work-item");
    }
    clang_disposeTokens(tu, tokens, n);
    struct gs_children k;
    gs_children(w->f->arena, e, &k);
    for (unsigned i = 0; i < k.n; i++) {
        if (!clang_isExpression(gs_child(&k, i).kind))
            continue;
        struct place p = place_of(w, gs_child(&k, i), GS_USED);
        touch(w, e, p, gs_flow_type(gs_child(&k, i)), GS_FLOW_READ, GS_USED);
        touch(w, e, p, gs_flow_type(gs_child(&k, i)), GS_FLOW_WRITE, GS_USED);
        if (gs_holds_pointers(gs_flow_type(gs_child(&k, i))))
            add_access(w, e, p.node, GS_FLOW_ESCAPE, false);
    }
}

static uint32_t value_of(struct walk *w, CXCursor e, uint32_t to)
{
    switch (e.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr: /* sizeof and its kin don't evaluate */
        return 0;
    case CXCursor_DeclRefExpr:
        if (clang_getCursorReferenced(e).kind == CXCursor_FunctionDecl) {
            lose(w, e, "it uses blocks or pointers to functions");
            return 0;
        }
        return load(w, e, place_of(w, e, gs_is_array(gs_flow_type(e)) ? GS_USED : to), to);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr:
        return load(w, e, place_of(w, e, gs_is_array(gs_flow_type(e)) ? GS_USED : to), to);
    case CXCursor_UnaryOperator:
        return unary(w, e, to);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return binary(w, e, to);
    case CXCursor_ConditionalOperator:
        return conditional(w, e, to);
    case CXCursor_InitListExpr:
        return value_of_children(w, e, to);
    case CXCursor_CallExpr:
        return call(w, e, to);
    case CXCursor_CStyleCastExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
        return conversion(w, e, to);
    case CXCursor_BlockExpr:
        lose(w, e, "it uses blocks or pointers to functions");
        return 0;
    default: {
        const bool outer = w->in_expression;
        w->in_expression = true;
        const uint32_t n = value_of_children(w, e, GS_USED);
        w->in_expression = outer;
        return n;
    }
    }
}

static uint32_t value(struct walk *w, CXCursor e, uint32_t to)
{
    if (w->depth >= DEPTH_LIMIT) {
        if (!w->f->program->refusal)
            w->f->program->refusal = "its text is nested too deeply";
        return 0;
    }
    w->depth++;
    uint32_t n = value_of(w, e, w->retry && clang_equalCursors(w->retry->by, e) ? GS_USED : to);
    w->depth--;
    return n;
}

static void declaration(struct walk *w, CXCursor var)
{
    struct gs_children k;
    CXType type = gs_flow_type(var);
    unsigned space = clang_getAddressSpace(type);
    if (gs_is_array(type))
        space = space == GS_AS_NONE ? clang_getAddressSpace(clang_getCanonicalType(clang_getArrayElementType(type)))
                                    : space;
    w->f->funcs[w->func].uses_group |= space == GS_AS_LOCAL;
    const uint32_t into = gs_holds_pointers(type) ? GS_USED : gs_flow_node(w->f, var);
    gs_children(w->f->arena, var, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(gs_child(&k, i).kind)) {
            uint32_t v = value(w, gs_child(&k, i), into);
            if (v != 0 && gs_holds_pointers(type))
                flow_to(w, v, gs_flow_node(w->f, var), type);
        }
}

/* Is the result of child `i` of a statement thrown away? Where clang's interface leaves it open, it is taken as used.
 */
static bool is_thrown_away(enum CXCursorKind statement_kind, unsigned i, unsigned n)
{
    switch (statement_kind) {
    case CXCursor_CompoundStmt:
        return true;
    case CXCursor_IfStmt:
        return i > 0;
    case CXCursor_DoStmt:
        return i == 0;
    case CXCursor_WhileStmt:
    case CXCursor_ForStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        return i + 1 == n;
    default:
        return false;
    }
}

/* Where the value of a statement's child goes to. */
static uint32_t goes_to(const struct walk *w, CXCursor s, unsigned i, unsigned n)
{
    const struct gs_retry *r = w->retry;
    if (s.kind == CXCursor_ReturnStmt)
        return w->f->funcs[w->func].returned;
    if (r && (clang_equalCursors(s, r->loop) || clang_equalCursors(s, r->exit)))
        return GS_UNUSED; /* how often it is tried is of no effect */
    return is_thrown_away(s.kind, i, n) && !w->in_expression ? GS_UNUSED : GS_USED;
}

static void walk_children(struct walk *w, CXCursor s)
{
    struct gs_children k;
    gs_children(w->f->arena, s, &k);
    for (unsigned i = 0; i < k.n; i++) {
        CXCursor c = gs_child(&k, i);
        if (!clang_isExpression(c.kind)) {
            statement(w, c);
            continue;
        }
        uint32_t v = value(w, c, goes_to(w, s, i, k.n));
        if (s.kind == CXCursor_ReturnStmt && v != 0)
            flow_to(w, v, w->f->funcs[w->func].returned, gs_flow_type(c));
    }
}

static void loop(struct walk *w, CXCursor s)
{
    const struct gs_retry *outer = w->retry;
    struct gs_retry retry;
    struct gs_flow_func *g = &w->f->funcs[w->func];
    CXCursor at;
    if (!outer && gs_retry_find(w->f->program, w->unit, s, &retry)) {
        w->retry = &retry;
    } else if (!g->waits && gs_wait_find(w->f->program, w->unit, s, &at)) {
        g->waits = true;
        g->refusal = "it waits for other work-groups";
        g->refusal_at = at;
    }
    walk_children(w, s);
    w->retry = outer;
}

static void statement(struct walk *w, CXCursor s)
{
    if (s.kind == CXCursor_VarDecl) {
        declaration(w, s);
        return;
    }
    if (s.kind == CXCursor_GCCAsmStmt || s.kind == CXCursor_MSAsmStmt) {
        inline_assembly(w, s);
        return;
    }
    if (++w->depth >= DEPTH_LIMIT) {
        if (!w->f->program->refusal)
            w->f->program->refusal = "its text is nested too deeply";
    } else if (s.kind == CXCursor_ForStmt || s.kind == CXCursor_WhileStmt || s.kind == CXCursor_DoStmt) {
        loop(w, s);
    } else {
        walk_children(w, s);
    }
    w->depth--;
}

void gs_flow_build(struct gs_flow *f, struct gs_program *p)
{
    *f = (struct gs_flow){.program = p, .arena = p->arena};
    f->funcs = gs_need_array(p->arena, (size_t)p->n_funcs + 1, sizeof *f->funcs);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        f->funcs[i].returned = gs_flow_new_node(f);
    for (uint32_t i = 0; i < p->n_funcs && !p->refusal; i++)
        if (p->funcs[i].defined) {
            for (uint32_t a = 0; a < p->funcs[i].n_params; a++)
                gs_flow_node(f, clang_Cursor_getArgument(p->funcs[i].def, a));
            struct walk w = {.f = f, .func = i, .unit = p->funcs[i].unit};
            struct gs_children k;
            gs_children(p->arena, p->funcs[i].def, &k);
            for (unsigned c = 0; c < k.n; c++)
                if (gs_child(&k, c).kind == CXCursor_CompoundStmt)
                    statement(&w, gs_child(&k, c));
        }
    gs_flow_make_rows(f);
    if (!p->refusal)
        gs_spin_find(f);
}
