/* SPDX-License-Identifier: MIT */
/* Execution-vector statistics: the paper's worked example, a naive oracle, and many vectors in little memory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/suite.h"
#include "scheduler/probes/illcond.h"
#include "scheduler/probes/vecstat.h"

/* Section IV-A: {x, y, z, w, x, x, y, x, z, t} has a predictability of 40 %. */
static void worked_example(void **state)
{
    struct gs_vecstat *s = gs_vecstat_new(0);
    for (const char *c = "xyzwxxyxzt"; *c; c++) {
        uint32_t v[3] = {(uint32_t)*c, 1, 2};
        assert_int_equal(gs_vecstat_add(s, v, 3), 0);
    }
    struct gs_vecstat_summary r = gs_vecstat_summarise(s);
    assert_true(r.exact && r.vectors == 10 && r.mode_count == 4 && r.mode == 0.4 && r.cardinality == 5);
    double entropy = -(0.4 * log2(0.4) + 2 * 0.2 * log2(0.2) + 2 * 0.1 * log2(0.1));
    assert_true(fabs(r.entropy_bits - entropy) < 1e-12);
    gs_vecstat_free(s);
}

static void empty_and_constant(void **state)
{
    struct gs_vecstat *s = gs_vecstat_new(0);
    struct gs_vecstat_summary r = gs_vecstat_summarise(s);
    assert_true(r.vectors == 0 && r.mode == 0 && r.cardinality == 0 && r.entropy_bits == 0);
    for (int i = 0; i < 1000; i++)
        gs_vecstat_add(s, (uint32_t[]){0}, 1);
    r = gs_vecstat_summarise(s);
    assert_true(r.mode == 1 && r.cardinality == 1 && r.entropy_bits == 0);
    gs_vecstat_free(s);
}

/* Vectors of 4 values of 0 to 5, with an oracle that counts all 1296 of them. */
static void against_counts(void **state)
{
    uint64_t rng = 99;
    for (int round = 0; round < 30; round++) {
        static unsigned count[1296];
        struct gs_vecstat *s = gs_vecstat_new(0);
        unsigned n = 1 + (unsigned)(gs_probe_random(&rng) % 5000), mode = 0, distinct = 0;
        unsigned range = 1 + (unsigned)(gs_probe_random(&rng) % 6);
        double entropy = 0;
        memset(count, 0, sizeof(count));
        for (unsigned i = 0; i < n; i++) {
            uint32_t v[4], code = 0;
            for (int k = 0; k < 4; k++) {
                v[k] = (uint32_t)(gs_probe_random(&rng) >> 33) % range;
                code = 6 * code + v[k];
            }
            count[code]++;
            assert_int_equal(gs_vecstat_add(s, v, 4), 0);
        }
        for (int i = 0; i < 1296; i++) {
            mode = count[i] > mode ? count[i] : mode;
            distinct += count[i] > 0;
            entropy -= count[i] ? (double)count[i] / n * log2((double)count[i] / n) : 0;
        }
        struct gs_vecstat_summary r = gs_vecstat_summarise(s);
        assert_true(r.exact);
        assert_int_equal(r.mode_count, mode);
        assert_int_equal((unsigned)r.cardinality, distinct);
        assert_true(fabs(r.entropy_bits - entropy) < 1e-9);
        gs_vecstat_free(s);
    }
}

static void ranks_with_ties(void **state)
{
    uint32_t ranks[6], order[6];
    gs_vecstat_ranks((uint64_t[]){50, 10, 50, 7, UINT64_MAX, 10}, 6, ranks, order);
    const uint32_t expected[] = {2, 1, 2, 0, 3, 1};
    assert_memory_equal(ranks, expected, sizeof(expected));
    uint64_t rng = 5;
    for (int round = 0; round < 300; round++) {
        uint64_t t[200];
        uint32_t r[200], o[200];
        size_t n = 1 + (size_t)(gs_probe_random(&rng) % 200);
        for (size_t i = 0; i < n; i++)
            t[i] = gs_probe_random(&rng) % 50;
        gs_vecstat_ranks(t, n, r, o);
        for (size_t i = 0; i < n; i++) {
            bool seen[50] = {false};
            uint32_t below = 0;
            for (size_t j = 0; j < n; j++)
                if (t[j] < t[i] && !seen[t[j]]) {
                    seen[t[j]] = true;
                    below++;
                }
            assert_int_equal(r[i], below);
        }
    }
}

/* 10^7 vectors, most of them different, one in ten the same: the memory stays within 128 MiB and the answers hold. */
static void ten_million(void **state)
{
    enum { N = 10000000, FREQUENT = 10 };
    struct gs_vecstat *s = gs_vecstat_new((size_t)1 << 20);
    uint64_t rng = 3;
    for (unsigned i = 0; i < N; i++) {
        uint32_t v[3] = {0, 0, 0};
        if (i % FREQUENT) {
            v[1] = (uint32_t)gs_probe_random(&rng);
            v[2] = i;
        }
        assert_int_equal(gs_vecstat_add(s, v, 3), 0);
    }
    struct gs_vecstat_summary r = gs_vecstat_summarise(s);
    double distinct = N - N / FREQUENT + 1;
    assert_false(r.exact);
    assert_true(r.mode_count <= N / FREQUENT && r.mode_count_most >= N / FREQUENT);
    assert_true(r.mode_count_most - r.mode_count <= N >> 20);
    assert_true(fabs(r.cardinality / distinct - 1) < 0.03);
    assert_true(isnan(r.entropy_bits));
    gs_vecstat_free(s);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#ifndef __SANITIZE_ADDRESS__
    assert_true(usage.ru_maxrss < 128 * 1024);
#endif
}

static void saved_and_loaded(void **state)
{
    struct gs_vecstat *a = gs_vecstat_new(3000), *b = NULL;
    for (uint32_t i = 0; i < 2500; i++)
        gs_vecstat_add(a, (uint32_t[]){i * i % 2000, i % 3}, 2);
    FILE *f = tmpfile();
    assert_int_equal(gs_vecstat_save(a, f), 0);
    rewind(f);
    assert_int_equal(gs_vecstat_load(&b, f), 0);
    for (uint32_t i = 0; i < 4000; i++) {
        gs_vecstat_add(a, (uint32_t[]){i, 7}, 2);
        gs_vecstat_add(b, (uint32_t[]){i, 7}, 2);
    }
    struct gs_vecstat_summary x = gs_vecstat_summarise(a), y = gs_vecstat_summarise(b);
    assert_true(x.vectors == y.vectors && x.mode_count == y.mode_count && x.cardinality == y.cardinality);
    assert_int_equal(x.exact, y.exact);
    gs_vecstat_free(a);
    gs_vecstat_free(b);
    rewind(f);
    assert_int_equal(fputc('x', f), 'x');
    rewind(f);
    assert_int_equal(gs_vecstat_load(&b, f), -EINVAL);
    assert_int_equal(ftruncate(fileno(f), 1000), 0);
    rewind(f);
    assert_int_equal(fputc('g', f), 'g');
    rewind(f);
    assert_int_equal(gs_vecstat_load(&b, f), -EINVAL);
    fclose(f);
}

static void numbers_of_orders(void **state)
{
    const uint64_t bell[] = {1, 1, 3, 13, 75, 541, 4683, 47293, 545835, 7087261, 102247563};
    for (unsigned p = 0; p <= 10; p++)
        assert_int_equal(gs_vecstat_weak_orders(p), bell[p]);
    assert_int_equal(gs_vecstat_orders(10), 3628800);
    assert_int_equal(gs_vecstat_orders(20), UINT64_C(2432902008176640000));
    assert_int_equal(gs_vecstat_orders(21), 0);
    unsigned last = 1;
    while (gs_vecstat_weak_orders(last + 1))
        last++;
    assert_true(last >= 16);
    double step = gs_vecstat_log10_weak_orders(last + 1) - gs_vecstat_log10_weak_orders(last);
    assert_true(fabs(step - log10((last + 1) / log(2))) < 1e-9); /* exact and asymptotic meet */
    assert_true(fabs(gs_vecstat_log10_orders(10) - log10(3628800)) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),    cmocka_unit_test(empty_and_constant), cmocka_unit_test(against_counts),
        cmocka_unit_test(ranks_with_ties),   cmocka_unit_test(ten_million),        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(numbers_of_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
