/* SPDX-License-Identifier: MIT */
/* The exact makespan against a search over the single warps, which knows nothing of counts: all strings up to length 6,
 * W up to 5, every capacity of 1 or 2; and what must hold between the exact value and the bounds. Longer strings at
 * random: the pruned search against the plain dynamic program. usage: makespan_brute [SEED [CASES]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "gema/makespan.h"

enum { MAX_W = 5, MAX_I = 6, MAX_STATES = 16807 /* 7^5 */ };

/* One case of the oracle: the position of each warp is a digit of the state, in base n + 1. */
struct oracle {
    char string[32];
    unsigned n, warps, sigma[3]; /* L, C, S */
    int16_t longest[MAX_STATES]; /* -1: not known yet */
};

static unsigned unit(char c)
{
    return c == 'L' ? 0 : c == 'C' ? 1 : 2;
}

static int longest_from(struct oracle *o, const unsigned *at);

/* All ways to pick `left[u]` more waiting warps of each type from warp `w` on; `next` has moved those picked. */
static int longest_choice(struct oracle *o, const unsigned *at, unsigned w, unsigned *left, unsigned *next)
{
    if (w == o->warps)
        return left[0] || left[1] || left[2] ? -1 : longest_from(o, next);
    int best = longest_choice(o, at, w + 1, left, next);
    unsigned u = at[w] < o->n ? unit(o->string[at[w]]) : 0;
    if (at[w] < o->n && left[u]) {
        left[u]--;
        next[w]++;
        int with = longest_choice(o, at, w + 1, left, next);
        best = with > best ? with : best;
        next[w]--;
        left[u]++;
    }
    return best;
}

static int longest_from(struct oracle *o, const unsigned *at)
{
    unsigned code = 0, left[3] = {0}, next[MAX_W];
    bool done = true;
    for (unsigned w = 0; w < o->warps; w++) {
        code = code * (o->n + 1) + at[w];
        next[w] = at[w];
        done = done && at[w] == o->n;
        if (at[w] < o->n)
            left[unit(o->string[at[w]])]++;
    }
    if (done)
        return 0;
    if (o->longest[code] < 0) {
        for (unsigned u = 0; u < 3; u++)
            left[u] = left[u] < o->sigma[u] ? left[u] : o->sigma[u];
        o->longest[code] = (int16_t)(1 + longest_choice(o, at, 0, left, next));
    }
    return o->longest[code];
}

static uint64_t brute_force(struct oracle *o)
{
    unsigned at[MAX_W] = {0};
    memset(o->longest, 0xff, sizeof(o->longest));
    return (uint64_t)longest_from(o, at);
}

static void check(struct oracle *o)
{
    struct gs_sigmas s = {0};
    struct gs_kernel_string k;
    char why[200];
    s.of['L' - 'A'] = (struct gs_sigma){o->sigma[0], 1};
    s.of['C' - 'A'] = (struct gs_sigma){o->sigma[1], 1};
    s.of['S' - 'A'] = (struct gs_sigma){o->sigma[2], 1};
    assert_int_equal(gs_kernel_string_parse(&k, o->string, &s, why, sizeof(why)), 0);
    uint64_t expected = brute_force(o);
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        struct gs_makespan_options options = {.exhaustive = exhaustive, .beam = exhaustive ? 0 : 2};
        struct gs_makespan_exact e;
        assert_int_equal(gs_makespan_exact(&k, o->warps, &options, &e), 0);
        if (e.lower != expected || e.upper != expected)
            fail_msg("%s W %u sigma %u %u %u: %lu to %lu, brute force %lu", o->string, o->warps, o->sigma[0],
                     o->sigma[1], o->sigma[2], e.lower, e.upper, expected);
        assert_int_equal(e.schedule.n_cycles, expected);
        assert_true(gs_makespan_schedule_is_legal(&k, o->warps, &e.schedule));
        gs_makespan_exact_free(&e);
    }
    if (gs_makespan_safe_bound(&k, o->warps) < expected)
        fail_msg("%s W %u: the safe bound %lu is below %lu", o->string, o->warps, gs_makespan_safe_bound(&k, o->warps),
                 expected);
    assert_true(gs_makespan_safe_bound(&k, o->warps) <= gs_makespan_wait_bound(&k, o->warps));
    if (gs_makespan_equation5_is_safe(&k))
        assert_true(gs_makespan_equation5(&k, o->warps) >= expected);
    gs_kernel_string_free(&k);
}

/* All strings of `n` letters of the first `letters` of "LCS". */
static void check_all(unsigned n, unsigned letters, unsigned max_warps, unsigned max_sigma)
{
    struct oracle *o = malloc(sizeof(*o));
    unsigned strings = 1;
    for (unsigned i = 0; i < n; i++)
        strings *= letters;
    for (unsigned code = 0; code < strings; code++) {
        memset(o->string, 0, sizeof(o->string));
        for (unsigned i = 0, c = code; i < n; i++, c /= letters)
            o->string[i] = "LCS"[c % letters];
        for (unsigned s = 0; s < max_sigma * max_sigma; s++)
            for (o->warps = 1; o->warps <= max_warps; o->warps++) {
                o->n = n;
                o->sigma[0] = 1 + s % max_sigma;
                o->sigma[1] = 1 + s / max_sigma;
                o->sigma[2] = 1;
                check(o);
            }
    }
    free(o);
}

static void two_types(void **state)
{
    for (unsigned n = 1; n <= MAX_I; n++)
        check_all(n, 2, MAX_W, 2);
}

static void three_types(void **state)
{
    for (unsigned n = 1; n <= 4; n++)
        check_all(n, 3, 4, 2);
}

static unsigned n_cases;

static uint64_t exact_of(const struct gs_kernel_string *k, unsigned warps, bool exhaustive)
{
    struct gs_makespan_exact e;
    struct gs_makespan_options o = {.exhaustive = exhaustive};
    assert_int_equal(gs_makespan_exact(k, warps, &o, &e), 0);
    assert_int_equal(e.lower, e.upper);
    assert_true(gs_makespan_schedule_is_legal(k, warps, &e.schedule));
    uint64_t t = e.lower;
    gs_makespan_exact_free(&e);
    return t;
}

static void longer_strings(void **state)
{
    for (unsigned i = 0; i < n_cases; i++) {
        char text[16] = "", why[200];
        struct gs_sigmas s = {0};
        struct gs_kernel_string k;
        unsigned n = 4 + rnd(7), letters = 1 + rnd(3), warps = 2 + rnd(8);
        for (unsigned j = 0; j < n; j++)
            text[j] = "LCS"[rnd(letters)];
        for (unsigned j = 0; j < 3; j++)
            s.of["LCS"[j] - 'A'] = (struct gs_sigma){rnd(2) ? 1 : 1 + rnd(3), 1};
        assert_int_equal(gs_kernel_string_parse(&k, text, &s, why, sizeof(why)), 0);
        uint64_t plain = exact_of(&k, warps, true), pruned = exact_of(&k, warps, false);
        if (plain != pruned || gs_makespan_safe_bound(&k, warps) < plain)
            fail_msg("%s W %u, case %u: plain %lu, pruned %lu, safe %lu", text, warps, i, plain, pruned,
                     gs_makespan_safe_bound(&k, warps));
        gs_kernel_string_free(&k);
    }
}

int main(int argc, char **argv)
{
    n_cases = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 500;
    seed_run(argc, argv, 20120717);
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_types), cmocka_unit_test(three_types),
                                       cmocka_unit_test(longer_strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
