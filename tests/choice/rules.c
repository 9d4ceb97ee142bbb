/* SPDX-License-Identifier: MIT */
/* Single rules of auto's choice, as docs/choice.md states them. */
#include "tests/suite.h"
#include "shim/choose/choice.h"

#define MS UINT64_C(1000000)

static const struct gs_machine machine = {.link = {{10e3, 0.1}, {10e3, 0.01}}, .split_ns = 20e3, .first_ns = 1e6};
static const struct gs_forecast two = {.n = 2, .largest = 0.5, .ample = true};

/* A device with units to spare gains nothing by another one: neither is the launch planned, nor its program prepared;
 * with more work-groups than units, no part takes less than what its own units do. */
static void what_one_device_runs_at_once_stays_there(void **state)
{
    struct gs_history h;
    assert_true(gs_choice_least_part(8, 132) == 1 && gs_choice_least_part(132, 132) == 1);
    assert_true(gs_choice_least_part(176, 132) == 0.75 && gs_choice_least_part(1320, 132) == 0.1);
    gs_history_init(&h);
    gs_choice_learn_single(&h, 1000 * MS);
    h.least_part = 1;
    assert_false(gs_choice_may_gain(&h, &machine, 2, 0));
    assert_false(gs_choice_may_plan(&h, &machine, 2, 0));
    assert_string_equal(h.reason, "it has so few work-groups that one device runs all of them at once");
    assert_int_equal(gs_choice_left(h.reason), GS_CHOSEN);
    for (int i = 0; i < GS_CHOICE_TRIES; i++) /* mode multi has found out that it does gain: by its memory, perhaps */
        gs_measured_add(&h.split, 600 * MS);
    assert_true(gs_choice_may_plan(&h, &machine, 2, 0) && h.split_ns == 600e6);
    h.split = (struct gs_measured){0};
    h.least_part = 0.75;
    assert_true(gs_choice_may_gain(&h, &machine, 2, 200e6) && !gs_choice_may_gain(&h, &machine, 2, 300e6));
    assert_true(gs_choice_may_plan(&h, &machine, 2, 0));
    assert_true(h.split_ns > 750e6 && h.split_ns < 751e6);
}

/* One that still runs: it takes at least as long as it has. */
static void what_runs_for_long_is_long(void **state)
{
    struct gs_budget b = {.begin_ns = 0};
    struct gs_machine m = machine;
    struct gs_history h;
    double risk;
    gs_history_init(&h);
    gs_choice_runs(&h, &m, 2, 1e4);
    assert_true(h.running_ns == 0); /* that may be short */
    gs_choice_runs(&h, &m, 2, 5e8);
    assert_true(h.running_ns == 5e8 && gs_choice_not_measured(&h));
    assert_true(gs_choice_may_gain(&h, &m, 2, 1e8));
    assert_true(gs_choice_may_plan(&h, &m, 2, 0) && gs_choose(&h, &m, &two, &b, 1 * MS, &risk));
    gs_choice_learn_single(&h, 900 * MS);
    gs_choice_may_plan(&h, &m, 2, 0);
    assert_true(h.single_ns == 900e6);
}

/* A kernel whose one device and splits take so long; the launch before was, or wasn't, split. */
static struct gs_history known(uint64_t single_ns, uint64_t split_ns, bool split)
{
    struct gs_history h;
    gs_history_init(&h);
    h.launches = 100;
    for (int i = 0; i < GS_MEASURED_KEPT; i++) {
        gs_measured_add(&h.single, single_ns);
        gs_measured_add(&h.split, split_ns);
    }
    h.return_rate = 0;
    h.ever = h.split_before = true;
    h.last_split = split;
    return h;
}

static bool chosen(struct gs_history h)
{
    struct gs_budget b = {.begin_ns = 0};
    double risk;
    return gs_choose(&h, &machine, &two, &b, 1000000 * MS, &risk);
}

/* A program isn't prepared for splits whose transfers take what they gain: by the host as much as that, by windows
 * less, if there will be enough launches to open them for. (AutoDock-GPU on two H200: 4.1 ms, 3.4 by what the parts
 * take.) */
static void what_recurs_counts_before_a_program_is_prepared(void **state)
{
    struct gs_history h = known(41 * MS / 10, 34 * MS / 10, false);
    assert_true(gs_choice_may_gain(&h, &machine, 2, 29e6));
    h.scatter_again = (struct gs_again){true, {7800000, 11, 11}}; /* 0.9 ms, and 0.2 */
    assert_false(gs_choice_may_gain(&h, &machine, 2, 29e6));
    assert_false(gs_choice_may_plan(&h, &machine, 2, 29e6));
    assert_string_equal(h.reason, "too few launches so far to win back what a first split costs");
    assert_true(gs_choice_may_plan(&h, &machine, 2, 0));
    h.launches = 1000;
    assert_true(gs_choice_may_gain(&h, &machine, 2, 29e6));
    h.together.state = GS_STRETCH_LEFT;
    assert_false(gs_choice_may_gain(&h, &machine, 2, 0));
}

/* Split below 0.93 of one device's time; who is splitting goes on below 1.02. */
static void what_goes_stays(void **state)
{
    assert_true(chosen(known(100 * MS, 90 * MS, false)));
    assert_false(chosen(known(100 * MS, 96 * MS, false)));
    assert_true(chosen(known(100 * MS, 96 * MS, true)));
    assert_true(chosen(known(100 * MS, 101 * MS, true)));
    assert_false(chosen(known(100 * MS, 104 * MS, true)));
}

/* What was measured on one device long ago isn't believed against all parts one after the other. */
static void parts_bound_one_device(void **state)
{
    struct gs_history h = known(100 * MS, 60 * MS, true);
    h.balance = (struct gs_balance){.n = 2, .measured = 3, .part_ns = {20 * MS, 20 * MS}, .cut = {0.5, 1}};
    assert_false(chosen(h));
}

static void failures_are_retried_ever_later(void **state)
{
    static const uint64_t after[] = {16, 64, 256, 1024};
    for (unsigned f = 1; f <= 4; f++) {
        struct gs_history h = known(100 * MS, 104 * MS, true), next;
        struct gs_budget b = {.begin_ns = 0};
        double risk;
        h.failures = f - 1;
        h.retry_at = 1000;
        h.tried = 1;
        assert_false(gs_choose(&h, &machine, &two, &b, 1000000 * MS, &risk));
        assert_int_equal(h.failures, f);
        assert_int_equal(h.retry_at, h.launches + after[f - 1]);
        assert_false(gs_choose(&h, &machine, &two, &b, 1000000 * MS, &risk));
        assert_int_equal(h.failures, f); /* it isn't one more */
        gs_history_init(&next);
        gs_choice_load_failures(&next, f);
        assert_int_equal(next.retry_at, after[f - 1] / 4);
    }
}

/* Times of the process before that speak against a split, though no try is known to have failed: that may have been
 * one bad look. It is tried again, and what turns out well stays. */
static void bad_luck_is_not_for_ever(void **state)
{
    struct gs_history h = known(100 * MS, 104 * MS, false);
    struct gs_machine m = machine;
    struct gs_budget b = {.begin_ns = 0};
    const uint64_t parts[] = {50 * MS, 50 * MS};
    double risk;
    unsigned waited = 0;
    while (!gs_choice_may_plan(&h, &m, 2, 0) || !gs_choose(&h, &m, &two, &b, 1000000 * MS, &risk))
        waited++;
    assert_int_equal(waited, 16);
    gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){51 * MS, parts, 100e6, risk});
    for (int i = 0; i < 100; i++)
        assert_true(gs_choice_may_plan(&h, &m, 2, 0) && gs_choose(&h, &m, &two, &b, 1000000 * MS, &risk));
}

/* Splits that pay through windows wait for these to be open again: nothing has failed. */
static void closed_windows_are_no_failure(void **state)
{
    struct gs_history h = known(100 * MS, 50 * MS, false);
    struct gs_budget b = {.begin_ns = 0};
    struct gs_forecast o = two;
    double risk;
    h.scatter_again = (struct gs_again){true, {(uint64_t)1e9, 1, 1}};
    o.scatter = h.scatter_again.move;
    o.peer_possible = true;
    assert_true(gs_choice_may_plan(&h, &machine, 2, 0));
    assert_false(gs_choose(&h, &machine, &o, &b, 1000000 * MS, &risk));
    assert_true(h.wants_peer);
    assert_int_equal(h.failures, 0);
    o.link = GS_LINK_PEER;
    assert_true(gs_choose(&h, &machine, &o, &b, 1000000 * MS, &risk));
}

/* Outputs that stay where they are made need no windows, nor do inputs that are brought once where that pays. */
static void what_moves_little_does_not_wait_for_windows(void **state)
{
    struct gs_history h = known(100 * MS, 50 * MS, false);
    struct gs_budget b = {.begin_ns = 0};
    struct gs_forecast o = two;
    double risk;
    o.leave = o.scatter = (struct gs_move){(uint64_t)1e8, 1, 1};
    o.peer_possible = true;
    assert_true(gs_choose(&h, &machine, &o, &b, 1000000 * MS, &risk));
}

/* What isn't earned yet is looked at again after an eighth more launches, not each time. */
static void what_is_not_earned_is_seldom_planned(void **state)
{
    struct gs_history h;
    struct gs_machine m = machine;
    unsigned planned = 0, at = 0;
    m.first_ns = 1e9;
    gs_history_init(&h);
    gs_choice_learn_single(&h, 2 * MS);
    for (unsigned i = 1; i <= 4000 && !at; i++) {
        struct gs_budget b = {.begin_ns = 0};
        double risk;
        if (!gs_choice_may_plan(&h, &m, 2, 0))
            continue;
        planned++;
        if (gs_choose(&h, &m, &two, &b, 0, &risk))
            at = i;
    }
    assert_true(at > 2000 && at < 3600); /* 3 s in all, at 1 ms a launch, are to be won */
    assert_true(planned < 80);
}

/* Parts that are faster, and whose outputs go back and forth for longer than that gains: to find it out once more takes
 * a plan, which costs the host more than a short kernel takes. */
static void what_its_transfers_forbid_is_seldom_planned(void **state)
{
    const struct gs_forecast back_and_forth = {
        .n = 2, .largest = 0.5, .ample = true, .scatter = {10000000, 1}, .leave = {10000000, 1, 1}};
    const uint64_t parts[] = {1 * MS, 1 * MS};
    struct gs_history h;
    struct gs_machine m = machine;
    struct gs_budget b = {.begin_ns = 0};
    unsigned planned = 0;
    double risk;
    gs_history_init(&h);
    h.return_rate = 1;
    h.scatter_again = (struct gs_again){true, {10000000, 1, 1}};
    gs_choice_learn_single(&h, 2 * MS);
    for (unsigned i = 0; i < 4; i++)
        gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){1 * MS, parts, 2e6, 0});
    for (unsigned i = 1; i <= 4000; i++) {
        if (!gs_choice_may_plan(&h, &m, 2, 0))
            continue;
        planned++;
        b.lost_ns = 1e12; /* no tries */
        assert_false(gs_choose(&h, &m, &back_and_forth, &b, 0, &risk));
        assert_string_equal(h.reason, "one device is faster");
    }
    assert_true(planned > 10 && planned < 80);
}

/* Who had 400 launches in the last process has 13 more to come after 387. */
static void the_last_run_says_how_many_come(void **state)
{
    for (unsigned late = 0; late < 2; late++) {
        struct gs_history h;
        struct gs_budget b = {.begin_ns = 0};
        struct gs_machine m = machine;
        double risk;
        m.first_ns = 20e6;
        gs_history_init(&h);
        gs_choice_learn_single(&h, 2 * MS);
        h.expected = 400;
        h.launches = late ? 387 : 100;
        assert_int_equal(gs_choose(&h, &m, &two, &b, 0, &risk), !late);
    }
}

/* One on one device is measured four times, then every 32nd; a split four times, then every 16th. */
static void measurements_become_rare(void **state)
{
    struct gs_history h = known(100 * MS, 50 * MS, true);
    unsigned single = 0, split = 0;
    h.asked = 4;
    h.balance.settled = true;
    for (h.launches = 100; h.launches < 100 + 320; h.launches++) {
        single += gs_choice_wants_single(&h, &machine, 2, true);
        split += gs_choice_wants_split(&h);
    }
    assert_int_equal(single, 10);
    assert_int_equal(split, 20);
}

/* Also where none is heard of before the application's end, as it only enqueues: the first ones run beside that. */
static void unheard_measurements_become_rare(void **state)
{
    struct gs_history h;
    unsigned last = 0;
    gs_history_init(&h);
    gs_choice_learn_single(&h, 100 * MS);
    for (h.launches = 1; h.launches <= 320; h.launches++) {
        if (!gs_choice_wants_split(&h))
            continue;
        h.asked_split++;
        last = (unsigned)h.launches;
    }
    assert_true(h.asked_split > 20 && h.asked_split <= 32);
    assert_int_equal(last, 320);
}

/* The first split makes replicas and kernels: what it takes says nothing of those to come. */
static void the_first_split_does_not_count(void **state)
{
    struct gs_history h;
    struct gs_machine m = machine;
    struct gs_budget b = {0};
    const uint64_t parts[] = {50 * MS, 50 * MS};
    gs_history_init(&h);
    gs_choice_learn_single(&h, 100 * MS);
    gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){90 * MS, parts, 100e6, 0});
    assert_int_equal(h.split.n, 0);
    gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){51 * MS, parts, 100e6, 0});
    assert_int_equal(h.split.n, 1);
}

/* Unless its parts take so long that no other need be tried; but where the driver compiles when a kernel is first
 * launched that is the compiler's time. */
static void a_hopeless_split_counts(void **state)
{
    for (int compiles = 0; compiles < 2; compiles++) {
        struct gs_history h;
        struct gs_machine m = machine;
        struct gs_budget b = {0};
        const uint64_t parts[] = {500 * MS, 80 * MS};
        m.compiles = compiles;
        gs_history_init(&h);
        gs_choice_learn_single(&h, 100 * MS);
        gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){500 * MS, parts, 100e6, 0});
        assert_int_equal(gs_choice_split_known(&h), !compiles);
    }
}

/* Neither short kernels nor what won't pay for its translation are looked at more closely. */
static void what_cannot_pay_is_not_planned(void **state)
{
    struct gs_history h;
    gs_history_init(&h);
    gs_choice_learn_single(&h, 10000);
    assert_false(gs_choice_may_plan(&h, &machine, 2, 0));
    gs_history_init(&h);
    h.launches = 3;
    gs_choice_learn_single(&h, 10 * MS);
    assert_false(gs_choice_may_plan(&h, &machine, 2, 1e9));
    assert_true(gs_choice_may_plan(&h, &machine, 2, 1e6));
}

/* A cut that gains nothing comes back, and with it what splits took by it: in Rodinia's particle filter a part takes as
 * long as its last work-item, wherever it begins. */
static void a_cut_that_comes_back_has_its_time(void **state)
{
    struct gs_machine m = machine;
    struct gs_budget b = {.begin_ns = 0};
    struct gs_history h;
    gs_history_init(&h);
    gs_choice_learn_single(&h, 48 * MS);
    h.expected = 100;
    for (int i = 0; i < 20; i++) {
        const double cut[2] = {h.balance.n ? h.balance.cut[0] : 0.5, 1};
        const uint64_t parts[2] = {(uint64_t)(cut[0] * 34e6), 37 * MS};
        gs_choice_learn_split(&h, &m, &b, &two, &(struct gs_split_times){37 * MS + 20000, parts, 48e6, 0});
        gs_balance_learn(&h.balance, 0, 2, cut, parts, NULL);
        gs_choice_move_cut(&h, &m, GS_LINK_HOST, (struct gs_move){0});
        if (h.balance.settled)
            break;
    }
    assert_true(h.balance.settled && h.balance.cut[0] == 0.5 && h.balance.moves == 2);
    assert_true(gs_choice_split_known(&h) && gs_measured_best(&h.split) >= 37 * MS);
}

/* A row of first tries ends where what was brought for one has gone home again, and is many times the kernel's time. */
static void tries_end_where_all_goes_home(void **state)
{
    for (int home = 0; home < 2; home++) {
        struct gs_machine m = machine;
        struct gs_budget b = {.begin_ns = 0};
        struct gs_history h;
        struct gs_forecast o = two;
        const uint64_t parts[2] = {MS / 2, MS / 2};
        double risk_ns;
        gs_history_init(&h);
        gs_choice_learn_single(&h, MS);
        h.expected = 1000;
        o.scatter = (struct gs_move){64 << 20, 1, 1};
        assert_true(gs_choose(&h, &m, &o, &b, 10000 * MS, &risk_ns));
        gs_choice_learn_split(&h, &m, &b, &o, &(struct gs_split_times){8 * MS, parts, h.single_ns, risk_ns});
        o.scatter = home ? o.scatter : (struct gs_move){0};
        assert_int_equal(gs_choose(&h, &m, &o, &b, 10000 * MS, &risk_ns), !home);
    }
}

/* A split that moves few bytes and takes less than one that moves none was thought to tells what such a one takes. */
static void few_bytes_hide_no_cheap_split(void **state)
{
    struct gs_machine m = machine;
    struct gs_budget b = {.begin_ns = 0};
    struct gs_history h;
    struct gs_forecast o = two;
    const uint64_t parts[2] = {MS / 2, MS / 2};
    gs_history_init(&h);
    o.scatter = (struct gs_move){32768, 1, 1};
    for (int i = 0; i < 3; i++) /* the first one tells something else */
        gs_choice_learn_split(&h, &m, &b, &o, &(struct gs_split_times){MS / 2 + 12000, parts, MS, 0});
    assert_true(m.split_ns < 15e3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_device_runs_at_once_stays_there),
        cmocka_unit_test(what_runs_for_long_is_long),
        cmocka_unit_test(what_recurs_counts_before_a_program_is_prepared),
        cmocka_unit_test(what_goes_stays),
        cmocka_unit_test(parts_bound_one_device),
        cmocka_unit_test(failures_are_retried_ever_later),
        cmocka_unit_test(bad_luck_is_not_for_ever),
        cmocka_unit_test(closed_windows_are_no_failure),
        cmocka_unit_test(what_moves_little_does_not_wait_for_windows),
        cmocka_unit_test(what_is_not_earned_is_seldom_planned),
        cmocka_unit_test(what_its_transfers_forbid_is_seldom_planned),
        cmocka_unit_test(the_last_run_says_how_many_come),
        cmocka_unit_test(measurements_become_rare),
        cmocka_unit_test(unheard_measurements_become_rare),
        cmocka_unit_test(the_first_split_does_not_count),
        cmocka_unit_test(a_hopeless_split_counts),
        cmocka_unit_test(what_cannot_pay_is_not_planned),
        cmocka_unit_test(a_cut_that_comes_back_has_its_time),
        cmocka_unit_test(tries_end_where_all_goes_home),
        cmocka_unit_test(few_bytes_hide_no_cheap_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
