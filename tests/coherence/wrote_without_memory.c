/* SPDX-License-Identifier: MIT */
/* Writes where there is no memory to note them, at each step in turn. gs_wrote: what is valid where is as it was, and
 * there is nothing that two places claim alone; against a byte-by-byte model. gs_note_write: who reads such bytes gets
 * an error, never older ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "shim/memory/bytes.h"
#include "shim/coherence/coherence.h"
#include "shim/transfer/transfer.h"

enum { BYTES = 64, PLACES = 3, SETS = PLACES + 2, UNDEFINED = PLACES, SPOILED };

static unsigned countdown; /* this allocation fails; 0: none does */
static bool ever_after;    /* so do all behind it */
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);

static bool fails(void)
{
    return countdown && --countdown == 0 && (!ever_after || (countdown = 1));
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

/* ---- what a read asks of other rooms, whose work is nothing here ---- */

static bool sent; /* bytes that another place holds have been asked for */

cl_int gs_transfer(struct gs_command *cmd, struct gs_mem *m, struct gs_sends *sends)
{
    sent = true;
    return CL_SUCCESS;
}

int gs_sends_add(struct gs_sends *sends, const struct gs_send *send)
{
    sends->n++;
    return 0;
}

void gs_sends_free(struct gs_sends *sends)
{
}

cl_int gs_make_room(struct gs_command *cmd, struct gs_mem *m, const struct gs_need *w)
{
    return CL_SUCCESS;
}

cl_int gs_command_order(struct gs_command *cmd)
{
    return CL_SUCCESS;
}

/* Never asked here: the driver, and ends of launches. */
struct _cl_icd_dispatch gs_real_table;
atomic_bool gs_real_ready;

void gs_real_load(void)
{
}

void gs_compound_look(struct gs_context *c, struct gs_queue *only)
{
}

cl_int gs_compound_await(struct gs_context *c, struct gs_events *to)
{
    return CL_SUCCESS;
}

/* A launch on device 1 writes some bytes; home is asked for one of them. */
static void read_after_write(unsigned fails_at)
{
    const struct gs_range written = {rnd(BYTES / 2), BYTES / 2 + 1 + rnd(BYTES / 2)};
    const uint64_t at = written.begin + rnd((unsigned)(written.end - written.begin));
    struct gs_command cmd = {.ctx = &ctx};
    struct gs_events done = {0};
    bytes = (struct gs_bytes){.place = place};
    memset(place, 0, sizeof place);
    assert_int_equal(gs_bytes_init(&root, true), 0);
    countdown = fails_at;
    gs_note_write(&root, 1, written);
    countdown = 0;
    const bool noted = gs_rangeset_contains(&place[1].valid, written);
    sent = false;
    const cl_int err = gs_require_home(&cmd, &root, (struct gs_range){at, at + 1}, &done);
    assert_int_equal(err, noted ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
    assert_int_equal(sent, noted);
}

static void no_memory_is_an_error(void **state)
{
    unsigned lost = 0, spoiled = 0;
    for (unsigned i = 0; i < 400; i++) {
        ever_after = i % 2;
        read_after_write(i % 10 / 2);
        lost += bytes.lost;
        spoiled += bytes.spoiled.n > 0;
        for (unsigned k = 0; k < SETS; k++)
            gs_rangeset_free(set_of(k));
    }
    assert_true(lost > 50 && spoiled > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_changes_nothing),
                                       cmocka_unit_test(no_memory_is_an_error)};
    seed_run(0, NULL, 23);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
