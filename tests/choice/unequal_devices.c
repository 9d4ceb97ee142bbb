/* SPDX-License-Identifier: MIT */
/* Auto mode's choice between devices that differ, in simulated applications. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "tests/choice/simulation.h"

/* One launch of a kernel that the second device, which isn't like the first, is so many times as fast for. */
static bool launch_unlike(struct world *w, struct kernel *k, double times)
{
    struct gs_machine *m = &w->believed;
    struct gs_forecast o = {.n = 2, .link = GS_LINK_HOST, .ample = true};
    double cut[GS_MAX_DEVICES], risk_ns = 0, took = k->single_ns;
    gs_choice_first_cut(2, k->single_ns, cut);
    if (k->h.balance.n)
        cut[0] = k->h.balance.cut[0];
    const double share[] = {cut[0], 1 - cut[0]};
    const double speed = k->h.balance.n ? gs_balance_speed(&k->h.balance, 1) : 1;
    const uint64_t parts[] = {(uint64_t)(took * share[0]), (uint64_t)(took * share[1] / times)};
    o.largest = !k->h.balance.n ? 0.5 : fmax(share[0], share[1] / speed);
    cut[1] = 1;
    const bool split =
        gs_choice_may_plan(&k->h, m, 2, 0) && gs_choose(&k->h, m, &o, &w->budget, (uint64_t)w->now, &risk_ns);
    if (split) {
        took = (double)(parts[0] > parts[1] ? parts[0] : parts[1]) + w->real.split_ns;
        gs_choice_learn_split(&k->h, m, &w->budget, &o,
                              &(struct gs_split_times){(uint64_t)took, parts, k->h.single_ns, risk_ns});
        gs_balance_learn(&k->h.balance, 0, 2, cut, parts, share);
        gs_choice_move_cut(&k->h, m, GS_LINK_HOST, (struct gs_move){0, 0, 0});
    } else if (gs_choice_wants_single(&k->h, m, 2, true)) {
        k->h.asked++;
        gs_choice_learn_single(&k->h, (uint64_t)took);
    }
    w->now += took;
    w->plain += k->single_ns;
    return split;
}

/* Two kernels in turn: for one the second device is as good as the first, for the other it is of no use. Neither's
 * times speak against what is known of the other. */
static void a_device_may_be_good_for_one_kernel_alone(void **state)
{
    for (int order = 0; order < 2; order++) {
        struct world w;
        unsigned late[2] = {0, 0};
        begin(&w, 0);
        w.believed.unlike = true;
        w.now = 2e8;
        struct kernel k[] = {kernel_of(1e7, 0, 0), kernel_of(1e7, 0, 0)};
        for (int i = 0; i < 400; i++)
            for (int j = 0; j < 2; j++)
                late[j] += launch_unlike(&w, &k[j], j == order ? 1 : 0.03) && i >= 200;
        if (late[order] < 200 || late[!order] > 4 || w.now - 2e8 > 0.8 * w.plain)
            fail_msg("%u and %u of the last 200 launches were split, %.3f times the plain run", late[order],
                     late[!order], (w.now - 2e8) / w.plain);
    }
}

/* And one that was busy for a process, or for a while, is tried again. */
static void a_device_that_was_busy_is_tried_again(void **state)
{
    struct world w;
    unsigned late = 0;
    begin(&w, 0);
    w.believed.unlike = true;
    w.now = 2e8;
    struct kernel k = kernel_of(1e7, 0, 0);
    for (int i = 0; i < 300; i++)
        late += launch_unlike(&w, &k, i < 10 ? 0.03 : 1) && i >= 100;
    assert_int_equal(late, 200);
}

/* Of a device of which nothing is known little is risked, least where it would take long. */
static void an_unknown_device_gets_little(void **state)
{
    double cut[GS_MAX_DEVICES];
    gs_choice_first_cut(3, 0, cut);
    assert_true(fabs(cut[1] - cut[0] - 1.0 / 16) < 1e-9 && fabs(cut[2] - 1) < 1e-9);
    gs_choice_first_cut(3, 1e9, cut);
    assert_true(fabs(cut[1] - cut[0] - 1.0 / 64) < 1e-9 && fabs(cut[2] - 1) < 1e-9);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 20261121);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_may_be_good_for_one_kernel_alone),
        cmocka_unit_test(a_device_that_was_busy_is_tried_again),
        cmocka_unit_test(an_unknown_device_gets_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
