/* SPDX-License-Identifier: MIT */
/* Statements of OpenCL C, run symbolically; loops are in access_build_loop.c. */
#include "translator/access/access_build_state.h"

#include <string.h>

#include "translator/parsing/flow_type.h"

void gs_declare(struct gs_builder *b, CXCursor decl)
{
    if (decl.kind != CXCursor_VarDecl || !gs_step(b, decl))
        return;
    struct gs_type t = gs_type_of_cursor(decl);
    unsigned space = clang_getAddressSpace(clang_getCursorType(decl));
    if (space == GS_AS_LOCAL ||
        space == GS_AS_CONSTANT) { /* what is known of local memory and of constants is found at their use */
        if (space == GS_AS_LOCAL)
            gs_variable_add(b, decl, (struct gs_place){GS_B_LOCAL, 0, gs_node_const(b, GS_I64, 0)});
        return;
    }
    if (clang_Cursor_getStorageClass(decl) == CX_SC_Static || space == GS_AS_GLOBAL) {
        gs_give_up(b, decl, "it uses a variable of the program that outlives a launch");
        return;
    }
    uint32_t object = gs_private_new(b, t.size);
    CXCursor init = clang_Cursor_getVarDeclInitializer(decl);
    struct gs_value v = gs_any();
    struct gs_type from = {0};
    if (!clang_Cursor_isNull(init)) {
        from = gs_type_of_cursor(init);
        v = gs_eval(b, init, true);
    }
    if (b->failed)
        return;
    gs_variable_add(b, decl, gs_private_place(b, object));
    if (clang_Cursor_isNull(init) || t.class == GS_T_OTHER)
        return;
    v = gs_convert(b, &v, &from, &t, decl);
    gs_private_init(b, object, &t, &v, decl);
}

static void exec_declarations(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c);
    for (uint32_t i = 0; i < k.n; i++)
        gs_declare(b, k.v[i]);
}

static void exec_block(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c);
    for (uint32_t i = 0; i < k.n && !b->failed; i++) {
        if (b->dead && k.v[i].kind != CXCursor_CaseStmt && k.v[i].kind != CXCursor_DefaultStmt &&
            k.v[i].kind != CXCursor_LabelStmt)
            continue;
        gs_exec(b, k.v[i]);
    }
}

struct branch {
    struct gs_snapshot state;
    uint32_t begin, end; /* contexts */
    bool dead;
};

static struct branch exec_branch(struct gs_builder *b, uint32_t condition, bool truth, CXCursor c)
{
    struct branch r;
    uint32_t outside = b->context, mark = b->n_trail;
    r.begin = gs_scope_push(b, GS_C_GUARD, condition, truth);
    if (!clang_Cursor_isNull(c))
        gs_exec(b, c);
    r.end = b->context;
    r.dead = b->dead;
    r.state = gs_snapshot(b, mark);
    gs_rollback(b, mark);
    b->context = outside;
    b->dead = false;
    return r;
}

/* Behind two branches: what one of them left out (by return, break or continue) is left out here. */
static void join_contexts(struct gs_builder *b, uint32_t condition, const struct branch *yes, const struct branch *no,
                          CXCursor at)
{
    if (yes->end == yes->begin && no->end == no->begin)
        return;
    uint32_t x = gs_path_condition(b, yes->end, yes->begin, at), y = gs_path_condition(b, no->end, no->begin, at);
    uint32_t left = gs_node(b, GS_N_LOR, GS_I32, gs_node_not(b, condition), x, 0);
    uint32_t right = gs_node(b, GS_N_LOR, GS_I32, condition, y, 0);
    gs_scope_push(b, GS_C_GUARD, left, true);
    gs_scope_push(b, GS_C_GUARD, right, true);
}

static void exec_if(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c);
    if (k.n < 2 || k.n > 3) {
        gs_give_up(b, c, "it uses a statement that the analysis doesn't know");
        return;
    }
    struct gs_value v = gs_eval(b, k.v[0], true);
    uint32_t condition = gs_truth(b, &v, k.v[0]);
    CXCursor otherwise = k.n == 3 ? k.v[2] : clang_getNullCursor();
    int64_t known;
    if (gs_node_is_const(b, condition, &known)) {
        if (known || k.n == 3)
            gs_exec(b, known ? k.v[1] : otherwise);
        return;
    }
    struct branch yes = exec_branch(b, condition, true, k.v[1]), no = exec_branch(b, condition, false, otherwise);
    if (yes.dead && no.dead) {
        b->dead = true;
    } else if (yes.dead || no.dead) {
        const struct branch *alive = yes.dead ? &no : &yes;
        gs_apply(b, &alive->state);
        b->context = alive->end;
    } else {
        gs_apply_joined(b, condition, &yes.state, &no.state);
        join_contexts(b, condition, &yes, &no, c);
    }
}

static void exec_return(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c);
    struct gs_value v = gs_any();
    if (k.n > 0)
        v = gs_eval(b, k.v[0], b->frame->want_result);
    uint32_t condition = gs_path_condition(b, b->context, b->frame->context, c);
    gs_exit_add(b, &b->frame->exits, condition, b->frame->mark, &v);
    b->dead = true;
}

static void exec_break(struct gs_builder *b, CXCursor c)
{
    if (b->target && b->target->is_switch) {
        struct gs_value none = gs_any();
        gs_exit_add(b, &b->target->exits, gs_path_condition(b, b->context, b->target->context, c), b->target->mark,
                    &none);
    }
    b->dead = true;
}

/* ---- switch ---- */

/* The label's condition and the statement behind it: case 1: case 2: … is one label of two numbers. */
static uint32_t read_labels(struct gs_builder *b, CXCursor c, uint32_t selector, CXCursor *statement)
{
    uint32_t any = gs_node_const(b, GS_I32, 0);
    bool is_default = false;
    while (c.kind == CXCursor_CaseStmt || c.kind == CXCursor_DefaultStmt) {
        struct gs_kids k = gs_kids(b, c);
        if (c.kind == CXCursor_CaseStmt && k.n >= 2) {
            struct gs_value v = gs_eval(b, k.v[0], true);
            uint32_t is = v.kind == GS_V_INT && k.n == 2 ? gs_node(b, GS_N_EQ, GS_I32, selector,
                                                                   gs_node_cast(b, b->nodes[selector].type, v.node), 0)
                                                         : gs_node_opaque(b, GS_I32, c, "a case of a switch");
            any = gs_node(b, GS_N_LOR, GS_I32, any, is, 0);
        } else {
            is_default = true;
        }
        c = k.n ? k.v[k.n - 1] : clang_getNullCursor();
    }
    *statement = c;
    return is_default ? gs_node_opaque(b, GS_I32, c, "a case of a switch") : any;
}

static enum CXChildVisitResult find_label(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    bool *found = data;
    *found |= c.kind == CXCursor_CaseStmt || c.kind == CXCursor_DefaultStmt;
    if (*found)
        return CXChildVisit_Break;
    return c.kind == CXCursor_SwitchStmt ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

/* Does a case begin in the midst of another statement, as in Duff's device? */
static bool is_entered_within(struct gs_builder *b, const struct gs_kids *body)
{
    bool found = false;
    for (uint32_t i = 0; i < body->n && !found; i++) {
        CXCursor c = body->v[i];
        while (c.kind == CXCursor_CaseStmt || c.kind == CXCursor_DefaultStmt) {
            struct gs_kids k = gs_kids(b, c);
            c = k.n ? k.v[k.n - 1] : clang_getNullCursor();
        }
        if (!clang_Cursor_isNull(c) && c.kind != CXCursor_SwitchStmt)
            clang_visitChildren(c, find_label, &found);
    }
    return found;
}

/* The cases are run one after the other; one that is fallen into from above is joined with the state at the begin. */
static void exec_switch(struct gs_builder *b, CXCursor c)
{
    struct gs_kids k = gs_kids(b, c), body = {0};
    if (k.n == 2 && k.v[1].kind == CXCursor_CompoundStmt)
        body = gs_kids(b, k.v[1]);
    if (k.n != 2 || k.v[1].kind != CXCursor_CompoundStmt || is_entered_within(b, &body)) {
        gs_give_up(b, c, "it uses a switch of a form that the analysis doesn't know");
        return;
    }
    struct gs_value v = gs_eval(b, k.v[0], true), none = gs_any();
    uint32_t selector = v.kind == GS_V_INT ? v.node : gs_node_opaque(b, GS_I32, c, "the selector of a switch");
    uint32_t outside = b->context, mark = b->n_trail;
    struct gs_target target = {.outer = b->target, .is_switch = true, .context = outside, .mark = mark};
    b->target = &target;
    bool has_default = false;
    b->dead = true;
    for (uint32_t i = 0; i < body.n && !b->failed; i++) {
        CXCursor statement = body.v[i];
        if (statement.kind == CXCursor_CaseStmt || statement.kind == CXCursor_DefaultStmt) {
            has_default |= statement.kind == CXCursor_DefaultStmt;
            uint32_t condition = read_labels(b, statement, selector, &statement);
            if (!b->dead) { /* fallen into */
                struct gs_snapshot above = gs_snapshot(b, mark), entry = {0};
                gs_rollback(b, mark);
                condition = gs_node_opaque(b, GS_I32, c, "a case of a switch");
                gs_apply_joined(b, condition, &above, &entry);
            } else {
                gs_rollback(b, mark);
            }
            b->context = outside;
            b->dead = false;
            gs_scope_push(b, GS_C_GUARD, condition, true);
        }
        if (!b->dead && !clang_Cursor_isNull(statement))
            gs_exec(b, statement);
    }
    if (!b->dead)
        gs_exit_add(b, &target.exits, gs_path_condition(b, b->context, outside, c), mark, &none);
    gs_rollback(b, mark);
    if (!has_default)
        gs_exit_add(b, &target.exits, gs_node_const(b, GS_I32, 1), mark, &none);
    b->target = target.outer;
    b->context = outside;
    b->dead = target.exits.n == 0;
    gs_exits_join(b, &target.exits);
    gs_scope_push(b, GS_C_MAYBE, 0, true);
}

void gs_exec(struct gs_builder *b, CXCursor c)
{
    if (!gs_step(b, c))
        return;
    struct gs_kids k;
    switch (c.kind) {
    case CXCursor_CompoundStmt:
        exec_block(b, c);
        break;
    case CXCursor_DeclStmt:
        exec_declarations(b, c);
        break;
    case CXCursor_IfStmt:
        exec_if(b, c);
        break;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
        gs_exec_loop(b, c);
        break;
    case CXCursor_ReturnStmt:
        exec_return(b, c);
        break;
    case CXCursor_BreakStmt:
        exec_break(b, c);
        break;
    case CXCursor_ContinueStmt:
        b->dead = true;
        break;
    case CXCursor_SwitchStmt:
        exec_switch(b, c);
        break;
    case CXCursor_NullStmt:
        break;
    case CXCursor_UnexposedStmt: /* an attribute and the statement that it belongs to */
        k = gs_kids(b, c);
        for (uint32_t i = 0; i < k.n; i++)
            if (clang_isStatement(k.v[i].kind) || clang_isExpression(k.v[i].kind))
                gs_exec(b, k.v[i]);
        break;
    case CXCursor_GotoStmt:
    case CXCursor_LabelStmt:
    case CXCursor_IndirectGotoStmt:
        gs_give_up(b, c, "it uses goto");
        break;
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
        gs_give_up(b, c, "it uses assembly");
        break;
    default:
        if (clang_isExpression(c.kind))
            gs_eval(b, c, false);
        else
            gs_give_up(b, c, "it uses a statement that the analysis doesn't know");
    }
}
