/* SPDX-License-Identifier: MIT */
/* What travels as one of random sets of bytes: everything that was asked for, once, and besides nothing but what the
 * source holds; and bands of columns in one piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "common/rects.h"

enum { BYTES = 1 << 20 };

static void add(struct gs_rangeset *s, uint64_t begin, uint64_t end)
{
    assert_int_equal(gs_rangeset_add(s, (struct gs_range){begin, end}), 0);
}

/* Rows of a picture that lies somewhere in the buffer, some of them cut off. */
static void add_band(struct gs_rangeset *s)
{
    const uint64_t pitch = 2 + rnd(20000), width = 1 + rnd((unsigned)pitch - 1), rows = 1 + rnd(40);
    const uint64_t first = rnd(BYTES / 2), end = rnd(4) ? BYTES : first + rnd(BYTES / 2);
    for (uint64_t i = 0; i < rows && first + i * pitch + width <= end; i++)
        add(s, first + i * pitch, first + i * pitch + width);
}

static void draw_set(struct gs_rangeset *s)
{
    for (unsigned bands = 1 + rnd(3); bands; bands--)
        add_band(s);
    for (unsigned more = rnd(3) * rnd(20); more; more--) {
        const uint64_t begin = rnd(BYTES - 2000);
        add(s, begin, begin + 1 + rnd(2000));
    }
}

static void random_sets(void **state)
{
    for (int round = 0; round < 2000; round++) {
        struct gs_rangeset wanted = {0}, held = {0}, sent = {0};
        const bool all = rnd(3) == 0;
        uint64_t bytes = 0, n = 0;
        draw_set(&wanted);
        draw_set(&held);
        assert_int_equal(gs_rangeset_add_set(&held, &wanted), 0);
        for (size_t i = 0; i < wanted.n; n++) {
            const size_t before = i;
            const struct gs_rect r = gs_rect_next(&wanted, &i, all ? NULL : &held);
            assert_true(i > before);
            assert_true(r.rows && r.width && (r.rows == 1 || r.pitch > r.width));
            for (uint64_t row = 0; row < r.rows; row++)
                add(&sent, gs_rect_row(&r, row).begin, gs_rect_row(&r, row).end);
            bytes += gs_rect_bytes(&r);
            assert_int_equal(gs_rect_hull(&r).end, gs_rect_row(&r, r.rows - 1).end);
        }
        assert_int_equal(n, gs_rect_count(&wanted, all ? NULL : &held));
        assert_true(gs_rangeset_contains_set(&sent, &wanted));
        assert_int_equal(bytes, gs_rangeset_bytes(&sent)); /* nothing twice */
        assert_true(all || gs_rangeset_contains_set(&held, &sent));
        gs_rangeset_free(&wanted);
        gs_rangeset_free(&held);
        gs_rangeset_free(&sent);
    }
}

/* Whatever part of a set travels stays within what the set can reach. */
static void parts_of_sets(void **state)
{
    for (int round = 0; round < 2000; round++) {
        struct gs_rangeset whole = {0}, part = {0}, reach = {0}, left_out = {0};
        draw_set(&whole);
        draw_set(&left_out);
        assert_int_equal(gs_rangeset_rest(&whole, &left_out, &part), 0);
        assert_int_equal(gs_rect_reach(&whole, &reach), 0);
        assert_true(gs_rangeset_contains_set(&reach, &whole));
        for (size_t i = 0; i < part.n;) {
            const struct gs_rect r = gs_rect_next(&part, &i, NULL);
            for (uint64_t row = 0; row < r.rows; row++)
                assert_true(gs_rangeset_contains(&reach, gs_rect_row(&r, row)));
        }
        gs_rangeset_free(&whole);
        gs_rangeset_free(&part);
        gs_rangeset_free(&reach);
        gs_rangeset_free(&left_out);
    }
}

/* A band, of which the source holds nothing else, or everything. */
static struct gs_rect band(uint64_t width, uint64_t pitch, uint64_t rows, bool holds_all, uint64_t *n)
{
    struct gs_rangeset s = {0};
    size_t i = 0;
    for (uint64_t row = 0; row < rows; row++)
        add(&s, 100 + row * pitch, 100 + row * pitch + width);
    const struct gs_rect r = gs_rect_next(&s, &i, holds_all ? NULL : &s);
    *n = gs_rect_count(&s, holds_all ? NULL : &s);
    gs_rangeset_free(&s);
    return r;
}

static void bands(void **state)
{
    uint64_t n;
    struct gs_rect r = band(13000, 27000, 6889, false, &n);
    assert_int_equal(n, 1);
    assert_int_equal(r.rows, 6889);
    /* Half of all that the source holds: not the other half as well. */
    r = band(13000, 27000, 6889, true, &n);
    assert_int_equal(n, 1);
    assert_int_equal(r.rows, 6889);
    /* But a narrow gap, or few bytes. */
    r = band(26000, 27000, 6889, true, &n);
    assert_int_equal(r.rows, 1);
    assert_int_equal(r.width, 6888 * 27000 + 26000);
    r = band(4, 64, 500, true, &n);
    assert_int_equal(r.rows, 1);
    r = band(26000, 27000, 6889, false, &n);
    assert_int_equal(n, 1);
    assert_int_equal(r.rows, 6889);
    /* Few rows, and wide ones, go by themselves. */
    band(13000, 270000, 3, true, &n);
    assert_int_equal(n, 3);
    band(2 << 20, 4 << 20, 10, true, &n);
    assert_int_equal(n, 10);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_sets), cmocka_unit_test(parts_of_sets),
                                       cmocka_unit_test(bands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
