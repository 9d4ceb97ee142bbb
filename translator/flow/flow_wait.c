/* SPDX-License-Identifier: MIT */
#include "translator/flow/flow_wait.h"

#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_CHANGES = 128, MAX_EXITS = 16, MAX_DEPTH = 200, MAX_CALLS = 4, MAX_STEPS = 20000 };

/* An assignment to a private variable. */
struct change {
    CXCursor var, from; /* from: null for ++ and its like */
};

struct search {
    const struct gs_program *p;
    uint32_t unit;
    struct change changes[MAX_CHANGES];
    unsigned n_changes;
    bool polled[MAX_CHANGES];  /* per change: its variable holds what was polled */
    bool retried[MAX_CHANGES]; /* per change: its variable may hold what a compare-and-swap found */
    CXCursor exits[MAX_EXITS];
    unsigned n_exits;
    bool overflow, stores, leaves, retries;
    unsigned depth, steps, inner_loops, calls;
};

static const char *callee_name(struct search *s, CXCursor call)
{
    CXCursor callee = clang_getCursorReferenced(call);
    if (callee.kind != CXCursor_FunctionDecl || gs_program_func(s->p, callee, s->unit) != GS_NO_FUNC)
        return "";
    return gs_take_string(s->p->arena, clang_getCursorSpelling(callee));
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool is_constant(CXCursor e, long long *value)
{
    CXEvalResult v = clang_Cursor_Evaluate(e);
    bool is = v && clang_EvalResult_getKind(v) == CXEval_Int;
    *value = is ? clang_EvalResult_getAsLongLong(v) : 0;
    clang_EvalResult_dispose(v);
    return is;
}

/* ---- what an expression depends on ---- */

struct needs {
    bool polls;   /* volatile or atomic global memory */
    bool loads;   /* plain global memory */
    bool changes; /* a variable that the loop changes by something else */
    bool retries; /* whether a compare-and-swap of what was read before has succeeded: then nobody is waited for */
};

/* What a variable holds that the loop changes. */
static void look_at_variable(const struct search *s, CXCursor var, struct needs *n)
{
    for (unsigned i = 0; i < s->n_changes; i++)
        if (clang_equalCursors(s->changes[i].var, var)) {
            n->polls |= s->polled[i];
            n->changes |= !s->polled[i];
            n->retries |= s->retried[i];
        }
}

static void look_at_cursor(struct search *s, CXCursor e, struct needs *n);

/* An atomic that looks but doesn't move on: it reads, or it changes only what has the value that it waits for. */
static bool polls(struct search *s, const char *name, CXCursor call)
{
    const char *what = begins(name, "atomic_fetch_") ? name + 13
                       : begins(name, "atomic_")     ? name + 7
                       : begins(name, "atom_")       ? name + 5
                                                     : "";
    unsigned n = gs_n_args(call);
    long long value;
    if (!*what || n == 0 || !gs_may_be_global(gs_space_behind(gs_flow_type(clang_Cursor_getArgument(call, 0)))))
        return false;
    if (begins(what, "inc") || begins(what, "dec") || begins(what, "store"))
        return false;
    if (begins(what, "add") || begins(what, "sub"))
        return n > 1 && is_constant(clang_Cursor_getArgument(call, 1), &value) && value == 0;
    if (begins(what, "xchg") || begins(what, "exchange"))
        return n > 1 && is_constant(clang_Cursor_getArgument(call, 1), &value);
    if (begins(what, "cmpxchg") || begins(what, "compare_exchange"))
        return !s->retries;
    return true;
}

static void look_into_call(struct search *s, CXCursor e, struct needs *n)
{
    CXCursor callee = clang_getCursorReferenced(e);
    uint32_t own = callee.kind == CXCursor_FunctionDecl ? gs_program_func(s->p, callee, s->unit) : GS_NO_FUNC;
    if (own == GS_NO_FUNC) {
        const char *name = callee_name(s, e);
        n->polls |= polls(s, name, e);
        n->retries |= s->retries && (strstr(name, "cmpxchg") || strstr(name, "compare_exchange"));
    } else if (s->p->funcs[own].defined && s->calls < MAX_CALLS) { /* what it looks at decides what it returns */
        struct needs inside = {0};
        s->calls++;
        look_at_cursor(s, s->p->funcs[own].def, &inside);
        s->calls--;
        n->polls |= inside.polls;
        n->retries |= inside.retries;
    }
}

static void look_at_cursor(struct search *s, CXCursor e, struct needs *n)
{
    if (++s->depth > MAX_DEPTH || ++s->steps > MAX_STEPS) {
        s->overflow = true;
        s->depth--;
        return;
    }
    bool place = e.kind == CXCursor_ArraySubscriptExpr || e.kind == CXCursor_MemberRefExpr ||
                 (e.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref);
    if (place && clang_Cursor_isNull(gs_root_variable(s->p->arena, e))) {
        CXType type = gs_flow_type(e);
        n->polls |= clang_isVolatileQualifiedType(type) && gs_may_be_global(clang_getAddressSpace(type));
        n->loads |= clang_getAddressSpace(type) == GS_AS_GLOBAL;
    }
    if (e.kind == CXCursor_DeclRefExpr)
        look_at_variable(s, clang_getCursorReferenced(e), n);
    if (e.kind == CXCursor_CallExpr)
        look_into_call(s, e, n);
    struct gs_children k;
    gs_children(s->p->arena, e, &k);
    for (unsigned i = 0; i < k.n && !s->overflow; i++)
        look_at_cursor(s, gs_child(&k, i), n);
    s->depth--;
}

/* ---- what the loop does ---- */

static void add_change(struct search *s, CXCursor left, CXCursor from)
{
    CXCursor var = gs_root_variable(s->p->arena, left);
    if (clang_Cursor_isNull(var))
        s->stores = true;
    else if (s->n_changes == MAX_CHANGES)
        s->overflow = true;
    else
        s->changes[s->n_changes++] = (struct change){var, from};
}

static void scan_call(struct search *s, CXCursor c)
{
    for (unsigned i = 0; i < gs_n_args(c); i++)
        s->stores |= gs_holds_pointers(gs_flow_type(clang_Cursor_getArgument(c, i)));
    const char *name = callee_name(s, c);
    bool by_value = strcmp(name, "atomic_cmpxchg") == 0 || strcmp(name, "atom_cmpxchg") == 0;
    long long value;
    if (by_value && gs_n_args(c) == 3)
        s->retries |= !is_constant(clang_Cursor_getArgument(c, 1), &value);
}

static bool leaves(const struct search *s, CXCursor c)
{
    struct gs_children k;
    gs_children(s->p->arena, c, &k);
    if (c.kind == CXCursor_BreakStmt || c.kind == CXCursor_ReturnStmt)
        return true;
    for (unsigned i = 0; c.kind == CXCursor_CompoundStmt && i < k.n; i++)
        if (leaves(s, gs_child(&k, i)))
            return true;
    return false;
}

static void scan(struct search *s, CXCursor c)
{
    struct gs_children k;
    if (s->overflow || ++s->depth > MAX_DEPTH || ++s->steps > MAX_STEPS) {
        s->overflow = true;
        return;
    }
    gs_children(s->p->arena, c, &k);
    bool loop = c.kind == CXCursor_ForStmt || c.kind == CXCursor_WhileStmt || c.kind == CXCursor_DoStmt;
    enum CXUnaryOperatorKind one = CXUnaryOperator_Invalid;
    enum CXBinaryOperatorKind two = CXBinaryOperator_Invalid;
    if (c.kind == CXCursor_UnaryOperator)
        one = clang_getCursorUnaryOperatorKind(c);
    if (c.kind == CXCursor_BinaryOperator || c.kind == CXCursor_CompoundAssignOperator)
        two = clang_getCursorBinaryOperatorKind(c);
    if (two >= CXBinaryOperator_Assign && two <= CXBinaryOperator_OrAssign && k.n == 2)
        add_change(s, gs_child(&k, 0), gs_child(&k, 1));
    if (one == CXUnaryOperator_PostInc || one == CXUnaryOperator_PostDec || one == CXUnaryOperator_PreInc ||
        one == CXUnaryOperator_PreDec)
        add_change(s, gs_inner(c), clang_getNullCursor());
    if (one == CXUnaryOperator_AddrOf && !clang_Cursor_isNull(gs_root_variable(s->p->arena, gs_inner(c))))
        add_change(s, gs_inner(c), clang_getNullCursor());
    if (c.kind == CXCursor_VarDecl && !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(c)) &&
        s->n_changes < MAX_CHANGES)
        s->changes[s->n_changes++] = (struct change){c, clang_Cursor_getVarDeclInitializer(c)};
    if (c.kind == CXCursor_CallExpr)
        scan_call(s, c);
    if (c.kind == CXCursor_IfStmt && s->inner_loops == 0 && k.n >= 2 &&
        (leaves(s, gs_child(&k, 1)) || (k.n > 2 && leaves(s, gs_child(&k, 2))))) {
        if (s->n_exits < MAX_EXITS)
            s->exits[s->n_exits++] = gs_child(&k, 0);
        else
            s->overflow = true;
    }
    s->leaves |= (c.kind == CXCursor_BreakStmt && s->inner_loops == 0) || c.kind == CXCursor_ReturnStmt ||
                 c.kind == CXCursor_GotoStmt;
    s->inner_loops += loop;
    for (unsigned i = 0; i < k.n; i++)
        scan(s, gs_child(&k, i));
    s->inner_loops -= loop;
    s->depth--;
}

/* Which of the changed variables only hold what was polled: of each, all assignments. */
static void find_polled(struct search *s)
{
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 0; i < s->n_changes; i++) {
            struct needs n = {0};
            if (!clang_Cursor_isNull(s->changes[i].from))
                look_at_cursor(s, s->changes[i].from, &n);
            s->retried[i] |= n.retries;
            if (!n.polls)
                continue;
            bool all = true;
            for (unsigned j = 0; j < s->n_changes; j++)
                if (clang_equalCursors(s->changes[j].var, s->changes[i].var)) {
                    struct needs m = {0};
                    if (!clang_Cursor_isNull(s->changes[j].from))
                        look_at_cursor(s, s->changes[j].from, &m);
                    all &= m.polls;
                }
            for (unsigned j = 0; j < s->n_changes && all; j++)
                if (clang_equalCursors(s->changes[j].var, s->changes[i].var))
                    s->polled[j] = true;
        }
}

/* A condition, or one of the conditions that && and || join. */
static bool waits(struct search *s, CXCursor condition)
{
    CXCursor e = gs_strip(condition);
    enum CXBinaryOperatorKind op =
        e.kind == CXCursor_BinaryOperator ? clang_getCursorBinaryOperatorKind(e) : CXBinaryOperator_Invalid;
    struct gs_children k;
    if (op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) {
        gs_children(s->p->arena, e, &k);
        return k.n == 2 && (waits(s, gs_child(&k, 0)) || waits(s, gs_child(&k, 1)));
    }
    struct needs n = {0};
    look_at_cursor(s, e, &n);
    return n.polls && !n.changes && !n.retries;
}

/* Nothing in the loop could end it but a change of memory from elsewhere. */
static bool waits_for_plain(struct search *s, CXCursor condition)
{
    struct needs n = {0};
    if (s->stores || s->leaves)
        return false;
    look_at_cursor(s, condition, &n);
    return n.loads && !n.changes && !n.polls;
}

static bool is_condition(CXCursor c)
{
    enum CXUnaryOperatorKind one;
    enum CXBinaryOperatorKind two;
    switch (c.kind) {
    case CXCursor_CompoundAssignOperator:
        return false;
    case CXCursor_UnaryOperator:
        one = clang_getCursorUnaryOperatorKind(c);
        return one != CXUnaryOperator_PostInc && one != CXUnaryOperator_PostDec && one != CXUnaryOperator_PreInc &&
               one != CXUnaryOperator_PreDec;
    case CXCursor_BinaryOperator:
        two = clang_getCursorBinaryOperatorKind(c);
        return two != CXBinaryOperator_Assign && two != CXBinaryOperator_Comma;
    default:
        return clang_isExpression(c.kind);
    }
}

bool gs_wait_find(const struct gs_program *p, uint32_t unit, CXCursor loop, CXCursor *at)
{
    struct gs_children k;
    struct search *s = gs_need_array(p->arena, 1, sizeof *s);
    bool endless = true, found = false;
    long long value;
    s->p = p;
    s->unit = unit;
    gs_children(p->arena, loop, &k);
    for (unsigned i = 0; i < k.n; i++)
        scan(s, gs_child(&k, i));
    if (!s->overflow)
        find_polled(s);
    for (unsigned i = 0; i < k.n && !found && !s->overflow; i++) {
        CXCursor c = gs_child(&k, i);
        bool body = i + 1 == k.n ? loop.kind != CXCursor_DoStmt : i == 0 && loop.kind == CXCursor_DoStmt;
        if (body || !is_condition(c) || (is_constant(c, &value) && value != 0))
            continue;
        endless = false;
        found = waits(s, c) || waits_for_plain(s, c);
        *at = c;
    }
    if (!endless || s->overflow || s->n_exits == 0)
        return found && !s->overflow;
    for (unsigned i = 0; i < s->n_exits; i++)
        if (!waits(s, s->exits[i]))
            return false;
    *at = s->exits[0];
    return true;
}
