/* SPDX-License-Identifier: MIT */
/* The warp scheduler simulator: traces worked by hand, and what must hold of every schedule. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "gema/warpsched.h"

/* One scheduler with a slot every cycle. Arithmetic: issue 1, result after `alu`; a load's result after 10. */
static struct gs_timing_profile simple_profile(double issue, double alu)
{
    struct gs_timing_profile p = {.warp_schedulers = 1, .scheduler_cycles = 1};
    for (int i = 0; i < GS_PTX_CLASSES; i++)
        p.cost[i] = (struct gs_timing_cost){issue, {alu, alu, alu}};
    p.cost[GS_PTX_GLOBAL_LOAD] = (struct gs_timing_cost){issue, {10, 10, 10}};
    return p;
}

/* Runs and writes the schedule as "cycle:Wwarp.op ...". */
static void trace(const char *code, const struct gs_timing_profile *profile, const struct gs_warpsched_options *o,
                  char *out, size_t size)
{
    struct gs_timing_program p;
    struct gs_warpsched_result r;
    char why[200];
    assert_int_equal(gs_timing_program_read(&p, code, why, sizeof(why)), 0);
    assert_int_equal(gs_warpsched_run(&p, profile, o, &r, why, sizeof(why)), 0);
    *out = '\0';
    for (uint64_t i = 0; i < r.instructions; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%lu:W%u.%u", i ? " " : "", (unsigned long)r.issue[i].cycle,
                 r.issue[i].warp, r.issue[i].op);
    }
    gs_warpsched_result_free(&r);
    gs_timing_program_free(&p);
}

static void check_trace(const char *code, double issue, double alu, struct gs_warpsched_options o, const char *expected)
{
    char text[2000];
    struct gs_timing_profile profile = simple_profile(issue, alu);
    o.latency = GS_TIMING_AVERAGE;
    trace(code, &profile, &o, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void loose_round_robin(void **state)
{
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_LRR, .warps = 2};
    check_trace("alu x3", 1, 1, o, "0:W0.0 1:W1.0 2:W0.1 3:W1.1 4:W0.2 5:W1.2");
    check_trace("alu alu!", 1, 3, o, "0:W0.0 1:W1.0 3:W0.1 4:W1.1");
    o.warps = 3;
    check_trace("alu ld alu!", 1, 1, o, "0:W0.0 1:W1.0 2:W2.0 3:W0.1 4:W1.1 5:W2.1 13:W0.2 14:W1.2 15:W2.2");
}

static void greedy_then_oldest(void **state)
{
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_GTO, .warps = 2};
    check_trace("alu x3", 1, 1, o, "0:W0.0 1:W0.1 2:W0.2 3:W1.0 4:W1.1 5:W1.2");
    o.warps = 3;
    check_trace("alu ld alu!", 1, 1, o, "0:W0.0 1:W0.1 2:W1.0 3:W1.1 4:W2.0 5:W2.1 11:W0.2 13:W1.2 15:W2.2");
}

static void two_level(void **state)
{
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_TWO_LEVEL, .warps = 3, .active = 2};
    check_trace("alu ld alu!", 1, 1, o, "0:W0.0 1:W1.0 2:W0.1 3:W1.1 4:W2.0 5:W2.1 12:W0.2 13:W1.2 15:W2.2");
    /* Arithmetic alone keeps the active set: the third warp comes when one of the first two is done. */
    check_trace("alu x2", 1, 1, o, "0:W0.0 1:W1.0 2:W0.1 3:W1.1 4:W2.0 5:W2.1");
}

/* W0 W1 W0 W2 W0 W1 ...: section 8.2's rate of 2. */
static void variable_rate(void **state)
{
    const unsigned rate[] = {2, 0, 0};
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_VARIABLE, .warps = 3, .rate = rate};
    check_trace("alu x4", 1, 1, o,
                "0:W0.0 1:W1.0 2:W0.1 3:W2.0 4:W0.2 5:W1.1 6:W0.3 7:W2.1 8:W1.2 9:W2.2 10:W1.3 11:W2.3");
    /* While the fast warp waits for its load, the others have all the slots (section 8.1). */
    check_trace("ld alu! alu", 1, 1, o, "0:W0.0 1:W1.0 2:W2.0 10:W0.1 11:W1.1 12:W0.2 13:W2.1 14:W1.2 15:W2.2");
}

static void strict_slots(void **state)
{
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_VARIABLE, .warps = 2, .strict = true};
    check_trace("alu x2", 3, 3, o, "0:W0.0 1:W1.0 4:W0.1 5:W1.1");
    o.strict = false;
    check_trace("alu x2", 3, 3, o, "0:W0.0 1:W1.0 3:W0.1 4:W1.1");
}

static void barriers(void **state)
{
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_GTO, .warps = 2};
    check_trace("alu bar alu", 1, 1, o, "0:W0.0 1:W0.1 2:W1.0 3:W1.1 4:W1.2 5:W0.2");
}

/* Figures 32 and 33: three warps of the even scheduler, two cycles apart, and none of them slower than one alone. */
static void figures_32_and_33(void **state)
{
    const char *code[] = {"alu alu! alu alu alu alu!", "alu alu! alu alu! alu alu!"};
    const unsigned first_warp[2][6] = {{0, 18, 24, 30, 36, 54}, {0, 18, 24, 42, 48, 66}};
    for (int k = 0; k < 2; k++) {
        struct gs_timing_program p;
        struct gs_warpsched_result r;
        char why[200];
        struct gs_warpsched_options o = {.policy = GS_WARPSCHED_LRR, .warps = 6, .latency = GS_TIMING_AVERAGE};
        assert_int_equal(gs_timing_program_read(&p, code[k], why, sizeof(why)), 0);
        assert_int_equal(gs_warpsched_run(&p, &gs_timing_fermi, &o, &r, why, sizeof(why)), 0);
        for (uint64_t i = 0; i < r.instructions; i++)
            assert_int_equal(r.issue[i].cycle, first_warp[k][r.issue[i].op] + 2 * (r.issue[i].warp / 2));
        gs_warpsched_result_free(&r);
        gs_timing_program_free(&p);
    }
}

/* Section 6.3: up to six warps take as long as one, the seventh makes them wait. */
static void six_warps_fit(void **state)
{
    struct gs_timing_program p;
    char why[200];
    assert_int_equal(gs_timing_program_read(&p, "alu x50", why, sizeof(why)), 0);
    for (unsigned warps = 1; warps <= 8; warps++) {
        struct gs_warpsched_result r;
        struct gs_warpsched_options o = {.policy = GS_WARPSCHED_LRR, .warps = warps, .latency = GS_TIMING_AVERAGE};
        assert_int_equal(gs_warpsched_run(&p, &gs_timing_fermi, &o, &r, why, sizeof(why)), 0);
        for (unsigned w = 0; w < warps; w++) {
            uint64_t alone = 300 + 2 * (w / 2);
            if (warps <= 6)
                assert_int_equal(r.finish[w], alone);
            else if (w % 2 == 0)
                assert_true(r.finish[w] > alone);
        }
        gs_warpsched_result_free(&r);
    }
    gs_timing_program_free(&p);
}

/* What an observer of the issues alone knows of one warp. */
struct observed {
    uint64_t next, free_at, last_write[64];
};

/* Can `w` issue its next instruction at `cycle`? */
static bool could_issue(const struct gs_timing_program *p, const struct observed *w, uint64_t cycle)
{
    if (w->next == p->n || w->free_at > cycle)
        return false;
    const struct gs_timing_op *op = &p->op[w->next];
    for (unsigned i = 0; i < (unsigned)op->n_written + op->n_read; i++)
        if (w->last_write[p->operand[op->first + i]] > cycle)
            return false;
    return true;
}

/* Every issue is allowed, no scheduler issues twice in a slot, and (but for strict slots and the pending warps of
 * two-level) no slot stays empty that a warp could use. */
static void check_schedule(const struct gs_timing_program *p, const struct gs_timing_profile *profile,
                           const struct gs_warpsched_options *o, const struct gs_warpsched_result *r)
{
    static struct observed w[32];
    memset(w, 0, sizeof(w));
    bool conserving = !o->strict && o->policy != GS_WARPSCHED_TWO_LEVEL;
    uint64_t i = 0;
    for (uint64_t cycle = 0; i < r->instructions; cycle += profile->scheduler_cycles) {
        bool used[4] = {false};
        while (i < r->instructions && r->issue[i].cycle == cycle) {
            const struct gs_warpsched_issue *e = &r->issue[i++];
            const struct gs_timing_op *op = &p->op[e->op];
            assert_int_equal(e->op, w[e->warp].next);
            assert_true(could_issue(p, &w[e->warp], cycle));
            assert_false(used[e->warp % profile->warp_schedulers]);
            used[e->warp % profile->warp_schedulers] = true;
            w[e->warp].next++;
            w[e->warp].free_at = cycle + (uint64_t)profile->cost[op->class].issue;
            for (unsigned k = 0; k < op->n_written; k++)
                w[e->warp].last_write[p->operand[op->first + k]] =
                    cycle + (uint64_t)profile->cost[op->class].latency[o->latency];
        }
        for (unsigned v = 0; conserving && v < o->warps; v++)
            assert_true(used[v % profile->warp_schedulers] || !could_issue(p, &w[v], cycle));
        assert_true(i == r->instructions || r->issue[i].cycle > cycle);
    }
    for (unsigned v = 0; v < o->warps; v++) {
        assert_int_equal(w[v].next, p->n);
        assert_true(r->finish[v] >= w[v].free_at && r->finish[v] <= r->cycles);
    }
}

static void random_schedules(void **state)
{
    static const char *const words[] = {"alu", "sfu", "lds", "sts", "ld", "st"};
    for (int round = 0; round < 3000; round++) {
        char code[600] = "alu", why[200];
        unsigned rate[32] = {0}, n = 1 + rnd(20);
        for (unsigned i = 1; i < n; i++) {
            size_t used = strlen(code);
            unsigned back = rnd(3) ? 0 : 1 + rnd(i);
            snprintf(code + used, sizeof(code) - used, back ? " %s!%u" : " %s", words[rnd(6)], back);
        }
        struct gs_timing_profile profile = gs_timing_fermi;
        profile.warp_schedulers = 1 + rnd(4);
        profile.scheduler_cycles = 1 + rnd(3);
        struct gs_warpsched_options o = {.policy = (enum gs_warpsched_policy)rnd(GS_WARPSCHED_POLICIES),
                                         .warps = 1 + rnd(32),
                                         .active = 1 + rnd(5),
                                         .rate = rate,
                                         .strict = rnd(2),
                                         .latency = (enum gs_timing_case)rnd(3)};
        o.strict = o.strict && o.policy == GS_WARPSCHED_VARIABLE;
        rate[rnd(32)] = 2 + rnd(4);
        struct gs_timing_program p;
        struct gs_warpsched_result r;
        assert_int_equal(gs_timing_program_read(&p, code, why, sizeof(why)), 0);
        assert_int_equal(gs_warpsched_run(&p, &profile, &o, &r, why, sizeof(why)), 0);
        check_schedule(&p, &profile, &o, &r);
        gs_warpsched_result_free(&r);
        gs_timing_program_free(&p);
    }
}

static void too_many_slots(void **state)
{
    struct gs_timing_program p;
    struct gs_warpsched_result r;
    char why[200];
    const unsigned rate[] = {1, 0, 2, 2}, full[] = {2, 2, 0};
    struct gs_timing_profile one = simple_profile(1, 1);
    struct gs_warpsched_options o = {.policy = GS_WARPSCHED_VARIABLE, .warps = 4, .rate = rate};
    assert_int_equal(gs_timing_program_read(&p, "alu", why, sizeof(why)), 0);
    assert_int_equal(gs_warpsched_run(&p, &one, &o, &r, why, sizeof(why)), -EINVAL);
    o.rate = full;
    o.warps = 3;
    assert_int_equal(gs_warpsched_run(&p, &one, &o, &r, why, sizeof(why)), -EINVAL);
    o.warps = 2;
    assert_int_equal(gs_warpsched_run(&p, &one, &o, &r, why, sizeof(why)), 0);
    gs_warpsched_result_free(&r);
    gs_timing_program_free(&p);
}

int main(int argc, char **argv)
{
    seed_run(argc, argv, 20260720);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loose_round_robin), cmocka_unit_test(greedy_then_oldest), cmocka_unit_test(two_level),
        cmocka_unit_test(variable_rate),     cmocka_unit_test(strict_slots),       cmocka_unit_test(barriers),
        cmocka_unit_test(figures_32_and_33), cmocka_unit_test(six_warps_fit),      cmocka_unit_test(random_schedules),
        cmocka_unit_test(too_many_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
