/* SPDX-License-Identifier: MIT */
/* Expressions of OpenCL C, evaluated symbolically. */
#include "translator/access/access_build_place.h"

#include "translator/parsing/flow_tree.h"

/* ---- conversions ---- */

uint32_t gs_truth(struct gs_builder *b, const struct gs_value *v, CXCursor at)
{
    if (v->kind != GS_V_INT)
        return gs_node_opaque(b, GS_I32, at, "the condition is not one of integers");
    const struct gs_node *n = &b->nodes[v->node];
    int64_t c;
    if (gs_node_is_const(b, v->node, &c))
        return gs_node_const(b, GS_I32, c != 0);
    if (n->op == GS_N_CAST && b->nodes[n->a].op >= GS_N_EQ)
        return n->a;
    return v->node;
}

static struct gs_value convert_int(struct gs_builder *b, uint32_t node, const struct gs_type *to, CXCursor at)
{
    if (to->class == GS_T_INT && to->is_bool) {
        struct gs_value v = gs_int(node);
        uint32_t truth = gs_node_not(b, gs_node_not(b, gs_truth(b, &v, at)));
        return gs_int(gs_node_cast(b, GS_U8, truth));
    }
    if (to->class == GS_T_INT)
        return gs_int(gs_node_cast(b, to->int_type, node));
    if (to->class == GS_T_VECTOR && to->of_ints) {
        struct gs_value v = {.kind = GS_V_VECTOR, .n = to->count};
        for (uint32_t i = 0; i < v.n; i++)
            v.parts[i] = gs_node_cast(b, to->int_type, node);
        return v;
    }
    int64_t c;
    if (to->class == GS_T_POINTER && gs_node_is_const(b, node, &c) && c == 0)
        return gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)});
    return gs_opaque_value(b, to, at, "it is converted from an integer");
}

struct gs_value gs_convert(struct gs_builder *b, const struct gs_value *v, const struct gs_type *from,
                           const struct gs_type *to, CXCursor at)
{
    if (v->kind == GS_V_INT)
        return convert_int(b, v->node, to, at);
    if (v->kind == GS_V_POINTER) {
        if (gs_type_is_address(to))
            return *v;
        if (to->class == GS_T_INT && !to->is_bool)
            gs_escape(b, v);
        return gs_opaque_value(b, to, at, "it is computed from an address");
    }
    if (v->kind == GS_V_VECTOR && to->class == GS_T_VECTOR && to->of_ints && to->count == v->n) {
        struct gs_value r = *v;
        for (uint32_t i = 0; i < r.n; i++)
            r.parts[i] = gs_node_cast(b, to->int_type, v->parts[i]);
        return r;
    }
    if (v->kind == GS_V_RECORD && to->class == GS_T_RECORD)
        return *v;
    if (v->kind == GS_V_RECORD && to->class == GS_T_ARRAY)
        return *v;
    if (v->kind == GS_V_RECORD && to->class == GS_T_POINTER)
        return gs_pointer(v->place);
    if (to->class == GS_T_VOID || to->class == GS_T_FLOAT || (to->class == GS_T_VECTOR && !to->of_ints))
        return gs_any();
    return gs_opaque_value(b, to, at,
                           from->class == GS_T_FLOAT || from->class == GS_T_VECTOR ? "it is computed in floating point"
                                                                                   : "its value is not known");
}

/* ---- operators ---- */

static uint32_t int_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, uint8_t type, uint32_t x, uint32_t y)
{
    static const uint8_t ops[] = {
        [CXBinaryOperator_Mul] = GS_N_MUL, [CXBinaryOperator_Div] = GS_N_DIV, [CXBinaryOperator_Rem] = GS_N_REM,
        [CXBinaryOperator_Add] = GS_N_ADD, [CXBinaryOperator_Sub] = GS_N_SUB, [CXBinaryOperator_Shl] = GS_N_SHL,
        [CXBinaryOperator_Shr] = GS_N_SHR, [CXBinaryOperator_And] = GS_N_AND, [CXBinaryOperator_Xor] = GS_N_XOR,
        [CXBinaryOperator_Or] = GS_N_OR,
    };
    bool shift = op == CXBinaryOperator_Shl || op == CXBinaryOperator_Shr;
    x = gs_node_cast(b, type, x);
    if (!shift)
        y = gs_node_cast(b, type, y);
    return gs_node(b, ops[op], type, x, y, 0);
}

static uint32_t int_compare(struct gs_builder *b, enum CXBinaryOperatorKind op, uint32_t x, uint32_t y)
{
    uint8_t type = b->nodes[x].type;
    y = gs_node_cast(b, type, y);
    switch (op) {
    case CXBinaryOperator_LT:
        return gs_node(b, GS_N_LT, GS_I32, x, y, 0);
    case CXBinaryOperator_GT:
        return gs_node(b, GS_N_LT, GS_I32, y, x, 0);
    case CXBinaryOperator_LE:
        return gs_node(b, GS_N_LE, GS_I32, x, y, 0);
    case CXBinaryOperator_GE:
        return gs_node(b, GS_N_LE, GS_I32, y, x, 0);
    case CXBinaryOperator_EQ:
        return gs_node(b, GS_N_EQ, GS_I32, x, y, 0);
    default:
        return gs_node_not(b, gs_node(b, GS_N_EQ, GS_I32, x, y, 0));
    }
}

static bool is_compare(enum CXBinaryOperatorKind op)
{
    return op >= CXBinaryOperator_LT && op <= CXBinaryOperator_NE;
}

static bool is_arithmetic(enum CXBinaryOperatorKind op)
{
    return (op >= CXBinaryOperator_Mul && op <= CXBinaryOperator_Shr) ||
           (op >= CXBinaryOperator_And && op <= CXBinaryOperator_Or);
}

static const char *float_reason(const struct gs_value *x, const struct gs_value *y)
{
    return x->kind == GS_V_ANY || y->kind == GS_V_ANY ? "it is computed in floating point" : "its value is not known";
}

struct gs_value gs_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, const struct gs_type *t,
                          const struct gs_value *x, const struct gs_value *y, CXCursor at)
{
    if (x->kind == GS_V_INT && y->kind == GS_V_INT) {
        if (is_compare(op))
            return gs_int(int_compare(b, op, x->node, y->node));
        if (is_arithmetic(op) && t->class == GS_T_INT)
            return gs_int(int_binary(b, op, t->int_type, x->node, y->node));
    }
    if (t->class == GS_T_VECTOR && t->of_ints && is_arithmetic(op)) {
        struct gs_value v = {.kind = GS_V_VECTOR, .n = t->count};
        for (uint32_t i = 0; i < v.n; i++) {
            bool known_x = x->kind == GS_V_INT || (x->kind == GS_V_VECTOR && i < x->n);
            bool known_y = y->kind == GS_V_INT || (y->kind == GS_V_VECTOR && i < y->n);
            if (known_x && known_y)
                v.parts[i] = int_binary(b, op, t->int_type, x->kind == GS_V_INT ? x->node : x->parts[i],
                                        y->kind == GS_V_INT ? y->node : y->parts[i]);
            else
                v.parts[i] = gs_node_opaque(b, t->int_type, at, float_reason(x, y));
        }
        return v;
    }
    return gs_opaque_value(b, t, at, float_reason(x, y));
}

static struct gs_value pointer_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, CXCursor c,
                                      const struct gs_value *x, const struct gs_type *tx, const struct gs_value *y,
                                      const struct gs_type *ty)
{
    struct gs_type t = gs_type_of_cursor(c);
    if (gs_type_is_address(tx) && gs_type_is_address(ty)) {
        bool same = op == CXBinaryOperator_Sub && x->kind == GS_V_POINTER && y->kind == GS_V_POINTER && !x->otherwise &&
                    !y->otherwise && x->place.base == y->place.base && x->place.index == y->place.index &&
                    x->place.base != GS_B_UNKNOWN;
        uint32_t size = gs_type_pointee(tx).size;
        if (!same || size == 0)
            return gs_opaque_value(b, &t, c, "it is computed from addresses");
        uint32_t way = gs_node(b, GS_N_SUB, GS_I64, x->place.offset, y->place.offset, 0);
        return gs_int(gs_node(b, GS_N_DIV, GS_I64, way, gs_node_const(b, GS_I64, size), 0));
    }
    if (gs_type_is_address(tx))
        return gs_move_by(b, x, y, gs_type_pointee(tx).size, op == CXBinaryOperator_Sub, c);
    return gs_move_by(b, y, x, gs_type_pointee(ty).size, false, c);
}

/* Evaluates `c` where `condition` is as `truth` says. Leaves the state as it was; *after has what c changed. */
static struct gs_value eval_under(struct gs_builder *b, uint32_t condition, bool truth, CXCursor c, bool want_result,
                                  struct gs_snapshot *after)
{
    uint32_t outside = b->context, mark = b->n_trail;
    gs_scope_push(b, GS_C_GUARD, condition, truth);
    struct gs_value v = gs_eval(b, c, want_result);
    *after = gs_snapshot(b, mark);
    gs_rollback(b, mark);
    b->context = outside;
    return v;
}

/* A truth may be any number: of 1 && n only n would be left. */
static uint32_t one_or_zero(struct gs_builder *b, uint32_t truth)
{
    return b->nodes[truth].op < GS_N_EQ ? gs_node_not(b, gs_node_not(b, truth)) : truth;
}

static struct gs_value eval_logical(struct gs_builder *b, CXCursor c, CXCursor left, CXCursor right, bool is_and)
{
    struct gs_value x = gs_eval(b, left, true);
    uint32_t truth = gs_truth(b, &x, left);
    int64_t known;
    if (gs_node_is_const(b, truth, &known) && (known != 0) != is_and)
        return gs_int(gs_node_const(b, GS_I32, known != 0));
    struct gs_snapshot ran, not_run = {0};
    struct gs_value y = eval_under(b, truth, is_and, right, true, &ran);
    if (is_and)
        gs_apply_joined(b, truth, &ran, &not_run);
    else
        gs_apply_joined(b, truth, &not_run, &ran);
    (void)c;
    return gs_int(gs_node(b, is_and ? GS_N_LAND : GS_N_LOR, GS_I32, one_or_zero(b, truth),
                          one_or_zero(b, gs_truth(b, &y, right)), 0));
}

static struct gs_value eval_conditional(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor kid[3];
    struct gs_type t = gs_type_of_cursor(c);
    if (gs_child_expressions(b, c, kid, 3) != 3) {
        gs_give_up(b, c, "it uses a form of the conditional operator that the analysis doesn't know");
        return gs_any();
    }
    struct gs_value condition = gs_eval(b, kid[0], true);
    if (gs_type_of_cursor(kid[0]).class == GS_T_VECTOR) {
        gs_eval(b, kid[1], true);
        gs_eval(b, kid[2], true);
        return gs_opaque_value(b, &t, c, "it is selected by a vector's components");
    }
    uint32_t truth = gs_truth(b, &condition, kid[0]);
    int64_t known;
    if (gs_node_is_const(b, truth, &known))
        return gs_eval(b, kid[known ? 1 : 2], want_result);
    struct gs_snapshot yes, no;
    struct gs_value x = eval_under(b, truth, true, kid[1], want_result, &yes);
    struct gs_value y = eval_under(b, truth, false, kid[2], want_result, &no);
    gs_apply_joined(b, truth, &yes, &no);
    return gs_join(b, truth, &x, &y);
}

static struct gs_value eval_assign(struct gs_builder *b, CXCursor left, CXCursor right)
{
    struct gs_type from = gs_type_of_cursor(right);
    struct gs_value v = gs_eval(b, right, true);
    struct gs_lvalue t = gs_locate(b, left);
    v = gs_convert(b, &v, &from, &t.result, right);
    gs_lvalue_store(b, &t, &v, left);
    return v;
}

/* x op= y. The operation takes place in the type that both are promoted to. */
static struct gs_value eval_compound_assign(struct gs_builder *b, CXCursor c)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    if (gs_child_expressions(b, c, kid, 2) != 2)
        return gs_opaque_value(b, &t, c, "its value is not known");
    static const enum CXBinaryOperatorKind plain[] = {
        [CXBinaryOperator_MulAssign] = CXBinaryOperator_Mul, [CXBinaryOperator_DivAssign] = CXBinaryOperator_Div,
        [CXBinaryOperator_RemAssign] = CXBinaryOperator_Rem, [CXBinaryOperator_AddAssign] = CXBinaryOperator_Add,
        [CXBinaryOperator_SubAssign] = CXBinaryOperator_Sub, [CXBinaryOperator_ShlAssign] = CXBinaryOperator_Shl,
        [CXBinaryOperator_ShrAssign] = CXBinaryOperator_Shr, [CXBinaryOperator_AndAssign] = CXBinaryOperator_And,
        [CXBinaryOperator_XorAssign] = CXBinaryOperator_Xor, [CXBinaryOperator_OrAssign] = CXBinaryOperator_Or,
    };
    enum CXBinaryOperatorKind op = plain[clang_getCursorBinaryOperatorKind(c)];
    struct gs_type right = gs_type_of_cursor(kid[1]);
    struct gs_value y = gs_eval(b, kid[1], true);
    struct gs_lvalue target = gs_locate(b, kid[0]);
    struct gs_value x = gs_lvalue_load(b, &target, kid[0]), v;
    if (t.class == GS_T_POINTER) {
        v = gs_move_by(b, &x, &y, gs_type_pointee(&t).size, op == CXBinaryOperator_Sub, c);
    } else if (t.class == GS_T_INT && right.class == GS_T_INT) {
        uint8_t wide = t.int_type < GS_I32 ? GS_I32 : t.int_type;
        bool shift = op == CXBinaryOperator_Shl || op == CXBinaryOperator_Shr;
        if (!shift && right.int_type > wide)
            wide = right.int_type;
        struct gs_type in = {.class = GS_T_INT, .int_type = wide, .size = gs_int_bits(wide) / 8};
        v = gs_binary(b, op, &in, &x, &y, c);
        v = gs_convert(b, &v, &in, &t, c);
    } else {
        v = gs_binary(b, op, &t, &x, &y, c);
    }
    gs_lvalue_store(b, &target, &v, kid[0]);
    return v;
}

static struct gs_value eval_step_operator(struct gs_builder *b, CXCursor c, CXCursor child, bool up, bool before)
{
    struct gs_type t = gs_type_of_cursor(child);
    struct gs_lvalue target = gs_locate(b, child);
    struct gs_value old = gs_lvalue_load(b, &target, child), now, one = gs_int(gs_node_const(b, GS_I32, 1));
    if (t.class == GS_T_POINTER) {
        now = gs_move_by(b, &old, &one, gs_type_pointee(&t).size, !up, c);
    } else {
        const struct gs_type wide = {.class = GS_T_INT, .int_type = GS_I32, .size = 4};
        const struct gs_type *in =
            t.class == GS_T_INT && t.is_bool ? &wide : &t; /* a truth value's neighbour is true */
        now = gs_binary(b, up ? CXBinaryOperator_Add : CXBinaryOperator_Sub, in, &old, &one, c);
        if (in != &t)
            now = gs_convert(b, &now, in, &t, c);
    }
    gs_lvalue_store(b, &target, &now, child);
    return before ? now : old;
}

static void expose(struct gs_builder *b, const struct gs_value *v)
{
    for (; v && v->kind == GS_V_POINTER; v = v->otherwise)
        if (v->place.base == GS_B_OBJECT)
            b->objects[v->place.index].exposed = true;
}

static struct gs_value eval_minus(struct gs_builder *b, CXCursor c, const struct gs_value *x, const struct gs_type *t)
{
    struct gs_value zero = gs_int(gs_node_const(b, GS_I32, 0));
    return gs_binary(b, CXBinaryOperator_Sub, t, &zero, x, c);
}

static struct gs_value eval_unary(struct gs_builder *b, CXCursor c)
{
    CXCursor child = gs_only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c);
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    struct gs_value x;
    switch (op) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
        return eval_step_operator(b, c, child, op == CXUnaryOperator_PostInc, false);
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
        return eval_step_operator(b, c, child, op == CXUnaryOperator_PreInc, true);
    case CXUnaryOperator_AddrOf:
        x = gs_locate(b, child).pointer;
        expose(b, &x);
        return x;
    case CXUnaryOperator_Deref: {
        struct gs_lvalue target = gs_locate(b, c);
        return gs_lvalue_load(b, &target, c);
    }
    case CXUnaryOperator_Plus:
        return gs_eval(b, child, true);
    case CXUnaryOperator_Minus:
        x = gs_eval(b, child, true);
        return eval_minus(b, c, &x, &t);
    case CXUnaryOperator_Not:
        x = gs_eval(b, child, true);
        if (x.kind == GS_V_INT && t.class == GS_T_INT)
            return gs_int(gs_node(b, GS_N_NOT, t.int_type, gs_node_cast(b, t.int_type, x.node), 0, 0));
        return gs_opaque_value(b, &t, c, "its value is not known");
    case CXUnaryOperator_LNot:
        x = gs_eval(b, child, true);
        if (t.class == GS_T_INT)
            return gs_int(gs_node_not(b, gs_truth(b, &x, child)));
        return gs_opaque_value(b, &t, c, "its value is not known");
    default:
        x = gs_eval(b, child, true);
        return gs_opaque_value(b, &t, c, "its value is not known");
    }
}

static struct gs_value eval_binary(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor kid[2];
    struct gs_type t = gs_type_of_cursor(c);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    if (gs_child_expressions(b, c, kid, 2) != 2)
        return gs_opaque_value(b, &t, c, "its value is not known");
    if (op == CXBinaryOperator_Assign)
        return eval_assign(b, kid[0], kid[1]);
    if (op == CXBinaryOperator_Comma) {
        gs_eval(b, kid[0], false);
        return gs_eval(b, kid[1], want_result);
    }
    if ((op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) && t.class == GS_T_INT)
        return eval_logical(b, c, kid[0], kid[1], op == CXBinaryOperator_LAnd);
    struct gs_type tx = gs_type_of_cursor(kid[0]), ty = gs_type_of_cursor(kid[1]);
    struct gs_value x = gs_eval(b, kid[0], true), y = gs_eval(b, kid[1], true);
    if (gs_type_is_address(&tx) || gs_type_is_address(&ty))
        return pointer_binary(b, op, c, &x, &tx, &y, &ty);
    return gs_binary(b, op, &t, &x, &y, c);
}

/* ---- the rest ---- */

static struct gs_value eval_constant(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    if (t.class != GS_T_INT)
        return gs_any();
    CXEvalResult r = clang_Cursor_Evaluate(c);
    struct gs_value v = gs_opaque_value(b, &t, c, "its value is not known");
    if (r && clang_EvalResult_getKind(r) == CXEval_Int)
        v = gs_int(gs_node_const(b, t.int_type,
                                 clang_EvalResult_isUnsignedInt(r) ? (int64_t)clang_EvalResult_getAsUnsigned(r)
                                                                   : clang_EvalResult_getAsLongLong(r)));
    if (r)
        clang_EvalResult_dispose(r);
    return v;
}

static struct gs_value eval_reference(struct gs_builder *b, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct gs_type t = gs_type_of_cursor(c);
    if (decl.kind == CXCursor_EnumConstantDecl)
        return gs_int(
            gs_node_const(b, t.class == GS_T_INT ? t.int_type : GS_I32, clang_getEnumConstantDeclValue(decl)));
    struct gs_lvalue target = gs_locate_variable(b, c);
    if (target.pointer.kind == GS_V_POINTER && target.pointer.place.base == GS_B_FIXED && t.class == GS_T_INT &&
        decl.kind == CXCursor_VarDecl) {
        struct gs_value v = eval_constant(b, c);
        if (v.kind == GS_V_INT && b->nodes[v.node].op == GS_N_CONST)
            return v;
    }
    if (t.class == GS_T_ARRAY && decl.kind != CXCursor_ParmDecl)
        return (struct gs_value){.kind = GS_V_RECORD, .place = target.pointer.place};
    if (t.class == GS_T_ARRAY || t.class == GS_T_OTHER || t.class == GS_T_VOID)
        return target.pointer; /* a parameter that was written as an array; an image, a sampler, a function */
    return gs_lvalue_load(b, &target, c);
}

/* The components of a vector literal: vectors among them are taken apart. */
static struct gs_value eval_vector_list(struct gs_builder *b, const struct gs_kids *k, const struct gs_type *t,
                                        CXCursor at)
{
    struct gs_value v = {.kind = GS_V_VECTOR};
    bool known = t->of_ints;
    for (uint32_t i = 0; i < k->n; i++) {
        if (!clang_isExpression(k->v[i].kind))
            continue;
        struct gs_value x = gs_eval(b, k->v[i], true);
        if (x.kind == GS_V_INT && v.n < 16)
            v.parts[v.n++] = x.node;
        else if (x.kind == GS_V_VECTOR && v.n + x.n <= 16)
            for (uint32_t j = 0; j < x.n; j++)
                v.parts[v.n++] = x.parts[j];
        else
            known = false;
    }
    if (!known || (v.n != t->count && v.n != 1))
        return gs_opaque_value(b, t, at, "its value is not known");
    for (uint32_t i = 0; i < t->count; i++)
        v.parts[i] = gs_node_cast(b, t->int_type, v.parts[v.n == 1 ? 0 : i]);
    v.n = t->count;
    return v;
}

/* `.x = …` or `[3] = …` */
static bool is_designated(struct gs_builder *b, CXCursor c)
{
    if (c.kind != CXCursor_UnexposedExpr)
        return false;
    struct gs_kids k = gs_kids(b, c);
    uint32_t expressions = 0;
    for (uint32_t i = 0; i < k.n; i++) {
        expressions += clang_isExpression(k.v[i].kind) != 0;
        if (k.v[i].kind == CXCursor_MemberRef)
            return true;
    }
    return expressions > 1;
}

struct field_list {
    CXCursor v[64];
    uint32_t n;
};

static enum CXVisitorResult add_field(CXCursor c, CXClientData data)
{
    struct field_list *l = data;
    if (l->n < 64)
        l->v[l->n++] = c;
    return CXVisit_Continue;
}

static struct field_list fields_of(const struct gs_type *t)
{
    struct field_list fields = {.n = 0};
    if (t->class == GS_T_RECORD)
        clang_Type_visitFields(t->clang, add_field, &fields);
    if (fields.n > 1 && clang_getTypeDeclaration(t->clang).kind == CXCursor_UnionDecl)
        fields.n = 1; /* a list is for the first */
    return fields;
}

/* The type and place of the i-th element of a record or array. False where that is not known. */
static bool element_of(const struct gs_type *t, const struct field_list *fields, uint32_t i, struct gs_type *type,
                       int64_t *offset)
{
    if (t->class == GS_T_ARRAY) {
        *type = gs_type_of(clang_getArrayElementType(t->clang));
        *offset = (int64_t)i * type->size;
        return type->size > 0;
    }
    if (fields->n == 64)
        return false;
    *type = gs_type_of_cursor(fields->v[i]);
    long long bits = clang_Cursor_getOffsetOfField(fields->v[i]);
    *offset = bits / 8;
    return bits >= 0 && bits % 8 == 0;
}

/* Is the value for what `element` begins with? Its own braces have been left out then. */
static bool begins_inside(const struct gs_type *element, CXCursor value)
{
    const struct gs_type from = gs_type_of_cursor(value);
    if (value.kind == CXCursor_InitListExpr)
        return false;
    return (element->class == GS_T_ARRAY && from.class != GS_T_ARRAY) ||
           (element->class == GS_T_RECORD && (from.class != GS_T_RECORD || from.size != element->size));
}

/* The values of a list, the next of them, and whether it is known what they are for. */
struct list {
    struct gs_kids kids;
    uint32_t next;
    bool known;
};

static void fill(struct gs_builder *b, struct list *l, const struct gs_type *t, const struct gs_value *place,
                 CXCursor at)
{
    const struct field_list fields = fields_of(t);
    const uint32_t n = t->class == GS_T_ARRAY ? t->count : fields.n;
    for (uint32_t i = 0; i < n && l->known && l->next < l->kids.n && !b->failed; i++) {
        const CXCursor value = l->kids.v[l->next];
        struct gs_type from = gs_type_of_cursor(value), element;
        int64_t offset;
        l->known = element_of(t, &fields, i, &element, &offset);
        if (!l->known)
            return;
        struct gs_value to = gs_move(b, place, gs_node_const(b, GS_I64, offset));
        if (begins_inside(&element, value)) {
            fill(b, l, &element, &to, at);
            continue;
        }
        struct gs_value x = gs_eval(b, value, true);
        x = gs_convert(b, &x, &from, &element, value);
        gs_store(b, &to, &element, &x, at);
        l->next++;
    }
}

/* { … } for an array or a struct. What has a designator is left unknown, and all with it. */
static struct gs_value eval_record_list(struct gs_builder *b, const struct gs_kids *k, const struct gs_type *t,
                                        CXCursor at)
{
    uint32_t object = gs_private_new(b, t->size);
    struct gs_value v = {.kind = GS_V_RECORD, .place = gs_private_place(b, object)};
    const struct gs_value to = gs_pointer(v.place);
    struct list l = {*k, 0, true};
    for (uint32_t i = 0; i < k->n; i++)
        l.known &= clang_isExpression(k->v[i].kind) && !is_designated(b, k->v[i]);
    fill(b, &l, t, &to, at);
    for (; l.next < k->n && !b->failed; l.next++)
        gs_eval(b, k->v[l.next], true);
    return v;
}

static struct gs_value eval_list(struct gs_builder *b, CXCursor c)
{
    struct gs_type t = gs_type_of_cursor(c);
    struct gs_kids k = gs_kids(b, c);
    if (t.class == GS_T_VECTOR)
        return eval_vector_list(b, &k, &t, c);
    if (t.class == GS_T_ARRAY || t.class == GS_T_RECORD)
        return eval_record_list(b, &k, &t, c);
    if (k.n == 1)
        return gs_eval(b, k.v[0], true);
    return gs_opaque_value(b, &t, c, "its value is not known");
}

/* offsetof(T, m[i]), whose child is i? as_type(x) stands apart from its child as well, but is as large. */
static bool is_offset(CXCursor c, CXCursor child, const struct gs_type *t, const struct gs_type *from)
{
    return t->class == GS_T_INT && from->class == GS_T_INT && t->size != from->size &&
           !clang_equalRanges(clang_getCursorExtent(c), clang_getCursorExtent(child));
}

static struct gs_value eval_implicit(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor child = gs_only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c);
    if (clang_Cursor_isNull(child)) /* sizeof in some forms, and the like */
        return eval_constant(b, c);
    struct gs_type vector;
    uint8_t parts[16];
    uint32_t n;
    bool unclear;
    if (gs_is_swizzle(b, c, child, &vector, parts, &n, &unclear)) {
        struct gs_lvalue target = gs_locate_swizzle(b, c, child);
        return gs_lvalue_load(b, &target, c);
    }
    struct gs_type from = gs_type_of_cursor(child);
    if (t.class == GS_T_POINTER && from.class == GS_T_ARRAY) {
        struct gs_lvalue whole = gs_locate(b, child);
        expose(b, &whole.pointer);
        return whole.pointer;
    }
    struct gs_value v = gs_eval(b, child, want_result);
    if (is_offset(c, child, &t, &from))
        return eval_constant(b, c);
    if (t.class == GS_T_VECTOR && from.class == GS_T_INT && from.size != t.component) /* as_uchar4(x), no (uchar4)x */
        return gs_opaque_value(b, &t, c, "a number is taken for a vector");
    if (t.class == GS_T_OTHER)
        return v;
    return gs_convert(b, &v, &from, &t, c);
}

static struct gs_value eval_cast(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor child = gs_only_child(b, c);
    struct gs_type t = gs_type_of_cursor(c), from = gs_type_of_cursor(child);
    if (clang_Cursor_isNull(child))
        return gs_opaque_value(b, &t, c, "its value is not known");
    struct gs_value v = gs_eval(b, child, want_result && t.class != GS_T_VOID);
    if (t.class == GS_T_OTHER)
        return v;
    return gs_convert(b, &v, &from, &t, c);
}

struct gs_value gs_eval(struct gs_builder *b, CXCursor c, bool want_result)
{
    if (!gs_step(b, c))
        return gs_any();
    struct gs_type t;
    switch (c.kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr: /* sizeof, alignof, vec_step */
        return eval_constant(b, c);
    case CXCursor_FloatingLiteral:
        return gs_any();
    case CXCursor_StringLiteral:
        return gs_pointer((struct gs_place){GS_B_FIXED, 0, gs_node_const(b, GS_I64, 0)});
    case CXCursor_DeclRefExpr:
        return eval_reference(b, c);
    case CXCursor_ParenExpr:
        return gs_eval(b, gs_only_child(b, c), want_result);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr: {
        struct gs_lvalue target = gs_locate(b, c);
        if (target.type.class == GS_T_ARRAY && !target.swizzled && target.pointer.kind == GS_V_POINTER)
            return (struct gs_value){.kind = GS_V_RECORD, .place = target.pointer.place};
        return gs_lvalue_load(b, &target, c);
    }
    case CXCursor_UnaryOperator:
        return eval_unary(b, c);
    case CXCursor_BinaryOperator:
        return eval_binary(b, c, want_result);
    case CXCursor_CompoundAssignOperator:
        return eval_compound_assign(b, c);
    case CXCursor_ConditionalOperator:
        return eval_conditional(b, c, want_result);
    case CXCursor_CStyleCastExpr:
        return eval_cast(b, c, want_result);
    case CXCursor_CompoundLiteralExpr:
        return gs_eval(b, gs_only_child(b, c), want_result);
    case CXCursor_InitListExpr:
        return eval_list(b, c);
    case CXCursor_CallExpr:
        return gs_call(b, c, want_result);
    case CXCursor_UnexposedExpr:
        if (!gs_is_compound(c))
            return eval_implicit(b, c, want_result);
        /* fallthrough */
    default:
        t = gs_type_of_cursor(c);
        gs_give_up(b, c, "it uses an expression that the analysis doesn't know");
        return gs_opaque_value(b, &t, c, "its value is not known");
    }
}
