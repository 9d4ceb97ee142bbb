/* SPDX-License-Identifier: MIT */
/* A plan that is remembered is the plan that would be made: random launches of one kernel, with few different sizes,
 * cuts, arguments and memory objects, some of which are replaced by others at the same address, and of which it is
 * known now and then what they hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "shim/plan/plan.h"
#include "translator/summary/access_program.h"

/* kernel void k(global const T *in, global T *out, int n), of which nothing is known but that. */
static const struct gs_arg_summary arg_summaries[3] = {
    {.name = "in", .type = "float *", .kind = GS_ARG_GLOBAL, .size = 4, .may_read = true},
    {.name = "out", .type = "float *", .kind = GS_ARG_GLOBAL, .size = 4, .may_read = true, .may_write = true},
    {.name = "n", .type = "int", .kind = GS_ARG_VALUE, .size = 4},
};
static const struct gs_kernel_summary kernel = {.name = "k", .n_args = 3, .args = arg_summaries};

enum { MEMS = 4 };
static struct gs_mem mem[MEMS];

static void renew(unsigned i)
{
    mem[i] = (struct gs_mem){.root = &mem[i], .size = 1024u << rnd(3)};
    mem[i].root = i ? &mem[rnd(i)] : &mem[0];
    mem[i].origin = mem[i].root == &mem[i] ? 0 : 128 * rnd(4);
    mem[i].home_only = rnd(20) == 0;
    mem[i].mappings.writes = rnd(20) == 0;
    mem[i].shared = rnd(4) == 0;
}

static void same_sets(const struct gs_rangeset *a, const struct gs_rangeset *b)
{
    assert_int_equal(a->n, b->n);
    if (a->n)
        assert_memory_equal(a->v, b->v, a->n * sizeof *a->v);
}

static void same_plans(const struct gs_plan *a, const struct gs_plan *b)
{
    assert_ptr_equal(a->reason, b->reason);
    if (a->reason)
        return;
    assert_int_equal(a->n_parts, b->n_parts);
    assert_int_equal(a->dim, b->dim);
    assert_memory_equal(a->box, b->box, a->n_parts * sizeof *a->box);
    assert_int_equal(a->n_uses, b->n_uses);
    for (size_t u = 0; u < a->n_uses; u++) {
        assert_ptr_equal(a->uses[u].root, b->uses[u].root);
        assert_int_equal(a->uses[u].writes, b->uses[u].writes);
        assert_memory_equal(&a->uses[u].window, &b->uses[u].window, sizeof a->uses[u].window);
        for (unsigned p = 0; p < a->n_parts; p++) {
            same_sets(&a->uses[u].needs[p], &b->uses[u].needs[p]);
            same_sets(&a->uses[u].will_write[p], &b->uses[u].will_write[p]);
            same_sets(&a->uses[u].owned[p], &b->uses[u].owned[p]);
        }
    }
}

/* kernel void s(global uint *out, int n): out[get_global_id(0) + n] = ... */
static const struct gs_node shift_nodes[] = {
    {.op = GS_N_GLOBAL_ID, .type = GS_I64, .partner = GS_NO_NODE},
    {.op = GS_N_ARG, .type = GS_I32, .a = 1, .partner = GS_NO_NODE},
    {.op = GS_N_CAST, .type = GS_I64, .a = 1, .partner = GS_NO_NODE},
    {.op = GS_N_ADD, .type = GS_I64, .a = 0, .b = 2, .partner = GS_NO_NODE},
    {.op = GS_N_CONST, .type = GS_I64, .imm = 4, .partner = GS_NO_NODE},
    {.op = GS_N_MUL, .type = GS_I64, .a = 3, .b = 4, .partner = GS_NO_NODE},
};
static const struct gs_access shift_accesses[] = {{.kind = GS_A_WRITE, .arg = 0, .offset = 5, .bytes = 4}};
static const struct gs_scope whole = {.kind = GS_C_ROOT};
static const struct gs_access_program shift_access = {2, 6, 0, 1, 1, shift_nodes, NULL, &whole, shift_accesses};
static const struct gs_arg_summary shift_args[2] = {
    {.name = "out", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_write = true},
    {.name = "n", .type = "int", .kind = GS_ARG_VALUE, .size = 4},
};
static const struct gs_kernel_summary shift = {.name = "s", .n_args = 2, .args = shift_args, .access = &shift_access};

/* What is written hangs on the launch's offset and on the argument. */
static void offsets_and_values_tell_plans_apart(void **state)
{
    struct gs_plan_cache *cache = NULL;
    mem[0] = (struct gs_mem){.root = &mem[0], .size = 65536};
    for (int round = 0; round < 2000; round++) {
        struct gs_mem *mems[2] = {&mem[0], NULL};
        int n = 100 * (int)rnd(3);
        const struct gs_arg args[2] = {{.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[0]},
                                       {.set = true, .size = sizeof n, .bytes = &n}};
        const struct gs_geometry g = {
            .dims = 1, .offset = {32 * rnd(3), 0, 0}, .global = {256, 1, 1}, .local = {32, 1, 1}};
        const struct gs_plan_input in = {.kernel = &shift, .launch = &g, .args = args, .mems = mems, .n_parts = 2};
        struct gs_plan fresh;
        const struct gs_plan *remembered = gs_plan_cached(&cache, &in);
        assert_non_null(remembered);
        assert_int_equal(gs_plan_make(&fresh, &in), 0);
        assert_null(fresh.reason);
        assert_int_equal(fresh.uses[0].will_write[0].v[0].begin, 4 * (g.offset[0] + (uint64_t)n));
        same_plans(remembered, &fresh);
        assert_int_equal(remembered->launch.offset[0], g.offset[0]);
        gs_plan_free(&fresh);
    }
    gs_plan_cache_free(cache);
}

/* A ray tracer's picture: kernel void t(global uint *sums, uint sample, global uint *pixels): if (sample != 0) reads
 * sums[get_global_id(0)]; and writes pixels[get_global_id(0) + 1024 * (sample % turns)]. */
static struct gs_node sample_nodes[] = {
    {.op = GS_N_GLOBAL_ID, .type = GS_I64, .partner = GS_NO_NODE},
    {.op = GS_N_ARG, .type = GS_U32, .a = 1, .partner = GS_NO_NODE},
    {.op = GS_N_CONST, .type = GS_U32, .imm = 0, .partner = GS_NO_NODE},
    {.op = GS_N_EQ, .type = GS_I32, .a = 1, .b = 2, .partner = GS_NO_NODE},
    {.op = GS_N_CONST, .type = GS_U32, .partner = GS_NO_NODE}, /* turns */
    {.op = GS_N_REM, .type = GS_U32, .a = 1, .b = 4, .partner = GS_NO_NODE},
    {.op = GS_N_CAST, .type = GS_I64, .a = 5, .partner = GS_NO_NODE},
    {.op = GS_N_CONST, .type = GS_I64, .imm = 1024, .partner = GS_NO_NODE},
    {.op = GS_N_MUL, .type = GS_I64, .a = 6, .b = 7, .partner = GS_NO_NODE},
    {.op = GS_N_ADD, .type = GS_I64, .a = 0, .b = 8, .partner = GS_NO_NODE},
    {.op = GS_N_CONST, .type = GS_I64, .imm = 4, .partner = GS_NO_NODE},
    {.op = GS_N_MUL, .type = GS_I64, .a = 9, .b = 10, .partner = GS_NO_NODE},
    {.op = GS_N_MUL, .type = GS_I64, .a = 0, .b = 10, .partner = GS_NO_NODE},
};
static const struct gs_scope sample_scopes[] = {{.kind = GS_C_ROOT}, {.kind = GS_C_GUARD, .what = 3}};
static const struct gs_access sample_accesses[] = {
    {.kind = GS_A_WRITE, .whole = true, .arg = 2, .offset = 11, .bytes = 4},
    {.kind = GS_A_READ, .context = 1, .arg = 0, .offset = 12, .bytes = 4},
};
static const struct gs_access_program sample_access = {
    3, 13, 0, 2, 2, sample_nodes, NULL, sample_scopes, sample_accesses};
static const struct gs_arg_summary sample_args[3] = {
    {.name = "sums", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_read = true},
    {.name = "sample", .type = "uint", .kind = GS_ARG_VALUE, .size = 4},
    {.name = "pixels", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_write = true},
};
static const struct gs_kernel_summary tracer = {
    .name = "t", .n_args = 3, .args = sample_args, .access = &sample_access};

/* Plans are told apart by what they see of a number, not by the number: one is of the first sample, and the others'
 * hang on whose turn it is. */
static void a_counter_makes_no_plans(void **state)
{
    for (unsigned i = 0; i < 3; i++)
        mem[i] = (struct gs_mem){.root = &mem[i], .size = 65536};
    for (unsigned turns = 1; turns <= 2; turns++) {
        struct gs_plan_cache *cache = NULL;
        const struct gs_plan *known[3] = {NULL};
        sample_nodes[4].imm = turns;
        for (cl_uint sample = 0; sample < 1000; sample++) {
            struct gs_mem *mems[3] = {&mem[sample % 2], NULL, &mem[2]};
            const struct gs_arg args[3] = {{.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[0]},
                                           {.set = true, .size = sizeof sample, .bytes = &sample},
                                           {.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[2]}};
            const struct gs_geometry g = {.dims = 1, .global = {256, 1, 1}, .local = {32, 1, 1}};
            const struct gs_plan_input in = {.kernel = &tracer, .launch = &g, .args = args, .mems = mems, .n_parts = 2};
            const struct gs_plan *now = gs_plan_cached(&cache, &in), **same = &known[sample ? 1 + sample % turns : 0];
            struct gs_plan fresh;
            assert_non_null(now);
            assert_true(!*same || *same == now);
            *same = now;
            assert_int_equal(gs_plan_make(&fresh, &in), 0);
            assert_null(fresh.reason);
            assert_int_equal(fresh.uses[0].needs[0].n, sample ? 1 : 0);
            same_plans(now, &fresh);
            gs_plan_free(&fresh);
        }
        assert_ptr_not_equal(known[0], known[1]);
        gs_plan_cache_free(cache);
    }
}

/* ---- expressions of arguments, by what the C compiler makes of them ---- */

#define IN_C(T, U)                                                                                                     \
    {                                                                                                                  \
        const T a = (T)x, b = (T)y;                                                                                    \
        const U p = (U)x, q = (U)y;                                                                                    \
        switch (op) {                                                                                                  \
        case GS_N_ADD:                                                                                                 \
            return (int64_t)(T)(p + q);                                                                                \
        case GS_N_SUB:                                                                                                 \
            return (int64_t)(T)(p - q);                                                                                \
        case GS_N_MUL:                                                                                                 \
            return (int64_t)(T)((uint64_t)p * q);                                                                      \
        case GS_N_DIV:                                                                                                 \
            return (int64_t)(T)(a / b);                                                                                \
        case GS_N_REM:                                                                                                 \
            return (int64_t)(T)(a % b);                                                                                \
        case GS_N_SHL:                                                                                                 \
            return (int64_t)(T)((uint64_t)p << 3);                                                                     \
        case GS_N_SHR:                                                                                                 \
            return (int64_t)(T)(a >> 3);                                                                               \
        case GS_N_AND:                                                                                                 \
            return (int64_t)(T)(a & b);                                                                                \
        case GS_N_OR:                                                                                                  \
            return (int64_t)(T)(a | b);                                                                                \
        case GS_N_XOR:                                                                                                 \
            return (int64_t)(T)(a ^ b);                                                                                \
        case GS_N_MIN:                                                                                                 \
            return (int64_t)(a < b ? a : b);                                                                           \
        case GS_N_MAX:                                                                                                 \
            return (int64_t)(a > b ? a : b);                                                                           \
        case GS_N_NOT:                                                                                                 \
            return (int64_t)(T)~a;                                                                                     \
        case GS_N_CAST:                                                                                                \
            return (int64_t)a;                                                                                         \
        case GS_N_SELECT:                                                                                              \
            return (int64_t)(a ? b : a);                                                                               \
        case GS_N_EQ:                                                                                                  \
            return a == b;                                                                                             \
        case GS_N_LT:                                                                                                  \
            return a < b;                                                                                              \
        case GS_N_LE:                                                                                                  \
            return a <= b;                                                                                             \
        case GS_N_LAND:                                                                                                \
            return a && b;                                                                                             \
        case GS_N_LOR:                                                                                                 \
            return a || b;                                                                                             \
        default:                                                                                                       \
            return !a;                                                                                                 \
        }                                                                                                              \
    }

static int64_t in_c(uint8_t op, uint8_t type, int64_t x, int64_t y)
{
    switch (type) {
    case GS_I8:
        IN_C(int8_t, uint8_t)
    case GS_U8:
        IN_C(uint8_t, uint8_t)
    case GS_I16:
        IN_C(int16_t, uint16_t)
    case GS_U16:
        IN_C(uint16_t, uint16_t)
    case GS_I32:
        IN_C(int32_t, uint32_t)
    case GS_U32:
        IN_C(uint32_t, uint32_t)
    case GS_I64:
        IN_C(int64_t, uint64_t)
    default:
        IN_C(uint64_t, uint64_t)
    }
}

static void expressions_are_what_c_makes_of_them(void **state)
{
    static const int64_t some[] = {0,   1,     -1,    2,         7,         127,        128,       255,
                                   256, 32767, 65536, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN + 1};
    enum { SOME = sizeof some / sizeof *some };
    struct gs_node nodes[] = {
        {.op = GS_N_ARG, .type = GS_I64, .a = 0, .partner = GS_NO_NODE},
        {.op = GS_N_ARG, .type = GS_I64, .a = 1, .partner = GS_NO_NODE},
        {.op = GS_N_CAST, .a = 0, .partner = GS_NO_NODE},
        {.op = GS_N_CAST, .a = 1, .partner = GS_NO_NODE},
        {.op = GS_N_CONST, .type = GS_I32, .imm = 3, .partner = GS_NO_NODE},
        {.a = 2, .b = 3, .c = 2, .partner = GS_NO_NODE},
    };
    const struct gs_access write = {.kind = GS_A_WRITE, .arg = 2, .offset = 5, .bytes = 1};
    const struct gs_access_program access = {3, 6, 0, 1, 1, nodes, NULL, &whole, &write};
    const struct gs_kernel_summary one = {.name = "c", .n_args = 3, .access = &access};
    for (uint8_t op = GS_N_ADD; op < GS_N_OPS; op++)
        for (uint8_t type = 0; type < GS_N_INT_TYPES; type++) {
            const bool compares = op >= GS_N_EQ, shifts = op == GS_N_SHL || op == GS_N_SHR;
            if (op == GS_N_MUL24)
                continue;
            nodes[2].type = nodes[3].type = type;
            nodes[5].op = op;
            nodes[5].type = compares ? GS_I32 : type;
            nodes[5].b = shifts ? 4 : 3;
            struct gs_seen *s = gs_seen_new(&one);
            assert_non_null(s);
            for (unsigned i = 0; i < SOME * SOME; i++) {
                const int64_t x = some[i % SOME], y = some[i / SOME];
                const bool divides = op == GS_N_DIV || op == GS_N_REM;
                const struct gs_arg_value args[3] = {{.bytes = &x, .size = 8}, {.bytes = &y, .size = 8}};
                size_t n = 0;
                if (divides && !gs_seen_values(s, args, &n)) {
                    assert_int_equal(in_c(GS_N_CAST, type, y, 0), 0);
                    continue;
                }
                const int64_t *seen = gs_seen_values(s, args, &n);
                assert_non_null(seen);
                assert_int_equal(n, 1);
                if (!(divides && in_c(GS_N_CAST, type, y, 0) == -1)) /* C doesn't divide the least by that */
                    assert_true(*seen == in_c(op, type, x, y));
            }
            gs_seen_free(s);
        }
}

enum { MOST_NODES = 80 };

static uint32_t node(struct gs_node *of, uint32_t *n, struct gs_node one)
{
    one.partner = GS_NO_NODE;
    of[*n] = one;
    return (*n)++;
}

/* A random number of two arguments, from 0 to 15, of the nodes so far. */
static uint32_t any_number(struct gs_node *of, uint32_t *n)
{
    static const uint8_t ops[] = {GS_N_ADD,  GS_N_MUL,  GS_N_DIV, GS_N_REM,    GS_N_AND, GS_N_OR,
                                  GS_N_XOR,  GS_N_MIN,  GS_N_MAX, GS_N_EQ,     GS_N_LT,  GS_N_LE,
                                  GS_N_LAND, GS_N_LNOT, GS_N_LOR, GS_N_SELECT, GS_N_SHL, GS_N_SHR};
    const uint32_t had = *n,
                   x = node(
                       of, n,
                       (struct gs_node){
                           .op = ops[rnd(sizeof ops)], .type = GS_I64, .a = rnd(had), .b = rnd(had), .c = rnd(had)});
    const uint32_t most = node(of, n, (struct gs_node){.op = GS_N_CONST, .type = GS_I64, .imm = 15});
    return node(of, n, (struct gs_node){.op = GS_N_AND, .type = GS_I64, .a = x, .b = most});
}

/* By C. False: it doesn't say. */
static bool find_value(const struct gs_node *of, uint32_t i, const int64_t arg[2], int64_t *out)
{
    const struct gs_node *n = &of[i];
    int64_t v[3] = {0};
    const uint32_t operand[] = {n->a, n->b, n->c};
    for (unsigned o = 0; o < gs_node_operands(n->op); o++)
        if (!find_value(of, operand[o], arg, &v[o]))
            return false;
    const bool divides = n->op == GS_N_DIV || n->op == GS_N_REM, shifts = n->op == GS_N_SHL || n->op == GS_N_SHR;
    if ((divides && !v[1]) || (shifts && (v[1] < 0 || v[1] > 63)))
        return false;
    *out = n->op == GS_N_ARG      ? arg[n->a - 1]
           : n->op == GS_N_CONST  ? n->imm
           : n->op == GS_N_SELECT ? v[v[0] ? 1 : 2]
           : n->op == GS_N_SHL    ? (int64_t)((uint64_t)v[0] << v[1])
           : n->op == GS_N_SHR    ? v[0] >> v[1]
                                  : in_c(n->op, GS_I64, v[0], v[1]);
    return true;
}

/* Does the plan know that each part writes its work-items' elements, so far behind? */
static bool knows(const struct gs_plan *plan, int64_t by)
{
    bool all = true;
    for (unsigned p = 0; p < plan->n_parts; p++) {
        const struct gs_use *u = &plan->uses[0];
        const uint64_t first = plan->box[p].begin[0] * 32 + (uint64_t)by, end = plan->box[p].end[0] * 32 + (uint64_t)by;
        all = all && gs_rangeset_contains(&u->will_write[p], (struct gs_range){4 * first, 4 * end});
    }
    return all || plan->uses[0].writes == GS_COMPARED;
}

/* Random expressions of two numbers, as the offset of what is written and as a guard. */
static void expressions_tell_plans_apart(void **state)
{
    static const struct gs_arg_summary args_of[3] = {
        {.name = "out", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_write = true},
        {.name = "m", .type = "long", .kind = GS_ARG_VALUE, .size = 8},
        {.name = "n", .type = "long", .kind = GS_ARG_VALUE, .size = 8},
    };
    unsigned remembered = 0, written = 0;
    mem[0] = (struct gs_mem){.root = &mem[0], .size = 65536};
    for (int round = 0; round < 2000; round++) {
        struct gs_node nodes[MOST_NODES];
        uint32_t n = 0;
        for (uint32_t a = 1; a <= 2; a++)
            node(nodes, &n, (struct gs_node){.op = GS_N_ARG, .type = GS_I64, .a = a});
        node(nodes, &n, (struct gs_node){.op = GS_N_CONST, .type = GS_I64, .imm = rnd(4)});
        for (unsigned more = rnd(8); more > 0; more--)
            any_number(nodes, &n);
        const uint32_t guard = any_number(nodes, &n), behind = any_number(nodes, &n);
        const uint32_t id = node(nodes, &n, (struct gs_node){.op = GS_N_GLOBAL_ID, .type = GS_I64}),
                       at = node(nodes, &n, (struct gs_node){.op = GS_N_ADD, .type = GS_I64, .a = id, .b = behind}),
                       four = node(nodes, &n, (struct gs_node){.op = GS_N_CONST, .type = GS_I64, .imm = 4}),
                       offset = node(nodes, &n, (struct gs_node){.op = GS_N_MUL, .type = GS_I64, .a = at, .b = four});
        const struct gs_scope scopes[] = {{.kind = GS_C_ROOT}, {.kind = GS_C_GUARD, .truth = true, .what = guard}};
        const struct gs_access write = {.kind = GS_A_WRITE, .context = 1, .arg = 0, .offset = offset, .bytes = 4};
        const struct gs_access_program access = {3, n, 0, 2, 1, nodes, NULL, scopes, &write};
        const struct gs_kernel_summary kernel_of = {.name = "e", .n_args = 3, .args = args_of, .access = &access};
        struct gs_plan_cache *cache = NULL;
        const struct gs_plan *before = NULL;
        for (int launch = 0; launch < 12; launch++) {
            struct gs_mem *mems[3] = {&mem[0], NULL, NULL};
            int64_t value[2] = {rnd(6), rnd(6)};
            const struct gs_arg args[3] = {{.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[0]},
                                           {.set = true, .size = sizeof *value, .bytes = &value[0]},
                                           {.set = true, .size = sizeof *value, .bytes = &value[1]}};
            const struct gs_geometry g = {.dims = 1, .global = {256, 1, 1}, .local = {32, 1, 1}};
            const struct gs_plan_input in = {
                .kernel = &kernel_of, .launch = &g, .args = args, .mems = mems, .n_parts = 2};
            const struct gs_plan *now = gs_plan_cached(&cache, &in);
            int64_t is, by;
            assert_non_null(now);
            if (find_value(nodes, guard, value, &is) && find_value(nodes, behind, value, &by) && is) {
                assert_null(now->reason);
                assert_true(knows(now, by));
                written++;
            }
            remembered += now == before;
            before = now;
        }
        gs_plan_cache_free(cache);
    }
    printf("%u launches write, %u had the plan of the one before\n", written, remembered);
    assert_true(written > 5000);
    assert_in_range(remembered, 2000, 20000);
}

/* However the cut stands, each part has a work-group, and they are all of the launch. */
static void no_part_is_empty(void **state)
{
    static const double cuts[][3] = {{0, 0, 1}, {1, 1, 1}, {0.001, 0.002, 1}, {0.4, 0.9, 1}, {0.5, 0.5, 1}};
    mem[0] = (struct gs_mem){.root = &mem[0], .size = 65536};
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
        struct gs_mem *mems[2] = {&mem[0], NULL};
        int n = 0;
        const struct gs_arg args[2] = {{.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[0]},
                                       {.set = true, .size = sizeof n, .bytes = &n}};
        const struct gs_geometry g = {.dims = 1, .global = {320, 1, 1}, .local = {32, 1, 1}};
        const struct gs_plan_input in = {
            .kernel = &shift, .launch = &g, .args = args, .mems = mems, .n_parts = 3, .cut = cuts[c]};
        struct gs_plan plan;
        uint64_t at = 0;
        assert_int_equal(gs_plan_make(&plan, &in), 0);
        assert_null(plan.reason);
        for (unsigned p = 0; p < 3; p++) {
            assert_int_equal(plan.box[p].begin[0], at);
            assert_int_equal(plan.uses[0].will_write[p].n, 1);
            assert_true(plan.box[p].end[0] > at);
            at = plan.box[p].end[0];
        }
        assert_int_equal(at, 10);
        gs_plan_free(&plan);
    }
}

static void a_remembered_plan_is_the_plan(void **state)
{
    struct gs_plan_cache *cache = NULL;
    int n = 7;
    for (unsigned i = 0; i < MEMS; i++)
        renew(i);
    for (int round = 0; round < 20000; round++) {
        static const double cuts[2][2] = {{0.3, 1}, {0.6, 1}};
        struct gs_mem *mems[3] = {&mem[rnd(MEMS)], &mem[rnd(MEMS)], NULL};
        struct gs_arg args[3] = {{.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[0]},
                                 {.set = true, .is_mem = true, .size = sizeof(void *), .bytes = &mems[1]},
                                 {.set = true, .size = sizeof n, .bytes = &n}};
        const struct gs_geometry g = {
            .dims = 1, .offset = {rnd(2), 0, 0}, .global = {256u << rnd(2), 1, 1}, .local = {32u << rnd(2), 1, 1}};
        const unsigned cut = rnd(3);
        const struct gs_plan_input in = {.kernel = &kernel,
                                         .launch = &g,
                                         .args = args,
                                         .mems = mems,
                                         .n_parts = 2,
                                         .cut = cut < 2 ? cuts[cut] : NULL};
        struct gs_plan fresh;
        n = (int)rnd(100);
        const struct gs_plan *remembered = gs_plan_cached(&cache, &in);
        assert_non_null(remembered);
        assert_int_equal(gs_plan_make(&fresh, &in), 0);
        same_plans(remembered, &fresh);
        assert_ptr_equal(gs_plan_cached(&cache, &in), remembered);
        gs_plan_free(&fresh);
        if (rnd(10) == 0)
            renew(rnd(MEMS));
    }
    gs_plan_cache_free(cache);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 20261121);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remembered_plan_is_the_plan), cmocka_unit_test(offsets_and_values_tell_plans_apart),
        cmocka_unit_test(a_counter_makes_no_plans),      cmocka_unit_test(expressions_are_what_c_makes_of_them),
        cmocka_unit_test(expressions_tell_plans_apart),  cmocka_unit_test(no_part_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
