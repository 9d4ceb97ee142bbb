/* SPDX-License-Identifier: MIT */
/* Launches of one kernel and size that other arguments make longer or shorter (shim/choose/classes.h): what is told
 * apart, how soon, and what never is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shim/choose/classes.h"

/* As the book of kernels uses it: the last time that fitted is what is known, and what stands apart has its own. */
struct book {
    struct gs_classes c;
    uint64_t known, launches;
    uint64_t apart[64];
    unsigned n_apart, looks;
};

static bool is_apart(const struct book *b, uint64_t args)
{
    bool found = false;
    for (unsigned i = 0; i < b->n_apart; i++)
        found = found || b->apart[i] == args;
    return found;
}

/* A launch, which is measured for its arguments' sake, or for that of `any`. */
static void launch(struct book *b, uint64_t args, uint64_t took, bool any)
{
    if (is_apart(b, args))
        return;
    const bool wondered = gs_classes_wonder(&b->c, args, ++b->launches);
    b->looks += wondered;
    if (!wondered && !any && b->c.of)
        return;
    const struct gs_span known = {b->known, b->known ? b->known : UINT64_MAX}, seen = {took, took};
    switch (gs_classes_see(&b->c, args, known, seen)) {
    case GS_CLASS_FITS:
        b->known = took;
        break;
    case GS_CLASS_APART:
        assert_true(b->n_apart < 64);
        b->apart[b->n_apart++] = args;
        break;
    default:
        break;
    }
}

/* Two loops with other bounds, one after the other or in turns: the second launch with the others tells. */
static void other_rounds_stand_apart(void **state)
{
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        struct book b = {0};
        for (int i = 0; i < 100; i++)
            launch(&b, 300, 1000 + (uint64_t)i, false);
        launch(&b, 8300, 30000, false);
        assert_false(is_apart(&b, 8300));
        for (int i = 0; i < turns; i++)
            launch(&b, 300, 1000, true);
        launch(&b, 8300, 30500, false);
        assert_true(is_apart(&b, 8300));
        assert_int_equal(b.n_apart, 1);
        for (int i = 0; i < 100; i++) {
            launch(&b, 300, 1000, true);
            launch(&b, 500, 1600, true);
        }
        assert_int_equal(b.n_apart, 1); /* 500 rounds are near enough */
        assert_true(b.known < 2000);
    }
}

/* A counter among the arguments, and always the same time: it is looked at ever more rarely. */
static void a_counter_costs_little(void **state)
{
    (void)state;
    struct book b = {0};
    for (uint64_t i = 1; i <= 4000; i++)
        launch(&b, i, 1000 + i % 7, false);
    assert_int_equal(b.n_apart, 0);
    assert_true(b.looks <= 16);
}

/* A counter that makes launches ever shorter, or longer: what is known follows. */
static void a_counter_that_counts_is_followed(void **state)
{
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        struct book b = {0};
        for (uint64_t i = 1; i <= 400; i++) {
            const uint64_t took = 1000 * (longer ? i : 401 - i);
            launch(&b, i, took, i % 4 == 0);
            assert_true(b.known < 4 * took + 40000 && b.known > took / 8);
        }
        assert_int_equal(b.n_apart, 0);
    }
}

/* The same arguments, and what takes so long is the data. */
static void data_is_no_argument(void **state)
{
    (void)state;
    struct book b = {0};
    for (uint64_t i = 0; i < 1000; i++)
        launch(&b, 7, i % 3 ? 1000 : 90000, true);
    assert_int_equal(b.n_apart, 0);
    assert_int_equal(b.looks, 0);
}

/* One look that was disturbed isn't enough. */
static void one_long_look_decides_nothing(void **state)
{
    (void)state;
    struct book b = {0};
    for (uint64_t i = 1; i <= 1000; i++)
        launch(&b, 1 + i % 5, i % 100 ? 1000 : 50000, true);
    assert_int_equal(b.n_apart, 0);
    assert_int_equal(b.known, 1000);
}

/* Of a split it is known only that one device would take something between its longest part and all of them. */
static void a_span_fits_what_it_may_be(void **state)
{
    (void)state;
    struct gs_classes c = {.of = 1};
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){1000, 1000}, (struct gs_span){500, 1000}), GS_CLASS_FITS);
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){1000, 1000}, (struct gs_span){950, 3000}), GS_CLASS_FITS);
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){0, 1000}, (struct gs_span){1, 1}), GS_CLASS_FITS);
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){0, 1000}, (struct gs_span){4000, 8000}), GS_CLASS_STRAY);
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){0, 1000}, (struct gs_span){4000, 8000}), GS_CLASS_APART);
    assert_int_equal(gs_classes_see(&c, 2, (struct gs_span){9000, 9000}, (struct gs_span){100, 200}), GS_CLASS_STRAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_rounds_stand_apart),          cmocka_unit_test(a_counter_costs_little),
        cmocka_unit_test(a_counter_that_counts_is_followed), cmocka_unit_test(data_is_no_argument),
        cmocka_unit_test(one_long_look_decides_nothing),     cmocka_unit_test(a_span_fits_what_it_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
