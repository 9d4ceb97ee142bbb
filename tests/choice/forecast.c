/* SPDX-License-Identifier: MIT */
/* What auto mode foresees, and asks for, before a kernel's splits pay: translations, measurements. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "tests/choice/simulation.h"

/* The windows between GPUs are opened where that would make splits pay. */
static void a_faster_link_is_asked_for_where_it_pays(void **state)
{
    struct gs_history h;
    struct gs_budget budget = {0};
    double risk_ns;
    gs_history_init(&h);
    gs_choice_learn_single(&h, 2000000);
    h.scatter_again = (struct gs_again){true, {40 << 20, 1, 1}};
    struct gs_forecast o = {.n = 2, .largest = 0.5, .scatter = {40 << 20, 1, 1}, .peer_possible = true};
    assert_false(gs_choose(&h, &h200, &o, &budget, (uint64_t)1e9, &risk_ns));
    assert_false(h.wants_peer); /* one launch doesn't earn that */
    h.launches = 1000;
    assert_false(gs_choose(&h, &h200, &o, &budget, (uint64_t)1e9, &risk_ns));
    assert_true(h.wants_peer);
    o.link = GS_LINK_PEER;
    assert_true(gs_choose(&h, &h200, &o, &budget, (uint64_t)1e9, &risk_ns));
}

/* Kernels that need the same bytes in turn open the windows together, where what they bring would be too much for the
 * slow way. (PolyBench's fdtd2d on two H200s.) */
static void kernels_in_turn_ask_for_a_faster_link(void **state)
{
    for (int together = 0; together < 2; together++) {
        struct gs_history h;
        struct gs_budget budget = {0};
        double risk_ns;
        gs_history_init(&h);
        gs_choice_learn_single(&h, 267000);
        h.expected = 500;
        struct gs_forecast o = {.n = 2,
                                .largest = 0.5,
                                .ample = true,
                                .scatter = {268468224, 2, 2},
                                .leave = {134217728, 1, 1},
                                .shared = together ? 0.58 : 0,
                                .peer_possible = true};
        assert_false(gs_choose(&h, &h200, &o, &budget, (uint64_t)1e9, &risk_ns));
        assert_int_equal(h.wants_peer, together);
        o.link = GS_LINK_PEER;
        assert_true(gs_choose(&h, &h200, &o, &budget, (uint64_t)1e9, &risk_ns));
    }
}

/* While the windows are being opened the slow way is taken where even that gains. What it takes says nothing of splits
 * to come; nor is a kernel given up for which it is too slow. */
static void the_slow_link_is_a_makeshift(void **state)
{
    for (int slow = 0; slow < 2; slow++) {
        struct gs_history h;
        struct gs_machine m = h200;
        struct gs_budget budget = {0};
        const uint64_t parts[2] = {50000000, 50000000};
        double risk_ns;
        gs_history_init(&h);
        gs_choice_learn_single(&h, 100000000);
        h.launches = 100;
        struct gs_forecast o = {
            .n = 2, .largest = 0.5, .scatter = {slow ? 1 << 30 : 40 << 20, 1}, .peer_possible = true};
        h.scatter_again = (struct gs_again){true, o.scatter};
        for (int i = 0; i < 10; i++) {
            assert_int_equal(gs_choose(&h, &m, &o, &budget, (uint64_t)1e10, &risk_ns), !slow);
            assert_true(h.wants_peer);
            if (!slow)
                gs_choice_learn_split(&h, &m, &budget, &o,
                                      &(struct gs_split_times){98000000, parts, h.single_ns, risk_ns});
        }
        assert_int_equal(h.split.n, 0);
        assert_int_equal(h.failures, 0);
        o.link = GS_LINK_PEER;
        assert_true(gs_choose(&h, &m, &o, &budget, (uint64_t)1e10, &risk_ns));
    }
}

/* What is known before a launch: times of this process, or of one before. */
static void what_will_pay_is_foreseen(void **state)
{
    struct gs_history h;
    gs_history_init(&h);
    assert_false(gs_choice_may_gain(&h, &h200, 2, 0));
    gs_choice_learn_single(&h, 36000000);
    assert_true(gs_choice_may_gain(&h, &h200, 2, 125e6 / 8)); /* one launch is enough */
    assert_false(gs_choice_may_gain(&h, &h200, 2, 125e6));
    h.expected = 8;
    assert_true(gs_choice_may_gain(&h, &h200, 2, 125e6));
    for (int i = 0; i < 2; i++)
        gs_measured_add(&h.split, 37000000); /* it didn't pay */
    assert_false(gs_choice_may_gain(&h, &h200, 2, 0));
    gs_history_init(&h);
    h.expected = 1000;
    gs_choice_learn_single(&h, 150000); /* too short to gain at all */
    assert_false(gs_choice_may_gain(&h, &h200, 2, 0));
}

/* The host's clock alone keeps short kernels from being measured. */
static void a_bound_spares_the_measurement(void **state)
{
    struct gs_history h;
    gs_history_init(&h);
    assert_true(gs_choice_wants_single(&h, &h200, 2, true));
    assert_false(gs_choice_wants_single(&h, &h200, 2, false));
    gs_choice_learn_bound(&h, 160000, 16);
    assert_false(gs_choice_wants_single(&h, &h200, 2, true));
    gs_choice_learn_bound(&h, 50000000, 1);
    assert_true(gs_choice_wants_single(&h, &h200, 2, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_link_is_asked_for_where_it_pays),
        cmocka_unit_test(kernels_in_turn_ask_for_a_faster_link),
        cmocka_unit_test(the_slow_link_is_a_makeshift),
        cmocka_unit_test(what_will_pay_is_foreseen),
        cmocka_unit_test(a_bound_spares_the_measurement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
