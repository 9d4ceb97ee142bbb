/* SPDX-License-Identifier: MIT */
#include "translator/flow/flow_spin.h"

#include "translator/parsing/builtins.h"
#include "translator/flow/flow_retry.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_TAINTED = 256, MAX_DEPTH = 200, MAX_ROUNDS = 32, MAX_STEPS = 4000000 };

struct search {
    const struct gs_flow *f;
    uint32_t unit;
    const bool *talks; /* by function: it, or what it calls, has atomics on global memory */
    /* Of one loop: variables that what atomics have answered may reach; what is stored through pointers; whether parts
     * of the body may be left out for it. */
    CXCursor tainted[MAX_TAINTED], moved[MAX_TAINTED]; /* moved: variables that may go on from round to round */
    unsigned n_tainted, n_moved;
    bool stored, skips, lost, changed;
    unsigned depth, inner;
    uint64_t steps; /* of all loops of the program */
};

static uint32_t own_callee(const struct search *s, CXCursor call)
{
    CXCursor callee = clang_getCursorReferenced(call);
    return callee.kind == CXCursor_FunctionDecl ? gs_program_func(s->f->program, callee, s->unit) : GS_NO_FUNC;
}

/* A call in which global memory may be changed by an atomic. */
static bool call_talks(const struct search *s, CXCursor call)
{
    CXCursor callee = clang_getCursorReferenced(call);
    const uint32_t own = own_callee(s, call);
    enum gs_atomic_op op;
    if (callee.kind != CXCursor_FunctionDecl)
        return true;
    if (own != GS_NO_FUNC)
        return s->talks[own];
    return gs_n_args(call) > 0 &&
           gs_builtin_atomic(gs_take_string(s->f->arena, clang_getCursorSpelling(callee)), &op) &&
           gs_may_be_global(gs_space_behind(gs_flow_type(clang_Cursor_getArgument(call, 0))));
}

static bool enter(struct search *s)
{
    if (++s->depth <= MAX_DEPTH && ++s->steps <= MAX_STEPS)
        return true;
    s->lost = true;
    return false;
}

static bool is_tainted_variable(const struct search *s, CXCursor var)
{
    for (unsigned i = 0; i < s->n_tainted; i++)
        if (clang_equalCursors(s->tainted[i], var))
            return true;
    return false;
}

static void taint(struct search *s, CXCursor var)
{
    if (is_tainted_variable(s, var))
        return;
    s->changed = true;
    if (s->n_tainted < MAX_TAINTED)
        s->tainted[s->n_tainted++] = var;
    else
        s->lost = true;
}

/* May others, or the loop itself, have changed what a pointer to this leads to? What the kernel takes for constant is
 * read as if nobody wrote it. */
static bool is_shared(const struct search *s, CXType type)
{
    const unsigned space = clang_getAddressSpace(type);
    if (space == GS_AS_LOCAL)
        return s->stored;
    return gs_may_be_global(space) && space != GS_AS_CONSTANT &&
           (!clang_isConstQualifiedType(type) || clang_isVolatileQualifiedType(type));
}

/* Does it read global memory that may be written? */
static bool reads_shared(const struct search *s, CXCursor e)
{
    if (e.kind == CXCursor_CallExpr) {
        const uint32_t own = own_callee(s, e);
        for (unsigned i = 0; i < gs_n_args(e); i++) {
            CXCursor a = gs_strip(clang_Cursor_getArgument(e, i));
            if (own != GS_NO_FUNC && i < s->f->program->funcs[own].n_params)
                a = clang_Cursor_getArgument(s->f->program->funcs[own].def, i);
            const CXType type = gs_flow_type(a);
            if (gs_is_pointer(type) && is_shared(s, clang_getCanonicalType(clang_getPointeeType(type))))
                return true;
        }
        return false;
    }
    const bool place =
        e.kind == CXCursor_ArraySubscriptExpr || e.kind == CXCursor_MemberRefExpr ||
        (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref);
    return place && clang_Cursor_isNull(gs_root_variable(s->f->arena, e)) && is_shared(s, gs_flow_type(e));
}

/* Does anything in it hang on other work-groups? */
static bool has_others(struct search *s, CXCursor c)
{
    struct gs_children k = {.n = 0};
    bool has = (c.kind == CXCursor_CallExpr && call_talks(s, c)) || reads_shared(s, c);
    if (!enter(s))
        has = true;
    else
        gs_children(s->f->arena, c, &k);
    for (unsigned i = 0; !has && i < k.n; i++)
        has = has_others(s, gs_child(&k, i));
    s->depth--;
    return has;
}

/* May what atomics have answered, or others have written, reach the value? */
static bool is_tainted(struct search *s, CXCursor e)
{
    struct gs_children k = {.n = 0};
    bool is = (e.kind == CXCursor_DeclRefExpr && is_tainted_variable(s, clang_getCursorReferenced(e))) ||
              (e.kind == CXCursor_CallExpr && call_talks(s, e)) || reads_shared(s, e);
    if (!enter(s))
        is = true;
    else
        gs_children(s->f->arena, e, &k);
    for (unsigned i = 0; !is && i < k.n; i++)
        is = is_tainted(s, gs_child(&k, i));
    s->depth--;
    return is;
}

static void taint_place(struct search *s, CXCursor place)
{
    CXCursor var = gs_root_variable(s->f->arena, place);
    if (!clang_Cursor_isNull(var)) {
        taint(s, var);
        return;
    }
    const unsigned space = clang_getAddressSpace(gs_flow_type(place));
    s->lost |= space != GS_AS_GLOBAL && space != GS_AS_LOCAL; /* some private variable */
    s->changed |= !s->stored;
    s->stored = true;
}

/* What a call that atomics' answers reach may change through its arguments. */
static void taint_arguments(struct search *s, CXCursor call)
{
    for (unsigned i = 0; i < gs_n_args(call); i++) {
        CXCursor a = gs_strip(clang_Cursor_getArgument(call, i));
        CXType type = gs_flow_type(clang_Cursor_getArgument(call, i));
        if (!gs_holds_pointers(type))
            continue;
        const unsigned space = gs_is_pointer(type) ? gs_space_behind(type) : GS_AS_PRIVATE;
        if (space == GS_AS_GLOBAL || space == GS_AS_CONSTANT || space == GS_AS_LOCAL) {
            s->changed |= !s->stored;
            s->stored = true;
            continue;
        }
        if (a.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(a) == CXUnaryOperator_AddrOf)
            a = gs_inner(a);
        CXCursor var = gs_root_variable(s->f->arena, a);
        if (clang_Cursor_isNull(var) || gs_is_pointer(gs_flow_type(var)))
            s->lost = true;
        else
            taint(s, var);
    }
}

static bool is_control(enum CXCursorKind kind)
{
    return kind == CXCursor_IfStmt || kind == CXCursor_SwitchStmt || kind == CXCursor_ConditionalOperator ||
           kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt || kind == CXCursor_ForStmt;
}

static bool is_loop(enum CXCursorKind kind)
{
    return kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt || kind == CXCursor_ForStmt;
}

static bool is_constant(CXCursor e)
{
    CXEvalResult v = clang_Cursor_Evaluate(e);
    const bool is = v && clang_EvalResult_getKind(v) == CXEval_Int;
    clang_EvalResult_dispose(v);
    return is;
}

/* Those beyond what there is room for only make less of the loop's conditions. */
static void move(struct search *s, CXCursor place)
{
    CXCursor var = gs_root_variable(s->f->arena, place);
    if (!clang_Cursor_isNull(var) && s->n_moved < MAX_TAINTED)
        s->moved[s->n_moved++] = var;
}

/* What stands here changes variables; `under`: whether it happens may depend on atomics' answers. */
static void change(struct search *s, CXCursor c, const struct gs_children *k, bool under)
{
    enum CXBinaryOperatorKind two = CXBinaryOperator_Invalid;
    enum CXUnaryOperatorKind one = CXUnaryOperator_Invalid;
    if (c.kind == CXCursor_BinaryOperator || c.kind == CXCursor_CompoundAssignOperator)
        two = clang_getCursorBinaryOperatorKind(c);
    if (c.kind == CXCursor_UnaryOperator)
        one = clang_getCursorUnaryOperatorKind(c);
    if (two >= CXBinaryOperator_Assign && two <= CXBinaryOperator_OrAssign && k->n == 2 && (under || is_tainted(s, c)))
        taint_place(s, gs_child(k, 0));
    if ((one == CXUnaryOperator_PostInc || one == CXUnaryOperator_PostDec || one == CXUnaryOperator_PreInc ||
         one == CXUnaryOperator_PreDec) &&
        (under || is_tainted(s, c)))
        taint_place(s, gs_inner(c));
    if (two > CXBinaryOperator_Assign && two <= CXBinaryOperator_OrAssign && k->n == 2)
        move(s, gs_child(k, 0));
    if (two == CXBinaryOperator_Assign && k->n == 2 && !is_constant(gs_child(k, 1)))
        move(s, gs_child(k, 0));
    if (one == CXUnaryOperator_PostInc || one == CXUnaryOperator_PostDec || one == CXUnaryOperator_PreInc ||
        one == CXUnaryOperator_PreDec)
        move(s, gs_inner(c));
    if (c.kind == CXCursor_VarDecl) {
        CXCursor init = clang_Cursor_getVarDeclInitializer(c);
        if (under || (!clang_Cursor_isNull(init) && is_tainted(s, init)))
            taint(s, c);
    }
    if (c.kind == CXCursor_CallExpr && (under || is_tainted(s, c)))
        taint_arguments(s, c);
}

static void walk(struct search *s, CXCursor c, bool under)
{
    struct gs_children k;
    const bool and_or =
        c.kind == CXCursor_BinaryOperator && (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LAnd ||
                                              clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LOr);
    const bool ends_inner = is_loop(c.kind) || c.kind == CXCursor_SwitchStmt;
    if (!enter(s)) {
        s->depth--;
        return;
    }
    gs_children(s->f->arena, c, &k);
    change(s, c, &k, under);
    if (c.kind == CXCursor_GotoStmt || c.kind == CXCursor_IndirectGotoStmt || c.kind == CXCursor_GCCAsmStmt ||
        c.kind == CXCursor_MSAsmStmt)
        s->lost = true;
    if (under && !s->skips && (c.kind == CXCursor_ContinueStmt || (c.kind == CXCursor_BreakStmt && s->inner)))
        s->skips = s->changed = true;
    /* A branch that is an expression passes for a condition, which only makes more of it. */
    for (unsigned i = 0; i < k.n && !under && (is_control(c.kind) || and_or); i++)
        under = clang_isExpression(gs_child(&k, i).kind) && is_tainted(s, gs_child(&k, i));
    s->inner += ends_inner;
    for (unsigned i = 0; i < k.n && !s->lost; i++)
        walk(s, gs_child(&k, i), under);
    s->inner -= ends_inner;
    s->depth--;
}

/* Can it only be a condition? */
static bool compares(CXCursor e)
{
    e = gs_strip(e);
    if (e.kind == CXCursor_DeclRefExpr)
        return true;
    if (e.kind == CXCursor_UnaryOperator)
        return clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_LNot;
    if (e.kind != CXCursor_BinaryOperator)
        return false;
    const enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(e);
    return op == CXBinaryOperator_LT || op == CXBinaryOperator_GT || op == CXBinaryOperator_LE ||
           op == CXBinaryOperator_GE || op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE ||
           op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr;
}

/* Does the condition look at what goes on from round to round? If not, it is no reason for the loop to end. */
static bool moves(struct search *s, CXCursor e)
{
    struct gs_children k = {.n = 0};
    const bool either =
        e.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(e) == CXBinaryOperator_LOr;
    bool does = false;
    for (unsigned i = 0; !does && e.kind == CXCursor_DeclRefExpr && i < s->n_moved; i++)
        does = clang_equalCursors(s->moved[i], clang_getCursorReferenced(e));
    if (enter(s) && !does)
        gs_children(s->f->arena, e, &k);
    if (either && k.n == 2)
        does = moves(s, gs_child(&k, 0)) && moves(s, gs_child(&k, 1));
    for (unsigned i = 0; !either && !does && i < k.n; i++)
        does = moves(s, gs_child(&k, i));
    s->depth--;
    return does;
}

/* Is the child of a loop its body? libclang leaves out the parts of a `for` that aren't there. */
static bool is_body(CXCursor loop, unsigned i, unsigned n)
{
    return loop.kind == CXCursor_DoStmt ? i == 0 : i + 1 == n;
}

/* Does the loop come to its end whatever atomics answer? */
static bool is_bounded(struct search *s, CXCursor loop)
{
    struct gs_children k;
    unsigned conditions = 0;
    gs_children(s->f->arena, loop, &k);
    s->n_tainted = s->depth = s->inner = 0;
    s->stored = s->skips = s->lost = false;
    unsigned round = 0;
    do {
        s->changed = false;
        s->n_moved = 0;
        for (unsigned i = 0; i < k.n && !s->lost; i++)
            walk(s, gs_child(&k, i), is_body(loop, i, k.n) && s->skips);
    } while (s->changed && !s->lost && ++round < MAX_ROUNDS);
    for (unsigned i = 0; i < k.n && !s->lost; i++) {
        CXCursor c = gs_child(&k, i);
        if (is_body(loop, i, k.n) || !clang_isExpression(c.kind))
            continue;
        if (loop.kind == CXCursor_ForStmt && !compares(c)) /* its begin, or its step */
            continue;
        if (is_constant(c) || is_tainted(s, c) || !moves(s, c))
            return false;
        conditions++;
    }
    return conditions && !s->lost && !s->changed;
}

static bool spins(struct search *s, CXCursor c, unsigned depth)
{
    struct gs_children k;
    struct gs_retry retry;
    if (depth > MAX_DEPTH || s->steps > MAX_STEPS || c.kind == CXCursor_GotoStmt || c.kind == CXCursor_IndirectGotoStmt)
        return true;
    if (is_loop(c.kind)) {
        s->depth = 0;
        if (gs_retry_find(s->f->program, s->unit, c, &retry) || !has_others(s, c))
            return false;
        if (!is_bounded(s, c))
            return true;
    }
    gs_children(s->f->arena, c, &k);
    for (unsigned i = 0; i < k.n; i++)
        if (!clang_isExpression(gs_child(&k, i).kind) && spins(s, gs_child(&k, i), depth + 1))
            return true;
    return false;
}

/* talks[i]: function i has atomics on global memory, or calls one that has. */
static bool *find_talking(struct gs_flow *f, bool *any)
{
    const uint32_t n = f->program->n_funcs;
    bool *talks = gs_need_array(f->arena, (size_t)n + 1, sizeof *talks), changed = true;
    for (uint32_t i = 0; i < f->n_accesses; i++)
        if (f->accesses[i].what == GS_FLOW_ATOMIC)
            *any = talks[f->accesses[i].func] = true;
    while (*any && changed) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t c = 0; c < f->funcs[i].n_calls && !talks[i]; c++)
                if (talks[f->funcs[i].calls[c]])
                    talks[i] = changed = true;
    }
    return talks;
}

void gs_spin_find(struct gs_flow *f)
{
    bool any = false;
    struct search *s = gs_need_array(f->arena, 1, sizeof *s);
    s->f = f;
    s->talks = find_talking(f, &any);
    for (uint32_t i = 0; i < f->n_accesses && !any; i++)
        any = f->accesses[i].is_volatile;
    for (uint32_t i = 0; any && i < f->program->n_funcs; i++) {
        s->unit = f->program->funcs[i].unit;
        if (f->program->funcs[i].defined)
            f->funcs[i].spins = spins(s, f->program->funcs[i].def, 0);
    }
}
