/* SPDX-License-Identifier: MIT */
/* Ill-conditioned vectors: the condition number is what was asked for, and float additions feel it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "scheduler/probes/illcond.h"

enum { MAX_N = 8192 };

static float x[MAX_N];

static void condition_numbers(void **state)
{
    const size_t sizes[] = {6, 7, 32, 100, 1024, MAX_N};
    const double wanted[] = {1, 2, 3.9, 4, 10, 1e3, 1e8, 1e11, 1e16, 1e24, 1e30};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t j = 0; j < sizeof(wanted) / sizeof(*wanted); j++)
            for (uint64_t seed = 0; seed < 20; seed++) {
                struct gs_longacc sum, check = {0}, size = {0};
                double reached;
                size_t n = sizes[i];
                assert_int_equal(gs_illcond_generate(x, n, wanted[j], seed, &sum, &reached), 0);
                for (size_t k = 0; k < n; k++) {
                    assert_true(isfinite(x[k]));
                    gs_longacc_add(&check, x[k]);
                    gs_longacc_add(&size, fabsf(x[k]));
                }
                gs_longacc_subtract(&check, gs_longacc_to_float(&sum));
                assert_true(fabs(gs_longacc_to_double(&check)) <= fabs(gs_longacc_to_double(&sum)) * 0x1p-24);
                double c = gs_longacc_to_double(&size) / fabs(gs_longacc_to_double(&sum));
                assert_true(fabs(c / reached - 1) < 1e-12);
                if (!(c > wanted[j] * 0.99 && c < wanted[j] * 1.01))
                    fail_msg("n %zu seed %lu: condition %g, wanted %g", n, (unsigned long)seed, c, wanted[j]);
            }
}

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float));
}

/* ANALYSIS: 1,024 floats of condition 1e8, summed in 1,000 random orders, give almost as many different sums. */
static void orders_give_different_sums(void **state)
{
    static float sums[1000];
    struct gs_longacc sum;
    double reached;
    uint64_t rng = 7;
    unsigned distinct = 1;
    assert_int_equal(gs_illcond_generate(x, 1024, 1e8, 1, &sum, &reached), 0);
    float exact = gs_longacc_to_float(&sum);
    for (int run = 0; run < 1000; run++) {
        float s = 0;
        for (size_t i = 1024; i > 1; i--) {
            size_t j = (size_t)(gs_probe_random(&rng) % i);
            float t = x[i - 1];
            x[i - 1] = x[j];
            x[j] = t;
        }
        for (size_t i = 0; i < 1024; i++)
            s += x[i];
        sums[run] = s;
        struct gs_longacc again = {0};
        gs_longacc_add_many(&again, x, 1024);
        assert_true(gs_longacc_to_float(&again) == exact);
    }
    qsort(sums, 1000, sizeof(float), by_bits);
    for (int i = 1; i < 1000; i++)
        distinct += memcmp(&sums[i], &sums[i - 1], sizeof(float)) != 0;
    assert_true(distinct > 900);
}

static void limits(void **state)
{
    struct gs_longacc sum;
    double reached;
    assert_int_equal(gs_illcond_generate(x, 5, 10, 1, &sum, &reached), -EINVAL);
    assert_int_equal(gs_illcond_generate(x, 10, 0.5, 1, &sum, &reached), -EINVAL);
    assert_int_equal(gs_illcond_generate(x, 10, 1e31, 1, &sum, &reached), -EINVAL);
    assert_int_equal(gs_illcond_generate(x, 10, NAN, 1, &sum, &reached), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(condition_numbers),
                                       cmocka_unit_test(orders_give_different_sums), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
