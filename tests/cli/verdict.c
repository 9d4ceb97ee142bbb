/* SPDX-License-Identifier: MIT */
/* What gpusparc try says of times that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

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

static void says(const struct gs_try_times *t, unsigned n, const char *wanted)
{
    char text[512];
    const struct gs_try_verdict v = gs_try_judge(t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    gs_try_say(text, sizeof text, &v, n, "GPUs");
    assert_string_equal(text, wanted);
}

static void what_is_faster(void **state)
{
    (void)state;
    struct gs_try_times t = rounds(8, 1.43, 1.1, 1, 0);
    says(&t, 2, "1.43 times as fast on 2 GPUs (1.43 to 1.43): 1.30 by faster transfers, 1.10 by the second GPU");
    t = rounds(8, 3, 3, 1, 0);
    says(&t, 4, "3.00 times as fast on 4 GPUs (3.00 to 3.00), all of it by the other 3 GPUs");
    t = rounds(8, 3, 3.2, 1, 0);
    says(&t, 4, "3.00 times as fast on 4 GPUs (3.00 to 3.00): 0.94 by gpusparc's own work, 3.20 by the other 3 GPUs");
}

static void what_is_not(void **state)
{
    (void)state;
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
    (void)state;
    struct gs_try_times t = rounds(9, 2, 2, 1, 0);
    t.s[GS_TRY_SINGLE][4] = 3.5;
    const struct gs_try_verdict v = gs_try_judge(&t, GS_TRY_PLAIN, GS_TRY_ALL, 0.05);
    assert_int_equal(v.outliers, 1);
    assert_int_equal(v.runs, 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_faster), cmocka_unit_test(what_is_not),
                                       cmocka_unit_test(outliers_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
