/* SPDX-License-Identifier: MIT */
/* The intervals of gpusparc bench: printed tables, a printed example, an oracle that tries all signs, and how often
 * they miss a ratio that is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "cli/bench_interval.h"

static uint64_t rng_state;

/* Above 0, below 1. */
static double rnd(void)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(rng_state >> 12) + 0.5) / 4503599627370496.0;
}

/* Critical values of the signed-rank test, two-sided, as statistical tables print them. */
static void tables_of_the_test(void **state)
{
    static const struct {
        size_t n;
        long five, one; /* per cent */
    } printed[] = {
        {5, -1, -1},  {6, 0, -1},   {7, 2, -1},   {8, 3, 0},    {9, 5, 1},    {10, 8, 3},     {11, 10, 5},
        {12, 13, 7},  {13, 17, 9},  {14, 21, 12}, {15, 25, 15}, {16, 29, 19}, {17, 34, 23},   {18, 40, 27},
        {19, 46, 32}, {20, 52, 37}, {21, 58, 42}, {22, 65, 48}, {25, 89, 68}, {30, 137, 109}, {50, 434, 373},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        assert_int_equal(gs_interval_critical(printed[i].n, 0.05), printed[i].five);
        assert_int_equal(gs_interval_critical(printed[i].n, 0.01), printed[i].one);
    }
}

/* Hollander and Wolfe, table 3.1 (a depression scale of nine patients, second minus first visit): 96.1 %: from -0.786
 * to -0.010. */
static void a_printed_example(void **state)
{
    static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    double ratio[9], low, high;
    for (int i = 0; i < 9; i++)
        ratio[i] = exp(after[i] - before[i]);
    assert_true(gs_interval(ratio, 9, 0.05, &low, &high));
    assert_float_equal(log(low), -0.786, 5e-4);
    assert_float_equal(log(high), -0.010, 5e-4);
}

/* The sum of ranks of the positive ones among x - by. */
static long rank_sum(const double *x, size_t n, double by)
{
    long sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n && x[i] > by; j++)
            sum += fabs(x[j] - by) <= fabs(x[i] - by);
    return sum;
}

/* Does the test refuse `by` as the centre? Of all 2^n choices of signs, how many are as extreme? */
static bool refuses(const double *x, size_t n, double by, double alpha)
{
    const long all = (long)(n * (n + 1) / 2), up = rank_sum(x, n, by), extreme = up < all - up ? up : all - up;
    unsigned as_extreme = 0;
    for (unsigned signs = 0; signs < 1u << n; signs++) {
        long sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += signs >> i & 1 ? (long)i + 1 : 0;
        as_extreme += sum <= extreme;
    }
    return 2.0 * as_extreme <= alpha * (1u << n);
}

static void what_the_test_does_not_refuse(void **state)
{
    static const double alphas[] = {0.2, 0.1, 0.05, 0.01};
    for (int round = 0; round < 200; round++) {
        const size_t n = 3 + (size_t)(rnd() * 9);
        const double alpha = alphas[(int)(rnd() * 4)], nearly = 1e-9;
        double ratio[12], x[12], low, high;
        for (size_t i = 0; i < n; i++) {
            x[i] = 0.3 * (rnd() - 0.4);
            ratio[i] = exp(x[i]);
        }
        if (!gs_interval(ratio, n, alpha, &low, &high)) {
            assert_true(2 * ldexp(1, -(int)n) > alpha);
            continue;
        }
        low = log(low);
        high = log(high);
        assert_true(refuses(x, n, low - nearly, alpha) && refuses(x, n, high + nearly, alpha));
        assert_false(refuses(x, n, low + nearly, alpha) || refuses(x, n, high - nearly, alpha));
        assert_false(refuses(x, n, low + (high - low) * rnd(), alpha));
    }
}

/* A run's disturbance: small, now and then large. */
static double disturbance(void)
{
    return 1 + 0.02 * rnd() + (rnd() < 0.1 ? rnd() : 0);
}

/* Looked at until it is sure: how often is what it is sure of wrong? */
static void it_is_wrong_as_rarely_as_it_says(void **state)
{
    const struct gs_looks looks = {6, 60};
    const int count = gs_looks_count(&looks), rounds = 2000;
    const double truth = 0.97;
    int missed = 0, missed_at_once = 0;
    for (int round = 0; round < rounds; round++) {
        double ratio[60], low = 0, high = 0;
        for (int i = 0; i < 60; i++)
            ratio[i] = truth * disturbance() / disturbance();
        assert_true(gs_interval(ratio, 12, 0.05, &low, &high));
        missed_at_once += low > truth || high < truth;
        bool sure = false;
        for (int i = 0; i < count && !sure; i++)
            sure = gs_interval(ratio, (size_t)gs_looks_at(&looks, i), 0.05 / count, &low, &high) &&
                   (low > truth || high < truth);
        missed += sure;
    }
    /* Three standard deviations of what 5 % of so many are. */
    const double most = 0.05 * rounds + 3 * sqrt(0.05 * 0.95 * rounds);
    assert_true(missed <= most);
    assert_true(missed_at_once <= most);
    assert_true(missed_at_once >= 0.02 * rounds); /* and it isn't wider than it has to be */
}

static void looks_grow_by_half(void **state)
{
    const struct gs_looks many = {8, 40}, one = {5, 5};
    static const long at[] = {8, 12, 18, 27, 40};
    assert_int_equal(gs_looks_count(&many), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(gs_looks_at(&many, i), at[i]);
    assert_int_equal(gs_looks_count(&one), 1);
    assert_int_equal(gs_looks_at(&one, 0), 5);
}

int main(int argc, char **argv)
{
    rng_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    printf("seed %llu\n", (unsigned long long)rng_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_the_test),
        cmocka_unit_test(a_printed_example),
        cmocka_unit_test(what_the_test_does_not_refuse),
        cmocka_unit_test(it_is_wrong_as_rarely_as_it_says),
        cmocka_unit_test(looks_grow_by_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
