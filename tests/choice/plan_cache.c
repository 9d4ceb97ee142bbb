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
    mem[i].write_mappings = rnd(20) == 0;
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
            same_sets(&a->uses[u].wrote[p], &b->uses[u].wrote[p]);
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
        const struct gs_arg args[2] = {
            {.set = true, .is_mem = true, .size = sizeof(void *), .has_value = true, .bytes = &mems[0]},
            {.set = true, .size = sizeof n, .has_value = true, .bytes = &n}};
        const struct gs_geometry g = {
            .dims = 1, .offset = {32 * rnd(3), 0, 0}, .global = {256, 1, 1}, .local = {32, 1, 1}};
        const struct gs_plan_input in = {.kernel = &shift, .launch = &g, .args = args, .mems = mems, .n_parts = 2};
        struct gs_plan fresh;
        const struct gs_plan *remembered = gs_plan_cached(&cache, &in);
        assert_non_null(remembered);
        assert_int_equal(gs_plan_make(&fresh, &in), 0);
        assert_null(fresh.reason);
        assert_int_equal(fresh.uses[0].wrote[0].v[0].begin, 4 * (g.offset[0] + (uint64_t)n));
        same_plans(remembered, &fresh);
        assert_int_equal(remembered->launch.offset[0], g.offset[0]);
        gs_plan_free(&fresh);
    }
    gs_plan_cache_free(cache);
}

/* However the cut stands, each part has a work-group, and they are all of the launch. */
static void no_part_is_empty(void **state)
{
    static const double cuts[][3] = {{0, 0, 1}, {1, 1, 1}, {0.001, 0.002, 1}, {0.4, 0.9, 1}, {0.5, 0.5, 1}};
    mem[0] = (struct gs_mem){.root = &mem[0], .size = 65536};
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
        struct gs_mem *mems[2] = {&mem[0], NULL};
        int n = 0;
        const struct gs_arg args[2] = {
            {.set = true, .is_mem = true, .size = sizeof(void *), .has_value = true, .bytes = &mems[0]},
            {.set = true, .size = sizeof n, .has_value = true, .bytes = &n}};
        const struct gs_geometry g = {.dims = 1, .global = {320, 1, 1}, .local = {32, 1, 1}};
        const struct gs_plan_input in = {
            .kernel = &shift, .launch = &g, .args = args, .mems = mems, .n_parts = 3, .cut = cuts[c]};
        struct gs_plan plan;
        uint64_t at = 0;
        assert_int_equal(gs_plan_make(&plan, &in), 0);
        assert_null(plan.reason);
        for (unsigned p = 0; p < 3; p++) {
            assert_int_equal(plan.box[p].begin[0], at);
            assert_int_equal(plan.uses[0].wrote[p].n, 1);
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
        struct gs_arg args[3] = {
            {.set = true, .is_mem = true, .size = sizeof(void *), .has_value = true, .bytes = &mems[0]},
            {.set = true, .is_mem = true, .size = sizeof(void *), .has_value = true, .bytes = &mems[1]},
            {.set = true, .size = sizeof n, .has_value = true, .bytes = &n}};
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_remembered_plan_is_the_plan),
                                       cmocka_unit_test(offsets_and_values_tell_plans_apart),
                                       cmocka_unit_test(no_part_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
