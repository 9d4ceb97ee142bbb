/* SPDX-License-Identifier: MIT */
/* Where pointers go and what is done through them: the walk over the functions' bodies. */
#include "translator/flow.h"

#include "translator/builtins.h"
#include "translator/flow_type.h"
#include "translator/need.h"

/* Deeper trees than this are refused instead of walked. */
enum { DEPTH_LIMIT = 20000 };

struct gs_flow_var {
    CXCursor var;
    uint32_t node;
};

/* The walk through one function. */
struct walk {
    struct gs_flow *f;
    uint32_t func, unit;
    unsigned depth;
};

/* Something that can be assigned to: a variable (or a part of it), or memory behind a pointer. */
struct place {
    uint32_t node;
    bool memory;
};

static uint32_t value(struct walk *w, CXCursor e, bool used);
static struct place place_of(struct walk *w, CXCursor e);
static void statement(struct walk *w, CXCursor s);

bool gs_flow_is_hidden(const char *name)
{
    return gs_builtin_is_hidden(name);
}

static uint32_t new_node(struct gs_flow *f)
{
    return ++f->n_nodes;
}

static void grow_slots(struct gs_flow *f)
{
    if (f->n_slots > 2 * f->n_vars)
        return;
    f->n_slots = f->n_slots ? 2 * f->n_slots : 256;
    f->slots = gs_need_array(f->arena, f->n_slots, sizeof *f->slots);
    for (uint32_t i = 0; i < f->n_vars; i++) {
        uint32_t h = clang_hashCursor(f->vars[i].var);
        while (f->slots[h & (f->n_slots - 1)])
            h++;
        f->slots[h & (f->n_slots - 1)] = i + 1;
    }
}

uint32_t gs_flow_node(struct gs_flow *f, CXCursor var)
{
    grow_slots(f);
    uint32_t h = clang_hashCursor(var);
    for (uint32_t at; (at = f->slots[h & (f->n_slots - 1)]); h++)
        if (clang_equalCursors(f->vars[at - 1].var, var))
            return f->vars[at - 1].node;
    GS_GROW(f->arena, f->vars, f->n_vars, f->cap_vars);
    f->vars[f->n_vars] = (struct gs_flow_var){var, new_node(f)};
    f->slots[h & (f->n_slots - 1)] = ++f->n_vars;
    return f->vars[f->n_vars - 1].node;
}

static void add_edge(struct gs_flow *f, uint32_t from, uint32_t to)
{
    if (from == 0 || to == 0 || from == to)
        return;
    GS_GROW(f->arena, f->edges, f->n_edges, f->cap_edges);
    f->edges[f->n_edges++] = (struct gs_flow_edge){from, to};
}

static void refuse(struct walk *w, CXCursor at, const char *why)
{
    struct gs_flow_func *g = &w->f->funcs[w->func];
    if (!g->refusal) {
        g->refusal = why;
        g->refusal_at = at;
    }
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
    f->accesses[f->n_accesses++] =
        (struct gs_flow_access){.func = w->func, .node = node, .what = what, .is_volatile = is_volatile, .where = at};
}

static unsigned n_args(CXCursor call)
{
    int n = clang_Cursor_getNumArguments(call);
    return n > 0 ? (unsigned)n : 0;
}

struct children {
    CXCursor v[8];
    unsigned n;
    struct gs_arena *arena;
    CXCursor *more; /* all of them, where there are more than 8 */
    unsigned cap;
};

static enum CXChildVisitResult collect(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct children *k = data;
    if (k->n < 8) {
        k->v[k->n++] = c;
        return CXChildVisit_Continue;
    }
    if (k->n == 8) {
        k->cap = 32;
        k->more = gs_need_array(k->arena, k->cap, sizeof *k->more);
        memcpy(k->more, k->v, sizeof k->v);
    }
    GS_GROW(k->arena, k->more, k->n, k->cap);
    k->more[k->n++] = c;
    return CXChildVisit_Continue;
}

static void children_of(struct walk *w, CXCursor c, struct children *k)
{
    k->n = 0;
    k->arena = w->f->arena;
    clang_visitChildren(c, collect, k);
}

static CXCursor child(const struct children *k, unsigned i)
{
    return k->n > 8 ? k->more[i] : k->v[i];
}

/* Makes `to` hold what `from` holds. What points to private or local memory becomes one with it. */
static void flow_to(struct walk *w, uint32_t from, uint32_t to, CXType type)
{
    add_edge(w->f, from, to);
    unsigned space = gs_is_pointer(type) ? gs_space_behind(type) : GS_AS_PRIVATE;
    if (space != GS_AS_GLOBAL && space != GS_AS_CONSTANT)
        add_edge(w->f, to, from);
}

/* One node that holds what both hold. */
static uint32_t join(struct walk *w, uint32_t a, uint32_t b, CXType type)
{
    if (a == 0 || a == b)
        return b;
    if (b == 0)
        return a;
    uint32_t n = new_node(w->f);
    flow_to(w, a, n, type);
    flow_to(w, b, n, type);
    return n;
}

/* The values of all children; what an expression that isn't understood may hold. */
static uint32_t value_of_children(struct walk *w, CXCursor e, bool used)
{
    struct children k;
    uint32_t n = 0;
    CXType type = gs_flow_type(e);
    children_of(w, e, &k);
    for (unsigned i = 0; i < k.n; i++) {
        CXCursor c = child(&k, i);
        if (clang_isExpression(c.kind))
            n = join(w, n, value(w, c, used), type);
        else if (clang_isStatement(c.kind) || c.kind == CXCursor_VarDecl)
            statement(w, c);
    }
    return gs_holds_pointers(type) ? n : 0;
}

/* Notes that memory of the type is touched at a place. */
static void touch(struct walk *w, CXCursor at, struct place p, CXType type, enum gs_access_what what)
{
    if (p.memory && gs_may_be_global(clang_getAddressSpace(type)))
        add_access(w, at, p.node, what, clang_isVolatileQualifiedType(type));
}

/* Reads a place: the value that lies there. Arrays aren't read but become pointers to themselves. */
static uint32_t load(struct walk *w, CXCursor e, struct place p)
{
    CXType type = gs_flow_type(e);
    if (!gs_is_array(type)) {
        touch(w, e, p, type, GS_FLOW_READ);
        unsigned space = clang_getAddressSpace(type);
        if (p.memory && (space == GS_AS_GLOBAL || space == GS_AS_CONSTANT))
            return 0; /* what lies in a buffer is no pointer: storing one there is an escape */
    }
    return gs_is_array(type) || gs_holds_pointers(type) ? p.node : 0;
}

static void store(struct walk *w, CXCursor at, struct place p, uint32_t v, CXType type)
{
    unsigned space = clang_getAddressSpace(type);
    touch(w, at, p, type, GS_FLOW_WRITE);
    if (!gs_holds_pointers(type))
        return;
    if (p.memory && gs_may_be_global(space))
        add_access(w, at, v, GS_FLOW_ESCAPE, false);
    if (!p.memory || space != GS_AS_GLOBAL)
        flow_to(w, v, p.node, type);
}

static uint32_t variable(struct walk *w, CXCursor e)
{
    CXCursor var = clang_getCursorReferenced(e);
    if (var.kind != CXCursor_VarDecl && var.kind != CXCursor_ParmDecl)
        return 0;
    if (var.kind == CXCursor_VarDecl) {
        CXCursor parent = clang_getCursorSemanticParent(var);
        bool lasting = parent.kind == CXCursor_TranslationUnit || clang_Cursor_getStorageClass(var) == CX_SC_Static;
        unsigned space = clang_getAddressSpace(gs_flow_type(var));
        if (gs_is_array(gs_flow_type(var)) && space == GS_AS_NONE)
            space = clang_getAddressSpace(clang_getCanonicalType(clang_getArrayElementType(gs_flow_type(var))));
        if (lasting && space != GS_AS_CONSTANT && space != GS_AS_LOCAL)
            refuse(w, e, "it uses a variable that lasts from one launch to the next");
    }
    return gs_flow_node(w->f, var);
}

/* The base of a[i], of *p and of p->m: a pointer's value, or an array that is itself a place. */
static struct place behind(struct walk *w, CXCursor base)
{
    CXType type = gs_flow_type(base);
    if (gs_is_pointer(type)) {
        CXCursor inner = base;
        /* An array that decays to a pointer: what lies there is a part of the array's own place. */
        struct children k;
        while (inner.kind == CXCursor_UnexposedExpr || inner.kind == CXCursor_ParenExpr) {
            children_of(w, inner, &k);
            if (k.n != 1)
                break;
            inner = child(&k, 0);
        }
        if (gs_is_array(gs_flow_type(inner)))
            return place_of(w, inner);
        return (struct place){value(w, base, true), true};
    }
    return place_of(w, base);
}

static struct place subscript(struct walk *w, CXCursor e)
{
    struct children k;
    children_of(w, e, &k);
    if (k.n != 2)
        return (struct place){value_of_children(w, e, true), true};
    bool swapped = !gs_is_pointer(gs_flow_type(child(&k, 0))) && gs_is_pointer(gs_flow_type(child(&k, 1)));
    value(w, child(&k, swapped ? 0 : 1), true);
    return behind(w, child(&k, swapped ? 1 : 0));
}

/* p->m, s.m, and the elements of vectors, which clang's interface shows as an unnamed expression around the vector. */
static struct place member(struct walk *w, CXCursor e)
{
    struct children k;
    children_of(w, e, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(child(&k, i).kind))
            return behind(w, child(&k, i));
    return (struct place){0, false};
}

static struct place place_of(struct walk *w, CXCursor e)
{
    struct children k;
    switch (e.kind) {
    case CXCursor_DeclRefExpr:
        return (struct place){variable(w, e), false};
    case CXCursor_ArraySubscriptExpr:
        return subscript(w, e);
    case CXCursor_MemberRefExpr:
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
        return member(w, e);
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref) {
            children_of(w, e, &k);
            if (k.n == 1)
                return behind(w, child(&k, 0));
        }
        break;
    default:
        break;
    }
    return (struct place){value(w, e, true), true};
}

static uint32_t unary(struct walk *w, CXCursor e)
{
    struct children k;
    children_of(w, e, &k);
    if (k.n != 1)
        return value_of_children(w, e, true);
    CXCursor operand = child(&k, 0);
    struct place p;
    switch (clang_getCursorUnaryOperatorKind(e)) {
    case CXUnaryOperator_AddrOf:
        return place_of(w, operand).node;
    case CXUnaryOperator_Deref:
        return load(w, e, place_of(w, e));
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        p = place_of(w, operand);
        touch(w, e, p, gs_flow_type(operand), GS_FLOW_READ);
        touch(w, e, p, gs_flow_type(operand), GS_FLOW_WRITE);
        return gs_holds_pointers(gs_flow_type(e)) ? p.node : 0;
    default:
        return value_of_children(w, e, true);
    }
}

static uint32_t binary(struct walk *w, CXCursor e)
{
    struct children k;
    children_of(w, e, &k);
    if (k.n != 2)
        return value_of_children(w, e, true);
    CXCursor left = child(&k, 0), right = child(&k, 1);
    CXType type = gs_flow_type(left);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(e);
    if (op == CXBinaryOperator_Comma) {
        value(w, left, false);
        return value(w, right, true);
    }
    uint32_t v = value(w, right, true);
    if (op == CXBinaryOperator_Assign) {
        store(w, e, place_of(w, left), v, type);
        return gs_holds_pointers(type) ? v : 0;
    }
    if (e.kind == CXCursor_CompoundAssignOperator) {
        struct place p = place_of(w, left);
        touch(w, e, p, type, GS_FLOW_READ);
        touch(w, e, p, type, GS_FLOW_WRITE);
        return gs_holds_pointers(type) ? p.node : 0;
    }
    uint32_t u = value(w, left, true);
    return gs_is_pointer(gs_flow_type(e)) ? join(w, u, v, gs_flow_type(e)) : 0;
}

/* A cast, an implicit conversion, or an element of a vector. */
static uint32_t conversion(struct walk *w, CXCursor e, bool used)
{
    struct children k;
    children_of(w, e, &k);
    CXCursor inner = clang_getNullCursor();
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(child(&k, i).kind))
            inner = child(&k, i);
    if (clang_Cursor_isNull(inner))
        return value_of_children(w, e, used);
    CXType to = gs_flow_type(e), from = gs_flow_type(inner);
    used = used && to.kind != CXType_Void;
    if (gs_is_pointer(from) && !gs_holds_pointers(to) && to.kind != CXType_Void && to.kind != CXType_Bool) {
        CXType vector = clang_getCanonicalType(clang_getPointeeType(from));
        uint32_t v = value(w, inner, used);
        if (e.kind == CXCursor_UnexposedExpr && (vector.kind == CXType_ExtVector || vector.kind == CXType_Vector))
            touch(w, e, (struct place){v, true}, vector, GS_FLOW_READ); /* p->x */
        else
            add_access(w, e, v, GS_FLOW_ESCAPE, false);
        return 0;
    }
    uint32_t v = value(w, inner, used);
    if (gs_is_pointer(to) && !gs_is_pointer(from) && !gs_is_array(from) && from.kind != CXType_FunctionProto &&
        from.kind != CXType_FunctionNoProto) {
        CXEvalResult constant = clang_Cursor_Evaluate(inner);
        bool null =
            constant && clang_EvalResult_getKind(constant) == CXEval_Int && clang_EvalResult_getAsInt(constant) == 0;
        clang_EvalResult_dispose(constant);
        if (!null && gs_may_be_global(gs_space_behind(to)))
            refuse(w, e, "it makes a pointer from a number");
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

static void call_atomic(struct walk *w, CXCursor e, enum gs_atomic_op op, bool used)
{
    CXCursor target = clang_Cursor_getArgument(e, 0);
    uint32_t node = value(w, target, true);
    CXType type = gs_flow_type(target);
    for (unsigned i = 1; i < n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, true);
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
    a->why = op == GS_ATOMIC_OTHER
                 ? "it uses an atomic on global memory that is no plain sum, minimum, maximum or bit operation"
                 : "it uses the result of an atomic on global memory";
    a->op = used ? GS_ATOMIC_OTHER : op;
    a->type = element;
}

/* A call of a built-in function: it may read what its pointers point to, and write it where the type lets it. */
static uint32_t call_builtin(struct walk *w, CXCursor e, const char *name, bool used)
{
    struct gs_flow_func *g = &w->f->funcs[w->func];
    enum gs_atomic_op op;
    const char *why = gs_builtin_refusal(name);
    g->hidden |= gs_builtin_is_hidden(name);
    g->uses_group |= gs_builtin_uses_group(name);
    if (why)
        refuse(w, e, why);
    if (gs_builtin_atomic(name, &op) && n_args(e) > 0) {
        call_atomic(w, e, op, used);
        return 0;
    }
    uint32_t all = 0;
    for (unsigned i = 0; i < n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, true);
        all = join(w, all, v, gs_flow_type(a));
        if (!gs_is_pointer(gs_flow_type(a)) || !gs_may_be_global(gs_space_behind(gs_flow_type(a))) ||
            gs_builtin_only_looks(name))
            continue;
        CXType to = clang_getCanonicalType(clang_getPointeeType(gs_flow_type(a)));
        add_access(w, e, v, GS_FLOW_READ, false);
        if (!clang_isConstQualifiedType(to))
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
    for (unsigned i = 0; i < n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, true);
        if (gs_is_pointer(gs_flow_type(a)) && gs_may_be_global(gs_space_behind(gs_flow_type(a))))
            add_access(w, e, v, only_writes(name, i) ? GS_FLOW_WRITE : GS_FLOW_READ, false);
    }
    return 0;
}

/* A call of one of the program's own functions. */
static uint32_t call_own(struct walk *w, CXCursor e, uint32_t callee)
{
    struct gs_flow *f = w->f;
    const struct gs_func *g = &f->program->funcs[callee];
    add_call(w, callee);
    if (!g->defined)
        refuse(w, e, "it calls a function that the program doesn't define");
    for (unsigned i = 0; i < n_args(e); i++) {
        CXCursor a = clang_Cursor_getArgument(e, i);
        uint32_t v = value(w, a, true);
        if (v != 0 && i < g->n_params)
            flow_to(w, v, gs_flow_node(f, clang_Cursor_getArgument(g->def, i)), gs_flow_type(a));
    }
    return gs_holds_pointers(gs_flow_type(e)) ? f->funcs[callee].returned : 0;
}

static uint32_t call(struct walk *w, CXCursor e, bool used)
{
    CXCursor callee = clang_getCursorReferenced(e);
    if (callee.kind != CXCursor_FunctionDecl) {
        refuse(w, e, "it calls a function through an expression");
        return value_of_children(w, e, used);
    }
    uint32_t own = gs_program_func(w->f->program, callee, w->unit);
    if (own != GS_NO_FUNC)
        return call_own(w, e, own);
    const char *name = gs_take_string(w->f->arena, clang_getCursorSpelling(callee));
    if (only_writes(name, 0) || only_writes(name, 2))
        return call_storing(w, e, name);
    return call_builtin(w, e, name, used);
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
    struct children k;
    children_of(w, e, &k);
    for (unsigned i = 0; i < k.n; i++) {
        if (!clang_isExpression(child(&k, i).kind))
            continue;
        struct place p = place_of(w, child(&k, i));
        touch(w, e, p, gs_flow_type(child(&k, i)), GS_FLOW_READ);
        touch(w, e, p, gs_flow_type(child(&k, i)), GS_FLOW_WRITE);
        if (gs_holds_pointers(gs_flow_type(child(&k, i))))
            add_access(w, e, p.node, GS_FLOW_ESCAPE, false);
    }
}

static uint32_t value_of(struct walk *w, CXCursor e, bool used)
{
    switch (e.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr: /* sizeof and its kin don't evaluate */
        return 0;
    case CXCursor_DeclRefExpr: {
        CXCursor to = clang_getCursorReferenced(e);
        if (to.kind == CXCursor_FunctionDecl) {
            refuse(w, e, "it uses a function as a value");
            return 0;
        }
        return load(w, e, (struct place){variable(w, e), false});
    }
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr:
        return load(w, e, place_of(w, e));
    case CXCursor_UnaryOperator:
        return unary(w, e);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return binary(w, e);
    case CXCursor_CallExpr:
        return call(w, e, used);
    case CXCursor_CStyleCastExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
        return conversion(w, e, used);
    case CXCursor_BlockExpr:
        refuse(w, e, "it uses blocks");
        return 0;
    default:
        return value_of_children(w, e, true);
    }
}

static uint32_t value(struct walk *w, CXCursor e, bool used)
{
    if (w->depth >= DEPTH_LIMIT) {
        if (!w->f->program->refusal)
            w->f->program->refusal = "its text is nested too deeply";
        return 0;
    }
    w->depth++;
    uint32_t n = value_of(w, e, used);
    w->depth--;
    return n;
}

static void declaration(struct walk *w, CXCursor var)
{
    struct children k;
    CXType type = gs_flow_type(var);
    unsigned space = clang_getAddressSpace(type);
    if (gs_is_array(type))
        space = space == GS_AS_NONE ? clang_getAddressSpace(clang_getCanonicalType(clang_getArrayElementType(type)))
                                    : space;
    w->f->funcs[w->func].uses_group |= space == GS_AS_LOCAL;
    children_of(w, var, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (clang_isExpression(child(&k, i).kind)) {
            uint32_t v = value(w, child(&k, i), true);
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

static void statement(struct walk *w, CXCursor s)
{
    struct children k;
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
    } else {
        children_of(w, s, &k);
        for (unsigned i = 0; i < k.n; i++) {
            CXCursor c = child(&k, i);
            if (!clang_isExpression(c.kind)) {
                statement(w, c);
                continue;
            }
            uint32_t v = value(w, c, !is_thrown_away(s.kind, i, k.n));
            if (s.kind == CXCursor_ReturnStmt && v != 0)
                flow_to(w, v, w->f->funcs[w->func].returned, gs_flow_type(c));
        }
    }
    w->depth--;
}

/* Rows by node: row[n] … row[n + 1] are the places in `at`. */
static void make_rows(struct gs_flow *f)
{
    uint32_t nodes = f->n_nodes + 2;
    f->edge_row = gs_need_array(f->arena, nodes + 1, sizeof *f->edge_row);
    f->access_row = gs_need_array(f->arena, nodes + 1, sizeof *f->access_row);
    f->edge_to = gs_need_array(f->arena, (size_t)f->n_edges + 1, sizeof *f->edge_to);
    f->access_at = gs_need_array(f->arena, (size_t)f->n_accesses + 1, sizeof *f->access_at);
    f->seen = gs_need_array(f->arena, nodes, sizeof *f->seen);
    for (uint32_t i = 0; i < f->n_edges; i++)
        f->edge_row[f->edges[i].from + 2]++;
    for (uint32_t i = 0; i < f->n_accesses; i++)
        f->access_row[f->accesses[i].node + 2]++;
    for (uint32_t n = 2; n <= nodes; n++) {
        f->edge_row[n] += f->edge_row[n - 1];
        f->access_row[n] += f->access_row[n - 1];
    }
    for (uint32_t i = 0; i < f->n_edges; i++)
        f->edge_to[f->edge_row[f->edges[i].from + 1]++] = f->edges[i].to;
    for (uint32_t i = 0; i < f->n_accesses; i++)
        f->access_at[f->access_row[f->accesses[i].node + 1]++] = i;
}

void gs_flow_build(struct gs_flow *f, struct gs_program *p)
{
    *f = (struct gs_flow){.program = p, .arena = p->arena};
    f->funcs = gs_need_array(p->arena, (size_t)p->n_funcs + 1, sizeof *f->funcs);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        f->funcs[i].returned = new_node(f);
    for (uint32_t i = 0; i < p->n_funcs && !p->refusal; i++)
        if (p->funcs[i].defined) {
            for (uint32_t a = 0; a < p->funcs[i].n_params; a++)
                gs_flow_node(f, clang_Cursor_getArgument(p->funcs[i].def, a));
            struct walk w = {.f = f, .func = i, .unit = p->funcs[i].unit};
            struct children k;
            children_of(&w, p->funcs[i].def, &k);
            for (unsigned c = 0; c < k.n; c++)
                if (child(&k, c).kind == CXCursor_CompoundStmt)
                    statement(&w, child(&k, c));
        }
    make_rows(f);
}
