/* SPDX-License-Identifier: MIT */
/* What a size that was never measured should take, by others of the same kernel. */
#include "tests/suite.h"

#include <math.h>

#include "tests/choice/simulation.h"

static struct gs_history known(uint64_t single_ns)
{
    struct gs_history h;
    gs_history_init(&h);
    gs_choice_learn_single(&h, single_ns);
    return h;
}

static double told_by(struct gs_history of, double ratio)
{
    struct gs_history h;
    gs_history_init(&h);
    gs_choice_learn_size(&h, &of, ratio);
    return gs_choice_single_ns(&h);
}

/* In proportion, as far as half of it and twice as much. */
static void a_size_tells_from_half_to_twice(void **state)
{
    assert_true(told_by(known(1000000), 1.5) == 1.5e6);
    assert_true(told_by(known(1000000), 0.5) == 5e5);
    assert_true(told_by(known(1000000), 2) == 2e6);
    assert_true(told_by(known(1000000), 0.49) == 0);
    assert_true(told_by(known(1000000), 2.01) == 0);
    assert_true(told_by(known(1000000), NAN) == 0);
    assert_true(told_by(known(1000000), INFINITY) == 0);
    struct gs_history parts = known(1000000); /* they say more */
    gs_balance_learn(&parts.balance, 0, 2, (const double[]){0.5, 1}, (const uint64_t[]){300000, 400000}, NULL);
    assert_true(told_by(parts, 0.5) == 3.5e5);
}

/* What was tried there holds here, but for what splits take; until it is measured here. */
static void what_is_guessed_gives_way(void **state)
{
    struct gs_history of = known(4000000), h;
    gs_history_init(&h);
    h.least_part = 0.4;
    h.launches = 2;
    of.launches = 40;
    of.failures = 1;
    of.split_before = true;
    gs_measured_add(&of.split, 2200000);
    gs_choice_learn_size(&h, &of, 0.5);
    assert_true(h.guessed && !gs_choice_known(&h, &h200, 2) && gs_choice_single_ns(&h) == 2000000);
    assert_true(h.launches == 42 && h.least_part == 0.4 && h.failures == 1 && h.split_before && !h.split.n);
    gs_choice_learn_single(&h, 0); /* says nothing */
    assert_true(h.guessed);
    gs_choice_learn_single(&h, 3000000);
    gs_choice_learn_single(&h, 3500000);
    assert_true(!h.guessed && gs_choice_known(&h, &h200, 2) && gs_choice_single_ns(&h) == 3000000);
}

/* Of a size that is known to be short by a bound alone no more is told than a bound. */
static void short_sizes_are_known_as_short(void **state)
{
    struct gs_history of, h;
    gs_history_init(&of);
    gs_history_init(&h);
    gs_choice_learn_bound(&of, 5000000, 1); /* no longer than that: it may be long or short */
    assert_false(gs_choice_known(&of, &h200, 2));
    gs_choice_learn_bound(&of, 50000, 1);
    assert_true(gs_choice_known(&of, &h200, 2));
    gs_choice_learn_size(&h, &of, 0.8);
    assert_true(gs_choice_is_short(&h, &h200, 2) && gs_choice_single_ns(&h) == 0);
    /* Its data may be others: it is measured where that costs little. */
    assert_true(gs_choice_wants_single(&h, &h200, 2, true) && !gs_choice_wants_single(&h, &h200, 2, false));
    gs_choice_learn_single(&h, 40000);
    assert_false(gs_choice_wants_single(&h, &h200, 2, true));
}

enum { STEPS = 512, EACH = 8, SIZES = STEPS / EACH };

/* A factorisation of one kernel: each eight launches have fewer work-groups than those before. Returns how many were
 * not known; *times: how long all took, of the plain run's. part: what a half takes, of all. */
static unsigned shrinking(double part, double *times)
{
    static struct kernel k[SIZES];
    struct world w;
    unsigned unknown = 0;
    begin(&w, 1 << 16);
    w.now = 1e8;
    for (int i = 0; i < STEPS; i++) {
        struct kernel *now = &k[i / EACH], *before = i < EACH ? NULL : now - 1;
        const double groups = SIZES - i / EACH, ns = 1e5 + 8e4 * groups;
        if (i % EACH == 0) {
            *now = kernel_of(ns, part * ns, 4096);
            now->ample = true;
            now->splits = before ? before->splits : 0; /* its buffers are where it was split first */
        }
        struct kernel *of = before;
        while (of && of > k && !gs_choice_known(&of->h, &w.believed, 2))
            of--;
        if (of && gs_choice_not_measured(&now->h))
            gs_choice_learn_size(&now->h, &of->h, groups / (SIZES - (double)(of - k)));
        unknown += gs_choice_single_ns(&now->h) <= 0;
        const uint64_t parts[2] = {(uint64_t)now->part_ns, (uint64_t)now->part_ns};
        if (launch(&w, now))
            gs_balance_learn(&now->h.balance, 0, 2, (const double[]){0.5, 1}, parts, NULL);
    }
    w.now -= 1e8;
    *times = w.now / w.plain;
    return unknown;
}

static void sizes_that_shrink_are_known_by_their_neighbours(void **state)
{
    double times;
    assert_in_range(shrinking(0.5, &times), 1, 8);
    assert_true(times < 0.75);
    assert_in_range(shrinking(1.0, &times), 1, 8); /* parts as long as the whole */
    assert_true(times < 1.03);
    assert_in_range(shrinking(1.3, &times), 1, 8);
    assert_true(times < 1.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_tells_from_half_to_twice),
        cmocka_unit_test(what_is_guessed_gives_way),
        cmocka_unit_test(short_sizes_are_known_as_short),
        cmocka_unit_test(sizes_that_shrink_are_known_by_their_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
