/* SPDX-License-Identifier: MIT */
/* What auto mode keeps on disk: it comes back as it was, is bounded, and of a damaged file nothing is believed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "shim/choose/learnt.h"

static uint64_t rng_state;

static uint64_t rnd(uint64_t n)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (rng_state >> 20) % n;
}

static struct gs_history some_history(unsigned i)
{
    struct gs_history h;
    gs_history_init(&h);
    h.launches = 20 + i;
    h.bound_ns = 60000000;
    gs_measured_add(&h.single, 57000000);
    for (int n = 0; n < 2; n++)
        gs_measured_add(&h.split, 29000000);
    h.scatter_again = (struct gs_again){true, {1234, 5, 5}};
    h.return_rate = 0.25;
    h.failures = 1;
    gs_stretch_load(&h.together, 123456789 + i);
    h.balance = (struct gs_balance){.n = 2, .dim = 0, .cut = {0.421875, 1}, .moves = 3, .settled = true};
    return h;
}

static struct gs_learnt_kernel some_kernel(unsigned i)
{
    struct gs_learnt_kernel k = {.program = 0xfedcba9876543210u + i, .size = {1 << 20, 64, 1, 64, 1, 0}, .n = 2};
    snprintf(k.name, sizeof k.name, "kernel_%u", i);
    k.prepare_ns = 125000000;
    const struct gs_history h = some_history(i);
    gs_learnt_keep(&k, &h);
    return k;
}

static void fill(struct gs_learnt *l, unsigned n)
{
    *l = (struct gs_learnt){.machine = {.link = {{4e4, 0.05}, {2e4, 0.004}},
                                        .split_ns = 12e4,
                                        .first_ns = 15e5,
                                        .read_ns = {{0.024, 0.022}, {0.02, 0.0125}}}};
    for (unsigned i = 0; i < n; i++) {
        const struct gs_learnt_kernel k = some_kernel(i);
        assert_int_equal(gs_learnt_add(l, &k), 0);
    }
}

static void what_was_kept_comes_back(void **state)
{
    struct gs_learnt l, back;
    size_t bytes;
    fill(&l, 3);
    char *text = gs_learnt_print(&l, &bytes);
    assert_non_null(text);
    assert_int_equal(gs_learnt_parse(&back, text, bytes), 0);
    assert_int_equal(back.n, 3);
    assert_true(back.machine.split_ns == 12e4 && back.machine.link[1].piece_ns == 2e4);
    assert_true(back.machine.link[0].byte_ns > 0.0499 && back.machine.link[0].byte_ns < 0.0501);
    assert_true(back.machine.read_ns[0][0] == 0.024 && back.machine.read_ns[0][1] == 0.022);
    assert_true(back.machine.read_ns[1][0] == 0.02 && back.machine.read_ns[1][1] == 0.0125);
    for (unsigned i = 0; i < 3; i++) {
        struct gs_history h;
        assert_memory_equal(&back.v[i], &l.v[i], sizeof *l.v);
        gs_learnt_begin(&back.v[i], &h);
        assert_int_equal(h.expected, 20 + i);
        assert_int_equal(h.launches, 0);
        assert_int_equal(gs_measured_best(&h.single), 57000000);
        assert_int_equal(gs_measured_best(&h.split), 29000000);
        assert_int_equal(h.bound_ns, 60000000);
        assert_true(h.scatter_again.known && !h.gather_again.known && h.return_rate == 0.25);
        assert_int_equal(h.balance.n, 2);
        assert_true(h.balance.cut[0] == 0.421875 && h.balance.cut[1] == 1);
        assert_true(h.balance.settled);
        assert_int_equal(h.balance.measured, 0);
        assert_int_equal(back.v[i].prepare_ns, 125000000);
        assert_true(h.retry_at > 0);
        assert_true(h.scatter_again.move.bytes == 1234 && h.scatter_again.move.pieces == 5);
    }
    free(text);
    gs_learnt_free(&l);
    gs_learnt_free(&back);
}

/* The first split that was measured may have been a bad one. */
static void a_single_try_is_not_kept(void **state)
{
    struct gs_learnt l, back;
    struct gs_learnt_kernel k = some_kernel(0);
    struct gs_history h = some_history(0);
    size_t bytes;
    fill(&l, 0);
    h.split = (struct gs_measured){0};
    gs_measured_add(&h.split, 99000000);
    gs_learnt_keep(&k, &h);
    assert_int_equal(gs_learnt_add(&l, &k), 0);
    char *text = gs_learnt_print(&l, &bytes);
    assert_int_equal(gs_learnt_parse(&back, text, bytes), 0);
    gs_learnt_begin(&back.v[0], &h);
    assert_int_equal(h.split.n, 0);
    free(text);
    gs_learnt_free(&l);
    gs_learnt_free(&back);
}

static void a_damaged_file_is_ignored(void **state)
{
    struct gs_learnt l, back;
    size_t bytes;
    fill(&l, 5);
    char *text = gs_learnt_print(&l, &bytes);
    for (size_t cut = 0; cut < bytes; cut++) {
        assert_int_equal(gs_learnt_parse(&back, text, cut), -EBADMSG);
        assert_int_equal(back.n, 0);
    }
    for (int round = 0; round < 3000; round++) {
        const size_t at = rnd(bytes);
        const char was = text[at];
        text[at] = (char)(was + 1 + (char)rnd(250));
        if (text[at] != was)
            assert_int_equal(gs_learnt_parse(&back, text, bytes), -EBADMSG);
        gs_learnt_free(&back);
        text[at] = was;
    }
    assert_int_equal(gs_learnt_parse(&back, text, bytes), 0);
    free(text);
    gs_learnt_free(&l);
    gs_learnt_free(&back);
}

/* A whole file with nonsense in it, by another version or by hand: believed in nothing that could do harm. */
static void nonsense_is_refused(void **state)
{
    struct gs_learnt l, back;
    size_t bytes;
    for (int what = 0; what < 5; what++) {
        fill(&l, 1);
        if (what == 0)
            l.v[0].n = 99;
        if (what == 1)
            l.v[0].cut[0] = 0;
        if (what == 2)
            l.v[0].cut[0] = 1.5;
        if (what == 3)
            l.v[0].name[0] = '\0';
        if (what == 4)
            l.machine.split_ns = 0;
        char *text = gs_learnt_print(&l, &bytes);
        assert_int_equal(gs_learnt_parse(&back, text, bytes), -EBADMSG);
        free(text);
        gs_learnt_free(&l);
    }
}

static void it_does_not_grow_beyond_its_bound(void **state)
{
    struct gs_learnt l;
    size_t bytes;
    fill(&l, GS_LEARNT_MOST + 500);
    assert_int_equal(l.n, GS_LEARNT_MOST);
    assert_string_equal(l.v[0].name, "kernel_0");
    free(gs_learnt_print(&l, &bytes));
    assert_true(bytes < 1024 * 1024);
    gs_learnt_free(&l);
}

static void short_kernels_are_not_kept(void **state)
{
    struct gs_learnt l;
    fill(&l, 0);
    struct gs_history h = some_history(0);
    assert_true(gs_learnt_may_gain(&h, &l.machine, 2));
    gs_history_init(&h);
    assert_false(gs_learnt_may_gain(&h, &l.machine, 2));
    gs_measured_add(&h.single, 5000);
    assert_false(gs_learnt_may_gain(&h, &l.machine, 2));
}

int main(int argc, char **argv)
{
    rng_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261121;
    printf("seed %llu\n", (unsigned long long)rng_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_comes_back),          cmocka_unit_test(a_single_try_is_not_kept),
        cmocka_unit_test(a_damaged_file_is_ignored),         cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(it_does_not_grow_beyond_its_bound), cmocka_unit_test(short_kernels_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
