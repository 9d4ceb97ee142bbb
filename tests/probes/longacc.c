/* SPDX-License-Identifier: MIT */
/* The long accumulator against exact integers (GMP): adversarial vectors, every order, every grouping. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gmp.h>

#include "tests/suite.h"
#include "scheduler/probes/illcond.h"
#include "tests/probes/vectors.h"

enum { ROUNDS = 6000 };

static uint64_t rng = 1;

/* The exact sum of finite floats in units of 2^-149. */
static void exact_sum(mpz_t sum, const float *x, size_t n)
{
    mpz_t term;
    mpz_init(term);
    mpz_set_ui(sum, 0);
    for (size_t i = 0; i < n; i++) {
        int exponent;
        double mantissa = frexp(x[i], &exponent); /* x = mantissa * 2^exponent, with 24 bits at most */
        mpz_set_si(term, (long)ldexp(mantissa, 24));
        int shift = exponent - 24 + 149;
        if (shift >= 0)
            mpz_mul_2exp(term, term, (mp_bitcnt_t)shift);
        else
            mpz_divexact_ui(term, term, 1ul << -shift); /* a subnormal's low bits are zero */
        mpz_add(sum, sum, term);
    }
    mpz_clear(term);
}

/* `sum` units of 2^-149 rounded to `precision` bits, ties to even, no exponent limit. */
static double rounded(const mpz_t sum, unsigned precision)
{
    mpz_t q, r, half;
    mpz_inits(q, r, half, NULL);
    mpz_abs(q, sum);
    size_t bits = mpz_sgn(q) ? mpz_sizeinbase(q, 2) : 0;
    mp_bitcnt_t drop = bits > precision ? bits - precision : 0;
    mpz_fdiv_r_2exp(r, q, drop);
    mpz_fdiv_q_2exp(q, q, drop);
    if (drop) {
        mpz_ui_pow_ui(half, 2, drop - 1);
        int c = mpz_cmp(r, half);
        if (c > 0 || (c == 0 && mpz_odd_p(q)))
            mpz_add_ui(q, q, 1);
    }
    double v = ldexp(mpz_get_d(q), (int)drop - 149);
    v = mpz_sgn(sum) < 0 ? -v : v;
    mpz_clears(q, r, half, NULL);
    return v;
}

/* Sums in groups of random size, merged. */
static struct gs_longacc grouped(const float *x, size_t n)
{
    struct gs_longacc all = {0};
    for (size_t i = 0; i < n;) {
        size_t group = 1 + (size_t)(gs_probe_random(&rng) % (n - i));
        struct gs_longacc part = {0};
        gs_longacc_add_many(&part, x + i, group);
        gs_longacc_merge(&all, &part);
        i += group;
    }
    return all;
}

static void equals_exact_integers(void **state)
{
    static float x[VECTOR_MAX];
    mpz_t sum;
    mpz_init(sum);
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = adversarial(x, &rng);
        struct gs_longacc a = {0};
        gs_longacc_add_many(&a, x, n);
        exact_sum(sum, x, n);
        float expected = (float)rounded(sum, 24), got = gs_longacc_to_float(&a);
        if (expected != got)
            fail_msg("round %d: %a, exact %a", round, (double)got, (double)expected);
        assert_true(gs_longacc_to_double(&a) == rounded(sum, 53));
        assert_int_equal(gs_longacc_sign(&a), mpz_sgn(sum));
        shuffle(x, n, &rng);
        struct gs_longacc b = grouped(x, n);
        gs_longacc_normalise(&a);
        assert_memory_equal(a.digit, b.digit, sizeof(a.digit));
        assert_int_equal(bits_of(gs_longacc_to_float(&b)), bits_of(got));
        gs_longacc_subtract(&a, x[0]);
        exact_sum(sum, x + 1, n - 1);
        assert_true(gs_longacc_to_float(&a) == (float)rounded(sum, 24));
    }
    mpz_clear(sum);
}

/* A million of the same sign, so that carries run through. */
static void a_million_of_one_sign(void **state)
{
    struct gs_longacc a = {0};
    for (int i = 0; i < 1000000; i++)
        gs_longacc_add(&a, i % 2 ? 0x1.fffffep127f : 0x1.fffffep-1f);
    assert_true(isinf(gs_longacc_to_float(&a)));
    assert_true(gs_longacc_to_double(&a) == 500000 * 0x1.fffffep127); /* the small ones are below half a unit */
    for (int i = 0; i < 500000; i++)
        gs_longacc_add(&a, -0x1.fffffep127f);
    assert_true(gs_longacc_to_double(&a) == 500000 * 0x1.fffffep-1);
}

static float sum_of(const float *x, size_t n)
{
    struct gs_longacc a = {0};
    gs_longacc_add_many(&a, x, n);
    return gs_longacc_to_float(&a);
}

static void special_values(void **state)
{
    const float inf = INFINITY;
    assert_true(isnan(sum_of((float[]){1, NAN, inf}, 3)));
    assert_true(isnan(sum_of((float[]){inf, 1, -inf}, 3)));
    assert_true(sum_of((float[]){inf, -0x1.fffffep127f, inf}, 3) == inf);
    assert_true(sum_of((float[]){1, -inf}, 2) == -inf);
    assert_int_equal(bits_of(sum_of((float[]){-0.0f, -0.0f}, 2)), 0x80000000u);
    assert_int_equal(bits_of(sum_of((float[]){-0.0f, 0.0f}, 2)), 0);
    assert_int_equal(bits_of(sum_of((float[]){1, -1}, 2)), 0);
    assert_int_equal(bits_of(sum_of(NULL, 0)), 0);
    assert_int_equal(bits_of(sum_of((float[]){-0x1p-149f}, 1)), 0x80000001u);
    struct gs_longacc a = {0}, b = {0};
    gs_longacc_add(&a, -0.0f);
    gs_longacc_add(&b, -0.0f);
    gs_longacc_merge(&a, &b);
    assert_int_equal(bits_of(gs_longacc_to_float(&a)), 0x80000000u);
    gs_longacc_add(&b, inf);
    gs_longacc_merge(&a, &b);
    assert_true(gs_longacc_to_float(&a) == inf);
}

int main(int argc, char **argv)
{
    rng = argc > 1 ? strtoull(argv[1], NULL, 0) : 20141120;
    printf("seed %llu\n", (unsigned long long)rng);
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_exact_integers), cmocka_unit_test(a_million_of_one_sign),
                                       cmocka_unit_test(special_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
