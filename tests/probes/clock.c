/* SPDX-License-Identifier: MIT */
/* Which clock a probe takes on which device, and that it takes none where there is none. */
#include "tests/suite.h"
#include "scheduler/probes/probe.h"

static void clocks(void **state)
{
    struct probe_device none = {.extensions = "cl_khr_fp64"}, nvidia = {.is_nvidia = true}, pocl = {.is_pocl = true};
    struct probe_device whole = {.clocks = 1}, group = {.clocks = 2}, both = {.clocks = 7}, sub_group = {.clocks = 4};
    for (int across = 0; across < 2; across++) {
        assert_int_equal(probe_clock_of(&whole, across), PROBE_CLOCK_KHR_DEVICE);
        assert_int_equal(probe_clock_of(&none, across), PROBE_CLOCK_NONE);
        assert_int_equal(probe_clock_of(&sub_group, across), PROBE_CLOCK_NONE);
        assert_int_equal(probe_clock_of(&pocl, across), PROBE_CLOCK_POCL);
        assert_int_equal(probe_clock_of(&both, across), across ? PROBE_CLOCK_KHR_DEVICE : PROBE_CLOCK_KHR_GROUP);
        assert_int_equal(probe_clock_of(&group, across), across ? PROBE_CLOCK_NONE : PROBE_CLOCK_KHR_GROUP);
    }
    assert_int_equal(probe_clock_of(&nvidia, false), PROBE_CLOCK_PTX_SM);
    assert_int_equal(probe_clock_of(&nvidia, true), PROBE_CLOCK_PTX_GLOBAL);
}

static void ranges(void **state)
{
    unsigned a, b;
    assert_true(probe_range("x", "3..7", 10, &a, &b) && a == 3 && b == 7);
    assert_true(probe_range("x", "5", 10, &a, &b) && a == 5 && b == 5);
    const char *bad[] = {"", "0", "7..3", "3..", "..3", "1..11", "a", "99999999999999999999", "3...5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(probe_range("x", bad[i], 10, &a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks), cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
