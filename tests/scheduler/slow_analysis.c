/* SPDX-License-Identifier: MIT */
/* An analysis that takes its time: grants pass on meanwhile, the last decision stands, equal sets are analysed once,
 * and whoever waits for it may leave, or have another config by then. */
#include <errno.h>

#include "tests/scheduler/desk.h"

#define CHAINS "segments.1 = cpu 1ms, pci 1ms, gpu 20ms, pci 1ms\nsegments.2 = cpu 1ms, pci 2ms, gpu 11ms, pci 2ms\n"
#define SYSTEM "[system]\ngpus = 2\ncpus = 4\n"
#define A "[task a]\nperiod = 100ms\nuser = *\n" CHAINS
#define B "[task b]\nperiod = 200ms\nuser = *\nmatch = */b\n" CHAINS

static void test_joining_waits(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk one, two, a;
    sit_down(b, &two, 1002, "");
    sit_down(b, &a, 1003, "");
    assert_int_equal(join(b, &one, "", 2), 0); /* nothing is to be analysed for those */
    assert_int_equal(hello(b, &two, "", 2), 0);
    assert_int_equal(two.welcomes, 1);
    assert_int_equal(hello(b, &a, "a", 2), 0);
    assert_int_equal(a.welcomes + a.refusals, 0);
    assert_true(gs_core_waits(a.session));
    request(b, &one, 0, 1);
    request(b, &two, 0, 1);
    give_back(b, &one, 1);
    assert_true(granted(&two, 0, 1));
    /* It hears that the daemon is alive, every 50 ms. */
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(gs_core_next_tick(b->core), b->now + 50 * MS);
        b->now += 50 * MS;
        gs_core_tick(b->core, b->now);
        assert_int_equal(a.notices, i);
        assert_true(says(a.notice.u.text.text, "the daemon works out which deadlines hold with this task"));
    }
    analyse(b);
    assert_false(gs_core_waits(a.session));
    assert_int_equal(a.welcomes, 1);
    assert_string_equal(a.welcome.u.welcome.task, "a");
    assert_in_range(atomic_load(&page_of(&a)->gpus), 1, 2);
    assert_null(b->question);
    assert_true(gs_core_next_tick(b->core) == UINT64_MAX);
    stop(b);
}

static void test_once_for_equal_sets(void **state)
{
    struct bench *b = start(SYSTEM A B);
    struct desk d[2];
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < 2; k++)
            sit_down(b, &d[k], 1001, "");
        hello(b, &d[0], i % 2 ? "a" : "b", 2);
        hello(b, &d[1], i % 2 ? "b" : "a", 2);
        assert_int_equal(b->core->decision.analysed, 2);
        get_up(b, &d[i / 2 % 2]);
        assert_int_equal(b->core->decision.analysed, 1);
        get_up(b, &d[1 - i / 2 % 2]);
    }
    assert_int_equal(gs_decider_analysed(b->core->decider), 3); /* a, b, and both */
    /* What the jobs of one have used makes another set of it. */
    join(b, &d[0], "a", 2);
    const int64_t bound = d[0].session->member.response_ns;
    for (unsigned i = 0; i < 3; i++) {
        struct gs_msg m = message(GS_MSG_JOBS);
        b->now += 1000 * MS;
        record_job(&d[0], &(struct ended){b->now - 50 * MS, b->now, 2 * MS, 40 * MS, d[0].session->told.gpus});
        request(b, &d[0], i, 1);
        assert_int_equal(say(b, &d[0], &m), 0);
    }
    if (d[0].session->member.response_ns != bound)
        assert_int_equal(gs_decider_analysed(b->core->decider), 4);
    stop(b);
}

/* The set that is left has been analysed before, or has not: until then each keeps what it has. */
static void test_the_last_decision_stands(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk a, other;
    sit_down(b, &other, 1001, "");
    join(b, &a, "a", 2);
    hello(b, &other, "b", 2); /* both wait: one analysis at a time */
    analyse(b);
    assert_int_equal(a.welcomes, 1);
    assert_int_equal(other.welcomes, 0);
    analyse(b);
    assert_int_equal(other.welcomes, 1);
    assert_int_equal(b->core->decision.analysed, 2);
    const unsigned gpus = atomic_load(&page_of(&other)->gpus);
    const int priority = other.welcome.u.welcome.priority;
    get_up(b, &a);
    assert_true(b->core->undecided);
    assert_int_equal(b->core->decision.analysed, 2);
    assert_int_equal(atomic_load(&page_of(&other)->gpus), gpus);
    assert_int_equal(other.session->said.priority, priority);
    work_off(b);
    analyse(b);
    assert_false(b->core->undecided);
    assert_int_equal(b->core->decision.analysed, 1);
    get_up(b, &other);
    work_off(b);
    assert_false(b->core->undecided); /* of none nothing is to be analysed */
    stop(b);
}

/* Users take turns: one with many processes, each of which makes another set, holds up another user for one analysis;
 * also if each leaves while its own is under way. */
static void test_users_take_turns(void **state)
{
    for (int leave = 0; leave < 2; leave++) {
        struct bench *b = start_slow(SYSTEM A B);
        struct desk many[4], one;
        for (unsigned i = 0; i < 4; i++) {
            join(b, &many[i], "a", 2);
        }
        sit_down(b, &one, 1002, "");
        hello(b, &one, "b", 2);
        if (leave)
            get_up(b, &many[0]);
        analyse(b);
        assert_int_equal(one.welcomes, 0);
        analyse(b);
        assert_int_equal(one.welcomes, 1);
        for (unsigned i = 0; i < 12 && b->question; i++)
            analyse(b);
        for (unsigned i = (unsigned)leave; i < 4; i++) {
            assert_int_equal(many[i].welcomes, 1);
            get_up(b, &many[i]);
        }
        get_up(b, &one);
        if (b->question)
            analyse(b);
        stop(b);
    }
}

enum { ROUNDS = 200 };
static struct desk again[2 * ROUNDS];
static unsigned n_again;

static struct bench *start_refusing(void)
{
    n_again = 0;
    return start_slow("[system]\ngpus = 2\ncpus = 4\nadmission = refuse\n" A B
                      "[task much]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 120ms\n");
}

/* Somebody who is refused comes again and again, so that there is always one who waits to join. */
static void come_again(struct bench *b)
{
    for (unsigned i = 0; i < 2; i++) {
        sit_down(b, &again[n_again], 1002, "");
        hello(b, &again[n_again++], "much", 1);
    }
}

static void answer_one(struct bench *b)
{
    struct gs_question *q = b->question;
    b->question = NULL;
    if (q) {
        gs_question_answer(q);
        gs_core_answered(b->core, q, b->now);
    }
    gs_core_work(b->core, GS_WORK_JOINS, b->now);
}

static void stop_refusing(struct bench *b)
{
    while (n_again)
        get_up(b, &again[--n_again]);
    stop(b);
}

/* Those who are in hear of a decision all the same. */
static void test_the_refused_overtake_for_a_while(void **state)
{
    struct bench *b = start_refusing();
    struct desk one, other;
    join(b, &one, "a", 2);
    analyse(b);
    join(b, &other, "b", 2);
    analyse(b);
    get_up(b, &one); /* of the other alone nothing has been decided yet */
    assert_true(b->core->undecided);
    unsigned rounds = 0;
    for (; rounds < ROUNDS && b->core->undecided; rounds++) {
        come_again(b);
        answer_one(b);
    }
    assert_false(b->core->undecided);
    assert_in_range(rounds, 10, ROUNDS - 1);
    stop_refusing(b);
}

static void plan_for(struct bench *b, struct desk *d, const char *task)
{
    struct gs_msg m = message(GS_MSG_PLAN);
    strcpy(m.u.name, task);
    assert_int_equal(gs_core_message(d->session, &m, sizeof m, b->now), 0);
}

/* So it is with somebody who asks whether a task would be admitted: `run --task-required` waits for that. */
static void test_who_asks_is_answered_in_a_crowd(void **state)
{
    struct bench *b = start_refusing();
    struct desk asker;
    sit_down(b, &asker, 1001, "");
    come_again(b);
    plan_for(b, &asker, "a");
    answer_one(b);
    unsigned rounds = 1;
    for (; rounds < ROUNDS && asker.answer.type != GS_MSG_ANSWER; rounds++) {
        come_again(b);
        answer_one(b);
    }
    assert_in_range(rounds, 10, ROUNDS - 1);
    stop_refusing(b);
}

static void test_leaving_while_waiting(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk a, other;
    sit_down(b, &other, 1001, "");
    join(b, &a, "a", 2);
    hello(b, &other, "b", 2);
    assert_int_equal(hello(b, &other, "b", 2), -EPROTO); /* once is enough */
    get_up(b, &other);
    get_up(b, &a);
    analyse(b);
    assert_null(b->question);
    join(b, &a, "a", 2);
    assert_int_equal(a.welcomes, 1); /* what nobody waited for in the end is known now */
    stop(b);
}

/* The config that an analysis is of stays until it is done; what it says of the new one is nothing. */
static void test_reload_meanwhile(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk a, other, plain;
    sit_down(b, &other, 1001, "");
    sit_down(b, &plain, 1001, "/x/b");
    join(b, &a, "a", 2);
    hello(b, &other, "b", 2);
    assert_int_equal(configure(b, SYSTEM A), 0);
    assert_int_equal(configure(b, SYSTEM A), 0);
    hello(b, &plain, "", 2);
    assert_int_equal(plain.welcomes, 1);
    analyse(b); /* of the first config */
    assert_int_equal(a.welcomes, 0);
    analyse(b);
    assert_int_equal(a.welcomes, 1);
    assert_int_equal(other.refusals, 1);
    assert_true(gs_core_refused(other.session));
    assert_int_equal(other.refused.u.text.code, GS_REFUSED_TASK);
    /* A new config makes a task of one that is here: it goes on as what it was until then. */
    assert_int_equal(configure(b, SYSTEM A B), 0);
    assert_string_equal(plain.session->task_name, "");
    request(b, &plain, 0, 1);
    assert_true(granted(&plain, 0, 1));
    analyse(b);
    assert_string_equal(plain.session->task_name, "b");
    assert_int_equal(plain.task.u.welcome.priority, 1);
    get_up(b, &a);
    get_up(b, &other);
    get_up(b, &plain);
    if (b->question)
        analyse(b);
    stop(b);
}

/* Who waits for one answer and wants another is told so at once, and has the first one all the same. */
static void test_two_questions(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk root;
    sit_down(b, &root, 0, "");
    plan_for(b, &root, "a");
    const enum gs_msg_type more[] = {GS_MSG_RELOAD, GS_MSG_STATUS, GS_MSG_RELOAD};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct gs_msg m = message(more[i]);
        root.answer = (struct gs_msg){0};
        assert_int_equal(say(b, &root, &m), 0);
        assert_int_not_equal(root.answer.u.text.code, 0);
    }
    root.answer = (struct gs_msg){0};
    analyse(b);
    assert_int_equal(root.answer.type, GS_MSG_ANSWER);
    assert_int_equal(root.answer.u.text.code, 0);
    stop(b);
}

/* So many questions of a user wait, and none stands before a task that joins. */
static void test_plans(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk d[7], a;
    for (unsigned i = 0; i < 7; i++) {
        sit_down(b, &d[i], i < 6 ? 1001 : 1002, "");
        plan_for(b, &d[i], i % 2 ? "a" : "b");
        assert_int_equal(d[i].answer.type, i == 4 || i == 5 ? GS_MSG_ANSWER : 0);
    }
    assert_int_equal(d[4].answer.u.text.code, EBUSY);
    sit_down(b, &a, 1003, "");
    hello(b, &a, "a", 2);
    analyse(b); /* b alone, which was asked first */
    assert_int_equal(d[0].answer.type, 0);
    analyse(b); /* a: it joins, and the plans are of what is there now */
    assert_int_equal(a.welcomes, 1);
    analyse(b);
    analyse(b);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(d[i].answer.type, GS_MSG_ANSWER);
        get_up(b, &d[i]);
    }
    stop(b);
}

/* It ends while an analysis is under way. */
static void test_the_end(void **state)
{
    struct bench *b = start_slow(SYSTEM A B);
    struct desk a;
    join(b, &a, "a", 2);
    gs_core_end(b->core);
    gs_question_answer(b->question);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joining_waits),
        cmocka_unit_test(test_once_for_equal_sets),
        cmocka_unit_test(test_the_last_decision_stands),
        cmocka_unit_test(test_users_take_turns),
        cmocka_unit_test(test_the_refused_overtake_for_a_while),
        cmocka_unit_test(test_who_asks_is_answered_in_a_crowd),
        cmocka_unit_test(test_leaving_while_waiting),
        cmocka_unit_test(test_reload_meanwhile),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_two_questions),
        cmocka_unit_test(test_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
