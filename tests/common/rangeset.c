/* SPDX-License-Identifier: MIT */
/* Random operations on range sets against one bool per byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "common/rangeset.h"

enum { BYTES = 64, SETS = 3 };

static void assert_same(const struct gs_rangeset *s, const bool *oracle)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->n; i++) {
        assert_true(s->v[i].begin < s->v[i].end);
        if (i)
            assert_true(s->v[i - 1].end < s->v[i].begin);
    }
    for (uint64_t b = 0; b < BYTES; b++) {
        count += oracle[b];
        assert_int_equal(gs_rangeset_contains(s, (struct gs_range){b, b + 1}), oracle[b]);
    }
    assert_int_equal(gs_rangeset_bytes(s), count);
}

/* What the set and the oracle say of one range must agree. */
static void assert_queries_agree(const struct gs_rangeset *s, const bool *oracle, struct gs_range r)
{
    bool all = true, any = false, in[BYTES] = {0}, out[BYTES] = {0};
    for (uint64_t b = r.begin; b < r.end; b++) {
        all = all && oracle[b];
        any = any || oracle[b];
        in[b] = oracle[b];
        out[b] = !oracle[b];
    }
    assert_int_equal(gs_rangeset_contains(s, r), all);
    assert_int_equal(gs_rangeset_touches(s, r), any);
    struct gs_rangeset common = {0}, missing = {0};
    assert_int_equal(gs_rangeset_common(s, r, &common), 0);
    assert_int_equal(gs_rangeset_missing(s, r, &missing), 0);
    assert_same(&common, in);
    assert_same(&missing, out);
    gs_rangeset_free(&common);
    gs_rangeset_free(&missing);
}

/* The same of two sets; and which range a byte leads to. */
static void assert_pair_agrees(const struct gs_rangeset *s, const struct gs_rangeset *t, const bool *so, const bool *to)
{
    const struct gs_range hull = gs_rangeset_hull(s, t);
    struct gs_range first_to_last = {0, 0};
    bool all = true, in[BYTES];
    for (unsigned b = 0; b < BYTES; b++) {
        if (so[b] || to[b])
            first_to_last = (struct gs_range){first_to_last.end ? first_to_last.begin : b, b + 1};
        in[b] = so[b] && to[b];
        all = all && (so[b] || !to[b]);
    }
    struct gs_rangeset common = {0};
    assert_int_equal(gs_rangeset_common_set(s, t, &common), 0);
    assert_same(&common, in);
    gs_rangeset_free(&common);
    assert_int_equal(gs_rangeset_contains_set(s, t), all);
    assert_true(hull.begin == first_to_last.begin && hull.end == first_to_last.end);
    for (uint64_t b = 0; b < BYTES; b++) {
        const size_t at = gs_rangeset_find(s, b);
        assert_true(at == s->n || s->v[at].end > b);
        assert_true(at == 0 || s->v[at - 1].end <= b);
    }
}

static void random_operations(void **state)
{
    struct gs_rangeset s[SETS] = {0};
    bool o[SETS][BYTES] = {{0}};
    for (int step = 0; step < 20000; step++) {
        unsigned i = rnd(SETS), j = rnd(SETS), op = rnd(4);
        struct gs_range r = {rnd(BYTES), 0};
        r.end = r.begin + rnd((unsigned)(BYTES - r.begin) + 1);
        bool overlap = false;
        for (unsigned b = 0; b < BYTES; b++) {
            bool in = b >= r.begin && b < r.end;
            overlap = overlap || (o[i][b] && o[j][b]);
            if (op == 0)
                o[i][b] = o[i][b] || in;
            else if (op == 1)
                o[i][b] = o[i][b] && !in;
            else if (op == 2)
                o[i][b] = o[i][b] || o[j][b];
            else if (op == 3 && i != j)
                o[i][b] = o[i][b] && !o[j][b];
        }
        assert_int_equal(gs_rangeset_overlap(&s[i], &s[j]), overlap);
        int err = 0;
        if (op == 0)
            err = gs_rangeset_add(&s[i], r);
        else if (op == 1)
            err = gs_rangeset_remove(&s[i], r);
        else if (op == 2)
            err = gs_rangeset_add_set(&s[i], &s[j]);
        else if (op == 3 && i != j)
            err = gs_rangeset_remove_set(&s[i], &s[j]);
        assert_int_equal(err, 0);
        assert_same(&s[i], o[i]);
        assert_queries_agree(&s[i], o[i], r);
        assert_pair_agrees(&s[i], &s[j], o[i], o[j]);
    }
    for (int i = 0; i < SETS; i++)
        gs_rangeset_free(&s[i]);
}

static void whole_address_space(void **state)
{
    struct gs_rangeset s = {0};
    assert_int_equal(gs_rangeset_add(&s, (struct gs_range){0, UINT64_MAX}), 0);
    assert_int_equal(gs_rangeset_remove(&s, (struct gs_range){5, 6}), 0);
    assert_int_equal(s.n, 2);
    assert_true(gs_rangeset_contains(&s, (struct gs_range){6, UINT64_MAX}));
    assert_int_equal(gs_rangeset_find(&s, 5), 1);
    assert_int_equal(gs_rangeset_find(&s, UINT64_MAX), 2);
    gs_rangeset_free(&s);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_operations), cmocka_unit_test(whole_address_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
