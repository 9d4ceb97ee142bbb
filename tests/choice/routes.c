/* SPDX-License-Identifier: MIT */
/* The way that a launch goes (shim/launch/route.c), over all combinations of facts: what must hold of each way. */
#include <stdbool.h>

#include "tests/suite.h"
#include "shim/launch/launch.h"

static bool is(unsigned facts, unsigned fact)
{
    return facts & fact;
}

static void a_call_is_handed_on_only_where_nothing_has_to_be_noted(void **state)
{
    for (unsigned f = 0; f < 1u << GS_LAUNCH_FACTS; f++) {
        const enum gs_route route = gs_launch_route(f);
        if (is(f, GS_LAUNCH_PLANNED))
            continue;
        assert_int_equal(route == GS_ROUTE_DRIVER, is(f, GS_LAUNCH_PASSES) && !is(f, GS_LAUNCH_UNITS));
        assert_int_equal(route == GS_ROUTE_UNIT, is(f, GS_LAUNCH_PASSES) && is(f, GS_LAUNCH_UNITS));
        assert_true(route == GS_ROUTE_DRIVER || route == GS_ROUTE_UNIT || route == GS_ROUTE_LOOK);
    }
}

static void a_plan_that_pays_is_carried_out(void **state)
{
    for (unsigned f = 0; f < 1u << GS_LAUNCH_FACTS; f++) {
        const enum gs_route route = gs_launch_route(f);
        const bool planned = is(f, GS_LAUNCH_PLANNED), pays = planned && is(f, GS_LAUNCH_PAYS);
        assert_int_equal(route == GS_ROUTE_PARTS || route == GS_ROUTE_VERIFIED, pays);
        assert_true(route != GS_ROUTE_VERIFIED || is(f, GS_LAUNCH_VERIFIED));
        assert_true(route != GS_ROUTE_PARTS || !is(f, GS_LAUNCH_VERIFIED));
        assert_int_equal(route == GS_ROUTE_AWAY, planned && !pays && is(f, GS_LAUNCH_AWAY));
    }
}

static void what_is_not_split_runs_whole_and_by_units_under_a_daemon(void **state)
{
    for (unsigned f = 0; f < 1u << GS_LAUNCH_FACTS; f++) {
        const enum gs_route route = gs_launch_route(f);
        if (!is(f, GS_LAUNCH_PLANNED) || is(f, GS_LAUNCH_PAYS) || is(f, GS_LAUNCH_AWAY))
            continue;
        assert_int_equal(route == GS_ROUTE_WHOLE, !is(f, GS_LAUNCH_MEASURED));
        assert_true(route != GS_ROUTE_MEASURED || !is(f, GS_LAUNCH_UNITS));
        assert_true(route != GS_ROUTE_COUNTED || is(f, GS_LAUNCH_UNITS));
    }
}

static void each_way_is_taken(void **state)
{
    bool taken[GS_ROUTES] = {false};
    for (unsigned f = 0; f < 1u << GS_LAUNCH_FACTS; f++)
        taken[gs_launch_route(f)] = true;
    for (unsigned i = 0; i < GS_ROUTES; i++)
        assert_true(taken[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_handed_on_only_where_nothing_has_to_be_noted),
        cmocka_unit_test(a_plan_that_pays_is_carried_out),
        cmocka_unit_test(what_is_not_split_runs_whole_and_by_units_under_a_daemon),
        cmocka_unit_test(each_way_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
