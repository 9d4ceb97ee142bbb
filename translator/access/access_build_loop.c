/* SPDX-License-Identifier: MIT */
/* Loops: run once for all iterations. What the body changes is an induction variable or unknown. */
#include "translator/access/access_build_loop.h"

/* How much an induction variable grows; GS_NO_NODE where it is none. */
static uint32_t find_step(struct gs_loop_code *l, struct gs_changed *ch)
{
    struct gs_builder *b = l->b;
    bool kind = ch->type.class == GS_T_POINTER || (ch->type.class == GS_T_INT && !ch->type.is_bool);
    if (!ch->steady || ch->times != 1 || !kind || b->objects[ch->object].exposed)
        return GS_NO_NODE;
    uint32_t node = gs_node_const(b, GS_I32, 1);
    if (!clang_Cursor_isNull(ch->by)) {
        if (!gs_loop_keeps(l, ch->by, 0))
            return GS_NO_NODE;
        struct gs_value v = gs_eval(b, ch->by, true);
        if (v.kind != GS_V_INT)
            return GS_NO_NODE;
        node = v.node;
    }
    uint8_t type = ch->type.class == GS_T_POINTER ? GS_I64 : ch->type.int_type;
    node = gs_node_cast(b, type, node);
    if (ch->type.class == GS_T_POINTER)
        node = gs_node(b, GS_N_MUL, type, node, gs_node_const(b, type, gs_type_pointee(&ch->type).size), 0);
    if (ch->down)
        node = gs_node(b, GS_N_SUB, type, gs_node_const(b, type, 0), node, 0);
    return node;
}

/* -1 as a step of an unsigned variable is a huge number to the evaluation: step in the signed type of that width. */
static uint32_t signed_step(struct gs_builder *b, uint32_t step)
{
    uint8_t type = b->nodes[step].type;
    return gs_int_signed(type) ? step : gs_node_cast(b, (uint8_t)(type - 1), step);
}

/* Finds the variables that the loop changes and their values at its begin. */
static void resolve(struct gs_loop_code *l)
{
    struct gs_builder *b = l->b;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_changed; i++) {
        struct gs_changed ch = l->changed[i];
        const struct gs_variable *v = gs_variable_find(b, ch.decl);
        if (!v || v->place.base != GS_B_OBJECT)
            continue; /* declared inside, or of no interest */
        ch.object = v->place.index;
        ch.type = gs_type_of_cursor(ch.decl);
        ch.step = GS_NO_NODE;
        l->changed[n++] = ch;
    }
    l->n_changed = n;
}

static void load_before(struct gs_loop_code *l)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++) {
        struct gs_changed *ch = &l->changed[i];
        ch->before = gs_any();
        if (ch->type.class != GS_T_INT && ch->type.class != GS_T_POINTER)
            continue;
        struct gs_value p = gs_pointer(gs_private_place(b, ch->object));
        ch->before = gs_load(b, &p, &ch->type, ch->decl);
        uint32_t step = find_step(l, ch);
        if (step != GS_NO_NODE)
            ch->step = signed_step(b, step);
    }
}

/* The value of a changed variable in some iteration, or behind the loop. */
static void set_changed(struct gs_loop_code *l, struct gs_changed *ch, uint32_t loop, uint8_t op, CXCursor at)
{
    struct gs_builder *b = l->b;
    struct gs_value p = gs_pointer(gs_private_place(b, ch->object)), v = ch->before;
    uint32_t node = GS_NO_NODE;
    if (v.kind == GS_V_INT && ch->step != GS_NO_NODE) {
        node = v.node =
            gs_node_iv(b, op, ch->type.int_type, gs_node_cast(b, ch->type.int_type, v.node), ch->step, loop);
    } else if (v.kind == GS_V_POINTER && !v.otherwise && v.place.base != GS_B_UNKNOWN) {
        if (ch->step != GS_NO_NODE)
            node = v.place.offset = gs_node_iv(b, op, GS_I64, v.place.offset, ch->step, loop);
        else
            v.place.offset = gs_node_opaque(b, GS_I64, at, "a loop changes the pointer");
    } else {
        gs_private_forget(b, ch->object);
        return;
    }
    if (op == GS_N_IV_EXIT && node != GS_NO_NODE)
        b->nodes[node].dim = ch->in_condition ? GS_EXIT_STEPPED : l->has_break ? GS_EXIT_EARLY : GS_EXIT_PLAIN;
    gs_store(b, &p, &ch->type, &v, at);
}

static void set_all_changed(struct gs_loop_code *l, uint32_t loop, uint8_t op, CXCursor at)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
        b->objects[l->changed[i].object].pinned = false;
    for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
        set_changed(l, &l->changed[i], loop, op, at);
    if (l->stores_through_pointers)
        gs_forget_exposed(b);
}

/* Looks behind conversions that keep every value; the outermost one is to the type of the comparison, in which
 * gs_loop_bound checks the values. */
static uint32_t strip_casts(const struct gs_builder *b, uint32_t node)
{
    for (bool outermost = true; b->nodes[node].op == GS_N_CAST; outermost = false) {
        uint8_t to = b->nodes[node].type, from = b->nodes[b->nodes[node].a].type;
        unsigned wide = gs_int_bits(to), narrow = gs_int_bits(from);
        bool keeps = gs_int_signed(to) == gs_int_signed(from) ? wide >= narrow : gs_int_signed(to) && wide > narrow;
        if (wide < narrow || (!keeps && !outermost))
            break;
        node = b->nodes[node].a;
    }
    return node;
}

/* Takes a comparison's side apart: is it the loop's induction variable, perhaps converted, perhaps with a constant
 * added? Sets its value at the first test, and the type whose values it must keep to. */
static bool is_induction(struct gs_builder *b, uint32_t node, uint32_t loop, uint32_t *init, uint32_t *step,
                         uint8_t *type)
{
    node = strip_casts(b, node);
    struct gs_node n = b->nodes[node];
    int64_t ahead = 0, v;
    if ((n.op == GS_N_ADD || n.op == GS_N_SUB) && gs_node_is_const(b, n.b, &v) && v != INT64_MIN) {
        ahead = n.op == GS_N_ADD ? v : -v;
        node = n.a;
    }
    struct gs_node iv = b->nodes[node];
    if (iv.op != GS_N_IV || iv.c != loop)
        return false;
    *type = iv.type;
    *step = iv.b;
    *init = iv.a;
    if (ahead)
        *init = gs_node(b, GS_N_ADD, iv.type, iv.a, gs_node_const(b, iv.type, ahead), 0);
    return true;
}

static enum gs_loop_cmp mirrored(enum gs_loop_cmp cmp)
{
    return cmp == GS_LOOP_LT   ? GS_LOOP_GT
           : cmp == GS_LOOP_GT ? GS_LOOP_LT
           : cmp == GS_LOOP_LE ? GS_LOOP_GE
           : cmp == GS_LOOP_GE ? GS_LOOP_LE
                               : cmp;
}

/* Finds in the condition what bounds the loop: of several conjuncts, the first. */
static void bound_loop(struct gs_builder *b, uint32_t loop, uint32_t condition, bool truth, bool tested_after)
{
    struct gs_node n = b->nodes[condition];
    if (n.op == GS_N_LNOT) {
        bound_loop(b, loop, n.a, !truth, tested_after);
        return;
    }
    if (n.op == (truth ? GS_N_LAND : GS_N_LOR)) {
        bound_loop(b, loop, n.a, truth, tested_after);
        if (b->loops[loop].cmp == GS_LOOP_UNBOUNDED)
            bound_loop(b, loop, n.b, truth, tested_after);
        return;
    }
    enum gs_loop_cmp cmp;
    uint32_t x = n.a, y = n.b;
    if (n.op == GS_N_LT) {
        cmp = truth ? GS_LOOP_LT : GS_LOOP_GE;
    } else if (n.op == GS_N_LE) {
        cmp = truth ? GS_LOOP_LE : GS_LOOP_GT;
    } else if (n.op == GS_N_EQ && !truth) {
        cmp = GS_LOOP_NE;
    } else if (n.op < GS_N_EQ && truth) { /* while (n--) */
        cmp = GS_LOOP_NE;
        x = condition;
        y = gs_node_const(b, n.type, 0);
    } else {
        return;
    }
    uint32_t init, step;
    uint8_t type, cmp_type = b->nodes[y].type;
    bool first = is_induction(b, x, loop, &init, &step, &type);
    if (!first) {
        if (!is_induction(b, y, loop, &init, &step, &type))
            return;
        cmp = mirrored(cmp);
    }
    b->loops[loop] = (struct gs_loop){.cmp = (uint8_t)cmp,
                                      .type = type,
                                      .cmp_type = cmp_type,
                                      .tested_after = tested_after,
                                      .init = init,
                                      .step = step,
                                      .limit = first ? y : x,
                                      .condition = b->loops[loop].condition};
}

static uint32_t new_loop(struct gs_builder *b, CXCursor at)
{
    if (b->n_loops >= GS_MAX_LOOPS) {
        gs_give_up(b, at, "the kernel has too many loops for the analysis");
        return 0;
    }
    if (b->n_loops == b->loops_cap)
        b->loops = gs_grow(b, b->loops, b->n_loops, &b->loops_cap, sizeof *b->loops);
    b->loops[b->n_loops] = (struct gs_loop){.cmp = GS_LOOP_UNBOUNDED, .condition = GS_NO_NODE};
    return b->n_loops++;
}

/* Pointers that the body changes without a steady step must stay in their buffer: see check_pin. */
static void pin(struct gs_loop_code *l)
{
    struct gs_builder *b = l->b;
    for (uint32_t i = 0; i < l->n_changed; i++) {
        const struct gs_changed *ch = &l->changed[i];
        if (ch->before.kind != GS_V_POINTER || ch->before.otherwise || ch->before.place.base == GS_B_UNKNOWN)
            continue;
        b->objects[ch->object].pinned = true;
        b->objects[ch->object].pin = ch->before.place;
    }
}

static uint32_t eval_condition(struct gs_loop_code *l)
{
    struct gs_value v = gs_eval(l->b, l->condition, true);
    return gs_truth(l->b, &v, l->condition);
}

static void run_body(struct gs_loop_code *l, uint32_t loop, CXCursor at)
{
    struct gs_builder *b = l->b;
    const bool tested_before = !l->tested_after && !clang_Cursor_isNull(l->condition);
    uint32_t condition = 0, outside = b->context;
    set_all_changed(l, loop, GS_N_IV, at);
    pin(l);
    if (tested_before) { /* once more than the body runs */
        gs_scope_push(b, GS_C_LOOP, loop, false);
        condition = eval_condition(l);
        b->loops[loop].condition = condition;
        bound_loop(b, loop, condition, true, false);
        b->context = outside;
    }
    gs_scope_push(b, GS_C_LOOP, loop, true);
    if (l->has_break || l->has_return)
        gs_scope_push(b, GS_C_MAYBE, 0, true);
    if (tested_before)
        gs_scope_push(b, GS_C_GUARD, condition, true);
    uint32_t inside = b->context, mark = b->n_trail;
    gs_exec(b, l->body);
    if (l->has_continue) { /* what follows is reached in more ways than one */
        gs_rollback(b, mark);
        for (uint32_t i = 0; i < l->n_changed && !b->failed; i++)
            if (l->changed[i].step == GS_NO_NODE && l->changed[i].before.kind != GS_V_POINTER)
                gs_private_forget(b, l->changed[i].object);
    }
    if (b->dead || l->has_continue)
        b->context = inside;
    b->dead = false;
    if (!clang_Cursor_isNull(l->increment))
        gs_eval(b, l->increment, false);
    if (l->tested_after && !clang_Cursor_isNull(l->condition)) {
        condition = eval_condition(l);
        b->loops[loop].condition = condition;
        b->loops[loop].tested_after = true;
        bound_loop(b, loop, condition, true, true);
    }
}

/* for (i = 0; i < 9; i++) sum += in[neighbour[i]]: the iterations run one by one as long as the condition is a
 * constant, so that it is known which element each picks. Variables of the body begin anew in each. True where that was
 * all of the loop; else what is left is a loop from here on. */
static bool run_one_by_one(struct gs_loop_code *l)
{
    enum { MOST = 32, MOST_OF_KERNEL = 256, MOST_NODES = GS_MAX_NODES / 8 };
    struct gs_builder *b = l->b;
    const uint32_t variables = b->n_variables;
    for (uint32_t i = 0; i < MOST && b->one_by_one < MOST_OF_KERNEL && b->n_nodes < MOST_NODES && !b->failed; i++) {
        int64_t goes_on;
        if (!gs_node_is_const(b, eval_condition(l), &goes_on))
            return false;
        if (!goes_on)
            return true;
        b->one_by_one++;
        gs_exec(b, l->body);
        if (!clang_Cursor_isNull(l->increment))
            gs_eval(b, l->increment, false);
        b->n_variables = variables;
    }
    return false;
}

/* Is the condition 0, as in do { … } while (0)? */
static bool never_again(struct gs_loop_code *l)
{
    CXEvalResult r = clang_Cursor_Evaluate(l->condition);
    bool zero = r && clang_EvalResult_getKind(r) == CXEval_Int && clang_EvalResult_getAsLongLong(r) == 0;
    if (r)
        clang_EvalResult_dispose(r);
    return zero;
}

void gs_exec_loop(struct gs_builder *b, CXCursor c)
{
    struct gs_loop_code *l = gs_arena_alloc(&b->arena, 1, sizeof *l);
    if (!l) {
        gs_give_up(b, c, "out of memory");
        return;
    }
    l->b = b;
    if (!gs_loop_take_apart(l, c)) {
        gs_give_up(b, c, "it uses a loop of a form that the analysis doesn't know");
        return;
    }
    if (!clang_Cursor_isNull(l->init))
        gs_exec(b, l->init);
    gs_loop_scan(l, l->condition, true);
    const bool quiet_condition = l->n_changed == 0 && !l->stores_through_pointers && !clang_Cursor_isNull(l->condition);
    for (uint32_t i = 0; i < l->n_changed; i++)
        l->changed[i].in_condition = true;
    gs_loop_scan(l, l->increment, true);
    uint32_t outside_body = l->n_changed;
    gs_loop_scan(l, l->body, true);
    for (uint32_t i = outside_body; i < l->n_changed && l->has_continue; i++)
        l->changed[i].steady = false; /* `continue` passes by what stands in the body */
    if (l->overflow) {
        gs_give_up(b, c, "a loop is too large for the analysis");
        return;
    }
    if (l->tested_after && never_again(l) && !l->has_break && !l->has_continue) {
        gs_exec(b, l->body);
        if (!b->dead) /* it may read, and change variables, all the same */
            gs_eval(b, l->condition, false);
        return;
    }
    if (l->picks && quiet_condition && !l->tested_after && !l->has_break && !l->has_continue && !l->has_return &&
        run_one_by_one(l))
        return;
    resolve(l);
    load_before(l);
    uint32_t outside = b->context, mark = b->n_trail, loop = new_loop(b, c);
    if (b->failed)
        return;
    bool *was_pinned = gs_arena_alloc(&b->arena, l->n_changed, sizeof *was_pinned);
    struct gs_place *pins = gs_arena_alloc(&b->arena, l->n_changed, sizeof *pins);
    if (!was_pinned || !pins) {
        gs_give_up(b, c, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < l->n_changed; i++) {
        was_pinned[i] = b->objects[l->changed[i].object].pinned;
        pins[i] = b->objects[l->changed[i].object].pin;
    }
    struct gs_target target = {.outer = b->target};
    b->target = &target;
    run_body(l, loop, c);
    b->target = target.outer;
    b->dead = false;
    b->context = outside;
    gs_rollback(b, mark);
    set_all_changed(l, loop, GS_N_IV_EXIT, c);
    for (uint32_t i = 0; i < l->n_changed; i++) {
        b->objects[l->changed[i].object].pinned = was_pinned[i];
        b->objects[l->changed[i].object].pin = pins[i];
    }
    if (l->has_return)
        gs_scope_push(b, GS_C_MAYBE, 0, true);
}
