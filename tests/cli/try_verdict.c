/* SPDX-License-Identifier: MIT */
/* What gpusparc try says of times that are made up. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/suite.h"
#include "cli/try_verdict.h"

/* n rounds, each a little different. */
static struct gs_try_times rounds(size_t n, double plain, double single, double all, double noise)
{
    struct gs_try_times t = {.n = n};
    for (size_t i = 0; i < n; i++) {
        const double more = 1 + noise * (double)(i * 7 % 5) / 4;
        t.s[GS_TRY_PLAIN][i] = plain * more;
        t.s[GS_TRY_SINGLE][i] = single * (1 + noise * (double)(i * 3 % 5) / 4);
        t.s[GS_TRY_ALL][i] = all * (1 + noise * (double)(i * 4 % 5) / 4);
    }
    return t;
}

static struct gs_try_causes causes = {.devices = "GPUs", .known = true, .split = true, .staged = true};

static void says(const struct gs_try_times *t, unsigned n, const char *wanted)
{
    char text[512];
    const struct gs_try_verdict v = gs_try_judge(t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    causes.n = n;
    gs_try_say(text, sizeof text, &v, &causes);
    assert_string_equal(text, wanted);
}

static void what_is_faster(void **state)
{
    struct gs_try_times t = rounds(8, 1.43, 1.1, 1, 0);
    says(&t, 2, "1.43 times as fast on 2 GPUs (1.43 to 1.43): 1.30 by faster transfers, 1.10 by the second GPU");
    t = rounds(8, 3, 3, 1, 0);
    says(&t, 4, "3.00 times as fast on 4 GPUs (3.00 to 3.00), all of it by the other 3 GPUs");
    t = rounds(8, 3, 3.2, 1, 0);
    says(&t, 4, "3.00 times as fast on 4 GPUs (3.00 to 3.00): 0.94 by gpusparc's own work, 3.20 by the other 3 GPUs");
}

/* GPUs that got nothing to do have no part in a gain, and what didn't go by pinned memory was no faster transfer. */
static void what_it_comes_by(void **state)
{
    struct gs_try_times t = rounds(8, 1.3, 1, 1, 0);
    causes.split = false;
    says(&t, 2, "1.30 times as fast on 2 GPUs (1.30 to 1.30), by faster transfers; nothing was split");
    causes.staged = false;
    says(&t, 2, "1.30 times as fast on 2 GPUs (1.30 to 1.30), by one of them alone; nothing was split");
    says(&t, 1, "1.30 times as fast on 1 GPU (1.30 to 1.30)");
    t = rounds(8, 1.3, 1.3, 1, 0);
    says(&t, 2, "1.30 times as fast on 2 GPUs (1.30 to 1.30); nothing was split");
    causes.known = false;
    says(&t, 2, "1.30 times as fast on 2 GPUs (1.30 to 1.30)");
    causes.known = causes.split = causes.staged = true;
    /* One device was 1.3 times as fast in half of the rounds, and 0.8 times in the others: nothing is sure of it. */
    t = rounds(8, 2, 2 / 1.3, 1, 0);
    for (size_t i = 0; i < 8; i += 2)
        t.s[GS_TRY_SINGLE][i] = 2 / 0.8;
    says(&t, 2, "2.00 times as fast on 2 GPUs (2.00 to 2.00), all of it by the second GPU");
}

/* The factors' product is the whole, whatever the rounds are. */
static void factors_multiply(void **state)
{
    const struct gs_try_times t = rounds(11, 3, 2, 1, 0.5);
    const struct gs_try_verdict v = gs_try_judge(&t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    assert_true(v.all.times > 1.5 && v.by_single.times > 1);
    assert_true(fabs(v.by_single.times * v.by_more - v.all.times) < 1e-9);
}

static void what_is_not(void **state)
{
    struct gs_try_times t = rounds(8, 1, 1, 1.25, 0);
    says(&t, 2, "Slower: 0.80 times as fast on 2 GPUs (0.80 to 0.80), all of it by the second GPU");
    t = rounds(10, 1, 1, 1, 0.02);
    struct gs_try_verdict v = gs_try_judge(&t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    assert_int_equal(v.outcome, GS_TRY_SAME);
    assert_true(gs_try_is_narrow(&v));
    t = rounds(6, 1, 1, 1, 1);
    v = gs_try_judge(&t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    assert_int_equal(v.outcome, GS_TRY_UNSURE);
    assert_false(gs_try_is_narrow(&v));
    t = rounds(3, 2, 2, 1, 0);
    says(&t, 2, "Not sure: 2.00 times as fast on 2 GPUs, but there were too few rounds (--time)");
    t = rounds(0, 2, 2, 1, 0);
    says(&t, 2, "Nothing is known: no round was finished");
}

static void outliers_are_counted(void **state)
{
    struct gs_try_times t = rounds(9, 2, 2, 1, 0);
    t.s[GS_TRY_SINGLE][4] = 3.5;
    const struct gs_try_verdict v = gs_try_judge(&t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    assert_int_equal(v.outliers, 1);
    assert_int_equal(v.runs, 27);
    struct gs_try_outlier o;
    assert_true(gs_try_find_outlier(&t, 0, &o));
    assert_true(o.way == GS_TRY_SINGLE && o.round == 5 && o.s == 3.5 && o.usual_s == 2);
    assert_false(gs_try_find_outlier(&t, 1, &o));
}

static void remedies_are_those_of_the_page(void **state)
{
    assert_string_equal(gs_try_remedy("it is too short to gain"), "larger launches");
    assert_string_equal(gs_try_remedy("its translation doesn't compile on every device of the group (error -11): no"),
                        "the end is the compiler's first words; --dump DIR keeps all of them, with the kernel and its "
                        "translation");
    assert_non_null(gs_try_remedy("what nobody has ever said"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_faster),       cmocka_unit_test(what_is_not),
        cmocka_unit_test(what_it_comes_by),     cmocka_unit_test(factors_multiply),
        cmocka_unit_test(outliers_are_counted), cmocka_unit_test(remedies_are_those_of_the_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
