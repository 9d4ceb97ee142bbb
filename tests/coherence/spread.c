/* SPDX-License-Identifier: MIT */
/* Does what the host writes for several devices go to all of them? Both ways are tried, and the better is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shim/memory/fanout.h"

enum { LARGE = 1 << 30, SMALL = 64 << 20, MS = 1000 * 1000 };

/* An application that writes so much again and again: how many of the last ten went to all of them. */
static unsigned write_again(struct gs_fanout *s, uint64_t bytes, uint64_t one_ns, uint64_t all_ns)
{
    unsigned to_all = 0;
    for (int i = 0; i < 20; i++) {
        const bool all = gs_fanout_pays(s, bytes);
        gs_fanout_learn(s, all, bytes, all ? all_ns : one_ns);
        to_all += all && i >= 10;
    }
    return to_all;
}

static void links_of_their_own_are_used(void **state)
{
    (void)state;
    struct gs_fanout s = {0};
    assert_int_equal(write_again(&s, LARGE, 21 * MS, 22 * MS), 10);
    assert_true(gs_fanout_pays(&s, SMALL));
}

static void a_shared_link_is_found_out(void **state)
{
    (void)state;
    struct gs_fanout s = {0};
    assert_int_equal(write_again(&s, LARGE, 20 * MS, 40 * MS), 0);
    assert_false(gs_fanout_pays(&s, SMALL));
}

static void a_slow_first_write_says_nothing(void **state)
{
    (void)state;
    struct gs_fanout s = {0};
    gs_fanout_learn(&s, false, LARGE, 150 * MS);
    assert_int_equal(write_again(&s, LARGE, 20 * MS, 40 * MS), 0);
    struct gs_fanout t = {0};
    gs_fanout_learn(&t, true, LARGE, 150 * MS);
    assert_int_equal(write_again(&t, LARGE, 20 * MS, 21 * MS), 10);
}

static void small_writes_try_nothing(void **state)
{
    (void)state;
    struct gs_fanout s = {0};
    assert_int_equal(write_again(&s, SMALL, 1 * MS, 1 * MS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_their_own_are_used),
        cmocka_unit_test(a_shared_link_is_found_out),
        cmocka_unit_test(a_slow_first_write_says_nothing),
        cmocka_unit_test(small_writes_try_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
