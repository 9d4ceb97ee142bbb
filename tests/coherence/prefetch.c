/* SPDX-License-Identifier: MIT */
/* What is expected to be fetched next: what recurs, one iteration or several in turn, and nothing else. */
#include <stdlib.h>

#include "tests/suite.h"
#include "shim/coherence/prefetch.h"

enum { PLACES = 2, SIZE = 1000 };

/* An iteration in which place 1 needs bytes from `begin` on, and 0 nothing. What was brought is there. `expected`:
 * bytes are said to come in the next one, from that one on; -1: none. */
static uint64_t there; /* brought for place 1: the bytes from here on; SIZE: none */
static void iteration_of(struct gs_prefetch *p, uint64_t begin, int64_t expected)
{
    struct gs_range r = {begin, begin + 10};
    const struct gs_rangeset need = {.v = &r, .n = begin < SIZE}, nothing = {0};
    gs_prefetch_note(p, 1, &need, begin == there ? &nothing : &need);
    const struct gs_rangeset *next = gs_prefetch_next(p);
    assert_int_equal(next != NULL, expected >= 0);
    there = next ? next[1].v[0].begin : SIZE;
    if (next) {
        assert_int_equal(next[0].n, 0);
        assert_int_equal(next[1].n, 1);
        assert_int_equal(next[1].v[0].begin, expected);
        assert_int_equal(next[1].v[0].end, expected + 10);
    }
}

static struct gs_prefetch *begin(void)
{
    there = SIZE;
    struct gs_prefetch *p = gs_prefetch_new(PLACES, 100);
    assert_non_null(p);
    return p;
}

static void end(struct gs_prefetch *p)
{
    for (unsigned i = 0; i < GS_PREFETCH_ITERATIONS * PLACES; i++)
        gs_rangeset_free(&p->sets[i]);
    free(p);
}

static void one_iteration_recurs(void **state)
{
    struct gs_prefetch *p = begin();
    iteration_of(p, 20, -1);
    iteration_of(p, 20, -1);
    for (int i = 0; i < 10; i++)
        iteration_of(p, 20, 20);
    end(p);
}

static void two_iterations_recur_in_turn(void **state)
{
    struct gs_prefetch *p = begin();
    iteration_of(p, 20, -1);
    iteration_of(p, 40, -1);
    iteration_of(p, 20, -1);
    for (int i = 0; i < 5; i++) {
        iteration_of(p, 40, 20);
        iteration_of(p, 20, 40);
    }
    end(p);
}

/* An iteration that fetches nothing is one like the others. */
static void nothing_is_fetched_in_between(void **state)
{
    struct gs_prefetch *p = begin();
    iteration_of(p, 20, -1);
    iteration_of(p, SIZE, -1);
    iteration_of(p, 20, -1);
    for (int i = 0; i < 5; i++) {
        iteration_of(p, SIZE, 20);
        iteration_of(p, 20, -1);
    }
    end(p);
}

/* Each time in vain makes twice as many iterations necessary. */
static void what_came_in_vain_is_brought_later(void **state)
{
    struct gs_prefetch *p = begin();
    for (unsigned vain = 0; vain < 5; vain++) {
        iteration_of(p, 20, -1);
        for (unsigned i = 0; i < 1u << vain; i++)
            iteration_of(p, 20, -1);
        iteration_of(p, 20, 20);
        iteration_of(p, 60 + vain * 20, -1);
        iteration_of(p, 70 + vain * 20, -1);
        iteration_of(p, 80 + vain * 20, -1);
        iteration_of(p, 90 + vain * 20, -1);
    }
    end(p);
}

static void much_is_not_brought(void **state)
{
    struct gs_prefetch *p = begin();
    struct gs_range r = {0, 101};
    for (int i = 0; i < 5; i++) {
        gs_prefetch_note(p, 0, &GS_ONE_RANGE(r), &GS_ONE_RANGE(r));
        assert_null(gs_prefetch_next(p));
    }
    iteration_of(p, 20, -1);
    iteration_of(p, 20, -1);
    iteration_of(p, 20, 20);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_iteration_recurs),          cmocka_unit_test(two_iterations_recur_in_turn),
        cmocka_unit_test(nothing_is_fetched_in_between), cmocka_unit_test(what_came_in_vain_is_brought_later),
        cmocka_unit_test(much_is_not_brought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
