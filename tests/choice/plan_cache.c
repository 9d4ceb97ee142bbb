/* SPDX-License-Identifier: MIT */
/* A plan that is remembered is the plan that would be made: random launches of one kernel, with few different sizes,
 * cuts, arguments and memory objects, some of which are replaced by others at the same address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "shim/plan_cache.h"

static uint64_t rng_state;

static unsigned rnd(unsigned n)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(rng_state >> 33) % n;
}

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
    static int somewhere;
    mem[i] = (struct gs_mem){.root = &mem[i], .size = 1024u << rnd(3)};
    mem[i].root = i ? &mem[rnd(i)] : &mem[0];
    mem[i].origin = mem[i].root == &mem[i] ? 0 : 128 * rnd(4);
    mem[i].home_only = rnd(20) == 0;
    mem[i].write_mappings = rnd(20) == 0;
    mem[i].base = rnd(4) == 0 ? &somewhere : NULL;
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

static void a_remembered_plan_is_the_plan(void **state)
{
    (void)state;
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
    rng_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261121;
    printf("seed %llu\n", (unsigned long long)rng_state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_remembered_plan_is_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
