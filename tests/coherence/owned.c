/* SPDX-License-Identifier: MIT */
/* What parts own of random sets against one bool per byte: what each writes, and narrow gaps in that with which no
 * other part has to do, which it needs then. */
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "shim/plan/plan.h"

enum { BYTES = 512, PARTS = 4, DIMENSIONS = 3 };
struct bits {
    bool in[BYTES];
};
static struct bits wrote[PARTS], needs[PARTS], owned[PARTS];

static struct gs_rangeset set_of(const struct bits *b)
{
    struct gs_rangeset s = {0};
    for (uint64_t i = 0; i < BYTES; i++)
        if (b->in[i])
            assert_int_equal(gs_rangeset_add(&s, (struct gs_range){i, i + 1}), 0);
    return s;
}

static void assert_same(const struct gs_rangeset *s, const struct bits *b)
{
    for (uint64_t i = 0; i < BYTES; i++)
        assert_int_equal(gs_rangeset_contains(s, (struct gs_range){i, i + 1}), b->in[i]);
}

/* How many bytes from `at` on are, or aren't, in the set as the first of them is; 0 behind the last byte. */
static unsigned run_at(const struct bits *b, unsigned at)
{
    unsigned end = at;
    while (end < BYTES && b->in[end] == b->in[at])
        end++;
    return end - at;
}

static bool is_free(unsigned n_parts, unsigned part, unsigned at, unsigned bytes)
{
    for (unsigned q = 0; q < n_parts; q++)
        for (unsigned i = at; i < at + bytes && q != part; i++)
            if (needs[q].in[i] || wrote[q].in[i])
                return false;
    return true;
}

static void close_gaps(unsigned n_parts, unsigned part)
{
    struct bits closed = owned[part];
    unsigned before = 0;
    for (unsigned at = 0, run; at < BYTES; at += run) {
        run = run_at(&owned[part], at);
        if (owned[part].in[at]) {
            before = run;
        } else if (before && 8 * run <= before && 8 * run <= run_at(&owned[part], at + run) &&
                   is_free(n_parts, part, at, run)) {
            memset(closed.in + at, true, run);
            memset(needs[part].in + at, true, run);
        }
    }
    owned[part] = closed;
}

/* Rows of one width and one distance, as of a matrix, in bytes that are no other part's. */
static void draw_rows(struct bits *to, unsigned part)
{
    const unsigned width = 1 + rnd(40), pitch = width + 1 + rnd(rnd(2) ? 4 : 30);
    unsigned at = rnd(BYTES);
    for (unsigned rows = 1 + rnd(12); rows > 0; rows--, at += pitch)
        for (unsigned i = at; i < at + width && i < BYTES; i++) {
            bool taken = false;
            for (unsigned q = 0; q < PARTS && to == &wrote[part]; q++)
                taken = taken || (q != part && wrote[q].in[i]);
            to->in[i] = to->in[i] || !taken;
        }
}

static void random_sets(void **state)
{
    unsigned gaps = 0, kept = 0;
    for (unsigned round = 0; round < 4000; round++) {
        struct gs_use u = {.writes = rnd(8) ? GS_DISJOINT : GS_REDUCED};
        const unsigned n_parts = 1 + rnd(PARTS);
        memset(wrote, 0, sizeof wrote);
        memset(needs, 0, sizeof needs);
        for (unsigned p = 0; p < n_parts; p++) {
            for (unsigned n = 1 + rnd(2); n > 0; n--)
                draw_rows(&wrote[p], p);
            if (rnd(2))
                draw_rows(&needs[p], p);
            u.will_write[p] = set_of(&wrote[p]);
            u.needs[p] = set_of(&needs[p]);
            owned[p] = wrote[p];
        }
        assert_int_equal(gs_plan_own(&u, n_parts, false), 0);
        for (unsigned p = 0; p < n_parts; p++) {
            for (unsigned i = 0; i < DIMENSIONS && u.writes == GS_DISJOINT; i++)
                close_gaps(n_parts, p);
            assert_same(&u.owned[p], &owned[p]);
            assert_same(&u.needs[p], &needs[p]);
            assert_same(&u.will_write[p], &wrote[p]);
            assert_int_equal(u.owned_amount[p].bytes, gs_rangeset_bytes(&u.owned[p]));
            assert_int_equal(u.needed_amount[p].bytes, gs_rangeset_bytes(&u.needs[p]));
            gaps += u.will_write[p].n > u.owned[p].n;
            kept += u.owned[p].n > 1;
        }
        /* No byte has two owners, and what an owner doesn't write it needs. */
        for (unsigned i = 0; i < BYTES; i++) {
            unsigned owners = 0;
            for (unsigned p = 0; p < n_parts; p++) {
                owners += owned[p].in[i];
                assert_true(!owned[p].in[i] || wrote[p].in[i] || needs[p].in[i]);
            }
            assert_true(owners <= 1);
        }
        for (unsigned p = 0; p < n_parts; p++) {
            gs_rangeset_free(&u.will_write[p]);
            gs_rangeset_free(&u.needs[p]);
            gs_rangeset_free(&u.owned[p]);
        }
    }
    printf("%u sets with gaps that were closed, %u with others\n", gaps, kept);
    assert_true(gaps > 500 && kept > 500);
}

/* The inner part of a lattice, cut in two between planes: each half is one range with the lattice's edges. */
static void a_lattice_is_one_range(void **state)
{
    enum { X = 64, Y = 64, Z = 32, ITEM = 4 };
    struct gs_use u = {.writes = GS_DISJOINT};
    for (uint64_t z = 1; z < Z - 1; z++)
        for (uint64_t y = 1; y < Y - 1; y++) {
            const uint64_t row = (z * Y + y) * X;
            assert_int_equal(
                gs_rangeset_add(&u.will_write[z >= Z / 2], (struct gs_range){(row + 1) * ITEM, (row + X - 1) * ITEM}),
                0);
        }
    assert_int_equal(gs_plan_own(&u, 2, false), 0);
    for (unsigned p = 0; p < 2; p++) {
        assert_int_equal(u.will_write[p].n, (Z / 2 - 1) * (Y - 2));
        assert_int_equal(u.owned[p].n, 1);
        assert_int_equal(u.owned_amount[p].rects, 1);
        gs_rangeset_free(&u.will_write[p]);
        gs_rangeset_free(&u.needs[p]);
        gs_rangeset_free(&u.owned[p]);
    }
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 11);
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_sets), cmocka_unit_test(a_lattice_is_one_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
