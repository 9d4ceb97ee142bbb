/* SPDX-License-Identifier: MIT */
/* Which short commands share a unit of the daemon's: those that are known to be short, until the unit is long enough.
 */
#include "tests/suite.h"
#include "shim/schedule/dispatch.h"

enum { US = 1000 };

/* 0: none. */
static struct gs_size *of(unsigned number)
{
    static struct gs_size sizes[64];
    sizes[number].program = 1;
    return number ? &sizes[number] : NULL;
}

static unsigned fill(struct gs_batch *b, unsigned size)
{
    unsigned n = 0;
    bool full;
    while (gs_batch_add(b, of(size), GS_BATCH_NS, &full))
        n++;
    return n;
}

static bool added(struct gs_batch *b, unsigned size)
{
    bool full;
    return gs_batch_add(b, of(size), GS_BATCH_NS, &full);
}

/* A unit of one command that took so long. */
static void seen(unsigned size, uint64_t ns)
{
    struct gs_batch b = {0};
    assert_true(added(&b, size));
    gs_batch_learn(&b, ns);
}

static void unknown_ones_stay_alone(void **state)
{
    struct gs_batch b = {0};
    assert_int_equal(fill(&b, 11), 1);
    seen(12, 10 * US);
    assert_false(added(&b, 12)); /* nor does a known one join an unknown one */
    b = (struct gs_batch){0};
    assert_int_equal(fill(&b, 0), 1);
    assert_false(added(&b, 12));
}

/* One record for all sizes that aren't told apart any more says nothing of any. */
static void others_beyond_the_most_stay_alone(void **state)
{
    struct gs_size others = {0};
    for (int i = 0; i < 3; i++) {
        struct gs_batch b = {0};
        bool full = false;
        assert_true(gs_batch_add(&b, &others, GS_BATCH_NS, &full));
        assert_true(full);
        assert_int_equal(b.expected_ns, 0);
        gs_batch_learn(&b, 10 * US);
        gs_chunk_learn(&others, 1, 10, 0, 10 * US);
    }
    assert_int_equal(gs_chunk_factor(&others), 1);
}

static void known_ones_fill_a_unit(void **state)
{
    struct gs_batch b = {0};
    seen(21, 10 * US);
    assert_int_equal(fill(&b, 21), 20); /* 200 us */
    assert_int_equal(b.expected_ns, 200 * US);
    b = (struct gs_batch){0};
    seen(22, 5000 * US);
    assert_int_equal(fill(&b, 22), 1);
    assert_false(added(&b, 21));
}

/* Of units that are enqueued before the first of them has ended each tells of the same mistake. */
static void a_mistake_counts_once(void **state)
{
    enum { OUT = 32, TRUE_NS = 50 * US };
    struct gs_batch b[OUT] = {{0}};
    seen(38, TRUE_NS / 2);
    for (int i = 0; i < OUT; i++)
        assert_true(added(&b[i], 38));
    for (int i = 0; i < OUT; i++)
        gs_batch_learn(&b[i], TRUE_NS);
    b[0] = (struct gs_batch){0};
    assert_int_equal(fill(&b[0], 38), 4); /* of 200 us */
}

/* The first is measured with what it costs to hear of its end; what is expected comes down to the truth in time. */
static void estimates_come_down_and_go_up_at_once(void **state)
{
    enum { TRUE_NS = 4 * US, HEARING_NS = 40 * US };
    seen(31, TRUE_NS + HEARING_NS);
    unsigned n = 0;
    for (int i = 0; i < 12; i++) {
        struct gs_batch b = {0};
        n = fill(&b, 31);
        gs_batch_learn(&b, n * (uint64_t)TRUE_NS + HEARING_NS);
    }
    assert_in_range(n, 35, 50);
    struct gs_batch b = {0};
    n = fill(&b, 31);
    gs_batch_learn(&b, n * (uint64_t)(50 * US));
    b = (struct gs_batch){0};
    assert_in_range(fill(&b, 31), 3, 4);
}

/* The last that fits is known when it is added: nobody has to wait for a next one. */
static void the_last_is_known(void **state)
{
    struct gs_batch b = {0};
    bool full = false;
    assert_true(gs_batch_add(&b, of(35), GS_BATCH_NS, &full));
    assert_true(full); /* unknown */
    b = (struct gs_batch){0};
    assert_true(gs_batch_add(&b, of(0), GS_BATCH_NS, &full));
    assert_true(full);
    seen(36, 30 * US);
    b = (struct gs_batch){0};
    for (int i = 0; i < 6; i++) {
        assert_true(gs_batch_add(&b, of(36), GS_BATCH_NS, &full));
        assert_int_equal(full, i == 5); /* 180 us */
    }
}

/* Where nobody else waits a unit may become longer. */
static void one_that_is_alone_takes_more(void **state)
{
    struct gs_batch b = {0};
    bool full = false;
    seen(37, 30 * US);
    assert_int_equal(fill(&b, 37), 6);
    for (int i = 6; i < 20; i++) {
        assert_true(gs_batch_add(&b, of(37), GS_BATCH_ALONE_NS, &full));
        assert_int_equal(full, i == 19); /* 600 us */
    }
    assert_false(gs_batch_add(&b, of(37), GS_BATCH_NS, &full));
}

static void several_sizes_share_one(void **state)
{
    struct gs_batch b = {0};
    for (unsigned k = 41; k <= 41 + GS_BATCH_SIZES; k++)
        seen(k, 10 * US);
    for (unsigned k = 41; k < 41 + GS_BATCH_SIZES; k++)
        assert_true(added(&b, k));
    assert_false(added(&b, 41 + GS_BATCH_SIZES)); /* more sizes than are kept account of */
    assert_true(added(&b, 41));
    gs_batch_learn(&b, (GS_BATCH_SIZES + 1) * 20 * US); /* twice what was expected, of each */
    b = (struct gs_batch){0};
    assert_int_equal(fill(&b, 43), 10);
}

/* A launch in chunks of which each takes so long by itself, besides what a unit costs. */
static unsigned settle(unsigned size, unsigned groups, uint64_t group_ns, uint64_t unit_ns)
{
    unsigned factor = 0;
    for (int i = 0; i < 20; i++) {
        factor = gs_chunk_factor(of(size));
        const unsigned chunks = (groups + factor - 1) / factor;
        if (chunks > 1)
            gs_chunk_learn(of(size), factor, chunks, 0, groups * group_ns + chunks * unit_ns);
        else
            seen(size, groups * group_ns + unit_ns);
    }
    return factor;
}

static void short_chunks_become_larger(void **state)
{
    assert_int_equal(gs_chunk_factor(of(51)), 1);
    assert_int_equal(settle(51, 1000, 400 * US, 20 * US), 1);
    assert_int_equal(settle(52, 1000, 40 * US, 20 * US), 4);  /* 180 us */
    assert_int_equal(settle(52, 1000, 400 * US, 20 * US), 1); /* it takes longer now */
    assert_true(settle(53, 16, 1 * US, 20 * US) >= 16);       /* all of it */
    /* Those under way when it changes don't count twice. */
    gs_chunk_learn(of(54), 1, 10, 0, 10 * US);
    gs_chunk_learn(of(54), 1, 10, 0, 10 * US);
    assert_int_equal(gs_chunk_factor(of(54)), 256);
    /* Nor do those that have become one chunk, and take longer than a chunk should. */
    struct gs_batch row[6] = {{0}};
    bool full;
    for (unsigned i = 0; i < 6; i++)
        assert_true(gs_batch_add(&row[i], of(54), GS_BATCH_NS, &full));
    for (unsigned i = 0; i < 6; i++)
        gs_batch_learn(&row[i], 700 * US);
    assert_int_equal(gs_chunk_factor(of(54)), 128);
    seen(54, 700 * US);
    assert_int_equal(gs_chunk_factor(of(54)), 64);
    gs_chunk_learn(of(0), 1, 10, 0, 10 * US);
    assert_int_equal(gs_chunk_factor(of(0)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_ones_stay_alone),
        cmocka_unit_test(others_beyond_the_most_stay_alone),
        cmocka_unit_test(known_ones_fill_a_unit),
        cmocka_unit_test(a_mistake_counts_once),
        cmocka_unit_test(estimates_come_down_and_go_up_at_once),
        cmocka_unit_test(the_last_is_known),
        cmocka_unit_test(one_that_is_alone_takes_more),
        cmocka_unit_test(several_sizes_share_one),
        cmocka_unit_test(short_chunks_become_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
