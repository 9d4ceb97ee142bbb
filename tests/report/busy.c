/* SPDX-License-Identifier: MIT */
/* The time in which at least one span lay, against a slow count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "shim/report/report.h"

static void random_spans(void **state)
{
    enum { LENGTH = 20000, SPANS = 3000 };
    static unsigned char lit[LENGTH];
    const unsigned seed = 4205;
    printf("seed %u\n", seed);
    srand(seed);
    for (int round = 0; round < 20; round++) {
        struct gs_busy b = {0};
        uint64_t expected = 0;
        memset(lit, 0, sizeof lit);
        for (int i = 0; i < SPANS >> (round % 8); i++) {
            const uint64_t begin = (uint64_t)rand() % LENGTH, end = begin + (uint64_t)rand() % 40;
            gs_busy_add(&b, begin, end);
            for (uint64_t t = begin; t < end && t < LENGTH; t++)
                lit[t] = 1;
        }
        gs_rangeset_remove(&b.recent, (struct gs_range){LENGTH, UINT64_MAX});
        for (size_t t = 0; t < LENGTH; t++)
            expected += lit[t];
        assert_int_equal(gs_busy_ns(&b), expected);
        gs_rangeset_free(&b.recent);
    }
}

/* A million short spans with gaps between them, on two devices that take turns: memory stays small, nothing is lost. */
static void a_million_spans(void **state)
{
    enum { SPANS = 1000000 };
    struct gs_busy b = {0};
    for (uint64_t i = 0; i < SPANS; i++) {
        const uint64_t begin = (i ^ 1) * 10;
        gs_busy_add(&b, begin, begin + 3);
    }
    assert_int_equal(gs_busy_ns(&b), 3 * (uint64_t)SPANS);
    assert_true(b.recent.n < 10000);
    gs_rangeset_free(&b.recent);
}

/* A span that began long before others that have been told of counts from where these are no longer told apart. */
static void a_span_that_began_long_before(void **state)
{
    struct gs_busy b = {0};
    for (uint64_t i = 0; i < 100000; i++)
        gs_busy_add(&b, i * 10, i * 10 + 5);
    gs_busy_add(&b, 0, 1000000);
    assert_true(gs_busy_ns(&b) <= 1000000);
    assert_true(gs_busy_ns(&b) >= 500000);
    gs_rangeset_free(&b.recent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_spans), cmocka_unit_test(a_million_spans),
                                       cmocka_unit_test(a_span_that_began_long_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
