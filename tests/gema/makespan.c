/* SPDX-License-Identifier: MIT */
/* The makespan paper's printed figures, the counter-examples to its formulas, and the reader of instruction strings. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "gema/makespan.h"

static struct gs_kernel_string parse(const char *text, const char *sigma_l, const char *sigma_c)
{
    struct gs_sigmas s = {0};
    struct gs_kernel_string k;
    char why[200];
    assert_int_equal(gs_sigma_parse(sigma_l, &s.of['L' - 'A']), 0);
    assert_int_equal(gs_sigma_parse(sigma_c, &s.of['C' - 'A']), 0);
    assert_int_equal(gs_kernel_string_parse(&k, text, &s, why, sizeof(why)), 0);
    return k;
}

static uint64_t exact_of(const struct gs_kernel_string *k, unsigned warps)
{
    struct gs_makespan_exact e;
    assert_int_equal(gs_makespan_exact(k, warps, NULL, &e), 0);
    assert_int_equal(e.lower, e.upper);
    assert_int_equal(e.schedule.n_cycles, e.lower);
    assert_true(gs_makespan_schedule_is_legal(k, warps, &e.schedule));
    uint64_t t = e.lower;
    gs_makespan_exact_free(&e);
    return t;
}

/* The exact makespan of a string with sigma_C = 1. */
static uint64_t exact(const char *text, const char *sigma_l, unsigned warps)
{
    struct gs_kernel_string k = parse(text, sigma_l, "1");
    uint64_t t = exact_of(&k, warps);
    gs_kernel_string_free(&k);
    return t;
}

static uint64_t safe(const char *text, const char *sigma_l, unsigned warps)
{
    struct gs_kernel_string k = parse(text, sigma_l, "1");
    uint64_t t = gs_makespan_safe_bound(&k, warps);
    gs_kernel_string_free(&k);
    return t;
}

static uint64_t equation42(const char *text, const char *sigma_l, unsigned warps, unsigned x)
{
    struct gs_kernel_string k = parse(text, sigma_l, "1");
    uint64_t t;
    assert_int_equal(gs_makespan_equation42(&k, warps, x, NULL, &t), 0);
    gs_kernel_string_free(&k);
    return t;
}

/* The table that Figure 2 prints, as positions executed in each of its nine cycles. */
static void figure_2(void **state)
{
    uint32_t position[] = {0, 0, 0, 0, 1, 1, 2, 1, 2, 1, 2, 2};
    size_t begin[] = {0, 1, 2, 3, 4, 5, 7, 9, 11, 12};
    struct gs_makespan_schedule s = {position, begin, 9};
    struct gs_kernel_string k = parse("LLC", "1", "1");
    assert_true(gs_makespan_schedule_is_legal(&k, 4, &s));
    assert_int_equal(exact_of(&k, 4), 9);
    assert_int_equal(gs_makespan_equation5(&k, 4), 12);

    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(gs_makespan_print_schedule(&k, 4, &s, 100, out), 0);
    fclose(out);
    assert_string_equal(text, "Clock cycle 1 2 3 4 5 6 7 8 9\n"
                              "Warp 1      L       L C\n"
                              "Warp 2        L       L C\n"
                              "Warp 3          L       L C\n"
                              "Warp 4            L       L C\n");
    free(text);
    gs_kernel_string_free(&k);
}

static void illegal_schedules_are_refused(void **state)
{
    struct gs_kernel_string k = parse("LC", "1", "1");
    size_t begin[] = {0, 1, 2, 3, 4};
    uint32_t idles[] = {0, 0, 1, 1}; /* a C waits in cycle 2 while its unit idles */
    uint32_t short_of_one[] = {0, 1, 0, 1};
    uint32_t two[] = {0, 0, 1, 1};
    size_t two_begin[] = {0, 2, 3, 4}; /* two L at once with sigma_L = 1 */
    struct gs_makespan_schedule s = {idles, begin, 4};
    assert_false(gs_makespan_schedule_is_legal(&k, 2, &s));
    s.position = short_of_one;
    assert_false(gs_makespan_schedule_is_legal(&k, 2, &s));
    s = (struct gs_makespan_schedule){two, two_begin, 3};
    assert_false(gs_makespan_schedule_is_legal(&k, 2, &s));
    gs_kernel_string_free(&k);
}

/* Figures 6 and 7: the strings, the horizontal lines and what the approximation converges to. */
static void figures_6_and_7(void **state)
{
    for (unsigned w = 1; w <= 64; w++)
        assert_int_equal(exact("LLCLL", "1", w), 4 * w + 1);
    struct gs_kernel_string k = parse("LLCLL", "1", "1");
    assert_int_equal(gs_makespan_equation5(&k, 600), 3000);
    gs_kernel_string_free(&k);
    assert_int_equal(equation42("LLCLL", "1", 600, 10), 2460);
    assert_int_equal(safe("LLCLL", "1", 600), 2401);
    assert_int_equal(exact("LLCLL", "1", 600), 2401);

    assert_int_equal(exact("LCLCL", "1/2", 1), 8);
    assert_int_equal(exact("LCLCL", "1/2", 2), 13);
    for (unsigned w = 3; w <= 64; w++)
        assert_int_equal(exact("LCLCL", "1/2", w), 6 * w + 2);
    k = parse("LCLCL", "1/2", "1");
    assert_int_equal(k.n, 8);
    assert_int_equal(gs_makespan_equation5(&k, 420), 3360);
    gs_kernel_string_free(&k);
    assert_int_equal(equation42("LCLCL", "1/2", 420, 10), 2604);
    assert_int_equal(safe("LCLCL", "1/2", 420), 2522);
    assert_int_equal(exact("LCLCL", "1/2", 420), 2522);
}

static void equations_42_and_43_are_not_safe(void **state)
{
    assert_int_equal(exact("LCL", "1", 2), 4);
    assert_int_equal(exact("LCL", "1", 4), 9);
    assert_int_equal(equation42("LCL", "1", 4, 2), 8);
    assert_int_equal(exact("LCLCL", "1", 4), 14);
    assert_int_equal(equation42("LCLCL", "1", 4, 2), 12);
    assert_int_equal(exact("LCLCLCL", "1", 4), 19);
    assert_int_equal(equation42("LCLCLCL", "1", 4, 2), 16);
}

static void equations_5_to_7_are_not_safe(void **state)
{
    struct gs_kernel_string k = parse("LL", "2", "1");
    assert_false(gs_makespan_equation5_is_safe(&k));
    assert_int_equal(gs_makespan_equation5(&k, 4), 4);
    assert_int_equal(exact_of(&k, 4), 5);
    assert_int_equal(gs_makespan_safe_bound(&k, 4), 5);
    gs_kernel_string_free(&k);
}

/* A barrier makes the phases' makespans add up. */
static void barriers(void **state)
{
    struct gs_kernel_string k = parse("|LCL||LLC|", "1", "1");
    assert_int_equal(k.n_phases, 2);
    assert_int_equal(exact_of(&k, 4), 9 + 9);
    assert_int_equal(gs_makespan_safe_bound(&k, 4), 9 + 9);
    gs_kernel_string_free(&k);
}

/* Groups that come one after another: with a place for one at a time the makespans add up, with places for all they are
 * one makespan, and never is the bound below what a schedule needs. */
static void groups_after_another(void **state)
{
    struct gs_kernel_string k = parse("LLCLL", "1", "1");
    assert_int_equal(gs_makespan_wave_bound(&k, 3, 4, 3), gs_makespan_safe_bound(&k, 12));
    assert_int_equal(gs_makespan_wave_bound(&k, 3, 4, 5), gs_makespan_safe_bound(&k, 12));
    assert_int_equal(gs_makespan_wave_bound(&k, 3, 4, 1), 60); /* one instruction a cycle at worst */
    gs_kernel_string_free(&k);
    k = parse("LLCLL", "2", "4");
    assert_int_equal(gs_makespan_wave_bound(&k, 3, 1, 1), 15); /* one warp after another */
    /* a chain of 2 warps of 5 instructions, and 8 others with 4 L each of which two run at once, and 8 C by four */
    assert_int_equal(gs_makespan_wave_bound(&k, 10, 1, 9), 2 * 5 + 8 * 4 / 2 + 8 / 4);
    gs_kernel_string_free(&k);
}

/* With a small memory the answer is an interval that holds the exact value. */
static void memory_runs_out(void **state)
{
    struct gs_kernel_string k = parse("LLCCLL", "1", "1");
    struct gs_makespan_options o = {.memory_bytes = 100000};
    struct gs_makespan_exact e;
    uint64_t t = exact_of(&k, 20);
    assert_int_equal(gs_makespan_exact(&k, 20, &o, &e), 0);
    assert_true(e.lower < e.upper);
    assert_in_range(t, e.lower, e.upper);
    assert_true(gs_makespan_schedule_is_legal(&k, 20, &e.schedule));
    assert_int_equal(e.schedule.n_cycles, e.lower);
    gs_makespan_exact_free(&e);
    gs_kernel_string_free(&k);
}

struct stopper {
    atomic_int stop;
    bool is_exact; /* the search that is stopped */
    uint64_t at;
};

static void stop_there(void *context, bool is_exact, uint64_t done, uint64_t all)
{
    struct stopper *s = context;
    assert_true(done < all);
    s->stop = s->stop || (is_exact == s->is_exact && done >= s->at);
}

/* Wherever it is stopped, the answer is an interval that holds the exact value; of what was found, a schedule too. */
static void stopped_searches_give_intervals(void **state)
{
    static const char *const texts[] = {"LLCCLL", "LLCCLL|LLCCLL"};
    for (size_t i = 0; i < 2; i++) {
        struct gs_kernel_string k = parse(texts[i], "1", "1");
        uint64_t t = exact_of(&k, 20), before = UINT64_MAX;
        for (int is_exact = 0; is_exact < 2; is_exact++)
            for (uint64_t at = 0; at < 90; at += 30) {
                struct stopper s = {.is_exact = is_exact, .at = at};
                struct gs_makespan_options o = {.stop = &s.stop, .progress = stop_there, .context = &s};
                struct gs_makespan_exact e;
                const int rc = gs_makespan_exact(&k, 20, &o, &e);
                assert_int_equal(s.stop, 1);
                assert_int_equal(rc, is_exact && i == 0 ? 0 : -EINTR);
                assert_true(e.lower < e.upper);
                assert_in_range(t, e.lower, e.upper);
                if (rc == 0) {
                    assert_true(gs_makespan_schedule_is_legal(&k, 20, &e.schedule));
                    assert_int_equal(e.schedule.n_cycles, e.lower);
                    assert_true(e.upper <= before);
                    before = e.upper;
                } else {
                    assert_int_equal(e.schedule.n_cycles, 0);
                }
                gs_makespan_exact_free(&e);
            }
        gs_kernel_string_free(&k);
    }
}

static void too_long_to_search(void **state)
{
    struct gs_kernel_string k = parse("(LC)1000", "1", "1");
    struct gs_makespan_exact e;
    assert_int_equal(gs_makespan_exact(&k, 32, NULL, &e), -E2BIG);
    assert_int_equal(e.lower, 32 * 1000);
    assert_int_equal(e.upper, gs_makespan_safe_bound(&k, 32));
    assert_int_equal(e.schedule.n_cycles, 0);
    gs_kernel_string_free(&k);
}

static void strings(void **state)
{
    struct gs_kernel_string k = parse("L3 (C S)2", "1/2", "3");
    assert_int_equal(k.n, 10);
    assert_int_equal(k.n_types, 3);
    assert_int_equal(k.sigma[0], 1);
    assert_int_equal(k.sigma[1], 3);
    const uint8_t expected[] = {0, 0, 0, 0, 0, 0, 1, 2, 1, 2};
    assert_memory_equal(k.type, expected, sizeof(expected));
    gs_kernel_string_free(&k);

    const char *bad[] = {"",
                         "|",
                         "l",
                         "L)",
                         "(L",
                         "L0",
                         "L9999999",
                         "(L1000)2000",
                         "((((((((((((((((((L))))))))))))))))))",
                         "L99999999999999999999"};
    char why[200];
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        why[0] = '\0';
        assert_int_equal(gs_kernel_string_parse(&k, bad[i], NULL, why, sizeof(why)), -EINVAL);
        assert_true(strlen(why) > 20);
    }
    struct gs_sigma s;
    const char *bad_sigma[] = {"", "0", "1/0", "3/2", "-1", "2/", "1.5", " 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad_sigma) / sizeof(*bad_sigma); i++)
        assert_int_equal(gs_sigma_parse(bad_sigma[i], &s), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2),
        cmocka_unit_test(illegal_schedules_are_refused),
        cmocka_unit_test(figures_6_and_7),
        cmocka_unit_test(equations_42_and_43_are_not_safe),
        cmocka_unit_test(equations_5_to_7_are_not_safe),
        cmocka_unit_test(barriers),
        cmocka_unit_test(groups_after_another),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(stopped_searches_give_intervals),
        cmocka_unit_test(too_long_to_search),
        cmocka_unit_test(strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
