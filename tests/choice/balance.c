/* SPDX-License-Identifier: MIT */
/* Cuts between parts whose work is not spread evenly: they come to end together, and only where that gains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "shim/choose/choice.h"

/* A launch of GROUPS work-groups, of which group i takes work[i]. */
enum { GROUPS = 2048 };
static double work[GROUPS];
static double longest_ns;    /* of the launch before */
static const double *unlike; /* the devices' speeds as they are thought to be, where they differ */

/* Runs one launch under the present cut, in whole groups. Returns the longest part over the mean. */
static double run(struct gs_balance *b, unsigned n, const double speed[], double noise)
{
    double cut[GS_MAX_DEVICES], share[GS_MAX_DEVICES], longest = 0, all = 0;
    uint64_t ns[GS_MAX_DEVICES];
    unsigned at = 0;
    for (unsigned p = 0; p < n; p++) {
        const double end = b->n == n ? b->cut[p] : (double)(p + 1) / n;
        const unsigned stop = p + 1 == n ? GROUPS : (unsigned)(end * (double)GROUPS + 0.5);
        double sum = 0;
        for (; at < stop; at++)
            sum += work[at];
        sum = sum / speed[p] * (1 + noise * random_part());
        cut[p] = (double)stop / (double)GROUPS;
        share[p] = cut[p] - (p ? cut[p - 1] : 0);
        ns[p] = (uint64_t)sum;
        longest = sum > longest ? sum : longest;
        all += sum;
    }
    gs_balance_learn(b, 0, n, cut, ns, unlike ? share : NULL);
    longest_ns = longest;
    return longest * n / all;
}

static void fill(double first, double last)
{
    for (int i = 0; i < GROUPS; i++)
        work[i] = 1000 * (first + (last - first) * i / (double)GROUPS);
}

static const double same_speed[GS_MAX_DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1};

static void skewed_work_is_evened_out(void **state)
{
    for (unsigned n = 2; n <= 8; n *= 2) {
        struct gs_balance b = {0};
        double uneven = 0;
        fill(3, 0.5);
        for (int i = 0; i < 100; i++) {
            uneven = run(&b, n, same_speed, 0.01);
            gs_balance_move(&b, 0, 100);
        }
        assert_true(uneven < 1.08);
        assert_in_range(b.moves, 1, 8);
    }
}

static void devices_of_other_speeds_get_other_shares(void **state)
{
    static const double speed[GS_MAX_DEVICES] = {3, 1};
    struct gs_balance b = {0};
    double uneven = 0;
    fill(1, 1);
    for (int i = 0; i < 100; i++) {
        uneven = run(&b, 2, speed, 0);
        gs_balance_move(&b, 0, 100);
    }
    assert_true(uneven < 1.08);
    assert_true(b.cut[0] > 0.7 && b.cut[0] < 0.8);
}

/* Where they are known to differ one launch says by how much. */
static void unlike_devices_are_even_at_once(void **state)
{
    static const double speeds[][GS_MAX_DEVICES] = {{1, 0.5}, {1, 0.2}, {1, 20}, {1, 3, 0.3}};
    for (unsigned i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        const unsigned n = i < 3 ? 2 : 3;
        struct gs_balance b = {0};
        unlike = speeds[i];
        fill(1, 1);
        run(&b, n, speeds[i], 0);
        assert_true(fabs(gs_balance_single_ns(&b) - 1000.0 * GROUPS) < 1000);
        assert_true(gs_balance_move(&b, 0, 100));
        assert_true(run(&b, n, speeds[i], 0) < 1.02);
        assert_false(gs_balance_move(&b, 0, 100));
        fill(3, 0.5); /* nor does it matter that there is more to do at one end */
        b = (struct gs_balance){0};
        for (int k = 0; k < 20; k++) {
            run(&b, n, speeds[i], 0);
            gs_balance_move(&b, 0, 100);
        }
        double all_ns = 0, together = 0;
        for (int g = 0; g < GROUPS; g++)
            all_ns += work[g];
        for (unsigned p = 0; p < n; p++)
            together += speeds[i][p];
        assert_true(longest_ns < 1.05 * all_ns / together);
        unlike = NULL;
    }
}

/* What one launch says may be wrong: the one before the move, or the one after it. */
static void bad_luck_is_no_verdict(void **state)
{
    static const double even[GS_MAX_DEVICES] = {1, 1}, slow[GS_MAX_DEVICES] = {1, 0.05};
    unlike = even;
    fill(1, 1);
    for (unsigned bad = 0; bad < 3; bad++) {
        struct gs_balance b = {.n = 2, .cut = {15.0 / 16, 1}};
        for (unsigned i = 0; i < 8; i++) {
            run(&b, 2, i == bad ? slow : even, 0);
            gs_balance_move(&b, 0, 100);
        }
        assert_true(run(&b, 2, even, 0) < 1.06);
    }
    unlike = NULL;
}

/* One that comes to be slower has less from then on, whatever its parts took before, and however often that was. */
static void who_becomes_slower_has_less(void **state)
{
    static const double speeds[][GS_MAX_DEVICES] = {{1, 1}, {1, 0.25}};
    struct gs_balance b = {0};
    unlike = speeds[0];
    fill(1, 1);
    for (unsigned i = 0; i < 200; i++) {
        run(&b, 2, speeds[i / 10 % 2], 0.01);
        gs_balance_move(&b, 0, 100);
        if (i % 10 == 9)
            assert_true(run(&b, 2, speeds[i / 10 % 2], 0) < 1.08);
    }
    unlike = NULL;
}

/* A cut by the devices' speeds holds for another dimension too. */
static void another_dimension_keeps_the_cut(void **state)
{
    struct gs_balance b = {.n = 2, .dim = 1, .cut = {0.8, 1}};
    static const double cut[] = {0.8, 1}, share[] = {0.8, 0.2};
    static const uint64_t ns[] = {1000, 1000};
    gs_balance_learn(&b, 0, 2, cut, ns, share);
    gs_balance_learn(&b, 1, 2, cut, ns, share);
    assert_int_equal(b.measured, 2);
}

static void even_work_stays_where_it_is(void **state)
{
    struct gs_balance b = {0};
    fill(1, 1);
    for (int i = 0; i < 100; i++) {
        run(&b, 2, same_speed, 0.03);
        assert_false(gs_balance_move(&b, 0, 1000));
    }
    assert_int_equal(b.moves, 0);
}

/* Moving the cut moves data: not for a few launches' sake. */
static void a_cut_moves_only_where_that_pays(void **state)
{
    struct gs_balance b = {0};
    fill(1.3, 0.7);
    for (int i = 0; i < 3; i++)
        run(&b, 2, same_speed, 0);
    const double excess = (double)gs_balance_over(&b);
    assert_true(excess > 0);
    assert_false(gs_balance_move(&b, excess * 1000, 10));
    assert_true(gs_balance_move(&b, excess * 1000, 1000));
}

/* Whatever the parts take, the sooner they take something else. */
static void a_move_that_gains_nothing_is_taken_back(void **state)
{
    struct gs_balance b = {0};
    static const double half[GS_MAX_DEVICES] = {0.5, 1};
    static const uint64_t uneven[GS_MAX_DEVICES] = {2000, 1000};
    for (int i = 0; i < 2; i++)
        gs_balance_learn(&b, 0, 2, half, uneven, NULL);
    assert_true(gs_balance_move(&b, 0, 100));
    for (int i = 0; i < 2; i++)
        gs_balance_learn(&b, 0, 2, b.cut, uneven, NULL);
    assert_true(gs_balance_move(&b, 0, 100));
    assert_true(b.settled);
    assert_true(b.cut[0] > 0.499 && b.cut[0] < 0.501);
}

static void random_work_never_gets_worse(void **state)
{
    for (int round = 0; round < 300; round++) {
        struct gs_balance b = {0};
        const unsigned n = 2 + (unsigned)(random_part() * 6);
        for (int i = 0; i < GROUPS; i++)
            work[i] = 1000 * (i % (1 + round % 7) ? 1 : random_part() * 20) * (1 + 3.0 * (i * (round % 3) / GROUPS));
        const double first = run(&b, n, same_speed, 0);
        double last = first;
        for (int i = 0; i < 60; i++) {
            gs_balance_move(&b, 0, 100);
            last = run(&b, n, same_speed, 0);
        }
        assert_true(last < first * 1.05 + 0.01);
        for (unsigned p = 0; p < n; p++)
            assert_true(b.cut[p] > (p ? b.cut[p - 1] : 0));
        assert_true(b.cut[n - 1] > 0.999);
    }
}

/* The same on devices of any speeds: what is reached is no longer than it was, nor far from the best. */
static void random_work_on_random_devices_never_gets_worse(void **state)
{
    double sum = 0;
    for (int round = 0; round < 300; round++) {
        struct gs_balance b = {0};
        const unsigned n = 2 + (unsigned)(random_part() * 6);
        double speed[GS_MAX_DEVICES] = {1}, together = 1, all = 0;
        for (unsigned p = 1; p < n; p++)
            together += speed[p] = pow(10, random_part() * 2 - 1);
        for (int i = 0; i < GROUPS; i++)
            all += work[i] =
                1000 * (i % (1 + round % 7) ? 1 : random_part() * 20) * (1 + 3.0 * i * (round % 3) / GROUPS);
        unlike = speed;
        run(&b, n, speed, 0);
        const double first = longest_ns;
        for (int i = 0; i < 60; i++) {
            gs_balance_move(&b, 0, 100);
            run(&b, n, speed, 0);
        }
        unlike = NULL;
        assert_true(longest_ns < first * 1.01);
        sum += longest_ns * together / all;
        if (longest_ns > 1.4 * all / together)
            fail_msg("round %d, %u devices: %.2f of the best, at first %.2f", round, n, longest_ns * together / all,
                     first * together / all);
    }
    assert_true(sum / 300 < 1.037);
}

/* A slow device that takes now more and now less: cut by its luckiest launch all would wait for it. */
static void who_is_unsteady_is_not_waited_for(void **state)
{
    double sum = 0;
    enum { ROUNDS = 300, FIRST = 3, LAUNCHES = 13 };
    fill(1, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct gs_balance b = {.n = 2, .cut = {15.0 / 16, 1}};
        for (unsigned i = 0; i < LAUNCHES; i++) {
            const double speed[] = {1, 0.05 / (0.7 + 0.6 * random_part())};
            unlike = speed;
            run(&b, 2, speed, 0);
            unlike = NULL;
            gs_balance_move(&b, 0, 100);
            sum += i < FIRST ? 0 : longest_ns;
        }
    }
    const double mean = sum / ROUNDS / (LAUNCHES - FIRST) / (1000.0 * GROUPS);
    print_message("%.3f of the first alone\n", mean);
    assert_true(mean < 1.015);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 20261121);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skewed_work_is_evened_out),
        cmocka_unit_test(devices_of_other_speeds_get_other_shares),
        cmocka_unit_test(unlike_devices_are_even_at_once),
        cmocka_unit_test(even_work_stays_where_it_is),
        cmocka_unit_test(a_cut_moves_only_where_that_pays),
        cmocka_unit_test(a_move_that_gains_nothing_is_taken_back),
        cmocka_unit_test(random_work_never_gets_worse),
        cmocka_unit_test(bad_luck_is_no_verdict),
        cmocka_unit_test(who_becomes_slower_has_less),
        cmocka_unit_test(another_dimension_keeps_the_cut),
        cmocka_unit_test(who_is_unsteady_is_not_waited_for),
        cmocka_unit_test(random_work_on_random_devices_never_gets_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
