/* SPDX-License-Identifier: MIT */
/* gs_wrote where there is no memory, at each step in turn: what is valid where is as it was, and there is nothing that
 * two places claim alone. Against a byte-by-byte model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "shim/memory/bytes.h"
#include "shim/coherence/coherence.h"

enum { BYTES = 64, PLACES = 3, SETS = PLACES + 2, UNDEFINED = PLACES, SPOILED };

static unsigned countdown; /* this allocation fails; 0: none does */
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);

static bool fails(void)
{
    return countdown && --countdown == 0;
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

/* What the compiler makes of realloc() where there is nothing yet. */
void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

static uint64_t rng_state = 23;

static unsigned rnd(unsigned n)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(rng_state >> 33) % n;
}

static struct gs_context ctx = {.n = PLACES};
static struct gs_replica place[PLACES];
static struct gs_bytes bytes = {.place = place};
static struct gs_mem root = {.o.ctx = &ctx, .root = &root, .size = BYTES, .bytes = &bytes};
static bool model[SETS][BYTES];

static struct gs_rangeset *set_of(unsigned i)
{
    return i == UNDEFINED ? &bytes.undefined : i == SPOILED ? &bytes.spoiled : &place[i].valid;
}

static void look(void)
{
    for (unsigned i = 0; i < SETS; i++)
        for (unsigned b = 0; b < BYTES; b++)
            assert_int_equal(gs_rangeset_contains(set_of(i), (struct gs_range){b, b + 1}), model[i][b]);
}

static void wrote(unsigned at, const bool *written)
{
    for (unsigned i = 0; i < SETS; i++)
        for (unsigned b = 0; b < BYTES; b++)
            if (written[b])
                model[i][b] = i == at;
}

static void random_set(struct gs_rangeset *s, bool *in)
{
    memset(in, 0, BYTES * sizeof *in);
    for (unsigned n = 1 + rnd(4); n--;) {
        const unsigned begin = rnd(BYTES), end = begin + 1 + rnd(BYTES - begin);
        assert_int_equal(gs_rangeset_add(s, (struct gs_range){begin, end}), 0);
        memset(in + begin, true, end - begin);
    }
}

static void no_memory_changes_nothing(void **state)
{
    unsigned failed = 0;
    (void)state;
    assert_int_equal(gs_bytes_init(&root, false), 0);
    memset(model[0], true, sizeof model[0]);
    memset(model[UNDEFINED], true, sizeof model[UNDEFINED]);
    for (unsigned i = 0; i < 5000; i++) {
        struct gs_rangeset what = {0};
        bool in[BYTES];
        const unsigned at = rnd(PLACES);
        random_set(&what, in);
        if (rnd(3) == 0) { /* others get bytes, or some are spoiled */
            const unsigned other = rnd(2) ? rnd(PLACES) : SPOILED;
            assert_int_equal(gs_rangeset_add_set(set_of(other), &what), 0);
            for (unsigned b = 0; b < BYTES; b++)
                model[other][b] |= in[b];
        } else {
            countdown = rnd(6);
            const int err = gs_wrote(&root, at, &what);
            countdown = 0;
            if (!err)
                wrote(at, in);
            assert_true(err == 0 || err == -ENOMEM);
            failed += err != 0;
        }
        look();
        gs_rangeset_free(&what);
    }
    assert_true(failed > 500);
    for (unsigned i = 0; i < SETS; i++)
        gs_rangeset_free(set_of(i));
}

enum { ROWS = 200, ROW = 100, BORDER = 4, SIZE = ROWS * ROW };

/* All rows from `first` on, without their borders. */
static struct gs_rangeset rows_from(unsigned first, unsigned n)
{
    struct gs_rangeset s = {0};
    for (uint64_t y = first; y < first + n; y++)
        assert_int_equal(gs_rangeset_add(&s, (struct gs_range){y * ROW + BORDER, (y + 1) * ROW - BORDER}), 0);
    return s;
}

static void begin_picture(void)
{
    memset(place, 0, sizeof place);
    bytes = (struct gs_bytes){.place = place};
    root.size = SIZE;
    assert_int_equal(gs_bytes_init(&root, true), 0);
}

static void end_picture(struct gs_rangeset *halves)
{
    for (unsigned i = 0; i < SETS; i++)
        gs_rangeset_free(set_of(i));
    for (unsigned i = 0; i < 2; i++)
        gs_rangeset_free(&halves[i]);
    root.size = BYTES;
}

/* Two devices write the halves of a picture but for its border. Bytes of the border that the writer of a half doesn't
 * have stay where they are; those that it has too needn't stay in pieces elsewhere, but for what is only on its way. */
static void borders_leave_no_crumbs(void **state)
{
    const struct gs_range lower = {SIZE / 2, SIZE};
    (void)state;
    for (unsigned has = 0; has < 3; has++) { /* nothing of the border; all; all, once a transfer has ended */
        struct gs_rangeset half[2] = {rows_from(0, ROWS / 2), rows_from(ROWS / 2, ROWS / 2)};
        begin_picture();
        struct gs_pending coming = {0};
        assert_int_equal(gs_rangeset_add(&coming.brings, lower), 0);
        if (has)
            assert_int_equal(gs_rangeset_add(&place[1].valid, lower), 0);
        place[1].pending = &coming;
        place[1].n_pending = has == 2;
        assert_int_equal(gs_wrote(&root, 0, &half[0]), 0);
        assert_int_equal(gs_wrote(&root, 1, &half[1]), 0);
        assert_true(has == 1 ? place[0].valid.n < 4 : place[0].valid.n > ROWS / 2 - 4);
        for (uint64_t b = 0; b < SIZE; b++) {
            const struct gs_range r = {b, b + 1};
            const bool border = b % ROW < BORDER || b % ROW >= ROW - BORDER, is_lower = b >= SIZE / 2;
            const bool home = gs_rangeset_contains(&place[0].valid, r),
                       other = gs_rangeset_contains(&place[1].valid, r);
            assert_true(home || other);
            assert_true(border || home == !is_lower);
            assert_int_equal(other, is_lower && (has || !border));
        }
        gs_rangeset_free(&coming.brings);
        end_picture(half);
    }
}

/* What comes again changes nothing, and counts all the same; but not once anything has happened to the bytes. */
static void what_comes_again_is_known(void **state)
{
    static const unsigned at[2] = {0, 1};
    struct gs_rangeset half[2] = {rows_from(0, ROWS / 2), rows_from(ROWS / 2, ROWS / 2)};
    const struct gs_range inside = {SIZE - 2 * ROW + BORDER, SIZE - 2 * ROW + BORDER + 8};
    const uint64_t each = gs_rangeset_bytes(&half[0]);
    (void)state;
    begin_picture();
    root.traffic.made = root.traffic.left = 0;
    for (unsigned i = 1; i <= 8; i++) {
        assert_int_equal(gs_wrote_by_parts(&root, at, half, 2, i == 7 ? 8 : 7), 0);
        assert_false(gs_rangeset_touches(&place[0].valid, inside));
        assert_true(gs_rangeset_contains(&place[1].valid, inside));
        assert_false(gs_rangeset_touches(&bytes.spoiled, inside));
        assert_int_equal(root.traffic.made, i * 2 * each);
        assert_int_equal(root.traffic.left, i * each);
        if (i == 2)
            assert_int_equal(gs_wrote_range(&root, 0, inside), 0);
        if (i == 3)
            gs_spoil(&root, inside);
        if (i == 4)
            assert_int_equal(gs_invalidate(&root, inside), 0);
    }
    end_picture(half);
}

/* What goes to another place beside a call that writes at home is home's again once the call ends. */
static void a_write_under_way_keeps_its_bytes(void **state)
{
    const struct gs_range lower = {SIZE / 2, SIZE}, gap = {SIZE - ROW - BORDER, SIZE - ROW + BORDER};
    struct gs_rangeset half[2] = {rows_from(0, ROWS / 2), rows_from(ROWS / 2, ROWS / 2)};
    (void)state;
    begin_picture();
    root.host_writes = 1;
    gs_note_write(&root, 0, gap);
    assert_int_equal(gs_rangeset_add(&place[1].valid, lower), 0); /* gaps go along */
    assert_int_equal(gs_wrote(&root, 1, &half[1]), 0);
    root.host_writes = 0;
    gs_note_write_again(&root, gap);
    assert_true(gs_rangeset_contains(&place[0].valid, gap));
    assert_false(gs_rangeset_touches(&place[1].valid, gap));
    end_picture(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_changes_nothing), cmocka_unit_test(borders_leave_no_crumbs),
        cmocka_unit_test(what_comes_again_is_known), cmocka_unit_test(a_write_under_way_keeps_its_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
