/* SPDX-License-Identifier: MIT */
#include "translator/parsing/flow_tree.h"

#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

static enum CXChildVisitResult collect(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct gs_children *k = data;
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

void gs_children(struct gs_arena *arena, CXCursor c, struct gs_children *k)
{
    k->n = 0;
    k->arena = arena;
    clang_visitChildren(c, collect, k);
}

struct inner {
    CXCursor last;
    unsigned n;
};

static enum CXChildVisitResult take_expression(CXCursor c, CXCursor parent, CXClientData data)
{
    struct inner *i = data;
    (void)parent;
    if (clang_isExpression(c.kind)) {
        i->last = c;
        i->n++;
    }
    return CXChildVisit_Continue;
}

static struct inner inner_of(CXCursor e)
{
    struct inner i = {clang_getNullCursor(), 0};
    clang_visitChildren(e, take_expression, &i);
    return i;
}

bool gs_is_compound(CXCursor e)
{
    return e.kind == CXCursor_UnexposedExpr && inner_of(e).n > 1;
}

CXCursor gs_inner(CXCursor e)
{
    const struct inner i = inner_of(e);
    return e.kind == CXCursor_UnexposedExpr && i.n > 1 ? clang_getNullCursor() : i.last;
}

CXCursor gs_strip(CXCursor e)
{
    while (e.kind == CXCursor_ParenExpr || e.kind == CXCursor_UnexposedExpr) {
        CXCursor inner = gs_inner(e);
        if (clang_Cursor_isNull(inner))
            break;
        e = inner;
    }
    return e;
}

CXCursor gs_root_variable(struct gs_arena *arena, CXCursor e)
{
    struct gs_children k;
    for (;;) {
        e = gs_strip(e);
        if (e.kind == CXCursor_DeclRefExpr)
            return clang_getCursorReferenced(e);
        if (e.kind != CXCursor_MemberRefExpr && e.kind != CXCursor_ArraySubscriptExpr)
            return clang_getNullCursor();
        gs_children(arena, e, &k);
        unsigned i = 0;
        while (i < k.n && !clang_isExpression(gs_child(&k, i).kind))
            i++;
        if (i == k.n || gs_is_pointer(gs_flow_type(gs_strip(gs_child(&k, i)))))
            return clang_getNullCursor();
        e = gs_child(&k, i);
    }
}

CXCursor gs_callee(struct gs_arena *arena, CXCursor call)
{
    const CXCursor callee = clang_getCursorReferenced(call);
    struct gs_children k;
    if (callee.kind == CXCursor_FunctionDecl)
        return callee;
    gs_children(arena, call, &k); /* clang's interface doesn't look behind parentheses */
    const CXCursor name = k.n > 0 ? gs_strip(gs_child(&k, 0)) : clang_getNullCursor();
    return name.kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(name) : clang_getNullCursor();
}

unsigned gs_n_args(CXCursor call)
{
    int n = clang_Cursor_getNumArguments(call);
    return n > 0 ? (unsigned)n : 0;
}
