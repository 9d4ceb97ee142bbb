/* SPDX-License-Identifier: MIT */
/* Launches between two waits, taken together (shim/choose/stretch.c), in simulated applications. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "tests/choice/simulation.h"

/* Three kernels in turn, each of which gains by its own split, and a wait after each turn: what a split costs besides,
 * where nobody looks. */
static double turns(struct world *w, struct kernel *k, int n, double hidden_ns, double host_ns)
{
    const double begin = w->now;
    for (int i = 0; i < n; i++) {
        double from = w->now, single_ns = 0;
        bool split = false, first = false, known = true;
        for (int j = 0; j < 3; j++) {
            const bool now = launch(w, &k[j]);
            w->now += now ? hidden_ns : 0;
            split |= now;
            first |= now && k[j].splits == 1;
            single_ns += gs_choice_single_ns(&k[j].h);
            known = known && gs_choice_single_ns(&k[j].h) > 0;
        }
        w->now += host_ns;
        w->plain += host_ns;
        for (int j = 0; j < 3 && known; j++)
            gs_stretch_learn(&k[j].h.together, w->now - from, single_ns, split, first);
    }
    return w->now - begin;
}

/* A world in which each of three kernels gains by its own split. */
static void begin_turns(struct world *w, struct kernel k[3], bool ample)
{
    begin(w, 1 << 20);
    w->believed.split_ns = w->real.split_ns = 4e4;
    for (int j = 0; j < 3; j++) {
        k[j] = j == 1 ? kernel_of(26e4, 9e4, 4096) : kernel_of(3e5, 1e5, 4096);
        k[j].ample = ample;
    }
}

static void splits_that_lose_together_are_left(void **state)
{
    for (int noise = 0; noise < 2; noise++) {
        struct world w;
        struct kernel k[3];
        begin_turns(&w, k, false);
        w.noise = noise * 0.2;
        turns(&w, k, 100, 4e5, 0); /* it learns */
        const double plain = w.plain, took = turns(&w, k, 4000, 4e5, 0);
        printf("%.0f ms, plain %.0f\n", took / 1e6, (w.plain - plain) / 1e6);
        assert_true(k[0].splits >= 8); /* it was tempted */
        assert_true(took < (1.03 + w.noise / 2) * (w.plain - plain));
    }
}

/* It loses no more than a fiftieth there. */
static void the_next_process_stays_on_one_device(void **state)
{
    struct world w;
    struct kernel k[3];
    begin_turns(&w, k, true);
    turns(&w, k, 100, 4e5, 0);
    for (int process = 0; process < 4; process++) {
        for (int j = 0; j < 3; j++) {
            const double owed = gs_stretch_keep(&k[j].h.together);
            assert_true(owed > 0);
            k[j].h.together = (struct gs_together){0};
            gs_stretch_load(&k[j].h.together, owed);
            k[j].h.last_split = k[j].h.ever = k[j].h.split_before = false;
            k[j].splits = 0;
        }
        w.away = false;
        const double plain = w.plain, took = turns(&w, k, 500, 4e5, 0);
        assert_true(took < 1.03 * (w.plain - plain));
    }
}

/* Eight stretches that something disturbed: soon they are split again, whatever the first split has cost. */
static void bad_luck_at_first_is_soon_forgotten(void **state)
{
    struct gs_together g = {0};
    gs_stretch_learn(&g, 20e6, 65e4, true, true); /* buffers, pinned memory */
    for (int i = 0; i < GS_STRETCHES_KEPT; i++)
        gs_stretch_learn(&g, 90e4, 65e4, true, false);
    assert_int_equal(g.state, GS_STRETCH_ASKED);
    int n = 0;
    for (; g.state != GS_STRETCH_FREE && n < 1000; n++)
        gs_stretch_learn(&g, 66e4, 65e4, false, false);
    printf("%d stretches on one device\n", n);
    assert_true(n > 100 && n < 300);
    gs_stretch_learn(&g, 66e4, 65e4, true, false);
    for (int i = 0; i < GS_STRETCHES_KEPT; i++)
        gs_stretch_learn(&g, 45e4, 65e4, true, false);
    assert_int_equal(g.state, GS_STRETCH_FREE);
    assert_true(gs_stretch_keep(&g) == 0);
    g.state = GS_STRETCH_LEFT; /* the next process would lose it again */
    assert_true(gs_stretch_keep(&g) > 50 * 19e6);
}

/* Beside a kernel that gains others come to be split, one after the other, for which buffers and pinned memory are
 * made: it stays split. */
static void the_first_splits_of_others_say_nothing(void **state)
{
    struct gs_together g = {0};
    for (int i = 0; i < 4 * GS_STRETCHES_KEPT; i++)
        gs_stretch_learn(&g, i % 3 ? 45e4 : 20e6, 65e4, true, i % 3 == 0);
    assert_int_equal(g.state, GS_STRETCH_FREE);
}

static void splits_that_gain_together_stay(void **state)
{
    struct world w;
    struct kernel k[3];
    begin_turns(&w, k, false);
    turns(&w, k, 2000, 0, 2e6); /* the host takes more than the device: more than one device's kernels do */
    printf("%u splits of 2000\n", k[0].splits);
    assert_true(k[0].splits > 1900);
    assert_true(w.now < w.plain);
}

/* Launches of a kernel that gains 0.16 ms by each split, with a wait after each, and a read of the results after each
 * 20th, which takes so long where they lie on both devices. */
static void read_now_and_then(struct world *w, struct kernel *k, int n, double away_ns)
{
    static const double home_ns = 3e5;
    for (int i = 0; i < n; i++) {
        const double from = w->now;
        const bool split = launch(w, k), reads = i % 20 == 19;
        w->now += !reads ? 0 : split ? away_ns : home_ns;
        w->plain += reads ? home_ns : 0;
        if (gs_choice_single_ns(&k->h) > 0)
            gs_stretch_learn(&k->h.together, w->now - from, gs_choice_single_ns(&k->h), split, split && k->splits == 1);
    }
}

static void reads_now_and_then_count(void **state)
{
    for (int loses = 0; loses < 2; loses++) {
        struct world w;
        begin(&w, 1 << 20);
        w.believed.split_ns = w.real.split_ns = 4e4;
        w.noise = 0.1;
        struct kernel k = kernel_of(3e5, 1e5, 0);
        k.ample = true;
        read_now_and_then(&w, &k, 200, loses ? 8e6 : 1e6);
        const double plain = w.plain, began = w.now;
        const unsigned before = k.splits;
        read_now_and_then(&w, &k, 4000, loses ? 8e6 : 1e6);
        const double times = (w.now - began) / (w.plain - plain);
        printf("a read that %s: %u of 4000 are split, %.3f times plain\n", loses ? "loses" : "doesn't",
               k.splits - before, times);
        assert_true(before > 40);
        assert_true(loses ? times < 1.03 + w.noise / 2 : k.splits - before > 3800);
    }
}

static void what_has_come_to_gain_is_split_again(void **state)
{
    struct world w;
    struct kernel k[3];
    begin_turns(&w, k, true);
    turns(&w, k, 100, 4e5, 0);
    assert_int_equal(k[0].h.together.state, GS_STRETCH_LEFT);
    turns(&w, k, 2000, 0, 0);
    const unsigned before = k[0].splits;
    turns(&w, k, 100, 0, 0);
    assert_int_equal(k[0].splits, before + 100);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 20261121);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_that_lose_together_are_left),
        cmocka_unit_test(the_next_process_stays_on_one_device),
        cmocka_unit_test(bad_luck_at_first_is_soon_forgotten),
        cmocka_unit_test(splits_that_gain_together_stay),
        cmocka_unit_test(what_has_come_to_gain_is_split_again),
        cmocka_unit_test(reads_now_and_then_count),
        cmocka_unit_test(the_first_splits_of_others_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
