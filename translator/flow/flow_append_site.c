/* SPDX-License-Identifier: MIT */
/* One atomic, and what becomes of its result in the block around it. */
#include "translator/flow/flow_append_state.h"

#include "translator/summary/access_program.h"
#include "translator/parsing/builtins.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

enum { MAX_FACTOR = 1 << 12 };

static struct gs_append_affine no_affine(void)
{
    return (struct gs_append_affine){.by = clang_getNullCursor()};
}

/* The variable of the site that a name means; the place in vars, or n_vars. */
static unsigned var_of(const struct gs_append_site *s, CXCursor decl)
{
    unsigned i = 0;
    while (i < s->n_vars && !clang_equalCursors(s->vars[i].decl, decl))
        i++;
    return i;
}

static bool is_taking(struct gs_append_search *s, CXCursor e, struct gs_append_site *out);

static struct gs_append_affine affine_of(struct gs_append_search *s, CXCursor e, struct gs_append_site *site,
                                         bool direct);

/* x + by */
static struct gs_append_affine affine_by(struct gs_append_search *s, const struct gs_children *k,
                                         struct gs_append_site *site, bool direct)
{
    CXCursor by = gs_append_steady_number(s, gs_child(k, 0));
    const bool swapped = !clang_Cursor_isNull(by);
    if (!swapped)
        by = gs_append_steady_number(s, gs_child(k, 1));
    if (clang_Cursor_isNull(by))
        return no_affine();
    struct gs_append_affine x = affine_of(s, gs_child(k, swapped ? 1 : 0), site, direct);
    x.ok = x.ok && clang_Cursor_isNull(x.by);
    x.by = by;
    x.b = 1;
    return x;
}

/* a * x + c + b * by of its variables, counting their gs_append_occurrences; or, with `direct`, of its atomic. */
static struct gs_append_affine affine_of(struct gs_append_search *s, CXCursor e, struct gs_append_site *site,
                                         bool direct)
{
    struct gs_children k;
    uint64_t n = 0;
    e = gs_append_number_inside(e);
    if (e.kind == CXCursor_DeclRefExpr) {
        const unsigned v = var_of(site, clang_getCursorReferenced(e));
        if (v == site->n_vars || !clang_Cursor_isNull(site->vars[v].list.param))
            return no_affine();
        site->vars[v].seen++;
        return site->vars[v].is;
    }
    if (e.kind == CXCursor_CallExpr)
        return direct && is_taking(s, e, site)
                   ? (struct gs_append_affine){.ok = true, .a = 1, .by = clang_getNullCursor()}
                   : no_affine();
    if (e.kind != CXCursor_BinaryOperator || !gs_append_is_wide(gs_flow_type(e)))
        return no_affine();
    const enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(e);
    gs_children(s->f->arena, e, &k);
    if (k.n != 2 || (op != CXBinaryOperator_Add && op != CXBinaryOperator_Mul && op != CXBinaryOperator_Shl))
        return no_affine();
    const bool swapped = op != CXBinaryOperator_Shl && gs_append_constant(gs_child(&k, 0), &n);
    if (!swapped && !gs_append_constant(gs_child(&k, 1), &n))
        return op == CXBinaryOperator_Add ? affine_by(s, &k, site, direct) : no_affine();
    struct gs_append_affine x = affine_of(s, gs_child(&k, swapped ? 1 : 0), site, direct);
    if (op == CXBinaryOperator_Shl)
        n = n < 12 ? (uint64_t)1 << n : MAX_FACTOR + 1;
    if (n > MAX_FACTOR)
        return no_affine();
    x.a *= op == CXBinaryOperator_Add ? 1 : n;
    x.b *= op == CXBinaryOperator_Add ? 1 : n;
    x.c = op == CXBinaryOperator_Add ? x.c + n : x.c * n;
    x.ok = x.ok && x.a && x.a <= MAX_FACTOR && x.b <= MAX_FACTOR && x.c <= MAX_FACTOR;
    return x;
}

/* Is the call an atomic that takes numbers from a counter of 32 bits? Fills what the site says of it. */
static bool is_taking(struct gs_append_search *s, CXCursor e, struct gs_append_site *out)
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
    if (adds_some && (!gs_append_constant(clang_Cursor_getArgument(e, 1), &out->step) || out->step == 0 ||
                      out->step > GS_APPEND_MOST_BYTES))
        return false;
    CXCursor pointer = clang_Cursor_getArgument(e, 0);
    CXType of = clang_getCanonicalType(clang_getPointeeType(gs_flow_type(pointer)));
    if (of.kind == CXType_Atomic)
        of = clang_getCanonicalType(clang_Type_getValueType(of));
    if (of.kind != CXType_Int && of.kind != CXType_UInt)
        return false;
    out->type = of.kind == CXType_Int ? GS_ATOMIC_I32 : GS_ATOMIC_U32;
    const struct gs_append_from from = gs_append_param(s, pointer);
    out->counter = from.param;
    out->counter_offset = from.bytes;
    out->call = e;
    return !clang_Cursor_isNull(from.param) && clang_Cursor_isNull(from.by) && from.bytes % 4 == 0;
}

/* ---- stores ---- */

/* An element of a list, or where it is. */
struct element {
    struct gs_append_from list;
    uint64_t unit; /* bytes of an element */
    struct gs_append_affine at;
};

/* Is the pointer the begin of a list: a parameter, or a place behind it? */
static bool list_of(struct gs_append_search *s, CXCursor pointer, struct element *out)
{
    CXCursor name = gs_strip(pointer);
    CXCursor decl = name.kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(name) : name;
    const CXType type = decl.kind == CXCursor_ParmDecl ? gs_parameter_type(decl) : gs_flow_type(name);
    if (!gs_is_pointer(type) && !gs_is_array(type))
        return false;
    const long long element =
        clang_Type_getSizeOf(gs_is_array(type) ? clang_getArrayElementType(type) : clang_getPointeeType(type));
    if (element <= 0 || element > GS_APPEND_MOST_BYTES)
        return false;
    out->list = gs_append_param(s, gs_is_array(type) ? pointer : name);
    out->unit = (uint64_t)element;
    return !clang_Cursor_isNull(out->list.param) && gs_space_behind(gs_parameter_type(out->list.param)) == GS_AS_GLOBAL;
}

static bool points_to(struct gs_append_search *s, CXCursor pointer, struct gs_append_site *site, bool direct,
                      struct element *out);

/* The element `index` behind a pointer: list[index], or variable[constant]. e: what adds the two. */
static bool behind(struct gs_append_search *s, CXCursor e, struct gs_append_site *site, bool direct,
                   struct element *out)
{
    struct gs_children k;
    uint64_t n;
    gs_children(s->f->arena, e, &k);
    if (k.n != 2)
        return false;
    if (points_to(s, gs_child(&k, 0), site, direct, out)) {
        if (!gs_append_constant(gs_child(&k, 1), &n) || n > MAX_FACTOR)
            return false;
        out->at.c += n;
        return true;
    }
    if (!list_of(s, gs_child(&k, 0), out))
        return false;
    out->at = affine_of(s, gs_child(&k, 1), site, direct);
    return out->at.ok;
}

/* Is the pointer one to an element of a list: &list[index], list + index, or a variable that is this? */
static bool points_to(struct gs_append_search *s, CXCursor pointer, struct gs_append_site *site, bool direct,
                      struct element *out)
{
    pointer = gs_strip(pointer);
    if (pointer.kind == CXCursor_DeclRefExpr) {
        const unsigned v = var_of(site, clang_getCursorReferenced(pointer));
        if (v == site->n_vars || clang_Cursor_isNull(site->vars[v].list.param))
            return false;
        site->vars[v].seen++;
        *out = (struct element){site->vars[v].list, site->vars[v].unit, site->vars[v].is};
        return true;
    }
    if (pointer.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(pointer) == CXUnaryOperator_AddrOf) {
        CXCursor of = gs_strip(gs_inner(pointer));
        return of.kind == CXCursor_ArraySubscriptExpr && behind(s, of, site, direct, out);
    }
    return pointer.kind == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(pointer) == CXBinaryOperator_Add && behind(s, pointer, site, direct, out);
}

/* Without what leads to a part of an element, a member or an element of one that is an array; *offset gains where it
 * is. Null: it isn't known. *pointer: what is left points to the element. */
static CXCursor without_parts(struct gs_append_search *s, CXCursor left, uint64_t *offset, bool *pointer)
{
    struct gs_children k;
    uint64_t n;
    *pointer = false;
    for (;;) {
        while (left.kind == CXCursor_ParenExpr)
            left = gs_inner(left);
        if (left.kind == CXCursor_MemberRefExpr) {
            if (!gs_append_member(left, &n))
                return clang_getNullCursor();
            left = gs_inner(left);
            *offset += n;
            if (gs_is_pointer(gs_flow_type(left))) {
                *pointer = true;
                return left;
            }
            continue;
        }
        if (left.kind != CXCursor_ArraySubscriptExpr)
            return left;
        gs_children(s->f->arena, left, &k);
        CXCursor array = k.n == 2 ? gs_strip(gs_child(&k, 0)) : left;
        if (array.kind != CXCursor_MemberRefExpr || !gs_is_array(gs_flow_type(array)) ||
            !gs_append_constant(gs_child(&k, 1), &n))
            return left;
        const long long bytes = clang_Type_getSizeOf(gs_flow_type(left));
        if (bytes <= 0 || n > GS_APPEND_MOST_BYTES)
            return clang_getNullCursor();
        *offset += n * (uint64_t)bytes;
        left = array;
    }
}

/* What a store is to: an element, or a part of it. */
static bool element_of(struct gs_append_search *s, CXCursor left, struct gs_append_site *site, bool direct,
                       struct gs_append_store *out, struct element *element)
{
    const long long bytes = clang_Type_getSizeOf(gs_flow_type(left));
    out->offset = 0;
    out->bytes = (uint64_t)bytes;
    bool pointer;
    left = without_parts(s, left, &out->offset, &pointer);
    if (bytes <= 0 || clang_Cursor_isNull(left))
        return false;
    if (pointer)
        return points_to(s, left, site, direct, element);
    if (left.kind == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(left) == CXUnaryOperator_Deref)
        return points_to(s, gs_inner(left), site, direct, element);
    return left.kind == CXCursor_ArraySubscriptExpr && behind(s, left, site, direct, element);
}

/* vstoreN(v, index, list) */
static bool vector_of(struct gs_append_search *s, CXCursor call, struct gs_append_site *site, bool direct,
                      struct gs_append_store *out, struct element *element)
{
    CXCursor callee = clang_getCursorReferenced(call);
    if (callee.kind != CXCursor_FunctionDecl || gs_n_args(call) != 3 ||
        gs_program_func(s->f->program, callee, s->unit) != GS_NO_FUNC)
        return false;
    const char *name = gs_take_string(s->f->arena, clang_getCursorSpelling(callee));
    if (strncmp(name, "vstore", 6) != 0 || strspn(name + 6, "0123456789") != strlen(name + 6))
        return false;
    const long n = strtol(name + 6, NULL, 10);
    if (n < 2 || n > 16 || !list_of(s, clang_Cursor_getArgument(call, 2), element) || element->unit > 8)
        return false;
    element->unit *= (uint64_t)n;
    element->at = affine_of(s, clang_Cursor_getArgument(call, 1), site, direct);
    out->bytes = element->unit;
    out->offset = 0;
    return element->at.ok;
}

/* Is the expression a store to a list at a place that x says? It becomes one of the site's. */
static bool take_store(struct gs_append_search *s, CXCursor e, struct gs_append_site *site,
                       const struct gs_append_below *limit, bool direct)
{
    struct gs_children k;
    struct gs_append_store st = {.at = e, .limit = *limit};
    struct element element;
    CXCursor value;
    if (e.kind == CXCursor_CallExpr && vector_of(s, e, site, direct, &st, &element)) {
        value = clang_Cursor_getArgument(e, 0);
    } else if (e.kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(e) == CXBinaryOperator_Assign) {
        gs_children(s->f->arena, e, &k);
        if (k.n != 2 || !element_of(s, gs_child(&k, 0), site, direct, &st, &element))
            return false;
        value = gs_child(&k, 1);
    } else {
        return false;
    }
    if (site->n_stores == GS_APPEND_STORES)
        return false;
    /* What is stored does nothing itself where a limit may keep it from being stored. */
    if (limit->is && gs_append_any(value, gs_append_acts, s))
        return false;
    st.list = element.list;
    if (!clang_Cursor_isNull(element.at.by)) {
        if (!clang_Cursor_isNull(st.list.by))
            return false;
        st.list.by = element.at.by;
        st.list.scale = element.at.b * element.unit;
        st.shifted_by = true;
    }
    st.offset += element.at.c * element.unit;
    st.element = element.unit;
    st.unit = element.unit * element.at.a;
    site->stores[site->n_stores++] = st;
    return true;
}

/* ---- limits ---- */

/* Does the condition say that x is below something that stays the same (or, if `opposite`, that it isn't)? */
static bool limit_of(struct gs_append_search *s, CXCursor cond, bool opposite, struct gs_append_site *site,
                     struct gs_append_below *out)
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
    const bool swapped = gs_append_occurrences(left, site->vars[0].decl) == 0;
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
    *out = (struct gs_append_below){.is = true, .param = clang_getNullCursor()};
    if (!gs_append_int_type(gs_flow_type(right), &out->as) || !gs_append_int_type(gs_flow_type(left), &right_type) ||
        out->as != right_type || gs_int_bits(out->as) < 32)
        return false;
    const struct gs_append_affine x = affine_of(s, left, site, false);
    if (!x.ok || x.a != 1 || !clang_Cursor_isNull(x.by))
        return false;
    out->negative = out->as == GS_U32 ? (uint32_t)x.c : out->as == GS_I32 ? INT32_MAX : GS_APPEND_UNKNOWN;
    out->more = (int64_t)at_most - (int64_t)x.c;
    out->type = GS_I64;
    if (gs_append_constant(right, &number)) {
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
    return out->param.kind == CXCursor_ParmDecl && gs_append_int_type(gs_flow_type(out->param), &out->type) &&
           gs_append_is_steady(s, s->func, out->param);
}

/* ---- blocks ---- */

/* Does the variable become a * x + c, or a pointer to that element of a list? */
static bool becomes(struct gs_append_search *s, CXCursor var, CXCursor init, struct gs_append_site *site, bool direct,
                    struct gs_append_var *out)
{
    const CXType type = gs_flow_type(var);
    struct element element;
    *out = (struct gs_append_var){.decl = var, .list.param = clang_getNullCursor()};
    if (!gs_is_pointer(type)) {
        out->is = affine_of(s, init, site, direct);
        return out->is.ok && gs_append_is_wide(type);
    }
    if (!points_to(s, init, site, direct, &element))
        return false;
    out->is = element.at;
    out->list = element.list;
    out->unit = element.unit;
    return clang_Type_getSizeOf(clang_getPointeeType(type)) == (long long)element.unit;
}

/* Variables that are declared, from the one with index `from` on: those made of x become the site's. */
static bool take_declaration(struct gs_append_search *s, CXCursor st, unsigned from, struct gs_append_site *site)
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
            uses |= gs_append_occurrences(init, site->vars[v].decl) > 0;
        if (!uses)
            continue;
        struct gs_append_var v;
        if (site->n_vars == GS_APPEND_VARS || !becomes(s, var, init, site, false, &v))
            return false;
        site->vars[site->n_vars++] = v;
    }
    return true;
}

/* Is the statement nothing but stores to lists, variables for them, and what is computed for them in variables of the
 * block that it is in? */
static bool only_stores(struct gs_append_search *s, CXCursor st, struct gs_append_scope *scope,
                        struct gs_append_site *site, const struct gs_append_below *limit)
{
    if (st.kind == CXCursor_CompoundStmt) {
        struct gs_children k;
        gs_children(s->f->arena, st, &k);
        struct gs_append_scope inner = {s, &k, 0, k.n};
        for (unsigned i = 0; i < k.n; i++)
            if (!only_stores(s, gs_child(&k, i), scope->n ? scope : &inner, site, limit))
                return false;
        return true;
    }
    if (st.kind == CXCursor_NullStmt)
        return true;
    if (st.kind == CXCursor_DeclStmt)
        return !gs_append_any(st, gs_append_acts, s) && take_declaration(s, st, 0, site);
    return !gs_append_any(st, gs_append_acts_beyond, scope) || take_store(s, st, site, limit, false);
}

/* What a block's end leads to. */
struct ending {
    bool function, iteration; /* nothing is left to do in the function; in the iteration of the loop around */
};

static bool leaves(struct gs_append_search *s, CXCursor st, struct ending e)
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
static bool follow_block(struct gs_append_search *s, const struct gs_children *block, unsigned from, struct ending end,
                         struct gs_append_site *site)
{
    struct gs_append_below limit = {.param = clang_getNullCursor()};
    unsigned last = from; /* behind the last one that has to do with the number */
    for (unsigned i = from; i < block->n; i++)
        for (unsigned v = 0; v < site->n_vars; v++) {
            CXCursor c = gs_child(block, i);
            struct gs_children k;
            /* Variables made of it come in as they are declared. */
            if (gs_append_occurrences(c, site->vars[v].decl) == 0)
                continue;
            last = i + 1;
            gs_children(s->f->arena, c, &k);
            if (c.kind == CXCursor_DeclStmt) {
                if (!take_declaration(s, c, 0, site))
                    return false;
            } else if (c.kind == CXCursor_IfStmt) {
                struct gs_append_below inner;
                struct gs_append_scope none = {.s = s};
                if (k.n != 2 || limit.is)
                    return false;
                if (leaves(s, gs_child(&k, 1), end)) {
                    if (!limit_of(s, gs_child(&k, 0), true, site, &limit))
                        return false;
                } else if (!limit_of(s, gs_child(&k, 0), false, site, &inner) ||
                           !only_stores(s, gs_child(&k, 1), &none, site, &inner)) {
                    return false;
                }
            } else if (!take_store(s, c, site, &limit, false)) {
                return false;
            }
            break;
        }
    /* Behind a guard that leaves, all that is left is under it. */
    bool under = false;
    struct gs_append_scope scope = {s, block, from, block->n - from};
    for (unsigned i = from; i < block->n; i++) {
        CXCursor c = gs_child(block, i);
        bool guard = false;
        if (c.kind == CXCursor_IfStmt) {
            struct gs_children k;
            gs_children(s->f->arena, c, &k);
            guard = k.n == 2 && leaves(s, gs_child(&k, 1), end) && gs_append_occurrences(c, site->vars[0].decl) > 0;
        }
        if (!guard && i < last && gs_append_any(c, gs_append_jumps, NULL))
            return false;
        if (under && !guard) {
            struct gs_append_site scratch = *site;
            if (gs_append_any(c, gs_append_acts_beyond, &scope) && !take_store(s, c, &scratch, &limit, false))
                return false;
        }
        under |= guard;
    }
    return under == limit.is;
}

static void add_site(struct gs_append_search *s, const struct gs_append_site *site)
{
    GS_GROW(s->f->arena, s->sites, s->n_sites, s->cap_sites);
    s->sites[s->n_sites++] = *site;
}

/* Does child i of a block take a number into a variable, the given one of those that it declares? */
static void look_at_variable(struct gs_append_search *s, const struct gs_children *block, unsigned i, struct ending end,
                             CXCursor var, CXCursor init, unsigned declared)
{
    CXCursor st = gs_child(block, i);
    const bool declares = st.kind == CXCursor_DeclStmt;
    struct gs_append_site site = {.func = s->func};
    if (var.kind != CXCursor_VarDecl || clang_Cursor_isNull(init))
        return;
    if (clang_Cursor_getStorageClass(var) == CX_SC_Static || clang_getAddressSpace(gs_flow_type(var)) == GS_AS_LOCAL)
        return;
    struct gs_append_var made;
    if (!becomes(s, var, init, &site, true, &made) || !site.step)
        return;
    made.seen = !declares;
    site.vars[0] = made;
    site.n_vars = 1;
    if ((declares && !take_declaration(s, st, declared + 1, &site)) || !follow_block(s, block, i + 1, end, &site))
        return;
    for (unsigned v = 0; v < site.n_vars; v++)
        if (site.vars[v].seen != gs_append_occurrences(s->f->program->funcs[s->func].def, site.vars[v].decl))
            return;
    add_site(s, &site);
}

static void look_at(struct gs_append_search *s, const struct gs_children *block, unsigned i, struct ending end)
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
static void look_below(struct gs_append_search *s, CXCursor st, struct ending end)
{
    static const struct gs_append_below none;
    struct gs_children k;
    struct gs_append_site site = {.func = s->func};
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

void gs_append_sites(struct gs_append_search *s, CXCursor body)
{
    look_below(s, body, (struct ending){.function = true});
}
