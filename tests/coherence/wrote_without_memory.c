/* SPDX-License-Identifier: MIT */
/* gs_wrote where there is no memory, at each step in turn: what is valid where is as it was, and there is nothing that
 * two places claim alone. Against a byte-by-byte model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_changes_nothing)};
    seed_run(0, NULL, 23);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
